"""Which side of the Woodbury identity, and which solver: chosen by operations among the ways that fit the memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mercer.compute.budget import Budget
from mercer.errors import InputError, sentence
from mercer.planner.plan import Plan, Side
from mercer.solvers import Cholesky, Eigen, Solver

PAIR = 20.0
"""Operations that the formula of a kernel takes for a pair, beyond the two a column of its distance."""


@dataclass(frozen=True)
class Task:
    """What is to be fitted.

    rows, columns, outputs : of the data
    features : of the finite lift, None where there is none
    alphas : how many penalties a whole path has; 1 where alpha is given, and so many as differ where several are
    path : whether alpha is chosen by leave-one-out, which takes a decomposition that serves every alpha
    lengthscales : how many are tried
    """

    rows: int
    columns: int
    outputs: int
    features: int | None
    alphas: int = 1
    path: bool = False
    lengthscales: int = 1


def choose(who: str, task: Task, solver: Solver | None = None, budget: Budget | None = None) -> Plan:
    """The plan of least operations that fits the memory; an error that names the smallest where none fits."""
    allowed = Budget.of(None) if budget is None else budget
    ways = sorted(ways_of(task, solver), key=lambda way: way.operations)
    if not ways:
        came, remedy = f"{solver} solves for one alpha", "Use Eigen(), or give numbers: one alpha, one lengthscale."
        raise InputError(sentence(who, "a solver of whole paths where something is chosen", came, remedy))
    fitting = [way for way in ways if allowed.allows(way.bytes)]
    if not fitting:
        least = min(ways, key=lambda way: way.bytes)
        remedy = "Give fewer rows, or a lift of fewer features, such as Nystrom(\"gaussian('median')\", 1000)."
        allowed.require(who, least.bytes, f"the {least.side} with {least.solver} on {task.rows} rows", remedy)
    best = fitting[0]
    others = tuple(way for way in ways if way is not best)
    return replace(best, reason=_reason(task, best, ways, solver), others=others)


def ways_of(task: Task, solver: Solver | None) -> list[Plan]:
    """Every way that gives the exact answer."""
    solvers: tuple[Solver, ...] = (solver,) if solver is not None else (Cholesky(), Eigen())
    if task.path:
        solvers = tuple(each for each in solvers if each.whole_path)
    sides: tuple[Side, ...] = ("dual",) if task.features is None else ("primal", "dual")
    return [_way(task, side, each) for side in sides for each in solvers]


def _way(task: Task, side: Side, solver: Solver) -> Plan:
    n, p = task.rows, task.features
    size = p if side == "primal" and p is not None else n
    cost = solver.cost(size, task.outputs)
    operations = cost.operations * (1 if solver.whole_path else task.alphas)
    if task.path:
        operations += 4.0 * n * size * task.alphas
    if side == "primal" and p is not None:
        building, table = n * float(p) ** 2 * (2 if task.path else 1), (2 if task.path else 1) * float(n) * p
    else:
        building, table = n**2 * (PAIR + 2 * task.columns) / 2, float(n) * task.columns
    kept = float(size) ** 2 if task.lengthscales > 1 else 0.0
    numbers = cost.numbers + table + kept
    total = task.lengthscales * (operations + building)
    return Plan("direct", side, solver, n, task.columns, task.outputs, p, total, int(8 * numbers), 0.0)


def _reason(task: Task, best: Plan, ways: list[Plan], solver: Solver | None) -> str:
    cheaper = [way.side for way in ways if way.operations < best.operations]
    if task.features is None:
        side = "No finite lift is known."
    elif "primal" in (best.side, *cheaper):
        side = f"The lift has {task.features} features, and there are {task.rows} rows."
    else:
        side = f"The lift has {task.features} features, which is no cheaper than {task.rows} rows."
    if cheaper:
        side += " What takes fewer operations does not fit the memory."
    if solver is not None:
        return f"{side} The solver was given."
    return f"{side} One decomposition serves all alphas." if best.solver.whole_path else side
