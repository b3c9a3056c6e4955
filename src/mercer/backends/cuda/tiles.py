"""Sizes of tiles, and how the columns are cut: tables and rules, so that the same work always gives the same bits.

Nothing here looks at the card or at a clock. What was measured on cards stands in the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

MIN_PROGRAMS = 1024
"""Programs that keep a card busy: columns are cut into spans until there are so many."""
MIN_SPAN_TILES = 8
"""Tiles of a span, at least: what a program loads of its rows must pay."""
MAX_SPAN = 1 << 14
"""Columns of a span, at most, so that programs end at about the same time."""
MAX_SPANS = 64
"""Spans of a row, at most: each has sums of its own."""


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


MAX_SHARED_BYTES = 96 << 10
"""Bytes of shared memory that tiles of a program may take: all cards from sm_80 on have that much."""
MIN_LONG_BYTES = 128
"""Bytes from which on packed rows take larger tiles."""
DOUBLE = {"reduce": Tiles(64, 64), "reduce_many": Tiles(64, 32), "both": Tiles(32, 64), "fill": Tiles(64, 32, 8)}
"""Where statistics are float64."""
SEVERAL = {"reduce": Tiles(64, 32), "reduce_many": Tiles(64, 32), "both": Tiles(32, 32), "fill": Tiles(64, 32, 8)}
"""The same where several of a pair are in use at a time."""
SINGLE = {
    "reduce": {
        "short": Tiles(64, 128, 4, 2),
        "packed": Tiles(128, 64, 4, 2),
        "parts": Tiles(128, 64, 4, 2),
        "wide": Tiles(64, 128, 4, 2),
        "several": Tiles(64, 64, 4, 2),
    },
    "reduce_many": {
        "short": Tiles(64, 64),
        "packed": Tiles(128, 64, 8, 2),
        "parts": Tiles(128, 64, 8, 2),
        "wide": Tiles(64, 64),
        "several": Tiles(64, 32),
    },
    "both": {
        "short": Tiles(64, 64),
        "packed": Tiles(64, 128),
        "parts": Tiles(64, 64, 4, 2),
        "wide": Tiles(64, 128, 4, 2),
        "several": Tiles(64, 64),
    },
    "fill": {
        "short": Tiles(64, 64),
        "packed": Tiles(64, 64),
        "parts": Tiles(64, 64),
        "wide": Tiles(128, 64),
        "several": Tiles(64, 32),
    },
}
"""Where they are float32, by how rows lie; "several" where several numbers of a pair are in use at a time."""


def tiles_for(finish: str, statistics: str, layout: str, width: int, several: bool = False) -> Tiles:
    """The tiles of a kernel.

    Parameters
    ----------
    finish : {"reduce", "reduce_many", "both", "fill"}
        What is done with the values.
    statistics : {"float32", "float64"}
        The type of the statistics.
    layout : {"packed", "parts", "wide"}
        How rows lie: "wide" ones are loaded anew for each tile.
    width : int
        Bytes of a row that is held, 0 where none is.
    several : bool, default=False
        Whether a formula needs several numbers of each pair at a time.

    Returns
    -------
    tiles : Tiles

    Examples
    --------
    >>> tiles_for("reduce", "float32", "packed", 64)
    Tiles(rows=64, columns=128, warps=4, stages=2)
    >>> tiles_for("reduce", "float32", "parts", 384)
    Tiles(rows=128, columns=64, warps=4, stages=2)
    >>> tiles_for("both", "float64", "packed", 128)
    Tiles(rows=32, columns=64, warps=4, stages=3)
    """
    if statistics == "float64":
        found = (SEVERAL if several else DOUBLE)[finish]
    else:
        short = "short" if layout == "packed" and width < MIN_LONG_BYTES else layout
        found = SINGLE[finish]["several" if several and layout != "wide" else short]
    return _fitting(found, finish, 0 if layout == "wide" else width)


def _fitting(tiles: Tiles, finish: str, width: int) -> Tiles:
    """Smaller ones where rows of so many bytes leave no room."""
    held, moving = (tiles.columns, tiles.rows) if finish == "both" else (tiles.rows, tiles.columns)
    if (held + tiles.stages * moving) * width <= MAX_SHARED_BYTES or held == moving == 16:
        return tiles
    if tiles.stages > 2:
        return _fitting(replace(tiles, stages=tiles.stages - 1), finish, width)
    rows, columns = tiles.rows, tiles.columns
    rows, columns = (rows, columns // 2) if columns > rows // 2 and columns > 16 else (rows // 2, columns)
    smaller = Tiles(rows, columns, min(tiles.warps, 4), tiles.stages)
    return _fitting(smaller, finish, width)


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
