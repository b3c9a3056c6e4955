"""Conjugate gradients: the exact model from products alone, with a preconditioner whose rank is chosen here."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from mercer.planner.landmarks import PIVOTED
from mercer.planner.limits import UNSAVED, Limits
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge.details import RidgeDetails, RidgePlan
from mercer.planner.ridge.direct import PAIR
from mercer.planner.ridge.iterations import TOLERANCE, iterations
from mercer.planner.ridge.tuning_cost import tuning
from mercer.solvers import Solver
from mercer.solvers.ridge.price import Price

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

RANKS = (250, 500, 1000, 2000, 4000)
"""Ranks of the preconditioner that are tried; none over a quarter of the rows."""
LOWER = (30, 60, 120)
"""Lower ones that are tried as well where each pivot takes its time."""
TURNS, THIN = 4.0, 6.0
"""What a step takes beside its product at a backend: so many turns, and vectors that go up and down, or are read and
written here."""
BLOCK, BLOCK_SECONDS, BLOCK_TURNS, BLOCK_THIN = 100.0, 1e-3, 12.0, 4.0
"""Pivots that are taken at once, about, and what that takes: the choice among proposed rows, turns and vectors."""
SEVERAL = 1.6
"""How many times longer a pair takes in a product with several vectors, beside their own operations."""
CHECKS = 2.0
"""Products in float64, for the true residual."""
VECTORS = 12.0
"""Vectors of all rows that are held for each output."""
NOTHING = Price(0.0, 0.0, 0.0, 0.0)
"""Of ranks that are not weighed again."""
TILES = 1 << 22
"""Numbers in the tiles of products, packed columns and sums of workers, about: 32 MB."""


def conjugate_gradients(task: RidgeTask, solver: Solver, limits: Limits) -> RidgePlan:
    """The rank of least time among those that keep to the limits; the smallest where none does."""
    asked = getattr(solver, "preconditioner_rank", None)
    lower = LOWER if limits.machine.turn > 0 else ()
    tried = [*lower, *ranks(task.rows)] if asked is None else [min(asked, task.rows)]
    plans = [_plan(task, solver, rank, limits) for rank in tried]
    fitting = [plan for plan in plans if plan.bytes <= limits.bytes]
    within = [plan for plan in fitting if not (limits.resumable and _building(plan) > UNSAVED)]
    return min(within, key=lambda plan: plan.seconds) if within else plans[0]


def ranks(rows: int) -> list[int]:
    """The ranks that are tried for so many rows."""
    return [rank for rank in RANKS if rank <= rows // 4] or [rows // 4]


def product_seconds(task: RidgeTask, limits: Limits, double: bool = False) -> float:
    """Seconds of a product of the kernel matrix with one vector per output: half of its pairs, each used twice."""
    pair = limits.pair(task, double) * (SEVERAL if task.outputs > 1 else 1.0)
    pair += limits.machine.multiply(4.0 * (task.outputs - 1), task.single and not double)
    return pair * task.rows**2 / 2


def _plan(task: RidgeTask, solver: Solver, rank: int, limits: Limits) -> RidgePlan:
    machine, n = limits.machine, task.rows
    tuned = tuning(task, limits, task.tuned)
    tolerance = getattr(solver, "tol", TOLERANCE)
    steps = iterations(rank, task.spectrum, task.alpha, tolerance)
    entries, price = float(n) * rank, None
    if machine.turn > 0:
        steps *= 1.0 if task.spectrum else math.log(2 / min(max(tolerance, 1e-16), 1.0)) / math.log(2 / TOLERANCE)
        price = _price(task, limits)
        building, step = price.total(rank, 0.0), price.step + price.column * rank
    else:
        building = limits.pair(task, double=True) * entries + machine.store(entries)
        building += machine.multiply(PIVOTED * entries * rank) + machine.eigenvectors(rank)
        step = product_seconds(task, limits) + machine.read(2 * entries) + machine.read(VECTORS * n * task.outputs)
    working = steps * step + CHECKS * product_seconds(task, limits, double=True)
    stages = (*tuned.stages, Stage("preconditioner", building), Stage("iterations", working))
    numbers = entries + 4.0 * rank**2 + VECTORS * n * task.outputs + float(n) * (task.columns + 2) + TILES
    pairs = (steps + CHECKS) * n**2 / 2
    operations = pairs * (PAIR + 2 * task.columns + 4 * task.outputs) + PIVOTED * entries * rank
    return Plan(
        method="conjugate gradients",
        rows=n,
        columns=task.columns,
        outputs=task.outputs,
        bytes=int(8 * max(numbers, tuned.numbers)),
        seconds=sum(stage.seconds for stage in stages),
        stages=stages,
        details=RidgeDetails("dual", solver, operations, rank=rank, sample=tuned.sample, **asdict(price or NOTHING)),
        gives_up=tuned.gives_up,
    )


def _price(task: RidgeTask, limits: Limits) -> Price:
    """What steps and the rank of the preconditioner take at a backend."""
    machine, n = limits.machine, float(task.rows)
    thin = machine.thin * n * task.outputs
    step = product_seconds(task, limits) + TURNS * machine.turn + THIN * thin
    block = BLOCK_SECONDS + BLOCK_TURNS * machine.turn + BLOCK_THIN * machine.thin * n
    pivot = limits.pair(task, double=True) * n + machine.store(2 * n) + block / BLOCK
    return Price(step, machine.read(2 * n), pivot, machine.multiply(PIVOTED * n))


def _building(plan: RidgePlan) -> float:
    return sum(stage.seconds for stage in plan.stages if stage.name == "preconditioner")
