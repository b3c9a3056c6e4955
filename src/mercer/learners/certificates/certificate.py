"""The certificate of a fitted model: which of the bounds of `distance.py` holds for it, and from what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.certificates.approximation import Approximation
from mercer.learners.certificates.bounds import Distance, of_features, of_landmarks, of_residual
from mercer.learners.data.views import LiftView, TableView
from mercer.learners.streaming.basis import Basis, LandmarkBasis, LiftBasis, landmark_basis
from mercer.lifts.base import Lift
from mercer.lifts.nystrom import Nystrom

Array = NDArray[np.float64]


def certificate(model: Any) -> Distance:
    """How far a fitted model of least squares is from the exact solution of its kernel.

    Cost: nothing where the kernel is exact; else one product with its matrix, or with a sample of its rows.
    """
    if model._view is None:
        raise AttributeError("certificate_: the rows stayed in their source; fit a sample of them that fits the memory")
    if not isinstance(model.lift_, Lift) or model.lift_.exact:
        return _of_residual(model)
    return _unknown(model) if model._duals is None else _of_lift(model)


def _of_residual(model: Any) -> Distance:
    """In the dual, from what the solver left of r = b - (A + alpha I) c."""
    if model._weights is not None:
        return _of_features(model)
    middle = float(np.sqrt(max(model._centering.shares @ model._kernel_means, 0.0)))
    return of_residual(model.residual_ * model._right, model._alphas, model._total, middle, model._spread)


def _of_features(model: Any) -> Distance:
    """In the primal, from r = Z'(b - Z w) - alpha w, which is alpha (Phi'a - w) for the dual coefficients a.

    w is off by (Z'Z + alpha I)^-1 r, at most |r| / alpha, and Z makes of that no more than |r| / (2 sqrt(alpha)).
    """
    if model._duals is None:
        return _unknown(model)
    middle = float(np.linalg.norm(model._kernel_means))
    apart = np.linalg.norm(model._lifted_duals() - model._weights, axis=0)
    rms = apart * np.sqrt(model._alphas / model._total) / 2
    return Distance(apart, rms, 1.0, middle, model._spread, apart)


def _unknown(model: Any) -> Distance:
    """Nothing bounds a fit whose residuals are not known: one that was stopped early, or of alpha = 0 in the primal."""
    far = np.full(len(model._alphas), np.inf)
    return Distance(far, far, 1.0, float(np.linalg.norm(model._kernel_means)), model._spread, far)


def _of_lift(model: Any) -> Distance:
    """From a product of the exact kernel with the dual coefficients of the model.

    In the dual the weights are w = Z'c, and r = b - (Z Z' + alpha I) c is what the solver left: all bounds hold for
    targets less r, and what r moves is added, as for any c in the dual.
    """
    if model._weights is not None:
        return _of_weights(model, model._weights)
    found = _of_weights(model, model._lifted_duals())
    left = of_residual(model.residual_ * model._right, model._alphas, model._total, found.middle, model._spread)
    return replace(found, norm=found.norm + left.norm, rms=found.rms + left.rms, dual=found.dual + left.dual)


def _of_weights(model: Any, weights: Array) -> Distance:
    view = model._view
    assert isinstance(view, TableView)  # noqa: S101  # a lift has rows
    rows, count = model._rows_kept
    points = view.points if len(rows) == count else view.points.rows(rows)
    basis = _basis(model.lift_, view)
    duals = model.dual_coef_.reshape(count, -1)[rows]
    given = Approximation(model.kernel_, points, model._centering, basis, weights, duals, model._alphas, model._spread)
    random = np.random.default_rng(model._seed)
    return of_landmarks(given, random) if isinstance(basis, LandmarkBasis) else of_features(given, random)


def _basis(lift: Lift, view: LiftView | TableView) -> Basis:
    return landmark_basis(lift, view.points) if isinstance(lift, Nystrom) else LiftBasis(lift)
