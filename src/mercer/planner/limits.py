"""What a plan must keep to: memory, time, the rates of the machine, and whether it can be cut off and go on."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import Plan
from mercer.planner.task import Task

PATIENCE = 60.0
"""Seconds that a plan aims at where no time limit is given."""
DIRECT = 30.0
"""A direct way that takes less seconds than this is preferred to an iterative one: it says more about the model."""
UNSAVED = 25.0
"""Seconds that work may take whose state is too large to save, where a fit is to go on after it was cut off."""
INSTANT = 0.05
"""Seconds below which times are alike, and operations decide: what small problems do depends on no machine."""
WIDER = 2.0
"""How many times longer a pair takes in float64 than in float32."""


def order(way: Plan) -> tuple[float, float]:
    """The order of methods: by time, and by operations where the time is negligible."""
    return max(way.seconds, INSTANT), way.operations


@dataclass(frozen=True)
class Limits:
    """What a plan must keep to.

    bytes : that may be held
    seconds : the time limit, or None
    machine : whose rates count
    resumable : whether the state of the work is saved now and then
    """

    bytes: int = 2**62
    seconds: float | None = None
    machine: Machine = ROUGH
    resumable: bool = False

    @property
    def patience(self) -> float:
        """Seconds that a way may take."""
        return PATIENCE if self.seconds is None else self.seconds

    @property
    def direct(self) -> float:
        """Seconds up to which a direct way is preferred: half the limit, since it has no model before its end."""
        most = DIRECT if self.seconds is None else min(DIRECT, self.seconds / 2)
        return min(most, UNSAVED) if self.resumable else most

    def pair(self, task: Task, double: bool = False) -> float:
        """Seconds for a pair of rows in a product with one vector, in float64 if that is asked."""
        if task.pair is None:
            return self.machine.pairs(1.0, task.columns, task.single and not double)
        return task.pair * (WIDER if task.single and double else 1.0)
