"""What kernels ask about pairs of points: distances, inner products, angles. One question, one computation.

This is the plain NumPy way: neither a large offset nor near-equal points cost accuracy, since distances come from
differences; for rows of many columns, or sparse ones, from products, and from differences where a product has
cancelled. Everything is computed once for a block and shared by all leaves of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import reduce
from operator import add, mul
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from mercer.backends.tensors import is_held
from mercer.compute.codegen import sparse
from mercer.compute.codegen.pair_statistics import rounding, squares
from mercer.compute.codegen.sparse import MAX_RELATIVE_ERROR
from mercer.kernels.points import Points, refuse_sparse

Block = NDArray[Any]
"""A matrix of one number per pair: rows of the left points, columns of the right points."""
MAX_COLUMNS_BY_DIFFERENCES = 12
"""Up to so many columns, differences take no longer than a product."""
MAX_NUMBERS_BY_DIFFERENCES = 1 << 17
"""Pairs times columns up to which they take no longer either, however many columns there are."""
MAX_MEAN_SHARE = 0.25
"""How long the mean of the rows may be, as a part of their mean square, to stand for the origin as they are."""
MAX_CANCELLED_SHARE = 1 / 16
"""The part of the pairs that may be computed again: beyond it, differences of all are quicker."""


class Pairs:
    """All pairs of left and right points, with a memory for what was asked about them."""

    def __init__(self, left: Points, right: Points) -> None:
        self.left = left
        self.right = right
        self._known: dict[Hashable, Any] = {}

    def ask(self, question: Hashable, compute: Callable[[], Any]) -> Any:
        """The answer to a question, computed the first time."""
        if question not in self._known:
            self._known[question] = compute()
        return self._known[question]

    def after(self, key: Hashable, change: Callable[[Points], Points]) -> Self:
        """The pairs of changed points; the same key gives the same pairs, with their memory."""
        return self.ask(key, lambda: type(self)(change(self.left), change(self.right)))  # type: ignore[no-any-return]

    def jointly(self, key: Hashable, change: Callable[[Points, Points], tuple[Points, Points]]) -> Self:
        """The pairs of points that were changed together; the same object for both sides where these are the same."""
        return self.ask(key, lambda: type(self)(*change(self.left, self.right)))  # type: ignore[no-any-return]

    def compared(self, key: Hashable, values: Callable[[Points, Points], Block]) -> Block:
        """What a function of both sides gives for all pairs."""
        return self.ask(("compared", key), lambda: values(self.left, self.right))  # type: ignore[no-any-return]

    def squared_distance(self) -> Block:
        """|x - z|^2, accurate for near-equal points too."""
        return self.ask("squared distance", self._squared_distance)  # type: ignore[no-any-return]

    def distance(self) -> Block:
        """|x - z|."""
        return self.ask("distance", self._distance)  # type: ignore[no-any-return]

    def dot(self) -> Block:
        """<x, z>."""
        return self.ask("dot", self._dot)  # type: ignore[no-any-return]

    def norms(self) -> tuple[Block, Block]:
        """|x| as a column and |z| as a row."""
        return self.ask("norms", self._norms)  # type: ignore[no-any-return]

    def angle(self) -> Block:
        """The angle between x and z, accurate for small angles too; 0 where a point is the origin."""
        return self.ask("angle", self._angle)  # type: ignore[no-any-return]

    def total(self, term: Callable[[Any, Any], Any], joined_by: Literal["sum", "product"]) -> Block:
        """The sum or product of term(x_k, z_k) over the coordinates k."""
        join: Callable[[Any, Any], Any] = add if joined_by == "sum" else mul
        return np.asarray(reduce(join, (term(x, z) for x, z in self.coordinates())))

    def radial(self, profile: Callable[[Block], Block], argument: str, scale: float) -> Block:
        """A profile of the "squared distance" or of the "distance", in units of a scale."""
        if argument == "distance":
            return self.block(profile(self.distance() / scale))
        u = self.squared_distance() / scale
        u /= scale  # in place: it is nobody else's
        return self.block(profile(u))

    def block(self, values: Any) -> Block:
        """What a kernel's own code gave for these pairs, as a block."""
        return values  # type: ignore[no-any-return]

    def full(self, value: float) -> Block:
        """One number for every pair."""
        return np.full((self.left.values.shape[0], self.right.values.shape[0]), value)

    def coordinates(self) -> list[tuple[Block, Block]]:
        """For each coordinate k, x_k as a column and z_k as a row."""
        refuse_sparse(self.left, subject="A kernel of single coordinates")
        left, right = self.left.values, self.right.values
        return [(left[:, k, None], right[None, :, k]) for k in range(left.shape[1])]

    def _squared_distance(self) -> Block:
        if self.left.sparse:
            return sparse.squared_distances(self.left.values, self.right.values, self._sparse_product())
        return squared_distances(self.left.values, self.right.values)

    def _distance(self) -> Block:
        return np.asarray(np.sqrt(self.squared_distance()))

    def _dot(self) -> Block:
        if self.left.sparse:
            return self._sparse_product()
        block: Block = self.left.values @ self.right.values.T
        return block

    def _sparse_product(self) -> Block:
        dots: Block = self.ask("sparse product", lambda: sparse.product(self.left.values, self.right.transposed))
        return dots

    def _norms(self) -> tuple[Block, Block]:
        return lengths(self.left.values), lengths(self.right.values).T

    def _angle(self) -> Block:
        # Kahan: the angle from the sum and difference of unit vectors; arccos loses half of the digits.
        left, right = unit_rows(self.left.values), unit_rows(self.right.values)
        if self.left.sparse:
            dots = sparse.product(left, right.T)
            apart, opposite = (sparse.squared_distances(left, sign * right, sign * dots) for sign in (1, -1))
            return np.asarray(2 * np.arctan2(np.sqrt(apart), np.sqrt(opposite)))
        return np.asarray(2 * np.arctan2(cdist(left, right), cdist(left, -right)))


