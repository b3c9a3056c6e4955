"""What only plans of least squares hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mercer.errors import number_of
from mercer.planner.plan import Details, Plan
from mercer.solvers import Solver
from mercer.solvers.ridge.price import Price

Side = Literal["primal", "dual"]
GRID = "fourier grid"
"""The method of a grid of frequencies."""
DIGITS = 1e-8
"""The error of kernel values, in units of k(x, x), from which on a grid is the kernel to the digits that count."""
GOOD = 1e-3
"""The error up to which a grid is taken before any number of landmarks."""


@dataclass(frozen=True)
class RidgeDetails(Details):
    """What only plans of least squares hold.

    direct: a stored matrix; state space: two sweeps over one column, exact; conjugate gradients: products with a matrix
    that is not stored, exact; one pass: sums over the features of a lift, exact; fourier grid: sums over waves, by fast
    transforms; the others: the same for features that approximate the kernel.

    Parameters
    ----------
    side : {"primal", "dual"}
        Whether one weight per feature is solved for, or one coefficient per row.
    solver : Solver
        Of the linear system.
    operations : float, default=0.0
        Floating-point operations, about.
    rank : int, default=0
        Of the preconditioner of conjugate gradients, or the components of states; 0 without one.
    batch : int, default=0
        How many rows are held at once by methods that stream.
    drawn : int, default=0
        How many rows landmarks are drawn from; 0 where none are.
    sample : int or None, default=None
        How many rows alpha (and the lengthscale) are chosen from; None where all rows judge, or nothing is chosen.
    step, column, pivot, square : float, default=0.0
        Seconds of a step of conjugate gradients at a graphics card; and of the rank of their preconditioner: of each
        column in a step, of each pivot, and of the rank squared. With these the rank is weighed while pivots are taken,
        and `rank` is what is expected. 0 where the rank is as planned.
    epsilon : float, default=0.0
        The error of kernel values of a grid of frequencies, at most, in units of k(x, x).
    """

    task: ClassVar[str] = "least squares"
    methods: ClassVar[tuple[str, ...]] = (
        "direct", "state space", "conjugate gradients", "one pass",
        "nystrom", "nystrom iterative", "random features", GRID
    )  # fmt: skip

    side: Side
    solver: Solver
    operations: float = 0.0
    rank: int = 0
    batch: int = 0
    drawn: int = 0
    sample: int | None = None
    step: float = 0.0
    column: float = 0.0
    pivot: float = 0.0
    square: float = 0.0
    epsilon: float = 0.0

    @property
    def price(self) -> Price | None:
        """By which the rank of a preconditioner is weighed; None where it is as planned."""
        return Price(self.step, self.column, self.pivot, self.square) if self.step > 0 else None

    def describe(self, plan: RidgePlan) -> str:
        """The method of a plan in a few words."""
        features, landmarks = number_of(plan.n_features, "feature"), number_of(plan.n_landmarks, "landmark")
        if plan.method == "direct":
            table = features if self.side == "primal" else "kernel matrix"
            return f"direct, {table}, {type(self.solver).__name__}"
        return {
            "state space": f"state space, {number_of(self.rank, 'component')}",
            "conjugate gradients": f"conjugate gradients, rank {'about ' * (self.step > 0)}{self.rank:,}",
            "one pass": f"one pass, {features}",
            "nystrom": f"nystrom, one pass, {landmarks}",
            "nystrom iterative": f"nystrom, iterative, {landmarks}",
            "random features": f"random features, one pass, {features}",
            GRID: f"fourier grid, {features}",
        }[plan.method]


RidgePlan = Plan[RidgeDetails]


def size_of(plan: RidgePlan) -> int:
    """Landmarks, or features, of a plan; 0 where it has none."""
    return plan.n_landmarks or plan.n_features


def to_digits(plan: RidgePlan) -> bool:
    """Whether a plan's grid is the kernel, to the digits that count."""
    return plan.method == GRID and plan.details.epsilon <= DIGITS


def is_good(plan: RidgePlan) -> bool:
    """Whether a plan's grid comes before landmarks, however many."""
    return plan.method == GRID and plan.details.epsilon <= GOOD
