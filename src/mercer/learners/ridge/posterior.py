"""The Gaussian process that is equivalent to a model: standard deviations and leverages, from one more decomposition.

Kernel ridge regression is the mean of a Gaussian process with the covariance v k(x, z) and observations with the noise
variance v alpha, whatever v is; v is the one of largest marginal likelihood. An intercept has a flat prior.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.points import Points
from mercer.learners.data.views import LiftView, View, blocks
from mercer.learners.ridge import dual, primal
from mercer.learners.ridge.features import CenteredFeatures
from mercer.learners.ridge.result import BasisFit, RidgeResult
from mercer.learners.streaming.basis import Basis, FeatureBasis, LandmarkBasis, LiftBasis
from mercer.operators import Centered, Centering
from mercer.solvers import Eigen
from mercer.solvers.ridge.at_backend import factor_of
from mercer.solvers.ridge.outcome import Decomposition
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning.sides import DualSide

if TYPE_CHECKING:
    from mercer.learners.streaming.grid import GridBasis
    from mercer.operators.at_backend import AtBackend
    from mercer.tuning.nearest import NearestRows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """What a decomposition for one alpha says about new rows and about the training rows.

    view, centering : the rows of positive weights
    alpha : the ridge
    """

    view: View
    centering: Centering
    alpha: float

    @abstractmethod
    def variances(self, new: Any, count: int, variance: float, noise: float) -> Array:
        """The variance of f(x) + b at new rows, from v and from v alpha: one of them may be all that is finite."""

    @abstractmethod
    def covariance(self, new: Any, count: int, variance: float, noise: float) -> Array:
        """The covariance of f(x) + b between all pairs of new rows; `variances` are its diagonal, to rounding."""

    @abstractmethod
    def log_determinant(self) -> float:
        """log det(K + alpha I), copies counted, on what the intercept leaves."""

    @property
    @abstractmethod
    def leverage(self) -> Array:
        """How much the prediction at a row follows one copy of its own y."""

    @property
    def mean_share(self) -> float:
        """The variance of the intercept at the mean of the rows, in units of the noise."""
        return 1 / self.centering.total if self.centering.intercept else 0.0


@dataclass(frozen=True, eq=False)
class DualPosterior(Posterior):
    """From the kernel matrix. Cost: n^3 / 3 operations once and n^2 numbers held; 2 n^2 operations for a new row."""

    centered: Centered
    decomposition: Decomposition

    def variances(self, new: Any, count: int, variance: float, noise: float) -> Array:
        cross, parts = self.view.cross(new), self.centered
        found = np.empty(count)
        diagonal = self.view.diagonal(new)
        for block in blocks(count, self.view.count):
            K = np.asarray(cross.rows(block), dtype=np.float64)
            own = diagonal[block] - (2 * (K @ self.centering.shares) - parts.middle) * self.centering.intercept
            rows = (parts.cross(K, self.centering) * self.centering.roots).T
            solved = self.decomposition.solve(rows, np.full(rows.shape[1], self.alpha))
            found[block] = own - np.einsum("ij,ij->j", rows, solved)
        return variance * np.maximum(found, 0.0) + noise * self.mean_share

    def covariance(self, new: Any, count: int, variance: float, noise: float) -> Array:
        found, cross = self.view.among(new), self.view.cross(new)
        rows = np.empty((self.view.count, count))
        shift = np.empty(count)
        for block in blocks(count, self.view.count):
            K = np.asarray(cross.rows(block), dtype=np.float64)
            shift[block] = K @ self.centering.shares - self.centered.middle / 2
            rows[:, block] = (self.centered.cross(K, self.centering) * self.centering.roots).T
        if self.centering.intercept:
            found -= shift
            found -= shift[:, None]
        for block in blocks(count, self.view.count):
            part = np.ascontiguousarray(rows[:, block])
            found[:, block] -= rows.T @ self.decomposition.solve(part, np.full(part.shape[1], self.alpha))
        return variance * mirrored(found) + noise * self.mean_share

    @property
    def leverage(self) -> Array:
        center, tau = self.centering, self.centered.pull
        if isinstance(self.decomposition, Spectrum):  # A + alpha I may be singular: null vectors fit nothing
            return DualSide(self.decomposition, center, tau, np.empty((self.view.count, 0))).leverage(self.alpha)
        along = center.direction**2 / (tau + self.alpha) if center.intercept else 0.0
        inverse = self.decomposition.inverse_diagonal(self.alpha)
        return np.asarray((1 - self.alpha * (inverse - along)) / center.weights)

    def log_determinant(self) -> float:
        found = dual.log_determinants(self.decomposition, self.centering, self.centered.pull, np.array([self.alpha]))
        return float(np.asarray(found).item())


@dataclass(frozen=True, eq=False)
class PrimalPosterior(Posterior):
    """From the features. Cost: n p^2 operations once; 2 p^2 operations for a new row, nothing of it cancels."""

    features: CenteredFeatures
    decomposition: Decomposition

    def variances(self, new: Any, count: int, variance: float, noise: float) -> Array:
        Z = self.features.of_new(self.view, new).T
        solved = self.decomposition.solve(Z, np.full(Z.shape[1], self.alpha))
        return np.asarray(noise * (np.einsum("ij,ij->j", Z, solved) + self.mean_share))

    def covariance(self, new: Any, count: int, variance: float, noise: float) -> Array:
        Z = self.features.of_new(self.view, new).T
        solved = self.decomposition.solve(Z, np.full(Z.shape[1], self.alpha))
        return noise * (mirrored(Z.T @ solved) + self.mean_share)

    @property
    def leverage(self) -> Array:
        Z = self.features.values.T
        solved = self.decomposition.solve(Z, np.full(Z.shape[1], self.alpha))
        return np.asarray((self.centering.direction**2 + np.einsum("ij,ij->j", Z, solved)) / self.centering.weights)

    def log_determinant(self) -> float:
        alphas = np.array([self.alpha])
        found = primal.log_determinants(self.decomposition, self.centering, len(self.features.means), alphas)
        return float(np.asarray(found).item())


@dataclass(frozen=True, eq=False)
class StreamedPosterior:
    """From the spectrum of the features that were summed up in one pass. Cost: 2 p^2 operations for a row.

    basis, means : the features, and their weighted means
    spectrum : of Z'Z of the centred features
    total, intercept : the sum of all weights, and whether there is an intercept
    """

    basis: Basis
    means: Array
    spectrum: Spectrum
    total: float
    intercept: bool

    def shares(self, rows: Points, alpha: float) -> Array:
        """The variance of f(x) + b at each row in units of the noise, which is its leverage where it is one of them."""
        inverses = self.spectrum.inverses(np.array([alpha]))[:, 0]
        parts = blocks(rows.values.shape[0], self.basis.width)
        found = [self._squares(rows.rows(part)) @ inverses for part in parts]
        return np.concatenate(found) + (1 / self.total if self.intercept else 0.0)

    def products(self, rows: Points, alpha: float) -> Array:
        """The covariance of f(x) + b between all pairs of rows, in units of the noise."""
        roots = np.sqrt(self.spectrum.inverses(np.array([alpha]))[:, 0])
        scores = self._scores(rows) * roots
        return scores @ scores.T + (1 / self.total if self.intercept else 0.0)

    def _squares(self, rows: Points) -> Array:
        return np.square(self._scores(rows))

    def _scores(self, rows: Points) -> Array:
        """Centred features along the eigenvectors."""
        return np.asarray((self.basis.features(rows) - self.means) @ self.spectrum.vectors)

    def degrees(self, alpha: float) -> float:
        """The sum of the leverages of all copies."""
        return float(self.spectrum.kept @ self.spectrum.inverses(np.array([alpha]))[:, 0]) + self.intercept


@dataclass(frozen=True, eq=False)
class GridPosterior(StreamedPosterior):
    """The same on a grid of frequencies, where the variance is a function that transforms evaluate at all rows.

    far : for rows beyond the box; None where the rows of the fit stayed in their source
    """

    far: NearestPosterior | None = None

    def shares(self, rows: Points, alpha: float) -> Array:
        from mercer.learners.ridge.grid_path import Leverages

        basis = cast("GridBasis", self.basis)
        known = Leverages.of(basis, self.means, self.spectrum, self.total, self.intercept, np.array([alpha]))
        found = np.maximum(known.at(rows)[0], 0.0)
        inside = basis.grid.inside(np.asarray(rows.values, dtype=np.float64))
        if not inside.all():
            most = basis.grid.mass / alpha + (1 / self.total if self.intercept else 0.0)  # nobody knows less
            found[~inside] = most if self.far is None else self.far.shares(rows.rows(np.flatnonzero(~inside)), alpha)
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class NearestPosterior:
    """Of a grid that was solved by steps: variances from rows near each new one, at most too large.

    points, weights : of the fit
    """

    kernel: Kernel
    points: Points
    weights: Array
    intercept: bool
    seed: int

    def shares(self, rows: Points, alpha: float) -> Array:
        """The variance of f(x) + b at each row in units of the noise."""
        new = np.asarray(rows.values, dtype=np.float64)
        return self._near.variances(self.kernel, alpha, new, self.intercept) / alpha

    @cached_property
    def _near(self) -> NearestRows:
        from mercer.tuning.nearest import NearestRows  # of many rows in few columns alone

        X = np.asarray(self.points.values, dtype=np.float64)
        return NearestRows.of(X, self.weights, np.random.default_rng(self.seed))

    def products(self, rows: Points, alpha: float) -> Array:
        """Refused: rows that are near each new one say nothing of pairs."""
        remedy = 'Use return_std, a smoother kernel, or method="landmarks".'
        raise InputError(message("a stored system for a covariance", "this grid was solved by steps", remedy))

    def degrees(self, alpha: float) -> float:
        """Refused: nothing that was solved for knows it."""
        raise AttributeError("degrees_of_freedom_: this grid was solved by steps, and leverages are only bounded")


def streamed_posterior(result: RidgeResult) -> StreamedPosterior | NearestPosterior | None:
    """The posterior of a fit that read rows in pieces; None for others, and where no spectrum was found."""
    fit = result.fit
    if not isinstance(fit, BasisFit):
        return None
    if type(fit.basis) not in (LiftBasis, LandmarkBasis, FeatureBasis):  # all but a grid, which few fits have
        near = _nearest(result)
        if fit.spectrum is None:
            return near
        return GridPosterior(fit.basis, fit.means, fit.spectrum, result.total, result.centering.intercept, near)
    if fit.spectrum is None:
        return None
    return StreamedPosterior(fit.basis, fit.means, fit.spectrum, result.total, result.centering.intercept)


def _nearest(result: RidgeResult) -> NearestPosterior | None:
    """None where the rows stayed in their source."""
    view = result.fitted
    if not isinstance(view, LiftView):
        return None
    return NearestPosterior(view.kernel, view.points, result.centering.weights, result.centering.intercept, result.seed)


def posterior(view: View, centering: Centering, alpha: float, side: str) -> Posterior:
    """The posterior for one alpha, on one side."""
    if side == "primal":
        features = CenteredFeatures.of(view, centering)
        return PrimalPosterior(view, centering, alpha, features, primal.decomposed(features, centering.rank, alpha))
    centered = centering.matrix(view.square())
    return DualPosterior(view, centering, alpha, centered, _decomposed(centered.stored, alpha))


def drawn_from(mean: NDArray[Any], covariance: NDArray[Any], count: int, random: np.random.Generator) -> NDArray[Any]:
    """(rows, count) draws of a normal law; eigenvalues that rounding left below zero count as zero."""
    values, vectors = eigh(covariance.astype(np.float64), overwrite_a=True, check_finite=False)
    normal = random.standard_normal((len(mean), count))
    spread = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * normal)
    return np.asarray(mean[:, None] + spread, dtype=mean.dtype)


def mirrored(found: Array) -> Array:
    """A covariance, in place, without what rounding left: it is symmetric, and no variance is below zero."""
    found += found.T.copy()
    found /= 2
    np.fill_diagonal(found, np.maximum(found.diagonal(), 0.0))
    return found


def _decomposed(A: Array | AtBackend, alpha: float) -> Decomposition:
    return factor_of(A, alpha) or Eigen().decompose(A)
