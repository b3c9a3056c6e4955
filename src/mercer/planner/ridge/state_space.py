"""Sweeps over one column: exact, with time and memory in proportion to the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.planner.limits import Limits
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge.details import RidgeDetails, RidgePlan
from mercer.solvers import Cholesky

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

SLOWER = 8.0
"""How many times longer an operation of a sweep takes than one of a product: it waits for the one before."""
SCALAR = 33.0
"""The same for one alpha in units of several, which are vectors: what is found of each row beside them included."""
STEP = 700.0
"""Operations for what happens between two times, whatever the alphas."""
SORTED = 60.0
"""Numbers written for each row beside sweeps: it is sorted, merged and looked at."""
CHECKPOINTS = 1 / 512
"""States that are kept, for each row and alpha."""
HELD = 20.0
"""Numbers that are held of each row and output."""


def state_space(task: RidgeTask, limits: Limits) -> RidgePlan:
    """Two sweeps for all alphas, where some are tried, and two for those that are taken."""
    machine, n, size = limits.machine, float(task.rows), task.components
    columns, alphas = task.outputs + task.extra_features + 1.0, task.alphas if task.path else 0
    state = size * (size + 1) / 2 + size * columns
    sweep = 3 * (6.0 * size**2 * (size + 1) + 4.0 * size * columns)  # forth, and in each piece forth and back
    tuning = task.lengthscales * n * (3 * STEP * (alphas > 0) + alphas * sweep)
    solving = n * (3 * STEP + SCALAR * sweep)
    stages = (
        Stage("tuning", machine.multiply(SLOWER * tuning)),
        Stage("solve", machine.multiply(SLOWER * solving) + machine.store(SORTED * n)),
    )
    numbers = n * (HELD * task.outputs + task.extra_features + 4 + 2 * CHECKPOINTS * state * max(alphas, 1))
    return Plan(
        method="state space",
        rows=task.rows,
        columns=task.columns,
        outputs=task.outputs,
        bytes=int(8 * numbers),
        seconds=sum(stage.seconds for stage in stages),
        stages=stages if alphas else stages[1:],
        details=RidgeDetails("dual", Cholesky(), tuning + solving, rank=size),
    )
