"""Tables in Parquet: what the footer says is checked before a page is read, and what is read as it grows."""

from __future__ import annotations

from typing import Any

from mercer.compute.budget import text_of
from mercer.errors import InputError, sentence
from mercer.files.tables_input import TableInput, arrow_errors
from mercer.files.tables_limits import TableLimits
from mercer.files.tables_pages import unpacked_size

FOOTER = 32 * 2**20
"""Bytes of a footer, at most: it is parsed as a whole, and takes several times as much memory."""
END = 8
"""Bytes after the footer: its length, and four letters."""
LABELLED = ("nodes", "edge_labels")
"""Columns of graphs that may hold lists of texts."""
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
        _refuse_texts_inside(given.name, schema)
        texts = [field.name for field in schema if _is_text(field.type)]
        lists = {field.name for field in schema if _is_graph(field)}
        paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
        texts += [path for path in paths if path.partition(".")[0] in lists]
        with parquet.ParquetFile(given.path, metadata=metadata, read_dictionary=texts) as file:
            return decoded(given.name, _batches(given.name, file, limits), schema, limits)
    except arrow_errors(OSError) as error:
        came = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(sentence(given.name, "a sound Parquet file", came, "Write it again.")) from error


def _footer(given: TableInput) -> bytes:
    """The footer, which stands before its length and the last mark."""
    size = given.path.stat().st_size
    with given.path.open("rb") as stream:
        stream.seek(max(0, size - END))
        end = stream.read()
        length = int.from_bytes(end[:4], "little")
        if size >= 4 + END and end[4:] == b"PAR1" and length > FOOTER:
            came, remedy = f"it has one of {text_of(length)}", "Write fewer columns, or larger row groups."
            raise InputError(sentence(given.name, f"a footer of at most {text_of(FOOTER)}", came, remedy))
        if size < 4 + END + length or end[4:] != b"PAR1":
            came, remedy = "its end is missing", "Copy the file again."
            raise InputError(sentence(given.name, "a whole Parquet file", came, remedy))
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
    """The table with the types of its schema: texts that came as codes are written out, if they are not too long."""
    size = 0
    for i, field in enumerate(table.schema):
        if field.type != schema.field(i).type:
            size += sum(map(_length, table.column(i).chunks))
            limits.check(name, size=size)
            table = table.set_column(i, schema.field(i), table.column(i).cast(schema.field(i).type))
    return table


def _length(chunk: Any) -> int:
    from pyarrow import compute

    coded = chunk if hasattr(chunk, "dictionary") else chunk.flatten()
    lengths = compute.binary_length(coded.dictionary)
    return int(compute.sum(lengths.take(coded.indices)).as_py() or 0)


def _is_graph(field: Any) -> bool:
    """Whether a column holds lists of labels of a graph: these are read as codes, and counted before they are texts."""
    from pyarrow import types

    listed = types.is_list(field.type) or types.is_large_list(field.type)
    return field.name in LABELLED and listed and _is_text(field.type.value_type)


def _refuse_texts_inside(name: str, schema: Any) -> None:
    """Refuse texts in lists and records: a few bytes may say that a long one is repeated, and none of them is read."""
    for field in schema:
        if _is_graph(field):
            continue
        inside = [field.type.field(i).type for i in range(field.type.num_fields)]
        while inside:
            kind = inside.pop()
            if _is_text(kind):
                came, remedy = f"column {field.name!r} has some inside of others", "Leave it out, or write one per row."
                raise InputError(sentence(name, "texts in columns of their own", came, remedy))
            inside += [kind.field(i).type for i in range(kind.num_fields)]


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view", "binary", "large_binary")
