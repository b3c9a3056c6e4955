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

from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS, add_squares
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.data.views import BLOCK, EPS, KernelView, View, definite
from mercer.learners.streaming.basis import LandmarkBasis, steady
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.lifts.landmarks import pivoted
from mercer.lifts.pivoting import strips
from mercer.operators import Centering
from mercer.operators.dense import tiles
from mercer.solvers import Eigen
from mercer.solvers.logistic.newton import Minimum

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Design(ABC):
    """Z, the features of the rows.

    features : Z, (n, p), with weighted means of zero
    values, vectors : Z'SZ = V diag(values) V'; None for V = I
    centering : the weights of the rows
    """

    features: Array
    values: Array
    vectors: Array | None
    centering: Centering

    @abstractmethod
    def predictor(self, found: Minimum, alpha: float) -> ByBasis | ByDuals | ByFeatures:
        """What predicts z(x)'W + b."""


@dataclass(frozen=True, eq=False)
class MatrixDesign(Design):
    """Of the centred and weighted kernel matrix Q diag(l) Q': Z = S^-1/2 Q diag(l)^1/2, and Z'SZ = diag(l)."""

    view: View

    def predictor(self, found: Minimum, alpha: float) -> ByDuals:
        """sum_i a_i k(x, x_i) + b; the weighted mean of that over the rows is the intercept of centred features."""
        duals = self._duals(found.weights, found.residuals / alpha)
        levels = found.intercepts - self.centering.means(np.asarray(self.view.operator() @ duals))
        return ByDuals(self.view, duals, levels)

    def _duals(self, weights: Array, residuals: Array) -> Array:
        """(n, outputs): a with Z'a = W and a sum of zero: the residuals by alpha, and what these lack of W.

        At the solution they lack nothing. Before it, coefficients that give W exactly predict better than residuals.
        """
        s = self.centering.weights[:, None]
        rest = (weights - self.features.T @ residuals) / self.values[:, None]
        found = residuals + s * (self.features @ rest)
        return np.asarray(found - s * (found.sum(axis=0) / self.centering.total))


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


def from_matrix(view: View, centering: Centering, run: Run) -> MatrixDesign:
    """By the eigenvectors of the kernel matrix. Cost: 9 n^3 operations, and 3 n^2 numbers."""
    with run.stage("kernel matrix"):
        K = view.dense(run.watch)
        view = definite(view, K)
    with run.stage("decompose"):
        largest = float((centering.weights * K.diagonal()).max())
        found = Eigen().decompose(_centred(K, centering))
    floor = len(K) * EPS * max(float(found.values[-1]), largest)
    first = int(np.searchsorted(found.values, floor, side="right"))  # the others are rounding
    values, Z = found.values[first:], found.vectors[:, first:]
    Z *= np.sqrt(values)
    Z /= centering.roots[:, None]
    return MatrixDesign(Z, values, None, centering, view)


def _centred(K: Array, centering: Centering) -> Array:
    """D C K C' D, in the memory of K, for C = I - 1 s' / sum(s) and D = diag(sqrt(s))."""
    means = K @ centering.shares
    means -= (centering.shares @ means) / 2
    for part in tiles(len(K), len(K)):
        K[part] -= means[part, None] + means
        K[part] *= centering.roots[part, None] * centering.roots
    return K


def from_features(view: View, centering: Centering, run: Run) -> FeatureDesign:
    """By the features of the view's lift. Cost: n p^2 + 9 p^3 operations, and n p + 4 p^2 numbers."""
    with run.stage("features"):
        Z = view.features()
        means, rest = _centre(Z, centering)
    return FeatureDesign(Z, *_spectrum(Z, centering, run), centering, view, means, rest)


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
        Z = _table(basis, view) if choice.features is None else choice.features
        means, rest = _centre(Z, centering)
    return LandmarkDesign(Z, *_spectrum(Z, centering, run), centering, basis, means + rest, choice.indices)


def _table(basis: LandmarkBasis, view: KernelView) -> Array:
    """The features of all rows, block by block."""
    Z = np.empty((view.count, basis.width))
    for part in strips(view.count, basis.width):
        Z[part] = basis.features(view.points.rows(part))
    return Z


def _centre(Z: Array, centering: Centering) -> tuple[Array, Array]:
    """Take the means off in place; and what is left of them, since the mean of large numbers is rounded."""
    found: list[Any] = []
    for _ in range(2):
        found.append(centering.means(Z))
        Z -= found[-1]
    return found[0], found[1]


def _spectrum(Z: Array, centering: Centering, run: Run) -> tuple[Array, Array]:
    """The eigenvalues and eigenvectors of Z'SZ, from products that take a moment each."""
    n, p = Z.shape
    squares, step = np.zeros((p, p)), max(1, min(int(MAX_CALL_OPERATIONS / p**2), BLOCK // p))
    with run.stage("decompose", n):
        for start in range(0, n, step):
            run.tell(start)
            part = slice(start, start + step)
            add_squares(squares, np.ascontiguousarray(Z[part] * centering.roots[part, None]))
        found = Eigen().decompose(np.tril(squares) + np.tril(squares, -1).T)
    return found.values, found.vectors
