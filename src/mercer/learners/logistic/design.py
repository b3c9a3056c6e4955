"""Designs: features of the rows, centred and with the spectrum of their squares, and what predicts from their weights.

A linear model on them is a function of the kernel. The kernel matrix gives as many features as it has directions above
rounding, a lift its own, and landmarks those of a Nystrom lift.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from mercer.backends.context import current
from mercer.backends.tables import Table
from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS, add_squares
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.data.views import BLOCK, EPS, KernelView, TableView, View, definite
from mercer.learners.streaming.basis import LandmarkBasis, steady
from mercer.learners.streaming.feature_pass import held_features, held_table
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.lifts.landmarks import pivoted
from mercer.lifts.pivoting import strips
from mercer.operators import Centering
from mercer.operators.dense import tiles
from mercer.planner.logistic import MAX_FACTORED_ROWS
from mercer.solvers import Eigen
from mercer.solvers.logistic.newton import Minimum
from mercer.solvers.logistic.squares import OfFactor, Spectral, Squares

Array = NDArray[np.float64]
MAX_RATIO = 1e8
"""How much larger than alpha the matrix may be: of so many digits the preconditioner of a factor loses as many."""


@dataclass(frozen=True, eq=False)
class Design(ABC):
    """Z, the features of the rows.

    features : Z, (n, p), with weighted means of zero, where wide tables live
    squares : Z'SZ
    centering : the weights of the rows
    """

    features: Array | Table
    squares: Squares
    centering: Centering

    @abstractmethod
    def predictor(self, found: Minimum, alpha: float) -> ByBasis | ByDuals | ByFeatures:
        """What predicts z(x)'W + b."""


@dataclass(frozen=True, eq=False)
class MatrixDesign(Design):
    """Of the centred and weighted kernel matrix A = LL': Z = S^-1/2 L, and Z'SZ = L'L.

    means : (n,), the weighted means of the rows of the kernel matrix
    """

    features: Array

    view: View
    means: Array

    def predictor(self, found: Minimum, alpha: float) -> ByDuals:
        """sum_i a_i k(x, x_i) + b; the weighted mean of that over the rows is the intercept of centred features."""
        duals = self._duals(found.weights, found.residuals / alpha)
        levels = found.intercepts - self.means @ duals
        return ByDuals(self.view, duals, levels)

    def _duals(self, weights: Array, residuals: Array) -> Array:
        """(n, outputs): a with Z'a = W and a sum of zero: the residuals by alpha, and what these lack of W.

        At the solution they lack nothing. Before it, coefficients that give W exactly predict better than residuals.
        """
        found = residuals + self._beside(weights - self.features.T @ residuals)
        return np.asarray(found - self.centering.weights[:, None] * (found.sum(axis=0) / self.centering.total))

    @abstractmethod
    def _beside(self, weights: Array) -> Array:
        """Some a with Z'a = W."""


@dataclass(frozen=True, eq=False)
class DecomposedDesign(MatrixDesign):
    """With L = Q diag(l)^1/2, from A = Q diag(l) Q'."""

    values: Array

    def _beside(self, weights: Array) -> Array:
        return np.asarray(self.centering.weights[:, None] * (self.features @ (weights / self.values[:, None])))


@dataclass(frozen=True, eq=False)
class FactoredDesign(MatrixDesign):
    """With a pivoted Cholesky factor L.

    upper : its rows at the pivots, transposed, in an upper triangle
    pivots : which these are
    """

    upper: Array
    pivots: NDArray[np.intp]

    def _beside(self, weights: Array) -> Array:
        found = np.zeros((len(self.features), weights.shape[1]))
        found[self.pivots] = solve_triangular(self.upper, weights) * self.centering.roots[self.pivots, None]
        return found


@dataclass(frozen=True, eq=False)
class FeatureDesign(Design):
    """Of a lift: its features, less their means."""

    view: View
    means: Array
    rest: Array

    def predictor(self, found: Minimum, alpha: float) -> ByFeatures:
        return ByFeatures(self.view, found.weights, self.means, found.intercepts - self.rest @ found.weights)


@dataclass(frozen=True, eq=False)
class LandmarkDesign(Design):
    """Of landmarks: k(x, l_j), whitened, less its means.

    indices : which rows they are
    """

    basis: LandmarkBasis
    means: Array
    indices: NDArray[np.intp]

    def predictor(self, found: Minimum, alpha: float) -> ByBasis:
        basis = steady(self.basis)
        return ByBasis(basis, basis.to_raw(found.weights), found.intercepts - self.means @ found.weights)


