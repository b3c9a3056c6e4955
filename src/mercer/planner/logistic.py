"""The plan of logistic regression: on the kernel matrix, on the features of a lift, or on landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mercer.compute.runtime.memory import Budget, text_of
from mercer.planner.html import ShownPlan
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import Stage
from mercer.planner.task import Task

LogisticWay = Literal["kernel matrix", "features", "landmarks"]
WHOLE = 3000
"""Rows up to which the kernel matrix is decomposed, and features up to which a lift is used unasked."""
RANKS = (1000, 500, 250, 125, 64, 32)
"""How many landmarks there are where nobody says: the first number that memory and time allow."""
MANY = 1e8
"""Pairs of rows above which the machine is measured."""
STEPS, PRODUCTS = 12.0, 12.0
"""Steps of Newton's method that are expected, and conjugate gradients in each."""
THIN = 4.0
"""How often a table is moved in a product with a few columns, which BLAS does in copies."""
FACTORS = 2.0
"""How often second derivatives are stored anew."""
TABLES = 10.0
"""Tables of a number per row and class that are held."""
WRITTEN = 6.0
"""Such tables that are written for each conjugate gradient."""
HELD, DRAWN = float(1 << 25), 4.0
"""Numbers that are held while landmarks are drawn, and rows a landmark that they are drawn from, at least."""
BLOCKS = float(3 << 22)
"""Numbers of blocks that pass by."""


@dataclass(frozen=True)
class LogisticPlan(ShownPlan):
    """One way to fit logistic regression, and what it is to take.

    way : "kernel matrix" and "features" are exact; "landmarks" approximates the kernel
    features : how many unknowns an output has, at most
    bytes, seconds : beyond the data, about

    >>> stages = Stage("landmarks", 0.8), Stage("decompose", 0.5), Stage("newton", 2.0)
    >>> print(LogisticPlan("landmarks", 20_000, 54, 7, 1000, 180_000_000, 3.3, stages))
    logistic regression on 20,000 rows x 54 columns, 7 outputs: landmarks (1,000), about 3.3 s and 171.7 MiB
    """

    way: LogisticWay
    rows: int
    columns: int
    outputs: int
    features: int
    bytes: int
    seconds: float
    stages: tuple[Stage, ...]

    @property
    def exact(self) -> bool:
        """Whether the model is that of the kernel itself, or of the lift that was given."""
        return self.way != "landmarks"

    def __str__(self) -> str:
        many = f"{self.outputs} output{'s' * (self.outputs != 1)}"
        what = f"logistic regression on {self.rows:,} rows x {self.columns:,} columns, {many}: {self.way}"
        return f"{what} ({self.features:,}), about {self.seconds:.2g} s and {text_of(self.bytes)}"


def logistic(who: str, task: Task, rank: int | None, budget: Budget, seconds: float | None) -> LogisticPlan:
    """The first way that fits into memory and time; an error where none fits into memory.

    task : `approximable` where landmarks can stand for the kernel, `lift_given` where its features are those of a lift
    rank : how many landmarks were asked for
    seconds : the time limit; half of it may be planned with
    """
    machine = Machine.here() if float(task.rows) ** 2 > MANY else ROUGH
    limits = Limits(budget.bytes, seconds, machine)
    ways = [_way(task, way, features, limits) for way, features in _candidates(task, rank)]
    fitting = [way for way in ways if budget.allows(way.bytes)]
    if not fitting:
        least = min(ways, key=lambda way: way.bytes)
        purpose = f"{least.way} of {task.rows:,} rows ({least.features:,} a row)"
        budget.require(least.bytes, purpose, _remedy(task, least))
    in_time = [way for way in fitting if seconds is None or way.seconds <= seconds / 2]
    return in_time[0] if in_time else min(fitting, key=lambda way: way.seconds)


def _candidates(task: Task, rank: int | None) -> list[tuple[LogisticWay, int]]:
    """Ways, the best first, with the number of their features."""
    n = task.rows
    if task.lift_given:
        return [("features", task.width)]
    if not task.approximable:
        return [("kernel matrix", n)]
    found: list[tuple[LogisticWay, int]] = []
    if task.countable and 0 < task.width <= min(n, WHOLE if rank is None else max(rank, 1)):
        found.append(("features", task.width))
    if n <= WHOLE if rank is None else rank >= n:
        found.append(("kernel matrix", n))
    if rank is not None:
        return found or [("landmarks", rank)]
    few = [("landmarks", min(each, n)) for each in RANKS]
    return [*found, *few]  # type: ignore[list-item]


def _remedy(task: Task, way: LogisticPlan) -> str:
    if way.way == "kernel matrix":
        return "Give n_landmarks=500, say." if task.approximable else "Use fewer rows."
    return "Use fewer features, or fewer rows." if task.lift_given else "Use fewer landmarks, or fewer rows."


def _way(task: Task, way: LogisticWay, p: int, limits: Limits) -> LogisticPlan:
    n, t, machine = float(task.rows), task.outputs, limits.machine
    classes, pair = max(t, 2), limits.pair(task, double=True)
    newton = Stage("newton", _newton(n, p, t, limits))
    numbers = TABLES * n * classes + BLOCKS
    if way == "kernel matrix":
        building = pair * n**2 / 2 + machine.store(n**2)
        stages = (Stage(way, building), Stage("decompose", machine.eigenvectors(task.rows)), newton)
        numbers += 3 * n**2
    else:
        drawn = n if n * p <= HELD else max(HELD / p, DRAWN * p)
        landmarks = way == "landmarks"
        building = pair * n * p + machine.multiply(n * float(p) ** 2) if landmarks else 0.0
        squares = Stage("decompose", machine.multiply(n * float(p) ** 2) + machine.eigenvectors(p))
        stages = (Stage(way, building + machine.store(2 * n * p)), squares, newton)
        numbers += (n * p + (drawn * p if drawn < n else 0.0) if landmarks else 2 * n * p) + 4.0 * p**2
    numbers += min(t * float(p) ** 2, n * p)
    seconds = sum(stage.seconds for stage in stages)
    return LogisticPlan(way, task.rows, task.columns, t, p, int(8 * numbers), seconds, stages)


def _newton(n: float, p: int, outputs: int, limits: Limits) -> float:
    """Seconds of all steps: the features are read twice for each conjugate gradient, and multiplied with themselves."""
    machine = limits.machine
    reading = machine.read(n * p) * (THIN if outputs > 1 else 1.0)
    product = 2 * max(reading, machine.multiply(2 * n * p * outputs))
    each = product + machine.store(WRITTEN * n * outputs) + 20 * machine.call
    factors = outputs * (machine.multiply(n * float(p) ** 2) + machine.cholesky(p))
    return STEPS * PRODUCTS * each + FACTORS * factors
