"""What a plan must keep to: memory, time, the rates of the machine, and whether it can be cut off and go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import AnyDetails, Plan

PATIENCE = 60.0
"""Seconds that a plan aims at where no time limit is given."""
DIRECT = 30.0
"""A direct method that takes less seconds than this is preferred to an iterative one: it says more about the model."""
UNSAVED = 25.0
"""Seconds that work may take whose state is too large to save, where a fit is to go on after it was cut off."""
INSTANT = 0.05
"""Seconds below which times are alike: what small problems do depends on no machine."""
WIDER = 2.0
"""How many times longer a pair takes in float64 than in float32."""


class Table(Protocol):
    """The shape of data, and how long a pair of its rows takes."""

    @property
    def rows(self) -> int:
        """Of the data."""
        ...

    @property
    def columns(self) -> int:
        """Of the data."""
        ...

    @property
    def outputs(self) -> int:
        """Columns of targets."""
        ...

    @property
    def single(self) -> bool:
        """Whether the rows are in float32."""
        ...

    @property
    def pair(self) -> float | None:
        """Seconds for a pair of rows in a product with one vector, where that was measured."""
        ...


@dataclass(frozen=True)
class Shape:
    """Rows of float64, as costs that learners share see them."""

    rows: int
    columns: int
    outputs: int = 1
    single: bool = False
    pair: float | None = None


@dataclass(frozen=True)
class Limits:
    """What a plan must keep to.

    bytes : that may be held
    seconds : the time limit, or None
    machine : whose rates count
    resumable : whether the state of the work is saved now and then
    on_card : whether a graphics card computes, where rows of a matrix are computed and not kept
    """

    bytes: int = 2**62
    seconds: float | None = None
    machine: Machine = ROUGH
    resumable: bool = False
    on_card: bool = False

    @property
    def patience(self) -> float:
        """Seconds that a method may take."""
        return PATIENCE if self.seconds is None else self.seconds

    @property
    def direct(self) -> float:
        """Seconds up to which a direct method is preferred: half the limit, since it has no model before its end."""
        most = DIRECT if self.seconds is None else min(DIRECT, self.seconds / 2)
        return min(most, UNSAVED) if self.resumable else most

    def pair(self, table: Table, double: bool = False) -> float:
        """Seconds for a pair of rows in a product with one vector, in float64 if that is asked."""
        if table.pair is None:
            return self.machine.pairs(1.0, table.columns, table.single and not double)
        return table.pair * (WIDER if table.single and double else 1.0)


def first_within(plans: Iterable[Plan[AnyDetails]], limits: Limits, patience: float) -> Iterator[Plan[AnyDetails]]:
    """The first that keeps to memory and time, else the quickest that fits the memory, else the smallest; if any.

    Plans after the first that keeps to both are not costed.
    """
    seen: list[Plan[AnyDetails]] = []
    for plan in plans:
        if plan.bytes <= limits.bytes and plan.seconds <= patience:
            yield plan
            return
        seen.append(plan)
    fitting = [plan for plan in seen if plan.bytes <= limits.bytes]
    if fitting:
        yield min(fitting, key=lambda plan: plan.seconds)
    elif seen:
        yield min(seen, key=lambda plan: plan.bytes)
