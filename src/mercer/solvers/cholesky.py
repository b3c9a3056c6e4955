"""The fastest exact way for one alpha, in the memory of the matrix alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mercer.compute.native import CALL, patiently, routine
from mercer.compute.run import IDLE, Run
from mercer.errors import InputError, MercerError, sentence
from mercer.solvers import blocked
from mercer.solvers.base import Cost, Solver, System, relative_residual, solves
from mercer.solvers.eigen import Eigen
from mercer.solvers.outcome import Outcome
from mercer.solvers.preparing import overwritable, ready, row_sums

PANEL = 256
"""Rows that are worked on at once: enough for fast products, few enough that PANEL^2 numbers fit a cache."""


@dataclass(frozen=True)
class Cholesky(Solver):
    """A + alpha I = L L' in place: L overwrites one triangle, and the other still holds A, for the residual.

    Cost: n^3 / 3 operations and n^2 numbers, A itself; once for each different alpha. Where A + alpha I is not positive
    definite to rounding, `Eigen` takes over, with its cost, and the outcome says so. The outcome holds the factor where
    there is one alpha, and no decomposition where there are several.

    >>> import numpy as np
    >>> from mercer.solvers import Cholesky, System
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> outcome = Cholesky().solve(System(A, np.array([[3.0], [0.0]]), np.array([1.0])))
    >>> outcome.value.round(3).tolist(), round(outcome.condition, 3), outcome.residual < 1e-15
    ([[1.125], [-0.375]], 2.0, True)
    """

    needs: ClassVar[Literal["matrix", "products"]] = "matrix"

    def solve(self, system: System) -> Outcome:
        A, system = ready("Cholesky", system)
        x, products = np.zeros_like(system.targets), np.zeros_like(system.targets)
        condition, factor, ridges = 1.0, None, np.unique(system.alphas)
        for alpha in ridges:
            A = A if factor is None else factor.restore()
            factor = factorize(A, float(alpha), system.run)
            if factor is None:
                return _by_eigen(system)
            columns = np.flatnonzero(system.alphas == alpha)
            x[:, columns] = factor.solve(system.targets[:, columns])
            products[:, columns] = factor.multiply(x[:, columns])
            condition = max(condition, factor.condition)
        residual, known = relative_residual(system, products, x), factor if len(ridges) == 1 else None
        reason = ["One Cholesky factor an alpha."]
        converged = solves(residual, reason)
        return Outcome(x, converged, " ".join(reason), 0, residual, condition, decomposition=known)

    def cost(self, n: int, outputs: int) -> Cost:
        return Cost(n**3 / 3 + 4.0 * n**2 * outputs, float(n) ** 2 + 4.0 * n * outputs)


@dataclass(frozen=True, eq=False)
class Factor:
    """L with A + alpha I = L L', in the memory of A.

    stored : as LAPACK sees it, columns first: L below and on the diagonal, A above it
    diagonal : that of A
    alpha : the ridge; other alphas are refused
    condition : an estimate of the condition number of A + alpha I, in the 1-norm
    """

    stored: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    alpha: float
    condition: float

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """(A + alpha I)^-1 b for each column b; the alphas of the columns are all the one of this factor."""
        self._check(self.alpha if alphas is None else alphas)
        (n, columns), x = targets.shape, np.empty_like(targets, dtype=np.float64, order="F")
        step = max(1, int(CALL / (2.0 * n**2)))  # many columns at once would take long
        for start in range(0, columns, step):
            part = slice(start, start + step)
            found, info = lapack.dpotrs(self.stored, targets[:, part], lower=1)
            x[:, part] = _accepted("dpotrs", info, found)
        return x

    def multiply(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """A x, from the triangle that still holds A. Cost: 2 n^2 operations for each column of x."""
        A, products = self.stored.T, np.asarray(self.diagonal[:, None] * x)
        for part in _panels(0, len(A)):
            beside, corner = A[part, : part.start], np.tril(A[part, part], -1)
            products[part] += beside @ x[: part.start] + corner @ x[part] + corner.T @ x[part]
            products[: part.start] += beside.T @ x[part]
        return products

    def inverse_diagonal(self, alpha: float) -> NDArray[np.float64]:
        """The diagonal of (A + alpha I)^-1. Cost: n^3 / 3 operations, and 2 `PANEL` n numbers."""
        self._check(alpha)
        parts = _panels(0, len(self.stored))
        corners = [_inverse(self.stored[part, part]) for part in parts]
        return np.concatenate([_inverse_squares(self.stored, parts[i:], corners[i:]) for i in range(len(parts))])

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I)."""
        self._check(alpha)
        return float(2 * np.log(np.diagonal(self.stored)).sum())

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

    def _check(self, alphas: Any) -> None:
        if not (np.asarray(alphas) == self.alpha).all():
            came, remedy = f"{alphas} came", "Solve for one alpha at a time, or use Eigen(), which serves them all."
            raise InputError(sentence("A Cholesky factor", f"the alpha it was made for, {self.alpha:g}", came, remedy))


