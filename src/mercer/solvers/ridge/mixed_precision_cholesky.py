"""A Cholesky factor in float32, in little more than half the time, and steps that regain the digits of float64.

A stays where it is: row i of its lower triangle takes the first 8 i bytes of a row, and row i of L' the last 4 (n - i),
so that both fit in the memory of A. The residual of a solution is taken in float64 from A itself, and the factor turns
it into the next correction; each gains the digits that the condition of A + alpha I leaves to float32 (Langou et al.,
Exploiting the performance of 32 bit floating point arithmetic in obtaining 64 bit accuracy, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import MercerError, message
from mercer.solvers.ridge import blocked_cholesky
from mercer.solvers.ridge.cholesky_factor import Factor, Kept, factorize, few_columns

MIN_ROWS = 4000
"""Rows from which on the time that is saved is worth some steps."""
MAX_ROUNDING_SHARE = 0.25
"""The rounding of |A| to float32 may be this part of alpha. Steps then gain a digit and a half, and mostly more."""
NORM_RANGE = (1e-25, 1e25)
"""Norms of A with which no number of a factor leaves the range of float32."""
MAX_STEPS = 20
"""Steps, at most; where they are not enough, a factor in float64 is."""
RESIDUAL_TOLERANCE = 2 * np.finfo(np.float64).eps
"""Where |b - (A + alpha I) x| is at most this part of |A| |x|, in the largest entries, the next step is the last."""
NO_STEPS = -1
"""In the place of a number of steps that are not enough, or were not needed."""


@dataclass(frozen=True, eq=False)
class SingleFactor(Kept):
    """L in float32 with A + alpha I = L L', nearly.

    norm : the largest sum of |A + alpha I| along a row
    """

    norm: float

    @property
    def lower(self) -> NDArray[np.float32]:
        """L, columns first and apart; above the diagonal there is something else."""
        return _beside(self.stored.T)

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """(A + alpha I)^-1 b for each column b; the alphas of the columns are all the one of this factor."""
        self.check(self.alpha if alphas is None else alphas)
        return self.refined(targets)[0]

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """The same without steps, with a few digits. Cost: 2 n^2 operations per column."""
        self.check(self.alpha if alphas is None else alphas)
        potrs, lower, n = blocked_cholesky.native("potrs", self.lower), self.lower, len(self.stored)
        largest = np.abs(targets).max(axis=0, initial=0.0)
        units = np.where(largest > 0, largest, 1.0)
        x = np.empty(targets.shape, order="F")
        for part in few_columns(*targets.shape):
            found = np.asfortranarray(targets[:, part] / units[part], dtype=np.float32)
            potrs.checked("L", n, found.shape[1], lower, blocked_cholesky.apart(lower), found, n)
            x[:, part] = found * units[part]
        return x

    def refined(self, targets: NDArray[Any]) -> tuple[NDArray[np.float64], int]:
        """The solution, and after how many steps it has the digits of float64; `NO_STEPS` where it has not.

        Cost: 4 n^2 operations per column and step.
        """
        return refined(self, targets)

    def serves(self, alphas: NDArray[Any]) -> bool:
        """For none: determinants take a factor in float64."""
        return False

    def inverse_diagonal(self, alpha: float) -> NDArray[np.float64]:
        """The diagonal of (A + alpha I)^-1. Cost: a factor in float64, n^2 numbers for it, and n^3 / 3 operations."""
        return self._double(alpha).inverse_diagonal(alpha)

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I). Cost: a factor in float64, and n^2 numbers for it."""
        return self._double(alpha).log_determinant(alpha)

    def _double(self, alpha: float) -> Factor:
        self.check(alpha)
        copy = Kept(np.array(self.stored, order="F"), self.diagonal, self.alpha, self.condition)
        factor = factorize(copy.restore(), self.alpha)
        if factor is None:
            needs, got = "a factor in float64 where float32 has one", "there is none"
            raise MercerError(message(needs, got, "This is a defect: please report it.", subject="Cholesky"))
        return factor


class Rough(Protocol):
    """A factor of A + alpha I with a few digits, and products with A itself."""

    @property
    def alpha(self) -> float: ...
    @property
    def norm(self) -> float: ...
    def roughly(self, targets: NDArray[Any]) -> NDArray[np.float64]: ...
    def multiply(self, x: NDArray[Any]) -> NDArray[np.float64]: ...


def refined(factor: Rough, targets: NDArray[Any]) -> tuple[NDArray[np.float64], int]:
    """The solution, and after how many steps it has the digits of float64; `NO_STEPS` where it has not."""
    x, before = factor.roughly(targets), np.inf
    for step in range(MAX_STEPS):
        left = targets - factor.multiply(x) - factor.alpha * x
        sizes, goals = (np.abs(each).max(axis=0, initial=0.0) for each in (left, x))
        if (sizes <= RESIDUAL_TOLERANCE * factor.norm * goals).all():
            return x + factor.roughly(left), step + 1  # the residual is known, and nothing is left after it
        worst = float((sizes / np.maximum(goals, np.finfo(np.float64).tiny)).max())
        if not worst < before / 2:  # NaN neither
            break
        x, before = x + factor.roughly(left), worst
    return x, NO_STEPS


def single_factor(A: NDArray[np.float64], norm: float, alpha: float, run: Run = IDLE) -> SingleFactor | None:
    """The factor of A + alpha I in A's memory; None, with A as it was, where float32 cannot have it or need not.

    The run takes the share of finished work.

    A : row after row, in memory that may be written to
    norm : the largest sum of |A| along a row
    """
    norm += alpha
    if not suits(len(A), norm, alpha):
        return None
    diagonal = np.diagonal(A).copy()
    lower = _rounded(A, alpha)
    info = blocked_cholesky.factor_in_place(lower, run)
    reciprocal = 0.0 if info else blocked_cholesky.reciprocal_condition(lower, norm)
    factor = SingleFactor(A.T, diagonal, alpha, 1 / reciprocal if reciprocal > 0 else np.inf, norm)
    if not reciprocal > 0:
        factor.restore()
        return None
    return factor


def suits(n: int, norm: float, alpha: float) -> bool:
    """Whether a factor in float32 is worth its steps, can be had here, and leaves digits to each step."""
    if n < MIN_ROWS or not blocked_cholesky.available("s"):
        return False
    return NORM_RANGE[0] <= norm <= NORM_RANGE[1] and bool(
        np.finfo(np.float32).eps * norm <= MAX_ROUNDING_SHARE * alpha
    )


def _beside(A: NDArray[np.float64]) -> NDArray[np.float32]:
    """The last half of the bytes of all rows, columns first: what LAPACK sees as a matrix whose columns are apart."""
    return A.view(np.float32)[:, len(A) :].T


def _rounded(A: NDArray[np.float64], alpha: float) -> NDArray[np.float32]:
    """A + alpha I in float32, its lower triangle as LAPACK sees it; it takes the place of the upper triangle of A."""
    lower = _beside(A)
    for i in range(len(A)):
        row = A[i, i:].astype(np.float32)
        row[0] = A[i, i] + alpha
        lower[i:, i] = row
    return lower
