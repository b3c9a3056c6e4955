"""Least squares in the primal: one weight per feature, from Z'Z of the features, or from the features themselves.

Z'Z takes half of the operations, and squares the condition number of Z. Where its factor says that this costs digits,
as without a penalty it may, an orthogonal factor of Z gives the answer (solvers/ridge/feature_factor.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.lapack import squares_of
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.compute.runtime.run import IDLE, Run
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import EPS
from mercer.learners.ridge.features import CenteredFeatures
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.result import PrimalFit, by_alpha, level_size, leverages, missed, raised, relative
from mercer.operators import Centering
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Cholesky, Eigen, Outcome, System
from mercer.solvers.ridge.cholesky_factor import factorize
from mercer.solvers.ridge.eigen import outcome_of
from mercer.solvers.ridge.feature_factor import (
    MAX_UNREFINED_CONDITION,
    FeatureFactor,
    beside_features,
    factor_of,
    fitted,
    suffices,
)
from mercer.solvers.ridge.outcome import Decomposition
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, Draw, mean_size, perturbations
from mercer.solvers.ridge.spectrum import Spectrum
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
        if part.solver is None and not _suffices(outcome.decomposition, alphas) and has_room(part, *Z.shape):
            outcome = _factored(part, features, alphas)
        return _fit(part, features, outcome, alphas, None, None)

    with run.stage("solve"):
        return (
            _tuned(problem, features, run) if problem.penalty.path else by_alpha(problem, plan.details.solver, solved)
        )


def from_features(problem: RidgeProblem, run: Run) -> PrimalFit:
    """The model at given alphas, from an orthogonal factor of the features for each of them."""
    with run.stage("features"):
        features = CenteredFeatures.of(problem.view, problem.centering)

    def solved(part: RidgeProblem) -> PrimalFit:
        alphas = part.penalty.given
        return _fit(part, features, _factored(part, features, alphas), alphas, None, None)

    with run.stage("solve"):
        return by_alpha(problem, Cholesky(), solved)


def has_room(problem: RidgeProblem, rows: int, width: int, made: bool = True) -> bool:
    """Whether an orthogonal factor of so many features of rows fits the memory, where the features are made or not."""
    table, beside = 8 * rows * width, int(8 * beside_features(rows, width))
    needed = beside if made else beside + table
    if problem.memory_limit is None:
        return needed <= MAX_UNASKED_BYTES or Budget.of(None).allows(needed)
    return Budget.of(problem.memory_limit).allows(beside + table)


def decomposed(features: CenteredFeatures, rank: int, alpha: float) -> Decomposition:
    """What solves (Z'Z + alpha I) x = b for one alpha, with the digits of the fit, for a Z of at most a rank."""
    n, p = features.values.shape
    known = None if p > n and alpha == 0 else factorize(squares_of(features.values), alpha)
    if known is not None and suffices(known, np.array([alpha]), MAX_UNREFINED_CONDITION):
        return known
    return factor_of(features.values, alpha, features.sizes, rank)


def _suffices(known: Decomposition | None, alphas: Array) -> bool:
    """Whether a decomposition of Z'Z has the digits of the features; also where it is not known for each alpha."""
    return known is None or suffices(known, alphas)


def _factored(problem: RidgeProblem, features: CenteredFeatures, alphas: Array) -> Outcome:
    """From an orthogonal factor, which speaks for one alpha."""
    Z, targets = features.values, problem.centering.rows(problem.targets)
    known, w = fitted(Z, targets, float(alphas[0]), features.sizes, problem.centering.rank)
    reason = "An orthogonal factor of the features, since Z'Z would lose digits."
    rank, width = known.vectors.shape[1], len(w)
    if rank < width:
        reason += f" They have the rank {rank} of {width}: the shortest of the solutions was taken."
    if not known.is_clear:
        reason += " Rounding decides what that rank is. Use fewer features, or a larger alpha."
    left = _gradient(problem, features, w, alphas)
    residual = relative(np.linalg.norm(left, axis=0), np.linalg.norm(Z.T @ targets, axis=0))
    return Outcome(w, known.is_clear, reason, 0, float(residual.max()), known.condition, decomposition=known)


def _tuned(problem: RidgeProblem, features: CenteredFeatures, run: Run) -> PrimalFit:
    Z = features.values
    targets = problem.centering.rows(problem.targets)
    spectrum = Eigen().decompose(squares_of(Z))
    side = PrimalSide(spectrum, Z, problem.centering, targets)
    given = problem.penalty.values
    tried = default_alphas(spectrum.values[-1]) if given is None else np.unique(given)
    if problem.solver is None and not suffices(spectrum, tried[:1]) and has_room(problem, *Z.shape):
        return _tuned_down(problem, features, side, spectrum, tried)
    path = side.path(tried, problem.labels)
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


def _tuned_down(
    problem: RidgeProblem, features: CenteredFeatures, side: PrimalSide, spectrum: Spectrum, tried: Array
) -> PrimalFit:
    """The best of penalties of which the smallest need an orthogonal factor each. Cost: 40 p^3 operations for these."""
    small = [float(alpha) for alpha in tried if not suffices(spectrum, np.array([alpha]))]
    sides = {
        alpha: replace(side, spectrum=factor_of(side.features, alpha, features.sizes, problem.centering.rank))
        for alpha in small
    }
    paths = [each.path([alpha], problem.labels) for alpha, each in sides.items()]
    paths += [side.path(tried[len(small) :], problem.labels)] if len(small) < len(tried) else []
    path = Path.joined(paths)
    best = np.broadcast_to(path.best, (side.targets.shape[1],))

    def solved(part: RidgeProblem) -> PrimalFit:
        alphas = part.penalty.given
        if float(alphas[0]) not in sides:
            system = _system(part, features, spectrum.vectors, alphas, IDLE)
            outcome = outcome_of(spectrum, system, spectrum.solve(system.targets, alphas))
        else:
            outcome = _factored(part, features, alphas)
        return _fit(part, features, outcome, alphas, path, None)

    alphas = path.alphas[best]
    fit = by_alpha(replace(problem, penalty=Penalty(alphas, path=False)), Cholesky(), solved)
    return replace(fit, leverage=np.column_stack([sides.get(alpha, side).leverage(alpha) for alpha in alphas.tolist()]))


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
    rounding = isinstance(outcome.decomposition, FeatureFactor) and len(residuals) <= len(w)  # is all that they are
    duals = center.roots[:, None] * residuals / alphas if (alphas > 0).all() and not rounding else None
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
    if known is None or not outcome.converged or isinstance(known, FeatureFactor):
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
    known = outcome.decomposition
    draw = _errors(problem, features, outcome, alphas, lengths)
    known = known.inside if isinstance(known, FeatureFactor) else known
    moved = perturbations(known, predict, alphas, draw) + list(map(mean_size, predict(step, step)))
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
    """Random errors of Z'(y - Z w) - alpha w: of the residuals of rows, and of what is made of them.

    An orthogonal factor is that of columns which are off by a unit of their lengths, in all directions alike; where
    there are fewer rows than columns, of rows which are.
    """
    Z, w, targets = features.values, outcome.value, problem.centering.rows(problem.targets)
    of_rows = EPS * (lengths + np.linalg.norm(targets, axis=0)) / np.sqrt(len(Z))
    of_sums = EPS * features.sizes[:, None] * np.linalg.norm(targets - Z @ w, axis=0)
    if isinstance(outcome.decomposition, FeatureFactor):
        of_sums = of_sums / np.sqrt(len(Z))
        if len(Z) <= len(w):
            of_rows = EPS * (np.linalg.norm(Z, axis=1)[:, None] * np.linalg.norm(w, axis=0) + np.abs(targets))
    of_sums = of_sums + EPS * alphas * np.abs(w)

    def draw(random: np.random.Generator) -> Array:
        noise = of_rows * random.standard_normal((len(Z), len(alphas)))
        return np.asarray(Z.T @ noise + of_sums * random.standard_normal(w.shape))

    return draw


def log_determinants(known: Decomposition | None, centering: Centering, features: int, alphas: Array) -> Array | None:
    """Those of `dual`, from a decomposition of Z'Z: K has no more eigenvalues than features, the others are alpha."""
    if known is None or not known.serves(alphas):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (centering.total - centering.intercept - features) * np.log(alphas)
        mean = np.log(centering.total) if centering.intercept else 0.0
        return np.array([known.log_determinant(alpha) for alpha in alphas]) + rest + mean
