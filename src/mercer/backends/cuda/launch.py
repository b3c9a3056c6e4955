"""A formula bound to rows on a graphics card: products, blocks and matrices by generated Triton kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch

from mercer.backends.base import Traced
from mercer.backends.cuda import kernels
from mercer.backends.cuda.packing import coordinates, filled, padded, rounded, split, vectors, wide_chunk
from mercer.backends.cuda.rows import Rows
from mercer.backends.cuda.text import Source, Table, write
from mercer.backends.cuda.tiles import Tiles, span
from mercer.compute.codegen.formula import Group
from mercer.compute.runtime.threads import Clock, Watch

PIECE_SECONDS = 0.08
"""Seconds of a launch, about: between two the keyboard and the progress are looked at."""
FIRST_PAIRS = {"float32": 1 << 35, "float64": 1 << 33}
"""Pairs of the first launch, fewer where rows are wide; how long it takes says how many the next ones have. No sum
depends on where one ends."""
ADDED = 256
SUMS = Tiles(1, ADDED)
"""How kernels run that add what others left."""
BOTH_SPAN = 1 << 13
"""Rows of a span of a symmetric matrix, whose values are added in their own type."""
MAX_SIDE_BYTES = 1 << 30
"""Bytes of what blocks of rows leave for columns, at most."""
MAX_BLOCKS = 1 << 12
"""Blocks of rows of a launch, at most: their sums need memory."""
MAX_VECTORS = 64
"""Vectors that one launch multiplies with."""
MAX_TF32_COLUMNS = 30
"""Columns of rows up to which TF32 is the format of float32's products: longer ones are faster in bfloat16."""

Tensor: TypeAlias = torch.Tensor
Hold: TypeAlias = Callable[[Any], Rows]
"""hold(array): the rows of a table on the device; the same object for the same array."""


@dataclass(frozen=True)
class Arguments:
    """What all kernels of a formula get.

    tables : of each, that of the rows and that of the columns, and how wide it is
    rows, columns : vectors of either side
    numbers : of the formula, in float64
    """

    tables: tuple[tuple[Tensor, Tensor, int], ...]
    rows: Tensor
    columns: Tensor
    numbers: Tensor

    @property
    def all(self) -> list[Any]:
        """In the order of the kernels."""
        sides = [part for table in self.tables for part in table]
        return [*sides, self.rows, self.columns, self.numbers, self.rows.shape[1], self.columns.shape[1]]


