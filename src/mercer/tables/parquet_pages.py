"""The pages of a Parquet file: what each says of its size is summed up before any is unpacked.

A footer may say that a column is small while a page of it unpacks to gigabytes. Where the pages are stands in the
footer, which is read here once more: pyarrow tells it too, but ends the process where a column contradicts itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, TypeGuard

from mercer.errors import InputError, message
from mercer.tables.source_bytes import FREE, GROWTH
from mercer.tables.thrift import LISTS, Compact

HEADERS = (2**12, 2**20)
"""Bytes that are read for the header of a page, and once more where these are not all: it may hold long texts."""
SLACK = 100
"""Bytes that old writers have left out of the size of a column."""
GROUPS, COLUMNS, ABOUT, SIZE, FIRST, FIRST_DICTIONARY = 4, 1, 3, 7, 9, 11
"""Numbers of fields of a footer: groups of rows, columns of a group, what is known of a column, and of that its bytes
in the file, its first page, and the page of its dictionary."""
UNPACKED, PACKED, DICTIONARY, DATA, COUNT = 2, 3, 7, (5, 8), 1
"""Numbers of fields of a page: its sizes, the part on a dictionary, or on data in two versions, and in each how many
entries there are."""


@dataclass(frozen=True)
class Page:
    """What the header of a page says.

    header : its own bytes
    packed, unpacked : bytes of what follows, as they stand in the file, and in memory
    entries : of a dictionary; 0 for other pages
    values : of a column, members of lists one by one; 0 for a dictionary
    """

    header: int
    packed: int
    unpacked: int
    entries: int
    values: int


def unpacked_size(name: str, path: Path, footer: bytes) -> tuple[int, int]:
    """Bytes of all pages of a file, unpacked, and their values; pages that lie are refused.

    A value may take no bytes: a page of a few says that one entry is repeated a million times. Cost: footer and headers
    are read.
    """
    unpacked, values, left = 0, 0, path.stat().st_size
    with path.open("rb") as stream:
        for start, end in _places(name, footer):
            for page in _pages(name, stream, start, end):
                unpacked, values = unpacked + page.unpacked, values + page.values
                left -= page.header + page.packed
                if left < 0:
                    _refuse(name, "they overlap")
    return unpacked, values


# -- the footer -------------------------------------------------------------------------------------------------------


def _places(name: str, footer: bytes) -> Iterator[tuple[int, int]]:
    """Where each column of each group of rows begins and ends."""
    reader = Compact(footer)
    try:
        for _ in _inside(reader, GROUPS):
            yield from (_place(reader.struct()[ABOUT]) for _ in _inside(reader, COLUMNS))
    except (LookupError, ValueError, TypeError):
        _refuse(name, "its footer does not say where they are, or is too long")


def _place(about: dict[int, int]) -> tuple[int, int]:
    """Where a column begins and ends: at the page of its dictionary, where that stands first."""
    start = min(about[FIRST], about.get(FIRST_DICTIONARY) or about[FIRST])
    return start, start + about[SIZE]


def _inside(reader: Compact, wanted: int) -> Iterator[int]:
    """Members of the list in one field of a structure; other fields are stepped over."""
    for number, kind in reader.fields():
        if number == wanted and kind in LISTS:
            yield from reader.members()
        else:
            reader.value(kind)


# -- pages ------------------------------------------------------------------------------------------------------------


def _pages(name: str, stream: IO[bytes], at: int, end: int) -> Iterator[Page]:
    """The pages of a column in a group of rows."""
    while at < end:
        page = _page(name, stream, at)
        at += page.header + page.packed
        if at > end + SLACK or page.unpacked > max(FREE, GROWTH * page.packed) or page.entries > page.unpacked:
            _refuse(name, f"one of {page.packed:,} bytes is to become {page.unpacked:,}")
        yield page


def _page(name: str, stream: IO[bytes], at: int) -> Page:
    if at < 0:
        _refuse(name, "one begins before the file")
    found, size = next(filter(None, (_header(stream, at, size) for size in HEADERS)), ({}, 0))
    return _sized(name, found, size)


def _header(stream: IO[bytes], at: int, size: int) -> tuple[dict[int, Any], int] | None:
    """The fields of a header, and its bytes; None where it is longer than `size`, or damaged."""
    stream.seek(at)
    reader = Compact(stream.read(size))
    try:
        return reader.struct(), reader.at
    except (IndexError, ValueError):
        return None


def _sized(name: str, found: dict[int, Any], header: int) -> Page:
    """A page whose sizes are numbers from 0 on."""
    packed, unpacked, entries = found.get(PACKED), found.get(UNPACKED), _count(found, DICTIONARY)
    first, second = (_count(found, field) for field in DATA)
    if not (_is_size(packed) and _is_size(unpacked) and _is_size(entries) and _is_size(first) and _is_size(second)):
        _refuse(name, "one does not say how large it is")
    return Page(header, packed, unpacked, entries, first + second)


def _count(found: dict[int, Any], field: int) -> Any:
    """How many entries the part of a header counts; 0 where it has none."""
    about = found.get(field, {COUNT: 0})
    return about.get(COUNT) if isinstance(about, dict) else None


def _is_size(number: Any) -> TypeGuard[int]:
    return isinstance(number, int) and number >= 0


def _refuse(name: str, got: str) -> NoReturn:
    raise InputError(message("sound pages of Parquet", got, "Write it again.", subject=name))
