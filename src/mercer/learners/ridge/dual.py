"""Least squares in the dual: one coefficient per row, from the kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.learners.data.views import definite
from mercer.learners.ridge.dual_rounding import DualMatrix, balanced
from mercer.learners.ridge.problem import DOUBTFUL, RidgeProblem
from mercer.learners.ridge.result import DualFit, by_alpha, leverages, raised
from mercer.operators import Centered, Centering
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Cholesky, Eigen, Outcome, Solver, System
from mercer.solvers.ridge.cholesky import without_condition
from mercer.solvers.ridge.eigen import outcome_of
from mercer.solvers.ridge.outcome import Decomposition
from mercer.tuning.path import Path, default_alphas, scale_of
from mercer.tuning.sides import DualSide

if TYPE_CHECKING:
    from mercer.operators.at_backend import AtBackend

Array = NDArray[np.float64]
MAX_COPIED_ROWS = 700
"""Rows up to which the matrix is copied before it is decomposed, for the residual: some megabytes, and no second pass
over the pairs."""


@dataclass(frozen=True, eq=False)
class Tuned:
    """One decomposition of a kernel's centred matrix, with the leave-one-out errors of a whole path.

    chosen : for each output, the position of its alpha in the path
    copy : the centred matrix, which the decomposition overwrote, where it is small or at a backend; None where it is
        computed anew
    """

    problem: RidgeProblem
    matrix: DualMatrix
    side: DualSide
    path: Path
    chosen: NDArray[np.intp]
    copy: Array | AtBackend | None

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
    problem, found = _matrix(problem, run, Eigen())
    A = found.centered.stored
    copy = A if not isinstance(A, np.ndarray) else A.copy() if len(A) <= MAX_COPIED_ROWS else None
    with run.stage("solve"):
        spectrum = Eigen().decompose(A)
    center, given = problem.centering, problem.penalty.values
    side = DualSide(spectrum, center, found.centered.pull, found.right)
    alphas = default_alphas(scale_of(spectrum, center, found.sizes)) if given is None else np.unique(given)
    path = side.path(alphas, problem.labels)
    best = path.best if problem.penalty.path or given is None else np.searchsorted(alphas, given)
    return Tuned(problem, found, side, path, np.broadcast_to(best, (problem.targets.shape[1],)), copy)


def finish(tuned: Tuned, run: Run = IDLE) -> DualFit:
    """The model at the chosen alphas."""
    side, spectrum, problem = tuned.side, tuned.side.spectrum, tuned.problem
    while True:
        alphas = tuned.path.alphas[tuned.chosen]
        system = _system(problem, tuned.matrix, spectrum.vectors, alphas, run)
        if tuned.copy is not None:
            system = replace(system, product=tuned.copy.__matmul__)
        outcome = outcome_of(spectrum, system, spectrum.solve(side.targets, alphas))
        leverage = leverages(side, alphas)
        fit = _fit(problem, tuned.matrix, outcome, alphas, tuned.path, leverage)
        larger = raised(problem, fit.roundings > problem.trusted, tuned.chosen, len(tuned.path.alphas))
        if larger is None:
            return fit
        tuned = replace(tuned, chosen=larger)


def solve(problem: RidgeProblem, plan: RidgePlan, run: Run) -> DualFit:
    """The model at given alphas, by the solver of the plan."""

    def solved(part: RidgeProblem) -> DualFit:
        part, found = _matrix(part, run, plan.details.solver)
        with run.stage("solve"):
            if isinstance(plan.details.solver, Cholesky):
                fit = _clearly(part, found, run)
                if fit is not None:
                    return fit
            alphas = part.penalty.given
            outcome = plan.details.solver.solve(_system(part, found, found.centered.stored, alphas, run))
        return _fit(part, found, outcome, alphas, None, None)

    return by_alpha(problem, plan.details.solver, solved)


def _matrix(problem: RidgeProblem, run: Run, solver: Solver) -> tuple[RidgeProblem, DualMatrix]:
    """The problem with its view made sound, and the matrix; where the solver can use it, at the backend at hand."""
    with run.stage("kernel matrix"):
        K = problem.view.square(run.watch) if solver.at_backend else problem.view.dense(run.watch)
    if not (problem.view.sure or not isinstance(K, np.ndarray)):
        problem = replace(problem, views=(definite(problem.view, K),))
    return problem, DualMatrix.of(problem.view, problem.centering, problem.targets, K)


def _clearly(problem: RidgeProblem, found: DualMatrix, run: Run) -> DualFit | None:
    """The model, where rounding surely plays no part; None, with the matrix as it was, where it has to be looked at."""
    if not problem.view.sure:
        return None
    alphas, center = problem.penalty.given, problem.centering
    solved = without_condition(System(found.centered.stored, found.right, alphas, run=run))
    if solved is None:
        return None
    outcome, factor = solved
    outcome = balanced(center, outcome)
    if not found.is_clear(outcome, alphas, clear_limit(problem)):
        factor.restore()
        return None
    determinants = log_determinants(factor, center, found.centered.pull, alphas)
    return described(problem, found.centered, found.right, outcome, alphas, np.full(len(alphas), np.nan), determinants)


def _system(problem: RidgeProblem, found: DualMatrix, matrix: Array | AtBackend, alphas: Array, run: Run) -> System:
    """The system, with the loss that gradient methods report: the sum of squares and the penalty."""
    center, held, targets, centered = problem.centering, problem.held_out, found.right, found.centered

    def product(x: Array) -> Array:
        return center.product(problem.view.times, centered, x)

    def loss(x: Array, products: Array) -> Array:
        return np.asarray(((targets - products) ** 2).sum(axis=0) + alphas * (x * products).sum(axis=0))

    watched = None if held is None else held.of_duals(problem.view, center, problem.targets, centered.means)
    return System(matrix, targets, alphas, product, loss, watched, run)


def _fit(
    problem: RidgeProblem,
    found: DualMatrix,
    outcome: Outcome,
    alphas: Array,
    path: Path | None,
    leverage: Array | None,
) -> DualFit:
    center, centered = problem.centering, found.centered
    outcome = balanced(center, outcome)
    known = log_determinants(outcome.decomposition, center, centered.pull, alphas)
    clear = outcome.decomposition is not None and found.is_clear(outcome, alphas, clear_limit(problem))
    roundings = np.full(len(alphas), np.nan) if clear else found.moved(outcome, alphas)
    return described(problem, centered, found.right, outcome, alphas, roundings, known, path, leverage)


def clear_limit(problem: RidgeProblem) -> float:
    """The relative error of predictions below which nobody asks how large it is."""
    may_have_features = problem.view.most_features is not None
    return (DOUBTFUL if may_have_features else 1.0) * problem.trusted


def described(
    problem: RidgeProblem,
    centered: Centered,
    right: Array,
    outcome: Outcome,
    alphas: Array,
    roundings: Array,
    log_determinants: Array | None = None,
    path: Path | None = None,
    leverage: Array | None = None,
) -> DualFit:
    """The model of a balanced solution; `right` is P D y."""
    center, x = problem.centering, outcome.value
    duals = center.roots[:, None] * x
    intercepts = center.intercepts(problem.targets, duals, centered.means)
    variance = (right * x).sum(axis=0) / max(center.total - center.intercept, 1.0)
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


def log_determinants(known: Decomposition | None, centering: Centering, pull: float, alphas: Array) -> Array | None:
    """log det(K + alpha I) with copies counted, on what an intercept leaves: what a marginal likelihood needs of it.

    From a decomposition of P D K D P + tau u u'; None where it does not serve all of the alphas. With an intercept of a
    flat prior this is log det(M) + log(1'M^-1 1) for M = K + alpha I over all copies, the determinant on the vectors
    orthogonal to u, plus log N.
    """
    if known is None or not known.serves(alphas):
        return None
    copies = centering.total - len(centering.weights)
    alpha = float(alphas[0])
    if alpha > 0 and (alphas == alpha).all():
        kept = log(pull + alpha) - log(centering.total) if centering.intercept else 0.0
        return np.full(len(alphas), known.log_determinant(alpha) - kept + copies * log(alpha))
    found = np.array([known.log_determinant(alpha) for alpha in alphas])
    with np.errstate(divide="ignore", invalid="ignore"):
        if centering.intercept:
            found -= np.log(pull + alphas) - np.log(centering.total)
        return found + (copies * np.log(alphas) if copies else 0.0)
