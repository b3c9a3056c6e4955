"""Where nothing fits the memory: what is missing, and the nearest settings that do fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mercer.compute.runtime.memory import text_of
from mercer.planner.limits import Limits
from mercer.planner.ridge.conjugate_gradients import conjugate_gradients
from mercer.planner.ridge.details import RidgePlan
from mercer.planner.ridge.direct import direct
from mercer.planner.ridge.state_space import state_space
from mercer.planner.ridge.streaming import NYSTROM, nystrom, sizes
from mercer.planner.task import Refusal

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

ALL_ROWS = ("direct", "state space", "conjugate gradients")
"""Methods that hold something of the size of all rows, so that fewer rows help."""


def refusal(task: RidgeTask, plans: Sequence[RidgePlan], limits: Limits) -> Refusal:
    """The smallest method, how many rows it could take, and how many landmarks would fit."""
    least = min(plans, key=lambda plan: plan.bytes)
    direct = f"the {least.details.side} with {least.details.solver}"
    what = direct if least.method == "direct" else least.details.describe(least)
    return Refusal(least.bytes, f"{what} on {task.rows:,} rows", _remedy(task, least, limits))


def _remedy(task: RidgeTask, least: RidgePlan, limits: Limits) -> str:
    if task.wanted_landmarks is not None and least.method in NYSTROM:
        fewer = landmarks_that_fit(task, limits)
        return _words(fewer) + "set n_landmarks." if fewer is not None else "Free some memory, or use fewer landmarks."
    by_rows = least.method in ALL_ROWS
    rows = rows_that_fit(task, least, limits) if by_rows else 0
    by_kernel = by_rows and least.details.side == "dual" and task.side == "auto"
    landmarks = landmarks_that_fit(task, limits) if by_kernel else None
    words = [f"Up to {rows:,} rows fit."] if rows else []
    if landmarks is not None:
        lift = f"Nystrom(\"gaussian('median')\", {landmarks.n_landmarks})."
        words += [_words(landmarks) + ('method="landmarks".' if task.method == "exact" and task.approximable else lift)]
    return " ".join(words) or "Free some memory, or give fewer columns or outputs."


def _words(landmarks: RidgePlan) -> str:
    return f"{landmarks.n_landmarks:,} landmarks fit in {text_of(landmarks.bytes)}: "


def rows_that_fit(task: RidgeTask, least: RidgePlan, limits: Limits) -> int:
    """The most rows with which a method fits; 0 where none does."""
    low, high = 0, task.rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _smaller(task, least, middle).bytes <= limits.bytes else (low, middle)
    return low


def _smaller(task: RidgeTask, least: RidgePlan, rows: int) -> RidgePlan:
    """The same method on fewer rows."""
    fewer, solver = task.of_rows(rows), least.details.solver
    if least.method == "state space":
        return fewer.beside(state_space(fewer, Limits(bytes=0)))
    if least.method == "conjugate gradients":
        return fewer.beside(conjugate_gradients(fewer, solver, Limits(bytes=0)))  # of the smallest rank
    plans = direct(replace(fewer, solver=solver), Limits())
    return fewer.beside(next(plan for plan in plans if plan.details.side == least.details.side))


def landmarks_that_fit(task: RidgeTask, limits: Limits) -> RidgePlan | None:
    """One pass with the most landmarks that fit the memory."""
    free, left = replace(task, n_landmarks=None), Limits(task.within(limits).bytes)
    plans = [task.beside(nystrom(free, size, left)) for size in sizes(task.rows)]
    return next((plan for plan in reversed(plans) if plan.bytes <= limits.bytes), None)
