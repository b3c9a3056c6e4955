"""One fit of logistic regression: the design of the plan, Newton's method on it, and the predictor."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.learners.data.rows import scatter_rows
from mercer.learners.data.views import KernelView, View
from mercer.learners.logistic.design import Design, from_features, from_landmarks, from_matrix
from mercer.learners.logistic.problem import LogisticProblem
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.planner.logistic import LogisticPlan
from mercer.solvers.logistic.likelihood import Likelihood
from mercer.solvers.logistic.newton import Minimum, minimise
from mercer.solvers.logistic.objective import LogisticObjective

Array = NDArray[np.float64]
MAX_ONE_THREAD_ROWS = 1024
"""Rows up to which one thread of BLAS is about as fast as several, which wait for each other."""


@dataclass(frozen=True, eq=False)
class LogisticResult:
    """What was learned.

    intercepts : (outputs,), b of f(x) + b, for features that are not centred
    view : as it was used: with a lift where the plan wants one
    """

    minimum: Minimum
    predictor: ByBasis | ByDuals | ByFeatures
    intercepts: Array
    view: View
    design: Design


def solve(problem: LogisticProblem, plan: LogisticPlan, random: np.random.Generator, run: Run) -> LogisticResult:
    """Fit by the method of the plan."""
    with one_thread_blas() if problem.seen.count <= MAX_ONE_THREAD_ROWS else nullcontext():
        return _solve(problem, plan, random, run)


def _solve(problem: LogisticProblem, plan: LogisticPlan, random: np.random.Generator, run: Run) -> LogisticResult:
    settings, start = problem.settings, problem.start
    view, design = _designed(problem, plan, random, run)
    likelihood = Likelihood(problem.codes, len(problem.classes), problem.centering.weights)
    objective = LogisticObjective(design.features, likelihood, settings.alpha, design.squares)
    with run.stage("newton"):
        minimum = minimise(objective, settings.newton, None if start is None else objective.imitate(start), run)
    predictor = design.predictor(minimum, settings.alpha)
    if isinstance(predictor, ByDuals):  # of all rows: new rows of a precomputed kernel are compared with all
        predictor = ByDuals(
            problem.view, scatter_rows(predictor.duals, problem.kept, problem.view.count), predictor.levels
        )
    return LogisticResult(minimum, predictor, _intercepts(predictor), view, design)


def _intercepts(predictor: ByBasis | ByDuals | ByFeatures) -> Array:
    if isinstance(predictor, ByFeatures):
        return np.asarray(predictor.levels - predictor.means @ predictor.weights)
    return predictor.offset if isinstance(predictor, ByBasis) else predictor.levels


def _designed(
    problem: LogisticProblem, plan: LogisticPlan, random: np.random.Generator, run: Run
) -> tuple[View, Design]:
    seen = problem.seen
    if plan.method == "exact":
        return seen, from_matrix(seen, problem.centering, problem.settings.alpha, run)
    if plan.method == "features" or not isinstance(seen, KernelView):  # landmarks are planned for no other
        lifted = seen.lifted()
        return lifted, from_features(lifted, problem.centering, run)
    return seen, from_landmarks(seen, problem.centering, plan.n_landmarks, random, run)