def from_matrix(view: View, centering: Centering, alpha: float, run: Run) -> MatrixDesign:
    """By a pivoted Cholesky factor of the kernel matrix where it is small and alpha is not, else by its eigenvectors.

    Cost: 2 n^3 / 3 operations, or 9 n^3; 3 n^2 numbers.
    """
    with run.stage("kernel matrix"):
        K = view.dense(run.watch)
        view = definite(view, K)
    with run.stage("decompose"):
        largest = float((centering.weights * K.diagonal()).max())
        A, means = _centred(K, centering)
        norm = float(np.linalg.norm(A, np.inf))
        if len(A) <= MAX_FACTORED_ROWS and alpha * MAX_RATIO > norm > 0:
            return _factored(A, norm, largest, centering, view, means)
        found = Eigen().decompose(A)
    floor = len(K) * EPS * max(float(found.values[-1]), largest)
    first = int(np.searchsorted(found.values, floor, side="right"))  # the others are rounding
    values, Z = found.values[first:], found.vectors[:, first:]
    Z *= np.sqrt(values)
    Z /= centering.roots[:, None]
    return DecomposedDesign(Z, Spectral(values), centering, view, means, values)


def _factored(A: Array, norm: float, largest: float, centering: Centering, view: View, means: Array) -> FactoredDesign:
    """With the factor in the upper triangle of A, of which the other one stays."""
    diagonal = A.diagonal().copy()
    with np.errstate(all="ignore"):
        both, order, rank, _ = lapack.dpstrf(A.T, tol=len(A) * EPS * max(norm, largest), overwrite_a=1)
    pivots = order.astype(np.intp) - 1
    L = np.empty((len(A), rank))
    L[pivots] = np.triu(both[:rank]).T
    squares = OfFactor(L, both, diagonal, norm)
    Z = L / centering.roots[:, None]
    return FactoredDesign(Z, squares, centering, view, means, both[:rank, :rank], pivots[:rank])


def _centred(K: Array, centering: Centering) -> tuple[Array, Array]:
    """D C K C' D, in the memory of K, for C = I - 1 s' / sum(s) and D = diag(sqrt(s)); and the means of rows of K."""
    means = np.asarray(K @ centering.shares)
    shifts = means - (centering.shares @ means) / 2
    for part in tiles(len(K), len(K)):
        K[part] -= shifts[part, None] + shifts
        K[part] *= centering.roots[part, None] * centering.roots
    return K, means


def from_features(view: TableView, centering: Centering, run: Run) -> FeatureDesign:
    """By the features of the view's lift. Cost: n p^2 + 9 p^3 operations, and n p + 4 p^2 numbers."""
    with run.stage("features"):
        Z = held_features(view, run.watch)
        means, rest = _centre(Z, centering)
    return FeatureDesign(Z, _spectrum(Z, centering, run), centering, view, means, rest)


def from_landmarks(
    view: KernelView, centering: Centering, rank: int, random: np.random.Generator, run: Run
) -> LandmarkDesign:
    """By landmarks that are drawn. Cost: n p^2 + 9 p^3 operations beyond the values, and n p + 4 p^2 numbers."""
    with run.stage("landmarks"):
        choice = pivoted(view.kernel, view.points, rank, random)
        if len(choice.upper) == 0 or choice.indices is None:
            got, remedy = "k(x, x) is 0 in every row", "Check the kernel."
            raise InputError(message("a kernel that is not zero on the data", got, remedy))
        basis = LandmarkBasis(view.kernel, choice.points, choice.upper)
        Z = _table(basis, view, choice.features, run)
        means, rest = _centre(Z, centering)
    return LandmarkDesign(Z, _spectrum(Z, centering, run), centering, basis, means + rest, choice.indices)


def _table(basis: LandmarkBasis, view: KernelView, known: Array | None, run: Run) -> Array | Table:
    """The features of all rows, block by block, where they are not known; or at a backend that holds them."""
    if current().holds_tables:
        return held_table(basis, view.points, run.watch)
    if known is not None:
        return known
    Z = np.empty((view.count, basis.width))
    for part in strips(view.count, basis.width):
        Z[part] = basis.features(view.points.rows(part))
    return Z


def _centre(Z: Array | Table, centering: Centering) -> tuple[Array, Array]:
    """Take the means off in place; and what is left of them, since the mean of large numbers is rounded."""
    found: list[Any] = []
    for _ in range(2):
        if isinstance(Z, np.ndarray):
            found.append(centering.means(Z))
            Z -= found[-1]
        else:
            found.append(Z.T @ centering.shares if centering.intercept else np.zeros(Z.shape[1]))
            Z.subtract(found[-1])
    return found[0], found[1]


def _spectrum(Z: Array | Table, centering: Centering, run: Run) -> Spectral:
    """The eigenvalues and eigenvectors of Z'SZ, from products that take a moment each."""
    n, p = Z.shape
    if not isinstance(Z, np.ndarray):
        with run.stage("decompose", n):
            decomposed = Eigen().decompose(Z.squares(centering.weights, lambda: run.tell(0)))
        return Spectral(decomposed.values, decomposed.vectors)
    squares, step = np.zeros((p, p)), max(1, min(int(MAX_CALL_OPERATIONS / p**2), BLOCK // p))
    with run.stage("decompose", n):
        for start in range(0, n, step):
            run.tell(start)
            part = slice(start, start + step)
            add_squares(squares, np.ascontiguousarray(Z[part] * centering.roots[part, None]))
        found = Eigen().decompose(np.tril(squares) + np.tril(squares, -1).T)
    return Spectral(found.values, found.vectors)
