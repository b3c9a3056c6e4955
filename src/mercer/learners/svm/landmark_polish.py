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
from mercer.learners.svm.active_set import free_of
from mercer.learners.svm.methods import Exactly
from mercer.solvers.svm.box_qp import Boxed, Rested

Array = NDArray[np.float64]
TURNS = 10
"""Margin sets, at most: each needs pairs of all rows with the support."""


def on_the_margin(way: Exactly, problem: Boxed, rested: Rested, run: Run = IDLE) -> Rested:
    """The same coefficients, made exact where the margin is, and the truth about them by the exact kernel.

    Cost: for each turn pairs of all rows with the support, and an exact solution on the margin set.
    """
    tolerance, joined = way.settings.tolerance, np.zeros(problem.count, bool)
    found = _judged(way, problem, replace(rested, b=problem.feasible(rested.b)), tolerance)
    for _ in range(TURNS):
        if found.converged or getattr(run, "stopped", False):
            break
        joined |= _margin(problem, found, tolerance)  # a row that joined stays: the set grows until it is right
        rows, b = np.flatnonzero(joined), found.b.copy()
        own = way.part(rows)
        fixed = found.g[rows] - own.values(b[rows])
        part = replace(problem.part(rows), linear=fixed, total=float(b[rows].sum()))
        solved = own.solve(part, b[rows], run)
        b[rows] = solved.b
        steps, rounds = found.steps + solved.steps, found.rounds + solved.rounds
        found = _judged(way, problem, replace(found, b=b, steps=steps, rounds=rounds), tolerance)
    return found


def _margin(problem: Boxed, found: Rested, tolerance: float) -> NDArray[np.bool_]:
    """Coefficients that are free, or violate the KKT conditions."""
    level = -found.bias
    moves = problem.rises(found.b, found.g) < level - tolerance / 2
    moves |= problem.falls(found.b, found.g) > level + tolerance / 2
    moves[free_of(problem, found.b)] = True
    return moves


def _judged(way: Exactly, problem: Boxed, found: Rested, tolerance: float) -> Rested:
    """With the gradient, the bias, the violation and the gap of the exact kernel."""
    g = way.values(found.b) + problem.linear
    bias, violation = problem.bias(found.b, g), problem.violation(found.b, g)
    reason = f"The largest violation is {violation:.1e} after {found.steps} steps, those of the polish among them."
    gap = problem.gap(found.b, g, bias)
    converged = violation <= tolerance
    return replace(found, g=g, bias=bias, violation=violation, gap=gap, converged=converged, reason=reason)
