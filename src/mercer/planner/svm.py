"""The task of support vector machines: exact, row by row of the kernel matrix, or on landmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mercer.compute.runtime.memory import text_of
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import Details, Plan, Stage
from mercer.planner.task import Refusal, Task

SOLVING, POLISHING = "coefficients", "polish"
"""The stages of a fit, by name; features, or landmarks, are one that is named as its method."""
PATIENCE = 1800.0
"""Seconds up to which "auto" is exact, where no time limit is given."""
MOST = 100_000
"""Rows up to which "auto" is exact on the cores."""
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
MAX_PAIR_ROWS = 2500
"""Rows of two classes up to which values of the kernel are computed once for all pairs of classes, where these fit."""
MAX_DOUBLE_WORK = float(1 << 33)
"""Squared rows times columns up to which these values are in float64."""
BOARD_ROWS = 5000
"""Rows from which on a card chooses working sets: it keeps no rows of the matrix, but computes them again."""
BOARD_SET, BOARD_VECTORS, BOARD_TABLES, BOARD_EXTRA = 2048, 16, 4, 16
"""There: rows of a working set, vectors of the length of the data, and tables of the rows and some columns more."""
BOARD_COMPUTED, BOARD_ROUNDS, BOARD_ROUND = 1.0, 5.0, 8e-3
"""There: the part of the matrix that is computed, rounds for each set that the rows make, and seconds of one."""
OUT, OWN = 4, 14
"""Numbers for each row and function that the model is made of, at its end; and for each row of a function's own."""
RANK = 2000
"""Landmarks, where nobody says how many."""
PASSES, SCATTERED = 30.0, 10.0
"""Passes of coordinate descent that are expected, and how much longer one core takes for rows in random order."""
DRAWN = float(1 << 25)
"""Numbers that the choice of landmarks holds, about."""
GAP = "exactness (duality_gap_)"
"""What landmarks give up, and where that is measured."""


@dataclass(frozen=True)
class SVMDetails(Details):
    """What only plans of SVMs hold.

    Parameters
    ----------
    pool : int, default=0
        Bytes of rows of the kernel matrix that are kept.
    whole : bool, default=False
        Whether each value of the kernel matrix is computed once, for all functions.
    """

    task: ClassVar[str] = "SVM"
    methods: ClassVar[tuple[str, ...]] = ("exact", "features", "landmarks")
    unit: ClassVar[str] = "function"

    pool: int = 0
    whole: bool = False


SVMPlan = Plan[SVMDetails]


