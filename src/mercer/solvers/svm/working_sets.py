"""The exact solver of SVMs: working sets of many coefficients, each solved by pairs.

Of many rows some are looked at first, and then those that violate the KKT conditions, until none is left: matrices of
some rows are small. Each round takes the coefficients that violate them most, half of them among those whose rows are
known, beside the newest of the last round, computes rows of the kernel matrix at the speed of matrix products,
solves the small problem by pairs in the cache, and moves the gradient. Coefficients that stay at an end of the box are
left out (shrinking): rows are shorter then. At the end the gradient of all is computed anew, in float64 where it
decides, and rows that were left out by mistake are reactivated.

Cost: for each coefficient that ever moves, pairs with the rows that are looked at then, as long as rows are kept; and
after each turn pairs of the others with the coefficients that have moved.

References
----------
Joachims, Making large-scale SVM learning practical (1998).
Wen, Shi, Li, He and Chen, ThunderSVM: a fast SVM library on GPUs and CPUs, JMLR 19 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.backends.board import Board
from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import number_of
from mercer.operators import Operator
from mercer.solvers.ridge.base import opening
from mercer.solvers.svm.box_qp import Array, BoxQP, QPResult
from mercer.solvers.svm.cached_board import CachedBoard
from mercer.solvers.svm.kernel_cache import MIN_WORKING_SETS, Buffer, KernelCache
from mercer.solvers.svm.known_rows import rounds_on_known
from mercer.solvers.svm.smo import add_rows, is_compiled, walk
from mercer.solvers.svm.state import State

Rows = NDArray[np.intp]
MAX_SET = 2048
"""Coefficients of a working set."""
MIN_SET = 64
"""As few as memory for rows may make them."""
MAX_SINGLE_SET = 512
"""Coefficients that make one working set, if they are all."""
MAX_KNOWN_ROWS = 5000
"""Rows up to which each step moves the gradient of all, where all rows of the matrix can be kept."""
DENSITY_ROWS = 64
"""Rows of the matrix that show where data is dense, to start an SVM of one class."""
MIN_FLOAT32_ROWS = 512
"""Rows from which on the matrix is kept in float32."""
TOLERANCE_SHARE = 0.8
"""The part of the tolerance that rounds aim at: rows were left out, and rounded, and another look at all takes long."""
SET_TOLERANCE_SHARE = 0.1
"""The part of the violation that a working set is solved to, as long as others are left."""
STEPS_PER_COEFFICIENT = 30
"""Steps for each coefficient of a working set, at most, in a round; all together in one: more of them."""
MAX_SINGLE_SET_STEPS = 100_000
"""Steps in a round where all coefficients are in the working set: less than a second."""
MIN_GROWING_ROWS = 4096
"""Rows from which on rounds begin with some of them: rows of the matrix are as much shorter."""
FIRST_SHARE, ROWS_PER_VIOLATION, MAX_GROWN_SHARE, MAX_GROWTHS = 0.15, 2.0, 0.5, 8
"""The part of all rows to begin with, rows for each KKT violation later, the largest part, and turns."""
GROWING_TOLERANCE_SHARE = 0.02
"""The part of the violation that is left among some rows, as long as others have been left out."""
ROUNDS_BETWEEN_SHRINKING = 10
"""Rounds between two looks at which rows can be left out."""
UNPLANNED_BYTES = 2.5e8
"""Bytes of rows that are kept where none were planned, since a card was expected to compute them again, and cannot."""
MAX_SHRUNK_SHARE = 0.7
"""The part of the rows that may be left for shrinking to be worth it."""


@dataclass(frozen=True)
class SMOSettings:
    """How exact, and how long.

    tolerance : the violation that is left, at most
    max_steps : pairs that are moved, at most
    bytes : of rows that are kept, about; 0 where a board needs none
    """

    tolerance: float = 1e-3
    max_steps: int = 100_000_000
    bytes: float = 1e9


def solve(
    problem: BoxQP,
    K: Operator,
    settings: SMOSettings,
    start: Array | None = None,
    run: Run = IDLE,
    buffer: Buffer | None = None,
) -> QPResult:
    """The coefficients, and how optimal they are.

    K : the kernel matrix, in float64: a narrow copy of it is made where rows are many
    start : coefficients to start from; None for those nearest to zero
    buffer : where rows are kept; None for one of its own
    """
    exact = K if problem.count < MIN_FLOAT32_ROWS else K.rough()  # in float64 that is exact enough
    if start is None and problem.total != 0:
        state = _at_the_margin(problem, K, exact, settings.tolerance)
    else:
        state = State(problem, problem.feasible(np.zeros(problem.count) if start is None else start), exact)
    reason = ""
    try:
        for rows in _ways(problem.count, K):
            reason = _descend(state, rows, settings, run, buffer)
            if reason or state.violation <= settings.tolerance:
                break
    except Stopped as stopped:
        reason = f"{opening(stopped)}."
        state.restore()
    bias = problem.bias(state.b, state.g)
    gap = problem.gap(state.b, state.g, bias)
    converged = state.violation <= settings.tolerance
    text = reason or f"The largest violation is {state.violation:.1e} after {number_of(state.steps, 'step')}."
    return QPResult(state.b, state.g, bias, state.violation, gap, state.steps, state.rounds, converged, text)


def _at_the_margin(problem: BoxQP, K: Operator, exact: Operator, tolerance: float) -> State:
    """Where an SVM of one class starts: rows that are far from some others are outliers, by fast rows of the matrix."""
    n, fast = problem.count, _ways(problem.count, K)[0]
    fast.prepare()
    rows = np.unique(np.linspace(0, n - 1, DENSITY_ROWS).astype(np.intp))
    values = np.empty((DENSITY_ROWS, n), fast.dtype)
    fast.fill(rows, values[: len(rows)])
    b = problem.filled(values[: len(rows)].sum(axis=0, dtype=np.float64))
    g, support = problem.linear.copy(), np.flatnonzero(b)
    if fast.board() is not None:  # rows stay at the backend
        g += fast.combine(support, b[support])
        support = support[:0]
    for start in range(0, len(support), DENSITY_ROWS):  # sums of few rows at a time take no memory
        some = support[start : start + DENSITY_ROWS]
        fast.fill(some, values[: len(some)])
        add_rows(values, np.arange(len(some)), b[some], g)
    state = State(problem, b, exact, g)
    if state.violation <= tolerance:  # nothing else would check it
        state.check()
    return state


def _ways(count: int, K: Operator) -> list[Operator]:
    """Matrices whose rows are worked with, from fast to exact: each goes on where the one before ended."""
    if count < MIN_FLOAT32_ROWS:
        return [K]
    narrow = K.narrowed()
    rough = narrow.rough()
    return [rough, K] if rough is narrow else [rough, narrow, K]


def _descend(state: State, K: Operator, settings: SMOSettings, run: Run, buffer: Buffer | None) -> str:
    """Rounds until the gradient of all coefficients agrees that nothing is left; why they ended early, or ""."""
    numbers, n = settings.bytes / K.dtype.itemsize, state.problem.count
    size = min(n, MAX_SET, max(MAX_SINGLE_SET, n // 4))  # the first set has rows of which many will not be support
    known = n <= MAX_KNOWN_ROWS and numbers >= n * n and is_compiled(n)
    board: Board | None = None if known else K.board()
    if board is None:
        numbers = numbers or UNPLANNED_BYTES / K.dtype.itemsize
        if numbers < n * n:
            size = int(min(size, max(MIN_SET, numbers / n / MIN_WORKING_SETS)))
        pool = KernelCache(K, numbers, size, buffer)
        board = CachedBoard(K, pool)
    else:
        state.exact.prepare()  # there its rows need not be copied for each look at the truth
    growths, before = (MAX_GROWTHS if n >= MIN_GROWING_ROWS and not known else 0), np.inf
    if growths:
        K.prepare()
    while state.violation > settings.tolerance:
        if state.steps >= settings.max_steps:
            return f"{number_of(settings.max_steps, 'step', ('is', 'are'))} over."
        active = _grown(state) if growths > 0 else np.arange(n)
        some, growths = len(active) < n, growths - 1
        if not some and not state.violation < before:  # these rows cannot tell better
            return ""
        before = np.inf if some else state.violation
        goal = TOLERANCE_SHARE * max(settings.tolerance, GROWING_TOLERANCE_SHARE * state.violation if some else 0.0)
        if known:
            rounds_on_known(state, pool, K, goal, settings.max_steps, run)
        else:
            _rounds(state, board, active, goal, size, settings, run)
        state.refresh(K)
        if not some or state.violation <= settings.tolerance or state.steps >= settings.max_steps:
            state.check()
    return ""


def _grown(state: State) -> Rows:
    """The rows of the next rounds: a few at random at first, then those that violate the KKT conditions."""
    n = state.problem.count
    if state.blank:
        return np.sort(np.random.default_rng(0).permutation(n)[: int(FIRST_SHARE * n)])
    return state.nearest(ROWS_PER_VIOLATION, MAX_SET, int(MAX_GROWN_SHARE * n))


def _rounds(state: State, board: Board, active: Rows, goal: float, size: int, settings: SMOSettings, run: Run) -> None:
    """Rounds on some rows, of which some are left out meanwhile, until those that are left are optimal."""
    problem, b, looked, steps = state.problem.part(active), state.b[active], 0, 1
    board.begin(active, problem, b, state.g[active])
    while state.steps < settings.max_steps and steps > 0:
        low, high = board.ends()
        if not high - low > goal:
            break
        looked += 1
        if looked % ROUNDS_BETWEEN_SHRINKING == 0 and len(active) > size:
            kept = board.shrink(MAX_SHRUNK_SHARE)  # the others stay at an end of the box, or at zero
            if kept is not None:
                active, b = active[kept], b[kept]
                problem = state.problem.part(active)
                continue
        chosen = board.chosen(size)
        alone = len(chosen) == len(b)
        tolerance = goal if alone else max(SET_TOLERANCE_SHARE * (high - low), goal / 2)
        most = min(
            MAX_SINGLE_SET_STEPS if alone else STEPS_PER_COEFFICIENT * len(chosen), settings.max_steps - state.steps
        )
        steps = _round(problem, board, chosen, b, tolerance, most)
        state.b[active[chosen]] = b[chosen]
        state.steps, state.rounds = state.steps + steps, state.rounds + 1
        with run.stoppable():
            run.tell(float(state.rounds))
    state.optimal_on(active, board.gradient())


def _round(problem: BoxQP, board: Board, chosen: Rows, b: Array, tolerance: float, most: int) -> int:
    """Solve one working set, and move the gradient of all coefficients; the steps that it took."""
    values, slopes = board.square(chosen)
    own, before = b[chosen], b[chosen]
    steps, _ = walk(values, problem.part(chosen), own, slopes, tolerance, most)
    board.move(chosen, own, own - before)
    b[chosen] = own
    return steps
