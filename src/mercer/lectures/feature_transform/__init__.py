"""The lecture "Feature transform"."""

from mercer.lectures.feature_transform import basis_functions, kernel_least_squares
from mercer.lectures.feature_transform.slips import SLIPS as SLIPS

EXAMPLES = (*basis_functions.EXAMPLES, *kernel_least_squares.EXAMPLES)
