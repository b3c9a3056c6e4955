"""Tables of text with a separator, read by pyarrow after a look at their size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mercer.errors import InputError, sentence
from mercer.files.tables_input import CHUNK, TableInput, arrow_errors
from mercer.files.tables_limits import LINE, TableLimits

SEPARATORS = b",;\t|"
UNNAMED = "unnamed"


@dataclass(frozen=True)
class TextOptions:
    """How text is to be read.

    separator : one character; "" for the one of , ; tab | that the first line has most of
    header : whether the first line names the columns; else they are called f0, f1, ...
    types : of columns whose type is known, as Arrow's types: labels that look like numbers stay labels
    """

    separator: str = ""
    header: bool = True
    types: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class TextSize:
    """What a first pass over the bytes finds: lines, the longest of them, and the first."""

    lines: int
    longest: int
    first: bytes


def read_text(given: TableInput, limits: TableLimits, options: TextOptions) -> Any:
    """An Arrow table. Cost: two passes over the bytes, the first of which holds a megabyte."""
    size = text_size(given, limits)
    separator = options.separator or separator_of(size.first)
    limits.check(given.name, rows=size.lines - options.header, columns=size.first.count(separator.encode()) + 1)
    try:
        return _parsed(given, separator, max(CHUNK, 2 * size.longest), options)
    except UnicodeDecodeError as error:
        came, remedy = "the names of its columns are none", "Save the file as UTF-8."
        raise InputError(sentence(given.name, "text in UTF-8", came, remedy)) from error
    except arrow_errors() as error:
        came = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(sentence(given.name, "the same columns in each line", came, "Look at that line.")) from error


def _parsed(given: TableInput, separator: str, block: int, options: TextOptions) -> Any:
    from pyarrow import csv

    reading = csv.ReadOptions(block_size=block, autogenerate_column_names=not options.header)
    parsing = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    converting = csv.ConvertOptions(strings_can_be_null=True, column_types=dict(options.types or {}))
    with given.opened() as stream:
        table = csv.read_csv(stream, reading, parsing, converting)
    return table.rename_columns(_named(table.column_names))


def _named(names: list[str]) -> list[str]:
    """Names for columns without one: pandas leaves that of its row numbers empty."""
    return [name.strip() or (f"{UNNAMED}_{i}" if i else UNNAMED) for i, name in enumerate(names)]


# -- the first pass ---------------------------------------------------------------------------------------------------


def text_size(given: TableInput, limits: TableLimits) -> TextSize:
    """Count lines and bytes as they come, and stop at the first that is too much."""
    seen = _Counter()
    with given.opened() as stream:
        while chunk := stream.read(CHUNK):
            if b"\x00" in chunk:
                came, remedy = "it has bytes of zero, as UTF-16 or a binary file has", "Save it as UTF-8."
                raise InputError(sentence(given.name, "text in UTF-8", came, remedy))
            seen.add(chunk)
            _check(given.name, seen, limits)
            given.check_expansion(stream, seen.bytes)
    if not seen.first.strip():
        came, remedy = "it is empty", "Remove it, or give --no-header."
        raise InputError(sentence(given.name, "names of columns in its first line", came, remedy))
    return TextSize(seen.lines + (seen.open > 0), seen.longest, seen.first)


class _Counter:
    """What was seen of a text so far: whole lines, bytes, the longest line, the first, and the length of the last."""

    def __init__(self) -> None:
        self.lines = self.bytes = self.longest = self.open = 0
        self.first = b""

    def add(self, chunk: bytes) -> None:
        """Count further bytes."""
        if not self.lines:
            self.first += chunk.partition(b"\n")[0]
        pieces = chunk.split(b"\n")
        whole = self.open + len(pieces[0])
        self.longest = max(self.longest, whole, max(map(len, pieces)))
        self.open = whole if len(pieces) == 1 else len(pieces[-1])
        self.lines, self.bytes = self.lines + len(pieces) - 1, self.bytes + len(chunk)


def _check(name: str, seen: _Counter, limits: TableLimits) -> None:
    if seen.longest > LINE:
        came, remedy = f"one is longer than {LINE // 2**20} MiB", "Check that it is a table."
        raise InputError(sentence(name, "lines of a table", came, remedy))
    limits.check(name, rows=seen.lines - 1, size=seen.bytes)


def separator_of(line: bytes) -> str:
    """The separator that a line has most of; a comma where it has none.

    >>> separator_of(b"a;b;c,d"), separator_of(b"price")
    (';', ',')
    """
    counts = {chr(mark): line.count(mark) for mark in SEPARATORS}
    return max(counts, key=lambda mark: counts[mark])
