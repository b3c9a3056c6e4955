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


MAX_SHARED_BYTES = 1 << 16
"""Bytes of shared memory of a program, about, at most: so that several run on a processor of the card at once."""
ROWS = 64
"""Rows of a tile."""
COLUMNS = {"reduce": 128, "reduce_many": 64, "both": 64, "fill": 64}
"""Columns of a tile by what is done with the values, of float32 and where one number of a pair is in use."""


WIDE = {"reduce": Tiles(64, 128, 4, 2), "both": Tiles(128, 128, 8, 2), "fill": Tiles(128, 64, 4, 3)}
"""Tiles of float32 where rows are loaded anew for each: large ones load less."""


TALL = {"reduce": Tiles(128, 64, 4, 2), "reduce_many": Tiles(128, 64, 8, 2)}
"""Tiles of float32 where a packed row is long, and held."""
MIN_TALL_BYTES = 128


def tiles_for(finish: str, statistics: str, width: int, is_long: bool, is_wide: bool = False) -> Tiles:
    """The tiles of a kernel.

    Parameters
    ----------
    finish : {"reduce", "reduce_many", "both", "fill"}
        What is done with the values.
    statistics : {"float32", "float64"}
        The type of the statistics.
    width : int
        Bytes of a packed row, 0 where none is.
    is_long : bool
        Whether a formula needs several numbers of each pair at a time.
    is_wide : bool, default=False
        Whether rows are loaded anew for each tile.

    Returns
    -------
    tiles : Tiles

    Examples
    --------
    >>> tiles_for("reduce", "float32", 64, False)
    Tiles(rows=64, columns=128, warps=4, stages=3)
    >>> tiles_for("reduce", "float64", 128, True)
    Tiles(rows=64, columns=32, warps=8, stages=3)
    """
    if is_wide and not is_long and statistics == "float32" and finish in WIDE:
        return WIDE[finish]
    if finish in TALL and not is_long and statistics == "float32" and width >= MIN_TALL_BYTES:
        return TALL[finish]
    columns = COLUMNS[finish] // (1 + (statistics == "float64")) // (1 + is_long)
    columns, stages = max(columns, 32), 3
    while stages > 2 and (ROWS + stages * columns) * width > MAX_SHARED_BYTES:
        stages -= 1
    while columns > 64 and (ROWS + stages * columns) * width > MAX_SHARED_BYTES:
        columns //= 2
    return Tiles(ROWS, columns, 8 if (is_long or is_wide) and statistics == "float64" else 4, stages)


def blocks_at_once(statistics: str, is_long: bool, is_wide: bool) -> int:
    """Blocks of rows whose values meet before they are summed over rows, which takes longer than sums over columns.

    Each block needs registers of its own; where a value takes long, its sums do not count.
    """
    return 1 if statistics == "float64" or is_wide else 2 if is_long else 4


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
