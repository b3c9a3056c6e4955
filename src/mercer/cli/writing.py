"""Columns out: CSV on standard output, or files by their ending."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mercer.cli.output import Voice
from mercer.cli.outputs import is_stdout
from mercer.errors import number_of

BLOCK_ROWS = 10_000
"""Rows that are written at once."""


def _csv(table: Any, file: Any) -> None:
    from pyarrow import csv

    csv.write_csv(table, file)


def _parquet(table: Any, file: Any) -> None:
    from pyarrow import parquet

    parquet.write_table(table, file)


def _arrow(table: Any, file: Any) -> None:
    from pyarrow import feather

    feather.write_feather(table, file)


def _npy(table: Any, file: Any) -> None:
    import numpy as np

    from mercer.tables.columns import numbers

    np.save(file, numbers(table.columns, table.column_names))


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".npy": _npy,
}


def write_columns(out: str, columns: Mapping[str, Any], record: Mapping[str, Any], voice: Voice) -> None:
    """Write columns of one length; with --json they are in the record, unless they go to a file."""
    import pyarrow

    from mercer.sources.replacing import replacing

    table = pyarrow.table({name: _column(values) for name, values in columns.items()})
    if not is_stdout(out):
        with replacing(Path(out)) as file:
            WRITERS.get(Path(out).suffix.lower(), _csv)(table, file)  # a pipe or a device has no ending
        voice.say(f"{number_of(table.num_rows, 'row')} x {number_of(table.num_columns, 'column')} are in {out}")
        if voice.as_json:
            voice.data({**record, "out": out}, "")
    elif voice.as_json:
        voice.data({**record, "columns": table.to_pydict()}, "")
    else:
        _stream(table, voice)


def _column(values: Any) -> Any:
    import pyarrow

    if hasattr(values, "to_pylist"):
        return values
    return pyarrow.array(values.tolist() if values.dtype.kind in "UO" else values)


def _stream(table: Any, voice: Voice) -> None:
    """Blocks of rows as they are turned into text, so that a reader may stop early."""
    from pyarrow import csv

    for start in range(0, table.num_rows, BLOCK_ROWS):
        block = io.BytesIO()
        csv.write_csv(table.slice(start, BLOCK_ROWS), block, csv.WriteOptions(include_header=start == 0))
        voice.raw(block.getvalue().decode())
