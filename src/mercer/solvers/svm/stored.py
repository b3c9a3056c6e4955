"""The exact solver where the whole matrix is stored: all coefficients are one working set.

Cost: for each step some operations per row, and at the end one row of the matrix for each support vector.
"""

from __future__ import annotations

import numpy as np

from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import number_of
from mercer.solvers.ridge.base import opening
from mercer.solvers.svm.box_qp import Array, BoxQP, QPResult
from mercer.solvers.svm.smo import gradient, walk
from mercer.solvers.svm.working_sets import SMOSettings

CALL_NUMBERS = 1 << 27
"""Numbers of rows that steps read between two looks at the clock: less than a tenth of a second."""
MAX_CALL_STEPS = 1 << 18
"""Steps between two looks, at most: of few rows each takes less than a microsecond."""
PROGRESS = 0.9
"""Steps go on as long as the violation, from a gradient without their rounding, falls below this part of the last."""


def solve_stored(
    problem: BoxQP, K: Array, settings: SMOSettings, start: Array | None = None, run: Run = IDLE
) -> QPResult:
    """The coefficients, and how optimal they are.

    K : (n, n), in float64
    start : coefficients to start from; None for those nearest to zero, or at the margin of the data
    """
    if start is None:
        b = problem.filled(K.sum(axis=0)) if problem.total != 0 else np.zeros(problem.count)
    else:
        b = problem.feasible(start)
    g, diagonal = gradient(K, problem, b), K.diagonal().copy()
    steps, rounds, reason, violation, before = 0, 0, "", np.inf, np.inf
    call = max(1, min(MAX_CALL_STEPS, CALL_NUMBERS // problem.count))
    try:
        while not reason and (rounds == 0 or settings.tolerance < violation < before):
            before, already, more = PROGRESS * violation, steps, call
            while more == call and steps < settings.max_steps:
                most = min(call, settings.max_steps - steps)
                more, _ = walk(K, problem, b, g, settings.tolerance, most, diagonal)
                steps, rounds = steps + more, rounds + 1
                with run.stoppable():
                    run.tell(float(rounds))
            g = gradient(K, problem, b) if steps > already else g
            violation = problem.violation(b, g)
            if violation > settings.tolerance and steps >= settings.max_steps:
                reason = f"{number_of(settings.max_steps, 'step', ('is', 'are'))} over."
    except Stopped as stopped:
        reason = f"{opening(stopped)}."
        g = gradient(K, problem, b)
        violation = problem.violation(b, g)
    return result_of(problem, b, g, violation, steps, rounds, settings.tolerance, reason)


def result_of(
    problem: BoxQP,
    b: Array,
    g: Array,
    violation: float,
    steps: int,
    rounds: int,
    tolerance: float,
    reason: str = "",
) -> QPResult:
    """What a solver found, with its bias and gap.

    reason : why it ended early; "" where it did not
    """
    bias = problem.bias(b, g)
    text = reason or f"The largest violation is {violation:.1e} after {number_of(steps, 'step')}."
    gap = problem.gap(b, g, bias)
    return QPResult(b, g, bias, violation, gap, steps, rounds, violation <= tolerance, text)
