"""Least squares in the dual: one coefficient per row, from the kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.learners.data.views import EPS, definite
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.result import DualFit, by_alpha, level_size, leverages, missed, raised, relative, serves
from mercer.operators import Centered, Centering
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Eigen, Outcome, System
from mercer.solvers.ridge.eigen import outcome_of
from mercer.solvers.ridge.outcome import Decomposition
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, Predict, mean_size, perturbations
from mercer.tuning.path import Path, default_alphas, scale_of
from mercer.tuning.sides import DualSide

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The centred kernel matrix, sqrt(k(x_i, x_i)), and how far entries of K are off, relative to these."""

    centered: Centered
    sizes: Array
    unit: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """One decomposition of a kernel's centred matrix, with the leave-one-out errors of a whole path.

    chosen : for each output, the position of its alpha in the path
    """

    problem: RidgeProblem
    matrix: _Matrix
    side: DualSide
    path: Path
    chosen: NDArray[np.intp]

    @property
    def score(self) -> tuple[float, float]:
        """What is least for the best of several kernels: wrong labels, then the squared errors relative to y's."""
        spread = np.square(self.side.targets).sum(axis=0) / self.problem.centering.total
        errors = self.path.errors[self.chosen, np.arange(len(self.chosen))]
        relative = np.divide(errors, spread, out=np.zeros_like(errors), where=spread > 0)
        wrong = 0.0 if self.path.wrong is None else round(float(self.path.wrong[self.chosen[0]]), 12)  # a share
        return wrong, float(relative.sum())


def tune(problem: RidgeProblem, run: Run = IDLE) -> Tuned:
    """Decompose the matrix once, and follow the path of alphas."""
    problem, found = _matrix(problem, run)
    with run.stage("solve"):
        spectrum = Eigen().decompose(found.centered.stored)
    center, given = problem.centering, problem.penalty.values
    side = DualSide(spectrum, center, found.centered.pull, center.rows(problem.targets))
    alphas = default_alphas(scale_of(spectrum, center, found.sizes)) if given is None else np.unique(given)
    path = side.path(alphas, problem.labels)
    best = path.best if problem.penalty.path or given is None else np.searchsorted(alphas, given)
    return Tuned(problem, found, side, path, np.broadcast_to(best, (problem.targets.shape[1],)))


def finish(tuned: Tuned, run: Run = IDLE) -> DualFit:
    """The model at the chosen alphas."""
    side, spectrum, problem = tuned.side, tuned.side.spectrum, tuned.problem
    while True:
        alphas = tuned.path.alphas[tuned.chosen]
        system = _system(problem, tuned.matrix.centered, spectrum.vectors, alphas, run)
        outcome = outcome_of(spectrum, system, spectrum.solve(side.targets, alphas))
        leverage = leverages(side, alphas)
        fit = _fit(problem, tuned.matrix, outcome, alphas, tuned.path, leverage)
        larger = raised(problem, ~(fit.roundings <= problem.trusted), tuned.chosen, len(tuned.path.alphas))
        if larger is None:
            return fit
        tuned = replace(tuned, chosen=larger)


def solve(problem: RidgeProblem, plan: RidgePlan, run: Run) -> DualFit:
    """The model at given alphas, by the solver of the plan."""

    def solved(part: RidgeProblem) -> DualFit:
        part, found = _matrix(part, run)
        alphas = part.penalty.given
        with run.stage("solve"):
            outcome = plan.details.solver.solve(_system(part, found.centered, found.centered.stored, alphas, run))
        return _fit(part, found, outcome, alphas, None, None)

    return by_alpha(problem, plan.details.solver, solved)


def _matrix(problem: RidgeProblem, run: Run) -> tuple[RidgeProblem, _Matrix]:
    """The problem with its view made sound, and the matrix."""
    with run.stage("kernel matrix"):
        K = problem.view.dense(run.watch)
    if not problem.view.sure:
        problem = replace(problem, views=(definite(problem.view, K),))
    sizes = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    unit = problem.view.unit(K, sizes)
    return problem, _Matrix(problem.centering.matrix(K), sizes, unit)


def _system(problem: RidgeProblem, centered: Centered, matrix: Array, alphas: Array, run: Run) -> System:
    """The system, with the loss that gradient methods report: the sum of squares and the penalty."""
    center, held = problem.centering, problem.held_out
    targets = center.rows(problem.targets)

    def product(x: Array) -> Array:
        return center.product(problem.view.times, centered, x)

    def loss(x: Array, products: Array) -> Array:
        return np.asarray(((targets - products) ** 2).sum(axis=0) + alphas * (x * products).sum(axis=0))

    watched = None if held is None else held.of_duals(problem.view, center, problem.targets, centered.means)
    return System(matrix, targets, alphas, product, loss, watched, run)


