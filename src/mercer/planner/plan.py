"""The plan: the chosen way to fit, what it will cost, and the ways not chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mercer.compute.budget import text_of
from mercer.solvers.base import Solver

Side = Literal["primal", "dual"]


@dataclass(frozen=True)
class Plan:
    """One way to fit least squares, with what it needs.

    side : "primal" solves for one weight a feature, "dual" for one coefficient a row
    solver : who solves
    rows, features : the size of the problem; features is None where no finite lift is known
    operations : floating-point operations, about
    bytes : memory at the peak, about
    reason : why this one
    others : the ways not chosen

    >>> from mercer.solvers import Cholesky
    >>> print(Plan("dual", Cholesky(), 10_000, None, 3.4e11, 840_000_000, "There is no finite lift."))
    dual with Cholesky(): 10000 unknowns, 3.4e+11 operations, 801.1 MiB. There is no finite lift.
    """

    side: Side
    solver: Solver
    rows: int
    features: int | None
    operations: float
    bytes: int
    reason: str = ""
    others: tuple[Plan, ...] = field(default=(), repr=False)

    @property
    def unknowns(self) -> int:
        """The size of the system: rows in the dual, features in the primal."""
        return self.features if self.side == "primal" and self.features is not None else self.rows

    def __str__(self) -> str:
        size = f"{self.unknowns} unknowns, {self.operations:.1e} operations, {text_of(self.bytes)}"
        lines = [f"{self.side} with {self.solver}: {size}. {self.reason}".rstrip()]
        return "\n".join(lines + [f"  not chosen: {str(other).rstrip('. ')}" for other in self.others])
