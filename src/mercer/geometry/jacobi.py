"""Jacobi's rotations: singular values that are each right to their own digits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mercer.geometry.accurate import Vector
from mercer.geometry.quadratic import EPSILON

Matrix = NDArray[np.float64]

_SWEEPS = 60
"""Far more than are ever needed: convergence is quadratic, and usual are six to ten."""


def singular(matrix: Matrix) -> tuple[Vector, Matrix]:
    """The singular values of a square matrix B D, D diagonal, and its right singular vectors, one a column.

    Each value is accurate relative to itself, as far as the condition of B allows; that of D does not matter.
    LAPACK's usual ways are accurate relative to the largest. Cost: O(d^3) a sweep, d/2 rotations at once.

    Demmel and Veselic, Jacobi's method is more accurate than QR (1992).
    """
    rows = np.array(matrix.T)  # the columns, which are turned until they are orthogonal
    turns = np.eye(len(rows))
    for _ in range(_SWEEPS):
        if max((_rotate(rows, turns, p, q) for p, q in _rounds(len(rows)))) <= len(rows) * EPSILON:
            break
    return np.asarray(np.linalg.norm(rows, axis=1)), turns.T


def _rotate(rows: Matrix, turns: Matrix, p: NDArray[np.intp], q: NDArray[np.intp]) -> float:
    """Make the rows p orthogonal to the rows q, pair by pair; returned is the largest cosine that there was."""
    a, b = np.einsum("ij,ij->i", rows[p], rows[p]), np.einsum("ij,ij->i", rows[q], rows[q])
    product = np.einsum("ij,ij->i", rows[p], rows[q])
    open_ = product != 0
    ratio = (b - a) / (2 * np.where(open_, product, 1.0))
    tangent = np.where(open_, np.copysign(1.0, ratio) / (np.abs(ratio) + np.hypot(1.0, ratio)), 0.0)
    c = 1 / np.hypot(1.0, tangent)
    s = c * tangent
    for table in (rows, turns):
        first, second = table[p], table[q]
        table[p] = c[:, None] * first - s[:, None] * second
        table[q] = s[:, None] * first + c[:, None] * second
    return float((np.abs(product) / np.sqrt(a * b)).max(initial=0.0))


def _rounds(count: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Every pair of `count` players once, in rounds in which nobody plays twice."""
    seats = np.arange(count + count % 2)
    for _ in range(len(seats) - 1):
        first, second = seats[: len(seats) // 2], seats[: len(seats) // 2 - 1 : -1]
        present = (first < count) & (second < count)  # who meets the empty chair rests
        yield first[present], second[present]
        seats = np.concatenate([seats[:1], np.roll(seats[1:], 1)])
