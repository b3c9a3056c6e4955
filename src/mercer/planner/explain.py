"""A plan in words, as a database explains a query: the methods side by side, the parts of the work, and why."""

from __future__ import annotations

import math
from typing import Any

from mercer.compute.runtime.memory import text_of
from mercer.errors import number_of
from mercer.planner.plan import Details, Plan

YEAR = 365.25 * 86_400.0
"""Seconds of a year."""
HERE = "cpu"
MARK, REST = "  -> ", "     "
"""Before the method that was chosen, and before the others."""


def explain(plan: Plan[Any]) -> str:
    """The text of `print(plan)`: ASCII, and the same for equal plans."""
    lines = [summary(plan), *_table((plan, *plan.others))]
    if plan.stages:
        lines += ["  stages: " + ", ".join(f"{stage.name} {duration(stage.seconds)}" for stage in plan.stages)]
    lines += [f"  why: {plan.reason}"] if plan.reason else []
    lines += [f"  why not {named(other)}: {other.reason}" for other in plan.others if other.reason]
    return "\n".join(lines)


def summary(plan: Plan[Any]) -> str:
    """The first line: what is fitted, and by which method."""
    unit = plan.details.unit
    outputs = number_of(plan.outputs, unit) if plan.outputs else f"all {unit}s"
    shape = f"{number_of(plan.rows, 'row')} x {number_of(plan.columns, 'column')}"
    return f"{plan.task} on {shape}, {outputs}: {named(plan)}"


def named(plan: Plan[Any]) -> str:
    """A method in a few words.

    >>> from mercer.planner.ridge import RidgeDetails
    >>> from mercer.solvers import Eigen
    >>> named(Plan("nystrom", 10**6, 8, 1, 0, 0.0, (), RidgeDetails("primal", Eigen()), n_landmarks=2000))
    'nystrom, one pass, 2,000 landmarks'
    """
    details: Details = plan.details
    return details.describe(plan)


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> [duration(seconds) for seconds in (0.01, 0.44, 38.2, 250, 10_000, 800_000, 1e10)]
    ['< 0.1 s', '0.4 s', '38 s', '4.2 min', '2.8 h', '9.3 days', '317 years']
    """
    if seconds < 0.095:
        return "< 0.1 s"
    for unit, size, enough in (("s", 1.0, 99.5), ("min", 60.0, 99.5), ("h", 3600.0, 47.5), ("days", 86_400.0, 999.5)):
        if seconds / size < enough:
            return f"{_short(seconds / size)} {unit}"
    return f"{_short(seconds / YEAR)} years"


def counted(number: int, unit: str) -> str:
    """A number and its unit for people, however large.

    >>> counted(123_456, "feature"), counted(10**5000 + 1, "feature")
    ('123,456 features', '10^5000 features')
    """
    return number_of(number, unit) if number < 10**12 else f"10^{math.log10(number):.0f} {unit}s"


def _short(number: float) -> str:
    """Two digits or all before the point: 9.9, 10, 1,234."""
    return f"{number:.1f}" if number < 9.95 else f"{number:,.0f}"


def _table(plans: tuple[Plan[Any], ...]) -> list[str]:
    elsewhere = any(plan.backend != plans[0].backend for plan in plans) or plans[0].backend != HERE
    rows = [("method on a backend" if elsewhere else "method", "time", "memory", "gives up")]
    rows += [
        (
            f"{named(plan)} on {plan.backend}" if elsewhere else named(plan),
            duration(plan.seconds),
            text_of(plan.bytes),
            plan.gives_up or "nothing",
        )
        for plan in plans
    ]
    first, second, third = (max(len(row[k]) for row in rows) for k in range(3))
    return [
        f"{MARK if k == 1 else REST}{row[0]:<{first}}  {row[1]:>{second}}  {row[2]:>{third}}  {row[3]}"
        for k, row in enumerate(rows)
    ]
