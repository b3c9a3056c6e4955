"""Direct methods: a stored kernel matrix or a stored table of features, and a solver of either side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.planner.limits import Limits
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge.details import RidgeDetails, RidgePlan, Side
from mercer.planner.ridge.given_landmarks import learning
from mercer.solvers import Cholesky, ConjugateGradient, Cost, Eigen, Solver
from mercer.solvers.ridge.feature_factor import beside_features

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

PAIR = 20.0
"""Operations that the formula of a kernel takes for a pair, beyond the two a column of its distance."""
TABLED, CHECKED, LEFT_OUT = 40.0, 25.0, 65.0
"""The same for the table of features: when it is made, when it is solved, and for leave-one-out errors of a path."""
FACTORED = 6.0
"""Operations of an orthogonal factor for each row and pair of features, those for the weights included."""
FOUND = 13.0
"""Numbers beside the kernel matrix, for each row and output but the first."""
RESULTS, WORKED, WHITENED = 10.0, 1 << 19, 1 << 22
"""Numbers that are held beside the table of features: for each row and output, of predictions, residuals and how far
rounding moves them; in blocks that are worked on; and in a block of values at landmarks."""


def direct(task: RidgeTask, limits: Limits) -> list[RidgePlan]:
    """Every method that stores a matrix and gives the exact answer."""
    return [_plan(task, side, solver, limits) for side, solver in _open(task)]


def fewest_operations(task: RidgeTask, limits: Limits) -> RidgePlan | None:
    """The direct method that takes the fewest operations; None where no direct one is open."""
    if task.method in ("landmarks", "state_space", "fourier_grid") or not task.stored:
        return None
    if task.products and isinstance(task.solver, ConjugateGradient) and task.side != "primal":
        return None
    given = _open(task)
    if task.solver is None and not task.path and task.alphas == 1:  # one factor takes less than all eigenvectors
        given = [each for each in given if not each[1].whole_path]
    least = min(given, key=lambda each: _operations(task, *each), default=None)
    return None if least is None else _plan(task, *least, limits)


def _open(task: RidgeTask) -> list[tuple[Side, Solver]]:
    """The sides and solvers that a task allows."""
    solvers: tuple[Solver, ...] = (Cholesky(), Eigen()) if task.solver is None else (task.solver,)
    if task.path:
        solvers = tuple(each for each in solvers if each.whole_path)
    sides: tuple[Side, ...] = ("primal", "dual") if task.countable else ("dual",)
    return [(side, each) for side in sides if task.side in ("auto", side) for each in solvers]


def _operations(task: RidgeTask, side: Side, solver: Solver) -> float:
    """Operations to make the matrix, to solve, and to judge a path."""
    n, p = task.rows, task.width
    size = p if side == "primal" else n
    solving = solver.cost(size, task.outputs).operations * (1 if solver.whole_path else task.alphas)
    path = judged(n, size, task) if task.path else 0.0
    pairs = n * float(p) ** 2 * (2 if task.path else 1) if side == "primal" else n**2 * (PAIR + 2 * task.columns) / 2
    return task.lengthscales * (solving + path + pairs)


def _plan(task: RidgeTask, side: Side, solver: Solver, limits: Limits) -> RidgePlan:
    size = task.width if side == "primal" else task.rows
    stages = _stages(task, side, solver, size, limits)
    numbers = _numbers(task, side, solver.cost(size, task.outputs))
    if task.n_landmarks is not None:
        numbers = max(numbers, learning(task, limits)[1])
    return Plan(
        method="direct",
        rows=task.rows,
        columns=task.columns,
        outputs=task.outputs,
        bytes=int(8 * numbers),
        seconds=stages[0].seconds + stages[1].seconds,
        stages=stages,
        details=RidgeDetails(side, solver, _operations(task, side, solver)),
        n_features=task.width if side == "primal" else 0,
    )


def judged(rows: float, size: float, task: RidgeTask) -> float:
    """Operations for the leave-one-out errors of so many rows: a path of penalties for each output, and leverages."""
    return 2.0 * rows * size * task.alphas * (task.outputs + 1)


def _numbers(task: RidgeTask, side: Side, cost: Cost) -> float:
    """Numbers that are held at once: the table of features or the kernel matrix, and what is made of it."""
    n, table = task.rows, float(task.rows) * task.width
    if side == "primal":
        kept = float(task.width) ** 2 if task.lengthscales > 1 else 0.0
        block = min(table, WHITENED) if task.n_landmarks is not None else min(table, WORKED)
        solving = max(cost.numbers, beside_features(n, task.width)) if _may_lose(task) else cost.numbers
        return table + solving + kept + max(block, RESULTS * n * task.outputs)
    kept = float(n) ** 2 if task.lengthscales > 1 else 0.0
    made = table + float(n) ** 2 if task.lift_given else 0.0
    return max(made, cost.numbers + float(n) * task.columns + FOUND * n * (task.outputs - 1)) + kept


def _stages(task: RidgeTask, side: Side, solver: Solver, size: int, limits: Limits) -> tuple[Stage, Stage]:
    machine, n, tries = limits.machine, task.rows, task.lengthscales
    solving = _solving(solver, size, task, limits)
    if task.path:
        solving += machine.multiply(judged(n, size, task))
    if side == "primal":
        twice = 2 if task.path else 1
        name, building = "features", table_seconds(task, size, limits)
        solving += machine.multiply(twice * n * float(size) ** 2)
        solving += machine.store((CHECKED + LEFT_OUT * task.path) * n * size)
        if _may_lose(task):
            less = min(n, size)
            solving += machine.multiply(FACTORED * n * float(size) * less) + 2 * machine.eigenvectors(less)
    else:
        name = "kernel matrix"
        pair = machine.pairs(1.0, task.columns, False) if task.pair is None else limits.pair(task, double=True)
        building = pair * n**2 / 2 + machine.store(float(n) ** 2)
        if task.lift_given:
            features = table_seconds(task, task.width, limits)
            building = features + machine.multiply(2.0 * n**2 * task.width) + machine.store(float(n) ** 2)
    building += 0.0 if task.n_landmarks is None else learning(task, limits)[0]
    return Stage(name, tries * building), Stage("solve", tries * solving + 100 * machine.call)


def _may_lose(task: RidgeTask) -> bool:
    """Whether Z'Z may lose digits that an orthogonal factor of the features has: nobody knows before."""
    return task.unpenalized and task.solver is None


def _solving(solver: Solver, size: int, task: RidgeTask, limits: Limits) -> float:
    """Seconds of a solver for all penalties; the sample knows the spectrum of the kernel matrix."""
    largest = task.spectrum[0] if task.spectrum is not None and size == task.rows else None
    seconds = solver.seconds(size, task.outputs, limits.machine, largest, task.alpha)
    return seconds * (1 if solver.whole_path else task.alphas)


def table_seconds(task: RidgeTask, width: int, limits: Limits) -> float:
    """Seconds for a table of features of all rows: with landmarks, their pairs and a triangular solve."""
    seconds = limits.machine.store(TABLED * task.rows * width)
    if task.n_landmarks is None:
        return seconds
    pairs = limits.pair(task, double=True) * task.rows * width
    return seconds + pairs + limits.machine.multiply(task.rows * float(width) ** 2)
