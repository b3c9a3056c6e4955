"""Methods that read the rows in pieces and add up: one pass over features, of a lift or of landmarks, and Falkon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mercer.planner.batches import Batch, batch, features_at_once, layout, squaring, strips
from mercer.planner.landmarks import GROWING, drawing, drawn_from, drawn_numbers
from mercer.planner.limits import Limits
from mercer.planner.plan import APPROXIMATE, Plan, Stage
from mercer.planner.ridge.details import RidgeDetails, RidgePlan
from mercer.planner.ridge.direct import PAIR
from mercer.planner.ridge.direct import judged as judging
from mercer.planner.ridge.given_landmarks import learning
from mercer.planner.ridge.tuning_cost import Tuning, tuning
from mercer.solvers import Eigen, Solver

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

SIZES = (100, 250, 500, 1000, 2000, 4000, 8000, 16000)
"""Landmarks, or random features, that are tried; none over half of the rows."""
OPENED = 8_000.0
"""Calls of NumPy that a batch takes, however few rows it has."""
JUDGED = 1 << 14
"""Rows whose leave-one-out errors judge a path, where one pass does not keep all rows: their mean square is known to
about a hundredth of itself."""
JUDGED_AT_ONCE, TABLES = 1 << 20, 3.0
"""Numbers in a table of features of these, at once, and how many tables there are."""
TRIED, TRIALS = 512, 4.0
"""Rows on which the errors of predictions are tried, at most, and how many tables of their features there are."""
SUMS, MATRICES, KEPT, LANDMARKS = 2, 4.2, 1.1, 1.2
"""Numbers for p^2: in sums, of two workers or where a pass checks; in a decomposition; in its eigenvectors afterwards;
and in the factor of the kernel matrix of landmarks, which is held beside all of these, and once more at the end."""
RESIDUALS = 6.0
"""Numbers for each row in memory and output, when residuals are found."""
STEPS, LESS, MORE = 30.0, 12.0, 9.0
"""Iterations of Falkon where alpha is not known; for alpha = n / 1000, and how many more for each tenth of that."""
WAVE = 20.0
"""Operations of a random wave for a row, beyond the two a column."""
HANDLED, STRIPPED = 7.0, 2.0
"""Numbers written for each raw function of a row, in units of fresh memory: blocks, their means taken off, copies; and
for those that never leave the cache."""
SQUARED, CHECKS = 1.2, 1.5
"""What sums of squares take in units of products of matrices; and passes that check, about: one or two."""
MOVED = 12_000.0
"""Operations for p^2 to try out how far rounding moves the predictions of p features."""
NYSTROM = ("nystrom", "nystrom iterative")
"""The methods that draw landmarks."""
CERTIFIED = "exactness (certified)"
"""What an approximation gives up, and what it comes with."""

Sized = Callable[["RidgeTask", int, Limits], RidgePlan]
"""A method with so many landmarks, or features."""
Row = Callable[["RidgeTask", int, Limits], float]
"""Seconds for so many raw functions of one row."""


def sizes(rows: int) -> list[int]:
    """How many landmarks are tried for so many rows."""
    return [size for size in SIZES if size <= rows // 2] or [max(1, rows // 2)]


def largest(task: RidgeTask, method: Sized, limits: Limits) -> RidgePlan:
    """A method with the most landmarks that keep to memory and time; the quickest that fits, or else the smallest.

    Where a number of landmarks was given, that many; all rows where there are fewer.
    """
    wanted = task.wanted_landmarks
    tried = sizes(task.rows) if wanted is None else [min(wanted, task.rows)]
    plans = [method(task, size, limits) for size in tried]
    fitting = [plan for plan in plans if plan.bytes <= limits.bytes]
    quick = [plan for plan in fitting if plan.seconds <= limits.patience]
    return quick[-1] if quick else min(fitting, key=lambda plan: plan.seconds) if fitting else plans[0]


def one_pass(task: RidgeTask, limits: Limits) -> RidgePlan:
    """Sums over the features of a finite lift: of the kernel, or one that was given, also of landmarks."""
    if task.n_landmarks is not None:
        return _one_pass(
            task, "one pass", task.n_landmarks, limits, Stage("landmarks", learning(task, limits)[0]), _pairs
        )
    return _one_pass(task, "one pass", task.width, limits, Stage("features", 0.0), _features)


def _drawing(task: RidgeTask, width: int, limits: Limits) -> Stage:
    return Stage("landmarks", drawing(task, drawn_from(task.rows, width, limits), width, limits))


def nystrom(task: RidgeTask, width: int, limits: Limits) -> RidgePlan:
    """One pass over the values of the kernel at landmarks."""
    return _one_pass(task, "nystrom", width, limits, _drawing(task, width, limits), _pairs)


def random_features(task: RidgeTask, width: int, limits: Limits) -> RidgePlan:
    """One pass over random waves."""
    return _one_pass(task, "random features", width, limits, Stage("features", 0.0), _waves)


def nystrom_iterative(task: RidgeTask, width: int, solver: Solver, limits: Limits) -> RidgePlan:
    """Falkon: conjugate gradients on as many unknowns as landmarks, by products alone."""
    machine, entries, square = limits.machine, float(task.rows) * width, float(width) ** 2
    tuned = tuning(task, limits, task.tuned)
    preparing = machine.cholesky(width) + machine.multiply(square * width)
    drawn = _drawing(task, width, limits).seconds if task.n_landmarks is None else learning(task, limits)[0]
    fixed, steps = (2 if task.outputs == 1 else 4) * square + 8.0 * width * task.outputs, _steps(task)
    fixed += _residuals(task)
    if limits.on_card:  # columns of the rows that landmarks are drawn from; then R, H and what decomposes it
        drawn_of = drawn_from(task.rows, width, limits) if task.n_landmarks is None else 0
        fixed += max(GROWING * drawn_of * width - square, 4 * square * (task.outputs > 1))
    held = batch(task, fixed, strips(width, layout(), PAIR + 4.0 * task.outputs), limits)
    step = _step(task, width, limits, held)
    stages = (*tuned.stages, Stage("landmarks", drawn + preparing), Stage("iterations", steps * step))
    operations = steps * entries * (PAIR + 2 * task.columns + 4 * task.outputs) + 2 * square * width
    return _Costs(stages, operations, held, tuned).plan("nystrom iterative", solver, task, width, limits)


def _step(task: RidgeTask, width: int, limits: Limits, held: Batch) -> float:
    """Seconds of a pass: values that serve two products, or at a card two products that write no values."""
    entries = float(task.rows) * width
    if limits.on_card:
        return 2 * task.outputs * limits.pair(task, double=True) * entries + _opening(task, limits, held)
    return _reading(task, width, limits, _pairs, held) + limits.machine.multiply(4 * entries * task.outputs)


def _steps(task: RidgeTask) -> float:
    """Iterations of Falkon: its preconditioner knows the landmarks alone."""
    if task.alpha is None or task.alpha <= 0:
        return STEPS
    return LESS + MORE * max(0.0, math.log10(1e-3 * task.rows / task.alpha))


def _one_pass(task: RidgeTask, method: str, width: int, limits: Limits, start: Stage, row: Row) -> RidgePlan:
    """Z'Z in one pass, all alphas from its spectrum, and a second pass that checks."""
    machine, n, square = limits.machine, task.rows, float(width) ** 2
    tuned, judged = tuning(task, limits, task.lengthscales > 1), min(n, JUDGED) if task.path else 0
    factor, beside = LANDMARKS * square * (row is _pairs), 4.0 * width * task.outputs + _residuals(task)
    beside += max(SUMS, squaring(width).lanes) * ((width + task.outputs - 1.0) ** 2 - square)  # targets are summed, too
    table = strips(width, squaring(width), width) if row is _pairs else features_at_once(width)
    held = batch(task, max(SUMS, squaring(width).lanes) * square + factor + beside, table, limits)
    held = replace(held, numbers=max(held.numbers, _solved(n, width, judged, factor) + beside))
    reading = _reading(task, width, limits, row, held)
    products = machine.multiply(2.0 * n * width * task.outputs)
    solving = machine.eigenvectors(width) + machine.multiply(4.0 * judged * square + judging(judged, width, task))
    solving += machine.multiply(square * (4.0 * width + MOVED))  # from raw functions to features and back, and trials
    parts = Stage("pass", reading + machine.multiply(SQUARED * n * square) + products), Stage("solve", solving)
    stages = (*tuned.stages, start, *parts, Stage("check", CHECKS * (reading + 2 * products)))
    operations = n * square + 13 * square * width + 4 * judged * square
    if not tuned.stages and 0 < judged < n:
        tuned = Tuning(judged, (), 0.0, f"alpha chosen on {judged:,} rows")
    return _Costs(stages, operations, held, tuned).plan(method, Eigen(), task, width, limits)


