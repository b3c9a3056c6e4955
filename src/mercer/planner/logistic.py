"""The task of logistic regression: on the kernel matrix, on the features of a lift, or on landmarks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mercer.planner.limits import Limits, first_within
from mercer.planner.plan import Details, Plan, Stage
from mercer.planner.task import Refusal, Task

WHOLE = 3000
"""Rows up to which the kernel matrix is decomposed, and features up to which a lift is used unasked."""
RANKS = (1000, 500, 250, 125, 64, 32)
"""How many landmarks there are where nobody says: the first number that memory and time allow."""
MAX_FACTORED_ROWS, MATRIX_FACTORS = 3000, 5.0
"""Rows up to which the kernel matrix is factored, by one call of LAPACK that nothing interrupts, and how many Cholesky
factors there are; above, and where it is much larger than alpha, it is decomposed."""
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
"""Numbers that are held while landmarks are drawn, and rows per landmark that they are drawn from, at least."""
BLOCKS = float(3 << 22)
"""Numbers of blocks that pass by."""


@dataclass(frozen=True)
class LogisticDetails(Details):
    """Plans of logistic regression hold nothing of their own."""

    task: ClassVar[str] = "logistic regression"
    methods: ClassVar[tuple[str, ...]] = ("exact", "features", "landmarks")


LogisticPlan = Plan[LogisticDetails]


@dataclass(frozen=True)
class LogisticTask(Task[LogisticDetails]):
    """Logistic regression that is to be planned.

    Parameters
    ----------
    rows, columns, outputs : int
        Of the data.
    n_features : int or None
        Of the finite lift; None where there is none.
    approximable : bool, default=False
        Whether landmarks can stand for the kernel.
    lift_given : bool, default=False
        Whether the features are those of a lift that was given.
    pair : float or None, default=None
        Seconds for a pair of these rows, where that was measured.
    method : {"auto", "exact", "landmarks"}, default="auto"
        What was requested.
    n_landmarks : int or None, default=None
        How many were requested.

    Examples
    --------
    >>> from mercer.planner import LogisticTask, choose
    >>> choose(LogisticTask(500, 5, outputs=1, n_features=None, approximable=True)).method
    'exact'
    """

    rows: int
    columns: int
    outputs: int
    n_features: int | None
    approximable: bool = False
    lift_given: bool = False
    pair: float | None = None
    method: str = "auto"
    n_landmarks: int | None = None
    single: ClassVar[bool] = False

    def patience(self, limits: Limits) -> float:
        """Half of the time limit may be planned with."""
        return math.inf if limits.seconds is None else limits.seconds / 2

    def candidates(self, limits: Limits) -> Iterator[LogisticPlan]:
        """The features of a lift, the kernel matrix, landmarks: in this order, where they are open."""
        if self.lift_given:
            yield _featured(self, self.n_features or 0, limits)
            return
        if self.method == "exact" or not self.approximable:
            yield _exact(self, limits)
        elif self.method == "landmarks":
            yield from self._on_landmarks(limits)
        else:
            yield from self._automatic(limits)

    def _automatic(self, limits: Limits) -> Iterator[LogisticPlan]:
        """What is exact, unless fewer landmarks than rows were asked for, or rows are too many."""
        count, rows = self.n_landmarks, self.rows
        lifted = 0 < (self.n_features or 0) <= min(rows, WHOLE if count is None else max(count, 1))
        stored = rows <= WHOLE if count is None else count >= rows
        if lifted:
            yield _featured(self, self.n_features or 0, limits)
        if stored:
            yield _exact(self, limits)
        if count is None or not (lifted or stored):
            yield from self._on_landmarks(limits)

    def _on_landmarks(self, limits: Limits) -> Iterator[LogisticPlan]:
        """As many landmarks as were asked for, or the most that keep to memory and time."""
        counts = RANKS if self.n_landmarks is None else (self.n_landmarks,)
        plans = (_landmarks(self, each, limits) for each in dict.fromkeys(min(each, self.rows) for each in counts))
        yield from first_within(plans, limits, self.patience(limits))

    def refusal(self, plans: Sequence[LogisticPlan], limits: Limits) -> Refusal:
        """The smallest method."""
        least = min(plans, key=lambda plan: plan.bytes)
        count = least.n_landmarks or least.n_features or self.rows
        what = "the kernel matrix" if least.method == "exact" else least.method
        return Refusal(least.bytes, f"{what} of {self.rows:,} rows ({count:,} per row)", self._remedy(least))

    def _remedy(self, least: LogisticPlan) -> str:
        if least.method == "exact":
            return 'Use method="landmarks", with n_landmarks=500, say.' if self.approximable else "Use fewer rows."
        return "Use fewer features, or fewer rows." if self.lift_given else "Use fewer landmarks, or fewer rows."


def _exact(task: LogisticTask, limits: Limits) -> LogisticPlan:
    """Newton's method on the kernel matrix, which is decomposed, or factored where it is small."""
    n, machine = float(task.rows), limits.machine
    building = limits.pair(task, double=True) * n**2 / 2 + machine.store(n**2)
    factored = task.rows <= MAX_FACTORED_ROWS
    decomposing = MATRIX_FACTORS * machine.cholesky(task.rows) if factored else machine.eigenvectors(task.rows)
    stages = (Stage("kernel matrix", building), Stage("decompose", decomposing))
    return _plan(task, "exact", task.rows, 3 * n**2, stages, limits)


