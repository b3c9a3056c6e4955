"""The task of a perceptron: passes over the rows, of which nobody knows before how many mistakes they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mercer.planner.limits import Limits
from mercer.planner.plan import Details, Plan, Stage
from mercer.planner.task import Refusal, Task

WRONG = 0.2
"""The part of the rows that a pass is expected to get wrong."""
OWN, HELD = 1024.0, 6.0e6
"""Rows of a block, whose own matrix is computed; and numbers that blocks hold."""
MISTAKE = 60.0
"""Calls of NumPy for a mistake."""


@dataclass(frozen=True)
class PerceptronDetails(Details):
    """What only plans of perceptrons hold.

    Parameters
    ----------
    passes : int
        Over the rows.
    """

    task: ClassVar[str] = "perceptron"
    methods: ClassVar[tuple[str, ...]] = ("passes",)

    passes: int

    def describe(self, plan: PerceptronPlan) -> str:
        """The method of a plan in a few words."""
        return f"{self.passes} pass{'es' * (self.passes != 1)}"


PerceptronPlan = Plan[PerceptronDetails]


@dataclass(frozen=True)
class PerceptronTask(Task[PerceptronDetails]):
    """Passes that are to be planned, if a fifth of the rows are mistakes.

    Parameters
    ----------
    rows, columns, outputs : int
        Of the data.
    n_features : int or None
        Of a stored table; None where the kernel is evaluated.
    passes : int
        How many, at most.
    remembered : int or None, default=None
        How many rows are remembered, at most; None for all mistakes.

    Examples
    --------
    >>> from mercer.planner import PerceptronTask, choose
    >>> choose(PerceptronTask(500, 5, outputs=1, n_features=None, passes=3)).method
    'passes'
    """

    rows: int
    columns: int
    outputs: int
    n_features: int | None
    passes: int
    remembered: int | None = None
    single: ClassVar[bool] = False
    pair: ClassVar[float | None] = None

    def candidates(self, limits: Limits) -> list[PerceptronPlan]:
        """There is one method."""
        n, width, machine = float(self.rows), self.n_features or 0, limits.machine
        rows = float(self.remembered or WRONG * self.rows)
        if self.n_features is None:
            work = limits.pair(self, double=True) * n * (rows + OWN) + machine.multiply(2 * n * rows * self.outputs)
        else:
            work = machine.multiply(2 * n * width * (OWN + 2 * self.outputs))
        seconds = self.passes * (work + WRONG * n * MISTAKE * machine.call)
        slots = 3.0 * self.remembered**2 if self.remembered else rows * self.columns
        numbers = min(2 * n * self.outputs + HELD + n * width + slots, 2 * n * self.outputs + n * width + 6 * n * n)
        stages = (Stage("passes", seconds),)
        shape = (self.rows, self.columns, self.outputs)
        return [Plan("passes", *shape, int(8 * numbers), seconds, stages, PerceptronDetails(self.passes))]

    def why(self, best: PerceptronPlan, plans: Sequence[PerceptronPlan], limits: Limits) -> str:
        """What the time depends on."""
        return "A fifth of the rows are taken for mistakes; nobody knows before."

    def refusal(self, plans: Sequence[PerceptronPlan], limits: Limits) -> Refusal:
        """The only method."""
        return Refusal(plans[0].bytes, f"passes over {self.rows:,} rows", "Use a smaller budget, or fewer rows.")
