"""The state of the exact solver of SVMs: coefficients, their gradient, and which rows are worth another look.

A gradient costs pairs of all rows with the support, so it is not computed anew in float64 as a whole: rows that took
part in the last rounds have theirs, the others get one from fast rows, and float64 is left to those that decide, the
support and the rows that may be on the wrong side of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.operators import Operator
from mercer.solvers.svm.box_qp import Array, BoxQP

Rows = NDArray[np.intp]
ERROR_MARGIN = 10.0
"""A row is looked at in float64 if its gradient may be wrong by so many times the largest error at the support."""


class State:
    """Coefficients, their gradient, and how far the solver is.

    g : Kb + linear; after `check` in float64 where it decides: at the support and wherever a violation is possible
    violation : as `BoxQP` has it, by g

    A gradient that is given is one from fast rows: `check` it.
    """

    def __init__(self, problem: BoxQP, b: Array, exact: Operator, g: Array | None = None) -> None:
        self.problem, self.b, self.exact = problem, b, exact
        self.steps = self.rounds = 0
        if g is None:
            self.restore()
        else:
            self.g, self._stale, self._known = g, np.zeros(0, np.intp), b.copy()
            self.violation = problem.violation(b, g)

    @property
    def blank(self) -> bool:
        """Whether nothing has been learned."""
        return not self.b.any()

    def restore(self) -> None:
        """The gradient anew, in float64. Cost: pairs of all rows with the support."""
        support, self.g = np.flatnonzero(self.b), self.problem.linear.copy()
        if len(support):
            self.g += self.exact.combine(support, self.b[support])
        self._stale, self._known = np.zeros(0, np.intp), self.b.copy()
        self.violation = self.problem.violation(self.b, self.g)

    def optimal_on(self, active: Rows, g: Array) -> None:
        """Some rows are optimal with this gradient; that of the others is not known any more."""
        self.g[active] = g
        stale = np.ones(self.problem.count, bool)
        stale[active] = False
        self._stale = np.flatnonzero(stale)

    def refresh(self, K: Operator) -> None:
        """The gradient where it is not known, by fast rows. Cost: pairs of these rows with coefficients that moved."""
        rows, moves = self._stale, self.b - self._known
        moved, support = np.flatnonzero(moves), np.flatnonzero(self.b)
        if len(rows) and len(support) < len(moved):
            self.g[rows] = self.problem.linear[rows]
            moves, moved = self.b, support
        if len(rows) and len(moved):
            self.g[rows] += K.combine(moved, moves[moved], rows)
        self._stale, self._known = rows[:0], self.b.copy()
        self.violation = self.problem.violation(self.b, self.g)

    def check(self) -> None:
        """The gradient in float64 where it decides. Cost: pairs of the support with itself, and with near rows.

        How wrong fast rows are is seen at the support; rows optimal by less than `ERROR_MARGIN` times that are checked.
        """
        support = np.flatnonzero(self.b)
        known = self._exactly(support, support)
        slack = ERROR_MARGIN * float(np.abs(known - self.g[support]).max(initial=0.0))
        self.g[support] = known
        rises, falls = self.problem.rises(self.b, self.g), self.problem.falls(self.b, self.g)
        near = (rises - slack < falls.max()) | (falls + slack > rises.min())
        near[support] = False
        rows = np.flatnonzero(near)
        self.g[rows] = self._exactly(rows, support)
        self.violation = self.problem.violation(self.b, self.g)

    def _exactly(self, rows: Rows, support: Rows) -> Array:
        if len(rows) == 0 or len(support) == 0:
            return self.problem.linear[rows]
        return np.asarray(self.problem.linear[rows] + self.exact.combine(support, self.b[support], rows))

    def nearest(self, more: float, least: int, most: int) -> Rows:
        """Rows to go on with, sorted: those that violate the KKT conditions, and others that are nearest to that.

        more : how many rows for each violation
        least, most : rows beside, and rows in all
        """
        level = -self.problem.bias(self.b, self.g)
        rises, falls = self.problem.rises(self.b, self.g), self.problem.falls(self.b, self.g)
        inside = np.minimum(rises - level, level - falls)
        count = min(int(more * np.count_nonzero(inside <= 0)) + least, most)
        if count >= len(inside):
            return np.arange(len(inside))
        return np.sort(np.argpartition(inside, count)[:count])
