"""The lecture "Kernel methods"."""

from mercer.lectures.kernel_methods.slips import SLIPS as SLIPS
from mercer.lectures.kernel_methods.worked import EXAMPLES as EXAMPLES
