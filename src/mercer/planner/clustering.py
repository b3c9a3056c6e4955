"""The tasks of clustering: k-means on a stored matrix, features, products or landmarks; and clusters of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mercer.planner.landmarks import PIVOTED
from mercer.planner.limits import Limits, first_within
from mercer.planner.machine import Machine
from mercer.planner.plan import Details, Plan, Stage
from mercer.planner.task import Refusal, Task
from mercer.solvers.eigenvalues.certified_lanczos import SPARE_PRODUCTS

MATRIX, FEATURES, LANDMARKS, RESTARTS, STEPS = "kernel matrix", "features", "landmarks", "restarts", "steps"
DEGREES, DECOMPOSING, COMPONENTS, MEANS = "degrees", "decompose", "components", "k-means"
"""The stages of fits, by name."""
WHOLE = 2000
"""Rows up to which the kernel matrix is stored unasked."""
LIFTED = 1000
"""Features up to which the finite lift of a kernel is used unasked."""
FIRST = 128
"""Landmarks of the starts, where nobody says how many: the first of all, where landmarks stand for the kernel."""
RANKS = (500, 250, 125, 64, 32)
"""Landmarks that stand for the kernel, where nobody says how many: the first number that memory and time allow."""
EACH, SEEDING = 40.0, 6.0
"""Steps of a start that are expected, and steps that its seeding takes as long as."""
MOVED = 0.3
"""How many rows are expected to move in all exact steps together, in units of all rows."""
WRITTEN, TABLES = 6.0, 9.0
"""Tables of a number per row and cluster that are written in a step, and that are held."""
DRAWN = float(1 << 25)
"""Numbers that the choice of landmarks holds, at most."""
BLOCKS, STRIPS = float(1 << 21), float(1 << 21)
"""Numbers of blocks that pass by, at most, and of strips of landmarks."""
PRODUCTS, LAST, BEYOND = 14.0, 3.0, 76
"""Products that eigenvectors are expected to take, those of them in float64, and columns of the basis beside twice the
eigenvectors."""


@dataclass(frozen=True)
class KMeansDetails(Details):
    """Plans of k-means hold nothing of their own; all methods but "landmarks" have the kernel itself."""

    task: ClassVar[str] = "k-means"
    methods: ClassVar[tuple[str, ...]] = ("exact", "features", "products", "landmarks")
    unit: ClassVar[str] = "cluster"

    def describe(self, plan: KMeansPlan) -> str:
        """The method of a plan in a few words."""
        first = f" ({plan.n_landmarks:,} landmarks first)" if plan.method == "products" else ""
        return f"products{first}" if first else super().describe(plan)


@dataclass(frozen=True)
class SpectralDetails(Details):
    """Plans of spectral clustering hold nothing of their own."""

    task: ClassVar[str] = "spectral clustering"
    methods: ClassVar[tuple[str, ...]] = ("exact", "krylov")
    unit: ClassVar[str] = "cluster"


KMeansPlan = Plan[KMeansDetails]
SpectralPlan = Plan[SpectralDetails]


# -- k-means ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KMeansTask(Task[KMeansDetails]):
    """Clusters by k-means that are to be planned.

    Parameters
    ----------
    rows, columns : int
        Of the data; only rows that differ count.
    clusters, runs : int
        How many clusters, and starts.
    filled : float
        Numbers of a row that are not zero, where rows are sparse; else the columns.
    n_features : int or None, default=None
        Of the finite lift; None where there is none.
    lift_given : bool, default=False
        Whether these are the features of a lift that was given.
    approximable : bool, default=True
        Whether landmarks can stand for the kernel, and products be had without the matrix.
    method : {"auto", "exact", "landmarks"}, default="auto"
        What was requested.
    n_landmarks : int or None, default=None
        How many were requested.

    Examples
    --------
    >>> from mercer.planner import KMeansTask, choose
    >>> choose(KMeansTask(500, 5, clusters=3, runs=10, filled=5.0)).method
    'exact'
    """

    rows: int
    columns: int
    clusters: int
    runs: int
    filled: float
    n_features: int | None = None
    lift_given: bool = False
    approximable: bool = True
    method: str = "auto"
    n_landmarks: int | None = None

    def candidates(self, limits: Limits) -> Iterator[KMeansPlan]:
        """Features, the kernel matrix, products, landmarks: in this order, where they are open."""
        width, rows, asked = self.n_features, self.rows, self.n_landmarks
        if self.lift_given and width is not None:
            yield _featured(self, width, limits)
            return
        if not self.approximable:
            yield _stored(self, limits)
            return
        lifted = width is not None and 0 < width <= min(rows, LIFTED)
        if width is not None and lifted and (self.method != "landmarks" or asked is None):
            yield _featured(self, width, limits)
        if self.method != "landmarks":
            if rows <= WHOLE:
                yield _stored(self, limits)
            yield _products(self, min(rows, FIRST if asked is None else asked), limits)
        if self.method != "exact":
            counts = dict.fromkeys(min(each, rows) for each in (RANKS if asked is None else (asked,)))
            plans = (_landmarks(self, each, limits) for each in counts)
            yield from first_within(plans, limits, self.patience(limits))

    def refusal(self, plans: Sequence[KMeansPlan], limits: Limits) -> Refusal:
        """The smallest method."""
        least = min(plans, key=lambda plan: plan.bytes)
        remedy = "Use fewer rows, fewer clusters, or fewer landmarks."
        return Refusal(least.bytes, f"k-means of {self.rows:,} rows ({least.method})", remedy)


def _stored(task: KMeansTask, limits: Limits) -> KMeansPlan:
    """On the kernel matrix."""
    n, machine = float(task.rows), limits.machine
    build = machine.pairs(n**2 / 2, int(task.filled)) + machine.store(n**2)
    build += 0.0 if task.approximable else machine.cholesky(task.rows)
    stages = (Stage(MATRIX, build), _restarts(task, n * MOVED, machine, single=False))
    return _plan(task, "exact", stages, _tables(task) + (1.0 if task.approximable else 3.0) * n**2)


def _featured(task: KMeansTask, p: int, limits: Limits) -> KMeansPlan:
    """On the features of a lift."""
    n, machine = float(task.rows), limits.machine
    stages = (Stage(FEATURES, machine.store(2 * n * p)), _restarts(task, p, machine, single=False))
    return _plan(task, "features", stages, _tables(task) + 2 * n * p, n_features=p)


def _products(task: KMeansTask, p: int, limits: Limits) -> KMeansPlan:
    """Starts on landmarks, and then exact steps by products."""
    starts = _restarts(task, p, limits.machine, single=True)
    stages = (_drawing(task, p, limits), starts, _steps(task, limits.machine))
    return _plan(task, "products", stages, _on_landmarks(task, p), n_landmarks=p)


def _landmarks(task: KMeansTask, p: int, limits: Limits) -> KMeansPlan:
    """Starts on the first landmarks, and then steps on all of them."""
    machine = limits.machine
    starts = _restarts(task, min(p, FIRST), machine, single=True)
    stages = (_drawing(task, p, limits), starts, Stage(STEPS, _step(task, p, machine, single=True) * EACH))
    return _plan(task, "landmarks", stages, _on_landmarks(task, p), n_landmarks=p)


def _drawing(task: KMeansTask, p: int, limits: Limits) -> Stage:
    n, machine = float(task.rows), limits.machine
    draw = machine.pairs(n * p, int(task.filled)) + machine.multiply(PIVOTED * n * float(p) ** 2)
    return Stage(LANDMARKS, draw + machine.store(n * p))


def _tables(task: KMeansTask) -> float:
    """Numbers that every method holds."""
    n = float(task.rows)
    return TABLES * n * task.clusters + min(BLOCKS, 4 * n**2)


def _on_landmarks(task: KMeansTask, p: int) -> float:
    """Numbers that are held with so many landmarks."""
    n = float(task.rows)
    return _tables(task) + 0.5 * n * p + min(n * p, max(DRAWN, 4.0 * p**2)) + 3.0 * p**2 + STRIPS


def _restarts(task: KMeansTask, width: float, machine: Machine, single: bool) -> Stage:
    """All starts, where the product of a row with a mean takes so many multiplications."""
    return Stage(RESTARTS, task.runs * (EACH + SEEDING) * _step(task, width, machine, single))


def _step(task: KMeansTask, width: float, machine: Machine, single: bool) -> float:
    n, k = float(task.rows), float(task.clusters)
    return machine.multiply(2 * n * width * k, single) + machine.store(WRITTEN * n * k) + 30 * machine.call


def _steps(task: KMeansTask, machine: Machine) -> Stage:
    """Exact steps: half of the pairs to sum up, and those of rows that move."""
    pairs, columns = float(task.rows) ** 2, int(task.filled)
    values = machine.pairs((0.5 + MOVED) * pairs, columns)
    return Stage(STEPS, values + machine.multiply((2.0 + 2.0 * MOVED) * pairs * task.clusters))


def _plan(
    task: KMeansTask,
    method: str,
    stages: tuple[Stage, ...],
    numbers: float,
    n_features: int = 0,
    n_landmarks: int = 0,
) -> KMeansPlan:
    return Plan(
        method=method,
        rows=task.rows,
        columns=task.columns,
        outputs=task.clusters,
        bytes=int(8 * numbers),
        seconds=sum(stage.seconds for stage in stages),
        stages=stages,
        details=KMeansDetails(),
        n_features=n_features,
        n_landmarks=n_landmarks,
        gives_up="exactness" if method == "landmarks" else "",
    )


# -- spectral clustering ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpectralTask(Task[SpectralDetails]):
    """Eigenvectors of a graph, and k-means on them, that are to be planned.

    Parameters
    ----------
    rows, columns : int
        Of the data.
    clusters, runs : int
        How many clusters, and starts of k-means.
    filled : float
        Nonzero numbers per row, where rows are sparse; else the columns.
    components : int
        How many eigenvectors.
    n_features : int or None, default=None
        Of the finite lift; None where there is none.
    lift_given : bool, default=False
        Whether these are the features of a given lift.
    approximable : bool, default=True
        Whether there are products without the matrix.
    method : {"auto", "exact", "krylov"}, default="auto"
        What was requested.

    Examples
    --------
    >>> from mercer.planner import SpectralTask, choose
    >>> choose(SpectralTask(500, 5, clusters=3, runs=10, filled=5.0, components=3)).method
    'exact'
    """

    rows: int
    columns: int
    clusters: int
    runs: int
    filled: float
    components: int
    n_features: int | None = None
    lift_given: bool = False
    approximable: bool = True
    method: str = "auto"

    def candidates(self, limits: Limits) -> Iterator[SpectralPlan]:
        """The kernel matrix, unasked for few rows, and products with it."""
        if self.method == "exact" or (self.method == "auto" and self.rows <= WHOLE):
            yield self._decomposed(limits)
        if self.method != "exact":
            yield self._multiplied(limits)

    def _decomposed(self, limits: Limits) -> SpectralPlan:
        n, machine = float(self.rows), limits.machine
        few = machine.leading_eigenvectors(self.rows, 2 * self.components + SPARE_PRODUCTS)
        stages = (
            Stage(DEGREES, machine.pairs(n**2 / 2, int(self.filled)) + machine.store(n**2)),
            Stage(DECOMPOSING, min(machine.eigenvectors(self.rows), few)),
            self._means(machine),
        )
        return self._plan("exact", stages, 3 * n**2 + self._held() + 4 * n * self.components)

    def _multiplied(self, limits: Limits) -> SpectralPlan:
        n, machine, columns, width = float(self.rows), limits.machine, int(self.filled), self.components + 6.0
        fast = machine.pairs(n**2 / 2, columns, single=True) + machine.multiply(2 * n**2 * width, single=True)
        slow = machine.pairs(n**2 / 2, columns) + machine.multiply(2 * n**2 * width)
        work = Stage(COMPONENTS, PRODUCTS * fast + LAST * slow)
        stages = (Stage(DEGREES, machine.pairs(n**2, columns)), work, self._means(machine))
        numbers = self._held() + 2 * n * (2 * self.components + BEYOND) + 8 * n * width + min(BLOCKS, 4 * n**2)
        return self._plan("krylov", stages, numbers)

    def _means(self, machine: Machine) -> Stage:
        n = float(self.rows)
        step = machine.multiply(2 * n * self.components * self.clusters) + machine.store(n)
        return Stage(MEANS, self.runs * EACH * step)

    def _held(self) -> float:
        """Numbers of a matrix that was given, or of the features of a lift."""
        n = float(self.rows)
        held = 0.0 if self.approximable or self.lift_given else 2 * n**2
        return held + (2 * n * (self.n_features or 0) if self.lift_given else 0.0)

    def _plan(self, method: str, stages: tuple[Stage, ...], numbers: float) -> SpectralPlan:
        seconds = sum(stage.seconds for stage in stages)
        shape = (self.rows, self.columns, self.clusters)
        return Plan(method, *shape, int(8 * numbers), seconds, stages, SpectralDetails())

    def refusal(self, plans: Sequence[SpectralPlan], limits: Limits) -> Refusal:
        """The smallest method."""
        least = min(plans, key=lambda plan: plan.bytes)
        purpose = f"spectral clustering of {self.rows:,} rows ({least.method})"
        remedy = 'Use method="krylov", or fewer' if self.method == "exact" else "Use fewer components, or fewer"
        return Refusal(least.bytes, purpose, f"{remedy} rows.")
