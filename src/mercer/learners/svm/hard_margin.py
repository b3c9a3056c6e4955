"""The hard margin: no row on the wrong side, or an error that says why there is no such function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.data.views import TableView, View
from mercer.learners.svm.methods import Method
from mercer.learners.svm.subproblem import Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult

if TYPE_CHECKING:
    from mercer.solvers.separation.separate import Plane

Array = NDArray[np.float64]
FIRST_BOX = 1e2
"""The box at first, in units of one over the squared width of the rows."""
LAST_BOX = 1e12
"""Where the box ends, in the same units."""
BOX_GROWTH = 10.0
"""How many times wider each box is than the one before."""
TOUCHING_DISTANCE = 1e-5
"""Hulls nearer to each other than this, in units of the width, are beyond what coefficients of rows can tell."""
CLEAR_ROUNDING = 1e-9
"""Rounding of f up to which coefficients are as good as weights of features; the margin is at f = 1."""
MAX_VIOLATION = 1e-6
"""The KKT violation that rounding may leave on features."""
MAX_FEATURES = 500
"""Features up to which the problem is solved on these where coefficients lose their digits."""
MAX_NUMBERS = 1 << 23
"""Numbers of the table of features, at most, for that."""
EPS = float(np.finfo(np.float64).eps)
RELATIVE_ROUNDING = 1e-14
"""Squared distances below this part of k(x, x) are rounding."""


@dataclass(frozen=True, eq=False)
class HardMargin(Subproblem):
    """No errors are allowed: the box is infinite.

    A box that is so wide that no coefficient is at its end changes nothing, and the box grows until that is so. With
    u = 2 b / |b|_1 the positive coefficients are those of a point in the convex hull of one class, and the negative
    ones of a point in that of the other: no margin is wider than half of their distance, sqrt(b'Kb) / |b|_1. Where that
    is little, or rounding shows in sums of b, the problem is solved on the features of the finite lift, exactly; where
    there is no such lift, the signs of the function that was found decide.

    between : the classes that it tells apart, for messages
    view : the rows that are fitted, as the kernel sees them
    """

    between: str
    view: View

    def solve(self, method: Method, start: Array | None, run: Run) -> tuple[BoxQP, QPResult]:
        method = method.sharpened()
        width, on_features = width_of(method, self.qp.count), self._has_features

        def give_up(qp: BoxQP, result: QPResult) -> bool:
            near = margin_at_most(qp, result) <= TOUCHING_DISTANCE * width
            return near or _blurred(method, result) if on_features else near and not self._separates(method, result)

        if not width > 0:
            if on_features:
                return self._on_features()
            raise self._refusal(self._equal() or "lifted rows are equal, but for rounding")
        qp, result = grow_box(self.qp, method, FIRST_BOX / width**2, LAST_BOX / width**2, give_up, run)
        if getattr(run, "stopped", False):
            return qp, result
        if on_features and (not result.converged or _blurred(method, result)):
            return self._on_features()
        if not result.converged and give_up(qp, result):
            raise self._refusal(self._why(method, qp, result, width))
        return qp, result

    # -- by the function that was found ---------------------------------------------------------------------------

    def _separates(self, method: Method, result: QPResult) -> bool:
        """Whether the function has each class on its side, by more than rounding."""
        apart, rounding = self._apart(method, result)
        return apart > rounding

    def _apart(self, method: Method, result: QPResult) -> tuple[float, float]:
        """The least value of the positive class minus the largest of the other, and what rounding may add to it."""
        values, positive = result.g - self.qp.linear, self.qp.linear < 0
        rounding = 2 * method.rounding * float(np.abs(result.b).sum()) * float(method.sizes().max())
        return float(values[positive].min() - values[~positive].max()), rounding

    def _why(self, method: Method, qp: BoxQP, result: QPResult, width: float) -> str:
        apart, rounding = self._apart(method, result)
        margin = (
            f"no margin is wider than {margin_at_most(qp, result):.1e}, where lifted rows are up to {width:.2g} apart"
        )
        unknown = (
            f"whether there is one is not resolved: {margin}, and the classes are {apart:.1e} apart in the function "
        )
        return self._equal() or f"{unknown}that was found, with a rounding of {rounding:.1e}"

    # -- on features ----------------------------------------------------------------------------------------------

    @property
    def _has_features(self) -> bool:
        features = self.view.most_features
        return features is not None and features <= MAX_FEATURES and len(self.rows) * features <= MAX_NUMBERS

    def _on_features(self) -> tuple[BoxQP, QPResult]:
        """By the nearest points of both hulls: their weights are the coefficients, to a factor."""
        from mercer.solvers.separation.separate import Meeting, Plane, separate  # ordinary fits do not need it

        F, positive = self.view.chosen(self.rows).lifted().features(), self.qp.linear < 0
        found = separate(F, positive)
        if isinstance(found, Plane):
            return self._of_plane(F, positive, found)
        if isinstance(found, Meeting):
            word = "in exact arithmetic" if found.residual == 0 else f"to {found.residual:.1e} of their width"
            raise self._refusal(self._equal() or f"their convex hulls meet, {word}")
        raise self._refusal(
            f"whether there is one is not resolved: the hulls are {found.distance:.1e} of their width apart"
        )

    def _of_plane(self, F: Array, positive: NDArray[np.bool_], found: Plane) -> tuple[BoxQP, QPResult]:
        sign, b, rows = np.where(positive, 1.0, -1.0), np.zeros(len(F)), list(found.rows)
        weights = np.array([float(weight) for weight in found.weights])
        b[rows] = sign[rows] * weights / (2 * found.margin**2)
        *normal, bias = found.exact
        center = F[rows].mean(axis=0)
        level = bias + sum(number * Fraction(mean) for number, mean in zip(normal, center.tolist(), strict=True))
        f = (F - center) @ np.array([float(number) for number in normal]) + float(level)
        qp, slopes = in_box(self.qp, 2 * float(np.abs(b).max())), f + self.qp.linear
        violation, gap = qp.violation(b, slopes), qp.gap(b, slopes, 0.0)
        reason = f"The nearest points of both hulls were found on features; the largest violation is {violation:.1e}."
        own = float(bias)
        return qp, QPResult(
            b, slopes - own, own, violation, gap, len(rows), 1, violation <= MAX_VIOLATION, reason, found.exact
        )

    # -- refusing -------------------------------------------------------------------------------------------------

    def _equal(self) -> str:
        """What is said where two rows of both classes are equal; "" where none are."""
        from mercer.solvers.separation.separate import equal_points  # ordinary fits do not need it

        part = self.view.chosen(self.rows)
        table = part.points.values if isinstance(part, TableView) else part.dense()
        if is_sparse(table) or table.size > MAX_NUMBERS:
            return ""
        return (
            "" if equal_points(table, self.qp.linear < 0) is None else "a row of one class is equal to one of the other"
        )

    def _refusal(self, got: str) -> InputError:
        needs = f"rows of {self.between} that a function separates, for C = inf"
        remedy = "Use a finite C, which allows errors, or a narrower kernel, or drop rows that contradict others."
        return InputError(message(needs, got, remedy))


def _blurred(method: Method, result: QPResult) -> bool:
    """Whether sums of the coefficients lose digits that matter."""
    return EPS * float(np.abs(result.b).sum()) * float(method.sizes().max()) > CLEAR_ROUNDING


def grow_box(
    qp: BoxQP, method: Method, first: float, last: float, give_up: Callable[[BoxQP, QPResult], bool], run: Run
) -> tuple[BoxQP, QPResult]:
    """The coefficients in the first box that holds none of them, and the problem in that box.

    first, last : the size of the first box, and that at which it grows no more
    give_up : whether coefficients that a box holds show that growing it further leads nowhere
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
        if give_up(boxed, result) or size >= last:
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
