"""Tables of Arrow, as files (Feather) and streams, batch by batch."""

from __future__ import annotations

from typing import Any

from mercer.tables.batches import counted
from mercer.tables.limits import TableLimits
from mercer.tables.source_bytes import TableInput, refusing_damage

FILE_MAGIC = b"ARROW1\x00\x00"


def read_arrow(given: TableInput, limits: TableLimits) -> Any:
    """An Arrow table. Cost: the file is mapped, and read once; packed batches are unpacked one after the other."""
    import pyarrow

    with refusing_damage(given.name, "a sound Arrow file"), pyarrow.memory_map(str(given.path)) as mapped:
        reader = pyarrow.ipc.open_stream(_stream(mapped.read_buffer()))
        limits.check(given.name, columns=len(reader.schema))
        return counted(given.name, reader, reader.schema, limits)


def _stream(buffer: Any) -> Any:
    """The messages: a file is its magic, then a stream, then where the messages are."""
    magic = len(FILE_MAGIC)
    return buffer.slice(magic) if buffer[:magic].to_pybytes() == FILE_MAGIC else buffer
