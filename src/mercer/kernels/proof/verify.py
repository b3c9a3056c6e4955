"""A witness is only believed after its quadratic form was computed again with 50 digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import DIGITS, precisely
from mercer.kernels.precision.pairs import PrecisePairs

FLOAT_DIGITS = 16
MARGINS = {DIGITS: 1e-12, FLOAT_DIGITS: 1e-6}
"""A value must be negative by more than this part of sum |c_i c_j k_ij|. With 50 digits only the constants of user-made
formulas (such as np.pi) are inexact, to 1e-16; the floats of a user's function may come from single precision, 1e-7."""


@dataclass(frozen=True)
class Check:
    """The quadratic form sum_ij c_i c_j k(x_i, x_j), its absolute counterpart, and the digits behind them.

    noise : what rounding inside of a user's function may contribute to the form
    """

    value: float
    size: float
    digits: int
    noise: float = 0.0

    @property
    def negative(self) -> bool:
        """Whether the value is below zero beyond every doubt that rounding could raise."""
        return self.value < -MARGINS[self.digits] * self.size - self.noise


def check_kernel(kernel: Kernel, points: Points, weights: NDArray[np.float64]) -> Check:
    """The quadratic form of a kernel, with 50 digits; with 16 where a function inside cannot take such numbers."""
    exact = Points(precisely(points.values), points.names)
    try:
        matrix = kernel.evaluate(PrecisePairs(exact, exact))
    except (TypeError, AttributeError):  # a user's function that insists on floats
        with np.errstate(all="ignore"):
            return check_matrix(kernel.evaluate(Pairs(points, points)), weights, FLOAT_DIGITS)
    return check_matrix(matrix, weights, DIGITS if matrix.dtype == object else FLOAT_DIGITS)


def check_matrix(matrix: NDArray[Any], weights: NDArray[np.float64], digits: int) -> Check:
    """The quadratic form of a matrix, summed with 50 digits."""
    exact = precisely(weights)
    terms = exact[:, None] * precisely(matrix) * exact[None, :]
    return Check(float(terms.sum()), float(np.abs(terms).sum()), digits)
