"""Least squares in the primal: one weight per feature, from Z'Z of the features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.lapack import squares_of
from mercer.compute.runtime.run import Run
from mercer.learners.data.views import EPS
from mercer.learners.ridge.features import CenteredFeatures
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.result import PrimalFit, by_alpha, level_size, leverages, missed, raised, relative, serves
from mercer.operators import Centering
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Eigen, Outcome, System
from mercer.solvers.ridge.eigen import outcome_of
from mercer.solvers.ridge.outcome import Decomposition
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, Draw, mean_size, perturbations
from mercer.tuning.path import Path, default_alphas
from mercer.tuning.sides import PrimalSide

Array = NDArray[np.float64]
STEPS = 2
"""Of refinement: the first takes out what Z'Z lost, the second says how much is left."""


def solve(problem: RidgeProblem, plan: RidgePlan, run: Run) -> PrimalFit:
    """The model at given alphas, or at the best of a path."""
    with run.stage("features"):
        features = CenteredFeatures.of(problem.view, problem.centering)

    def solved(part: RidgeProblem) -> PrimalFit:
        alphas, Z = part.penalty.given, features.values
        outcome = plan.details.solver.solve(_system(part, features, squares_of(Z), alphas, run))
        return _fit(part, features, outcome, alphas, None, None)

    with run.stage("solve"):
        return (
            _tuned(problem, features, run) if problem.penalty.path else by_alpha(problem, plan.details.solver, solved)
        )


def _tuned(problem: RidgeProblem, features: CenteredFeatures, run: Run) -> PrimalFit:
    Z = features.values
    targets = problem.centering.rows(problem.targets)
    spectrum = Eigen().decompose(squares_of(Z))
    side = PrimalSide(spectrum, Z, problem.centering, targets)
    given = problem.penalty.values
    path = side.path(default_alphas(spectrum.values[-1]) if given is None else np.unique(given), problem.labels)
    chosen = np.broadcast_to(path.best, (targets.shape[1],))
    while True:
        alphas = path.alphas[chosen]
        system = _system(problem, features, spectrum.vectors, alphas, run)
        outcome = outcome_of(spectrum, system, spectrum.solve(system.targets, alphas))
        fit = _fit(problem, features, outcome, alphas, path, leverages(side, alphas))
        larger = raised(problem, ~(fit.roundings <= problem.trusted), chosen, len(path.alphas))
        if larger is None:
            return fit
        chosen = larger


def _system(problem: RidgeProblem, features: CenteredFeatures, matrix: Array, alphas: Array, run: Run) -> System:
    Z, targets = features.values, problem.centering.rows(problem.targets)
    right = np.asarray(Z.T @ targets)
    constant = (targets**2).sum(axis=0)

    def product(x: Array) -> Array:
        return np.asarray(Z.T @ (Z @ x))

    def loss(x: Array, products: Array) -> Array:
        squares = constant - 2 * (right * x).sum(axis=0) + (x * products).sum(axis=0)
        return np.asarray(squares + alphas * (x**2).sum(axis=0))

    held = problem.held_out
    level = problem.centering.means(problem.targets)
    watched = None if held is None else held.of_weights(features.of_new(problem.view, held.rows), level)
    return System(matrix, right, alphas, product, loss, watched, run)


