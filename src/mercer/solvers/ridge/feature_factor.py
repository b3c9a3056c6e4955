"""Least squares from an orthogonal factor of the features themselves: Z'Z, which squares their condition, is not made.

Householder's reflections leave each column with an error of some units of its length, however long the others are
(Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 19.4), and singular values of columns of equal
length say how many of these are independent. Golub, Numerical methods for solving linear least squares problems, 1965.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr_multiply, solve_triangular

from mercer.operators.dense import TILE_NUMBERS
from mercer.solvers.ridge.cholesky_factor import Factor
from mercer.solvers.ridge.outcome import Decomposition
from mercer.solvers.ridge.spectrum import Spectrum

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
MAX_SQUARED_CONDITION = 1e12
"""The condition number of Z'Z + alpha I, of columns of equal length, up to which its factor, and steps from the
residuals of rows, reach what an orthogonal factor reaches."""
MAX_UNREFINED_CONDITION = 1e8
"""The same where no steps follow."""
NOISE = 4.0 * EPS
"""What rounding makes of a singular value of zero, for columns of length one, times the root of their number."""
CLEAR_GAP = 1e-6
"""The least of the singular values that are kept where those that are not are known to be zero."""
TALL = 4
"""How many times more rows than columns a block has, at least."""


@dataclass(frozen=True, eq=False)
class FeatureFactor:
    """(Z'Z + alpha I)^-1 = M diag(1 / values) M' for one alpha; the pseudo-inverse where alpha is 0.

    vectors : M, (p, r), for r independent directions
    values : (r,), squares of the singular values of the columns at equal length
    alpha : the ridge, which the values contain
    floor : how far the values may be off, where rows of features along M are off by their rounding
    is_clear : whether the rank is beyond doubt: the largest that is possible, or far from others
    condition : of Z'Z + alpha I on r directions
    triangle : R, with R'R = Z'Z + alpha I on the span of the rows
    span : Q, (p, n), an orthonormal basis of the rows of Z where these are fewer than columns; None elsewhere
    log_volume : log det(Z'Z + alpha I)
    """

    vectors: Array
    values: Array
    alpha: float
    floor: float
    is_clear: bool
    condition: float
    triangle: Array
    log_volume: float
    span: Array | None = None

    @property
    def inside(self) -> FeatureFactor:
        """The same on the span of the rows, beyond which weights have no part."""
        return replace(self, span=None)

    def inverses(self, alphas: NDArray[Any]) -> Array:
        """(r, alphas): 1 / values; each alpha is that of the factor."""
        return np.repeat(1.0 / self.values[:, None], len(np.asarray(alphas)), axis=1)

    def off(self, squares: Array, inverses: Array) -> Array:
        """How far sums `squares @ inverses` may be off, for squares of rows of features along M."""
        return np.asarray(2 * self.floor / np.sqrt(self.values.min()) * np.sqrt(squares @ inverses**2))

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> Array:
        """(Z'Z + alpha I)^-1 b_t for each column b_t."""
        found = np.asarray(self.vectors @ ((self.vectors.T @ targets) / self.values[:, None]))
        if self.span is None or self.alpha == 0:
            return found
        return np.asarray(found + (targets - self.span @ (self.span.T @ targets)) / self.alpha)

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any]) -> Array:
        """The same."""
        return self.solve(targets, alphas)

    def serves(self, alphas: NDArray[Any]) -> bool:
        """For those of the problem, which are all the one of the factor."""
        return True

    def multiply(self, x: NDArray[Any]) -> Array:
        """Z'Z x."""
        inside = x if self.span is None else self.span @ (self.span.T @ x)
        return np.asarray(self.triangle.T @ (self.triangle @ x) - self.alpha * inside)

    def inverse_diagonal(self, alpha: float) -> Array:
        """The diagonal of (Z'Z + alpha I)^-1."""
        found = np.asarray(self.vectors**2 @ (1.0 / self.values))
        if self.span is None or self.alpha == 0:
            return found
        return np.asarray(found + (1.0 - (self.span**2).sum(axis=1)) / self.alpha)

    def log_determinant(self, alpha: float) -> float:
        """log det(Z'Z + alpha I)."""
        return self.log_volume


class Fitted(NamedTuple):
    """A factor, and the weights (p, outputs) that it gives: the shortest where several fit equally well."""

    factor: FeatureFactor
    weights: Array


def fitted(Z: Array, targets: Array, alpha: float, sizes: Array, most: int) -> Fitted:
    """The weights that minimise |targets - Z w|^2 + alpha |w|^2.

    Where there are fewer rows than columns w is a combination of rows, and no column weighs more than its length: then
    Z' = Q R is reduced first, and w = Q t. Else columns come to one length, as far as rounding sees it.

    Cost: 2 n p^2 operations for n rows, 30 p^3 for the singular values, and 16 p^2 numbers beside Z; where n < p, n and
    p change places.

    sizes : (p,), the lengths of columns to which their rounding is relative
    most : the largest rank that Z can have; less than n and p where it was centred
    """
    n, p = Z.shape
    if n > p:
        return _fitted(Z, targets, alpha, np.sqrt(sizes**2 + alpha), most)
    Q, R = np.linalg.qr(Z.T)
    found, weights = _fitted(np.ascontiguousarray(R.T), targets, alpha, np.ones(n), most)
    with np.errstate(divide="ignore"):
        volume = found.log_volume + ((p - n) * float(np.log(alpha)) if n < p else 0.0)
    factor = replace(found, vectors=Q @ found.vectors, triangle=found.triangle @ Q.T, log_volume=volume, span=Q)
    return Fitted(factor, Q @ weights)


def _fitted(Z: Array, targets: Array, alpha: float, scales: Array, most: int) -> Fitted:
    R, C = triangle_of(Z, targets)
    p = Z.shape[1]
    if alpha > 0:
        R, C = triangle_of(np.vstack([R, np.sqrt(alpha) * np.eye(p)]), np.vstack([C, np.zeros((p, C.shape[1]))]))
    scales = np.where(scales > 0, scales, 1.0)
    left, values, right = np.linalg.svd(R / scales)
    lost = NOISE * np.sqrt(p) * max(float(values[0]), EPS)
    kept = max(1, int(np.count_nonzero(values > lost)))
    vectors = right[:kept].T / scales[:, None] if kept == p else _shortest(scales[:, None] * right[:kept].T)
    clear = kept >= min(p, most) or bool(values[kept - 1] >= CLEAR_GAP * values[0])
    with np.errstate(divide="ignore"):
        volume = 2 * float(np.log(np.abs(np.diagonal(R))).sum())
    values = values[:kept]
    factor = FeatureFactor(vectors, values**2, alpha, lost * float(values[-1]), clear, _condition(R, kept), R, volume)
    return Fitted(factor, vectors @ ((left[:, :kept].T @ C) / values[:, None]))


def factor_of(Z: Array, alpha: float, sizes: Array, most: int) -> FeatureFactor:
    """The factor alone."""
    return fitted(Z, np.zeros((len(Z), 1)), alpha, sizes, most).factor


def beside_features(rows: int, width: int) -> float:
    """Numbers that are held beside Z."""
    less = min(rows, width)
    return (4.0 * rows * width if rows <= width else 3.0 * TILE_NUMBERS) + (8.0 + 2 * TALL) * less**2


def triangle_of(Z: Array, targets: Array) -> tuple[Array, Array]:
    """R and Q'Y with Z = Q R, of blocks of rows one after the other."""
    n, p = Z.shape
    R, C = np.empty((0, p)), np.empty((0, targets.shape[1]))
    step = max(TALL * p, TILE_NUMBERS // p)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        stacked, right = np.vstack([R, Z[rows]]), np.vstack([C, targets[rows]])
        if len(stacked) <= p:
            R, C = stacked, right
            continue
        products, R = qr_multiply(stacked, right.T, mode="right", overwrite_a=True)
        C = products.T
    return R, C


def _shortest(columns: Array) -> Array:
    """The pseudo-inverse of a wide matrix of full rank, from its transpose."""
    Q, T = np.linalg.qr(columns)
    return np.asarray(solve_triangular(T, Q.T).T)


def _condition(R: Array, rank: int) -> float:
    values = np.linalg.svd(R, compute_uv=False)
    return float((values[0] / values[rank - 1]) ** 2) if values[rank - 1] > 0 else np.inf


# -- when it is needed ------------------------------------------------------------------------------------------------


def suffices(known: Decomposition, alphas: NDArray[Any], most: float = MAX_SQUARED_CONDITION) -> bool:
    """Whether a decomposition of Z'Z + alpha I leaves the digits that an orthogonal factor of Z has.

    most : the condition number that it may have, for columns of equal length
    """
    if isinstance(known, Factor):
        return known.condition <= most or _equilibrated(known) <= most
    if isinstance(known, Spectrum):
        return known.condition(alphas) <= most
    return isinstance(known, FeatureFactor) or getattr(known, "condition", 0.0) <= most  # one at a backend has it


def _equilibrated(known: Factor) -> float:
    """The condition number of Z'Z + alpha I where all columns have the same length, in the 1-norm."""
    roots = np.sqrt(known.diagonal + known.alpha)
    above = np.abs(np.triu(known.stored, 1)) / roots / roots[:, None]
    norm = float((above.sum(axis=0) + above.sum(axis=1)).max()) + 1.0
    lower = np.asfortranarray(np.tril(known.stored) / roots[:, None])
    reciprocal, _ = lapack.dpocon(lower, norm, uplo="L")
    return 1 / float(reciprocal) if reciprocal > 0 else np.inf
