"""The settings that SVMs share, checked; and the task that they give the planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.errors import InputError, sentence
from mercer.learners.data.pair_cost import columns_of
from mercer.learners.data.validation import AUTO, shown
from mercer.learners.data.views import KernelView, LiftView, TableView, View
from mercer.learners.parameters import boolean, positive_float, positive_int_or_none, refuse_loo
from mercer.planner.svm import MarginTask
from mercer.solvers.svm import coordinate_descent, working_sets

EXACT, LANDMARKS = "exact", "landmarks"
STEPS, EACH = 10_000_000, 100
"""Steps of pairs where nobody says how many: so many, or so many for each row."""
PASSES = 1000
"""Passes of coordinate descent where nobody says how many."""


@dataclass(frozen=True)
class MarginSettings:
    """What is asked of the solver.

    tolerance : the violation of optimality that may be left
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
    def of(
        cls,
        who: str,
        tol: Any,
        max_iter: Any,
        method: Any,
        n_landmarks: Any,
        warm_start: Any,
        polish: Any,
        lengthscale: Any,
    ) -> MarginSettings:
        """The settings of a machine, or one clear error."""
        if not (isinstance(method, str) and method in (AUTO, EXACT, LANDMARKS)):
            needs = 'method that is "auto", "exact" or "landmarks"'
            raise InputError(sentence(who, needs, f"got {shown(method)}", 'Use "auto", the default.'))
        warm, exact = (
            boolean(who, name, given, "Use False, the default.")
            for name, given in (("warm_start", warm_start), ("polish", polish))
        )
        refuse_loo(who, lengthscale, "leave-one-out is for least squares", "Use GridSearchCV.")
        steps = positive_int_or_none(who, "max_iter", max_iter)
        landmarks = positive_int_or_none(who, "n_landmarks", n_landmarks)
        return cls(positive_float(who, "tol", tol, "Use 1e-3."), steps, method, landmarks, warm, exact)

    def exact(self, count: int, pool: int) -> working_sets.Settings:
        """For so many rows, and bytes of rows of the matrix that are kept."""
        return working_sets.Settings(self.tolerance, self.max_iter or max(STEPS, EACH * count), pool)

    def featured(self, seed: int) -> coordinate_descent.Settings:
        """A violation within the tolerance is enough, and so is a relative gap within it."""
        return coordinate_descent.Settings(self.tolerance, self.tolerance, self.max_iter or PASSES, seed)

    def task(self, view: View, sizes: tuple[int, ...], folds: int) -> MarginTask:
        """What the planner has to know."""
        columns = view.points.shape[1] if isinstance(view, TableView) else view.count
        sparse: Any = view.points.values if isinstance(view, TableView) and view.points.sparse else None
        return MarginTask(
            rows=view.count,
            columns=columns,
            sizes=sizes,
            filled=columns_of(view, columns) if sparse is None else sparse.nnz / max(1, view.count),
            features=view.most_features if isinstance(view, LiftView) else None,
            stored=not view.sure,
            approximable=isinstance(view, LiftView) or (isinstance(view, KernelView) and view.sure),
            folds=folds,
            polish=self.polish and isinstance(view, KernelView),
        )
