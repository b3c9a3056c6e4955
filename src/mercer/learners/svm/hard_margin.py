"""The hard margin: no row on the wrong side, or an error that says why there is no such function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.svm.methods import Method
from mercer.learners.svm.subproblem import Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
FIRST_BOX = 1e2
"""The box at first, in units of one over the squared width of the rows."""
LAST_BOX = 1e12
"""Where the box ends, in the same units."""
BOX_GROWTH = 10.0
"""How many times wider each box is than the one before."""
TOUCHING_DISTANCE = 1e-5
"""Hulls nearer to each other than this, in units of the width, count as touching."""
RELATIVE_ROUNDING = 1e-14
"""Squared distances below this part of k(x, x) are rounding."""


@dataclass(frozen=True, eq=False)
class HardMargin(Subproblem):
    """No errors are allowed: the box is infinite.

    A box that is so wide that no coefficient is at its end changes nothing, and the box grows until that is so. With
    u = 2 b / |b|_1 the positive coefficients are those of a point in the convex hull of one class, and the negative
    ones of a point in that of the other: no margin is wider than half of their distance, sqrt(b'Kb) / |b|_1. Where that
    is nothing, the rows are not separable.

    between : the classes that it tells apart, for messages
    """

    between: str

    def solve(self, method: Method, start: Array | None, run: Run) -> tuple[BoxQP, QPResult]:
        width = width_of(method, self.qp.count)
        if not width > 0:
            self._refuse(0.0, 0.0)

        def check(qp: BoxQP, result: QPResult) -> None:
            if (margin := margin_at_most(qp, result)) <= TOUCHING_DISTANCE * width:
                self._refuse(margin, width)

        return grow_box(self.qp, method, FIRST_BOX / width**2, LAST_BOX / width**2, check, run)

    def _refuse(self, margin: float, width: float) -> None:
        needs = f"rows of {self.between} that a function separates, for C = inf"
        got = f"no margin is wider than {margin:.1e}, where lifted rows are up to {width:.2g} apart"
        remedy = "Use a finite C, which allows errors, or a narrower kernel, or drop rows that contradict others."
        raise InputError(message(needs, got, remedy))


def grow_box(
    qp: BoxQP, method: Method, first: float, last: float, check: Callable[[BoxQP, QPResult], None], run: Run
) -> tuple[BoxQP, QPResult]:
    """The coefficients in the first box that holds none of them, and the problem in that box.

    first, last : the size of the first box, and that at which it grows no more
    check : complains where coefficients that a box holds show that there is no solution
    """
    size, start, brief, steps = first, None, method.brief(), 0
    while True:
        boxed = in_box(qp, size)
        result = brief.solve(boxed, start, run)
        steps += result.steps
        if not held(result, size):
            result = method.solve(boxed, result.b, run)
            steps += result.steps
            if not held(result, size):
                return boxed, replace(result, steps=steps)
        check(boxed, result)
        if size >= last:
            return boxed, replace(result, converged=False, steps=steps)
        size, start = BOX_GROWTH * size, result.b


def width_of(method: Method, count: int) -> float:
    """The largest distance of lifted rows from the first, 0 where rounding hides it; their origin does not matter."""
    first, sizes = np.zeros(count), method.sizes()
    first[0] = 1.0
    square = float((sizes - 2 * method.values(first) + sizes[0]).max())
    return float(np.sqrt(square)) if square > RELATIVE_ROUNDING * float(sizes.max()) else 0.0


def held(result: QPResult, size: float) -> bool:
    """Whether a box of this size holds a coefficient."""
    return bool((np.abs(result.b) >= size).any())


def margin_at_most(qp: BoxQP, result: QPResult) -> float:
    """The widest margin that the coefficients, whose sum is 0, leave possible."""
    total = float(np.abs(result.b).sum())
    square = float(result.b @ (result.g - qp.linear))
    return np.sqrt(max(square, 0.0)) / total if total > 0 else np.inf


def in_box(qp: BoxQP, size: float) -> BoxQP:
    """The problem inside of a box of this size."""
    return replace(qp, lower=np.maximum(qp.lower, -size), upper=np.minimum(qp.upper, size))
