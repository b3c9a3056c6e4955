"""Ways that read the rows in pieces and add up: one pass over features, of a lift or of landmarks, and Falkon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mercer.compute.threads import available
from mercer.kernels.strips import height
from mercer.planner.direct import PAIR
from mercer.planner.landmarks import drawing, drawn_from, drawn_numbers, learning
from mercer.planner.limits import Limits
from mercer.planner.plan import EXACT, Plan, Stage, Way
from mercer.planner.sampling import Tuning, tuning
from mercer.planner.task import Task
from mercer.solvers import Eigen, Solver

SIZES = (100, 250, 500, 1000, 2000, 4000, 8000, 16000)
"""Landmarks, or random features, that are tried; none over half of the rows."""
BLOCK = 1 << 22
"""Numbers in a block of features, about: 32 MB."""
BATCH, COPIES = 1 << 16, 4.0
"""Rows that are read at once, at most, and how often they are held: as they came, checked, and scaled."""
WORK = 1 << 34
"""Operations between two looks at the clock, about: a fifth of a second."""
LEAST = 1024
"""Rows of a batch, where memory is short."""
OPENED = 8_000.0
"""Calls of NumPy that a batch takes, however few rows it has."""
JUDGED = 1 << 14
"""Rows whose left-out errors judge a path, where one pass does not keep all rows."""
JUDGED_AT_ONCE, TABLES = 1 << 20, 4.0
"""Numbers in a table of features of these, at once, and how many tables there are."""
STEPS, LESS, MORE = 30.0, 12.0, 9.0
"""Iterations of Falkon where alpha is not known; for alpha = n / 1000, and how many more for each tenth of that."""
WAVE = 20.0
"""Operations of a random wave for a row, beyond the two a column."""
HANDLED, STRIPPED = 7.0, 2.0
"""Numbers written for each raw function of a row, in units of fresh memory: blocks, their means taken off, copies; and
for those that never leave the cache."""
SQUARED, CHECKS = 1.2, 1.5
"""What sums of squares take in units of products of matrices; and passes that check, about: one or two."""
TRIED = 12_000.0
"""Operations for p^2 to try out how far rounding moves the predictions of p features."""
FEW, SPREAD = 4, 1 << 25
"""So many workers have sums of their own anyway: there is room for as many when they are decomposed; more workers only
where their sums are so many numbers at most (256 MB)."""
NYSTROM = ("nystrom", "nystrom iterative")
"""The ways that draw landmarks."""
APPROXIMATE = "exactness (certified)"
"""What an approximation gives up, and what it comes with."""

Sized = Callable[[Task, int, Limits], Plan]
"""A way with so many landmarks, or features."""
Row = Callable[[Task, int, Limits], float]
"""Seconds for so many raw functions of one row."""


def sizes(rows: int) -> list[int]:
    """How many landmarks are tried for so many rows."""
    return [size for size in SIZES if size <= rows // 2] or [max(1, rows // 2)]


def largest(task: Task, way: Sized, limits: Limits) -> Plan:
    """A way with the most landmarks that keep to memory and time; the quickest that fits, or else the smallest."""
    ways = [way(task, size, limits) for size in sizes(task.rows)]
    fitting = [each for each in ways if each.bytes <= limits.bytes]
    quick = [each for each in fitting if each.seconds <= limits.patience]
    return quick[-1] if quick else min(fitting, key=lambda each: each.seconds) if fitting else ways[0]


def one_pass(task: Task, limits: Limits) -> Plan:
    """Sums over the features of a finite lift: of the kernel, or one that was given, also of landmarks."""
    if task.landmarks is not None:
        return _one_pass(
            task, "one pass", task.landmarks, limits, Stage("landmarks", learning(task, limits)[0]), _pairs
        )
    return _one_pass(task, "one pass", task.width, limits, Stage("features", 0.0), _features)


def _drawing(task: Task, width: int, limits: Limits) -> Stage:
    return Stage("landmarks", drawing(task, drawn_from(task.rows, width, limits), width, limits))


def nystrom(task: Task, width: int, limits: Limits) -> Plan:
    """One pass over the values of the kernel at landmarks."""
    return _one_pass(task, "nystrom", width, limits, _drawing(task, width, limits), _pairs)


def random_features(task: Task, width: int, limits: Limits) -> Plan:
    """One pass over random waves."""
    return _one_pass(task, "random features", width, limits, Stage("features", 0.0), _waves)


def nystrom_iterative(task: Task, width: int, solver: Solver, limits: Limits) -> Plan:
    """Falkon: conjugate gradients on as many unknowns as landmarks, by products alone."""
    machine, entries, square = limits.machine, float(task.rows) * width, float(width) ** 2
    tuned = tuning(task, limits, task.tuned)
    preparing = machine.cholesky(width) + machine.multiply(square * width)
    if task.landmarks is None:
        preparing += _drawing(task, width, limits).seconds
    strips, steps = _strips(width, available(), PAIR + 4.0 * task.outputs), _steps(task)
    step = _reading(task, width, limits, _pairs, strips[2]) + machine.multiply(4 * entries * task.outputs)
    stages = (*tuned.stages, Stage("landmarks", preparing), Stage("iterations", steps * step))
    operations = steps * entries * (PAIR + 2 * task.columns + 4 * task.outputs) + 2 * square * width
    fixed = (2 if task.outputs == 1 else 4) * square + 8.0 * width * task.outputs
    costs = _Costs(stages, operations, fixed, tuned, *strips)
    return costs.plan("nystrom iterative", solver, task, width, limits)


def _steps(task: Task) -> float:
    """Iterations of Falkon: its preconditioner knows the landmarks alone."""
    if task.alpha is None or task.alpha <= 0:
        return STEPS
    return LESS + MORE * max(0.0, math.log10(1e-3 * task.rows / task.alpha))


def _one_pass(task: Task, way: Way, width: int, limits: Limits, start: Stage, row: Row) -> Plan:
    """Z'Z in one pass, all alphas from its spectrum, and a second pass that checks."""
    machine, n, square = limits.machine, task.rows, float(width) ** 2
    tuned, judged = tuning(task, limits, task.lengthscales > 1), min(n, JUDGED) if task.path else 0
    table = _strips(width, squaring(width), width) if row is _pairs else _features_at_once(width)
    reading = _reading(task, width, limits, row, table[2])
    products = machine.multiply(2.0 * n * width * task.outputs)
    solving = machine.eigenvectors(width) + machine.multiply(4.0 * judged * (square + width * task.alphas))
    solving += machine.multiply(square * (4.0 * width + TRIED))  # from raw functions to features and back, and trials
    parts = Stage("pass", reading + machine.multiply(SQUARED * n * square) + products), Stage("solve", solving)
    stages = (*tuned.stages, start, *parts, Stage("check", CHECKS * (reading + 2 * products)))
    operations = n * square + 13 * square * width + 4 * judged * square
    fixed = (
        max(5, squaring(width) + 1) * square
        + min(TABLES * judged * width, TABLES * JUDGED_AT_ONCE)
        + 4.0 * width * task.outputs
    )
    if not tuned.stages and 0 < judged < n:
        tuned = Tuning(judged, (), 0.0, f"alpha from {judged:,} rows")
    return _Costs(stages, operations, fixed, tuned, *table).plan(way, Eigen(), task, width, limits)


