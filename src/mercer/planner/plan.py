"""The plan: the chosen way to fit, what it will cost, and the ways not chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mercer.compute.budget import text_of
from mercer.solvers.base import Solver

Side = Literal["primal", "dual"]
Way = Literal["direct", "conjugate gradients", "one pass", "nystrom", "nystrom iterative", "random features"]
"""direct: a stored matrix; conjugate gradients: products with a matrix that is not stored, exact; one pass: sums over
the features of a lift, exact; the others: the same for features that approximate the kernel."""


@dataclass(frozen=True)
class Stage:
    """A part of the work, with the seconds that it is to take."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Plan:
    """One way to fit least squares, with what it needs.

    way : how the work is done
    side : "primal" solves for one weight a feature, "dual" for one coefficient a row
    solver : who solves
    rows, columns, outputs : of the data
    features : of the lift, or how many landmarks or random features; None where the way has none
    operations : floating-point operations, about
    bytes : memory at the peak beyond the data, about
    seconds : time, about
    stages : the parts of the work, in order
    rank : of the preconditioner of conjugate gradients; 0 without one
    batch : how many rows are held at once by ways that stream
    sample : how many rows alpha (and the lengthscale) are chosen from; None where all rows judge, or nothing is chosen
    gives_up : what the model is not, in words; "" where nothing is given up
    reason : why this one
    others : the ways not chosen, with the reason of each

    >>> from mercer.solvers import Cholesky
    >>> plan = Plan("direct", "dual", Cholesky(), 10_000, 8, 1, None, 3.4e11, 840_000_000, 5.0)
    """

    way: Way
    side: Side
    solver: Solver
    rows: int
    columns: int
    outputs: int
    features: int | None
    operations: float
    bytes: int
    seconds: float
    stages: tuple[Stage, ...] = ()
    rank: int = 0
    batch: int = 0
    sample: int | None = None
    gives_up: str = ""
    reason: str = ""
    others: tuple[Plan, ...] = field(default=(), repr=False)

    @property
    def exact(self) -> bool:
        """Whether the model is that of the kernel itself, not of an approximation to it."""
        return self.way in ("direct", "conjugate gradients", "one pass")

    @property
    def unknowns(self) -> int:
        """The size of the system: rows in the dual, features in the primal."""
        return self.features if self.side == "primal" and self.features is not None else self.rows

    def __str__(self) -> str:
        size = f"{self.unknowns} unknowns, {self.operations:.1e} operations, {text_of(self.bytes)}"
        lines = [f"{self.side} with {self.solver}: {size}. {self.reason}".rstrip()]
        return "\n".join(lines + [f"  not chosen: {str(other).rstrip('. ')}" for other in self.others])
