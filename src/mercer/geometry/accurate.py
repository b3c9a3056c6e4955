"""Sums that are rounded once, and singular values right to their own digits: a shape is as exact as its weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgejsv

from mercer.kernels.precision.double_double import two_product

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RELATIVE, NO_LEFT, RIGHT = 0, 3, 0
"""LAPACK's JOBA = "C", JOBU = "N" and JOBV = "V", as SciPy numbers them: full relative accuracy, right vectors only."""


def dot(a: Vector, b: Vector, start: float = 0.0) -> float:
    """start + a.b, rounded once."""
    high, low = two_product(a, b)
    return math.fsum([start, *high.tolist(), *low.tolist()])


def precise_dot(a: Vector, b: Vector, start: float = 0.0) -> tuple[float, float]:
    """start + a.b as a sum of two floats, with about 32 digits."""
    high, low = two_product(a, b)
    parts = [start, *high.tolist(), *low.tolist()]
    total = math.fsum(parts)
    return total, math.fsum([-total, *parts])


def singular_values(matrix: Matrix) -> tuple[Vector, Matrix]:
    """The singular values of a square matrix B D, D diagonal, and its right singular vectors, one per column.

    Each value is accurate relative to itself, as far as the condition of B allows; that of D does not matter.
    `scipy.linalg.svd` is accurate relative to the largest. Cost: O(d^3), by LAPACK's one-sided Jacobi rotations.

    Drmac and Veselic, New fast and accurate Jacobi SVD algorithm (2008).
    """
    values, _, vectors, work, _, info = dgejsv(matrix, joba=RELATIVE, jobu=NO_LEFT, jobv=RIGHT, jobp=0)
    if info != 0:
        raise np.linalg.LinAlgError(f"dgejsv returned info = {info}.")
    return np.asarray(values * (work[0] / work[1])), np.asarray(vectors)
