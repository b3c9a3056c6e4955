"""The rows of both sides as generated loops read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.sparse_tiles import pair_of
from mercer.compute.codegen.sweeps import BLOCK_BYTES

Array = NDArray[Any]
Chosen = NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class Side:
    """Both sides of a group for generated loops; the right one also by coordinates, in blocks or panels of columns."""

    left: Array
    right: Array
    packed: Array
    panel: int

    @classmethod
    def of(cls, group: Group | Measured, dtype: np.dtype[Any], panel: int) -> Side:
        """The rows as they are, or measured from the common origin; `panel` is 0 for blocks."""
        left = np.ascontiguousarray(group.left, dtype=dtype)
        right = left if group.right is group.left else np.ascontiguousarray(group.right, dtype=dtype)
        return cls(left, right, packed(right, panel), panel)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.left.shape[1])

    def at(self, rows: NDArray[np.intp]) -> Side:
        """Some rows of the left side."""
        return replace(self, left=self.left[rows])

    def within(self, rows: Chosen, columns: Chosen) -> Side:
        """Some rows of both sides."""
        left, right = pair_of(self.left, self.right, rows, columns)
        return Side(left, right, self.packed if columns is None else packed(right, self.panel), self.panel)


def packed(right: Array, panel: int) -> Array:
    """(blocks or panels, coordinates, their columns); the last is filled up.

    Blocks are read from the beginning to the end. In panels coordinates lie further apart than their columns need:
    at a distance of a power of two they would drive each other out of caches.
    """
    (m, d), block = right.shape, BLOCK_BYTES // right.itemsize
    width = panel or block
    found = np.zeros((-(-m // width), d, width + (block if panel else 0)), right.dtype)
    full = m // width
    found[:full, :, :width] = right[: full * width].reshape(full, width, d).transpose(0, 2, 1)
    found[full:, :, : m - full * width] = right[full * width :].T
    return found


def steps(start: int, stop: int, step: int) -> Iterator[tuple[int, int]]:
    """Where each of the pieces of a range begins and ends."""
    for first in range(start, stop, step):
        yield first, min(first + step, stop)
