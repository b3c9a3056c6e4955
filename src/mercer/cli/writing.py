"""Columns out: CSV on standard output, or files by their ending."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mercer.cli.exits import Exit, Failure
from mercer.cli.voice import Voice

STDOUT = "-"
BLOCK = 10_000
"""Rows that are written at once."""


def _csv(table: Any, path: Any) -> None:
    from pyarrow import csv

    csv.write_csv(table, path)


def _parquet(table: Any, path: Any) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def _arrow(table: Any, path: Any) -> None:
    from pyarrow import feather

    feather.write_feather(table, path)


def _npy(table: Any, path: Any) -> None:
    import numpy as np

    from mercer.files.tables_columns import numbers

    np.save(path, numbers(table.columns, table.column_names))


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".npy": _npy,
}


def check_output(out: str) -> None:
    """Complain of a file that cannot be written before anything is computed."""
    if out == STDOUT:
        return
    path = Path(out)
    if path.suffix.lower() not in WRITERS:
        raise Failure(Exit.USAGE, f"--out needs a name that ends with {', '.join(WRITERS)}; {path.name!r} came.")
    if not path.resolve().parent.is_dir():
        raise Failure(Exit.USAGE, f"--out needs a folder that exists; {path.parent} does not.")


def write_columns(out: str, columns: Mapping[str, Any], record: Mapping[str, Any], voice: Voice) -> None:
    """Write columns of one length; with --json they are in the record, unless they go to a file."""
    import pyarrow

    table = pyarrow.table({name: _column(values) for name, values in columns.items()})
    if out != STDOUT:
        WRITERS[Path(out).suffix.lower()](table, out)
        voice.say(f"{table.num_rows:,} rows x {table.num_columns:,} columns are in {out}")
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

    for start in range(0, table.num_rows, BLOCK):
        block = io.BytesIO()
        csv.write_csv(table.slice(start, BLOCK), block, csv.WriteOptions(include_header=start == 0))
        voice.raw(block.getvalue().decode())
