"""Tiles of inner products or squared distances of sparse rows, written straight into dense tiles by compiled loops."""

from __future__ import annotations

import threading
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.sparse import cancelled

Array = NDArray[Any]

PANEL_WIDTH_FACTOR = 8
"""Times as wide as others: each stored number of the left side is looked up once a tile, and then meets few numbers."""

# Of sparse rows `starts` are where they begin, `places` their columns, `values` their numbers.


@compiled()
def products(
    starts: Array,
    places: Array,
    values: Array,
    columns: Array,
    begins: Array,
    rows: Array,
    numbers: Array,
    lookup: Array,
    i0: int,
    out: Array,
) -> None:
    """A tile of inner products with a panel."""
    for c in range(len(columns)):
        lookup[columns[c]] = c + 1
    for i in range(out.shape[0]):
        line = out[i]
        line[:] = 0.0
        for a in range(starts[i0 + i], starts[i0 + i + 1]):
            c = lookup[places[a]]
            if c > 0:
                x = values[a]
                for b in range(begins[c - 1], begins[c]):
                    line[rows[b]] += x * numbers[b]
    for c in range(len(columns)):
        lookup[columns[c]] = 0


@compiled()
def gap(
    places: Array, values: Array, a: int, a1: int, other_places: Array, other_values: Array, b: int, b1: int
) -> float:
    """The squared distance of two rows, from their differences."""
    total = 0.0
    while a < a1 and b < b1:
        if places[a] == other_places[b]:
            difference = values[a] - other_values[b]
            a += 1
            b += 1
        elif places[a] < other_places[b]:
            difference = values[a]
            a += 1
        else:
            difference = other_values[b]
            b += 1
        total += difference * difference
    while a < a1:
        total += values[a] * values[a]
        a += 1
    while b < b1:
        total += other_values[b] * other_values[b]
        b += 1
    return total


@compiled()
def distances(
    starts: Array,
    places: Array,
    values: Array,
    others: Array,
    other_places: Array,
    other_values: Array,
    here: Array,
    there: Array,
    part: float,
    i0: int,
    j0: int,
    out: Array,
) -> None:
    """A tile of squared distances from one of inner products; those that have cancelled are computed again."""
    z = there[j0 : j0 + out.shape[1]]
    for i in range(out.shape[0]):
        line, size, near = out[i], here[i0 + i], 0
        for j in range(len(line)):
            both = size + z[j]
            s = both - line[j] - line[j]
            line[j] = s if s > 0.0 else 0.0
            near += 0 if s >= part * both else 1
        if near > 0:
            a, a1 = starts[i0 + i], starts[i0 + i + 1]
            for j in range(len(line)):
                if not line[j] >= part * (size + z[j]):
                    b, b1 = others[j0 + j], others[j0 + j + 1]
                    line[j] = gap(places, values, a, a1, other_places, other_values, b, b1)


@dataclass(frozen=True, eq=False)
class Panel:
    """Some rows of the right side, by columns; only the columns that hold something."""

    columns: Array
    begins: Array
    rows: Array
    numbers: Array


class SparseTiles:
    """A group of sparse rows: tiles of inner products, or (kind "ready") of accurate squared distances.

    Squared distances that have cancelled are computed again from the differences of the two rows, so that all are
    accurate to about 5e-13 of themselves, wherever the rows lie. Memory: the stored numbers of the right side.
    """

    def __init__(self, kind: str, measured: Measured, dtype: np.dtype[Any]) -> None:
        self.kind = kind
        self.measured = measured
        self.left: Any = measured.left
        self.right: Any = measured.right
        self._norms = measured.norms
        self._part = cancelled(self.left, self.right)
        self._own = threading.local()

    def at(self, rows: NDArray[np.intp]) -> SparseTiles:
        """Some rows of the left side."""
        part = copy(self)
        part.left = self.left[rows]
        part._norms = (self._norms[0][rows], self._norms[1])
        return part

    def within(self, rows: NDArray[np.intp] | None, columns: NDArray[np.intp] | None) -> SparseTiles:
        """Some rows of both sides."""
        part = copy(self)
        part.left, part.right = pair_of(self.left, self.right, rows, columns)
        part._norms = pair_of(*self._norms, rows, columns)
        return part

    @property
    def width(self) -> int:
        """Numbers per row of the right side that its panels hold: values, and places half as long."""
        return int(2.5 * self.right.nnz / self.right.shape[0]) + 1

    def panel(self, j0: int, j1: int) -> Panel:
        part = self.right[j0:j1].tocsc()
        columns = np.flatnonzero(np.diff(part.indptr))
        begins = np.append(part.indptr[columns], part.nnz)
        # Unsigned and short: Numba then asks of no index whether it counts from the end, and the panel fits the cache.
        return Panel(columns.astype(np.int32), begins.astype(np.uint32), part.indices.astype(np.uint16), part.data)

    def fill(self, i0: int, i1: int, panel: Panel, j0: int, j1: int, out: Array) -> None:
        left, right = self._rows(self.left), self._rows(self.right)
        right_part = (panel.columns, panel.begins, panel.rows, panel.numbers)
        products(*left, *right_part, self._lookup(), i0, out)
        if self.kind == "ready":
            distances(*left, *right, *self._norms, self._part, i0, j0, out)

    def _rows(self, side: Any) -> tuple[Array, Array, Array]:
        return side.indptr, side.indices, side.data

    def _lookup(self) -> Array:
        """Where a column stands in the panel at hand, from 1; 0 for nowhere. One per thread, given back as zeros."""
        if not hasattr(self._own, "lookup"):
            self._own.lookup = np.zeros(self.right.shape[1], np.int32)
        lookup: Array = self._own.lookup
        return lookup


def pair_of(left: Any, right: Any, rows: NDArray[np.intp] | None, columns: NDArray[np.intp] | None) -> tuple[Any, Any]:
    """Some of the left and some of the right side, None for all; one object where that is so for both."""
    here = left if rows is None else left[rows]
    if right is left and columns is rows:
        return here, here
    return here, right if columns is None else right[columns]
