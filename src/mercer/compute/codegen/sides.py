"""The rows of both sides as generated loops read them."""

from __future__ import annotations

import threading
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


class Columns:
    """The rows of the right side, packed by coordinates when that is first needed: of all rows it often never is.

    values : (m, d)
    panel : columns of a panel, 0 for blocks
    """

    def __init__(self, values: Array, panel: int) -> None:
        self.values = values
        self.panel = panel
        self._lock = threading.Lock()
        self._packed: Array | None = None

    @property
    def packed(self) -> Array:
        """See `packed`."""
        if self._packed is None:
            with self._lock:  # workers may come at once
                self._packed = packed(self.values, self.panel) if self._packed is None else self._packed
        return self._packed


@dataclass(frozen=True, eq=False)
class Side:
    """Both sides of a group for generated loops."""

    left: Array
    right: Columns

    @classmethod
    def of(cls, group: Group | Measured, dtype: np.dtype[Any], panel: int) -> Side:
        """The rows as they are, or measured from the common origin; `panel` is 0 for blocks."""
        left = np.ascontiguousarray(group.left, dtype=dtype)
        right = left if group.right is group.left else np.ascontiguousarray(group.right, dtype=dtype)
        return cls(left, Columns(right, panel))

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.left.shape[1])

    def at(self, rows: NDArray[np.intp]) -> Side:
        """Some rows of the left side."""
        return replace(self, left=self.left[rows])

    def within(self, rows: Chosen, columns: Chosen) -> Side:
        """Some rows of both sides."""
        left, right = pair_of(self.left, self.right.values, rows, columns)
        return Side(left, self.right if columns is None else Columns(right, self.right.panel))


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