def squaring(width: int) -> int:
    """How many workers have sums of `width`^2 numbers each: all, or one, who has all cores, where that is too much."""
    workers = available()
    return workers if workers <= FEW or workers * width**2 <= SPREAD else 1


def _strips(width: int, workers: int, operations: float) -> tuple[int, float, int]:
    """Strips of values at landmarks, of as many rows for each worker; each value takes part in so many operations."""
    rows = workers * height(width, workers)
    return rows, float(width), rows * max(1, int(WORK / (operations * width * rows)))


def _features_at_once(width: int) -> tuple[int, float, int]:
    """Blocks of features, with what a lift holds to make them."""
    rows = max(LEAST, BLOCK // width)
    return rows, 3.0 * width, rows


@dataclass(frozen=True)
class _Costs:
    """What a way that streams takes.

    fixed : numbers that are held beside a batch
    filled, each : how many rows of a batch have their raw functions in memory at once, and how many numbers each takes
    most : rows of a batch, at most
    """

    stages: tuple[Stage, ...]
    operations: float
    fixed: float
    tuned: Tuning
    filled: int
    each: float
    most: int

    def plan(self, way: Way, solver: Solver, task: Task, width: int, limits: Limits) -> Plan:
        """The plan of these costs."""
        drawn = drawn_from(task.rows, width, limits) if way in NYSTROM and task.landmarks is None else 0
        batch = self._batch(task, limits)
        rows = COPIES * batch * (task.columns + task.outputs)
        numbers = self.fixed + rows + min(batch, self.filled) * self.each
        lost = [] if way in EXACT or task.landmarks is not None else [APPROXIMATE]
        lost += [self.tuned.gives_up] if self.tuned.gives_up else []
        return Plan(
            way=way,
            side="primal",
            solver=solver,
            rows=task.rows,
            columns=task.columns,
            outputs=task.outputs,
            features=width,
            operations=self.operations,
            bytes=int(8 * max(numbers, self.tuned.numbers, drawn_numbers(drawn, width), learning(task, limits)[1])),
            seconds=sum(stage.seconds for stage in self.stages),
            stages=self.stages,
            batch=batch,
            sample=self.tuned.sample,
            drawn=drawn,
            gives_up=", ".join(lost),
        )

    def _batch(self, task: Task, limits: Limits) -> int:
        """Rows at once: what all workers do in a while, or what the memory leaves, but never less than `LEAST`."""
        room, row = max(0.0, limits.bytes / 8 - self.fixed), COPIES * (task.columns + task.outputs)
        tall = room > self.filled * (self.each + row)
        left = (room - self.filled * self.each) / row if tall else room / (self.each + row)
        return min(task.rows, max(LEAST, int(min(self.most, BATCH, COPIES * BLOCK / row, left))))


# -- the parts --------------------------------------------------------------------------------------------------------


def _reading(task: Task, width: int, limits: Limits, row: Row, batch: int) -> float:
    """The raw functions of all rows, batch by batch."""
    batches = task.rows / min(BATCH, batch, task.rows)
    return task.rows * row(task, width, limits) + batches * OPENED * limits.machine.call


def _pairs(task: Task, width: int, limits: Limits) -> float:
    """The kernel of a row with all landmarks, stored in a block."""
    return width * (limits.pair(task) + limits.machine.store(STRIPPED))


def _waves(task: Task, width: int, limits: Limits) -> float:
    return limits.machine.multiply(width * (2.0 * task.columns + WAVE)) + limits.machine.store(HANDLED * width)


def _features(task: Task, width: int, limits: Limits) -> float:
    return limits.machine.store(HANDLED * width)
