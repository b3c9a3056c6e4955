"""How large a table may be before it is read: rows, columns, cells, bytes; and how more is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from mercer.compute.runtime.memory import text_of
from mercer.errors import InputError, message

MAX_LINE_BYTES = 16 * 2**20
"""Bytes of a line of text, at most: no table has rows of which one fills a memory."""


@dataclass(frozen=True)
class TableLimits:
    """What a table may hold; more is refused before memory is taken for it.

    rows, columns, cells : positive integers; a cell is one entry of one column
    bytes : of all entries together, unpacked

    >>> TableLimits(rows=100).check("prices.csv", rows=101, columns=3)
    Traceback (most recent call last):
    mercer.errors.InputError: prices.csv needs at most 100 rows; got 101. Give --max-rows if it may be that large.
    """

    rows: int = 10_000_000
    columns: int = 10_000
    cells: int = 100_000_000
    bytes: int = 2**30

    def check(self, name: str, rows: int = 0, columns: int = 0, size: int = 0, cells: int = 0) -> None:
        """Refuse what is too large; `size` is in bytes, `cells` counts members of lists, which rows do not bound."""
        if columns > self.columns:
            _refuse(name, f"{self.columns:,} columns", f"{columns:,}", "columns")
        if rows > self.rows:
            _refuse(name, f"{self.rows:,} rows", f"{rows:,}", "rows")
        if rows * columns > self.cells:
            _refuse(name, f"{self.cells:,} cells", f"{rows:,} x {columns:,}", "cells")
        if cells > self.cells:
            _refuse(name, f"{self.cells:,} cells", f"{cells:,}, members of lists among them,", "cells")
        if size > self.bytes:
            _refuse(name, f"{text_of(self.bytes)} unpacked", f"{text_of(size)} or more", "bytes")


def _refuse(name: str, most: str, got: str, flag: str) -> NoReturn:
    raise InputError(
        message(f"at most {most}", f"got {got}", f"Give --max-{flag} if it may be that large.", subject=name)
    )
