"""Columns of Arrow as kernels read them: few types, names of their own, and lists of one length spread out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message, speaking
from mercer.tables.limits import TableLimits
from mercer.tables.source_bytes import arrow_errors

ENCODING = "Save the file as UTF-8, or give --encoding cp1252 (or what it is in)."
TEXTS = ("large_string", "string_view")
GRAPH, GRAPH_NAME = ("nodes", "edges", "edge_labels"), "graph"
"""Columns that describe a graph together, and how the one column that they become is called."""
NARROW = ("float", "halffloat", "int8", "int16", "uint8", "uint16", "bool")
"""Types whose numbers float32 holds."""
YEARS = (-719_162, 2_932_897)
"""Days from 1970 to the first day of the year 1, and of the year 10000."""


def plain(name: str, table: Any, limits: TableLimits) -> Any:
    """The table with plain types; what no kernel reads is refused or left as it is."""
    import pyarrow

    try:
        table.validate(full=True)
    except arrow_errors() as error:
        got = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(message("a sound table", got, "Write it again.", subject=name)) from error
    refuse_twice(name, table.column_names)
    width = sum(_width(field.type) for field in table.schema)
    limits.check(name, table.num_rows, width)
    pairs = [pair for field in table.schema for pair in _spread(name, field.name, table.column(field.name))]
    refuse_twice(name, [key for key, _ in pairs])
    return pyarrow.table({key: _in_range(name, key, column) for key, column in pairs}) if pairs else table


def kind_of(column: Any) -> str:
    """What a column of Arrow holds: "number", "truth", "date", "text", "label", "graph", "nothing" or "other"."""
    from pyarrow import types

    kind = column.type
    checks = {
        "nothing": types.is_null,
        "truth": types.is_boolean,
        "number": lambda kind: types.is_integer(kind) or types.is_floating(kind) or types.is_duration(kind),
        "date": lambda kind: types.is_date(kind) or types.is_timestamp(kind),
        "text": types.is_string,
        "label": types.is_dictionary,
        "graph": _is_graph,
    }
    return next((name for name, check in checks.items() if check(kind)), "other")


def with_graphs(table: Any) -> tuple[Any, str]:
    """A table whose columns "nodes", "edges" and "edge_labels" of lists are one column "graph", and what was done.

    "nodes" may also hold how many nodes there are; "edge_labels" need not be there.
    """
    import pyarrow
    from pyarrow import types

    names = [name for name in GRAPH if name in table.column_names]
    held = {name: table.schema.field(name).type for name in names}
    nodes, edges = (held.get(name, pyarrow.null()) for name in GRAPH[:2])
    if GRAPH_NAME in table.column_names or not (_is_list(nodes) or types.is_integer(nodes)) or not _is_list(edges):
        return table, ""
    gone = np.logical_or.reduce([np.asarray(table.column(name).is_null()) for name in names])
    parts = [table.column(name).combine_chunks() for name in names]
    column = pyarrow.StructArray.from_arrays(parts, names, mask=pyarrow.array(gone))
    told = f"{', '.join(map(repr, names))}: read as one graph per row, the column {GRAPH_NAME!r}"
    return table.drop_columns(names).append_column(GRAPH_NAME, column), told


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind))


def _is_graph(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_struct(kind)) and {kind.field(i).name for i in range(kind.num_fields)} >= set(GRAPH[:2])


def numbers(columns: list[Any], labels: list[str]) -> NDArray[Any]:
    """(rows, columns): float32 where all types are that narrow, else float64; NaN where an entry is missing."""
    from mercer.kernels.objects.table import numbers_of

    narrow = all(str(column.type) in NARROW for column in columns)
    dtype = np.float32 if narrow and any(str(column.type) == "float" for column in columns) else np.float64
    found = np.empty((len(columns[0]), len(columns)), dtype)
    with speaking("The table"):
        for i, (column, label) in enumerate(zip(columns, labels, strict=True)):
            found[:, i] = numbers_of(f"column {label!r}", column)
    return found


def refuse_twice(name: str, names: list[str]) -> None:
    """Complain of a name that several columns have."""
    seen: set[str] = set()
    for key in names:
        if key in seen:
            got = f"several are called {key!r}"
            raise InputError(message("a name of its own for each column", got, "Rename them.", subject=name))
        seen.add(key)


def _width(kind: Any) -> int:
    from pyarrow import types

    if types.is_fixed_size_list(kind):
        return int(kind.list_size)
    return int(kind.byte_width) if types.is_fixed_size_binary(kind) else 1


def _spread(name: str, key: str, column: Any) -> Iterator[tuple[str, Any]]:
    """A column under its name, or several: key[0], key[1], ..."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_decimal(kind):
        yield key, column.cast(pyarrow.float64())
    elif str(kind) in TEXTS:
        yield key, column.cast(pyarrow.string())
    elif types.is_fixed_size_list(kind) or types.is_fixed_size_binary(kind):
        rows = _matrix(name, key, column)
        yield from ((f"{key}[{i}]", pyarrow.array(np.ascontiguousarray(rows[:, i]))) for i in range(rows.shape[1]))
    elif types.is_binary(kind) or types.is_large_binary(kind):
        got, remedy = f"column {key!r} has bytes that are none", ENCODING
        raise InputError(message("texts in UTF-8", got, remedy, subject=name))
    else:
        yield key, column


def _in_range(name: str, key: str, column: Any) -> Any:
    """A column; dates and times are those that Python knows, in UTC, and name no zone, which Python may not know."""
    import pyarrow
    from pyarrow import compute, types

    kind = column.type
    if types.is_dictionary(kind) and types.is_temporal(kind.value_type):
        column, kind = column.cast(kind.value_type), kind.value_type
    if not (types.is_date(kind) or types.is_timestamp(kind)):
        return column
    whole = column.cast(pyarrow.int32() if types.is_date32(kind) else pyarrow.int64()).cast(pyarrow.int64())
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.get(getattr(kind, "unit", ""), 10**3)
    day = 1 if types.is_date32(kind) else 86_400 * second
    ends = compute.min_max(whole)
    first, last = ends["min"].as_py(), ends["max"].as_py()
    if first is not None and not (YEARS[0] * day <= first <= last < YEARS[1] * day):
        got, remedy = f"column {key!r} has others", "Correct these entries, or leave the column out."
        raise InputError(message("dates from the year 1 to 9999", got, remedy, subject=name))
    if types.is_date(kind):
        return column
    return whole.cast(pyarrow.timestamp(kind.unit)).cast(pyarrow.timestamp("us"), safe=False)


def _matrix(name: str, key: str, column: Any) -> NDArray[Any]:
    """Lists of one length, or bytes, as rows."""
    from pyarrow import types

    if column.null_count:
        got, remedy = f"column {key!r} has none in some rows", "Drop these rows."
        raise InputError(message("a list in each row", got, remedy, subject=name))
    width, binary = _width(column.type), types.is_fixed_size_binary(column.type)
    parts = [_bytes(chunk) if binary else chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(parts).reshape(-1, width)


def _bytes(chunk: Any) -> NDArray[np.uint8]:
    width = chunk.type.byte_width
    data = np.frombuffer(chunk.buffers()[1], np.uint8)
    return data[chunk.offset * width : (chunk.offset + len(chunk)) * width]
