"""One fit of kernel k-means: several starts, the best of them, and its end with the kernel itself.

Few rows have their matrix stored, and a lift its features: then every start is followed to its end. Many rows would
take n^2 pairs for each, so that the starts are those of features of landmarks, in float32; the best goes on with the
kernel itself, in float64. Distances from means in the span of landmarks are never less than those from the true means,
so that the inertia falls there, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tables import leading
from mercer.compute.runtime.run import Run, Stopped
from mercer.errors import number_of
from mercer.learners.clustering.features import LandmarkFeatures, landmarked
from mercer.learners.clustering.model import ByFeatures, ByLandmarks, ByRows, Model
from mercer.learners.clustering.seeds import best_of
from mercer.learners.clustering.unique_rows import KMeansProblem
from mercer.learners.data.views import KernelView, MatrixView, TableView, View, blocks, definite
from mercer.learners.run.stage_share import StageShare
from mercer.learners.streaming.feature_pass import held_features
from mercer.operators import Dense
from mercer.planner.clustering import FEATURES, FIRST, LANDMARKS, MATRIX, RESTARTS, STEPS, KMeansPlan
from mercer.solvers.kmeans.cluster_sums import KernelSums, Sums
from mercer.solvers.kmeans.lloyd import Clusters, LloydSettings, descend
from mercer.solvers.kmeans.table_sums import feature_sums
from mercer.solvers.ridge.base import opening

Array = NDArray[np.float64]
FALL_OF_STARTS = 1e-5
"""The fall of the inertia, in units of it, at which steps of all starts in float32 end."""
FALL_OF_BEST = 1e-7
"""The same for the best of them."""


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """What was learned.

    clusters : of the different rows that were fitted
    model : the means
    view : as it was used: with a lift where the plan wants one
    """

    clusters: Clusters
    model: Model
    view: View


def solve(problem: KMeansProblem, plan: KMeansPlan, random: np.random.Generator, run: Run) -> KMeansResult:
    """Fit by the method of the plan."""
    if plan.method == "exact":
        return _of_matrix(problem, random, run)
    if plan.method == "features" or not isinstance(problem.view, KernelView):  # landmarks are planned for no other
        return _of_features(problem, random, run)
    with run.stage(LANDMARKS):
        lifted = landmarked(problem.view, plan.n_landmarks, random, run)
    first = plan.n_landmarks if plan.method == "products" else FIRST
    few = leading(lifted.Z, first)  # features of the first landmarks alone
    sums = feature_sums(few, problem.weights, problem.settings.clusters, lifted.sizes)
    best = best_of(problem.settings.runs, sums, _steps(problem, FALL_OF_STARTS), random, run, RESTARTS)
    if plan.method == "products" and not best.stopped:
        return _of_products(problem, problem.view, lifted, best, run)
    return _of_landmarks(problem, problem.view, lifted, best, run)


# -- where every start is followed to its end -------------------------------------------------------------------------


def _of_matrix(problem: KMeansProblem, random: np.random.Generator, run: Run) -> KMeansResult:
    with run.stage(MATRIX):
        K = problem.view.dense(run.watch)
        view = definite(problem.view, K)
        sums = KernelSums(Dense(K, symmetric=True), problem.weights, problem.settings.clusters)
    best = best_of(problem.settings.runs, sums, _steps(problem), random, run, RESTARTS)
    sums.settle(best.members)
    return KMeansResult(best, by_rows(problem, sums, best), view)


def _of_features(problem: KMeansProblem, random: np.random.Generator, run: Run) -> KMeansResult:
    with run.stage(FEATURES):
        view = problem.view.lifted()
        Z, origin = _from_the_middle(view, problem.weights, run)
        sums = feature_sums(Z, problem.weights, problem.settings.clusters)
    best = best_of(problem.settings.runs, sums, _steps(problem), random, run, RESTARTS)
    sums.settle(best.members)
    means = sums.vectors * sums.shares
    return KMeansResult(best, ByFeatures(sums.means(best.members), view, means, origin), view)


def _from_the_middle(view: TableView, weights: Array, run: Run) -> tuple[Any, Array]:
    """The features of a view less their mean, where wide tables live, and the mean."""
    Z = held_features(view, run.watch)
    if isinstance(Z, np.ndarray):
        origin = weights @ Z / weights.sum()
        Z -= origin
        return Z, origin
    middle = Z.T @ weights / weights.sum()
    Z.subtract(middle)
    return Z, middle


def by_rows(problem: KMeansProblem, sums: Sums, clusters: Clusters) -> ByRows:
    """The model of means of rows; the sums are those of these clusters."""
    lengths, shares = sums.means(clusters.members), problem.weights * sums.shares[clusters.members]
    if isinstance(problem.view, MatrixView):  # new rows are compared with all rows
        members, own = np.zeros(problem.count, np.intp), np.zeros(problem.count)
        members[problem.rows], own[problem.rows] = clusters.members, shares
        return ByRows(lengths, problem.full, members, own)
    return ByRows(lengths, problem.view, clusters.members, shares)


# -- where the starts are those of landmarks --------------------------------------------------------------------------


def _of_landmarks(
    problem: KMeansProblem, view: KernelView, lifted: LandmarkFeatures, best: Clusters, run: Run
) -> KMeansResult:
    """The best start, followed to its end with all landmarks; with labels and distances anew, in float64."""
    sums = feature_sums(lifted.Z, problem.weights, problem.settings.clusters, lifted.sizes)
    if not best.stopped:
        with run.stage(STEPS), run.stoppable():
            last = descend(sums, best.labels, _steps(problem, FALL_OF_BEST), StageShare(run, 0))
        best = replace(last, history=best.history + last.history)
    sums.settle(best.members)
    means = np.where(sums.totals > 0, sums.vectors * sums.shares, np.nan)
    model = ByLandmarks.of(view.kernel, lifted.basis, means, lifted.origin)
    parts = blocks(view.count, 4 * len(model.lengths))
    labels, squares = map(np.concatenate, zip(*model.nearest_of(view.points, parts), strict=True))
    history = (*best.history[:-1], float(problem.weights @ squares))
    return KMeansResult(replace(best, labels=labels, squares=squares, history=history), model, view)


def _of_products(
    problem: KMeansProblem, view: KernelView, lifted: LandmarkFeatures, best: Clusters, run: Run
) -> KMeansResult:
    """Steps with the kernel itself, from the best start; where not even one is done, landmarks are all there is."""
    sums = KernelSums(view.operator(run.watch), problem.weights, problem.settings.clusters)
    with run.stage(STEPS):
        try:
            with run.stoppable():
                last = descend(sums, best.labels, _steps(problem), StageShare(run, 0))
        except Stopped as stopped:
            reason = f"{opening(stopped)}, after {number_of(len(best.history), 'step')}."
            return _of_landmarks(
                problem, view, lifted, replace(best, converged=False, stopped=True, reason=reason), run
            )
    last = replace(last, history=best.history + last.history)
    return KMeansResult(last, by_rows(problem, sums, last), view)


def _steps(problem: KMeansProblem, least: float = 0.0) -> LloydSettings:
    """When steps end; `least` is the fall of the inertia at which they do in any case."""
    return LloydSettings(problem.settings.steps, max(problem.settings.tolerance, least))
