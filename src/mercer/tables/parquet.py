"""Tables in Parquet: what the footer says is checked before a row is read, and rows are counted as they come."""

from __future__ import annotations

from typing import Any

from mercer.compute.runtime.memory import text_of
from mercer.errors import InputError, message
from mercer.tables.batches import counted, leaves
from mercer.tables.limits import TableLimits
from mercer.tables.source_bytes import TableInput, refusing_damage

MAX_FOOTER_BYTES = 32 * 2**20
"""It is parsed as a whole, and takes several times as much memory."""
END_BYTES = 8
"""Bytes after the footer: its length, and four letters."""
BATCH_ROWS = 65_536
"""Rows that are read at once, of one group of rows."""


def read_parquet(given: TableInput, limits: TableLimits) -> Any:
    """An Arrow table. Cost: one pass over the file; texts are held once each until it is known how long all are."""
    from pyarrow import parquet

    _check_footer(given)
    with refusing_damage(given.name, "a sound Parquet file"):
        metadata = parquet.read_metadata(given.path)
        _check_metadata(given.name, metadata, limits)
        schema = metadata.schema.to_arrow_schema()
        leaves = (metadata.schema.column(i) for i in range(metadata.num_columns))
        texts = [
            leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.converted_type != "DECIMAL"
        ]
        with parquet.ParquetFile(given.path, metadata=metadata, read_dictionary=texts) as file:
            groups = range(metadata.num_row_groups)
            batches = (batch for group in groups for batch in file.iter_batches(BATCH_ROWS, row_groups=[group]))
            return decoded(given.name, counted(given.name, batches, file.schema_arrow, limits), schema, limits)


def _check_footer(given: TableInput) -> None:
    """Refuse a file without an end, and a footer that takes too much memory: its length stands behind it."""
    size = given.path.stat().st_size
    with given.path.open("rb") as stream:
        stream.seek(max(0, size - END_BYTES))
        end = stream.read()
    length = int.from_bytes(end[:4], "little")
    if size < 4 + END_BYTES or end[4:] != b"PAR1":
        raise InputError(
            message("a whole Parquet file", "its end is missing", "Copy the file again.", subject=given.name)
        )
    if length > MAX_FOOTER_BYTES:
        got, remedy = f"it has one of {text_of(length)}", "Write fewer columns, or larger row groups."
        raise InputError(message(f"a footer of at most {text_of(MAX_FOOTER_BYTES)}", got, remedy, subject=given.name))


def _check_metadata(name: str, metadata: Any, limits: TableLimits) -> None:
    """Refuse what the footer says is too large; of columns nothing is asked: pyarrow ends the process for some."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    limits.check(name, rows, metadata.num_columns, sum(group.total_byte_size for group in groups))


def decoded(name: str, table: Any, schema: Any, limits: TableLimits) -> Any:
    """The table with the types of its schema: texts that were read as codes are written out, if they are not too long.

    A few bytes may say that a long text is repeated, in lists and records, too.
    """
    size = 0
    for i, field in enumerate(table.schema):
        if field.type != schema.field(i).type:
            found = (leaf for chunk in table.column(i).chunks for leaf in leaves(chunk))
            size += sum(_length(leaf) for leaf in found if hasattr(leaf, "dictionary"))
            limits.check(name, size=size)
            table = table.set_column(i, schema.field(i), table.column(i).cast(schema.field(i).type))
    return table


def _length(coded: Any) -> int:
    from pyarrow import compute

    lengths = compute.binary_length(coded.dictionary)
    return int(compute.sum(lengths.take(coded.indices)).as_py() or 0)
