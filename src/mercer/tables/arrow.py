"""Tables of Arrow, as files (Feather) and streams: what each message says is summed up before any is unpacked."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from mercer.errors import InputError, message
from mercer.tables.limits import TableLimits
from mercer.tables.source_bytes import TableInput, arrow_errors

FILE_MAGIC = b"ARROW1\x00\x00"
HEADER, LENGTH, BUFFERS, PACKED = 2, 0, 2, 3
"""Places of fields in the tables of Arrow's messages: the header of a message; of a batch its rows, where its buffers
are, and how they are packed."""
DICTIONARY_BATCH = 1
"""The place of the batch in the header of a dictionary."""


def read_arrow(given: TableInput, limits: TableLimits) -> Any:
    """An Arrow table. Cost: the file is mapped, and read once; packed parts are unpacked after they were counted."""
    import pyarrow

    try:
        with pyarrow.memory_map(str(given.path)) as mapped:
            stream = _stream(mapped.read_buffer())
            _check(given.name, stream, limits)
            return pyarrow.ipc.open_stream(stream).read_all()
    except arrow_errors(OSError, struct.error, EOFError) as error:
        got = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(message("a sound Arrow file", got, "Write it again.", subject=given.name)) from error


def _stream(buffer: Any) -> Any:
    """The messages: a file is its magic, then a stream, then where the messages are."""
    magic = len(FILE_MAGIC)
    return buffer.slice(magic) if buffer[:magic].to_pybytes() == FILE_MAGIC else buffer


def _check(name: str, stream: Any, limits: TableLimits) -> None:
    import pyarrow

    columns = len(pyarrow.ipc.read_schema(stream))
    limits.check(name, columns=columns)
    rows = size = 0
    for kind, batch, body in _messages(stream):
        rows += batch.number(LENGTH) if kind == "record batch" else 0
        size += _unpacked(batch, body)
        limits.check(name, rows, columns, size)


def _messages(stream: Any) -> Iterator[tuple[str, FlatTable, Any]]:
    """The kind of each message with data, its batch, and its bytes."""
    import pyarrow

    for part in pyarrow.ipc.MessageReader.open_stream(stream):
        header = FlatTable.root(part.metadata.to_pybytes()).inner(HEADER)
        if part.type == "record batch":
            yield part.type, header, part.body
        elif part.type == "dictionary":
            yield part.type, header.inner(DICTIONARY_BATCH), part.body


def _unpacked(batch: FlatTable, body: Any) -> int:
    """Bytes of all buffers of a batch; packed ones begin with how many they will be, or -1 for plain ones."""
    total = 0
    for offset, length in batch.pairs(BUFFERS):
        start = body[offset : offset + 8].to_pybytes() if batch.has(PACKED) and length >= 8 else b""
        told = struct.unpack("<q", start)[0] if len(start) == 8 else -1
        total += length if told < 0 else told
    return total


class FlatTable:
    """A table of a flat buffer, the record in which Arrow writes what its messages hold.

    data : the bytes; position : where the table begins
    """

    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.position = data, position
        self.fields = position - self._unpack("<i", position)

    @classmethod
    def root(cls, data: bytes) -> FlatTable:
        """The table that holds all others."""
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self._place(field) is not None

    def number(self, field: int) -> int:
        """A whole number of 8 bytes; 0 where it is left out."""
        place = self._place(field)
        return 0 if place is None else max(0, self._unpack("<q", place))

    def inner(self, field: int) -> FlatTable:
        """A table inside of this one."""
        return FlatTable(self.data, self._target(field))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """A list of pairs of whole numbers."""
        if self.has(field):
            start = self._target(field)
            for i in range(self._unpack("<I", start)):
                yield struct.unpack_from("<qq", self.data, start + 4 + 16 * i)

    def _place(self, field: int) -> int | None:
        slot = 4 + 2 * field
        if slot >= self._unpack("<H", self.fields):
            return None
        offset = self._unpack("<H", self.fields + slot)
        return self.position + offset if offset else None

    def _target(self, field: int) -> int:
        place = self._place(field)
        if place is None:
            raise struct.error(f"field {field} of a message is missing")
        return place + self._unpack("<I", place)

    def _unpack(self, form: str, place: int) -> int:
        if place < 0:
            raise struct.error("a message points before its beginning")
        return int(struct.unpack_from(form, self.data, place)[0])
