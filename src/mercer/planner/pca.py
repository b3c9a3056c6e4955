"""The plan of principal components: by the kernel matrix, by products with it, or in features, also of landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mercer.compute.runtime.memory import Budget, text_of
from mercer.errors import InputError, message
from mercer.planner.batches import batch, features_at_once, squaring, strips
from mercer.planner.html import ShownPlan
from mercer.planner.landmarks import drawing, drawn_from, drawn_numbers
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import Stage
from mercer.planner.task import Task

ComponentWay = Literal["exact", "krylov", "features", "landmarks"]
WHOLE = 3000
"""Rows up to which the kernel matrix is decomposed, and features up to which a lift is used unasked."""
RANKS = (1000, 500, 250, 125, 64, 32)
"""How many landmarks there are where nobody says: the first number that memory and time allow."""
MANY = 1e8
"""Pairs of rows above which the machine is measured."""
PATIENCE = 600.0
"""Seconds up to which components are exact, where no time limit is given."""
FAST, TRUE = 5.0, 2.0
"""Products in float32 and in float64 that are expected: more where eigenvalues lie close together."""
BEYOND, BASIS, TABLES = 6, 64, 6.0
"""Vectors beyond those asked for, columns of a basis beyond a block, and blocks that are held beside it."""
OPENING = 48, 1024
"""The start of products has a landmark for each so many rows, and so many at most."""
WIDTH, SPARE = 4, 8
"""... and for each component so many at least; each is drawn from so many rows, since products mend what it lacks."""
BLOCKS = float(3 << 22)
"""Numbers of blocks that pass by when a matrix is multiplied or decomposed."""


@dataclass(frozen=True)
class ComponentTask:
    """What is to be planned.

    rows, columns : of the data
    components : how many are asked for; None for all
    features : of the finite lift; None where there is none
    lift_given : whether the features are those of a lift that was given
    approximable : whether landmarks can stand for the kernel
    given : whether the kernel matrix was given
    stored : whether the rows are in memory
    worth : columns of numbers that take as long, where these hold structured data
    """

    rows: int
    columns: int
    components: int | None
    features: int | None = None
    lift_given: bool = False
    approximable: bool = True
    given: bool = False
    stored: bool = True
    worth: int | None = None

    @property
    def effort(self) -> int:
        """Columns of numbers that take as long as these."""
        return self.columns if self.worth is None else self.worth

    @property
    def found(self) -> int:
        """How many components come out, at most."""
        return self.rows if self.components is None else min(self.components, self.rows)

    def task(self, width: int) -> Task:
        """The same for features, as ways that stream are planned."""
        return Task(self.rows, self.columns, 1, width, stored=self.stored)


@dataclass(frozen=True)
class ComponentPlan(ShownPlan):
    """One way to find principal components, and what it is to take.

    way : "exact" decomposes the kernel matrix, "krylov" multiplies with it and stores nothing of its size, "features"
        are those of a lift; these three are exact. "landmarks" approximates the kernel
    components : how many are asked for; 0 for all
    rank : how many features or landmarks there are; for "krylov", how many landmarks it begins with
    batch : rows that pass by at once, where they do
    drawn : rows that landmarks are drawn from; 0 where there are none
    bytes, seconds : beyond the data, about

    >>> stages = Stage("landmarks", 0.3), Stage("components", 2.1)
    >>> print(ComponentPlan("krylov", 20_000, 10, 10, 625, 0, 20_000, 90_000_000, 2.4, stages))
    principal components of 20,000 rows x 10 columns, 10 of them: krylov, about 2.4 s and 85.8 MiB
    """

    way: ComponentWay
    rows: int
    columns: int
    components: int
    rank: int
    batch: int
    drawn: int
    bytes: int
    seconds: float
    stages: tuple[Stage, ...]

    @property
    def exact(self) -> bool:
        """Whether they are those of the kernel itself, or of the lift that was given."""
        return self.way != "landmarks"

    def __str__(self) -> str:
        many = f"{self.components:,}" if self.components else "all"
        what = f"principal components of {self.rows:,} rows x {self.columns:,} columns, {many} of them"
        how = f"{self.way} ({self.rank:,})" if self.way in ("features", "landmarks") else self.way
        return f"{what}: {how}, about {self.seconds:.2g} s and {text_of(self.bytes)}"


def components(
    who: str, task: ComponentTask, way: str, rank: int | None, budget: Budget, seconds: float | None
) -> ComponentPlan:
    """The first way that fits into memory and time; an error where none fits into memory.

    way : "auto", or the way that was asked for
    rank : how many landmarks were asked for
    seconds : the time limit
    """
    machine = Machine.here() if float(task.rows) ** 2 > MANY else ROUGH
    limits = Limits(budget.bytes, seconds, machine)
    ways = _candidates(task, way, rank, limits)
    if not ways:
        got = "the kernel is precomputed" if task.given else "it is not known to be one for so many columns"
        remedy = 'Use method="exact", without n_landmarks, and rows in memory.'
        raise InputError(message("a kernel that landmarks can stand for", got, remedy))
    fitting = [each for each in ways if budget.allows(each.bytes)]
    if not fitting:
        least = min(ways, key=lambda each: each.bytes)
        size = f" ({least.rank:,} a row)" if least.way in ("features", "landmarks") else ""
        budget.require(least.bytes, f"{least.way} components of {task.rows:,} rows{size}", _remedy(task, least))
    patience = PATIENCE if seconds is None else seconds / 2
    in_time = [each for each in fitting if each.seconds <= patience]
    return in_time[0] if in_time else min(fitting, key=lambda each: each.seconds)


def _remedy(task: ComponentTask, way: ComponentPlan) -> str:
    if way.way == "landmarks":
        return "Use fewer landmarks, or fewer components."
    if way.way == "features":
        return "Use fewer features."
    if task.components is None:
        return "Ask for fewer components."
    return 'Use method="landmarks".' if task.approximable else "Use fewer rows, or ask for fewer components."


# -- which ways there are ---------------------------------------------------------------------------------------------


def _candidates(task: ComponentTask, way: str, rank: int | None, limits: Limits) -> list[ComponentPlan]:
    """Ways, the best first."""
    if task.lift_given:
        return [_features(task, task.features or 1, limits)]
    if way == "exact":
        return [_dense(task, limits)]
    if way == "krylov":
        return [_krylov(task, limits)]
    landmarks = [_landmarks(task, each, limits) for each in _ranks(task, rank)] if task.approximable else []
    if way == "landmarks":
        return landmarks
    lifted = _lifted(task, rank, limits)
    if not task.stored or (rank is not None and rank < task.rows):
        return lifted or landmarks
    return [*lifted, *_exact(task, limits), *landmarks]


def _lifted(task: ComponentTask, rank: int | None, limits: Limits) -> list[ComponentPlan]:
    """The features of the kernel, where these are few."""
    most = min(task.rows, WHOLE) if rank is None else rank
    known = task.features is not None and task.approximable and 0 < task.features <= most
    return [_features(task, task.features or 1, limits)] if known else []


def _exact(task: ComponentTask, limits: Limits) -> list[ComponentPlan]:
    """By the matrix, or by products with it: for few rows in this order, else the quicker one first."""
    dense = _dense(task, limits)
    if task.components is None:
        return [dense]
    both = [dense, _krylov(task, limits)]
    return both if task.rows <= WHOLE else sorted(both, key=lambda each: each.seconds)


def _ranks(task: ComponentTask, rank: int | None) -> list[int]:
    """How many landmarks are tried: at least as many as components are asked for."""
    if rank is not None:
        return [min(rank, task.rows)]
    least = task.components or 1
    return sorted({min(max(each, least), task.rows) for each in RANKS}, reverse=True)


# -- what they take ---------------------------------------------------------------------------------------------------


def _plan(
    task: ComponentTask,
    way: ComponentWay,
    rank: int,
    numbers: float,
    stages: tuple[Stage, ...],
    rows: int = 0,
    drawn: int = 0,
) -> ComponentPlan:
    seconds = sum(stage.seconds for stage in stages)
    asked = task.components or 0
    shape = task.rows, task.columns, asked
    return ComponentPlan(way, *shape, rank, rows, drawn, int(8 * numbers), seconds, stages)


def _pairs(task: ComponentTask, limits: Limits, single: bool = False) -> float:
    """Seconds for all pairs of rows: each is computed once, or read where the matrix was given."""
    pairs = float(task.rows) ** 2
    return limits.machine.read(pairs) if task.given else limits.machine.pairs(pairs / 2, task.effort, single)


def _dense(task: ComponentTask, limits: Limits) -> ComponentPlan:
    machine, n, k = limits.machine, float(task.rows), task.found
    checking = 0.0 if task.approximable else machine.cholesky(task.rows)
    stages = (
        Stage("kernel matrix", _pairs(task, limits) + machine.store(n**2) + checking),
        Stage("decompose", machine.eigenvectors(task.rows)),
        Stage("residuals", _pairs(task, limits) + machine.multiply(2 * n**2 * k)),
    )
    return _plan(task, "exact", 0, 3 * n**2 + 3 * n * k + min(n**2, BLOCKS), stages)


def opening(rows: int, count: int) -> int:
    """How many landmarks a start of so many components is made of."""
    share, most = OPENING
    return min(rows, max(WIDTH * (count + BEYOND), min(rows // share, most)))


def _krylov(task: ComponentTask, limits: Limits) -> ComponentPlan:
    machine, n = limits.machine, float(task.rows)
    width = min(task.found + BEYOND, task.rows)
    rank = opening(task.rows, task.found) if task.approximable else 0
    drawn = min(task.rows, SPARE * rank)
    start = drawing(task.task(rank), drawn, rank, limits) if rank else 0.0
    start += machine.pairs(2 * n * rank, task.effort) + machine.multiply(n * float(rank) ** 2)
    product = _pairs(task, limits) + machine.multiply(2 * n**2 * width)
    fast = _pairs(task, limits, single=True) + machine.multiply(2 * n**2 * width, single=True)
    work = (FAST * fast + TRUE * product) if task.approximable else (FAST + TRUE) * product
    stages = (Stage("landmarks", start), Stage("components", work))
    basis = 2 * n * (width + max(width, BASIS)) + TABLES * n * (width + 1)
    numbers = max(basis + (n**2 if task.given else 0.0), drawn_numbers(drawn, rank)) + BLOCKS
    return _plan(task, "krylov", rank, numbers, stages, drawn=drawn)


def _features(task: ComponentTask, width: int, limits: Limits) -> ComponentPlan:
    held = batch(task.task(width), _sums(task, width), features_at_once(width), limits)
    machine, entries = limits.machine, float(task.rows) * width
    stages = (
        Stage("pass", machine.store(2 * entries) + machine.multiply(entries * width)),
        Stage("decompose", machine.eigenvectors(width)),
        Stage("signs", machine.store(2 * entries) + machine.multiply(2 * entries * min(task.found, width))),
    )
    return _plan(task, "features", width, held.numbers, stages, held.rows)


def _landmarks(task: ComponentTask, rank: int, limits: Limits) -> ComponentPlan:
    machine, entries = limits.machine, float(task.rows) * rank
    drawn = drawn_from(task.rows, rank, limits)
    held = batch(task.task(rank), _sums(task, rank), strips(rank, squaring(rank), rank), limits)
    values = machine.pairs(entries, task.effort)
    stages = (
        Stage("landmarks", drawing(task.task(rank), drawn, rank, limits)),
        Stage("pass", values + machine.multiply(entries * rank)),
        Stage("decompose", machine.eigenvectors(rank) + machine.multiply(4 * float(rank) ** 3)),
        Stage("signs", values + machine.multiply(2 * entries * min(task.found, rank))),
    )
    numbers = max(held.numbers, drawn_numbers(drawn, rank))
    return _plan(task, "landmarks", rank, numbers, stages, held.rows, drawn)


def _sums(task: ComponentTask, width: int) -> float:
    """Numbers of the sums over all rows, of their decomposition, and of the weights of components."""
    return max(5, squaring(width) + 1) * float(width) ** 2 + 4.0 * width * min(task.found, width)
