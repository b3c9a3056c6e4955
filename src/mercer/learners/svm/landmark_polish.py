"""The margin set: from coefficients that landmarks led to, to those of the exact kernel.

Most rows are on the right side of the margin, or far on the wrong side, by landmarks and by the kernel alike: their
coefficients stay at the ends of the box. The others are the margin set: those that are free, or that the exact gradient
wants to move. They are solved with the exact kernel, all others in place, until the gradient agrees.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import number_of
from mercer.learners.svm.active_set import free_coefficients
from mercer.learners.svm.methods import ExactMethod
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
MAX_MARGIN_SETS = 10
"""Margin sets, at most: each needs pairs of all rows with the support."""


def on_the_margin(method: ExactMethod, problem: BoxQP, start: QPResult, run: Run = IDLE) -> QPResult:
    """The same coefficients, made exact where the margin is, and how optimal they are by the exact kernel.

    Cost: for each turn pairs of all rows with the support, and an exact solution on the margin set.
    """
    tolerance, joined = method.settings.tolerance, np.zeros(problem.count, bool)
    result = _judged(method, problem, replace(start, b=problem.feasible(start.b)), tolerance)
    for _ in range(MAX_MARGIN_SETS):
        if result.converged or getattr(run, "stopped", False):
            break
        joined |= _margin(problem, result, tolerance)  # the set only grows, until it is right
        rows, b = np.flatnonzero(joined), result.b.copy()
        own = method.part(rows)
        fixed = result.g[rows] - own.values(b[rows])
        part = replace(problem.part(rows), linear=fixed, total=float(b[rows].sum()))
        solved = own.solve(part, b[rows], run)
        b[rows] = solved.b
        steps, rounds = result.steps + solved.steps, result.rounds + solved.rounds
        result = _judged(method, problem, replace(result, b=b, steps=steps, rounds=rounds), tolerance)
    return result


def _margin(problem: BoxQP, result: QPResult, tolerance: float) -> NDArray[np.bool_]:
    """The free coefficients, and those that violate the KKT conditions."""
    level = -result.bias
    moves = problem.rises(result.b, result.g) < level - tolerance / 2
    moves |= problem.falls(result.b, result.g) > level + tolerance / 2
    moves[free_coefficients(problem, result.b)] = True
    return moves


def _judged(method: ExactMethod, problem: BoxQP, result: QPResult, tolerance: float) -> QPResult:
    """With the gradient, the bias, the violation and the gap of the exact kernel."""
    g = method.values(result.b) + problem.linear
    bias, violation = problem.bias(result.b, g), problem.violation(result.b, g)
    taken = number_of(result.steps, "step")
    reason = f"The largest violation is {violation:.1e} after {taken}, those of the polish among them."
    gap = problem.gap(result.b, g, bias)
    converged = violation <= tolerance
    return replace(result, g=g, bias=bias, violation=violation, gap=gap, converged=converged, reason=reason)
