"""Several classes: one function for each pair of classes, and their votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import View
from mercer.learners.run.fit_run import Watched
from mercer.learners.run.stage_share import StageShare
from mercer.learners.svm.hard_margin import HardMargin
from mercer.learners.svm.methods import ExactMethod
from mercer.learners.svm.problem import SVCProblem
from mercer.learners.svm.subproblem import SoftMargin, Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult
from mercer.solvers.svm.pairs import ClassRows, solve_pairs
from mercer.solvers.svm.working_sets import TOLERANCE_SHARE

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
PAIRS, REST = "ovo", "ovr"
"""What a decision function has columns for: pairs of classes, or classes."""


def subproblems_of(codes: Rows, classes: NDArray[np.generic], C: float, weights: Array, view: View) -> list[Subproblem]:
    """The functions of a classifier, one for each pair of classes.

    f of the pair (a, b), which stand in the order of combinations, is positive for b.

    codes : the class of each row, as its position in `classes`
    C : the penalty of errors, which may be infinite
    weights : of rows, positive
    view : the rows as the kernel sees them
    """
    sizes, names = np.full(len(codes), C) if np.isinf(C) else C * weights, [repr(name) for name in classes.tolist()]
    if len(names) == 2:
        every, y = np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0)
        qp = BoxQP(-y, np.where(codes == 1, 0.0, -sizes), np.where(codes == 1, sizes, 0.0))
        return [_subproblem(every, qp, C, (names[0], names[1]), view)]
    rows = ClassRows.of(codes, len(names))
    members = [rows.members(k) for k in range(len(names))]
    linear = [np.ones(len(own)) for own in members]
    ends, zeros = [sizes[own] for own in members], [np.zeros(len(own)) for own in members]
    found = []
    for a, b in combinations(range(len(names)), 2):
        both = np.concatenate([members[a], members[b]])
        lower, upper = np.concatenate([-ends[a], zeros[b]]), np.concatenate([zeros[a], ends[b]])
        qp = BoxQP(np.concatenate([linear[a], -linear[b]]), lower, upper)
        found.append(_subproblem(both, qp, C, (names[a], names[b]), view))
    return found


def _subproblem(rows: Rows, qp: BoxQP, C: float, between: tuple[str, str], view: View) -> Subproblem:
    return HardMargin(rows, qp, " and ".join(between), view) if np.isinf(C) else SoftMargin(rows, qp)


def solve_on_one_matrix(
    method: ExactMethod, problem: SVCProblem, starts: Sequence[Array | None], run: Watched
) -> list[tuple[BoxQP, QPResult]]:
    """All functions, on values of the kernel that are computed once; one at a time where that does not suffice.

    Values that take long are in float32; the gradient is computed anew in float64 then, where it decides.
    """
    K, settings = method.shared, method.settings
    K.prepare()
    tolerance = settings.tolerance * (TOLERANCE_SHARE if method.narrow else 1.0)
    problems, rows = [one.qp for one in problem.subproblems], ClassRows.of(problem.codes, len(problem.classes))
    found = solve_pairs(K, rows, problems, starts, tolerance, method.first_steps, run)
    solved: list[tuple[BoxQP, QPResult]] = []
    for k, (one, result) in enumerate(zip(problem.subproblems, found, strict=True)):
        result = method.checked(one.qp, one.rows, result)
        if not result.converged and not run.stopped and result.steps < settings.max_steps:
            left = replace(settings, max_steps=settings.max_steps - result.steps)
            more = replace(method.part(one.rows), settings=left).solve(one.qp, result.b, StageShare(run, k))
            result = replace(more, steps=result.steps + more.steps, rounds=result.rounds + more.rounds)
        solved.append((one.qp, result))
    return solved


def votes(values: Array, count: int) -> Array:
    """(rows, classes): how many pairs each class wins; where f is 0 the first one wins."""
    found = np.zeros((len(values), count))
    for column, (a, b) in zip(values.T, combinations(range(count), 2), strict=True):
        second = column > 0
        found[:, b] += second
        found[:, a] += ~second
    return found


def confidences(values: Array, count: int) -> Array:
    """(rows, classes): the votes, and how clearly pairs were won, as a number between -1/3 and 1/3 beside them."""
    sums = np.zeros((len(values), count))
    for column, (a, b) in zip(values.T, combinations(range(count), 2), strict=True):
        sums[:, b] += column
        sums[:, a] -= column
    return np.asarray(votes(values, count) + sums / (3 * (np.abs(sums) + 1)))
