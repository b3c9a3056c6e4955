"""The statistics of a group of rows by a matrix product: a common origin first, and how far rounding can reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.formula import Group

Array = NDArray[Any]

MAX_RELATIVE_ERROR = {"float32": 1e-6, "float64": 1e-10}
"""How accurate a squared distance from a product must be, relatively, before its root may be taken."""
MAX_CANCELLATION = 5.0
"""The most that |x|^2 + |z|^2 is in units of |x - z|^2, where one length is at least twice the other."""

LINE_NUMBERS = 128
"""Numbers of a line that are compared at once, about."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A group whose rows were measured from a common origin.

    |x - z|^2 = |x - o|^2 + |z - o|^2 - 2 <x - o, z - o> holds for every origin o, but its rounding error grows with
    the lengths |x - o|: rows far from zero and near to each other need an origin among them.

    movable : whether another origin than zero may be chosen; not where only inner products are needed
    """

    group: Group
    movable: bool = True

    @cached_property
    def origin(self) -> Array | None:
        """The mean row, where measuring from it at least halves the longest row; None stands for zero."""
        if self.group.sparse or not self.movable:
            return None
        left, right = self.group.left, self.group.right
        sides = [left] if right is left else [left, right]
        share = 1 / sum(map(len, sides))
        with np.errstate(over="ignore", invalid="ignore"):
            mean: Array = sum(np.full(len(side), share) @ side for side in sides)
            ends = [end for side in sides for end in extremes(side)]
            nearer = max(float(np.abs(end - mean).max()) for end in ends)
        longest = max(float(np.abs(end).max()) for end in ends)
        return mean if nearer < longest / 2 else None

    @cached_property
    def left(self) -> Array:
        """The rows of the left side, from the origin."""
        return self._moved(self.group.left)

    @cached_property
    def right(self) -> Array:
        """The rows of the right side, from the origin."""
        return self.left if self.group.right is self.group.left else self._moved(self.group.right)

    def _moved(self, values: Any) -> Array:
        moved: Array = values if self.origin is None else values - self.origin
        return moved

    @cached_property
    def norms(self) -> tuple[Array, Array]:
        """|x - o|^2 of each row, for both sides."""
        if any(hasattr(side, "row_squares") for side in (self.group.left, self.group.right)):
            own = self._norms(self.group.left)
            return own, own if self.group.right is self.group.left else self._norms(self.group.right)
        left = squares(self.left)
        return left, left if self.right is self.left else squares(self.right)

    def _norms(self, values: Any) -> Array:
        """Those of one side; on a device no copy is made of it."""
        there = hasattr(values, "row_squares")
        return np.asarray(values.row_squares(self.origin)) if there else squares(self._moved(values))

    @cached_property
    def shifts(self) -> tuple[Array, Array]:
        """What an inner product needs beside <x - o, z - o>: <x - o, o> + |o|^2 / 2, for both sides."""
        if self.origin is None:
            return np.zeros(len(self.norms[0])), np.zeros(len(self.norms[1]))
        half = float(self.origin @ self.origin) / 2
        return self.left @ self.origin + half, self.right @ self.origin + half

    @cached_property
    def reach(self) -> float:
        """The largest |x - o|^2 + |z - o|^2."""
        return float(self.norms[0].max()) + float(self.norms[1].max())

    def error(self, dtype: str) -> float:
        """How far rounding moves a squared distance, by more than `MAX_CANCELLATION` units of itself.

        Where one of |x|, |z| is at least twice the other, |x|^2 + |z|^2 <= MAX_CANCELLATION |x - z|^2, and no digit is
        lost. Where neither is, the sum is at most that many times the smaller square: long rows of one side alone do
        no harm.
        """
        near = MAX_CANCELLATION * min(float(norms.max()) for norms in self.norms)
        return rounding(self.group.width, dtype) * min(self.reach, near)

    def dot_errors(self, dtype: str, left: Array, right: Array, direct: bool) -> Array:
        """How far rounding moves the inner products of some rows: a product by a part of |x| |z|.

        direct : whether they are products, and not the rest of |x|^2 + |z|^2 beside a squared distance
        """
        moved = [side if self.origin is None else side - self.origin for side in (left, right)]
        x, z = (squares(side) for side in moved)
        size = np.sqrt(np.outer(x, z)) if direct else (x[:, None] + z) / 2
        found: Array = rounding(self.group.width, dtype) * size
        if self.origin is not None:
            half = float(self.origin @ self.origin) / 2
            x, z = (np.abs(side @ self.origin + half) for side in moved)
            found += rounding(1, dtype) * (x[:, None] + z)
        return found

    def limit(self, dtype: str) -> float:
        """The squared distance below which a product has lost too many digits for a root to be taken."""
        return self.error(dtype) / (2 * MAX_RELATIVE_ERROR[dtype])


def rounding(terms: int, dtype: str) -> float:
    """How far rounding moves a squared distance, as a part of |x|^2 + |z|^2: a few units, and those of its products.

    The worst case is a unit for each product; errors of both signs cancel to about the root of their number.
    """
    return float(np.finfo(dtype).eps) / 2 * (2 + math.sqrt(terms) / 2)


def extremes(values: Array) -> tuple[Array, Array]:
    """The largest and the smallest number of each column: of several rows as one line, since short lines are slow."""
    if hasattr(values, "row_squares"):  # on a device
        return values.max(axis=0), values.min(axis=0)
    n, d = values.shape
    several = min(n, max(1, LINE_NUMBERS // max(d, 1)))
    lines = values[: n // several * several].reshape(-1, several * d)
    rest = values[len(lines) * several :]

    def joined(by: np.ufunc) -> Array:
        found = by.reduce(by.reduce(lines, axis=0).reshape(several, d), axis=0)
        return by(found, by.reduce(rest, axis=0)) if len(rest) else np.asarray(found)

    return joined(np.maximum), joined(np.minimum)


def squares(values: Any) -> Array:
    """|x|^2 of each row, dense or sparse."""
    if hasattr(values, "row_squares"):
        return np.asarray(values.row_squares())
    with np.errstate(over="ignore"):
        if hasattr(values, "nnz"):
            return np.asarray(values.multiply(values).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(np.einsum("ij,ij->i", values, values))
