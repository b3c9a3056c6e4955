"""A plan is followed: one function per method, from a problem to a model that can predict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Triangle
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.data.rows import draw_rows, scatter_rows
from mercer.learners.data.validation import AUTO
from mercer.learners.data.views import LiftView, TableView, View
from mercer.learners.ridge import dual
from mercer.learners.ridge.problem import DOUBTFUL, RidgeProblem, table_of
from mercer.learners.ridge.result import DualFit, PrimalFit, RidgeResult
from mercer.learners.streaming.basis import basis_of, steady
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.learners.streaming.stream import DomainStream, Stream
from mercer.lifts.base import Lift
from mercer.planner.ridge import RidgePlan
from mercer.planner.ridge.details import GRID

if TYPE_CHECKING:
    from mercer.learners.ridge.sample_tuning import Chosen

Array = NDArray[np.float64]
ITERATIVE = "nystrom iterative"
MAX_DUAL_CONDITION = 1e8
"""The condition number up to which they are not."""
TUNING, LANDMARKS, LEAVING, PIVOTS = range(4)
"""What random numbers are drawn for: each has a stream of its own, so that no step changes the draws of another."""


def solve(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    """Fit by the method of the plan; `seed` is what every draw comes from."""
    if plan.method == "direct":
        return _primal(problem, plan, run, seed) if plan.details.side == "primal" else _dual(problem, plan, run, seed)
    if plan.method == "state space":
        return _state_space(problem, plan, run, seed)
    if plan.method == "conjugate gradients":
        return _conjugate_gradients(problem, plan, run, seed)
    if plan.method == GRID:
        return _on_grid(problem, plan, run, seed)
    return _in_pieces(problem, plan, run, seed)


def draws(seed: int, purpose: int) -> np.random.Generator:
    """The random numbers for one purpose."""
    return np.random.default_rng([seed, purpose])


# -- stored matrices --------------------------------------------------------------------------------------------------


def _primal(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    from mercer.learners.ridge import primal  # each method is loaded where a plan names it

    view = problem.view.lifted()
    return _by_weights(problem, plan, view, primal.solve(problem.through(view), plan, run), seed)


def _by_weights(problem: RidgeProblem, plan: RidgePlan, view: TableView, fit: PrimalFit, seed: int) -> RidgeResult:
    predictor = ByFeatures(view, fit.weights, fit.means, fit.levels)
    return RidgeResult.of(problem, plan, fit, predictor, view.kernel, view.lift, view, seed)


def _dual(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    view = problem.view
    if len(problem.views) > 1:
        from mercer.learners.ridge.sample_tuning import best

        tuned, view = best(problem, run)
        fit = dual.finish(tuned, run)
    elif problem.penalty.path:
        fit = dual.finish(dual.tune(problem.through(view), run), run)
    else:
        fit = dual.solve(problem.through(view), plan, run)
        better = None if _has_digits(problem, fit) else _by_features(problem, view, fit, run)
        if better is not None:
            plan = replace(plan, details=replace(plan.details, side="primal"), n_features=len(better.weights))
            return _by_weights(problem, plan, view.lifted(), better, seed)
    return _by_duals(problem, plan, view, fit, seed)


def _has_digits(problem: RidgeProblem, fit: DualFit) -> bool:
    """Whether an orthogonal factor of features could add none that matter, or the side or a solver was given."""
    known = fit.outcome.converged and fit.outcome.condition <= MAX_DUAL_CONDITION
    given = problem.side != AUTO or problem.solver is not None
    return known or given or fit.worst_rounding <= DOUBTFUL * problem.trusted


def _by_features(problem: RidgeProblem, view: View, fit: DualFit, run: Run) -> PrimalFit | None:
    """A fit with more digits than the kernel matrix leaves, from its features; None where there is none."""
    width = view.most_features
    if width is None or not isinstance(view, TableView):
        return None
    from mercer.learners.ridge import primal

    if not primal.has_room(problem, len(problem.kept), width, made=False):
        return None
    found = primal.from_features(problem.through(view.lifted()), run)
    return found if found.worst_rounding <= fit.worst_rounding else None


def _by_duals(problem: RidgeProblem, plan: RidgePlan, view: View, fit: DualFit, seed: int) -> RidgeResult:
    duals = fit.duals
    if len(duals) < view.count:  # a precomputed matrix has columns of all rows
        duals = scatter_rows(duals, problem.kept, view.count)
    predictor = ByDuals(view, duals, fit.levels)
    return RidgeResult.of(problem, plan, fit, predictor, view.kernel, view.lift, view, seed)


# -- states -----------------------------------------------------------------------------------------------------------


def _state_space(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    from mercer.learners.ridge import state_space

    fit, predictor, view = state_space.fit(problem, run)
    return RidgeResult.of(problem, plan, fit, predictor, view.kernel, view.lift, view, seed)


# -- products ---------------------------------------------------------------------------------------------------------


def _conjugate_gradients(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    from mercer.learners.ridge import dual_cg

    chosen = _chosen(problem, plan, run, seed)
    asked = replace(problem.through(chosen.view), penalty=chosen.penalty)
    pivots = int(draws(seed, PIVOTS).integers(2**63))
    fit = replace(dual_cg.solve(asked, plan, run, pivots), path=chosen.path)
    return _by_duals(problem, plan, chosen.view, fit, seed)


def _chosen(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> Chosen:
    from mercer.learners.ridge.sample_tuning import on_sample

    if plan.details.sample is None:
        return on_sample(problem, plan, draws(seed, TUNING))
    with run.stage("tuning"):
        return on_sample(problem, plan, draws(seed, TUNING))


# -- pieces -----------------------------------------------------------------------------------------------------------


def _on_grid(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    from mercer.learners.ridge import fourier_grid
    from mercer.learners.ridge.grids import ends_of, grid_lift
    from mercer.learners.ridge.sample_tuning import Chosen
    from mercer.learners.streaming.grid import ByGrid

    chosen = Chosen(problem.view, problem.penalty)
    if not plan.details.solver.whole_path:
        chosen = fourier_grid.by_likelihood(problem, plan, run, draws(seed, TUNING))
    elif len(problem.views) > 1:
        chosen = fourier_grid.of_least_error(problem, plan, run)
    seen = replace(problem.through(chosen.view), penalty=chosen.penalty)
    view, rows = table_of(seen.view), problem.rows(chosen.view)
    lift = grid_lift(view, *ends_of(rows, plan.details.batch), plan.details.epsilon)
    fit = fourier_grid.solve(seen, rows, lift, plan, run)
    fit = replace(fit, path=chosen.path or fit.path)
    whole = LiftView(table_of(chosen.view).points, lift) if problem.source is None else None
    plan = replace(plan, n_features=lift.n_features())
    predictor = ByGrid.of(fit, whole, problem.kept)
    return RidgeResult.of(problem, plan, fit, predictor, chosen.view.kernel, lift, whole, seed)


def _in_pieces(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> RidgeResult:
    chosen = _for_pieces(problem, plan, run, seed)
    seen = replace(problem.through(chosen.view), penalty=chosen.penalty)
    view, kernel = table_of(seen.view), chosen.view.kernel
    rows = problem.rows(chosen.view)
    if problem.source is not None and kernel is not None:  # of whose rows only a sample was seen so far
        rows = DomainStream(rows, kernel)
    lift, triangle = _lift(view, plan, rows, run, draws(seed, LANDMARKS))
    basis = basis_of(lift, view.points)
    if plan.method == ITERATIVE:
        from mercer.learners.ridge import falkon

        fit = falkon.solve(seen, rows, basis, plan, run, triangle)
    else:
        from mercer.learners.ridge import normal_equations

        fit = normal_equations.solve(seen, rows, steady(basis), plan, run, draws(seed, LEAVING))
    fit = replace(fit, path=chosen.path or fit.path)
    whole = LiftView(table_of(chosen.view).points, lift) if problem.source is None else None
    return RidgeResult.of(problem, plan, fit, ByBasis(fit.basis, fit.raw, fit.intercepts), kernel, lift, whole, seed)


def _for_pieces(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> Chosen:
    """The kernel, and alphas where they must be known before; a path over all rows says more than one over some."""
    from mercer.learners.ridge.sample_tuning import Chosen

    if plan.method == ITERATIVE:
        return _chosen(problem, plan, run, seed)
    if len(problem.views) == 1:
        return Chosen(problem.view, problem.penalty)
    return replace(_chosen(problem, plan, run, seed), penalty=problem.penalty, path=None)


def _lift(
    view: TableView, plan: RidgePlan, rows: Stream, run: Run, random: np.random.Generator
) -> tuple[Lift, Triangle | None]:
    """The lift whose features are fitted: the one that was given, the exact one, or one that is drawn now.

    With it the triangle of landmarks that were drawn at a backend for Falkon.
    """
    if isinstance(view, LiftView):
        return view.lift, None
    exact = view.lifted().lift if plan.method == "one pass" else None
    if exact is not None:
        return exact, None
    if view.kernel is None:
        got = f"the plan says {plan.method}"
        raise InputError(message("a kernel to approximate", got, "Plan again."))
    if plan.method == "random features":
        from mercer.lifts import RandomFourier

        waves: Lift = RandomFourier(view.kernel, plan.n_features, random_state=int(random.integers(2**31)))
        return waves.fit(view.points.values), None
    from mercer.lifts.nystrom import nystrom_of

    with run.stage("landmarks", max(1, plan.n_landmarks)):
        piece = rows.sample(draw_rows(rows.count, plan.details.drawn, random))
        count = min(plan.n_landmarks, len(piece.targets))
        if plan.method != ITERATIVE:
            return nystrom_of(view.kernel, piece.points, count, random), None
        from mercer.learners.ridge.landmarks_there import drawn

        return drawn(view.kernel, piece.points, count, random, run)
