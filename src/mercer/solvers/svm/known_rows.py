"""Rounds on rows of the matrix that are fetched a few at a time: for problems whose rows can all be kept.

Each round fetches the rows of some coefficients that violate the KKT conditions most, and then moves all coefficients
whose rows are known, until these violate them by a part of what all did. Every step moves the gradient of all, so that
nothing has to be gathered, and a problem of few support vectors is solved with few rows. Coefficients that stay at an
end of the box are left out (shrinking).

Cost: values of the kernel for each coefficient that ever moves, and some operations per row for each step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.operators import Operator
from mercer.solvers.svm.box_qp import Array
from mercer.solvers.svm.kernel_cache import KernelCache
from mercer.solvers.svm.smo import walk
from mercer.solvers.svm.state import State

Rows = NDArray[np.intp]
FETCHED_SHARE, MIN_FETCHED, MAX_FETCHED = 0.5, 32, 256
"""Rows that are fetched in a round: this part of the support so far, within these bounds."""
LEFT_SHARE = 0.1
"""The part of the violation of all that a round leaves among the coefficients whose rows are known."""
MIN_STEPS = 1000
"""Steps between two looks at what can be left out, at least: as many as there are rows."""
MAX_SHRUNK_SHARE = 0.7
"""The part of the rows that may be left for shrinking to be worth it."""


def rounds_on_known(state: State, pool: KernelCache, K: Operator, goal: float, max_steps: int, run: Run) -> None:
    """Rounds until no coefficient violates the KKT conditions by more, as far as these rows can tell."""
    problem, b, g, active = state.problem, state.b.copy(), state.g.copy(), np.arange(state.problem.count)
    diagonal, steps = np.asarray(K.diagonal(), dtype=np.float64), 1
    pool.take(K)
    pool.fetch(np.flatnonzero(b))
    while state.steps < max_steps:
        rises, falls = problem.rises(b, g), problem.falls(b, g)
        low, high = float(rises.min()), float(falls.max())
        if not high - low > goal:
            break
        if steps >= max(MIN_STEPS, len(b)):  # the last round took long
            kept = np.flatnonzero((rises < high) | (falls > low))  # the others stay at an end of the box, or at zero
            if len(kept) <= MAX_SHRUNK_SHARE * len(b):
                active, b, g, diagonal = active[kept], b[kept], g[kept], diagonal[kept]
                problem, steps = state.problem.part(active), 1
                pool.shrink(kept, K.part(active))
                continue
        count = min(MAX_FETCHED, max(MIN_FETCHED, int(FETCHED_SHARE * np.count_nonzero(b))))
        wanted = _wanted(rises, falls, pool.known, count)
        if len(wanted) == 0 and steps == 0:
            break
        pool.fetch(wanted)
        tolerance = max(goal, LEFT_SHARE * (high - low)) if len(wanted) else goal
        most = min(max(MIN_STEPS, len(b)), max_steps - state.steps)
        steps, _ = walk(pool.values, problem, b, g, tolerance, most, diagonal, pool.slots)
        state.b[active] = b
        state.steps, state.rounds = state.steps + steps, state.rounds + 1
        with run.stoppable():
            run.tell(float(state.rounds))
    state.optimal_on(active, g)


def _wanted(rises: Array, falls: Array, known: NDArray[np.bool_], count: int) -> Rows:
    """The coefficients that violate the KKT conditions most and whose rows are not known, on both sides."""
    found, some = [], count // 2
    for slopes, level in ((rises, float(falls.max())), (-falls, -float(rises.min()))):
        rows = np.flatnonzero((slopes < level) & ~known)
        if len(rows) > some:
            values = slopes[rows]
            if values.max() == values.min():  # at first all of a class are alike
                rows = rows[np.linspace(0, len(rows) - 1, some).astype(np.intp)]
            else:
                rows = rows[np.argpartition(values, some)[:some]]
        found.append(rows)
    return np.unique(np.concatenate(found))
