"""The error where nothing fits the memory: what is missing, and the nearest settings that do fit."""

from __future__ import annotations

from dataclasses import replace

from mercer.compute.runtime.memory import Budget, text_of
from mercer.planner.conjugate_gradients import conjugate_gradients
from mercer.planner.direct import direct
from mercer.planner.explain import named
from mercer.planner.limits import Limits
from mercer.planner.plan import Plan
from mercer.planner.streaming import nystrom, sizes
from mercer.planner.task import Task

ALL_ROWS = ("direct", "conjugate gradients")
"""Ways that hold something of the size of all rows, so that fewer rows help."""


def refuse(who: str, task: Task, ways: list[Plan], allowed: Budget) -> None:
    """Raise an error that names the smallest way, how many rows it could take, and how many landmarks would fit."""
    least = min(ways, key=lambda way: way.bytes)
    what = f"the {least.side} with {least.solver}" if least.way == "direct" else named(least)
    allowed.require(least.bytes, f"{what} on {task.rows:,} rows", _remedy(task, least, allowed))


def _remedy(task: Task, least: Plan, allowed: Budget) -> str:
    rows = rows_that_fit(task, least, allowed) if least.way in ALL_ROWS else 0
    landmarks = _landmarks_that_fit(task, allowed) if least.way in ALL_ROWS and least.side == "dual" else None
    words = [f"Up to {rows:,} rows fit."] if rows else []
    if landmarks is not None:
        size = f"{landmarks.features:,} landmarks fit in {text_of(landmarks.bytes)}"
        words += [f"{size}: Nystrom(\"gaussian('median')\", {landmarks.features})."]
    return " ".join(words) or "Free some memory, or give fewer columns or outputs."


def rows_that_fit(task: Task, least: Plan, allowed: Budget) -> int:
    """The most rows with which a way fits; 0 where none does."""
    low, high = 0, task.rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if allowed.allows(_smaller(task, least, middle).bytes) else (low, middle)
    return low


def _smaller(task: Task, least: Plan, rows: int) -> Plan:
    """The same way on fewer rows."""
    fewer = task.of_rows(rows)
    if least.way == "conjugate gradients":
        return fewer.beside(conjugate_gradients(fewer, least.solver, Limits(bytes=0)))  # of the smallest rank
    return fewer.beside(next(way for way in direct(fewer, least.solver, Limits()) if way.side == least.side))


def _landmarks_that_fit(task: Task, allowed: Budget) -> Plan | None:
    """One pass with the most landmarks that fit the memory."""
    limits = Limits(max(0, allowed.bytes - 8 * task.copied))
    ways = [task.beside(nystrom(replace(task, landmarks=None), size, limits)) for size in sizes(task.rows)]
    return next((way for way in reversed(ways) if allowed.allows(way.bytes)), None)
