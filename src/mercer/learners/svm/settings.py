"""The settings that SVMs share, checked; and what the planner has to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from mercer.learners.data.pair_cost import columns_of
from mercer.learners.data.validation import AUTO
from mercer.learners.data.views import KernelView, LiftView, TableView, View
from mercer.learners.parameters import boolean, method_of, positive_float, positive_int_or_none, refuse_loo
from mercer.planner.svm import SVMTask
from mercer.solvers.svm import coordinate_descent, working_sets

EXACT, LANDMARKS = "exact", "landmarks"
SMO_STEPS = 10_000_000
"""Steps of pairs where max_iter is None, or `SMO_STEPS_PER_ROW` for each row where these are more."""
SMO_STEPS_PER_ROW = 100
"""Steps of pairs for each row where max_iter is None."""
DESCENT_PASSES = 1000
"""Passes of coordinate descent where max_iter is None."""


class SVMParameters(Protocol):
    """An SVM, as its settings are read; values are what the user gave."""

    tol: Any
    max_iter: Any
    method: Any
    n_landmarks: Any
    polish: Any
    warm_start: Any
    lengthscale: Any


@dataclass(frozen=True)
class SVMSettings:
    """What the solver and the planner have to know.

    tolerance : the KKT violation that may be left
    max_iter : steps, or passes of coordinate descent; None for a sane number
    method : "auto", "exact" or "landmarks"
    n_landmarks : how many landmarks; None for the planner's choice
    warm_start : whether a fit on the same rows starts from the last coefficients
    polish : whether what landmarks lead to is made exact on the margin
    """

    tolerance: float
    max_iter: int | None
    method: str
    n_landmarks: int | None
    warm_start: bool
    polish: bool = False

    @classmethod
    def of(cls, svm: SVMParameters) -> SVMSettings:
        """The settings of an SVM, or one clear error."""
        method = method_of(svm.method, AUTO, EXACT, LANDMARKS)
        warm = boolean("warm_start", svm.warm_start, "Use False, the default.")
        polish = boolean("polish", svm.polish, "Use False, the default.")
        refuse_loo(svm.lengthscale, "leave-one-out is for least squares", "Use GridSearchCV.")
        steps = positive_int_or_none("max_iter", svm.max_iter)
        landmarks = positive_int_or_none("n_landmarks", svm.n_landmarks)
        return cls(positive_float("tol", svm.tol, "Use 1e-3."), steps, method, landmarks, warm, polish)

    def smo(self, count: int, pool: int) -> working_sets.SMOSettings:
        """For so many rows, and bytes of rows of the matrix that are kept."""
        steps = self.max_iter or max(SMO_STEPS, SMO_STEPS_PER_ROW * count)
        return working_sets.SMOSettings(self.tolerance, steps, pool)

    def descent(self, seed: int) -> coordinate_descent.DescentSettings:
        """A violation within the tolerance is enough, and so is a relative gap within it."""
        passes = self.max_iter or DESCENT_PASSES
        return coordinate_descent.DescentSettings(self.tolerance, self.tolerance, passes, seed)

    def task(self, view: View, sizes: tuple[int, ...]) -> SVMTask:
        """What the planner has to know."""
        columns = view.points.shape[1] if isinstance(view, TableView) else view.count
        sparse: Any = view.points.values if isinstance(view, TableView) and view.points.sparse else None
        return SVMTask(
            rows=view.count,
            columns=columns,
            sizes=sizes,
            filled=columns_of(view, columns) if sparse is None else sparse.nnz / max(1, view.count),
            n_features=view.most_features if isinstance(view, LiftView) else None,
            stored=not view.sure,
            approximable=isinstance(view, LiftView) or (isinstance(view, KernelView) and view.sure),
            polish=self.polish and isinstance(view, KernelView),
            method=self.method,
            n_landmarks=self.n_landmarks,
            on_card=view.on_card,
        )
