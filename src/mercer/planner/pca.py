"""The task of principal components: by the kernel matrix, by products with it, or in features, also of landmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mercer.planner.batches import batch, features_at_once, squaring, strips
from mercer.planner.landmarks import drawing, drawn_from, drawn_numbers
from mercer.planner.limits import Limits, Shape, first_within
from mercer.planner.plan import Details, Plan, Stage
from mercer.planner.task import Refusal, Task
from mercer.solvers.eigenvalues.certified_lanczos import MOST_TIMES, SPARE_PRODUCTS

MAX_FEATURES = 3000
"""Features up to which a lift is used unasked."""
RANKS = (1000, 500, 250, 125, 64, 32)
"""How many landmarks there are where nobody says: the first number that memory and time allow."""
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
QUICK = 1.0
"""Seconds up to which the kernel matrix is stored, unasked."""
BLOCKS = float(3 << 22)
"""Numbers of blocks that pass by when a matrix is multiplied or decomposed."""


@dataclass(frozen=True)
class PCADetails(Details):
    """What only plans of principal components hold.

    exact: the kernel matrix is stored, and decomposed; krylov: it is multiplied with, and nothing of its size is
    stored; features: those of a lift; these three are exact. landmarks: the kernel is approximated.

    Parameters
    ----------
    batch : int, default=0
        Rows that pass by at once, where they do.
    drawn : int, default=0
        Rows that landmarks are drawn from; 0 where there are none.
    partial : bool, default=False
        Whether of a stored matrix the leading eigenvectors alone are looked for, one product after the other.
    """

    task: ClassVar[str] = "principal components"
    methods: ClassVar[tuple[str, ...]] = ("exact", "krylov", "features", "landmarks")
    unit: ClassVar[str] = "component"

    batch: int = 0
    drawn: int = 0
    partial: bool = False


PCAPlan = Plan[PCADetails]


@dataclass(frozen=True)
class PCATask(Task[PCADetails]):
    """Principal components that are to be planned.

    Parameters
    ----------
    rows, columns : int
        Of the data.
    components : int or None
        How many are requested; None for all.
    n_features : int or None, default=None
        Of the finite lift; None where there is none.
    lift_given : bool, default=False
        Whether the features are those of a lift that was given.
    approximable : bool, default=True
        Whether landmarks can stand for the kernel.
    given : bool, default=False
        Whether the kernel matrix was given.
    stored : bool, default=True
        Whether the rows are in memory.
    worth : int or None, default=None
        Columns of numbers that take as long, where these hold structured data.
    method : {"auto", "exact", "krylov", "landmarks"}, default="auto"
        What was requested.
    n_landmarks : int or None, default=None
        How many were requested.

    Examples
    --------
    >>> from mercer.planner import PCATask, choose
    >>> choose(PCATask(500, 5, components=3)).method
    'exact'
    """

    rows: int
    columns: int
    components: int | None
    n_features: int | None = None
    lift_given: bool = False
    approximable: bool = True
    given: bool = False
    stored: bool = True
    worth: int | None = None
    method: str = "auto"
    n_landmarks: int | None = None

    @property
    def effort(self) -> int:
        """Columns of numbers that take as long as these."""
        return self.columns if self.worth is None else self.worth

    @property
    def found(self) -> int:
        """How many components come out, at most."""
        return self.rows if self.components is None else min(self.components, self.rows)

    @property
    def shape(self) -> Shape:
        """As methods that stream see it."""
        return Shape(self.rows, self.columns)

    def patience(self, limits: Limits) -> float:
        """Seconds up to which components are exact."""
        return PATIENCE if limits.seconds is None else limits.seconds / 2

    def candidates(self, limits: Limits) -> Iterator[PCAPlan]:
        """The features of a lift, exact methods, landmarks: in this order, where they are open."""
        if self.lift_given:
            yield _features(self, self.n_features or 1, limits)
        elif self.method == "exact":
            yield _dense(self, limits)
        elif self.method == "krylov":
            yield _krylov(self, limits)
        elif self.method == "landmarks":
            yield from self._on_landmarks(limits)
        else:
            yield from self._automatic(limits)

    def _automatic(self, limits: Limits) -> Iterator[PCAPlan]:
        """What is exact first, unless fewer landmarks than rows were asked for, or rows are not in memory."""
        most = min(self.rows, MAX_FEATURES) if self.n_landmarks is None else self.n_landmarks
        lifted = self.approximable and 0 < (self.n_features or 0) <= most
        if lifted:
            yield _features(self, self.n_features or 1, limits)
        if self.stored and (self.n_landmarks is None or self.n_landmarks >= self.rows):
            yield from self._exact(limits)
        elif lifted:
            return
        yield from self._on_landmarks(limits)

    def _exact(self, limits: Limits) -> Iterator[PCAPlan]:
        """By the matrix, whose components are accurate to rounding, where that is quick; else the quicker one first."""
        dense = _dense(self, limits)
        if self.components is None:
            yield dense
        elif dense.seconds <= QUICK:
            yield dense
            yield _krylov(self, limits)
        else:
            yield from sorted((dense, _krylov(self, limits)), key=lambda plan: plan.seconds)

    def _on_landmarks(self, limits: Limits) -> Iterator[PCAPlan]:
        """The most landmarks that keep to memory and time."""
        if self.approximable:
            plans = (_landmarks(self, count, limits) for count in self._counts())
            yield from first_within(plans, limits, self.patience(limits))

    def _counts(self) -> list[int]:
        """How many landmarks are tried: at least as many as components are asked for."""
        if self.n_landmarks is not None:
            return [min(self.n_landmarks, self.rows)]
        least = self.components or 1
        return sorted({min(max(each, least), self.rows) for each in RANKS}, reverse=True)

    def refusal(self, plans: Sequence[PCAPlan], limits: Limits) -> Refusal:
        """The smallest method."""
        least = min(plans, key=lambda plan: plan.bytes)
        count = least.n_landmarks if least.method == "landmarks" else least.n_features
        size = f" ({count:,} per row)" if count else ""
        return Refusal(least.bytes, f"{least.method} components of {self.rows:,} rows{size}", self._remedy(least))

    def _remedy(self, least: PCAPlan) -> str:
        if least.method == "landmarks":
            return "Use fewer landmarks, or fewer components."
        if least.method == "features":
            return "Use fewer features."
        if self.components is None:
            return "Ask for fewer components."
        return 'Use method="landmarks".' if self.approximable else "Use fewer rows, or ask for fewer components."

    def closed(self) -> tuple[str, str, str]:
        """What is needed, what was given and what to do, where no method is open."""
        got = "the kernel is precomputed" if self.given else "it is not known to be one for so many columns"
        remedy = 'Use method="exact", without n_landmarks, and rows in memory.'
        return "a kernel that landmarks can stand for", got, remedy


# -- what methods take -----------------------------------------------------------------------------------------------


def _plan(
    task: PCATask,
    method: str,
    numbers: float,
    stages: tuple[Stage, ...],
    details: PCADetails,
    n_features: int = 0,
    n_landmarks: int = 0,
) -> PCAPlan:
    return Plan(
        method=method,
        rows=task.rows,
        columns=task.columns,
        outputs=task.components or 0,
        bytes=int(8 * numbers),
        seconds=sum(stage.seconds for stage in stages),
        stages=stages,
        details=details,
        n_features=n_features,
        n_landmarks=n_landmarks,
        gives_up="exactness" if method == "landmarks" else "",
    )


def _pairs(task: PCATask, limits: Limits, single: bool = False) -> float:
    """Seconds for all pairs of rows: each is computed once, or read where the matrix was given."""
    pairs = float(task.rows) ** 2
    return limits.machine.read(pairs) if task.given else limits.machine.pairs(pairs / 2, task.effort, single)


def _dense(task: PCATask, limits: Limits) -> PCAPlan:
    machine, n, k = limits.machine, float(task.rows), task.found
    checking = 0.0 if task.approximable else machine.cholesky(task.rows)
    products = 2 * k + SPARE_PRODUCTS
    whole, some = machine.eigenvectors(task.rows), machine.leading_eigenvectors(task.rows, products)
    partial = task.components is not None and MOST_TIMES * products < task.rows and some < whole
    stages = (
        Stage("kernel matrix", _pairs(task, limits) + machine.store(n**2) + checking),
        Stage("decompose", some if partial else whole),
        Stage("residuals", (0.0 if partial else _pairs(task, limits)) + machine.multiply(2 * n**2 * k)),
    )
    numbers = 3 * n**2 + 3 * n * k + min(n**2, BLOCKS)  # also where some turn out to lie too close for products
    return _plan(task, "exact", numbers, stages, PCADetails(partial=partial))


def opening(rows: int, count: int) -> int:
    """How many landmarks a start of so many components is made of."""
    share, most = OPENING
    return min(rows, max(WIDTH * (count + BEYOND), min(rows // share, most)))


def _krylov(task: PCATask, limits: Limits) -> PCAPlan:
    machine, n = limits.machine, float(task.rows)
    width = min(task.found + BEYOND, task.rows)
    rank = opening(task.rows, task.found) if task.approximable else 0
    drawn = min(task.rows, SPARE * rank)
    start = drawing(task.shape, drawn, rank, limits) if rank else 0.0
    start += machine.pairs(2 * n * rank, task.effort) + machine.multiply(n * float(rank) ** 2)
    product = _pairs(task, limits) + machine.multiply(2 * n**2 * width)
    fast = _pairs(task, limits, single=True) + machine.multiply(2 * n**2 * width, single=True)
    work = (FAST * fast + TRUE * product) if task.approximable else (FAST + TRUE) * product
    stages = (Stage("landmarks", start), Stage("components", work))
    basis = 2 * n * (width + max(width, BASIS)) + TABLES * n * (width + 1)
    numbers = max(basis + (n**2 if task.given else 0.0), drawn_numbers(drawn, rank)) + BLOCKS
    return _plan(task, "krylov", numbers, stages, PCADetails(drawn=drawn), n_landmarks=rank)


def _features(task: PCATask, width: int, limits: Limits) -> PCAPlan:
    held = batch(task.shape, _sums(task, width), features_at_once(width), limits)
    machine, entries = limits.machine, float(task.rows) * width
    stages = (
        Stage("pass", machine.store(2 * entries) + machine.multiply(entries * width)),
        Stage("decompose", machine.eigenvectors(width)),
        Stage("signs", machine.store(2 * entries) + machine.multiply(2 * entries * min(task.found, width))),
    )
    return _plan(task, "features", held.numbers, stages, PCADetails(held.rows), n_features=width)


def _landmarks(task: PCATask, rank: int, limits: Limits) -> PCAPlan:
    machine, entries = limits.machine, float(task.rows) * rank
    drawn = drawn_from(task.rows, rank, limits)
    held = batch(task.shape, _sums(task, rank), strips(rank, squaring(rank), rank), limits)
    values = machine.pairs(entries, task.effort)
    stages = (
        Stage("landmarks", drawing(task.shape, drawn, rank, limits)),
        Stage("pass", values + machine.multiply(entries * rank)),
        Stage("decompose", machine.eigenvectors(rank) + machine.multiply(4 * float(rank) ** 3)),
        Stage("signs", values + machine.multiply(2 * entries * min(task.found, rank))),
    )
    numbers = max(held.numbers, drawn_numbers(drawn, rank))
    return _plan(task, "landmarks", numbers, stages, PCADetails(held.rows, drawn), n_landmarks=rank)


def _sums(task: PCATask, width: int) -> float:
    """Numbers of the sums over all rows, of their decomposition, and of the weights of components."""
    return max(5, squaring(width).lanes + 1) * float(width) ** 2 + 4.0 * width * min(task.found, width)
