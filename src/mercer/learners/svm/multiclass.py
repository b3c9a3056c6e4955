"""Several classes: one function for each pair of classes, and their votes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import View
from mercer.learners.svm.hard_margin import HardMargin
from mercer.learners.svm.subproblem import SoftMargin, Subproblem
from mercer.solvers.svm.box_qp import BoxQP

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
    names, found = [repr(name) for name in classes.tolist()], []
    for a, b in combinations(range(len(names)), 2):
        rows = np.flatnonzero((codes == a) | (codes == b))
        found.append(_subproblem(rows, codes[rows] == b, C, weights[rows], f"{names[a]} and {names[b]}", view))
    return found


def _subproblem(
    rows: Rows, positive: NDArray[np.bool_], C: float, weights: Array, between: str, view: View
) -> Subproblem:
    y = np.where(positive, 1.0, -1.0)
    sizes = np.full(len(y), C) if np.isinf(C) else C * weights
    qp = BoxQP(-y, np.where(positive, 0.0, -sizes), np.where(positive, sizes, 0.0))
    return HardMargin(rows, qp, between, view) if np.isinf(C) else SoftMargin(rows, qp)


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
