"""The settings that machines of margins share, checked; and what they ask of the planner."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import InputError, sentence
from mercer.learners.assembly import LOO
from mercer.learners.reading import AUTO, shown
from mercer.learners.views import KernelView, LiftView, MatrixView, TableView, View
from mercer.learners.worth import columns_of
from mercer.planner.margins import MarginTask
from mercer.solvers import coordinate_descent, working_sets

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
    solver : "auto", "exact" or "landmarks"
    rank : how many landmarks; None for the planner's choice
    warm_start : whether a fit on the same rows starts from the last coefficients
    polish : whether what landmarks lead to is made exact on the margin
    """

    tolerance: float
    max_iter: int | None
    solver: str
    rank: int | None
    warm_start: bool
    polish: bool = False

    @classmethod
    def of(
        cls, who: str, tol: Any, max_iter: Any, solver: Any, rank: Any, warm_start: Any, polish: Any, lengthscale: Any
    ) -> MarginSettings:
        """The settings of a machine, or one clear error."""
        if not (isinstance(solver, str) and solver in (AUTO, EXACT, LANDMARKS)):
            needs = 'solver that is "auto", "exact" or "landmarks"'
            raise InputError(sentence(who, needs, f"{shown(solver)} came", 'Use "auto", the default.'))
        for name, given in (("warm_start", warm_start), ("polish", polish)):
            if not isinstance(given, bool | np.bool_):
                came = f"{shown(given)} came"
                raise InputError(sentence(who, f"True or False for {name}", came, "Use False, the default."))
        if isinstance(lengthscale, str) and lengthscale == LOO:
            came = "leave-one-out is for least squares"
            raise InputError(sentence(who, 'a lengthscale that is "median" or a number', came, "Use GridSearchCV."))
        steps, landmarks = count_of(who, "max_iter", max_iter), count_of(who, "rank", rank)
        return cls(positive(who, "tol", tol, "1e-3"), steps, solver, landmarks, bool(warm_start), bool(polish))

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


def positive(who: str, name: str, given: Any, remedy: str, endless: bool = False) -> float:
    """A number above zero; finite, unless it may be endless."""
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    if number and (0 < given <= sys.float_info.max or (endless and given == np.inf)):
        return float(given)
    needs = f"a {'' if endless else 'finite '}number above zero for {name}"
    raise InputError(sentence(who, needs, f"{shown(given)} came", f"Use {remedy}."))


def count_of(who: str, name: str, given: Any) -> int | None:
    """A whole number above zero, or None."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        needs = f"a whole number above zero, or None, for {name}"
        raise InputError(sentence(who, needs, f"{shown(given)} came", "Use None, the default."))
    return int(given)


def check_landmarks(who: str, view: View) -> None:
    """Refuse landmarks for what has no points, or is not known to be a kernel."""
    if isinstance(view, MatrixView):
        needs, came = 'a kernel or a lift for solver="landmarks"', "the kernel is precomputed"
        raise InputError(sentence(who, needs, came, 'Use "exact", or give the rows.'))
    if not view.sure:
        needs, came = 'a kernel that is proven for solver="landmarks"', f"{view.kernel} is not"
        raise InputError(sentence(who, needs, came, 'Use "exact", which looks at the matrix.'))