class OnlyDistancesError(TypeError):
    """A kernel asked for more than distances, where there is nothing else."""


class DistancePairs(Pairs):
    """Pairs of which only the distances are known, one after the other: blocks are vectors.

    A kernel that says that it is `radial` asks for nothing else.
    """

    def __init__(self, squares: NDArray[Any]) -> None:
        self._known = {"squared distance": squares}
        self._count = len(squares)

    @property
    def left(self) -> Points:  # type: ignore[override]  # there is none
        """Nothing that is known."""
        raise OnlyDistancesError

    right = left

    def full(self, value: float) -> Block:
        return np.full(self._count, value)


def lengths(values: NDArray[Any]) -> NDArray[Any]:
    """|x| of each row, as a column."""
    if values.dtype == object:
        return np.asarray(np.sqrt((values * values).sum(axis=1, keepdims=True)))
    if is_held(values):
        scaled, largest = _scaled_on_device(values)
        return np.asarray(largest * np.sqrt(squares(scaled))[:, None])
    if sparse.is_sparse(values):
        scaled, largest = sparse.scaled_rows(values)
        return np.asarray(largest * np.sqrt(squares(scaled))[:, None])
    scaled, largest = _scaled_rows(values)
    return np.asarray(largest * np.linalg.norm(scaled, axis=1, keepdims=True))


def unit_rows(values: NDArray[Any]) -> NDArray[Any]:
    """x / |x| of each row; zero where the row is."""
    if sparse.is_sparse(values):
        scaled, _ = sparse.scaled_rows(values)
        return sparse.divided(scaled, np.sqrt(squares(scaled))[:, None])  # type: ignore[no-any-return]
    if is_held(values):
        scaled, largest = _scaled_on_device(values)
        units: NDArray[Any] = scaled / np.where(largest > 0, np.sqrt(squares(scaled))[:, None], 1.0)
        return units
    scaled, largest = _scaled_rows(values)
    return np.asarray(scaled / np.where(largest > 0, np.linalg.norm(scaled, axis=1, keepdims=True), 1.0))


def row_distances(values: NDArray[Any]) -> NDArray[Any]:
    """|x - z| of all pairs of different rows of one table."""
    if sparse.is_sparse(values):
        dots = sparse.product(values, values.T)
        found = sparse.squared_distances(values, values, dots)
        return np.asarray(np.sqrt(found[np.triu_indices(values.shape[0], 1)]))
    return np.asarray(pdist(values))


def _scaled_rows(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows whose largest entry is 1, so that no square overflows or vanishes, and what they were divided by."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    return np.divide(values, largest, out=np.zeros_like(values), where=largest > 0), largest


def _scaled_on_device(values: Any) -> tuple[Any, NDArray[Any]]:
    """The same of rows on a device, where the scaled ones stay."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    return values / np.where(largest > 0, largest, 1.0), largest


def squared_distances(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """|x - z|^2 of all pairs, relative to itself off by 5e-13 at most, and 0 exactly where rows are equal."""
    if left.shape[1] <= MAX_COLUMNS_BY_DIFFERENCES or len(left) * right.size <= MAX_NUMBERS_BY_DIFFERENCES:
        return np.asarray(cdist(left, right, "sqeuclidean"))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is computed again
        found, least = _by_product(left, right)
        near = np.flatnonzero(~(found.ravel() >= least))  # NaN, too
    if len(near) > MAX_CANCELLED_SHARE * found.size:
        return np.asarray(cdist(left, right, "sqeuclidean"))
    i, j = np.divmod(near, len(right))
    with np.errstate(over="ignore"):
        found[i, j] = squares(left[i] - right[j])
    return found


def _by_product(left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """The same from inner products about a common origin, and from what value on they are accurate enough."""
    origin, sizes = right.mean(axis=0), squares(right)
    near, same = origin @ origin <= MAX_MEAN_SHARE * sizes.mean(), left is right
    if not near:
        right = right - origin
        left, sizes = right if same else left - origin, squares(right)
    own = sizes if same else squares(left)
    found = left @ right.T  # of one table, half of the work
    found *= -2.0
    found += own[:, None]
    found += sizes
    longest = float(own.max() + sizes.max())
    return found, longest * rounding(left.shape[1], "float64") / MAX_RELATIVE_ERROR
