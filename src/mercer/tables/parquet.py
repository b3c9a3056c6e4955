"""Tables in Parquet: what the footer says is checked before a page is read, and what is read as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mercer.compute.runtime.memory import text_of
from mercer.errors import InputError, message
from mercer.tables.limits import TableLimits
from mercer.tables.parquet_pages import unpacked_size
from mercer.tables.source_bytes import TableInput, arrow_errors

FOOTER = 32 * 2**20
"""Bytes of a footer, at most: it is parsed as a whole, and takes several times as much memory."""
END = 8
"""Bytes after the footer: its length, and four letters."""
BATCH = 65_536
"""Rows that are read at once."""


def read_parquet(given: TableInput, limits: TableLimits) -> Any:
    """An Arrow table. Cost: one pass over the file; texts are held once each until it is known how long all are."""
    from pyarrow import parquet

    footer = _footer(given)
    try:
        metadata = parquet.read_metadata(given.path)
        _check_metadata(given.name, metadata, limits)
        size, values = unpacked_size(given.name, given.path, footer)
        limits.check(given.name, size=size, cells=values)
        schema = metadata.schema.to_arrow_schema()
        leaves = (metadata.schema.column(i) for i in range(metadata.num_columns))
        texts = [
            leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.converted_type != "DECIMAL"
        ]
        with parquet.ParquetFile(given.path, metadata=metadata, read_dictionary=texts) as file:
            return decoded(given.name, _batches(given.name, file, limits), schema, limits)
    except arrow_errors(OSError) as error:
        got = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(message("a sound Parquet file", got, "Write it again.", subject=given.name)) from error


def _footer(given: TableInput) -> bytes:
    """The footer, which stands before its length and the last mark."""
    size = given.path.stat().st_size
    with given.path.open("rb") as stream:
        stream.seek(max(0, size - END))
        end = stream.read()
        length = int.from_bytes(end[:4], "little")
        if size >= 4 + END and end[4:] == b"PAR1" and length > FOOTER:
            got, remedy = f"it has one of {text_of(length)}", "Write fewer columns, or larger row groups."
            raise InputError(message(f"a footer of at most {text_of(FOOTER)}", got, remedy, subject=given.name))
        if size < 4 + END + length or end[4:] != b"PAR1":
            got, remedy = "its end is missing", "Copy the file again."
            raise InputError(message("a whole Parquet file", got, remedy, subject=given.name))
        stream.seek(size - END - length)
        return stream.read(length)


def _check_metadata(name: str, metadata: Any, limits: TableLimits) -> None:
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    limits.check(name, rows, metadata.num_columns, sum(group.total_byte_size for group in groups))


def _batches(name: str, file: Any, limits: TableLimits) -> Any:
    """All batches as a table, counted as they come: a footer may lie."""
    import pyarrow

    found, rows, size = [], 0, 0
    known: set[int] = set()
    for batch in file.iter_batches(BATCH):
        rows, size = rows + batch.num_rows, size + sum(_size(column, known) for column in batch.columns)
        limits.check(name, rows, batch.num_columns, size)
        found.append(batch)
    return pyarrow.Table.from_batches(found, found[0].schema if found else file.schema_arrow)


def _size(column: Any, known: set[int]) -> int:
    """Bytes of a column of a batch; a dictionary that several batches share counts once."""
    if not hasattr(column, "dictionary"):
        return int(column.nbytes)
    place = max((buffer.address for buffer in column.dictionary.buffers() if buffer is not None), default=0)
    shared = place in known
    known.add(place)
    return int(column.indices.nbytes) + (0 if shared else int(column.dictionary.nbytes))


def decoded(name: str, table: Any, schema: Any, limits: TableLimits) -> Any:
    """The table with the types of its schema: texts that were read as codes are written out, if they are not too long.

    A few bytes may say that a long text is repeated, in lists and records, too.
    """
    size = 0
    for i, field in enumerate(table.schema):
        if field.type != schema.field(i).type:
            size += sum(_length(coded) for chunk in table.column(i).chunks for coded in _coded(chunk))
            limits.check(name, size=size)
            table = table.set_column(i, schema.field(i), table.column(i).cast(schema.field(i).type))
    return table


def _coded(array: Any) -> Iterator[Any]:
    """The texts inside of an array that are codes of a dictionary."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(array.type):
        yield array
    elif types.is_map(array.type):
        yield from _coded(array.keys)
        yield from _coded(array.items)
    elif array.type.num_fields:
        inside = array.flatten()
        for part in inside if isinstance(array, pyarrow.StructArray) else [inside]:
            yield from _coded(part)


def _length(coded: Any) -> int:
    from pyarrow import compute

    lengths = compute.binary_length(coded.dictionary)
    return int(compute.sum(lengths.take(coded.indices)).as_py() or 0)
