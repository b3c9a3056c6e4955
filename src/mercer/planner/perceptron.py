"""The plan of a perceptron: passes over the rows, of which nobody knows before how many mistakes they make."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.compute.runtime.memory import Budget, text_of
from mercer.planner.html import ShownPlan
from mercer.planner.limits import Limits
from mercer.planner.machine import Machine
from mercer.planner.plan import Stage
from mercer.planner.task import Task

WRONG = 0.2
"""The part of the rows that a pass is expected to get wrong."""
OWN, HELD = 1024.0, 6.0e6
"""Rows of a block, whose own matrix is computed; and numbers that blocks hold."""
MISTAKE = 60.0
"""Calls of NumPy for a mistake."""


@dataclass(frozen=True)
class PassPlan(ShownPlan):
    """Passes over rows: what they are to take, if a fifth of the rows are mistakes.

    >>> print(PassPlan(50_000, 10, 1, 3, 1_000_000, 2.5, (Stage("passes", 2.5),)))
    perceptron on 50,000 rows x 10 columns: 3 passes, about 2.5 s and 976.6 KiB
    """

    rows: int
    columns: int
    outputs: int
    passes: int
    bytes: int
    seconds: float
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        what = f"perceptron on {self.rows:,} rows x {self.columns:,} columns: {self.passes} passes"
        return f"{what}, about {self.seconds:.2g} s and {text_of(self.bytes)}"


def passes(who: str, task: Task, count: int, remembered: int | None, budget: Budget) -> PassPlan:
    """The plan of so many passes; an error where they do not fit the memory.

    task : its features are those of a stored table; None where the kernel is evaluated
    remembered : how many rows are remembered, at most; None for all mistakes
    """
    n, width = float(task.rows), task.width
    limits, rows = Limits(machine=Machine.here()) if n * n > 1e8 else Limits(), float(remembered or WRONG * task.rows)
    if task.features is None:
        work = limits.pair(task, double=True) * n * (rows + OWN) + limits.machine.multiply(2 * n * rows * task.outputs)
    else:
        work = limits.machine.multiply(2 * n * width * (OWN + 2 * task.outputs))
    seconds = count * (work + WRONG * n * MISTAKE * limits.machine.call)
    numbers = 2 * n * task.outputs + HELD + n * width + (3.0 * remembered**2 if remembered else rows * task.columns)
    needed = int(8 * min(numbers, 2 * n * task.outputs + n * width + 6 * n * n))
    budget.require(needed, f"passes over {task.rows:,} rows", "Use a smaller budget, or fewer rows.")
    return PassPlan(task.rows, task.columns, task.outputs, count, needed, seconds, (Stage("passes", seconds),))
