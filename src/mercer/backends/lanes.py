"""Passes on the cores of this machine: lanes are threads, and strips stay in their caches.

The same lane gets the same strips in the same order, however fast the others are. Where there are several lanes, BLAS
has one thread in each; where there is one, each strip is filled by all of its threads, and BLAS has as many as it has
outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.backends.base import Array, Evaluator, Layout, RowValues
from mercer.backends.passes import Pass
from mercer.compute.codegen.tiles import TILE_ROWS, dealt
from mercer.compute.overflow import all_finite, warn_of_overflow
from mercer.compute.runtime import lapack, threads
from mercer.compute.runtime.run import State

WORKER_STRIP_NUMBERS = 1 << 20
"""Numbers in the memory of a lane, about: 8 MB."""
SHARED_STRIP_NUMBERS = 1 << 22
"""Numbers in the memory of a lane that has several threads: 32 MB."""
MIN_STRIP_ROWS = 64
"""Products of fewer rows are slow."""
MAX_STRIP_ROWS = 1 << 12
"""Taller strips keep the other lanes waiting at the end."""


def height(width: int, layout: Layout) -> int:
    """How many rows of so many numbers each lane has at once; the same on every machine."""
    if layout.rows:
        return layout.rows
    if layout.lanes == 1 and layout.threads > 1:
        return max(TILE_ROWS * layout.threads, SHARED_STRIP_NUMBERS // width)
    rows = max(MIN_STRIP_ROWS, min(WORKER_STRIP_NUMBERS // width, MAX_STRIP_ROWS))
    return rows // TILE_ROWS * TILE_ROWS or rows  # whole tiles


class NumPyOperations:
    """What NumPy arrays can do by BLAS and LAPACK, in place and without Python's lock."""

    add_squares = staticmethod(lapack.add_squares)
    divide_by_triangle = staticmethod(lapack.divide_by_triangle)
    subtract_product = staticmethod(lapack.subtract_product)

    cos = staticmethod(np.cos)
    sin = staticmethod(np.sin)
    beside = staticmethod(np.hstack)

    @staticmethod
    def row_squares(A: Array) -> Array:
        """The squared length of each row."""
        return np.asarray(np.einsum("ij,ij->i", A, A))

    @staticmethod
    def largest(A: Array, shift: Array) -> Array:
        """The position of the largest number of each row of A - shift."""
        A -= shift
        return np.asarray(A.argmax(axis=1))

    @staticmethod
    def add_at(sums: Array, positions: Array, numbers: Array) -> None:
        """sums[positions[i]] += numbers[i] for all i."""
        sums += np.bincount(positions, numbers, len(sums))


