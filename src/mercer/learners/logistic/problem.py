"""The problem of logistic regression: parameters, rows, classes and weights, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.pair_cost import pair_of
from mercer.learners.data.validation import AUTO
from mercer.learners.data.views import KernelView, LiftView, View
from mercer.learners.parameters import (
    boolean,
    method_of,
    positive_float,
    positive_int,
    positive_int_or_none,
    refuse_loo,
)
from mercer.operators import Centering
from mercer.planner import LogisticTask
from mercer.solvers.logistic.newton import NewtonSettings

Array = NDArray[np.float64]
EXACT, LANDMARKS = "exact", "landmarks"


class LogisticParameters(Protocol):
    """Logistic regression, as its settings are read; values are what the user gave."""

    alpha: Any
    tol: Any
    max_iter: Any
    method: Any
    n_landmarks: Any
    lengthscale: Any
    warm_start: Any


@dataclass(frozen=True)
class LogisticSettings:
    """The parameters, checked.

    method : "auto", "exact" or "landmarks"
    n_landmarks : how many landmarks; None for the planner's choice
    """

    alpha: float
    method: str
    n_landmarks: int | None
    newton: NewtonSettings

    @classmethod
    def of(cls, given: LogisticParameters) -> LogisticSettings:
        """The parameters of a learner, or one clear error."""
        alpha = positive_float("alpha", given.alpha, "Use 1.0.")
        tolerance = positive_float("tol", given.tol, "Use 1e-6.")
        steps = positive_int("max_iter", given.max_iter, "Use 100.")
        method = method_of(given.method, AUTO, EXACT, LANDMARKS)
        landmarks = positive_int_or_none("n_landmarks", given.n_landmarks)
        refuse_loo(given.lengthscale, 'got "loo"', "Use GridSearchCV to choose one.")
        boolean("warm_start", given.warm_start, "Use False.")
        return cls(alpha, method, landmarks, NewtonSettings(tolerance, steps))


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    """What is to be fitted.

    rows, view : all rows, as they were read, and as the kernel sees them
    seen : those of positive weight, as the kernel sees them
    kept : their positions
    classes : the labels, sorted
    codes : (kept,), positions among them
    centering : the weights of the rows that are kept
    start : scores of the rows that are kept, from which the search begins; None for none
    """

    settings: LogisticSettings
    rows: Any
    view: View
    seen: View
    kept: NDArray[np.intp]
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    centering: Centering
    start: Array | None = None

    @property
    def task(self) -> LogisticTask:
        """What the planner has to know."""
        view, outputs = self.view, 1 if len(self.classes) == 2 else len(self.classes)
        known, lift = isinstance(view, KernelView) and view.sure, isinstance(view, LiftView)
        shape = (len(self.kept), int(self.rows.shape[1]), outputs, view.most_features)
        settings = self.settings
        return LogisticTask(*shape, known, lift, pair_of(view), settings.method, settings.n_landmarks)
