"""Tables of text with a separator, read by pyarrow after a look at their size."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mercer.errors import InputError, message
from mercer.tables.coerce import Texts, read_columns
from mercer.tables.columns import ENCODING, refuse_twice
from mercer.tables.limits import MAX_LINE_BYTES, TableLimits
from mercer.tables.source_bytes import CHUNK_BYTES, TableInput, arrow_errors

SEPARATORS = b",;\t|"
UNNAMED = "unnamed"
PLAIN = "a,b;c\td|e\n1,2\n\"q\",'-'\n" + "x" * 70
"""ASCII as it stands in tables."""
SEP = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])")
"""A first line that names the separator."""


ZEROS, CODE_BYTES = re.compile(rb"[,;\t|\"\n]0\d\d+(?=[,;\t|\"\r\n]|\Z)"), 64
"""A cell such as 00501, whose zeros a number would lose; and how long one may be."""


@dataclass(frozen=True)
class TextOptions:
    """How text is to be read.

    separator : one character; "" for the one of , ; tab | that the first line has most of
    header : whether the first line names the columns; else they are called f0, f1, ...
    types : of columns whose type is known, as Arrow's types: labels that look like numbers stay labels
    decimal : "." or ","; "" for a point, unless columns show that it is a comma
    encoding : of the bytes
    """

    separator: str = ""
    header: bool = True
    types: Mapping[str, Any] | None = None
    decimal: str = ""
    encoding: str = "utf-8"


@dataclass(frozen=True)
class TextSize:
    """What a first pass over the bytes finds: lines, the longest of them, the first two; whether 00501 may be there."""

    lines: int
    longest: int
    first: bytes
    second: bytes
    zeros: bool


def read_text(given: TableInput, limits: TableLimits, options: TextOptions) -> tuple[Any, str]:
    """An Arrow table, and what parts the whole from the decimals: "." or ",".

    Cost: two passes over the bytes, the first of which holds a megabyte; three where decimals follow a comma.
    """
    check_encoding(options.encoding)
    size = text_size(given, limits)
    separator, before = options.separator or separator_of(size.first), 0
    if told := SEP.fullmatch(size.first.strip()):  # what Excel writes before the names
        separator, before = told[1].decode(), 1
    width = max(line.count(separator.encode()) for line in (size.first, size.second)) + 1
    limits.check(given.name, rows=size.lines - options.header, columns=width)
    parse = partial(_parsed, given, separator, max(CHUNK_BYTES, 2 * size.longest), options, before, size.zeros)
    try:
        table = parse(options.decimal or ".")
        if options.decimal or separator == "," or not _has_commas(table):
            return table, options.decimal or "."
        return _merged(table, parse(",")), ","
    except UnicodeError as error:
        raise _no_letters(given.name, options.encoding) from error
    except arrow_errors() as error:
        got, remedy = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}", "Look at that line."
        if separator.encode() not in size.first:
            shown = size.first[:40].decode(errors="replace")
            remedy = f"The first line is {shown!r}: remove what stands before the names."
        raise InputError(message("the same columns in each line", got, remedy, subject=given.name)) from error


def _no_letters(name: str, encoding: str) -> InputError:
    return InputError(message(f"text in {encoding}", "some bytes are none", ENCODING, subject=name))


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text in which ASCII stands for itself: separators are looked for among the bytes.

    >>> check_encoding("cp1252"), check_encoding("Shift_JIS")
    (None, None)
    """
    try:
        alike = codecs.getincrementaldecoder(encoding)().decode(PLAIN.encode(), True) == PLAIN
    except (LookupError, ValueError, TypeError, OSError, zlib.error):  # of codecs that pack, or turn text into text
        alike = False
    if not alike:
        got = f"{encoding!r} is no encoding of text, or not one in which ASCII stands for itself"
        raise InputError(message("an encoding such as utf-8, cp1252 or latin-1", got, ENCODING, subject="Text"))


def _parsed(
    given: TableInput, separator: str, block: int, options: TextOptions, before: int, zeros: bool, decimal: str
) -> Any:
    from pyarrow import csv

    reading = csv.ReadOptions(block_size=block, skip_rows=before, encoding=options.encoding)
    reading.autogenerate_column_names = not options.header
    parsing = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    types = dict(options.types or {})
    converting = csv.ConvertOptions(strings_can_be_null=True, column_types=types, decimal_point=decimal)
    with given.opened() as stream:
        table = csv.read_csv(stream, reading, parsing, converting)
    if zeros and (codes := _with_zeros(given, reading, parsing, table)):
        converting.column_types = types | codes
        with given.opened() as stream:
            table = csv.read_csv(stream, reading, parsing, converting)
    names = _named(table.column_names)
    refuse_twice(given.name, names)
    return table.rename_columns(names)


