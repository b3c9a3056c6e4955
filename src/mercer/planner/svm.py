"""The plan of an SVM: exact, row by row of the kernel matrix, or on landmarks where rows are too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mercer.compute.runtime.memory import Budget, text_of
from mercer.planner.html import ShownPlan
from mercer.planner.limits import Limits
from mercer.planner.machine import Machine
from mercer.planner.plan import Stage

MarginWay = Literal["exact", "features", "landmarks"]
SOLVING, POLISHING = "coefficients", "polish"
"""The stages of a fit, by name; features, or landmarks, are one that is named as its way."""
PATIENCE = 1800.0
"""Seconds up to which "auto" is exact, where no time limit is given."""
MOST = 100_000
"""Rows up to which "auto" is exact."""
SUPPORT, COMPUTED = 0.4, 0.4
"""The part of the rows that is expected to be support, and of the matrix to be computed, some of it more than once."""
TOUCHED = 4.0
"""How often each row of the matrix that is kept is read."""
STEPS, STEP = 10.0, 1.5e-6
"""Steps of pairs for each row, and seconds of one in compiled code."""
SET, SPARE, NARROW = 1024, 4, 512
"""Rows of a working set, how many of these are kept at least, and from how many rows on float32 is kept."""
POOL = 1.2e9
"""Bytes of rows that are kept, at most: where memory is slow when it is new, more took longer than computing again."""
VECTORS = 24
"""Vectors of the length of the data that a solver holds, about."""
SHARE = 0.8
"""The part of the memory that rows of the matrix, or features, may take."""
KEPT = 4096
"""Rows up to which the matrix is computed once, where several functions are learned from it, and it fits."""
OUT, OWN = 4, 14
"""Numbers for each row and function that the model is made of, at its end; and for each row of a function's own."""
RANK = 2000
"""Landmarks, where nobody says how many."""
PASSES, SCATTERED = 30.0, 10.0
"""Passes of coordinate descent that are expected, and how much longer one core takes for rows in random order."""
DRAWN = float(1 << 25)
"""Numbers that the choice of landmarks holds, about."""


@dataclass(frozen=True)
class MarginTask:
    """What is to be planned.

    rows, columns : of the data
    sizes : rows of each function that is to be learned
    filled : numbers of a row that are not zero, where rows are sparse; else the columns
    features : of the lift that was given; None for a kernel
    stored : whether the whole kernel matrix must be stored: it was given, or has to be looked through
    approximable : whether landmarks can stand for the kernel
    polish : whether what landmarks lead to is made exact on the margin
    """

    rows: int
    columns: int
    sizes: tuple[int, ...]
    filled: float
    features: int | None = None
    stored: bool = False
    approximable: bool = True
    polish: bool = False


@dataclass(frozen=True)
class MarginPlan(ShownPlan):
    """How an SVM is fitted, and what that is to take, if two fifths of the rows are support.

    way : "exact" has the kernel itself, "landmarks" stand in its place, "features" are those of the lift that was given
    functions : how many functions are learned: one, or one for each class or pair of classes
    rank : how many features there are; 0 where the way has none
    pool : bytes of rows of the kernel matrix that are kept
    bytes : memory at the peak beyond the data, about
    reason : why this way
    whole : whether the kernel matrix is computed once, for all functions

    >>> print(MarginPlan("exact", 5_000, 10, 1, 0, 10**8, 10**8, 1.2, (), "It is exact."))
    margins on 5,000 rows x 10 columns, 1 function: exact, about 1.2 s and 95.4 MiB
      why: It is exact.
    """

    way: MarginWay
    rows: int
    columns: int
    functions: int
    rank: int
    pool: int
    bytes: int
    seconds: float
    stages: tuple[Stage, ...]
    reason: str
    whole: bool = False

    def __str__(self) -> str:
        what = f"margins on {self.rows:,} rows x {self.columns:,} columns, {self.functions} function"
        how = f"{self.way} ({self.rank:,})" if self.rank else self.way
        takes = f"about {self.seconds:.2g} s and {text_of(self.bytes)}"
        return f"{what}{'s' * (self.functions != 1)}: {how}, {takes}\n  why: {self.reason}"


def margins(
    who: str, task: MarginTask, way: str, rank: int | None, budget: Budget, seconds: float | None = None
) -> MarginPlan:
    """The plan; an error where not even the least of it fits the memory.

    way : "auto", "exact" or "landmarks"
    rank : how many landmarks; None for as many as are worth it, and fit
    seconds : the time limit, or None
    """
    limits = Limits(machine=Machine.here()) if float(task.rows) ** 2 > 1e8 else Limits()
    exact, least = _exact(task, budget, limits)
    patience = PATIENCE if seconds is None else min(PATIENCE, seconds)
    why = _too_much(task, exact, least, budget, patience) if way == "auto" and task.approximable else ""
    if way == "landmarks" or why:
        plan = _featured(task, rank, budget, limits, why or "It was asked for.")
        remedy = f"Up to {max(1, _rank_that_fits(task, budget)):,} landmarks fit: set n_landmarks."
        budget.require(plan.bytes, f"{plan.rank:,} features of {task.rows:,} rows", remedy)
        return plan
    remedy = 'Use fewer rows, or method="landmarks".' if task.approximable else "Use fewer rows."
    budget.require(least, f"rows of the kernel matrix of {max(task.sizes):,} rows", remedy)
    return exact


