"""Fits that stop after so many steps, and what each has left."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.displays.base import last_step
from mercer.displays.estimators import Estimator
from mercer.errors import InputError, NumericalWarning, message

MEASURES = {"relative_gap_": "relative duality gap", "duality_gap_": "duality gap", "residual_": "relative residual"}
"""What tells how far a fit is from its end, the first that a model has, and how it is called."""


def runs_of(
    model: Estimator, X: Any, y: Any, iterations: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], str]:
    """The numbers of iterations, the seconds of each fit, what each has left, and what that is."""
    counts = list(iterations)
    if not counts or not all(isinstance(each, int | np.integer) and each > 0 for each in counts):
        raise InputError(message("positive integers for iterations", f"got {iterations!r}", "Use (1, 2, 4, 8)."))
    fits = [_timed(_stopping(model, int(count)), X, y) for count in sorted(set(counts))]
    last = last_step(fits[-1][0])
    name = next((each for each in MEASURES if hasattr(last, each)), None)
    if name is None:
        got = f"{type(last).__name__} has neither residual_ nor duality_gap_"
        raise InputError(message("a model that tells how far it is from its end", got, "Use KernelSVC, say."))
    left = np.array([getattr(last_step(fitted), name) for fitted, _ in fits], dtype=float)
    return np.array(sorted(set(counts))), np.array([seconds for _, seconds in fits]), left, MEASURES[name]


def _stopping(model: Estimator, count: int) -> Any:
    """A copy that takes so many steps at most."""
    copy = clone(model)
    learner = last_step(copy)
    known = learner.get_params(deep=False)
    solver = known.get("solver")
    if is_dataclass(solver) and not isinstance(solver, type) and hasattr(solver, "max_iter"):
        learner.set_params(solver=replace(solver, max_iter=count))
        return copy
    if "max_iter" in known:
        learner.set_params(max_iter=count)
        return copy
    needs, got = "a learner or a solver with max_iter", f"{type(learner).__name__} has none"
    raise InputError(message(needs, got, "Use solver=ConjugateGradient()."))


def _timed(model: Estimator, X: Any, y: Any) -> tuple[Any, float]:
    """A fit that may end too early, which is what is asked for here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        begin = time.perf_counter()
        model.fit(X, y)
        return model, time.perf_counter() - begin
