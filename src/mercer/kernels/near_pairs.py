"""A list of pairs of points, and their differences to full digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import sparse
from mercer.compute.codegen.pair_statistics import squares
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.pairs import Pairs, lengths, unit_rows
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import precisely

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

Array = NDArray[Any]
Sides = tuple[Points, Points]

TAKES_NO_DIGITS = (TypeError, AttributeError, ValueError)
"""What code for floats raises when it gets numbers of 50 digits; a lift refuses them with an InputError."""


class NearPairs:
    """The pairs (left[i], right[j]) of two tables.

    Differences of coordinates are taken before anything is rounded: a linear map is applied to the differences, any
    other one to rows of 50 digits.
    """

    def __init__(
        self,
        left: Points,
        right: Points,
        i: NDArray[np.intp],
        j: NDArray[np.intp],
        apart: Any = None,
        exactly: Callable[[], Sides] | None = None,
    ) -> None:
        self.left = left
        self.right = right
        self.i = i
        self.j = j
        self._apart = apart
        self._exactly = exactly

    @classmethod
    def of(cls, left: Points, right: Points, i: NDArray[np.intp], j: NDArray[np.intp]) -> Self:
        """Pairs of rows of two tables, of which only those rows are kept."""
        (rows, i), (columns, j) = (np.unique(side, return_inverse=True) for side in (i, j))
        return cls(left.rows(rows).here(), right.rows(columns).here(), i, j)

    # -- what leaves ask ------------------------------------------------------------------------------------------

    @cached_property
    def x(self) -> Any:
        """(pairs, d): the left points."""
        return self.left.values[self.i]

    @cached_property
    def z(self) -> Any:
        """(pairs, d): the right points."""
        return self.right.values[self.j]

    @cached_property
    def apart(self) -> Any:
        """(pairs, d): x - z."""
        return self.x - self.z if self._apart is None else self._apart

    @cached_property
    def squared_distance(self) -> Array:
        """|x - z|^2."""
        return squares(self.apart)

    @cached_property
    def inner(self) -> FeatureGap:
        """That of <x, z>, whose distance is |x - z|."""
        half = self.squared_distance / 2
        middle = (squares(self.left.values)[self.i] + squares(self.right.values)[self.j]) / 2
        return FeatureGap(middle, _row_dots(self.apart, self.x + self.z) / 2, half, half)

    @cached_property
    def coordinates(self) -> FeatureGap:
        """(pairs, d): those of x_k z_k."""
        return FeatureGap.feature(self.x, self.z, self.apart)

    @cached_property
    def angle(self) -> tuple[Array, Array]:
        """The angle of x and z, neither of which is the origin; rounding moves it by units of the second number."""
        unit = unit_rows(self.left.values)[self.i]
        along, towards, length = _row_dots(unit, self.apart), _row_dots(unit, self.z), self.lengths[1]
        across = np.sqrt(squares(self.apart - _times(unit, along)))
        wobble = np.sqrt(self.squared_distance) / length
        if self.left.values.shape[1] == 1:  # on a line there are no other angles than 0 and pi
            across, wobble = np.zeros_like(across), np.zeros_like(wobble)
        return np.asarray(np.arctan2(across, towards)), wobble

    @cached_property
    def lengths(self) -> tuple[Array, Array]:
        """|x| and |z|."""
        return lengths(self.left.values)[self.i, 0], lengths(self.right.values)[self.j, 0]

    def diagonal(self, kernel: Kernel) -> tuple[Array, Array]:
        """k(x, x) and k(z, z), rounded."""
        return kernel.evaluate_diagonal(self.left)[self.i], kernel.evaluate_diagonal(self.right)[self.j]

    def values(self, kernel: Kernel) -> Array:
        """k(x, z), rounded."""
        found = np.empty(len(self.i))
        for at, row, rows in self.by_row(self.left, self.right):
            found[at] = kernel.evaluate(Pairs(row, rows))[0]
        return found

    def counted(self, kernel: Kernel) -> FeatureGap:
        """Of a kernel of objects: their values are taken as they are, and equal objects are at distance 0."""
        here, there = self.diagonal(kernel)
        left, right = list(self.left.cells()), list(self.right.cells())
        equal = [left[i] == right[j] for i, j in zip(self.i, self.j, strict=True)]
        half = np.where(equal, 0.0, (here + there) / 2 - self.values(kernel))
        return FeatureGap((here + there) / 2, (here - there) / 2, half, np.abs(half))

    def constant(self, value: float) -> FeatureGap:
        """Of a kernel that is the same for all pairs."""
        return FeatureGap.stationary(value, np.zeros(len(self.i)))

    # -- other points ---------------------------------------------------------------------------------------------

    def after_linear(self, change: Callable[[Points], Points]) -> NearPairs:
        """The pairs after a linear map of the points."""
        apart = change(replace(self.left, values=self.apart)).values
        return self._changed(change, apart)

    def after(self, change: Callable[[Points], Points]) -> NearPairs:
        """The pairs after any map of the points."""
        return self._changed(change, self.of_rows(lambda points: change(points).values)[2])

    def jointly(self, change: Callable[[Points, Points], Sides]) -> NearPairs:
        """The pairs of points that were changed together, in floats."""
        return NearPairs(*change(self.left, self.right), self.i, self.j)

    def _changed(self, change: Callable[[Points], Points], apart: Any) -> NearPairs:
        def exactly() -> Sides:
            left, right = self.exact
            return change(left), change(right)

        return NearPairs(change(self.left), change(self.right), self.i, self.j, apart, exactly)

    def of_rows(self, function: Callable[[Points], Array]) -> tuple[Array, Array, Array]:
        """f(x), f(z) and f(x) - f(z), the difference to full digits where f takes numbers of 50 digits."""
        here, there = function(self.left), function(self.right)
        try:
            left, right = (_parts(function(side)) for side in self.exact)
        except TAKES_NO_DIGITS:
            return here[self.i], there[self.j], here[self.i] - there[self.j]
        apart = sum(one[self.i] - other[self.j] for one, other in zip(left, right, strict=True))
        return here[self.i], there[self.j], np.asarray(apart)

    @cached_property
    def exact(self) -> Sides:
        """The rows of both sides, in numbers of 50 digits."""
        return self._exactly() if self._exactly is not None else (_exact(self.left), _exact(self.right))

    def by_row(self, left: Points, right: Points) -> Iterator[tuple[slice, Points, Points]]:
        """Which pairs have a left row in common, that row, and the right ones. Pairs are sorted by left rows."""
        starts = np.flatnonzero(np.diff(self.i, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(self.i)], strict=True):
            yield slice(start, stop), left.rows(self.i[start : start + 1]), right.rows(self.j[start:stop])


def _exact(points: Points) -> Points:
    if points.stores:
        raise TypeError("positions of objects are no numbers")
    values: Any = points.values
    return Points(precisely(values.toarray() if points.sparse else values), points.names)


def _parts(values: Array) -> list[Array]:
    """Numbers of 50 digits as sums of three floats, the largest first."""
    found, rest = [], precisely(values)
    for _ in range(3):
        found.append(rest.astype(np.float64))
        rest = rest - found[-1]
    return found


def _row_dots(left: Any, right: Any) -> Array:
    """The inner products of equal rows."""
    if sparse.is_sparse(left) or sparse.is_sparse(right):
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", left, right))


def _times(rows: Any, factors: Array) -> Any:
    """Each row times a number."""
    if sparse.is_sparse(rows):
        return sparse.with_data(rows, rows.data * np.repeat(factors, np.diff(rows.indptr)))
    return rows * factors[:, None]