@dataclass(frozen=True)
class SVMTask(Task[SVMDetails]):
    """A support vector machine that is to be planned, if two fifths of the rows are support.

    Parameters
    ----------
    rows, columns : int
        Of the data.
    sizes : tuple of int
        Rows of each function that is to be learned.
    filled : float
        Numbers of a row that are not zero, where rows are sparse; else the columns.
    n_features : int or None, default=None
        Of the lift that was given; None for a kernel.
    stored : bool, default=False
        Whether the whole kernel matrix must be stored: it was given, or has to be looked through.
    approximable : bool, default=True
        Whether landmarks can stand for the kernel.
    polish : bool, default=False
        Whether what landmarks lead to is made exact on the margin.
    method : {"auto", "exact", "landmarks"}, default="auto"
        What was requested.
    n_landmarks : int or None, default=None
        How many; None for as many as are worth it, and fit.
    on_card : bool, default=False
        Whether a graphics card can compute rows of the matrix.

    Examples
    --------
    >>> from mercer.planner import SVMTask, choose
    >>> choose(SVMTask(500, 5, sizes=(500,), filled=5.0)).method
    'exact'
    """

    rows: int
    columns: int
    sizes: tuple[int, ...]
    filled: float
    n_features: int | None = None
    stored: bool = False
    approximable: bool = True
    polish: bool = False
    method: str = "auto"
    n_landmarks: int | None = None
    on_card: bool = False

    def candidates(self, limits: Limits) -> Iterable[SVMPlan]:
        """The exact method, and the one on landmarks or features."""
        if self.method != "landmarks":
            yield _exact(self, limits)
        if self.method == "landmarks" or (self.method == "auto" and self.approximable):
            yield _featured(self, limits)

    def patience(self, limits: Limits) -> float:
        """Seconds up to which the exact method is taken."""
        return PATIENCE if limits.seconds is None else min(PATIENCE, limits.seconds)

    def best(self, plans: Iterable[SVMPlan], limits: Limits) -> SVMPlan | None:
        """The exact method, unless it is too much and there is another."""
        chosen = None
        for chosen in plans:
            if chosen.method == "exact" and not self._too_much(chosen, limits):
                return chosen
        return chosen

    def why(self, best: SVMPlan, plans: Sequence[SVMPlan], limits: Limits) -> str:
        """Why it is exact, or what speaks against that."""
        if best.method == "exact":
            return "It has the kernel itself, and fits."
        exact = next((plan for plan in plans if plan.method == "exact"), None)
        why = "It was requested." if exact is None else self._too_much(exact, limits)
        return f"{why} duality_gap_ says how far the model is from the exact one."

    def why_not(self, plan: SVMPlan, best: SVMPlan, limits: Limits) -> str:
        """What speaks against the exact method, or that landmarks approximate it."""
        if plan.method == "exact" and plan.bytes <= limits.bytes and plan.rows > MOST and not has_board(self, limits):
            return f"for {MOST:,} rows or less"
        return super().why_not(plan, best, limits)

    def refusal(self, plans: Sequence[SVMPlan], limits: Limits) -> Refusal:
        """As many landmarks as fit, where landmarks are planned."""
        last = plans[-1]
        if last.method != "exact":
            count = last.n_landmarks or last.n_features
            remedy = f"Up to {max(1, _landmarks_that_fit(self, limits)):,} landmarks fit: set n_landmarks."
            return Refusal(last.bytes, f"{count:,} features of {self.rows:,} rows", remedy)
        remedy = 'Use fewer rows, or method="landmarks".' if self.approximable else "Use fewer rows."
        return Refusal(last.bytes, f"rows of the kernel matrix of {max(self.sizes):,} rows", remedy)

    def _too_much(self, exact: SVMPlan, limits: Limits) -> str:
        """Why the exact method is too much; "" where it is not."""
        if exact.bytes > limits.bytes:
            return f"The exact method needs {text_of(exact.bytes)}, and {text_of(limits.bytes)} may be used."
        if self.rows > MOST and not has_board(self, limits):
            return f"The exact method is for {MOST:,} rows or less."
        if exact.seconds > self.patience(limits):
            return f"The exact method would take about {exact.seconds:.0f} s."
        return ""


# -- the exact method -------------------------------------------------------------------------------------------------


def _exact(task: SVMTask, limits: Limits) -> SVMPlan:
    """The exact method, with as many rows of the matrix as fit; with what it needs at least where that does not."""
    largest, solving = max(task.sizes), _seconds(task, limits)
    if has_board(task, limits):
        return _plan_of(task, solving, 0, _on_board(task, largest))
    item = 4 if largest >= NARROW else 8
    held, matrix = _held(task, largest), _matrix(task)
    least = item * min(largest, SPARE * SET) * largest
    whole = matrix > 0 and held + least + matrix <= limits.bytes
    held += matrix * whole
    pool = int(max(least, min(item * largest**2, POOL, SHARE * limits.bytes - held)))
    return _plan_of(task, solving, pool, held, whole)


def _plan_of(task: SVMTask, solving: float, pool: int, held: int, whole: bool = False) -> SVMPlan:
    return Plan(
        method="exact",
        rows=task.rows,
        columns=task.columns,
        outputs=len(task.sizes),
        bytes=pool + held,
        seconds=solving,
        stages=(Stage(SOLVING, solving),),
        details=SVMDetails(pool, whole),
    )


def has_board(task: SVMTask, limits: Limits) -> bool:
    """Whether a card chooses the working sets, and computes rows of the matrix whenever it needs them."""
    dense = task.on_card and not task.stored and task.n_features is None
    return limits.on_card and dense and max(task.sizes) > BOARD_ROWS


def _on_board(task: SVMTask, largest: int) -> int:
    """Bytes on a card, and of what is found for each function: vectors, squares of a working set, tables of rows."""
    tables = BOARD_TABLES * task.rows * (task.columns + BOARD_EXTRA)
    squares = 6 * min(largest, BOARD_SET) ** 2
    return 8 * (BOARD_VECTORS * task.rows + squares + tables + _of_functions(task))


def _held(task: SVMTask, largest: int) -> int:
    """Bytes beside the rows that are kept: vectors, a working set, features, and a matrix that must be stored."""
    features = 3 * task.rows * (task.n_features or 0)
    matrix = 2 * task.rows**2 if task.stored else 0
    return 8 * (VECTORS * task.rows + 2 * min(largest, SET) ** 2 + features + matrix + _of_functions(task))


