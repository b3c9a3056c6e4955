"""The certificate of a fitted model: which of the bounds of `bounds.py` holds for it, and from what."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.learners.certificates.approximation import Approximation
from mercer.learners.certificates.bounds import Distance, of_features, of_landmarks, of_residual
from mercer.learners.data.views import TableView, View
from mercer.learners.streaming.basis import LandmarkBasis, basis_of
from mercer.lifts.base import Lift
from mercer.operators import Centering
from mercer.solvers import Outcome

Array = NDArray[np.float64]


class Numbers(Protocol):
    """What a fit of least squares found, per output."""

    @property
    def alphas(self) -> Array: ...
    @property
    def means(self) -> Array: ...
    @property
    def outcome(self) -> Outcome: ...


class FittedLeastSquares(Protocol):
    """A fit of least squares, with the rows that it is of."""

    @property
    def fit(self) -> Numbers: ...
    @property
    def kernel(self) -> Kernel | None: ...
    @property
    def lift(self) -> Lift | None: ...
    @property
    def view(self) -> View | None: ...
    @property
    def kept(self) -> NDArray[np.intp]: ...
    @property
    def centering(self) -> Centering: ...
    @property
    def total(self) -> float: ...
    @property
    def right(self) -> Array: ...
    @property
    def spread(self) -> Array: ...
    @property
    def seed(self) -> int: ...
    @property
    def fitted(self) -> View | None: ...
    @property
    def duals(self) -> Array | None: ...
    @property
    def weights(self) -> Array | None: ...
    @property
    def lifted_duals(self) -> Array: ...


def certificate(model: FittedLeastSquares) -> Distance:
    """How far a fitted model of least squares is from the exact solution of its kernel.

    Cost: nothing where the kernel is exact; else one product with its matrix, or with a sample of its rows.
    """
    if model.view is None:
        raise AttributeError("certificate_: the rows stayed in their source; fit a sample of them that fits the memory")
    lift = model.lift
    if lift is None or lift.exact:
        return _of_residual(model)
    return _unknown(model) if model.duals is None else _of_lift(model, lift)


def _of_residual(model: FittedLeastSquares) -> Distance:
    """In the dual, from what the solver left of r = b - (A + alpha I) c."""
    if model.weights is not None:
        return _of_features(model, model.weights)
    middle = float(np.sqrt(max(float(model.centering.shares @ model.fit.means), 0.0)))
    return _left_by_solver(model, middle)


def _left_by_solver(model: FittedLeastSquares, middle: float) -> Distance:
    left = model.fit.outcome.residual * model.right
    return of_residual(left, model.fit.alphas, model.total, middle, model.spread)


def _of_features(model: FittedLeastSquares, weights: Array) -> Distance:
    """In the primal, from r = Z'(b - Z w) - alpha w, which is alpha (Phi'a - w) for the dual coefficients a.

    w is off by (Z'Z + alpha I)^-1 r, at most |r| / alpha, and Z makes of that no more than |r| / (2 sqrt(alpha)).
    """
    if model.duals is None:
        return _unknown(model)
    apart = np.linalg.norm(model.lifted_duals - weights, axis=0)
    rms = apart * np.sqrt(model.fit.alphas / model.total) / 2
    return Distance(apart, rms, 1.0, float(np.linalg.norm(model.fit.means)), model.spread, apart)


def _unknown(model: FittedLeastSquares) -> Distance:
    """Nothing bounds a fit whose residuals are not known: one that was stopped early, or of alpha = 0 in the primal."""
    far = np.full(len(model.fit.alphas), np.inf)
    return Distance(far, far, 1.0, float(np.linalg.norm(model.fit.means)), model.spread, far)


def _of_lift(model: FittedLeastSquares, lift: Lift) -> Distance:
    """From a product of the exact kernel with the dual coefficients of the model.

    In the dual the weights are w = Z'c, and r = b - (Z Z' + alpha I) c is what the solver left: all bounds hold for
    targets less r, and what r moves is added, as for any c in the dual.
    """
    if model.weights is not None:
        return _of_weights(model, lift, model.weights)
    found = _of_weights(model, lift, model.lifted_duals)
    left = _left_by_solver(model, found.middle)
    return replace(found, norm=found.norm + left.norm, rms=found.rms + left.rms, dual=found.dual + left.dual)


def _of_weights(model: FittedLeastSquares, lift: Lift, weights: Array) -> Distance:
    whole, seen, kernel = model.view, model.fitted, model.kernel
    if not isinstance(whole, TableView) or not isinstance(seen, TableView) or model.duals is None or kernel is None:
        return _unknown(model)
    basis = basis_of(lift, whole.points)
    duals, alphas = model.duals[model.kept], model.fit.alphas
    given = Approximation(kernel, seen.points, model.centering, basis, weights, duals, alphas, model.spread)
    random = np.random.default_rng(model.seed)
    return of_landmarks(given, random) if isinstance(basis, LandmarkBasis) else of_features(given, random)