def factorize(A: NDArray[np.float64], alpha: float, run: Run = IDLE) -> Factor | None:
    """The factor of A + alpha I in A's memory; None, with A as it was, where that is not positive definite to rounding.

    Where A cannot be overwritten (see `overwritable`), a copy is. The run is told which share of the work is done.
    """
    A = overwritable("Cholesky", A)
    norm = float(row_sums("Cholesky", A).max()) + alpha
    diagonal = np.diagonal(A).copy()
    np.fill_diagonal(A, diagonal + alpha)
    stored, info = _factored(A.T, run)
    reciprocal = 0.0 if info else _reciprocal_condition(stored, norm)
    factor = Factor(stored, diagonal, alpha, 1 / reciprocal if reciprocal > 0 else np.inf)
    if reciprocal < np.finfo(np.float64).eps:  # whether the last pivots are above zero is then a matter of luck
        factor.restore()
        return None
    return factor


def _factored(stored: NDArray[np.float64], run: Run) -> tuple[NDArray[np.float64], int]:
    """L in the memory of S = L L', and what dpotrf says of it."""
    if len(stored) >= blocked.LARGE and blocked.available():
        return stored, blocked.factor_in_place(stored, run)
    stored, info = lapack.dpotrf(stored, lower=1, clean=0, overwrite_a=1)
    return _accepted("dpotrf", min(info, 0), stored), info


def _by_eigen(system: System) -> Outcome:
    outcome = Eigen().solve(system)
    why = "A + alpha I is not positive definite to rounding, so that Cholesky gave way to Eigen."
    return replace(outcome, reason=f"{why} {outcome.reason}")


def _reciprocal_condition(stored: NDArray[np.float64], norm: float) -> float:
    """One over the condition number in the 1-norm, estimated from the factor in some 10 n^2 operations."""
    pocon, n = routine("dpocon"), len(stored)
    if n >= blocked.LARGE and pocon is not None:
        found, work, whole = np.zeros(1), np.empty(3 * n), np.empty(n, dtype=pocon.integer)
        patiently(partial(pocon.checked, "L", n, stored, n, norm, found, work, whole))
        return float(found[0])
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


def _panels(start: int, stop: int) -> list[slice]:
    """Slices of `PANEL` rows that cover a range."""
    return [slice(first, min(first + PANEL, stop)) for first in range(start, stop, PANEL)]


def _accepted(routine: str, info: int, result: NDArray[Any]) -> NDArray[np.float64]:
    """A result of LAPACK; an error where the routine says that it did not compute one."""
    if info != 0:
        came = f"{routine} returned {info}"
        raise MercerError(sentence("Cholesky", "LAPACK to do its work", came, "This is a defect: please report it."))
    return np.asarray(result)
