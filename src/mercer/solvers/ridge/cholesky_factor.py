"""The Cholesky factor of a symmetric matrix in its own memory, with the matrix beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from mercer.backends.squares import check_alphas
from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS
from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import MercerError, message
from mercer.solvers.ridge import blocked_cholesky
from mercer.solvers.ridge.checks import overwritable, row_sums

PANEL_ROWS = 256
"""Rows that are worked on at once: enough for fast products, few enough that PANEL_ROWS^2 numbers fit a cache."""
MAX_COLUMNS_ONE_BY_ONE = 8
"""Columns up to which products with each alone are quicker than one with all."""


@dataclass(frozen=True, eq=False)
class Kept:
    """A beside a factor of A + alpha I, in the memory of A: a triangle still holds A.

    stored : as LAPACK sees it, columns first: A above the diagonal, and below it and on it what stands for a factor
    diagonal : that of A
    alpha : the ridge; other alphas are refused
    condition : an estimate of the condition number of A + alpha I, in the 1-norm
    """

    stored: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    alpha: float
    condition: float

    def multiply(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """A x, from the triangle that still holds A. Cost: 2 n^2 operations for each column of x."""
        A, products = self.stored.T, np.asarray(self.diagonal[:, None] * x)
        for part in _panels(0, len(A)):
            beside, corner = A[part, : part.start], np.tril(A[part, part], -1)
            products[part] += beside @ x[: part.start] + corner @ x[part] + corner.T @ x[part]
            products[: part.start] += beside.T @ x[part]
        return products

    def restore(self) -> NDArray[np.float64]:
        """A, in its memory again, bit for bit: this factor is used up."""
        A = self.stored.T
        for rows in _panels(0, len(A)):
            for columns in _panels(rows.stop, len(A)):
                A[rows, columns] = A[columns, rows].T
            block, below = A[rows, rows], np.tril_indices(rows.stop - rows.start, -1)
            block.T[below] = block[below]
        np.fill_diagonal(A, self.diagonal)
        return A

    def check(self, alphas: Any) -> None:
        """An error for an alpha that this factor was not made for."""
        check_alphas(self.alpha, alphas)


@dataclass(frozen=True, eq=False)
class Factor(Kept):
    """L with A + alpha I = L L', below the diagonal and on it."""

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """(A + alpha I)^-1 b for each column b; the alphas of the columns are all the one of this factor."""
        if alphas is not None:
            self.check(alphas)
        parts = few_columns(*targets.shape)
        if targets.shape[1] == 1 and len(parts) == 1:  # a single vector is quicker by substitution
            half, info = lapack.dtrtrs(self.stored, targets, lower=1)
            found, info = lapack.dtrtrs(self.stored, _accepted("dtrtrs", info, half), lower=1, trans=1, overwrite_b=1)
            return _accepted("dtrtrs", info, found)
        x = np.empty_like(targets, dtype=np.float64, order="F")
        for part in parts:
            found, info = lapack.dpotrs(self.stored, targets[:, part], lower=1)
            x[:, part] = _accepted("dpotrs", info, found)
        return x

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any]) -> NDArray[np.float64]:
        """The same."""
        return self.solve(targets, alphas)

    def serves(self, alphas: NDArray[Any]) -> bool:
        """Whether it speaks for all of these alphas."""
        return bool((alphas == self.alpha).all())

    def inverse_diagonal(self, alpha: float) -> NDArray[np.float64]:
        """The diagonal of (A + alpha I)^-1. Cost: n^3 / 3 operations, and 2 `PANEL_ROWS` n numbers."""
        self.check(alpha)
        parts = _panels(0, len(self.stored))
        corners = [_inverse(self.stored[part, part]) for part in parts]
        return np.concatenate([_inverse_squares(self.stored, parts[i:], corners[i:]) for i in range(len(parts))])

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I)."""
        self.check(alpha)
        return float(2 * np.log(np.diagonal(self.stored)).sum())


def factorize(A: NDArray[np.float64], alpha: float, run: Run = IDLE, norm: float | None = None) -> Factor | None:
    """The factor of A + alpha I in A's memory; None, with A as it was, where that is not positive definite to rounding.

    Where A cannot be overwritten (see `overwritable`), a copy is. The run takes the share of finished work.

    norm : the largest sum of |A| along a row, where it is known
    """
    A = overwritable(A)
    norm = float(row_sums(A).max()) if norm is None else norm
    diagonal = np.diagonal(A).copy()
    np.fill_diagonal(A, diagonal + alpha)
    stored, info = _factored(A.T, run)
    reciprocal = 0.0 if info else _reciprocal_condition(stored, norm + alpha)
    factor = Factor(stored, diagonal, alpha, 1 / reciprocal if reciprocal > 0 else np.inf)
    if reciprocal < np.finfo(np.float64).eps:  # whether the last pivots are positive is then a matter of luck
        factor.restore()
        return None
    return factor


def definite_factor(A: NDArray[np.float64], alpha: float, run: Run = IDLE) -> Factor | None:
    """The same where A + alpha I is known to be well conditioned, so that its condition number is not estimated: NaN.

    None, with A as it was, where there is no factor after all.

    A : row after row, in memory that may be written to
    """
    entries = _diagonal_of(A)
    diagonal = entries.copy()
    entries += alpha
    stored, info = _factored(A.T, run)
    factor = Factor(stored, diagonal, alpha, np.nan)
    if info:
        factor.restore()
        return None
    return factor


def product_beside(factor: Factor, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """A x, a little faster than `Factor.multiply`, of a new factor: its diagonal is A's meanwhile, for all who look."""
    entries = _diagonal_of(factor.stored.T)
    own = entries.copy()
    entries[:] = factor.diagonal
    if x.shape[1] <= MAX_COLUMNS_ONE_BY_ONE:
        products = np.column_stack([blas.dsymv(1.0, factor.stored, column) for column in x.T])
    else:
        products = blas.dsymm(1.0, factor.stored, x)
    entries[:] = own
    return np.asarray(products)