def _fit(
    problem: RidgeProblem,
    features: CenteredFeatures,
    outcome: Outcome,
    alphas: Array,
    path: Path | None,
    leverage: Array | None,
) -> PrimalFit:
    outcome, step = _refined(problem, features, outcome, alphas)
    center, w = problem.centering, outcome.value
    targets, level = center.rows(problem.targets), center.means(problem.targets)
    residuals = targets - features.values @ w
    noise = (targets * residuals).sum(axis=0) / max(center.total - center.intercept, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = noise / alphas
    duals = center.roots[:, None] * residuals / alphas if (alphas > 0).all() else None
    return PrimalFit(
        outcome=outcome,
        alphas=alphas,
        duals=duals,
        weights=features.spread(w),
        intercepts=level - (features.means + features.rest) @ w,
        levels=level - features.rest @ w,
        means=features.spread(features.means),
        noise=noise,
        variance=variance,
        log_determinants=log_determinants(outcome.decomposition, center, len(w), alphas),
        roundings=_roundings(problem, features, outcome, alphas, step),
        path=path,
        leverage=leverage,
    )


def _gradient(problem: RidgeProblem, features: CenteredFeatures, w: Array, alphas: Array) -> Array:
    """Z'(y - Z w) - alpha w: zero at the solution, and with the digits that Z'y - Z'Z w would lose."""
    Z = features.values
    return np.asarray(Z.T @ (problem.centering.rows(problem.targets) - Z @ w) - alphas * w)


def _refined(
    problem: RidgeProblem, features: CenteredFeatures, outcome: Outcome, alphas: Array
) -> tuple[Outcome, Array]:
    """The solution after steps from the residuals of rows, and the last of them.

    Z'Z squares the condition number of Z, and its rounding goes where no row sees it; steps take that out again
    (Bjorck, Stability analysis of the method of seminormal equations, 1987). Cost: 4 n p + 2 p^2 operations per step.
    """
    known, w, step = outcome.decomposition, outcome.value, np.zeros_like(outcome.value)
    if known is None or not outcome.converged:
        return outcome, step
    for _ in range(STEPS):
        step = known.solve(_gradient(problem, features, w, alphas), alphas)
        w = w + step
    sizes = np.linalg.norm(features.values.T @ problem.centering.rows(problem.targets), axis=0)
    left = np.linalg.norm(_gradient(problem, features, w, alphas), axis=0)
    return replace(outcome, value=w, residual=float(relative(left, sizes).max())), step


def _roundings(
    problem: RidgeProblem, features: CenteredFeatures, outcome: Outcome, alphas: Array, step: Array
) -> Array:
    """The estimated relative errors of predictions, at the rows and at new ones like them."""
    if not outcome.converged:
        return np.full(len(alphas), np.inf)
    center, w, Z = problem.centering, outcome.value, features.values
    lengths = np.linalg.norm(features.sizes[:, None] * w, axis=0)
    new = features.of_new(problem.view, problem.view.between())

    def predict(w: Array, right: Array) -> tuple[Array, Array]:
        return Z @ w / center.roots[:, None], new @ w

    sizes = np.array([mean_size(table + center.means(problem.targets)) for table in predict(w, w)])
    summed = ERROR_FACTOR * EPS * (lengths / np.sqrt(center.total) + level_size(problem))
    if outcome.decomposition is None:
        return relative(_bounded(problem, features, outcome, alphas, lengths) + summed, sizes[0])
    draw = _errors(problem, features, outcome, alphas, lengths)
    moved = perturbations(outcome.decomposition, predict, alphas, draw) + list(map(mean_size, predict(step, step)))
    return np.asarray(relative(moved + summed, sizes).max(axis=0))


def _bounded(
    problem: RidgeProblem, features: CenteredFeatures, outcome: Outcome, alphas: Array, lengths: Array
) -> Array:
    """How far predictions may be off at the rows, where there is no decomposition to try it on."""
    Z, targets = features.values, problem.centering.rows(problem.targets)
    errors = EPS * features.sizes[:, None] * (lengths + np.linalg.norm(targets, axis=0))
    errors = errors + missed(outcome) * np.linalg.norm(Z.T @ targets, axis=0) / np.sqrt(len(errors))
    with np.errstate(divide="ignore"):  # Z (Z'Z + alpha)^-1 makes nothing longer than by 1 / (2 sqrt(alpha))
        return np.asarray(
            ERROR_FACTOR * np.linalg.norm(errors, axis=0) / (2 * np.sqrt(alphas * problem.centering.total))
        )


def _errors(problem: RidgeProblem, features: CenteredFeatures, outcome: Outcome, alphas: Array, lengths: Array) -> Draw:
    """Random errors of Z'(y - Z w) - alpha w: of the residuals of rows, and of what is made of them."""
    Z, w, targets = features.values, outcome.value, problem.centering.rows(problem.targets)
    of_rows = EPS * (lengths + np.linalg.norm(targets, axis=0)) / np.sqrt(len(Z))
    of_sums = EPS * (features.sizes[:, None] * np.linalg.norm(targets - Z @ w, axis=0) + alphas * np.abs(w))

    def draw(random: np.random.Generator) -> Array:
        noise = of_rows * random.standard_normal((len(Z), len(alphas)))
        return np.asarray(Z.T @ noise + of_sums * random.standard_normal(w.shape))

    return draw


def log_determinants(known: Decomposition | None, centering: Centering, features: int, alphas: Array) -> Array | None:
    """Those of `dual`, from a decomposition of Z'Z: K has no more eigenvalues than features, the others are alpha."""
    if known is None or not serves(known, alphas):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (centering.total - centering.intercept - features) * np.log(alphas)
        mean = np.log(centering.total) if centering.intercept else 0.0
        return np.array([known.log_determinant(alpha) for alpha in alphas]) + rest + mean
