"""The plans of clusters: k-means on a stored matrix, on features, by products, or on landmarks; and of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mercer.compute.runtime.memory import Budget, text_of
from mercer.planner.html import ShownPlan
from mercer.planner.landmarks import PIVOTED
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import Stage

ClusterWay = Literal["kernel matrix", "features", "products", "landmarks"]
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
MANY = 1e8
"""Pairs of rows above which the machine is measured."""
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
class ClusterTask:
    """What is to be planned.

    rows, columns : of the data; only rows that differ count
    clusters, runs : how many clusters, and starts
    filled : numbers of a row that are not zero, where rows are sparse; else the columns
    features : of the finite lift; None where there is none
    lift_given : whether these are the features of a lift that was given
    approximable : whether landmarks can stand for the kernel, and products be had without the matrix
    """

    rows: int
    columns: int
    clusters: int
    runs: int
    filled: float
    features: int | None = None
    lift_given: bool = False
    approximable: bool = True


@dataclass(frozen=True)
class ClusterPlan(ShownPlan):
    """One way to clusters, and what it is to take.

    method : "k-means" or "spectral clustering"
    way : "kernel matrix", "features" and "products" have the kernel itself, "landmarks" approximates it
    features : how many features, or landmarks, there are, at most; of "products" those of the starts
    bytes, seconds : beyond the data, about

    >>> stages = Stage("landmarks", 0.1), Stage("restarts", 0.6), Stage("steps", 0.9)
    >>> print(ClusterPlan("k-means", "products", 20_000, 10, 10, 128, 60_000_000, 1.6, stages))
    k-means on 20,000 rows x 10 columns, 10 clusters: products (128 landmarks first), about 1.6 s and 57.2 MiB
    """

    method: str
    way: ClusterWay
    rows: int
    columns: int
    clusters: int
    features: int
    bytes: int
    seconds: float
    stages: tuple[Stage, ...]

    @property
    def exact(self) -> bool:
        """Whether the clusters are those of the kernel itself, or of the lift that was given."""
        return self.way != "landmarks"

    def __str__(self) -> str:
        many = f"{self.clusters} cluster{'s' * (self.clusters != 1)}"
        what = f"{self.method} on {self.rows:,} rows x {self.columns:,} columns, {many}: {self.way}"
        first = " landmarks first" if self.way == "products" else ""
        how = f" ({self.features:,}{first})" if self.features else ""
        return f"{what}{how}, about {self.seconds:.2g} s and {text_of(self.bytes)}"


# -- k-means ----------------------------------------------------------------------------------------------------------


def kmeans(
    who: str, task: ClusterTask, solver: str, rank: int | None, budget: Budget, seconds: float | None = None
) -> ClusterPlan:
    """The first way that fits into memory and time; an error where none fits into memory.

    solver : "auto", "exact" or "landmarks"
    rank : how many landmarks were asked for
    seconds : the time limit, or None for about a minute
    """
    limits = Limits(budget.bytes, seconds, _machine(task))
    ways = [_way(task, way, features, limits) for way, features in _candidates(task, solver, rank)]
    return _first(who, ways, budget, limits, "Use fewer rows, fewer clusters, or fewer landmarks.")


def _machine(task: ClusterTask) -> Machine:
    return Machine.here() if float(task.rows) ** 2 > MANY else ROUGH


def _first(who: str, ways: list[ClusterPlan], budget: Budget, limits: Limits, remedy: str) -> ClusterPlan:
    fitting = [way for way in ways if budget.allows(way.bytes)]
    if not fitting:
        least = min(ways, key=lambda way: way.bytes)
        budget.require(least.bytes, f"{least.method} of {least.rows:,} rows ({least.way})", remedy)
    in_time = [way for way in fitting if way.seconds <= limits.patience]
    return in_time[0] if in_time else min(fitting, key=lambda way: way.seconds)


def _candidates(task: ClusterTask, solver: str, rank: int | None) -> list[tuple[ClusterWay, int]]:
    """Ways, the best first, with the number of their features."""
    n, width = task.rows, task.features
    if task.lift_given and width is not None:
        return [("features", width)]
    if not task.approximable:
        return [("kernel matrix", 0)]
    exact: list[tuple[ClusterWay, int]] = []
    if width is not None and 0 < width <= min(n, LIFTED):
        exact.append(("features", width))
    if n <= WHOLE:
        exact.append(("kernel matrix", 0))
    lifted: list[tuple[ClusterWay, int]] = [
        ("landmarks", each) for each in dict.fromkeys(min(each, n) for each in (RANKS if rank is None else (rank,)))
    ]
    if solver == "landmarks":
        return [*exact[:1], *lifted] if exact and exact[0][0] == "features" and rank is None else lifted
    exact.append(("products", min(n, FIRST if rank is None else rank)))
    return exact if solver == "exact" else [*exact, *lifted]


def _way(task: ClusterTask, way: ClusterWay, p: int, limits: Limits) -> ClusterPlan:
    n, k, machine = float(task.rows), float(task.clusters), limits.machine
    tables = TABLES * n * k + min(BLOCKS, 4 * n**2)
    if way == "kernel matrix":
        build = machine.pairs(n**2 / 2, int(task.filled)) + machine.store(n**2)
        build += 0.0 if task.approximable else machine.cholesky(task.rows)
        stages = (Stage(MATRIX, build), _restarts(task, n * MOVED, machine, single=False))
        return _planned("k-means", task, way, p, stages, 8 * (tables + (1.0 if task.approximable else 3.0) * n**2))
    if way == "features":
        stages = (Stage(FEATURES, machine.store(2 * n * p)), _restarts(task, p, machine, single=False))
        return _planned("k-means", task, way, p, stages, 8 * (tables + 2 * n * p))
    draw = machine.pairs(n * p, int(task.filled)) + machine.multiply(PIVOTED * n * float(p) ** 2)
    starts = _restarts(task, p if way == "products" else min(p, FIRST), machine, single=True)
    last = _steps(task, machine) if way == "products" else Stage(STEPS, _step(task, p, machine, single=True) * EACH)
    numbers = tables + 0.5 * n * p + min(n * p, max(DRAWN, 4.0 * p**2)) + 3.0 * p**2 + STRIPS
    first = Stage(LANDMARKS, draw + machine.store(n * p))
    return _planned("k-means", task, way, p, (first, starts, last), 8 * numbers)


def _restarts(task: ClusterTask, width: float, machine: Machine, single: bool) -> Stage:
    """All starts, where the product of a row with a mean takes so many multiplications."""
    return Stage(RESTARTS, task.runs * (EACH + SEEDING) * _step(task, width, machine, single))


def _step(task: ClusterTask, width: float, machine: Machine, single: bool) -> float:
    n, k = float(task.rows), float(task.clusters)
    return machine.multiply(2 * n * width * k, single) + machine.store(WRITTEN * n * k) + 30 * machine.call


def _steps(task: ClusterTask, machine: Machine) -> Stage:
    """Exact steps: half of the pairs to sum up, and those of rows that move."""
    pairs, columns = float(task.rows) ** 2, int(task.filled)
    values = machine.pairs((0.5 + MOVED) * pairs, columns)
    return Stage(STEPS, values + machine.multiply((2.0 + 2.0 * MOVED) * pairs * task.clusters))


def _planned(
    method: str, task: ClusterTask, way: ClusterWay, p: int, stages: tuple[Stage, ...], size: float
) -> ClusterPlan:
    seconds = sum(stage.seconds for stage in stages)
    return ClusterPlan(method, way, task.rows, task.columns, task.clusters, p, int(size), seconds, stages)


# -- spectral clustering ----------------------------------------------------------------------------------------------


def spectral(who: str, task: ClusterTask, components: int, budget: Budget, seconds: float | None = None) -> ClusterPlan:
    """The plan of eigenvectors of a graph and k-means on them; an error where it does not fit the memory.

    task : `approximable` where products can be had without the matrix
    """
    limits = Limits(budget.bytes, seconds, _machine(task))
    ways = [_graph(task, "products", components, limits)]
    if task.rows <= WHOLE:
        ways.insert(0, _graph(task, "kernel matrix", components, limits))
    return _first(who, ways, budget, limits, "Use fewer rows, or fewer components.")


def _graph(task: ClusterTask, way: ClusterWay, components: int, limits: Limits) -> ClusterPlan:
    n, machine, columns = float(task.rows), limits.machine, int(task.filled)
    held = 0.0 if task.approximable or task.lift_given else 2 * n**2
    held += 2 * n * (task.features or 0) if task.lift_given else 0.0
    means = Stage(MEANS, task.runs * EACH * (machine.multiply(2 * n * components * task.clusters) + machine.store(n)))
    if way == "kernel matrix":
        stages = (
            Stage(DEGREES, machine.pairs(n**2 / 2, columns) + machine.store(n**2)),
            Stage(DECOMPOSING, machine.eigenvectors(task.rows)),
            means,
        )
        return _planned("spectral clustering", task, way, 0, stages, 8 * (3 * n**2 + held + 4 * n * components))
    width = components + 6.0
    fast = machine.pairs(n**2 / 2, columns, single=True) + machine.multiply(2 * n**2 * width, single=True)
    slow = machine.pairs(n**2 / 2, columns) + machine.multiply(2 * n**2 * width)
    stages = (Stage(DEGREES, machine.pairs(n**2, columns)), Stage(COMPONENTS, PRODUCTS * fast + LAST * slow), means)
    numbers = held + 2 * n * (2 * components + BEYOND) + 8 * n * width + min(BLOCKS, 4 * n**2)
    return _planned("spectral clustering", task, way, 0, stages, 8 * numbers)
