"""What it costs to choose alpha and the lengthscale from a sample of rows, before the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mercer.planner.limits import Limits
from mercer.planner.plan import Stage
from mercer.solvers import Eigen

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

JUDGING = 1.4
"""What it takes to centre, to decompose and to judge, in units of what is counted here."""
SAMPLES = (3000, 1500, 750, 300)
"""Rows that alpha and the lengthscale are chosen from, where all are too many: the first that fits memory and time."""
TUNED = 0.75
"""The part of the time that choosing may take: what it takes more would be paid for with landmarks."""


class Tuning(NamedTuple):
    """The rows that are sampled, None where nothing is chosen; the stage; the numbers held; what is given up."""

    sample: int | None
    stages: tuple[Stage, ...]
    numbers: float
    gives_up: str


def tuning(task: RidgeTask, limits: Limits, needed: bool) -> Tuning:
    """One decomposition of a sample for each lengthscale, where something is to be chosen so."""
    if not needed:
        return Tuning(None, (), 0.0, "")
    sizes = [min(size, task.rows) for size in SAMPLES]
    fitting = [size for size in sizes if 8 * _numbers(task, size) <= limits.bytes] or sizes[-1:]
    times = {size: _seconds(task, size, limits) for size in fitting}
    sample = next((size for size in fitting if times[size] <= TUNED * limits.patience), fitting[-1])
    chosen = " and ".join(["alpha"] * task.path + ["lengthscale"] * (task.lengthscales > 1))
    gives_up = f"{chosen} chosen on {sample:,} rows" if sample < task.rows else ""
    return Tuning(sample, (Stage("tuning", times[sample]),), _numbers(task, sample), gives_up)


def _seconds(task: RidgeTask, sample: int, limits: Limits) -> float:
    machine = limits.machine
    each = limits.pair(task, double=True) * sample**2 / 2 + machine.store(sample**2) + machine.eigenvectors(sample)
    return JUDGING * task.lengthscales * (each + machine.multiply(4.0 * sample**2 * task.alphas))


def _numbers(task: RidgeTask, sample: int) -> float:
    return Eigen().cost(sample, task.outputs).numbers + float(sample) * task.columns