def _too_much(task: MarginTask, exact: MarginPlan, least: int, budget: Budget, patience: float) -> str:
    """Why the exact way is too much; "" where it is not."""
    if not budget.allows(least):
        return f"The exact way needs {text_of(least)}, and {budget} may be used."
    if task.rows > MOST:
        return f"The exact way is for {MOST:,} rows or less."
    if exact.seconds > patience:
        return f"The exact way would take about {exact.seconds:.0f} s."
    return ""


def _exact(task: MarginTask, budget: Budget, limits: Limits) -> tuple[MarginPlan, int]:
    """The exact way, with as many rows of the matrix as fit, and the bytes that it needs at least."""
    largest, solving = max(task.sizes), sum(_seconds(task, size, limits) for size in task.sizes)
    item = 4 if largest >= NARROW else 8
    held, matrix = _held(task, largest), _matrix(task)
    least = item * min(largest, SPARE * SET) * largest
    whole = matrix > 0 and budget.allows(held + least + matrix)
    held += matrix * whole
    pool = int(max(least, min(item * largest**2, POOL, SHARE * budget.bytes - held)))
    plan = MarginPlan(
        way="exact",
        rows=task.rows,
        columns=task.columns,
        functions=len(task.sizes),
        rank=0,
        pool=pool,
        bytes=pool + held,
        seconds=solving,
        stages=(Stage(SOLVING, solving),),
        reason="It has the kernel itself, and fits.",
        whole=whole,
    )
    return plan, least + held - matrix * whole


def _held(task: MarginTask, largest: int) -> int:
    """Bytes beside the rows that are kept: vectors, a working set, features, and a matrix that must be stored."""
    features = 3 * task.rows * (task.features or 0)
    matrix = 2 * task.rows**2 if task.stored else 0
    return 8 * (VECTORS * task.rows + 2 * min(largest, SET) ** 2 + features + matrix + _of_functions(task))


def coefficients(rows: int, functions: int) -> int:
    """Bytes of the coefficients of all functions, when the model is made of them."""
    return 8 * OUT * rows * functions


def _of_functions(task: MarginTask) -> int:
    """Numbers of what is found for each function, where there are several."""
    several = len(task.sizes) > 1
    return (coefficients(task.rows, len(task.sizes)) // 8 + OWN * sum(task.sizes)) * several


def _matrix(task: MarginTask) -> int:
    """Bytes of the matrix that is computed once for several functions, and of a part of it; 0 where it never is."""
    if len(task.sizes) == 1 or task.stored or task.features is not None or task.rows > KEPT:
        return 0
    return 8 * (task.rows**2 + max(task.sizes) ** 2)


def _seconds(task: MarginTask, size: int, limits: Limits) -> float:
    """Seconds for one function on so many rows."""
    machine, pairs = limits.machine, float(size) ** 2
    if task.features is None:
        values = machine.pairs(COMPUTED * pairs, int(task.filled), single=True)
        last = machine.pairs(SUPPORT * pairs, int(task.filled))
    else:
        values = machine.multiply(2 * COMPUTED * pairs * task.features, single=True)
        last = machine.multiply(2 * SUPPORT * pairs * task.features)
    step = STEP if size >= 200 else 30 * machine.call
    return values + last + machine.read(TOUCHED * SUPPORT * pairs / 2) + STEPS * size * step


# -- landmarks --------------------------------------------------------------------------------------------------------


def _featured(task: MarginTask, rank: int | None, budget: Budget, limits: Limits, reason: str) -> MarginPlan:
    """Features of landmarks, or those of the lift that was given."""
    wanted = min(RANK, max(1, task.rows // 2), max(1, _rank_that_fits(task, budget)))
    found = task.features or min(rank or wanted, task.rows)
    machine, n, k = limits.machine, float(task.rows), float(found)
    drawn = min(n, max(4 * k, DRAWN / k)) if task.features is None else 0.0
    choosing = machine.multiply(drawn * k**2) + machine.pairs(n * k, int(task.filled)) + machine.multiply(n * k**2)
    descent = PASSES * SCATTERED * machine.read(sum(task.sizes) * k / 2)
    way: MarginWay = "landmarks" if task.features is None else "features"
    stages: tuple[Stage, ...] = (Stage(way, choosing), Stage(SOLVING, descent))
    pool, needed, whole = 0, _bytes(task, found), False
    if task.polish:
        whole = _matrix(task) > 0 and budget.allows(needed + _matrix(task))
        needed += _matrix(task) * whole
        stages = (*stages, Stage(POLISHING, sum(_seconds(task, size, limits) for size in task.sizes)))
        pool = int(max(0.0, min(POOL, 4.0 * max(task.sizes) ** 2, SHARE * budget.bytes - needed)))
    return MarginPlan(
        way=way,
        rows=task.rows,
        columns=task.columns,
        functions=len(task.sizes),
        rank=found,
        pool=pool,
        bytes=needed + pool,
        seconds=sum(stage.seconds for stage in stages),
        stages=stages,
        reason=f"{reason} duality_gap_ says how far the model is from the exact one.",
        whole=whole,
    )


def _bytes(task: MarginTask, rank: int) -> int:
    """Bytes of features in float32, of some of them again for each function, of landmarks, and of vectors."""
    copies = 2 if len(task.sizes) > 1 else 1
    drawn = int(min(DRAWN, task.rows * rank))
    return 4 * copies * task.rows * rank + 8 * (3 * rank**2 + VECTORS * task.rows + drawn + _of_functions(task))


def _rank_that_fits(task: MarginTask, budget: Budget) -> int:
    low, high = 0, task.rows + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _bytes(task, middle) <= SHARE * budget.bytes else (low, middle)
    return low
