"""What rounding of the statistics does to the values of a kernel, tried on a few pairs before the work begins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import MAX_CANCELLATION, Measured, rounding, squares
from mercer.compute.codegen.precision import STATISTICS, VALUES
from mercer.compute.codegen.program import Method
from mercer.kernels.evaluation.trace import TracedPairs
from mercer.kernels.pairs import Block, Pairs, lengths
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MAX_CHANGE = {"float32": 9.5e-7, "float64": 5e-13}
"""The change that rounding of the statistics may cause: of a value, relative to sqrt(k(x, x) k(z, z)); in float32 also
of a radial leaf, relative to itself."""
PROBE_DISTANCES = np.linspace(0.25, 6.5, 26)
"""Distances in lengthscales at which radial leaves are tried, beside those of the rows."""
TAIL_VALUE = math.exp(-20)
"""Values of a leaf below this part of its largest are not held to relative accuracy."""
TAIL_DISTANCE = 8.0
"""A leaf that is positive even so many lengthscales away has a tail that is worth its relative accuracy."""
MIN_SUM_OF_SQUARES = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
"""A sum of squares below this has lost digits."""
PROBE_ROWS = 48
"""Rows of each side on which a kernel is tried, half of them the longest."""


@dataclass(frozen=True)
class Route:
    """A way to evaluate: the precision ("float32", "mixed" or "float64"), and the method for each group of rows."""

    precision: str
    methods: dict[Group, Method]

    @property
    def dtype(self) -> str:
        """The type of the statistics."""
        return STATISTICS[self.precision]

    @property
    def promise(self) -> float:
        """The change that rounding of the statistics may cause."""
        return MAX_CHANGE[VALUES[self.precision]]


class DisturbedPairs(Pairs):
    """Pairs whose statistics are off by as much as rounding may move them; radial leaves are judged on the way.

    exact : the same pairs, whose statistics are as they should be
    """

    def __init__(
        self, exact: Pairs, traced: TracedPairs, route: Route, measured: dict[Group, Measured], broken: list[str]
    ) -> None:
        super().__init__(exact.left, exact.right)
        self.exact = exact
        self.traced = traced
        self.route = route
        self.measured = measured
        self.broken = broken

    def after(self, key: Any, change: Callable[[Points], Points]) -> Self:
        def changed() -> DisturbedPairs:
            exact, traced = self.exact.after(key, change), self.traced.after(key, change)
            return DisturbedPairs(exact, traced, self.route, self.measured, self.broken)

        return self.ask(key, changed)  # type: ignore[no-any-return]

    def jointly(self, key: Any, change: Callable[[Points, Points], tuple[Points, Points]]) -> Self:
        def changed() -> DisturbedPairs:
            exact, traced = self.exact.jointly(key, change), self.traced.jointly(key, change)
            return DisturbedPairs(exact, traced, self.route, self.measured, self.broken)

        return self.ask(key, changed)  # type: ignore[no-any-return]

    def radial(self, profile: Callable[[Block], Block], argument: str, scale: float) -> Block:
        exact = self.exact.squared_distance()
        reachable = 2 * self.measured[self.traced.group].reach
        probes = np.append(np.minimum((PROBE_DISTANCES * scale) ** 2, reachable), [0.0, self._limit(argument)])
        values, moved = (
            _of_squares(profile, argument, scale, squares)
            for squares in (
                np.append(exact, probes),
                np.append(self._moved(exact, argument), self._moved(probes, argument)),
            )
        )
        far = float(profile(np.array([TAIL_DISTANCE if argument == "distance" else TAIL_DISTANCE * TAIL_DISTANCE]))[0])
        if not _accurate(values, moved, self.route.promise, tail=far > 0 and bool((values >= 0).all())):
            self.broken.append("a radial leaf")
        return moved[: exact.size].reshape(exact.shape)

    def total(self, term: Callable[[Any, Any], Any], joined_by: Literal["sum", "product"]) -> Block:
        sides = (self.left, self.right)
        rounded = Pairs(*(replace(side, values=_rounded(side.values, self.route.dtype)) for side in sides))
        found = rounded.total(term, joined_by)
        size = np.abs(found)
        if joined_by == "sum":
            size = rounded.total(lambda x, z: np.abs(term(x, z)), "sum")
        moved = found + self._units() * size
        # What rounding does inside of a term, where x - z may have lost its digits, shows when it is computed so.
        narrow = Pairs(*(replace(side, values=side.values.astype(self.route.dtype)) for side in sides))
        rough, exact = narrow.total(term, joined_by), super().total(term, joined_by)
        return np.where(np.abs(rough - exact) > np.abs(moved - exact), rough, moved)

    def _units(self) -> float:
        return rounding(self.left.values.shape[1], self.route.dtype)

    def _method(self) -> Method:
        return self.route.methods.get(self.traced.group, Method("differences"))

    def _limit(self, argument: str) -> float:
        repaired = argument == "distance" and self._method().repaired
        return self.measured[self.traced.group].limit(self.route.dtype) if repaired else 0.0

    def _moved(self, squares: NDArray[Any], argument: str) -> NDArray[Any]:
        """Squared distances as the route may give them."""
        coarse = 2 * self.traced.group.coarseness if self.route.dtype == "float32" else 0.0
        by_differences: NDArray[Any] = (np.sqrt(squares) * (1 + self._units()) + coarse) ** 2
        if self._method().kind != "product":
            return by_differences
        measured = self.measured[self.traced.group]
        least, most = measured.error(self.route.dtype), self._units() * measured.reach
        by_product = squares + np.minimum(np.maximum(least, MAX_CANCELLATION * self._units() * squares), most)
        return np.where(squares < self._limit(argument), by_differences, by_product)

    def _squared_distance(self) -> Block:
        return self._moved(self.exact.squared_distance(), "squared distance")

    def _distance(self) -> Block:
        return np.asarray(np.sqrt(self._moved(self.exact.squared_distance(), "distance")))

    def _dot(self) -> Block:
        if self.traced.group.sparse:  # there is no more accurate way than a sparse product
            return self.exact.dot()
        method, measured = self._method(), self.measured[self.traced.group]
        direct = method.kind == "product" and (method.swept or not method.repaired)
        return self.exact.dot() + measured.dot_errors(self.route.dtype, self.left.values, self.right.values, direct)


def _rounded(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    return values.astype(dtype).astype(np.float64)


def _of_squares(profile: Callable[[Block], Block], argument: str, scale: float, squares: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(profile(np.sqrt(squares) / scale if argument == "distance" else squares / scale / scale))


def _accurate(values: NDArray[Any], moved: NDArray[Any], promise: float, tail: bool) -> bool:
    """Whether a leaf keeps the promise; with a tail, in float32, relative to each value."""
    largest = float(np.abs(values).max())
    change = np.abs(moved - values)
    if promise == MAX_CHANGE["float32"] and tail:
        kept = values > TAIL_VALUE * largest
        return bool((change[kept] <= promise * values[kept]).all())
    return bool((change <= promise * largest).all())


def keeps_promise(kernel: Kernel, traced: TracedPairs, route: Route, measured: dict[Group, Measured]) -> bool:
    """Whether a route keeps the promise on some pairs: among the longest rows, and at each leaf's nearest distance."""
    if not all(_in_range(each, route) for each in measured.values()):
        return False
    left = _some(traced.left)
    right = left if traced.right is traced.left else _some(traced.right)
    broken: list[str] = []
    with np.errstate(all="ignore"):
        pairs = Pairs(left, right)
        disturbed = kernel.evaluate(DisturbedPairs(pairs, traced, route, measured, broken))
        if broken:
            return False
        exact = kernel.evaluate(pairs)
        sizes = np.sqrt(np.maximum(kernel.evaluate_diagonal(left), 0.0))
        others = sizes if right is left else np.sqrt(np.maximum(kernel.evaluate_diagonal(right), 0.0))
        scale = np.outer(sizes, others)
    change = np.abs(disturbed - exact)
    return bool((change <= route.promise * np.maximum(scale, np.abs(exact))).all())


def _in_range(measured: Measured, route: Route) -> bool:
    """Whether no square leaves the range of the statistics' type; differences may, since infinity is then right."""
    about = np.finfo(route.dtype)
    product = route.methods[measured.group].kind == "product"
    return (
        not product
        or measured.reach == 0
        or float(about.tiny) / float(about.eps) < measured.reach < float(about.max) / 16
    )


def _some(points: Points) -> Points:
    """The longest rows, and others spread over the table."""
    values = points.values
    count = values.shape[0]
    if count <= PROBE_ROWS:
        return points.here()
    sizes = squares(values)
    if not MIN_SUM_OF_SQUARES < sizes.max() < np.inf:
        sizes = lengths(values)[:, 0]
    longest = np.argpartition(sizes, count - PROBE_ROWS // 2)[count - PROBE_ROWS // 2 :]
    return points.rows(np.union1d(longest, np.linspace(0, count - 1, PROBE_ROWS // 2).astype(int))).here()
