"""Sizes of tiles, and how the columns are cut: tables and rules, so that the same work always gives the same bits.

Nothing here looks at the card or at a clock. What was measured on cards stands in the tables.
"""

from __future__ import annotations

from dataclasses import dataclass

MIN_PROGRAMS = 1024
"""Programs that keep a card busy: columns are cut into spans until there are so many."""
MIN_SPAN_TILES = 8
"""Tiles of a span, at least: what a program loads of its rows must pay."""
MAX_SPAN = 1 << 14
"""Columns of a span, at most, so that programs end at about the same time."""
MAX_SPANS = 64
"""Spans of a row, at most: each has sums of its own."""
SQUARE = 256
"""Rows that are summed at once where a symmetric matrix is taken half; `PADDING` is a multiple."""


@dataclass(frozen=True)
class Tiles:
    """How a kernel is run.

    rows, columns : of a tile
    warps : of a program
    stages : tiles that are on their way from memory at once
    """

    rows: int
    columns: int
    warps: int = 4
    stages: int = 3


TILES = {
    ("float32", "reduce"): Tiles(64, 128),
    ("float32", "reduce_many"): Tiles(64, 64),
    ("float32", "both"): Tiles(64, 64),
    ("float32", "fill"): Tiles(64, 64),
    ("float64", "reduce"): Tiles(64, 64, stages=2),
    ("float64", "reduce_many"): Tiles(64, 32, stages=2),
    ("float64", "both"): Tiles(64, 32, stages=2),
    ("float64", "fill"): Tiles(64, 64, stages=2),
}
"""Tiles by the type of the statistics and what is done with the values."""


def tiles_for(statistics: str, finish: str) -> Tiles:
    """The tiles of a kernel."""
    return TILES[statistics, finish]


def span(rows: int, columns: int, tiles: Tiles) -> int:
    """Columns of a span, a multiple of those of a tile, for so many rows and columns.

    Parameters
    ----------
    rows, columns : int
        Of all work, filled up.
    tiles : Tiles
        The tiles of the kernel.

    Returns
    -------
    span : int

    Examples
    --------
    >>> span(256, 1 << 20, Tiles(64, 128))
    16384
    >>> span(1 << 20, 1 << 20, Tiles(64, 128))
    16384
    >>> span(2048, 2048, Tiles(64, 64))
    512
    """
    wanted = -(-MIN_PROGRAMS // max(1, rows // tiles.rows))
    found = max(columns // wanted, MIN_SPAN_TILES * tiles.columns)
    found = max(min(found, MAX_SPAN), -(-columns // MAX_SPANS))
    return -(-found // tiles.columns) * tiles.columns
