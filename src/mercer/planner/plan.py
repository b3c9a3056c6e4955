"""The plan: the chosen way to fit, what it will cost, and the ways not chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mercer.planner.html import ShownPlan
from mercer.solvers.ridge.base import Solver

Side = Literal["primal", "dual"]
Way = Literal["direct", "conjugate gradients", "one pass", "nystrom", "nystrom iterative", "random features"]
"""direct: a stored matrix; conjugate gradients: products with a matrix that is not stored, exact; one pass: sums over
the features of a lift, exact; the others: the same for features that approximate the kernel."""
EXACT: tuple[Way, ...] = ("direct", "conjugate gradients", "one pass")
"""The ways whose model is that of the kernel, or of the lift that was given."""


@dataclass(frozen=True)
class Stage:
    """A part of the work, with the seconds that it is to take.

    >>> from mercer.planner import Stage
    >>> Stage("solve", 6.1)
    Stage(name='solve', seconds=6.1)
    """

    name: str
    seconds: float


@dataclass(frozen=True)
class Plan(ShownPlan):
    """One way to fit least squares, with what it needs; `print` shows it beside the others.

    way : how the work is done
    side : "primal" solves for one weight per feature, "dual" for one coefficient per row
    solver : the solver
    rows, columns, outputs : of the data
    features : of the lift, or how many landmarks or random features; None where the way has none
    operations : floating-point operations, about
    bytes : memory at the peak beyond the data, about
    seconds : time, about
    stages : the parts of the work, in order
    rank : of the preconditioner of conjugate gradients; 0 without one
    batch : how many rows are held at once by ways that stream
    drawn : how many rows landmarks are drawn from; 0 where none are
    sample : how many rows alpha (and the lengthscale) are chosen from; None where all rows judge, or nothing is chosen
    gives_up : what the model is not, in words; "" where nothing is given up
    reason : why this one; of one that was not chosen, why not
    others : the ways not chosen

    >>> from mercer.solvers import Cholesky, Eigen
    >>> eigen = Plan("direct", "dual", Eigen(), 10_000, 8, 1, None, 9e12, 2_400_000_000, 250.0, reason="slower")
    >>> stages = Stage("kernel matrix", 0.3), Stage("solve", 6.1)
    >>> needs = {"operations": 3.4e11, "bytes": 800_000_000, "seconds": 6.4, "stages": stages}
    >>> said = {"reason": "This kernel has no finite feature map that is known.", "others": (eigen,)}
    >>> print(Plan("direct", "dual", Cholesky(), 10_000, 8, 1, None, **needs, **said))
    least squares on 10,000 rows x 8 columns, 1 output: direct, kernel matrix, Cholesky
         way                                time     memory  gives up
      -> direct, kernel matrix, Cholesky   6.4 s  762.9 MiB  nothing
         direct, kernel matrix, Eigen    4.2 min    2.2 GiB  nothing
      stages: kernel matrix 0.3 s, solve 6.1 s
      why: This kernel has no finite feature map that is known.
      why not direct, kernel matrix, Eigen: slower
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
    drawn: int = 0
    sample: int | None = None
    gives_up: str = ""
    reason: str = ""
    others: tuple[Plan, ...] = field(default=(), repr=False)

    @property
    def exact(self) -> bool:
        """Whether the model is that of the kernel itself, not of an approximation to it."""
        return self.way in EXACT

    @property
    def unknowns(self) -> int:
        """The size of the system: rows in the dual, features in the primal."""
        return self.features if self.side == "primal" and self.features is not None else self.rows

    def record(self) -> dict[str, str | int | float | None]:
        """Plain values, from which `restored` makes the plan again, without the ways that were not chosen."""
        from mercer.planner.record import recorded

        return recorded(self)

    @classmethod
    def restored(cls, record: Mapping[str, Any], who: str = "A plan") -> Plan:
        """The plan of a record; an error in the name of `who` where it holds none."""
        from mercer.planner.record import restored

        return restored(record, who)

    def __str__(self) -> str:
        from mercer.planner.explain import explain

        return explain(self)
