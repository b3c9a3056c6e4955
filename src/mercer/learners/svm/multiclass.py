"""Classes in duels: one function for each pair of classes, or one for each class against all others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mercer.learners.svm.subproblem import Sought
from mercer.solvers.svm.box_qp import Boxed

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
PAIRS, REST = "ovo", "ovr"
"""One against one, one against the rest."""


def duels(codes: Rows, classes: NDArray[np.generic], C: float, weights: Array, how: str) -> list[Sought]:
    """The functions of a classifier: one for two classes, else one for each pair, or for each class.

    f of the pair (a, b), which stand in the order of combinations, is positive for b; f of a class is positive for it.

    codes : the class of each row, as its position in `classes`
    C : the penalty of errors, which may be infinite
    weights : of rows, positive
    """
    names, everything = [repr(name) for name in classes.tolist()], np.arange(len(codes))
    if len(names) == 2 or how == PAIRS:
        found = []
        for a, b in combinations(range(len(names)), 2):
            rows = np.flatnonzero((codes == a) | (codes == b))
            found.append(_duel(rows, codes[rows] == b, C, weights[rows], f"{names[a]} and {names[b]}"))
        return found
    return [_duel(everything, codes == c, C, weights, f"{name} and all others") for c, name in enumerate(names)]


def _duel(rows: Rows, positive: NDArray[np.bool_], C: float, weights: Array, between: str) -> Sought:
    y = np.where(positive, 1.0, -1.0)
    sizes = np.full(len(y), C) if np.isinf(C) else C * weights
    problem = Boxed(-y, np.where(positive, 0.0, -sizes), np.where(positive, sizes, 0.0))
    return Sought(rows, problem, weights, between)


def votes(values: Array, count: int) -> Array:
    """(rows, classes): how many duels of pairs each class wins; where f is 0 the first one wins."""
    found = np.zeros((len(values), count))
    for column, (a, b) in zip(values.T, combinations(range(count), 2), strict=True):
        second = column > 0
        found[:, b] += second
        found[:, a] += ~second
    return found


def confidences(values: Array, count: int) -> Array:
    """(rows, classes): the votes, and how clearly duels were won, as a number between -1/3 and 1/3 beside them."""
    sums = np.zeros((len(values), count))
    for column, (a, b) in zip(values.T, combinations(range(count), 2), strict=True):
        sums[:, b] += column
        sums[:, a] -= column
    return np.asarray(votes(values, count) + sums / (3 * (np.abs(sums) + 1)))