def _fit(
    problem: RidgeProblem,
    found: _Matrix,
    outcome: Outcome,
    alphas: Array,
    path: Path | None,
    leverage: Array | None,
) -> DualFit:
    outcome, center, centered = balanced(problem, outcome), problem.centering, found.centered
    known = log_determinants(outcome.decomposition, center, centered.pull, alphas)
    roundings = _roundings(problem, found, outcome, alphas)
    return described(problem, centered, outcome, alphas, roundings, known, path, leverage)


def described(
    problem: RidgeProblem,
    centered: Centered,
    outcome: Outcome,
    alphas: Array,
    roundings: Array,
    log_determinants: Array | None = None,
    path: Path | None = None,
    leverage: Array | None = None,
) -> DualFit:
    """The model of a balanced solution."""
    center, x = problem.centering, outcome.value
    duals = center.roots[:, None] * x
    intercepts = center.intercepts(problem.targets, duals, centered.means)
    variance = (center.rows(problem.targets) * x).sum(axis=0) / max(center.total - center.intercept, 1.0)
    return DualFit(
        outcome=outcome,
        alphas=alphas,
        duals=duals,
        intercepts=intercepts,
        levels=intercepts,
        means=centered.means,
        noise=alphas * variance,
        variance=variance,
        log_determinants=log_determinants,
        roundings=roundings,
        path=path,
        leverage=leverage,
    )


def balanced(problem: RidgeProblem, outcome: Outcome) -> Outcome:
    """Without the part along u, of which a solution has none: rounding of K brings it in, and K is large along u."""
    x, u = outcome.value, problem.centering.direction[:, None]
    return replace(outcome, value=np.asarray(x - u * (u.T @ x)))


def _roundings(problem: RidgeProblem, found: _Matrix, outcome: Outcome, alphas: Array) -> Array:
    """The estimated relative errors of predictions, at the rows and at new ones like them."""
    if not outcome.converged:
        return np.full(len(alphas), np.inf)
    center, x, known = problem.centering, outcome.value, outcome.decomposition
    targets, scale = center.rows(problem.targets), (center.roots * found.sizes)[:, None]
    lengths = np.linalg.norm(scale * x, axis=0)
    errors = found.unit * scale * lengths + missed(outcome) * np.linalg.norm(targets, axis=0) / np.sqrt(len(x))
    summed = ERROR_FACTOR * (found.unit * found.sizes.max() * lengths + EPS * level_size(problem))
    if known is None:  # A (A + alpha)^-1 makes nothing longer
        size = mean_size(problem.targets - alphas * x / center.roots[:, None])
        return relative(ERROR_FACTOR * mean_size(errors / center.roots[:, None]) + summed, size)
    new = problem.view.between()
    cross = None if new is None else problem.view.dense_cross(new)
    predict = _prediction(problem, found, alphas, cross)
    moved = perturbations(known, predict, alphas, lambda random: errors * random.standard_normal(errors.shape))
    means = center.means(problem.targets)
    sizes = [mean_size(table + means) for table in predict(x, targets)]
    if cross is None:
        sizes[1] = sizes[0]  # what bounds an error from above would do the same for a size
    return np.asarray(relative(moved + summed, np.array(sizes)).max(axis=0))


def _prediction(problem: RidgeProblem, found: _Matrix, alphas: Array, cross: Array | None) -> Predict:
    """From solutions to predictions less the mean of y: at the rows, and at new ones, or a bound for these."""
    roots, means = problem.centering.roots[:, None], found.centered.means
    u, pull = problem.centering.direction[:, None], found.centered.pull

    def predict(x: Array, right: Array) -> tuple[Array, Array]:
        along = u * (u.T @ x)
        products = right - np.tile(alphas, x.shape[1] // len(alphas)) * x - pull * along  # A x, and A u is pull u
        x = x - along
        duals = roots * x
        if cross is None:  # |f(x)| <= |f| sqrt(k(x, x))
            beyond = found.sizes.max() * np.sqrt(np.maximum((x * products).sum(axis=0, keepdims=True), 0.0))
        else:
            beyond = cross @ duals - means @ duals
        return products / roots, beyond

    return predict


def log_determinants(known: Decomposition | None, centering: Centering, pull: float, alphas: Array) -> Array | None:
    """log det(K + alpha I) with copies counted, on what an intercept leaves: what a marginal likelihood needs of it.

    From a decomposition of P D K D P + tau u u'; None where it does not serve all of the alphas. With an intercept of a
    flat prior this is log det(M) + log(1'M^-1 1) for M = K + alpha I over all copies, the determinant on the vectors
    orthogonal to u, plus log N.
    """
    if known is None or not serves(known, alphas):
        return None
    found = np.array([known.log_determinant(alpha) for alpha in alphas])
    with np.errstate(divide="ignore", invalid="ignore"):
        if centering.intercept:
            found -= np.log(pull + alphas) - np.log(centering.total)
        copies = centering.total - len(centering.weights)
        return found + (copies * np.log(alphas) if copies else 0.0)