def _solved(rows: int, width: int, judged: int, factor: float) -> float:
    """Numbers that are held when the sums are decomposed, predictions tried, and a path is judged by so many rows."""
    square, tried = float(width) ** 2, float(min(rows, TRIED)) * width
    judging = tried + TABLES * min(judged * width, JUDGED_AT_ONCE)
    return factor + max(MATRICES * square, KEPT * square + factor + max(TRIALS * tried, judging * (judged > 0)))


@dataclass(frozen=True)
class _Costs:
    """What a method that streams takes."""

    stages: tuple[Stage, ...]
    operations: float
    held: Batch
    tuned: Tuning

    def plan(self, method: str, solver: Solver, task: RidgeTask, width: int, limits: Limits) -> RidgePlan:
        """The plan of these costs."""
        drawn = drawn_from(task.rows, width, limits) if method in NYSTROM and task.n_landmarks is None else 0
        beside = max(self.tuned.numbers, drawn_numbers(drawn, width), learning(task, limits)[1])
        lost = [CERTIFIED] if method in APPROXIMATE and task.n_landmarks is None else []
        lost += [self.tuned.gives_up] if self.tuned.gives_up else []
        own = RidgeDetails(
            "primal", solver, self.operations, batch=self.held.rows, drawn=drawn, sample=self.tuned.sample
        )
        return Plan(
            method=method,
            rows=task.rows,
            columns=task.columns,
            outputs=task.outputs,
            bytes=int(8 * max(self.held.numbers, beside)),
            seconds=sum(stage.seconds for stage in self.stages),
            stages=self.stages,
            details=own,
            n_features=0 if method in NYSTROM else width,
            n_landmarks=width if method in NYSTROM else 0,
            gives_up=", ".join(lost),
        )


# -- the parts --------------------------------------------------------------------------------------------------------


def _residuals(task: RidgeTask) -> float:
    """Numbers that a check holds of rows in memory, for all outputs but the first."""
    return RESIDUALS * task.rows * (task.outputs - 1) * task.stored


def _reading(task: RidgeTask, width: int, limits: Limits, row: Row, held: Batch) -> float:
    """The raw functions of all rows, batch by batch."""
    return task.rows * row(task, width, limits) + _opening(task, limits, held)


def _opening(task: RidgeTask, limits: Limits, held: Batch) -> float:
    """What batches take, however few rows they have."""
    return task.rows / held.rows * OPENED * limits.machine.call


def _pairs(task: RidgeTask, width: int, limits: Limits) -> float:
    """The kernel of a row with all landmarks, stored in a block."""
    return width * (limits.pair(task) + limits.machine.store(STRIPPED))


def _waves(task: RidgeTask, width: int, limits: Limits) -> float:
    return limits.machine.multiply(width * (2.0 * task.columns + WAVE)) + limits.machine.store(HANDLED * width)


def _features(task: RidgeTask, width: int, limits: Limits) -> float:
    return limits.machine.store(HANDLED * width)
