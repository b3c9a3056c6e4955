"""Where a method runs: on the cores, or on a graphics card where that is clearly faster."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

from mercer.backends.base import Backend
from mercer.backends.choosing import found_card, named
from mercer.backends.context import CORES
from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.planner.choose import choose
from mercer.planner.explain import duration
from mercer.planner.machine import Machine
from mercer.planner.plan import AnyDetails, Comparison, Plan
from mercer.planner.task import Task

MIN_SECONDS = 1.0
"""Seconds on the cores below which nobody looks for a card."""
CLEARLY = 1.25
"""How many times faster a card has to be: predictions are off by about that."""
START_SECONDS = 3.0
"""Seconds that it takes to load PyTorch and to wake a card, once in a process."""


def place(
    task: Task[AnyDetails],
    given: Backend | str,
    budget: Budget | None = None,
    seconds: float | None = None,
    resumable: bool = False,
    takes_card: bool = True,
) -> Plan[AnyDetails]:
    """The plan to follow, and what computes.

    Parameters
    ----------
    task : Task
        What is to be fitted.
    given : Backend or str
        The parameter `backend` of a learner.
    budget : Budget or None, default=None
        The memory of this process that may be held; None for most of what is free.
    seconds : float or None, default=None
        The time limit.
    resumable : bool, default=False
        Whether the fit is to go on after it was cut off.
    takes_card : bool, default=True
        Whether "auto" may take a card: structured data is computed on the cores.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from mercer.planner import RidgeTask
    >>> place(RidgeTask(1000, 8, 1, None, 45, True), "auto").backend
    'cpu'
    """
    backend = named(given)
    if backend is not None and backend is not CORES:
        return _on(backend, task, seconds, resumable)
    try:
        here = choose(task, budget, seconds, None, resumable)
    except BudgetError:  # a card may have the room that this process has not
        there = _on_card(task, seconds, resumable) if backend is None and takes_card else None
        if there is None:
            raise
        return there
    if backend is CORES or here.seconds < MIN_SECONDS or not takes_card:
        return here
    there = _on_card(task, seconds, resumable)
    if there is None:
        return here
    wins = here.seconds > CLEARLY * there.seconds if here.exact or not there.exact else True
    best, other = (there, here) if wins else (here, there)
    return replace(best, comparison=Elsewhere(best.comparison, other))


def _on_card(task: Task[AnyDetails], seconds: float | None, resumable: bool) -> Plan[AnyDetails] | None:
    """The plan on the first card; None where there is no card, or no room on it."""
    card = found_card()
    try:
        return None if card is None else _on(card, task, seconds, resumable)
    except BudgetError:
        return None


def _on(backend: Backend, task: Task[AnyDetails], seconds: float | None, resumable: bool) -> Plan[AnyDetails]:
    """The plan on a card; what was timed on the cores says nothing there."""
    if getattr(task, "pair", None) is not None:
        task = replace(task, pair=None)  # type: ignore[type-var]
    plan = choose(task, backend.budget(), seconds, Machine.of(backend), resumable, on_card=True)
    start = 0.0 if "torch" in sys.modules else START_SECONDS
    others = There(plan.comparison, backend.name)
    return replace(plan, backend=backend.name, seconds=plan.seconds + start, comparison=others)


@dataclass(frozen=True)
class There:
    """The comparison of a plan with the other methods on its backend."""

    own: Comparison
    backend: str

    @property
    def reason(self) -> str:
        """Why this method."""
        return self.own.reason

    @property
    def others(self) -> tuple[Plan[Any], ...]:
        """The methods not chosen."""
        return tuple(replace(other, backend=self.backend) for other in self.own.others)


@dataclass(frozen=True)
class Elsewhere:
    """The comparison of a plan with that of another backend, beside its own.

    own : with the other methods on its backend
    other : the plan of the other backend
    """

    own: Comparison
    other: Plan[Any]

    @property
    def reason(self) -> str:
        """Why this method, and why there."""
        where = f"{self.other.backend} would take {duration(self.other.seconds)}."
        return f"{self.own.reason} {where}".strip()

    @property
    def others(self) -> tuple[Plan[Any], ...]:
        """The methods not chosen, those of the other backend last."""
        return *self.own.others, self.other
