"""q(x) = x'Ax + b'x + k, and the same polynomial about another point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.geometry.accurate import Vector, dot, precise_dot

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The quadratic polynomial x'Ax + b'x + k.

    matrix : A, (d, d), symmetric
    linear : b, (d,)
    constant : k
    """

    matrix: NDArray[np.float64]
    linear: Vector
    constant: float

    def about(self, point: Vector) -> Quadratic:
        """The same polynomial of y = x - point. Cost: 2 d^2 exact products.

        Where a small shape lies far from zero, k + b'c + c'Ac cancels almost entirely, so it is computed with twice
        the digits; what is lost then is only what the rounded weights had lost.
        """
        rows = [precise_dot(row, point, start) for row, start in zip(self.matrix, self.linear, strict=True)]
        half = np.array(rows)  # b + A p, in two parts
        linear = [dot(row, 2 * point, start) for row, start in zip(self.matrix, self.linear, strict=True)]
        constant = dot(half.ravel(), np.repeat(point, 2), self.constant)
        return Quadratic(self.matrix, np.array(linear), constant)

    def per(self, unit: Vector) -> Quadratic:
        """The same polynomial of y = unit x, coordinate by coordinate."""
        return Quadratic(self.matrix / np.outer(unit, unit), self.linear / unit, self.constant)

    def doubt(self, point: Vector) -> float:
        """How far rounding may have moved the value at a point, if each number of A, b and k is off by 16 units.

        One comes from the weight, several from the lift and the scalers, or from the shape that the weights express.
        """
        a = np.abs(point)
        sizes = abs(self.constant) + np.abs(self.linear) @ a + a @ np.abs(self.matrix) @ a
        return 16 * EPSILON * float(sizes)
