"""One fused pass: tiles of statistics from BLAS, then generated code that applies a formula and reduces."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.emit import write
from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.precision import STATISTICS, VALUES
from mercer.compute.codegen.program import Method, Program
from mercer.compute.codegen.sides import Chosen, Side, steps
from mercer.compute.codegen.sparse_tiles import PANEL_WIDTH_FACTOR, SparseTiles
from mercer.compute.codegen.sweeps import BLOCK_BYTES, ROWS
from mercer.compute.codegen.symbols import Symbol
from mercer.compute.runtime import threads

Array = NDArray[Any]

MAX_TILE_BYTES = 1 << 19
"""Bytes of a tile that is stored, at most: about the second-level cache of a core."""
TILE_ROWS = 256
"""Rows a tile; a piece of work is this many rows against all columns."""
MAX_PANEL_BYTES = 1 << 18
"""Bytes of the right side that generated loops sweep over for a few rows, at most: a part of the second-level cache."""
MAX_SUMS_BYTES = 1 << 14
"""Bytes that loops keep of a few rows, at most: half of a first-level cache. A panel has as many columns."""
MAX_CALL_PAIRS = 1 << 21
"""Pairs of a tile that is not stored, at most, fewer where there are many coordinates: a call takes a millisecond."""
MIN_PAIRS_PER_THREAD = 1 << 20
"""Pairs that are worth a thread of their own."""
COLUMNS_THAT_DOUBLE_THE_COST = 32
"""Columns that take as long as the rest of a pair."""


@dataclass(frozen=True, eq=False)
class Tile:
    """Rows i0 to i1 against columns j0 to j1; `right` holds what belongs to the columns, one entry per tiled group."""

    i0: int
    i1: int
    j0: int
    j1: int
    right: tuple[Any, ...]

    @property
    def pairs(self) -> int:
        """How many pairs it holds."""
        return (self.i1 - self.i0) * (self.j1 - self.j0)

    @property
    def on_diagonal(self) -> bool:
        """Whether it lies in a square on the diagonal of a symmetric matrix, which holds its own mirror image."""
        return self.j0 >= self.i0


class Fused:
    """A formula bound to the rows of two sides, ready to run.

    shape : the numbers of rows of both sides
    precision : "float32", "mixed" (statistics in float64, values in float32) or "float64"
    methods : how the statistics of each group are computed
    dtype : the type of the values
    symmetric : whether both sides are the same, so that half of the tiles suffice
    """

    threaded = True
    """Whether threads may ask for different rows at once."""

    def __init__(
        self,
        formula: Symbol,
        shape: tuple[int, int],
        precision: str,
        methods: dict[Group, Method],
        measured: dict[Group, Measured],
        symmetric: bool,
    ) -> None:
        self.shape = shape
        self.precision = precision
        self.methods = methods
        self.dtype = np.dtype(VALUES[precision])
        self.symmetric = symmetric
        self._statistics = np.dtype(STATISTICS[precision])
        self._program = write(formula, precision, methods)
        self._module = jit_cache.load(self._program.text)
        self._measured = measured
        self._tiled = [
            SparseTiles(methods[each].kind, measured[each], self._statistics) for each in self._program.tiles
        ]
        self._arguments = self._bound(self._program)
        self.columns, self.panel = self._columns()
        self._sides = self._all_sides()
        # What belongs to the columns of each tile; a tile that ends early at the diagonal packs its own.
        self._packs = self._all_packs()

    @property
    def text(self) -> str:
        """The generated code."""
        return self._program.text

    def _bound(self, program: Program) -> tuple[Array, Array, Array]:
        dtype = str(self._statistics)
        numbers = [self._measured[n].limit(dtype) if isinstance(n, Group) else float(n) for n in program.numbers]
        rows = [self._vector(entry, 0) for entry in program.rows]
        columns = [self._vector(entry, 1) for entry in program.columns]
        return _stacked(rows, self._statistics), _stacked(columns, self._statistics), np.array(numbers or [0.0])

    def _vector(self, entry: Any, side: int) -> Array:
        if isinstance(entry, tuple):
            what, group = entry
            pair = self._measured[group].norms if what == "norms" else self._measured[group].shifts
            return pair[side]
        return np.asarray(entry)

    def _columns(self) -> tuple[int, int]:
        """Columns a tile, and columns over which loops sweep at once, fewer where there are many coordinates."""
        size = self._statistics.itemsize
        width = MAX_TILE_BYTES // TILE_ROWS // size
        if any(group.sparse for group in self._program.tiles):
            width *= PANEL_WIDTH_FACTOR
        widest = max((each.group.width for each in self._program.coordinates), default=0)
        if not widest:
            return width, width
        block = BLOCK_BYTES // size
        panel = min(MAX_SUMS_BYTES // ROWS, MAX_PANEL_BYTES // widest) // size
        return width, max(panel // block, 1) * block

    def _all_sides(self) -> list[Side]:
        """Both sides of every group for the loops; where two are the same numbers, they are one."""
        found: dict[tuple[int, int, int], Side] = {}
        sides = []
        for each in self._program.coordinates:
            group = self._measured[each.group] if each.moved else each.group
            panel = self.panel * each.paneled
            key = id(group.left), id(group.right), panel
            if key not in found:
                found[key] = Side.of(group, self._statistics, panel)
            sides.append(found[key])
        return sides

    def at(self, rows: NDArray[np.intp]) -> Fused:
        """Some rows of the left side against all of the right; what belongs to the right side is shared."""
        part, (vectors, columns, numbers) = copy(self), self._arguments
        part.shape, part.symmetric = (len(rows), self.shape[1]), False
        part._tiled = [side.at(rows) for side in self._tiled]
        part._sides = [side.at(rows) for side in self._sides]
        part._arguments = np.ascontiguousarray(vectors[:, rows]) if self._program.rows else vectors, columns, numbers
        return part

    def within(self, rows: Chosen, columns: Chosen) -> Fused:
        """Some rows against some columns, None for all; symmetric where both sides are one and both are the same.

        What was measured of all rows is shared: parts take a copy of their rows, and little time.
        """
        part, (vectors, others, numbers) = copy(self), self._arguments
        part.symmetric = self.symmetric and columns is rows
        n, m = self.shape
        part.shape = n if rows is None else len(rows), m if columns is None else len(columns)
        part._tiled = [side.within(rows, columns) for side in self._tiled]
        part._sides = [side.within(rows, columns) for side in self._sides]
        if rows is not None and self._program.rows:
            vectors = np.ascontiguousarray(vectors[:, rows])
        if columns is not None and self._program.columns:
            others = np.ascontiguousarray(others[:, columns])
        part._arguments = vectors, others, numbers
        part._packs = part._all_packs()
        return part

    @property
    def _weight(self) -> float:
        return 1 + sum(side.width for side in self._sides) / COLUMNS_THAT_DOUBLE_THE_COST

    # -- tiles ------------------------------------------------------------------------------------------------------

    def _tiles(self, i0: int, stop: int, columns: int) -> Iterator[Tile]:
        """The tiles of a block of rows before `stop`; in a symmetric matrix those left of the diagonal, and on it."""
        i1 = min(i0 + TILE_ROWS, stop)
        for j0, j1 in steps(0, i0 if self.symmetric else self.shape[1], columns):
            yield Tile(i0, i1, j0, j1, self._packed(j0, j1))
        for j0, j1 in steps(i0, i1 if self.symmetric else i0, columns):
            yield Tile(i0, i1, j0, j1, self._packed(j0, j1))

    def _column(self, j0: int) -> Iterator[Tile]:
        """The tile of all rows, which are few, and the columns from `j0` on."""
        j1 = min(j0 + self.columns, self.shape[1])
        yield Tile(0, self.shape[0], j0, j1, self._packed(j0, j1))

    def _packed(self, j0: int, j1: int) -> tuple[Any, ...]:
        """What belongs to some columns."""
        return self._packs.get((j0, j1)) or self._pack(j0, j1)

    def _pack(self, j0: int, j1: int) -> tuple[Any, ...]:
        return tuple(side.panel(j0, j1) for side in self._tiled)

    def _all_packs(self) -> dict[tuple[int, int], tuple[Any, ...]]:
        return {(j0, j1): self._pack(j0, j1) for j0, j1 in steps(0, self.shape[1], self.columns) if self._tiled}

    @property
    def _wide(self) -> int:
        """Columns of a tile that is not stored: whole panels, where there is nothing to store in between."""
        pairs = int(MAX_CALL_PAIRS / self._weight)
        return self.columns if self._tiled else max(pairs // TILE_ROWS // self.panel, 1) * self.panel

    def _run_tile(self, tile: Tile, buffers: list[Array], finish: str, *last: Any) -> Any:
        height, width = tile.i1 - tile.i0, tile.j1 - tile.j0
        tiles = []
        for side, panel, buffer in zip(self._tiled, tile.right, buffers, strict=True):
            out = buffer[: height * width].reshape(height, width)
            side.fill(tile.i0, tile.i1, panel, tile.j0, tile.j1, out)
            tiles.append(out)
        sides = [part for side in self._sides for part in (side.left, side.right.packed)]
        place = tile.i0, height, tile.j0, tile.j1, self.panel
        return getattr(self._module, finish)(*tiles, *sides, *self._arguments, *place, *last)

    def _buffers(self) -> list[Array]:
        return [np.empty(TILE_ROWS * max(self.columns, TILE_ROWS), self._statistics) for _ in self._tiled]

    # -- what can be asked ----------------------------------------------------------------------------------------

    def matrix(
        self, dtype: np.dtype[Any], workers: int, watch: threads.Watch | None = None, out: Array | None = None
    ) -> tuple[Array, bool]:
        """All values as an array, a symmetric one exactly symmetric, and whether all are surely finite.

        out : where to write them, C-contiguous; None for new memory, which the system takes its time to hand out
        """
        n = self.shape[0]
        out = np.empty(self.shape, dtype) if out is None else out
        workers = self._worth(workers)
        low = n <= TILE_ROWS and not self.symmetric  # then each worker has some columns, and all rows
        height = TILE_ROWS if self.symmetric else even(n, workers)
        starts = range(0, self.shape[1], self.columns) if low else range(0, n, height)
        pieces = queues(starts, workers, shared=True)
        columns = self.columns if self.symmetric else self._wide  # what is copied to its mirror image is in the cache
        sums = [0.0] * len(pieces)

        def work(worker: int, queue: deque[int], stop: threads.Stop) -> None:
            buffers = self._buffers()
            tiles = (
                tile
                for first in taken(queue)
                for tile in (self._column(first) if low else self._tiles(first, min(first + height, n), columns))
            )
            for tile in tiles:
                sums[worker] += float(self._run_tile(tile, buffers, "fill", out, tile.i0, tile.j0))
                if self.symmetric:
                    copy_to_mirror(out, tile)
                if not stop.step(worker, tile.pairs):
                    return

        threads.run(work, pieces, self._pairs(), watch)
        return out, dtype == self.dtype and bool(np.isfinite(sums).all())

    def fill(self, i0: int, i1: int, out: Array) -> bool:
        """Some rows of a matrix that is not symmetric, by this thread alone, and whether all are surely finite."""
        buffers, total = self._buffers(), 0.0
        for tile in (tile for start in range(i0, i1, TILE_ROWS) for tile in self._tiles(start, i1, self._wide)):
            total += float(self._run_tile(tile, buffers, "fill", out, tile.i0 - i0, tile.j0))
        return out.dtype == self.dtype and bool(np.isfinite(total))

    def times(self, V: Array, workers: int, watch: threads.Watch | None = None) -> Array:
        """The product with a matrix of m rows, in float64 sums of tiles."""
        n = self.shape[0]
        V = np.ascontiguousarray(V, dtype=self.dtype)
        single = V.shape[1] == 1
        columns = self._wide if single else self.columns
        # Rows that nobody else writes may be anybody's; of a symmetric matrix each worker has sums of its own.
        pieces = queues(range(0, n, TILE_ROWS), self._worth(workers), shared=not self.symmetric)
        partial = [np.zeros((n, V.shape[1])) for _ in (pieces if self.symmetric else range(1))]

        def work(worker: int, queue: deque[int], stop: threads.Stop) -> None:
            out = partial[worker if self.symmetric else 0]
            buffers = self._buffers()
            values = np.empty((0 if single else TILE_ROWS, max(self.columns, TILE_ROWS)), self.dtype)
            for tile in (tile for i0 in taken(queue) for tile in self._tiles(i0, n, columns)):
                self._product(tile, buffers, values, V, out, single)
                if not stop.step(worker, tile.pairs):
                    return

        threads.run(work, pieces, self._pairs(), watch)
        return sum(partial[1:], start=partial[0])

    def _product(self, tile: Tile, buffers: list[Array], values: Array, V: Array, out: Array, single: bool) -> None:
        both = self.symmetric and not tile.on_diagonal
        if single:
            self._run_tile(tile, buffers, "both" if both else "reduce", V[:, 0], out[:, 0])
            return
        height, width = tile.i1 - tile.i0, tile.j1 - tile.j0
        self._run_tile(tile, buffers, "fill", values, 0, 0)
        block = values[:height, :width]
        out[tile.i0 : tile.i1] += block @ V[tile.j0 : tile.j1]
        if both:
            out[tile.j0 : tile.j1] += block.T @ V[tile.i0 : tile.i1]

    def _worth(self, workers: int) -> int:
        """How many threads are worth their start, at most `workers`."""
        return min(workers, max(1, int(self._pairs() * self._weight / MIN_PAIRS_PER_THREAD)))

    def _pairs(self) -> int:
        n, m = self.shape
        if not self.symmetric:
            return n * m
        return sum(min(i0 + TILE_ROWS, n) * (min(i0 + TILE_ROWS, n) - i0) for i0 in range(0, n, TILE_ROWS))

    def peak(self, columns: int, workers: int) -> int:
        """Bytes that `times` holds at its peak, beside its result: packed columns, tiles, partial sums."""
        n, m = self.shape
        size = self._statistics.itemsize
        tiles = workers * (len(self._tiled) + (columns > 1)) * TILE_ROWS * max(self.columns, TILE_ROWS) * size
        widths = [tiled.width for tiled in self._tiled] + [side.width for side in self._sides]
        sums = n * columns * 8 * (workers if self.symmetric else 1)
        return tiles + sum(widths) * m * size + sums + m * columns * size


def _stacked(vectors: list[Array], dtype: np.dtype[Any]) -> Array:
    return np.ascontiguousarray(np.stack(vectors), dtype=dtype) if vectors else np.zeros((1, 1), dtype)


def dealt(starts: range, workers: int) -> list[list[int]]:
    """Assign blocks to threads round-robin, so that results do not depend on timing."""
    return [list(starts[worker::workers]) for worker in range(max(1, min(workers, len(starts))))]


def queues(starts: range, workers: int, shared: bool) -> list[list[deque[int]]]:
    """The blocks of each thread, as one queue; shared where results do not depend on which thread has which.

    Then a thread that the system keeps waiting does not hold up the others.
    """
    if not shared:
        return [[deque(part)] for part in dealt(starts, workers)]
    queue = deque(starts)
    return [[queue] for _ in range(max(1, min(workers, len(starts))))]


def taken(queue: deque[int]) -> Iterator[int]:
    """What is in a queue, until it is empty."""
    while True:
        try:
            first = queue.popleft()  # whatever other threads do: the queue may be empty at any moment
        except IndexError:
            return
        yield first


def even(rows: int, workers: int) -> int:
    """Rows of a piece of work, at most ROWS, so that all workers get as many pieces."""
    pieces = -(-rows // (TILE_ROWS * workers)) * workers
    return max(1, -(-rows // max(1, pieces)))


def copy_to_mirror(matrix: Array, tile: Tile) -> None:
    """Copy a tile below the diagonal to its place above, and the lower triangle of a square on it to its upper one.

    Exact symmetry needs it: a block product may round (i, j) and (j, i) differently.
    """
    if not tile.on_diagonal:
        matrix[tile.j0 : tile.j1, tile.i0 : tile.i1] = matrix[tile.i0 : tile.i1, tile.j0 : tile.j1].T
    elif tile.j1 == tile.i1:  # the last tile of the square
        mirror(matrix[tile.i0 : tile.i1, tile.i0 : tile.i1])


def mirror(matrix: Array, step: int = 64) -> None:
    """Copy the lower triangle onto the upper one: a block product may round (i, j) and (j, i) differently."""
    above = ~np.tri(min(step, len(matrix)), dtype=bool)
    for start in range(0, len(matrix), step):
        stop = min(start + step, len(matrix))
        corner = matrix[start:stop, start:stop]
        np.copyto(corner, corner.T.copy(), where=above[: len(corner), : len(corner)])
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
