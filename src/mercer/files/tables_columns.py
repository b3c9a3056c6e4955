"""Columns of Arrow as kernels read them: few types, names of their own, and lists of one length spread out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, sentence
from mercer.files.tables_input import arrow_errors
from mercer.files.tables_limits import TableLimits

ENCODING = "Save the file as UTF-8, or give --encoding cp1252 (or what it is in)."
TEXTS = ("large_string", "string_view")
NARROW = ("float", "halffloat", "int8", "int16", "uint8", "uint16", "bool")
"""Types whose numbers float32 holds."""


def plain(name: str, table: Any, limits: TableLimits) -> Any:
    """The table with plain types; what no kernel reads is refused or left as it is."""
    import pyarrow

    try:
        table.validate(full=True)
    except arrow_errors() as error:
        came = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(sentence(name, "a sound table", came, "Write it again.")) from error
    refuse_twice(name, table.column_names)
    width = sum(_width(field.type) for field in table.schema)
    limits.check(name, table.num_rows, width)
    pairs = [pair for field in table.schema for pair in _spread(name, field.name, table.column(field.name))]
    refuse_twice(name, [key for key, _ in pairs])
    return pyarrow.table(dict(pairs)) if pairs else table


def kind_of(column: Any) -> str:
    """What a column of Arrow holds: "number", "truth", "date", "text", "label", "nothing" or "other"."""
    from pyarrow import types

    kind = column.type
    checks = {
        "nothing": types.is_null,
        "truth": types.is_boolean,
        "number": lambda kind: types.is_integer(kind) or types.is_floating(kind) or types.is_duration(kind),
        "date": lambda kind: types.is_date(kind) or types.is_timestamp(kind),
        "text": types.is_string,
        "label": types.is_dictionary,
    }
    return next((name for name, check in checks.items() if check(kind)), "other")


def numbers(columns: list[Any], labels: list[str]) -> NDArray[Any]:
    """(rows, columns): float32 where all types are that narrow, else float64; NaN where an entry is missing."""
    from mercer.kernels.objects.table import numbers_of

    narrow = all(str(column.type) in NARROW for column in columns)
    dtype = np.float32 if narrow and any(str(column.type) == "float" for column in columns) else np.float64
    found = np.empty((len(columns[0]), len(columns)), dtype)
    for i, (column, label) in enumerate(zip(columns, labels, strict=True)):
        found[:, i] = numbers_of("The table", f"column {label!r}", column)
    return found


def refuse_twice(name: str, names: list[str]) -> None:
    """Complain of a name that several columns have."""
    seen: set[str] = set()
    for key in names:
        if key in seen:
            came = f"several are called {key!r}"
            raise InputError(sentence(name, "a name of its own for each column", came, "Rename them."))
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
        came, remedy = f"column {key!r} has bytes that are none", ENCODING
        raise InputError(sentence(name, "texts in UTF-8", came, remedy))
    else:
        yield key, column


def _matrix(name: str, key: str, column: Any) -> NDArray[Any]:
    """Lists of one length, or bytes, as rows."""
    from pyarrow import types

    if column.null_count:
        came, remedy = f"column {key!r} has none in some rows", "Drop these rows."
        raise InputError(sentence(name, "a list in each row", came, remedy))
    width, binary = _width(column.type), types.is_fixed_size_binary(column.type)
    parts = [_bytes(chunk) if binary else chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(parts).reshape(-1, width)


def _bytes(chunk: Any) -> NDArray[np.uint8]:
    width = chunk.type.byte_width
    data = np.frombuffer(chunk.buffers()[1], np.uint8)
    return data[chunk.offset * width : (chunk.offset + len(chunk)) * width]