def _diagonal_of(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """The diagonal of rows that stand one after the other, to be written to."""
    return A.reshape(-1)[:: len(A) + 1]


def _factored(stored: NDArray[np.float64], run: Run) -> tuple[NDArray[np.float64], int]:
    """L in the memory of S = L L', and what dpotrf says of it."""
    if len(stored) >= blocked_cholesky.MIN_BLOCKED_ROWS and blocked_cholesky.available():
        return stored, blocked_cholesky.factor_in_place(stored, run)
    stored, info = lapack.dpotrf(stored, lower=1, clean=0, overwrite_a=1)
    return _accepted("dpotrf", min(info, 0), stored), info


def _reciprocal_condition(stored: NDArray[np.float64], norm: float) -> float:
    """One over the condition number in the 1-norm, estimated from the factor in some 10 n^2 operations."""
    if len(stored) >= blocked_cholesky.MIN_BLOCKED_ROWS and blocked_cholesky.available():
        return blocked_cholesky.reciprocal_condition(stored, norm)
    reciprocal, info = lapack.dpocon(stored, norm, uplo="L")
    _accepted("dpocon", info, stored)
    return float(reciprocal)


def _inverse(lower: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of a lower triangle; what stands above it does not count."""
    inverse, info = lapack.dtrtri(lower, lower=1)
    return np.tril(_accepted("dtrtri", info, inverse))


def _inverse_squares(
    lower: NDArray[np.float64], parts: list[slice], corners: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The sums of squares of the columns of L^-1 in the first of some panels, by forward substitution from its rows on.

    There are only products in it: where NumPy and SciPy each bring a BLAS, turns between the two cost more than both.

    parts, corners : the panels from these columns on, and the inverses of their triangles on the diagonal
    """
    first = parts[0].start
    X = np.zeros((len(lower) - first, parts[0].stop - first))
    X[: len(corners[0])] = corners[0]
    for rows, corner in zip(parts[1:], corners[1:], strict=True):
        known = lower[rows, first : rows.start] @ X[: rows.start - first]
        X[rows.start - first : rows.stop - first] = -corner @ known
    return np.asarray(np.einsum("ij,ij->j", X, X))


def few_columns(n: int, columns: int) -> list[slice]:
    """Right sides in parts, each of about `MAX_CALL_OPERATIONS` operations: many at once would take long."""
    step = max(1, int(MAX_CALL_OPERATIONS / (2.0 * n**2)))
    return [slice(start, start + step) for start in range(0, columns, step)]


def _panels(start: int, stop: int) -> list[slice]:
    """Slices of `PANEL_ROWS` rows that cover a range."""
    return [slice(first, min(first + PANEL_ROWS, stop)) for first in range(start, stop, PANEL_ROWS)]


def _accepted(routine: str, info: int, result: NDArray[Any]) -> NDArray[np.float64]:
    """A result of LAPACK; an error where the routine says that it did not compute one."""
    if info != 0:
        got = f"{routine} returned {info}"
        raise MercerError(
            message("LAPACK to do its work", got, "This is a defect: please report it.", subject="Cholesky")
        )
    return np.asarray(result)
