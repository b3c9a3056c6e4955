"""One fit of kernel k-means: several starts, the best of them, and its end with the kernel itself.

Few rows have their matrix stored, and a lift its features: then every start is followed to its end. Many rows would
take n^2 pairs for each, so that the starts are those of features of landmarks, in float32; the best goes on with the
kernel itself, in float64. Distances from means in the span of landmarks are never less than those from the true means,
so that the inertia falls there, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run, Stopped
from mercer.learners.clustering.features import LandmarkFeatures, landmarked
from mercer.learners.clustering.model import ByFeatures, ByLandmarks, ByRows, Model
from mercer.learners.clustering.seeds import best_of
from mercer.learners.clustering.settings import KMeansSettings
from mercer.learners.clustering.unique_rows import KMeansProblem
from mercer.learners.data.views import KernelView, MatrixView, TableView, View, blocks, definite
from mercer.learners.run.stage_share import StageShare
from mercer.operators import Dense
from mercer.planner.clustering import FEATURES, FIRST, LANDMARKS, MATRIX, RESTARTS, STEPS, ClusterPlan
from mercer.solvers.kmeans.cluster_sums import FeatureSums, KernelSums, Sums
from mercer.solvers.kmeans.lloyd import Clusters, LloydSettings, descend, told_steps
from mercer.solvers.ridge.base import opening

Array = NDArray[np.float64]
BRIEF, ROUGH = 1e-5, 1e-7
"""The fall of the inertia, in units of it, at which steps in float32 end: of all starts, and of the best of them."""


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """What was found.

    clusters : of the different rows that were fitted
    model : the means
    view : as it was used: with a lift where the plan wants one
    """

    clusters: Clusters
    model: Model
    view: View


def solve(
    who: str, problem: KMeansProblem, plan: ClusterPlan, settings: KMeansSettings, random: np.random.Generator, run: Run
) -> KMeansResult:
    """Fit by the method of the plan."""
    if plan.way == "kernel matrix":
        return _of_matrix(who, problem, settings, random, run)
    if plan.way == "features":
        return _of_features(problem, settings, random, run)
    assert isinstance(problem.view, KernelView)  # noqa: S101  # landmarks are planned for no other
    with run.stage(LANDMARKS):
        lifted = landmarked(who, problem.view, plan.features, random, run)
    few = lifted.Z[:, : plan.features if plan.way == "products" else FIRST]  # features of the first landmarks alone
    sums = FeatureSums(few, problem.weights, settings.clusters, lifted.sizes)
    best = best_of(settings.runs, sums, _settings(settings, BRIEF), random, run, RESTARTS)
    if plan.way == "products" and not best.stopped:
        return _of_products(problem, settings, lifted, best, run)
    return _of_landmarks(problem, lifted, settings, best, run)


# -- where every start is followed to its end -------------------------------------------------------------------------


def _of_matrix(
    who: str, problem: KMeansProblem, settings: KMeansSettings, random: np.random.Generator, run: Run
) -> KMeansResult:
    view = problem.view
    with run.stage(MATRIX):
        K = view.dense(run.watch)
        view = definite(who, view, K)
        sums = KernelSums(Dense(K, symmetric=True), problem.weights, settings.clusters)
    best = best_of(settings.runs, sums, _settings(settings, 0.0), random, run, RESTARTS)
    sums.settle(best.members)
    return KMeansResult(best, by_rows(problem, sums, best), view)


def _of_features(
    problem: KMeansProblem, settings: KMeansSettings, random: np.random.Generator, run: Run
) -> KMeansResult:
    with run.stage(FEATURES):
        view = problem.view.lifted()
        assert isinstance(view, TableView)  # noqa: S101  # a matrix has no lift
        Z = view.features()
        origin = problem.weights @ Z / problem.weights.sum()
        Z -= origin
        sums = FeatureSums(Z, problem.weights, settings.clusters)
    best = best_of(settings.runs, sums, _settings(settings, 0.0), random, run, RESTARTS)
    sums.settle(best.members)
    means = sums.vectors * sums.shares
    return KMeansResult(best, ByFeatures(sums.means(best.members), view, means, origin), view)


def by_rows(problem: KMeansProblem, sums: Sums, found: Clusters) -> ByRows:
    """The model of means of rows; the sums are those of what was found."""
    lengths, shares = sums.means(found.members), problem.weights * sums.shares[found.members]
    if isinstance(problem.view, MatrixView):  # new rows are compared with all rows of the fit
        members, own = np.zeros(problem.count, np.intp), np.zeros(problem.count)
        members[problem.rows], own[problem.rows] = found.members, shares
        return ByRows(lengths, problem.full, members, own)
    return ByRows(lengths, problem.view, found.members, shares)


# -- where the starts are those of landmarks --------------------------------------------------------------------------


def _of_landmarks(
    problem: KMeansProblem, lifted: LandmarkFeatures, settings: KMeansSettings, best: Clusters, run: Run
) -> KMeansResult:
    """The best start, followed to its end with all landmarks; with labels and distances anew, in float64."""
    assert isinstance(problem.view, KernelView)  # noqa: S101  # it has landmarks
    sums, points = FeatureSums(lifted.Z, problem.weights, settings.clusters, lifted.sizes), problem.view.points
    if not best.stopped:
        with run.stage(STEPS), run.stoppable():
            found = descend(sums, best.labels, _settings(settings, ROUGH), StageShare(run, 0))
        best = replace(found, history=best.history + found.history)
    sums.settle(best.members)
    means = np.where(sums.totals > 0, sums.vectors * sums.shares, np.nan)
    model = ByLandmarks.of(problem.view.kernel, lifted.basis, means, lifted.origin)
    parts = blocks(problem.view.count, 4 * len(model.lengths))
    labels, squares = map(np.concatenate, zip(*(model.nearest(points.rows(part)) for part in parts), strict=True))
    history = (*best.history[:-1], float(problem.weights @ squares))
    return KMeansResult(replace(best, labels=labels, squares=squares, history=history), model, problem.view)


def _of_products(
    problem: KMeansProblem, settings: KMeansSettings, lifted: LandmarkFeatures, best: Clusters, run: Run
) -> KMeansResult:
    """Steps with the kernel itself, from the best start; where not even one is done, landmarks are all there is."""
    sums = KernelSums(problem.view.operator(run.watch), problem.weights, settings.clusters)
    with run.stage(STEPS):
        try:
            with run.stoppable():
                found = descend(sums, best.labels, _settings(settings, 0.0), StageShare(run, 0))
        except Stopped as stopped:
            told = f"{opening(stopped)}, after {told_steps(len(best.history))}."
            return _of_landmarks(
                problem, lifted, settings, replace(best, converged=False, stopped=True, reason=told), run
            )
    found = replace(found, history=best.history + found.history)
    return KMeansResult(found, by_rows(problem, sums, found), problem.view)


def _settings(settings: KMeansSettings, least: float) -> LloydSettings:
    """When steps end; `least` is the fall of the inertia at which they do in any case."""
    return LloydSettings(settings.steps, max(settings.tolerance, least))