def coefficients(rows: int, functions: int) -> int:
    """Bytes of the coefficients of all functions, when the model is made of them."""
    return 8 * OUT * rows * functions


def _of_functions(task: SVMTask) -> int:
    """Numbers of what is found for each function, where there are several."""
    several = len(task.sizes) > 1
    return (coefficients(task.rows, len(task.sizes)) // 8 + OWN * sum(task.sizes)) * several


def _matrix(task: SVMTask) -> int:
    """Bytes of values that all pairs of classes share, at most; 0 where they share none.

    These are squares of each class with itself, and a strip of one class with all others.
    """
    largest = max(task.sizes)
    if len(task.sizes) < 3 or largest > MAX_PAIR_ROWS:
        return 0
    item = 4 if is_narrow(task.rows, task.columns) else 8
    return 2 * item * task.rows * largest


def is_narrow(rows: int, columns: int) -> bool:
    """Whether values of the kernel that functions share are in float32: where they are what takes long."""
    return float(rows) ** 2 * columns > MAX_DOUBLE_WORK


def _seconds(task: SVMTask, limits: Limits) -> float:
    """Seconds for all functions."""
    machine, rows, pairs = limits.machine, float(sum(task.sizes)), float(sum(size * size for size in task.sizes))
    if has_board(task, limits):
        found = machine.pairs(BOARD_COMPUTED * pairs, int(task.filled), single=True)
        last = machine.pairs(SUPPORT * pairs, int(task.filled))
        return found + last + BOARD_ROUNDS * rows / BOARD_SET * BOARD_ROUND + STEPS * rows * STEP
    if task.n_features is None:
        values = machine.pairs(COMPUTED * pairs, int(task.filled), single=True)
        last = machine.pairs(SUPPORT * pairs, int(task.filled))
    else:
        values = machine.multiply(2 * COMPUTED * pairs * task.n_features, single=True)
        last = machine.multiply(2 * SUPPORT * pairs * task.n_features)
    return values + last + machine.read(TOUCHED * SUPPORT * pairs / 2) + STEPS * rows * STEP


# -- landmarks --------------------------------------------------------------------------------------------------------


def _featured(task: SVMTask, limits: Limits) -> SVMPlan:
    """Features of landmarks, or those of the lift that was given."""
    wanted = min(RANK, max(1, task.rows // 2), max(1, _landmarks_that_fit(task, limits)))
    found = task.n_features or min(task.n_landmarks or wanted, task.rows)
    machine, n, k, lifted = limits.machine, float(task.rows), float(found), task.n_features is not None
    drawn = 0.0 if lifted else min(n, max(4 * k, DRAWN / k))
    choosing = machine.multiply(drawn * k**2) + machine.pairs(n * k, int(task.filled)) + machine.multiply(n * k**2)
    descent = PASSES * SCATTERED * _cores(task, limits).read(sum(task.sizes) * k / 2)
    method = "features" if lifted else "landmarks"
    stages: tuple[Stage, ...] = (Stage(method, choosing), Stage(SOLVING, descent))
    pool, needed = 0, _bytes(task, found)
    if task.polish:
        stages = (*stages, Stage(POLISHING, _seconds(task, limits)))
        pool = int(max(0.0, min(POOL, 4.0 * max(task.sizes) ** 2, SHARE * limits.bytes - needed)))
    return Plan(
        method=method,
        rows=task.rows,
        columns=task.columns,
        outputs=len(task.sizes),
        bytes=needed + pool,
        seconds=sum(stage.seconds for stage in stages),
        stages=stages,
        details=SVMDetails(pool),
        n_features=found if lifted else 0,
        n_landmarks=0 if lifted else found,
        gives_up="" if lifted else GAP,
    )


def _cores(task: SVMTask, limits: Limits) -> Machine:
    """The machine that goes through features row by row: the cores, also where a card has made them."""
    if not limits.on_card:
        return limits.machine
    return Machine.here() if task.is_long(limits) else ROUGH


def _bytes(task: SVMTask, landmarks: int) -> int:
    """Bytes of features in float32, of some of them again for each function, of landmarks, and of vectors."""
    copies = 2 if len(task.sizes) > 1 else 1
    drawn = int(min(DRAWN, task.rows * landmarks))
    numbers = 3 * landmarks**2 + VECTORS * task.rows + drawn + _of_functions(task)
    return 4 * copies * task.rows * landmarks + 8 * numbers


def _landmarks_that_fit(task: SVMTask, limits: Limits) -> int:
    low, high = 0, task.rows + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _bytes(task, middle) <= SHARE * limits.bytes else (low, middle)
    return low
