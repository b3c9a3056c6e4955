"""A plan in words, as a database explains a query: the ways side by side, the parts of the work, and why."""

from __future__ import annotations

import math

from mercer.compute.runtime.memory import text_of
from mercer.planner.plan import Plan

YEAR = 365.25 * 86_400.0
"""Seconds of a year."""
MARK, REST = "  -> ", "     "
"""Before the way that was chosen, and before the others."""


def explain(plan: Plan) -> str:
    """The text of `print(plan)`: ASCII, and the same for equal plans."""
    outputs = f"{plan.outputs:,} output{'s' * (plan.outputs != 1)}"
    lines = [f"least squares on {plan.rows:,} rows x {plan.columns:,} columns, {outputs}: {named(plan)}"]
    lines += _table((plan, *plan.others))
    if plan.stages:
        lines += ["  stages: " + ", ".join(f"{stage.name} {duration(stage.seconds)}" for stage in plan.stages)]
    lines += [f"  why: {plan.reason}"] if plan.reason else []
    lines += [f"  why not {named(other)}: {other.reason}" for other in plan.others if other.reason]
    return "\n".join(lines)


def named(plan: Plan) -> str:
    """A way in a few words.

    >>> from mercer.solvers import Eigen
    >>> named(Plan("nystrom", "primal", Eigen(), 10**6, 8, 1, 2000, 0.0, 0, 0.0))
    'nystrom, one pass, 2,000 landmarks'
    """
    count = "" if plan.features is None else f"{plan.features:,}"
    if plan.way == "direct":
        table = f"{count} features" if plan.side == "primal" else "kernel matrix"
        return f"direct, {table}, {type(plan.solver).__name__}"
    return {
        "conjugate gradients": f"conjugate gradients, rank {plan.rank:,}",
        "one pass": f"one pass, {count} features",
        "nystrom": f"nystrom, one pass, {count} landmarks",
        "nystrom iterative": f"nystrom, iterative, {count} landmarks",
        "random features": f"random features, one pass, {count} features",
    }[plan.way]


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


def counted(number: int) -> str:
    """An integer for people, however large.

    >>> counted(123_456), counted(10**5000 + 1)
    ('123,456', '10^5000')
    """
    return f"{number:,}" if number < 10**12 else f"10^{math.log10(number):.0f}"


def _short(number: float) -> str:
    """Two digits or all before the point: 9.9, 10, 1,234."""
    return f"{number:.1f}" if number < 9.95 else f"{number:,.0f}"


def _table(ways: tuple[Plan, ...]) -> list[str]:
    rows = [("way", "time", "memory", "gives up")]
    rows += [(named(way), duration(way.seconds), text_of(way.bytes), way.gives_up or "nothing") for way in ways]
    first, second, third = (max(len(row[k]) for row in rows) for k in range(3))
    return [
        f"{MARK if k == 1 else REST}{row[0]:<{first}}  {row[1]:>{second}}  {row[2]:>{third}}  {row[3]}"
        for k, row in enumerate(rows)
    ]
