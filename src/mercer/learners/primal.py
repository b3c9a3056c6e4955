"""Least squares in the primal: one weight a feature, from Z'Z of the features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.learners import determinants
from mercer.learners.features import CenteredFeatures
from mercer.learners.request import Fit, Request, blind, relative
from mercer.learners.views import EPS
from mercer.solvers import Eigen, Outcome, System
from mercer.solvers.eigen import outcome_of
from mercer.solvers.rounding import MARGIN, perturbations
from mercer.tuning.leave_one_out import path_of
from mercer.tuning.path import Path, default_alphas
from mercer.tuning.sides import PrimalSide

Array = NDArray[np.float64]


def solve(request: Request) -> Fit:
    """The model at given alphas, or at the best of a path."""
    features = CenteredFeatures.of(request.view, request.centering)
    return _tuned(request, features) if request.penalty.path else _given(request, features)


def _tuned(request: Request, features: CenteredFeatures) -> Fit:
    Z = features.values
    targets = request.centering.rows(request.targets)
    spectrum = Eigen().decompose(Z.T @ Z)
    side = PrimalSide(spectrum, Z, request.centering, targets)
    given = request.penalty.values
    path = path_of(side, default_alphas(spectrum.values[-1]) if given is None else np.unique(given), request.labels)
    chosen = np.broadcast_to(path.best, (targets.shape[1],))
    alphas = path.alphas[chosen]
    system = _system(request, features, spectrum.vectors, alphas)
    outcome = outcome_of(spectrum, system, spectrum.solve(system.targets, alphas))
    leverage = np.column_stack([side.leverage(alpha) for alpha in alphas])
    return _fit(request, features, outcome, alphas, path, leverage)


def _given(request: Request, features: CenteredFeatures) -> Fit:
    alphas, Z = request.penalty.given, features.values
    outcome = request.plan.solver.solve(_system(request, features, Z.T @ Z, alphas))
    return _fit(request, features, outcome, alphas, None, None)


def _system(request: Request, features: CenteredFeatures, matrix: Array, alphas: Array) -> System:
    Z, targets = features.values, request.centering.rows(request.targets)
    right = np.asarray(Z.T @ targets)
    constant = (targets**2).sum(axis=0)

    def product(x: Array) -> Array:
        return np.asarray(Z.T @ (Z @ x))

    def loss(x: Array, products: Array) -> Array:
        squares = constant - 2 * (right * x).sum(axis=0) + (x * products).sum(axis=0)
        return np.asarray((squares + alphas * (x**2).sum(axis=0)) / 2)

    held = request.held_out
    level = request.centering.means(request.targets)
    watched = None if held is None else held.of_weights(features.of_new(request.view, held.rows), level)
    return System(matrix, right, alphas, product, loss, watched)


def _fit(
    request: Request,
    features: CenteredFeatures,
    outcome: Outcome,
    alphas: Array,
    path: Path | None,
    leverage: Array | None,
) -> Fit:
    center, w = request.centering, outcome.value
    targets, level = center.rows(request.targets), center.means(request.targets)
    residuals = targets - features.values @ w
    noise = (targets * residuals).sum(axis=0) / max(center.total - center.intercept, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = noise / alphas
    duals = center.roots[:, None] * residuals / alphas if (alphas > 0).all() else None
    return Fit(
        outcome=outcome,
        alphas=alphas,
        duals=duals,
        weights=w,
        intercepts=level - (features.means + features.rest) @ w,
        levels=level - features.rest @ w,
        means=features.means,
        noise=noise,
        variance=variance,
        log_determinants=determinants.in_primal(outcome.decomposition, center, len(w), alphas),
        rounding=_rounding(request, features, outcome, alphas),
        path=path,
        leverage=leverage,
    )


def _rounding(request: Request, features: CenteredFeatures, outcome: Outcome, alphas: Array) -> float:
    """The estimated relative error of predictions at the rows, and so at new ones like them."""
    if outcome.decomposition is None or not outcome.converged:
        return blind(outcome)
    center, w, Z, sizes = request.centering, outcome.value, features.values, features.sizes
    observed, targets = center.roots[:, None] * request.targets, center.rows(request.targets)
    lengths = np.linalg.norm(sizes[:, None] * w, axis=0) + np.linalg.norm(targets, axis=0)
    errors = EPS * sizes[:, None] * lengths
    errors = errors + outcome.residual * np.linalg.norm(Z.T @ targets, axis=0) / np.sqrt(len(w))
    _, energies = perturbations(outcome.decomposition, outcome.decomposition.multiply, alphas, errors)
    summed = MARGIN * EPS * np.linalg.norm(sizes[:, None] * w, axis=0)
    return relative(energies + summed, np.linalg.norm(observed - targets + Z @ w, axis=0))
