"""The methods of a plan, a function each: from a prepared problem to a model that can predict."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.kernels import Kernel
from mercer.kernels.points import SINGLE, Points
from mercer.learners.data.rows import draw_rows, scatter_rows
from mercer.learners.data.views import LiftView, TableView, View
from mercer.learners.ridge import dual, dual_cg, falkon, normal_equations, primal
from mercer.learners.ridge.posing import Posed
from mercer.learners.ridge.problem import Prepared
from mercer.learners.ridge.request import Fit
from mercer.learners.ridge.sample_tuning import Chosen, best, on_sample
from mercer.learners.ridge.streamed import Streamed, StreamedFit
from mercer.learners.streaming.basis import Basis, LiftBasis, landmark_basis, steady
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures, Predictor
from mercer.learners.streaming.stream import DomainStream, StoredStream, Stream
from mercer.lifts import RandomFourier
from mercer.lifts.base import Lift
from mercer.lifts.nystrom import Nystrom, nystrom_of
from mercer.planner import Plan

Array = NDArray[np.float64]
ITERATIVE = "nystrom iterative"
TUNING, LANDMARKS, LEAVING, PIVOTS = range(4)
"""What random numbers are drawn for: each has a stream of its own, so that no step changes the draws of another."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A fit, and what is needed to predict with it.

    view : of all rows, also of those of weight zero; None where rows stream
    lift : the one that was given, or whose features have weights; None where the kernel itself was fitted
    streamed : what a method that reads rows in pieces found; None for others
    basis : of what its model is made
    seed : of all draws
    """

    fit: Fit
    plan: Plan
    predictor: Predictor
    kernel: Kernel | None
    lift: Lift | None
    view: View | None
    streamed: StreamedFit | None = None
    basis: Basis | None = None
    seed: int = 0


def follow(posed: Posed, plan: Plan, run: Run, seed: int) -> Solved:
    """Fit by the method of the plan; `seed` is what every draw comes from."""
    prepared = posed.prepared
    if plan.way == "direct":
        found = _primal(prepared, plan, run) if plan.side == "primal" else _dual(prepared, plan, run)
    elif plan.way == "conjugate gradients":
        found = _iterative(prepared, plan, run, seed)
    else:
        found = _streamed(posed, plan, run, seed)
    return replace(found, seed=seed)


def draws(seed: int, purpose: int) -> np.random.Generator:
    """The random numbers for one purpose."""
    return np.random.default_rng([seed, purpose])


# -- stored matrices --------------------------------------------------------------------------------------------------


def _primal(prepared: Prepared, plan: Plan, run: Run) -> Solved:
    view = prepared.views[0].lifted()
    fit = primal.solve(replace(prepared.request(view, plan), run=run))
    assert fit.weights is not None  # noqa: S101  # the primal has them
    predictor = ByFeatures(view, fit.weights, fit.means, fit.levels)
    return Solved(fit, plan, predictor, view.kernel, view.lift, view)


def _dual(prepared: Prepared, plan: Plan, run: Run) -> Solved:
    if len(prepared.views) == 1 and not prepared.penalty.path:
        view = prepared.views[0]
        fit = dual.solve(replace(prepared.request(view, plan), run=run))
    else:
        tuned, view = best(prepared, plan, run)
        fit = dual.finish(tuned)
    return _by_duals(prepared, plan, view, fit)


def _by_duals(prepared: Prepared, plan: Plan, view: View, fit: Fit) -> Solved:
    assert fit.duals is not None  # noqa: S101  # the dual has them
    duals = scatter_rows(
        fit.duals, prepared.kept, view.count
    )  # rows of weight zero have columns in a precomputed matrix
    predictor = ByDuals(view, duals, fit.levels)
    return Solved(fit, plan, predictor, view.kernel, view.lift, view)


# -- products ---------------------------------------------------------------------------------------------------------


def _iterative(prepared: Prepared, plan: Plan, run: Run, seed: int) -> Solved:
    chosen = _chosen(prepared, plan, run, seed)
    asked = replace(prepared.request(chosen.view, plan), penalty=chosen.penalty, run=run)
    pivots = int(draws(seed, PIVOTS).integers(2**63))
    fit = replace(dual_cg.solve(asked, run, prepared.dtype == SINGLE, pivots), path=chosen.path)
    return _by_duals(prepared, plan, chosen.view, fit)


def _chosen(prepared: Prepared, plan: Plan, run: Run, seed: int) -> Chosen:
    if plan.sample is None:
        return on_sample(prepared, plan, draws(seed, TUNING))
    with run.stage("tuning"):
        return on_sample(prepared, plan, draws(seed, TUNING))


# -- pieces -----------------------------------------------------------------------------------------------------------


def _streamed(posed: Posed, plan: Plan, run: Run, seed: int) -> Solved:
    prepared, chosen = posed.prepared, _for_pieces(posed.prepared, plan, run, seed)
    prepared.request(chosen.view, plan)  # complains of numbers that are too large or too small
    seen = prepared.seen(chosen.view)
    assert isinstance(seen, TableView)  # noqa: S101  # no plan streams a matrix
    stream = _stored(prepared, seen) if posed.stream is None else _looked_at(posed.stream, seen)
    lift = _lift(seen, plan, stream, run, draws(seed, LANDMARKS))
    basis = _basis(lift, seen.points)
    basis = basis if plan.way == ITERATIVE else steady(basis)
    asked = Streamed(
        who=prepared.settings.who,
        stream=stream,
        basis=basis,
        penalty=chosen.penalty,
        intercept=prepared.centering.intercept,
        coded=prepared.problem.labels is not None,
        plan=plan,
        trusted=prepared.trusted,
        random=draws(seed, LEAVING),
    )
    found = falkon.solve(asked, run) if plan.way == ITERATIVE else normal_equations.solve(asked, run)
    fit = replace(found.fit, path=chosen.path or found.fit.path)
    whole = chosen.view
    assert isinstance(whole, TableView)  # noqa: S101  # as seen is
    view = LiftView(whole.points, lift) if posed.stream is None else None
    predictor = ByBasis(basis, found.raw, found.offset)
    return Solved(fit, plan, predictor, chosen.view.kernel, lift, view, replace(found, fit=fit), basis)


def _for_pieces(prepared: Prepared, plan: Plan, run: Run, seed: int) -> Chosen:
    """The kernel, and alphas where they must be known before; a path over all rows says more than one over some."""
    if plan.way == ITERATIVE:
        return _chosen(prepared, plan, run, seed)
    if len(prepared.views) == 1:
        return Chosen(prepared.views[0], prepared.penalty)
    return replace(_chosen(prepared, plan, run, seed), penalty=prepared.penalty, path=None)


def _stored(prepared: Prepared, seen: TableView) -> StoredStream:
    center = prepared.centering
    return StoredStream(seen.points, prepared.targets, center.weights, center.copies)


def _looked_at(stream: Stream, seen: TableView) -> Stream:
    """The rows of a source, of which only a sample was seen so far."""
    return stream if seen.kernel is None else DomainStream(stream, seen.kernel)


def _basis(lift: Lift, points: Points) -> Basis:
    return landmark_basis(lift, points) if isinstance(lift, Nystrom) else LiftBasis(lift)


def _lift(view: TableView, plan: Plan, stream: Stream, run: Run, random: np.random.Generator) -> Lift:
    """The lift whose features are fitted: the one that was given, the exact one, or one that is drawn now."""
    if isinstance(view, LiftView):
        return view.lift
    if plan.way == "one pass":
        exact = view.lifted().lift
        assert exact is not None  # noqa: S101  # or lifted would complain
        return exact
    assert view.kernel is not None  # noqa: S101  # it is approximated
    assert plan.features is not None  # noqa: S101  # by so many
    if plan.way == "random features":
        return _waves(view.kernel, view.points, plan.features, random)
    with run.stage("landmarks"):
        piece = stream.sample(draw_rows(stream.count, plan.drawn, random))
        return nystrom_of(view.kernel, piece.points, min(plan.features, len(piece.targets)), random)


def _waves(kernel: Kernel, points: Points, count: int, random: np.random.Generator) -> Lift:
    lift: Lift = RandomFourier(kernel, count, random_state=int(random.integers(2**31)))
    return lift.fit(points.values)
