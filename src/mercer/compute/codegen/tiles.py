"""One fused pass: tiles of statistics from BLAS, then generated code that applies a formula and reduces."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.emit import Method, Program, write
from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.precision import STATISTICS, VALUES
from mercer.compute.codegen.sparse_tiles import PANEL_WIDTH_FACTOR, SparseTiles, pair_of
from mercer.compute.codegen.symbols import Symbol
from mercer.compute.runtime import threads

Array = NDArray[Any]
Chosen = NDArray[np.intp] | None

MAX_TILE_BYTES = 1 << 19
"""Bytes per tile, at most: about the second-level cache of a core."""
TILE_ROWS = 256
"""Rows a tile; a piece of work is this many rows against all columns."""
MAX_PANEL_NUMBERS = 1 << 16
"""Numbers of the right side that generated loops sweep over for each row, at most: they stay in the cache."""
MIN_PAIRS_PER_THREAD = 1 << 20
"""Pairs that are worth a thread of their own."""
COLUMNS_THAT_DOUBLE_THE_COST = 32
"""Columns that take as long as the rest of a pair."""


@dataclass(frozen=True, eq=False)
class Tile:
    """Rows i0 to i1 against columns j0 to j1; `right` holds what belongs to the columns, one entry per group."""

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
        self._tiled = [_source(methods[group].kind, measured[group], self._statistics) for group in self._program.tiles]
        self._sides = [_sides(group, self._statistics) for group in self._program.coordinates]
        self._arguments = self._bound(self._program)
        self.columns = self._columns()
        # What belongs to the columns of each tile; a tile that ends early at the diagonal packs its own.
        self._packs = {(j0, j1): self._packed(j0, j1) for j0, j1 in self._panels(shape[1])}

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

    def _columns(self) -> int:
        """Columns a tile: wide where only one tile is held, narrow where loops sweep over many coordinates."""
        width = MAX_TILE_BYTES // TILE_ROWS // self._statistics.itemsize
        if any(group.sparse for group in self._program.tiles):
            width *= PANEL_WIDTH_FACTOR
        if self._sides:
            widest = max(left.shape[1] for left, _ in self._sides)
            width = min(width, max(32, MAX_PANEL_NUMBERS // self._statistics.itemsize // widest // 8 * 8))
        return width

    def at(self, rows: NDArray[np.intp]) -> Fused:
        """Some rows of the left side against all of the right; what belongs to the right side is shared."""
        part, (vectors, columns, numbers) = copy(self), self._arguments
        part.shape, part.symmetric = (len(rows), self.shape[1]), False
        part._tiled = [side.at(rows) for side in self._tiled]
        part._sides = [(left[rows], right) for left, right in self._sides]
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
        part._sides = [pair_of(left, right, rows, columns) for left, right in self._sides]
        if rows is not None and self._program.rows:
            vectors = np.ascontiguousarray(vectors[:, rows])
        if columns is not None and self._program.columns:
            others = np.ascontiguousarray(others[:, columns])
        part._arguments = vectors, others, numbers
        part._packs = {(j0, j1): part._packed(j0, j1) for j0, j1 in part._panels(part.shape[1])}
        return part

    @property
    def _weight(self) -> float:
        widths = [0 if isinstance(tiled, SparseTiles) else tiled.width for tiled in self._tiled]
        return 1 + sum(widths) / COLUMNS_THAT_DOUBLE_THE_COST

    # -- tiles ------------------------------------------------------------------------------------------------------

    def _panels(self, stop: int) -> Iterator[tuple[int, int]]:
        for j0 in range(0, stop, self.columns):
            yield j0, min(j0 + self.columns, stop)

    def _tiles(self, i0: int, stop: int) -> Iterator[Tile]:
        """The tiles of a block of rows before `stop`; in a symmetric matrix those left of the diagonal, and on it."""
        i1 = min(i0 + TILE_ROWS, stop)
        for j0, j1 in self._panels(i0 if self.symmetric else self.shape[1]):
            yield Tile(i0, i1, j0, j1, self._packs.get((j0, j1)) or self._packed(j0, j1))
        for j0 in range(i0, i1 if self.symmetric else i0, self.columns):
            j1 = min(j0 + self.columns, i1)
            yield Tile(i0, i1, j0, j1, self._packed(j0, j1))

    def _column(self, j0: int) -> Iterator[Tile]:
        """The tile of all rows, which are few, and the columns from `j0` on."""
        j1 = min(j0 + self.columns, self.shape[1])
        yield Tile(0, self.shape[0], j0, j1, self._packs[j0, j1])

    def _packed(self, j0: int, j1: int) -> tuple[tuple[Any, ...], tuple[Array, ...]]:
        """What belongs to some columns: for tiles, and for loops."""
        tiled = tuple(side.panel(j0, j1) for side in self._tiled)
        return tiled, tuple(np.ascontiguousarray(right[j0:j1].T) for _, right in self._sides)

    def _run_tile(self, tile: Tile, buffers: list[Array], finish: str, *last: Any) -> Any:
        height, width = tile.i1 - tile.i0, tile.j1 - tile.j0
        tiles = []
        for side, panel, buffer in zip(self._tiled, tile.right[0], buffers, strict=True):
            out = buffer[: height * width].reshape(height, width)
            side.fill(tile.i0, tile.i1, panel, tile.j0, tile.j1, out)
            tiles.append(out)
        sides = [part for (left, _), right in zip(self._sides, tile.right[1], strict=True) for part in (left, right)]
        return getattr(self._module, finish)(*tiles, *sides, *self._arguments, tile.i0, tile.j0, height, width, *last)

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
        workers = min(workers, max(1, int(self._pairs() * self._weight / MIN_PAIRS_PER_THREAD)))
        low = n <= TILE_ROWS and not self.symmetric  # then each worker has some columns, and all rows
        height = TILE_ROWS if self.symmetric else even(n, workers)
        pieces = dealt(range(0, self.shape[1], self.columns) if low else range(0, n, height), workers)
        sums = [0.0] * len(pieces)

        def work(worker: int, first: int, stop: threads.Stop) -> None:
            buffers = self._buffers()
            for tile in self._column(first) if low else self._tiles(first, min(first + height, n)):
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
        for tile in (tile for start in range(i0, i1, TILE_ROWS) for tile in self._tiles(start, i1)):
            total += float(self._run_tile(tile, buffers, "fill", out, tile.i0 - i0, tile.j0))
        return out.dtype == self.dtype and bool(np.isfinite(total))

    def times(self, V: Array, workers: int, watch: threads.Watch | None = None) -> Array:
        """The product with a matrix of m rows, in float64 sums of tiles."""
        n = self.shape[0]
        V = np.ascontiguousarray(V, dtype=self.dtype)
        single = V.shape[1] == 1
        pieces = dealt(range(0, n, TILE_ROWS), workers)
        partial = [np.zeros((n, V.shape[1])) for _ in (pieces if self.symmetric else range(1))]

        def work(worker: int, i0: int, stop: threads.Stop) -> None:
            out = partial[worker if self.symmetric else 0]
            buffers = self._buffers()
            values = np.empty((0 if single else TILE_ROWS, max(self.columns, TILE_ROWS)), self.dtype)
            for tile in self._tiles(i0, n):
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
        widths = [tiled.width for tiled in self._tiled] + [left.shape[1] for left, _ in self._sides]
        sums = n * columns * 8 * (workers if self.symmetric else 1)
        return tiles + sum(widths) * m * size + sums + m * columns * size


class _Tiled:
    """A group whose tiles come from a product of matrices."""

    def __init__(self, kind: str, measured: Measured, dtype: np.dtype[Any]) -> None:
        self.kind = kind
        self.measured = measured
        self.left = np.ascontiguousarray(measured.left, dtype=dtype)
        same = measured.right is measured.left
        self.right = self.left if same else np.ascontiguousarray(measured.right, dtype=dtype)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.left.shape[1])

    def at(self, rows: NDArray[np.intp]) -> _Tiled:
        """Some rows of the left side."""
        part = copy(self)
        part.left = self.left[rows]
        return part

    def within(self, rows: Chosen, columns: Chosen) -> _Tiled:
        """Some rows of both sides."""
        part = copy(self)
        part.left, part.right = pair_of(self.left, self.right, rows, columns)
        return part

    def panel(self, j0: int, j1: int) -> Array:
        return np.ascontiguousarray(self.right[j0:j1].T)

    def fill(self, i0: int, i1: int, panel: Array, j0: int, j1: int, out: Array) -> None:
        np.matmul(self.left[i0:i1], panel, out=out)


def _source(kind: str, measured: Measured, dtype: np.dtype[Any]) -> _Tiled | SparseTiles:
    return (SparseTiles if measured.group.sparse else _Tiled)(kind, measured, dtype)


def _sides(group: Group, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Both sides for generated loops, as they are: differences need no other origin."""
    left = np.ascontiguousarray(group.left, dtype=dtype)
    return left, left if group.right is group.left else np.ascontiguousarray(group.right, dtype=dtype)


def _stacked(vectors: list[Array], dtype: np.dtype[Any]) -> Array:
    return np.ascontiguousarray(np.stack(vectors), dtype=dtype) if vectors else np.zeros((1, 1), dtype)


def dealt(starts: range, workers: int) -> list[list[int]]:
    """Assign blocks to threads round-robin, so that results do not depend on timing."""
    return [list(starts[worker::workers]) for worker in range(max(1, min(workers, len(starts))))]


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
