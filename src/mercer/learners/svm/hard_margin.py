"""The hard margin: no row on the wrong side, or an error that says why there is no such function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.errors import InputError, sentence
from mercer.learners.svm.methods import Method
from mercer.learners.svm.subproblem import Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
FIRST, WIDER, WIDEST = 1e2, 10.0, 1e12
"""The box at first, by how much it grows, and where it ends, in units of one over the squared width of the rows."""
TOUCHING = 1e-5
"""Hulls that come nearer to each other than this, in units of the width, are not told apart."""

HIDDEN = 1e-14
"""Squared distances below this part of k(x, x) are rounding."""


def separate(who: str, way: Method, sought: Subproblem, run: Run) -> tuple[BoxQP, QPResult]:
    """The hard margin: a box that is so wide that no coefficient is at its end changes nothing.

    The box grows until that is so. With u = 2 b / |b|_1 the positive coefficients are those of a point in the convex
    hull of one class, and the negative ones of a point in that of the other: no margin is wider than half of their
    distance, sqrt(b'Kb) / |b|_1. Where that is nothing, the rows are not separable.
    """
    width = width_of(way, sought.problem.count)
    if not width > 0:
        _refuse(who, sought, 0.0, 0.0)
    cap, start, brief, steps = FIRST / width**2, None, way.brief(), 0
    while True:
        problem = boxed(sought.problem, cap)
        rested = brief.solve(problem, start, run)
        steps += rested.steps
        if not held(rested, cap):
            rested = way.solve(problem, rested.b, run)
            steps += rested.steps
            if not held(rested, cap):
                return problem, replace(rested, steps=steps)
        margin = margin_at_most(problem, rested)
        if margin <= TOUCHING * width:
            _refuse(who, sought, margin, width)
        if cap >= WIDEST / width**2:
            return problem, replace(rested, converged=False, steps=steps)
        cap, start = WIDER * cap, rested.b


def width_of(way: Method, count: int) -> float:
    """The largest distance of lifted rows from the first, 0 where rounding hides it; their origin does not matter."""
    first, sizes = np.zeros(count), way.sizes()
    first[0] = 1.0
    square = float((sizes - 2 * way.values(first) + sizes[0]).max())
    return float(np.sqrt(square)) if square > HIDDEN * float(sizes.max()) else 0.0


def held(rested: QPResult, cap: float) -> bool:
    """Whether the box holds a coefficient."""
    return bool((np.abs(rested.b) >= cap).any())


def margin_at_most(problem: BoxQP, rested: QPResult) -> float:
    """The widest margin that the coefficients, whose sum is 0, leave possible."""
    total = float(np.abs(rested.b).sum())
    square = float(rested.b @ (rested.g - problem.linear))
    return np.sqrt(max(square, 0.0)) / total if total > 0 else np.inf


def boxed(problem: BoxQP, cap: float) -> BoxQP:
    """The problem inside of a box that is finite."""
    return replace(problem, lower=np.maximum(problem.lower, -cap), upper=np.minimum(problem.upper, cap))


def _refuse(who: str, sought: Subproblem, margin: float, width: float) -> None:
    needs = f"rows of {sought.between} that a function separates, for C = inf"
    got = f"no margin is wider than {margin:.1e}, where lifted rows are up to {width:.2g} apart"
    remedy = "Use a finite C, such as 1.0, which allows errors; a narrower kernel; or drop rows that contradict others."
    raise InputError(sentence(who, needs, got, remedy))