def _has_commas(table: Any) -> bool:
    """Whether a column of texts holds numbers with a comma before their decimals.

    1,234 may also be a thousand and more: such a column tells nothing where another has numbers with a point.
    """
    from pyarrow import types

    comma, point = (_columns_of_numbers(table, mark) for mark in ",.")
    pointed = any(types.is_floating(kind) for kind in table.schema.types)
    return bool(comma - point) or (bool(comma) and not pointed)


def _columns_of_numbers(table: Any, decimal: str) -> set[str]:
    """The columns of texts that are numbers, if they are written so."""
    return {name for name, read in read_columns(table, Texts(decimal)).items() if read.column.type == "double"}


def _merged(points: Any, commas: Any) -> Any:
    """The columns as read with commas, but as read with points where that gave numbers and commas do not."""
    import pyarrow
    from pyarrow import types

    read = read_columns(commas, Texts(","))
    lost = [name for name in points.column_names if types.is_string(commas.column(name).type) and name not in read]
    return pyarrow.table({n: (points if n in lost else commas).column(n) for n in points.column_names})


def _with_zeros(given: TableInput, reading: Any, parsing: Any, table: Any) -> dict[str, Any]:
    """The type of text for columns of integers of which some begin with zeros."""
    import pyarrow
    from pyarrow import compute, csv, types

    whole = {field.name: pyarrow.string() for field in table.schema if types.is_integer(field.type)}
    converting = csv.ConvertOptions(strings_can_be_null=True, column_types=whole, include_columns=list(whole))
    if not whole:
        return {}
    with given.opened() as stream:
        written = csv.read_csv(stream, reading, parsing, converting)
    return {
        name: kind
        for name, kind in whole.items()
        if compute.any(compute.match_substring_regex(written.column(name), r"^0\d\d+$")).as_py()
    }


def _named(names: list[str]) -> list[str]:
    """Names without the blanks around them, where that leaves each its own; and names for columns without one.

    pandas leaves the name of its row numbers empty.

    >>> _named(["", " a", "b", " b "])
    ['unnamed', 'a', 'b', ' b ']
    """
    bare = [name.strip() or (f"{UNNAMED}_{i}" if i else UNNAMED) for i, name in enumerate(names)]
    return [name if name in names and bare.count(each) > 1 else each for name, each in zip(names, bare, strict=True)]


# -- the first pass ---------------------------------------------------------------------------------------------------


def text_size(given: TableInput, limits: TableLimits) -> TextSize:
    """Count lines and bytes as they come, and stop at the first that is too much."""
    seen = _Counter()
    with given.opened() as stream:
        while chunk := stream.read(CHUNK_BYTES):
            if b"\x00" in chunk:
                got, remedy = "it has bytes of zero, as UTF-16 or a binary file has", "Save it as UTF-8."
                raise InputError(message("text in UTF-8", got, remedy, subject=given.name))
            seen.add(chunk)
            _check(given.name, seen, limits)
            given.check_expansion(stream, seen.bytes)
    if not seen.first.strip():
        got, remedy = "it is empty", "Remove it, or give --no-header."
        raise InputError(message("names of columns in its first line", got, remedy, subject=given.name))
    return TextSize(seen.lines + (seen.open > 0), seen.longest, seen.first, seen.second, seen.zeros)


class _Counter:
    """What was seen of a text so far: lines, bytes, the longest line, the first two, and the length of the last."""

    def __init__(self) -> None:
        self.lines = self.bytes = self.longest = self.open = 0
        self.first = self.second = self.last = b""
        self.zeros = False

    def add(self, chunk: bytes) -> None:
        """Count further bytes."""
        self.zeros = self.zeros or ZEROS.search(self.last + chunk) is not None
        self.last = chunk[-CODE_BYTES:]
        pieces = chunk.split(b"\n")
        if not self.lines:
            self.first += pieces[0]
            self.second = pieces[1] if len(pieces) > 1 else b""
        elif self.lines == 1:
            self.second += pieces[0]
        whole = self.open + len(pieces[0])
        self.longest = max(self.longest, whole, max(map(len, pieces)))
        self.open = whole if len(pieces) == 1 else len(pieces[-1])
        self.lines, self.bytes = self.lines + len(pieces) - 1, self.bytes + len(chunk)


def _check(name: str, seen: _Counter, limits: TableLimits) -> None:
    if seen.longest > MAX_LINE_BYTES:
        got, remedy = f"one is longer than {MAX_LINE_BYTES // 2**20} MiB", "Check that it is a table."
        raise InputError(message("lines of a table", got, remedy, subject=name))
    limits.check(name, rows=seen.lines - 1, size=seen.bytes)


def separator_of(line: bytes) -> str:
    """The separator that a line has most of; a comma where it has none.

    >>> separator_of(b"a;b;c,d"), separator_of(b"price")
    (';', ',')
    """
    counts = {chr(mark): line.count(mark) for mark in SEPARATORS}
    return max(counts, key=lambda mark: counts[mark])
