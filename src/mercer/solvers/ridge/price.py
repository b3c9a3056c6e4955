"""What the rank of a preconditioner costs, and what it saves: steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

ENTRY_OPERATIONS = 25.0
"""Operations that one entry of A takes in a product, when entries are computed anew: what a rank is weighed against."""


@dataclass(frozen=True)
class Price:
    """Of the steps of conjugate gradients, and of the rank of their preconditioner, in operations or seconds.

    step : of a product with A, and of what a step does beside it
    column : of a column of the preconditioner, in each step
    pivot : of a pivot, whatever the rank
    square : of the rank squared
    """

    step: float
    column: float
    pivot: float
    square: float

    @classmethod
    def of_operations(cls, n: int) -> Self:
        """Operations for n rows: what counts where all of them take about as long."""
        return cls(ENTRY_OPERATIONS * n**2, 4 * n, 0.0, 3 * n)

    def total(self, rank: float, steps: float) -> float:
        """Of a preconditioner of a rank, and so many steps."""
        return self.square * rank**2 + self.pivot * rank + steps * (self.step + self.column * rank)