class Lanes:
    """The sums of a pass: an `Accumulator` (`mercer.backends.base`).

    memory : of each lane, where it makes strips of values; what is too small is replaced
    """

    def __init__(
        self, work: Pass, width: int, layout: Layout, state: State | None = None, memory: list[Array] | None = None
    ) -> None:
        self.work, self.width, self.layout = work, width, layout
        shapes = work.sums(width)
        self.sums = [{name: np.zeros(shape) for name, shape in shapes.items()} for _ in range(layout.lanes)]
        if state is not None:
            self._restore(state)
        self._memory = [] if memory is None else memory

    # -- the rows of a piece --------------------------------------------------------------------------------------

    def add(self, values: RowValues, rows: Mapping[str, Array], watch: threads.Watch | None = None) -> dict[str, Array]:
        """See `Accumulator`."""
        count, _ = values.shape
        left = {
            name: rows[name] if name in rows else np.empty((count, *column.shape), column.dtype)
            for name, column in self.work.columns(self.width).items()
        }
        columns = {name: rows[name] for name in self.work.reads if name in rows} | left
        if values.table is not None:
            self._over_table(values.table, columns, watch)
        elif values.functions is not None and values.points is not None:
            self._over_table(values.functions.values(values.points, NumPyOperations), columns, watch)
        elif values.evaluator is not None:
            self._over_strips(values.evaluator, values, columns, watch)
        return left

    def _strip(self, lane: int, start: int, values: Array, columns: Mapping[str, Array]) -> None:
        rows = slice(start, start + len(values))
        own = {name: column[rows] for name, column in columns.items()}
        self.work.add(values, own, self.sums[lane], NumPyOperations)

    def _over_strips(
        self, evaluator: Evaluator, values: RowValues, columns: Mapping[str, Array], watch: threads.Watch | None
    ) -> None:
        (n, m), infinite, step = evaluator.shape, set[int](), height(self.width, self.layout)
        together = self.layout.threads if self.layout.lanes == 1 else 1
        memory = self._shaped(min(step, n))

        def work(lane: int, start: int, stop: threads.Stop) -> None:
            found = memory[lane][: min(step, n - start)]
            if together > 1:
                chosen = np.arange(start, start + len(found))
                sure = evaluator.at(chosen).matrix(found.dtype, together if evaluator.threaded else 1, out=found)[1]
            else:
                sure = evaluator.fill(start, start + len(found), found)
            if not sure and not all_finite(found):
                infinite.add(start)
            if values.triangle is not None:
                lapack.divide_by_triangle(found, values.triangle)
            self._strip(lane, start, found, columns)
            stop.step(lane, found.size)

        pieces = dealt(range(0, n, step), self.layout.lanes)
        if evaluator.threaded and together == 1:
            threads.run(work, pieces, n * m, watch)
        else:  # one after the other, with all threads that BLAS has
            clock = threads.Clock(n * m, watch)
            told = threads.Told(clock)
            with np.errstate(all="ignore"):
                for lane, start in ((lane, start) for lane, piece in enumerate(pieces) for start in piece):
                    work(lane, start, told)
            clock.tell(n * m)
        if infinite:
            warn_of_overflow(values.subject, np.dtype(np.float64))

    def _over_table(self, table: Array, columns: Mapping[str, Array], watch: threads.Watch | None) -> None:
        """The same for values that are in memory: one lane has all of them at once."""
        if self.layout.lanes == 1:
            self._strip(0, 0, table, columns)
            threads.Clock(len(table), watch).tell(len(table))
            return
        step = height(self.width, self.layout)

        def work(lane: int, start: int, stop: threads.Stop) -> None:
            found = table[start : start + step]
            self._strip(lane, start, found, columns)
            stop.step(lane, len(found))

        threads.run(work, dealt(range(0, len(table), step), self.layout.lanes), len(table), watch)

    def _shaped(self, rows: int) -> list[Array]:
        """The memory of each lane as so many rows; the system takes its time to hand out more."""
        numbers = rows * self.width
        del self._memory[self.layout.lanes :]
        self._memory += [np.empty(0) for _ in range(self.layout.lanes - len(self._memory))]
        for lane, held in enumerate(self._memory):
            if held.size < numbers:
                self._memory[lane] = np.empty(numbers)
        return [held[:numbers].reshape(rows, self.width) for held in self._memory]

    # -- the sums -------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """See `Accumulator`."""
        return {f"{name} {lane}": array for lane, own in enumerate(self.sums) for name, array in own.items()}

    def _restore(self, state: State) -> None:
        for lane, own in enumerate(self.sums):
            for name, array in own.items():
                array[...] = state[f"{name} {lane}"]

    def joined(self) -> dict[str, Array]:
        """See `Accumulator`."""
        first, *others = self.sums
        for other in others:
            for name, array in other.items():
                first[name] += array
        self.sums = []
        return first

    def given_away(self) -> list[Array]:
        """The memory of the lanes, for another pass."""
        memory, self._memory = self._memory, []
        return memory


def lanes_of(work: Pass, width: int, layout: Layout, state: State | None, after: Any) -> Lanes:
    """An accumulator, with the memory of an earlier one."""
    return Lanes(work, width, layout, state, after.given_away() if isinstance(after, Lanes) else None)