def _featured(task: LogisticTask, p: int, limits: Limits) -> LogisticPlan:
    """Newton's method on the features of a lift."""
    n = float(task.rows)
    stages = (Stage("features", limits.machine.store(2 * n * p)), _squares(n, p, limits))
    return _plan(task, "features", p, 2 * n * p + 4.0 * p**2, stages, limits)


def _landmarks(task: LogisticTask, p: int, limits: Limits) -> LogisticPlan:
    """Newton's method on the features of landmarks."""
    n, machine = float(task.rows), limits.machine
    drawn = n if n * p <= HELD else max(HELD / p, DRAWN * p)
    building = limits.pair(task, double=True) * n * p + machine.multiply(n * float(p) ** 2)
    stages = (Stage("landmarks", building + machine.store(2 * n * p)), _squares(n, p, limits))
    numbers = n * p + (drawn * p if drawn < n else 0.0) + 4.0 * p**2
    return _plan(task, "landmarks", p, numbers, stages, limits)


def _squares(n: float, p: int, limits: Limits) -> Stage:
    return Stage("decompose", limits.machine.multiply(n * float(p) ** 2) + limits.machine.eigenvectors(p))


def _plan(
    task: LogisticTask, method: str, p: int, numbers: float, stages: tuple[Stage, ...], limits: Limits
) -> LogisticPlan:
    n, t = float(task.rows), task.outputs
    stages = (*stages, Stage("newton", _newton(n, p, t, limits)))
    numbers += TABLES * n * max(t, 2) + BLOCKS + min(t * float(p) ** 2, n * p)
    return Plan(
        method=method,
        rows=task.rows,
        columns=task.columns,
        outputs=t,
        bytes=int(8 * numbers),
        seconds=sum(stage.seconds for stage in stages),
        stages=stages,
        details=LogisticDetails(),
        n_features=p if method == "features" else 0,
        n_landmarks=p if method == "landmarks" else 0,
        gives_up="exactness" if method == "landmarks" else "",
    )


def _newton(n: float, p: int, outputs: int, limits: Limits) -> float:
    """Seconds of all steps: the features are read twice for each conjugate gradient, and multiplied with themselves."""
    machine = limits.machine
    reading = machine.read(n * p) * (THIN if outputs > 1 else 1.0)
    product = 2 * max(reading, machine.multiply(2 * n * p * outputs))
    each = product + machine.store(WRITTEN * n * outputs) + 20 * machine.call
    factors = outputs * (machine.multiply(n * float(p) ** 2) + machine.cholesky(p))
    return STEPS * PRODUCTS * each + FACTORS * factors
