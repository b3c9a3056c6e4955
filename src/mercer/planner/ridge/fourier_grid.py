"""A grid of frequencies: one pass of non-uniform transforms, and a system that knows no rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercer.compute import nonuniform
from mercer.planner.limits import Limits
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge.details import DIGITS, GRID, RidgeDetails, RidgePlan
from mercer.solvers import ConjugateGradient, Eigen

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

MAX_DENSE = 4_000
"""Features whose squares are stored, at most, for a spectrum that serves all penalties."""
NEAR, ROW = 14.0, 2_000.0
"""Lattice points in each column that a row is spread over, and operations beside those."""
SPREAD, PLAIN = 8.0, 8.0
"""Operations for each of these points; for each frequency, where there is no FINUFFT."""
STEPS, LATTICE = 250.0, 10.0
"""Steps of conjugate gradients; operations for each point of a lattice and bit of their number."""
LIKELIHOOD, SEARCHED = 1e11, 100.0
"""Operations of a search for a penalty by likelihood; numbers that are read for each row, to find the nearest."""
SQUARES, BOXES, BATCH = 5.0, 6.0, 1 << 19
"""Numbers for M^2 of a stored system; complex boxes of sums, beside one a lane and output; rows of a piece."""


@dataclass(frozen=True)
class GridSize:
    """How large a grid of frequencies is that stands for a kernel.

    Parameters
    ----------
    features : int
        M.
    points : int
        Of the lattice on which twice the orders can be told apart.
    error : float
        Of kernel values, at most, in units of k(x, x).
    """

    features: int
    points: int
    error: float

    @property
    def dense(self) -> bool:
        """Whether the squares of the features are stored."""
        return self.features <= MAX_DENSE


def fourier_grid(task: RidgeTask, size: GridSize, limits: Limits) -> RidgePlan:
    """The plan for a grid that was found."""
    machine, n, outputs = limits.machine, float(task.rows), task.outputs
    likely = task.path and not size.dense
    one = machine.multiply(_row(task.columns, size) * n)
    passing = task.lengthscales * (one * math.ceil((1 + outputs) / 2) + machine.read(n * (task.columns + outputs)))
    checking = 2 * one * math.ceil(outputs / 2) + machine.read(n * (task.columns + outputs))
    transform = machine.multiply(LATTICE * size.points * math.log2(2 + size.points))
    lanes = 2.0 * 2 * (1 + outputs) * size.points
    if size.dense:
        square = float(size.features) ** 2
        solving = machine.eigenvectors(size.features) + machine.store(SQUARES * square)
        judging = size.features * transform + one * math.ceil(task.alphas * (1 + outputs) / 2) if task.path else 0.0
        stages = [Stage("pass", passing), Stage("solve", task.lengthscales * (solving + judging))]
        numbers = SQUARES * square
    else:
        asking = machine.multiply(LIKELIHOOD * outputs) + machine.read(SEARCHED * n) if likely else 0.0
        stages = [Stage("tuning", asking), Stage("pass", passing), Stage("solve", STEPS * outputs * 2 * transform)]
        numbers = BOXES * 2 * size.points
    stages.append(Stage("check", checking))
    batch = min(task.rows, BATCH)
    numbers += lanes + batch * (6.0 + 4 * task.columns + 4 * outputs) + 2.0 * n * outputs * task.stored
    lost = [f"the kernel to {size.error:.0e} of k(x, x) (certified)"]
    lost += ["alpha chosen by the likelihood of a sample"] if likely else []
    solver = Eigen() if size.dense else ConjugateGradient()
    own = RidgeDetails("primal", solver, n * _row(task.columns, size), batch=batch, epsilon=size.error)
    return Plan(
        method=GRID,
        rows=task.rows,
        columns=task.columns,
        outputs=outputs,
        bytes=int(8 * numbers),
        seconds=sum(stage.seconds for stage in stages),
        stages=tuple(stages),
        details=own,
        n_features=size.features,
        gives_up="" if size.error <= DIGITS else ", ".join(lost),
    )


def _row(columns: int, size: GridSize) -> float:
    """Operations of a transform for a row."""
    return ROW + SPREAD * NEAR**columns if nonuniform.is_fast() else PLAIN * size.points