class Launched:
    """A formula on the rows of two sides, ready to run on a card.

    shape : the numbers of rows of both sides
    precision : "float32", "mixed" or "float64"
    dtype : the type of the values
    symmetric : whether both sides are the same, so that half of the tiles suffice
    device : where it runs
    """

    def __init__(
        self,
        source: Source,
        arguments: Arguments,
        shape: tuple[int, int],
        symmetric: bool,
        tiles: Mapping[str, Tiles] | None = None,
    ) -> None:
        self.source = source
        self._chosen_tiles = dict(tiles or {})
        self.shape = shape
        self.symmetric = symmetric
        self.precision = source.precision
        self.dtype = np.dtype(source.values)
        self.device = arguments.numbers.device
        self._arguments = arguments
        self._module = kernels.module(source.text)
        self._values = getattr(torch, source.values)

    @classmethod
    def of(
        cls,
        traced: Traced,
        device: str,
        hold: Hold | None = None,
        form: str | None = None,
        tiles: Mapping[str, Tiles] | None = None,
        layout: str | None = None,
    ) -> Launched:
        """Bind a formula to its rows.

        Parameters
        ----------
        traced : Traced
            What a kernel says of the rows of two sides.
        device : str
            "cuda:0", ...; "cpu" where Triton interprets.
        hold : callable, optional
            Gives `Rows` on the device for an array of rows; what is made of these is kept with them. None uploads.
        form : str, optional
            How tables are split, a name of `mercer.backends.cuda.packing.FORMS`; None for what the precision asks.
        tiles : mapping, optional
            Tiles for some kernels, in place of those of the table.
        layout : str, optional
            How rows lie for inner products, in place of what suits their lengths.

        Returns
        -------
        launched : Launched
        """
        form = form or form_of(traced)
        source = write(traced.formula, traced.precision, traced.methods, form, kernels.INTERPRETED, layout)
        binder = _Binder(traced, source, device, hold or (lambda array: Rows.of(array, device)))
        return cls(source, binder.arguments(), traced.shape, traced.symmetric, tiles)

    # -- parts --------------------------------------------------------------------------------------------------------

    def at(self, rows: Any) -> Launched:
        """Some rows of the left side against all of the right."""
        return self._part(rows, None, symmetric=False)

    def within(self, rows: Any, columns: Any) -> Launched:
        """Some rows against some columns, None for all; symmetric where both sides are one and both are the same."""
        return self._part(rows, columns, self.symmetric and columns is rows)

    def _part(self, rows: Any, columns: Any, symmetric: bool) -> Launched:
        part, own = copy(self), self._arguments
        some = [_positions(each, self.device) for each in (rows, columns)]
        part.shape = tuple(n if each is None else each[1] for n, each in zip(self.shape, some, strict=True))  # type: ignore[assignment]
        part.symmetric = symmetric
        tables = []
        for (x, z, d), table in zip(own.tables, self.source.tables, strict=True):
            axis = 1 if table.kind == "coordinates" else 0
            tables.append((_chosen(x, some[0], axis), _chosen(z, some[1], axis), d))
        part._arguments = Arguments(
            tuple(tables), _chosen(own.rows, some[0], 1), _chosen(own.columns, some[1], 1), own.numbers
        )
        return part

    # -- products -----------------------------------------------------------------------------------------------------

    def times(self, V: Tensor, watch: Watch | None = None) -> Tensor:
        """The product with a matrix of m rows, on the device and in float64, whatever V's type is."""
        (n, m), count = self.shape, V.shape[1]
        out = torch.zeros((padded(n), count), dtype=torch.float64, device=self.device)
        if count == 0:
            return out[:n]
        if count == 1:
            self._one(_filled_up(V[:, 0].to(self._values), m), out[:, 0], watch)
            return out[:n]
        for start in range(0, count, MAX_VECTORS):
            self._many(V[:, start : start + MAX_VECTORS], out[:, start : start + MAX_VECTORS], watch)
        return out[:n]

    def _one(self, v: Tensor, out: Tensor, watch: Watch | None) -> None:
        if self.symmetric:
            self._symmetric(v, out, watch)
        else:
            self._reduce(v, out, watch)

    def _reduce(self, v: Tensor, out: Tensor, watch: Watch | None) -> None:
        tiles = self._tiles("reduce")
        size = span(len(out), len(v), tiles)
        spans = -(-len(v) // size)

        def launch(start: int, stop: int) -> None:
            first, last = start * tiles.rows, stop * tiles.rows
            partial = self._partial(spans, last - first)
            self._launch(
                "reduce", (stop - start, spans), tiles, v, partial, last - first, start, size, len(v), SQUARE=0
            )
            _add(out[first:last], partial)

        self._in_pieces(len(out) // tiles.rows, tiles.rows * len(v), launch, watch)

    def _symmetric(self, v: Tensor, out: Tensor, watch: Watch | None) -> None:
        """Tiles above the diagonal serve both outputs; squares on it are summed as they are."""
        tiles, small = self._tiles("both"), self._tiles("reduce")
        height = tiles.columns  # of squares on the diagonal: their edges are edges of tiles
        tiles, small = (
            replace(each, rows=min(each.rows, height), columns=min(each.columns, height)) for each in (tiles, small)
        )

        def launch(start: int, stop: int) -> None:
            first, last = start * height, stop * height
            spans = -(-last // BOTH_SPAN)
            side = torch.empty((stop - start, len(v)), dtype=self._values, device=self.device)
            partial = self._partial(spans + 1, last - first)
            # What takes long comes first, so that the card never waits for the next one.
            self._launch("both", (stop - start, spans), tiles, v, partial, side, last - first, start, BOTH_SPAN)
            place = partial[spans:], last - first, first // small.rows, height, len(v)
            self._launch("reduce", ((last - first) // small.rows, 1), small, v, *place, SQUARE=height)
            _add(out[first:last], partial)
            given = side, len(v), out, start, stop - start, height, last
            kernels.launch(kernels.sums("add_across"), (-(-last // ADDED),), SUMS, *given, BN=ADDED)

        most = max(1, MAX_SIDE_BYTES // (len(v) * v.element_size()))
        self._in_pieces(len(out) // height, height * len(v) // 2, launch, watch, most)

    def _many(self, V: Tensor, out: Tensor, watch: Watch | None) -> None:
        tiles, count = self._tiles("reduce_many"), V.shape[1]
        width = max(16, 1 << (count - 1).bit_length())
        large, small = self._weights(V, width)
        size = span(len(out), len(large), tiles)
        spans = -(-len(large) // size)

        def launch(start: int, stop: int) -> None:
            rows = (stop - start) * tiles.rows
            partial = torch.empty((spans, rows, width), dtype=torch.float64, device=self.device)
            place = partial, rows, start, size, len(large)
            self._launch("reduce_many", (stop - start, spans), tiles, large, small, *place, BC=width)
            _add(out[start * tiles.rows : stop * tiles.rows], partial, count)

        self._in_pieces(len(out) // tiles.rows, tiles.rows * len(large), launch, watch)

    def _weights(self, V: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """The large and the small parts of the numbers of V, in as many columns as the kernel takes."""
        wide = torch.zeros((padded(len(V)), width), dtype=torch.float64, device=self.device)
        wide[: len(V), : V.shape[1]] = V
        if self.source.values == "float64":
            return wide, wide
        if self.source.is_rough:
            large, small = split(wide, 2, "bfloat16")
            return (large.float(), small.float()) if kernels.INTERPRETED else (large, small)
        large = rounded(wide, "tf32")
        return large, rounded(wide.float().double() - large.double(), "tf32")

    # -- values -------------------------------------------------------------------------------------------------------

    def fill(self, i0: int, i1: int, out: Tensor, watch: Watch | None = None) -> None:
        """Some rows of the matrix; `out` has i1 - i0 rows of m numbers, in any order of strides but by columns."""
        self._fill(i0, i1, out, False, watch)

    def matrix(self, out: Tensor, watch: Watch | None = None) -> None:
        """All values, a symmetric matrix exactly symmetric; `out` is of n rows of m numbers."""
        self._fill(0, self.shape[0], out, self.symmetric, watch)

    def _fill(self, i0: int, i1: int, out: Tensor, mirrored: bool, watch: Watch | None) -> None:
        if out.stride(1) != 1:
            raise ValueError("Launched.fill: `out` needs rows whose numbers lie side by side. Give a C-contiguous one.")
        (_, m), tiles = self.shape, self._tiles("fill")
        low, high = i0 // tiles.rows, -(-i1 // tiles.rows)
        size = span((high - low) * tiles.rows, padded(m), tiles)
        spans = -(-padded(m) // size)

        def launch(start: int, stop: int) -> None:
            place = out, out.stride(0), i0, i1, m, low + start, size, padded(m)
            self._launch("fill", (stop - start, spans), tiles, *place, MIRRORED=mirrored)

        self._in_pieces(high - low, tiles.rows * m, launch, watch)

    def peak(self, count: int) -> int:
        """Bytes of the card that `times` takes at its peak for so many vectors, beside tables that are held."""
        (n, m), width = (padded(each) for each in self.shape), min(count, MAX_VECTORS)
        symmetric = self.symmetric and count == 1
        tiles = self._tiles("both" if symmetric else "reduce" if count == 1 else "reduce_many")
        spans = -(-m // (BOTH_SPAN if symmetric else span(n, m, tiles)))
        partial = (
            8 * spans * min(n, MAX_BLOCKS * max(tiles.rows, tiles.columns)) * (1 if count == 1 else max(16, width))
        )
        side = min(MAX_SIDE_BYTES, n // tiles.columns * m * 8) if symmetric else 0
        return 8 * n * count + 3 * 8 * m * max(1, width) + partial + side

    # -- launches -----------------------------------------------------------------------------------------------------

    def _tiles(self, finish: str) -> Tiles:
        return self._chosen_tiles.get(finish) or self.source.tiles(finish)

    def _launch(self, finish: str, grid: tuple[int, ...], tiles: Tiles, *arguments: Any, **constants: Any) -> None:
        shared = self._arguments.all
        sizes = {"BM": tiles.rows, "BN": tiles.columns}
        kernels.launch(getattr(self._module, finish), grid, tiles, *shared, *arguments, **sizes, **constants)

    def _partial(self, spans: int, rows: int) -> Tensor:
        return torch.empty((spans, rows), dtype=torch.float64, device=self.device)

    def _in_pieces(
        self,
        blocks: int,
        pairs: int,
        launch: Callable[[int, int], None],
        watch: Watch | None,
        most: int | None = None,
    ) -> None:
        """Launch all blocks of rows, of so many pairs each, in pieces that take little time.

        Where pieces begin depends on a clock, and no sum does.
        """
        clock = Clock(blocks * pairs, watch)
        most = min(most or MAX_BLOCKS, MAX_BLOCKS)
        weight = 1 + sum(d for _, _, d in self._arguments.tables) / 8
        start, count = 0, max(1, min(int(FIRST_PAIRS[self.source.statistics] / weight / pairs), most))
        while start < blocks:
            stop, begun = min(start + count, blocks), time.perf_counter()
            launch(start, stop)
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            took = max(time.perf_counter() - begun, 1e-6)
            count = max(1, min(4 * count, int(count * PIECE_SECONDS / took), most))
            start = stop
            clock.tell(start * pairs)


def form_of(traced: Traced) -> str:
    """How tables are split for a precision, which wide rows are, and a true residual that corrects what is found."""
    if traced.precision != "float32":
        return "float64"
    if traced.rough:
        return "bf16x3"
    widest = max((group.width for group in traced.measured), default=0)
    return "tf32x3" if widest <= MAX_TF32_COLUMNS else "bf16x6"


class _Binder:
    """Makes the arguments that a text expects."""

    def __init__(self, traced: Traced, source: Source, device: str, hold: Hold) -> None:
        self.traced = traced
        self.source = source
        self.device = device
        self.hold = hold
        self.statistics = getattr(torch, source.statistics)

    def arguments(self) -> Arguments:
        """All of them."""
        tables = tuple(self._table(table) for table in self.source.tables)
        numbers = [self._limit(n) if isinstance(n, Group) else float(n) for n in self.source.numbers]
        rows = self._vectors(self.source.rows, 0)
        columns = self._vectors(self.source.columns, 1)
        return Arguments(tables, rows, columns, torch.tensor(numbers or [0.0], dtype=torch.float64, device=self.device))

    def _limit(self, group: Group) -> float:
        return self.traced.measured[group].limit(self.source.statistics)

    def _table(self, table: Table) -> tuple[Tensor, Tensor, int]:
        sides = [self.hold(side) for side in (table.group.left, table.group.right)]
        if table.kind == "coordinates":
            left, right = (side.coordinates(self.statistics) for side in sides)
            return left, right, table.group.width
        form, origin = self.source.form, self._origin(table.group)
        if table.kind in ("parts", "wide"):
            factors = (-2.0 * table.factor if table.norms else 1.0), 1.0
            left, right = (
                side.parted(form, origin, factor, kernels.INTERPRETED)
                for side, factor in zip(sides, factors, strict=True)
            )
            width = coordinates(table.group.width)
            return left, right, width // wide_chunk(width)
        left, right = (
            side.packed(form, origin, table.norms, table.factor, left, kernels.INTERPRETED)
            for side, left in zip(sides, (True, False), strict=True)
        )
        return left, right, left.shape[1]

    def _origin(self, group: Group) -> Any:
        measured = self.traced.measured.get(group)
        return None if measured is None else measured.origin

    def _vectors(self, entries: list[Any], side: int) -> Tensor:
        count = self.traced.shape[side]
        if not entries:
            return torch.zeros((1, padded(count)), dtype=self.statistics, device=self.device)
        return vectors([self._vector(entry, side) for entry in entries], self.statistics)

    def _vector(self, entry: Any, side: int) -> Tensor:
        if not isinstance(entry, tuple):
            return torch.as_tensor(np.asarray(entry), dtype=torch.float64, device=self.device)
        what, group, *factor = entry
        rows, origin = self.hold((group.left, group.right)[side]), self._origin(group)
        found = rows.norms(origin) if what == "norms" else rows.shifts(origin)
        return found * factor[0] if factor else found


def _add(out: Tensor, partial: Tensor, count: int | None = None) -> None:
    """The sums of all spans, in their order; of so many vectors, None for one."""
    if count is not None:
        for each in partial:
            out += each[:, :count]
        return
    spans, rows = partial.shape
    kernels.launch(kernels.sums("add_spans"), (-(-rows // ADDED),), SUMS, partial, out, spans, rows, BN=ADDED)


def _filled_up(v: Tensor, count: int) -> Tensor:
    """A vector with zeros for the rows that fill up the last block."""
    found = torch.zeros(padded(count), dtype=v.dtype, device=v.device)
    found[:count] = v
    return found


def _positions(rows: Any, device: torch.device) -> tuple[Tensor, int] | None:
    if rows is None:
        return None
    found = torch.as_tensor(rows, dtype=torch.int64, device=device)
    return filled(found, len(found)), len(found)


def _chosen(table: Tensor, some: tuple[Tensor, int] | None, axis: int) -> Tensor:
    return table if some is None else table.index_select(axis, some[0])
