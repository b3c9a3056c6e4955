"""The preconditioner of Falkon: Z'Z as it would be if all rows stood at their nearest landmarks.

phi(l_j) is column j of R, so that Z'Z is about H = R diag(q) R' - N mu mu', where q_j is the weight of the rows that
are nearest to l_j, and mu the mean of the columns. Equal q, as in the paper, takes about twice as many steps where the
landmarks are pivots: these are spread wider than the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from mercer.backends import squares
from mercer.backends.squares import Triangle
from mercer.learners.data.views import EPS
from mercer.solvers import Eigen
from mercer.solvers.ridge.spectrum import Spectrum

Array = NDArray[np.float64]
FLOOR = 1e-3
"""The least weight of a landmark, in units of the mean: nobody may be nearest to it."""
RAISED = 100.0
"""What the ridge of a preconditioner is multiplied by where H is not positive definite to rounding."""
WORK = 1 << 31
"""Multiplications in one product, which nothing can interrupt: about a tenth of a second."""
PANEL = 256
"""The most rows of H, or columns of its factor, that are found at once."""


class Preconditioner(Protocol):
    """Solves with H + alpha I, or with a larger alpha where that is singular; and its condition number, estimated."""

    @property
    def condition(self) -> float:
        """The condition number of H + alpha I for the smallest alpha, estimated."""

    def solve(self, targets: Array, alphas: Array) -> Array:
        """(H + alpha_t I)^-1 b_t for each column b_t."""


def preconditioner(upper: Array, near: Array, intercept: bool, alphas: Array) -> Preconditioner:
    """For some alphas: one Cholesky factor where they are all the same, one eigendecomposition where they are not.

    Cost: 2/3 M^3 operations and M^2 numbers for one alpha, 10 M^3 and 3 M^2 for several.

    upper : R, (M, M)
    near : q, (M,)
    """
    H = sums(upper, near, intercept)
    ridge = max(float(alphas.min()), len(H) * EPS * float(np.trace(H)), float(np.finfo(np.float64).tiny))
    if np.ptp(alphas) > 0:
        return _Decomposed(Eigen().decompose(H), ridge)
    while (found := _factor(H, ridge)) is None:
        H, ridge = sums(upper, near, intercept), RAISED * ridge
    return found


def sums(upper: Array, near: Array, intercept: bool) -> Array:
    """H, symmetric, a panel of rows at a time."""
    M, total, q = len(upper), float(near.sum()), _weights(near)
    mu = intercept * (upper @ q) / total
    H = np.empty((M, M))
    for part in parts(M, M * M // 4, PANEL):
        right = slice(part.start, M)  # to the left of the diagonal R is zero
        block = (upper[part, right] * q[right]) @ upper[: part.stop, right].T
        block -= total * mu[part, None] * mu[: part.stop]
        H[part, : part.stop] = block
        H[: part.start, part] = block[:, : part.start].T
        square = H[part, part]
        square[...] = (square + square.T) / 2
    return H


def _weights(near: Array) -> Array:
    """q: the weights of the nearest rows, none of them zero."""
    total = float(near.sum())
    q = np.maximum(near, FLOOR * total / len(near))
    return np.asarray(q * (total / q.sum()))


def preconditioner_there(triangle: Triangle, near: Array, intercept: bool, alphas: Array) -> Preconditioner:
    """The same at a backend, which keeps R and the factor. Cost: as there."""
    q, share = _weights(near), float(intercept) / float(near.sum())
    least = triangle.width * EPS * triangle.trace(q, share)
    ridge = max(float(alphas.min()), least, float(np.finfo(np.float64).tiny))
    if np.ptp(alphas) > 0:
        return _DecomposedThere(triangle.spectrum(q, share), ridge)
    while (found := triangle.factor(q, share, ridge)) is None:
        ridge *= RAISED
    return _FactoredThere(found)


def parts(count: int, width: int, most: int | None = None) -> list[slice]:
    """Slices that cover a count of rows, each of at most `WORK` multiplications where a row takes so many."""
    step = max(1, WORK // max(1, width))
    step = step if most is None else min(step, most)
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]


@dataclass(frozen=True, eq=False)
class _Decomposed:
    """H by its eigenvectors, with alphas of at least `ridge`."""

    spectrum: Spectrum
    ridge: float

    @property
    def condition(self) -> float:
        return self.spectrum.condition(np.array([self.ridge]))

    def solve(self, targets: Array, alphas: Array) -> Array:
        return self.spectrum.solve(targets, np.maximum(alphas, self.ridge))


@dataclass(frozen=True, eq=False)
class _DecomposedThere:
    """The same with eigenvectors at a backend."""

    spectrum: squares.Spectrum
    ridge: float

    @property
    def condition(self) -> float:
        values = np.maximum(self.spectrum.values, 0.0) + self.ridge
        return float(values.max() / values.min())

    def solve(self, targets: Array, alphas: Array) -> Array:
        return self.spectrum.solve(targets, np.maximum(alphas, self.ridge))


@dataclass(frozen=True, eq=False)
class _FactoredThere:
    """The factor of H + ridge I at a backend."""

    factor: squares.Factor

    @property
    def condition(self) -> float:
        return self.factor.condition

    def solve(self, targets: Array, alphas: Array) -> Array:
        return self.factor.solve(targets)


@dataclass(frozen=True, eq=False)
class _Factored:
    """L with H + ridge I = L L', below the diagonal of a square array."""

    lower: Array
    condition: float

    def solve(self, targets: Array, alphas: Array) -> Array:
        forward = blas.dtrsm(1.0, self.lower.T, targets, trans_a=1)
        return np.asarray(blas.dtrsm(1.0, self.lower.T, forward, overwrite_b=1))


def _factor(H: Array, ridge: float) -> _Factored | None:
    """The Cholesky factor in the memory of H, panel by panel: each product ends soon. None where it has none."""
    M = len(H)
    H[np.diag_indices(M)] += ridge
    norm = max(float(np.abs(H[part]).sum(axis=1).max()) for part in parts(M, M))
    for part in parts(M, M * M // 4, PANEL):
        H[part.start :, part] -= H[part.start :, : part.start] @ H[part, : part.start].T
        try:
            corner = np.linalg.cholesky(H[part, part])
        except np.linalg.LinAlgError:
            return None
        H[part, part] = corner
        H[part.stop :, part] = H[part.stop :, part] @ np.linalg.inv(corner).T
    reciprocal, _ = lapack.dpocon(H.T, norm, uplo="U")
    return _Factored(H, 1 / reciprocal) if reciprocal > EPS else None
