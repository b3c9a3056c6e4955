"""Tables in LIBSVM's format, a label and some "column:value" a line: rows stay sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.errors import InputError, message
from mercer.tables.delimited import text_size
from mercer.tables.limits import TableLimits
from mercer.tables.source_bytes import TableInput


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Labelled rows: `rows` is a sparse array of SciPy, `labels` one number per row."""

    rows: Any
    labels: Any


def read_libsvm(given: TableInput, limits: TableLimits, columns: int | None = None) -> SparseRows:
    """Rows and labels; `columns` is how many there are where a model knows. Cost: two passes over the bytes."""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    size = text_size(given, limits)
    limits.check(given.name, rows=size.lines)
    try:
        with given.opened() as stream:
            rows, labels = load_svmlight_file(stream, zero_based=False)
    except (ValueError, OverflowError) as error:
        got, remedy = f"scikit-learn says: {error}", "Each line is: label column:value column:value ..."
        raise InputError(message("lines in LIBSVM's format", got, remedy, subject=given.name)) from error
    return SparseRows(_of_width(given.name, csr_array(rows), columns), labels)


def _of_width(name: str, rows: Any, columns: int | None) -> Any:
    from scipy.sparse import csr_array

    if columns is None or rows.shape[1] == columns:
        return rows
    if rows.shape[1] > columns:
        got = f"got {rows.shape[1]}"
        raise InputError(
            message(f"columns from 1 to {columns}, as in the fit", got, "Give the same columns.", subject=name)
        )
    return csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], columns))
