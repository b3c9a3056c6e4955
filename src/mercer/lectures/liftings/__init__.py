"""The lecture "Liftings"."""

from mercer.lectures.liftings.slips import SLIPS as SLIPS
from mercer.lectures.liftings.worked import EXAMPLES as EXAMPLES
