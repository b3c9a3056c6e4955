"""One fit of logistic regression: what was asked, the rows and classes, the design, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import Run
from mercer.learners.data.labels import classes_of, labels_of
from mercer.learners.data.pair_cost import pair_of
from mercer.learners.data.range_checks import refuse_range
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import scatter_rows
from mercer.learners.data.validation import class_weights_of, weights_of
from mercer.learners.data.views import KernelView, LiftView, View
from mercer.learners.logistic.design import Design, from_features, from_landmarks, from_matrix
from mercer.learners.parameters import boolean, positive_float, positive_int, positive_int_or_none, refuse_loo
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.operators import Centering
from mercer.planner.logistic import LogisticPlan, logistic
from mercer.planner.task import Task
from mercer.solvers.logistic import newton as solver
from mercer.solvers.logistic.likelihood import Likelihood
from mercer.solvers.logistic.newton import Minimum
from mercer.solvers.logistic.objective import LogisticObjective

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LogisticSettings:
    """The parameters, checked."""

    alpha: float
    n_landmarks: int | None
    newton: solver.NewtonSettings

    @classmethod
    def of(cls, estimator: Any) -> LogisticSettings:
        """The parameters of a learner, or one clear error."""
        alpha = positive_float("alpha", estimator.alpha, "Use 1.0.")
        tolerance = positive_float("tol", estimator.tol, "Use 1e-6.")
        steps = positive_int("max_iter", estimator.max_iter, "Use 100.")
        landmarks = positive_int_or_none("n_landmarks", estimator.n_landmarks)
        refuse_loo(estimator.lengthscale, 'got "loo"', "Use GridSearchCV to choose one.")
        boolean("warm_start", estimator.warm_start, "Use False.")
        return cls(alpha, landmarks, solver.NewtonSettings(tolerance, steps))


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    """What is to be fitted.

    asked : the settings
    read : all rows, as they were read
    view : the same, as the kernel sees them
    kept : the positions of those of weight above zero
    classes : the labels, sorted
    codes : (kept,), positions among them
    centering : the weights of the rows that are kept
    start : scores of the rows that are kept, from which the search begins; None for none
    """

    settings: LogisticSettings
    read: Any
    view: View
    kept: NDArray[np.intp]
    count: int
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    centering: Centering
    start: Array | None = None

    @property
    def seen(self) -> View:
        """The rows that are kept."""
        return self.view if len(self.kept) == self.count else self.view.chosen(self.kept)


def read_problem(
    estimator: Any, settings: LogisticSettings, X: Any, rows: Any, y: Any, sample_weight: Any
) -> LogisticProblem:
    """Rows that were read, with their labels and weights, as the kernel sees them."""
    labels = labels_of(X, y)
    weights, counts = _weights(estimator.class_weight, labels, sample_weight)
    kept = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
    classes = classes_of(labels[kept])
    copies = weights if counts is None else counts
    view = resolve_view(estimator.kernel, estimator.lengthscale, rows, X, kept, copies, estimator.memory_limit)
    centering = Centering.of(len(kept), None if weights is None else weights[kept], intercept=True)
    seen = view if len(kept) == len(labels) else view.chosen(kept)
    refuse_range(seen, centering.total)
    codes = np.searchsorted(classes, labels[kept]).astype(np.intp)
    return LogisticProblem(settings, rows, view, kept, len(labels), classes, codes, centering)


def _weights(given: Any, labels: NDArray[Any], sample_weight: Any) -> tuple[Array | None, Array | None]:
    """How much rows weigh, and how many copies they stand for where that is another number."""
    counts = weights_of(sample_weight, len(labels))
    if given is None:
        return counts, None
    counts = np.ones(len(labels)) if counts is None else counts
    return class_weights_of(given, labels, counts), counts


def planned(estimator: Any, problem: LogisticProblem) -> LogisticPlan:
    """What the fit will take, and how it is done."""
    view, outputs = problem.view, 1 if len(problem.classes) == 2 else len(problem.classes)
    known, lift = isinstance(view, KernelView) and view.sure, isinstance(view, LiftView)
    columns, features = int(estimator.n_features_in_), view.most_features
    task = Task(len(problem.kept), columns, outputs, features, approximable=known, lift_given=lift, pair=pair_of(view))
    budget = Budget.of(estimator.memory_limit)
    return logistic(type(estimator).__name__, task, problem.settings.n_landmarks, budget, estimator.time_limit)


@dataclass(frozen=True, eq=False)
class LogisticResult:
    """What was found.

    intercepts : (outputs,), b of f(x) + b, for features that are not centred
    view : as it was used: with a lift where the plan wants one
    """

    minimum: Minimum
    predictor: ByBasis | ByDuals | ByFeatures
    intercepts: Array
    view: View
    design: Design


def solve(problem: LogisticProblem, plan: LogisticPlan, random: np.random.Generator, run: Run) -> LogisticResult:
    """Fit in the way of the plan."""
    settings, start = problem.settings, problem.start
    view, design = _designed(problem, plan, random, run)
    likelihood = Likelihood(problem.codes, len(problem.classes), problem.centering.weights)
    objective = LogisticObjective(design.features, likelihood, settings.alpha, design.values, design.vectors)
    with run.stage("newton"):
        found = solver.minimise(objective, settings.newton, None if start is None else objective.imitate(start), run)
    predictor = design.predictor(found, settings.alpha)
    if isinstance(predictor, ByDuals):  # of all rows: new rows of a precomputed kernel are compared with all
        predictor = ByDuals(problem.view, scatter_rows(predictor.duals, problem.kept, problem.count), predictor.levels)
    return LogisticResult(found, predictor, _intercepts(predictor), view, design)


def _intercepts(predictor: ByBasis | ByDuals | ByFeatures) -> Array:
    if isinstance(predictor, ByFeatures):
        return np.asarray(predictor.levels - predictor.means @ predictor.weights)
    return predictor.offset if isinstance(predictor, ByBasis) else predictor.levels


def _designed(
    problem: LogisticProblem, plan: LogisticPlan, random: np.random.Generator, run: Run
) -> tuple[View, Design]:
    seen = problem.seen
    if plan.way == "kernel matrix":
        return seen, from_matrix(seen, problem.centering, run)
    if plan.way == "features":
        lifted = seen.lifted()
        return lifted, from_features(lifted, problem.centering, run)
    assert isinstance(seen, KernelView)  # noqa: S101  # landmarks are planned for no other
    return seen, from_landmarks(seen, problem.centering, plan.features, random, run)
