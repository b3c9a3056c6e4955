"""Tables of pandas, polars and Arrow, arrays of objects and plain lists, seen as columns; none of these is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.kernels.categories.items import DAY, NOTHING
from mercer.kernels.points import Points


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    count, width : rows and columns
    names : one per column; None where they have none
    column : gives the column at a position, as it was given
    """

    count: int
    width: int
    names: tuple[str, ...] | None
    column: Callable[[int], Any]

    @property
    def named(self) -> bool:
        """Whether a message should name the column."""
        return self.names is not None or self.width > 1

    def label(self, i: int) -> str:
        """How a message calls a column."""
        return self._head.label(i)

    def position(self, column: int | str) -> int:
        """Where a column stands."""
        return self._head.position(column)

    @property
    def _head(self) -> Points:
        return Points(np.empty((0, self.width)), self.names)

    def things(self, i: int) -> Sequence[Any]:
        """A column as a list of Python objects."""
        return listed(self.column(i))

    def numbers(self, i: int) -> NDArray[np.float64]:
        """A column as finite numbers: booleans are 0 and 1, times are days since 1970, durations are days."""
        values = numbers_of(self.label(i), self.column(i))
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            got = f"{self.label(i)} holds {values[bad[0]]} in row {bad[0]}"
            raise InputError(message("finite numbers", got, "Impute or drop such rows."))
        return values


def table_of(data: Any, whole: str | None = None) -> Table:
    """Data as a table; `whole` is the kind of all columns, so that a plain list of objects is one column."""
    if hasattr(data, "column_names") and hasattr(data, "column"):  # Arrow
        return Table(data.num_rows, len(data.column_names), tuple(data.column_names), data.column)
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # pandas
        return Table(len(data), len(data.columns), _texts(data.columns), lambda i: data.iloc[:, i])
    if hasattr(data, "get_columns"):  # polars
        return Table(len(data), len(data.columns), _texts(data.columns), lambda i: data.get_columns()[i])
    if whole is not None and not _of_rows(data, whole):
        return _single(data, whole)
    rows = data if isinstance(data, np.ndarray) else _array(data)
    if rows.ndim != 2 or 0 in rows.shape:
        got = f"got an array of shape {rows.shape}"
        raise InputError(message("a table of rows and columns", got, "Give a DataFrame, or rows of cells."))
    return Table(rows.shape[0], rows.shape[1], None, lambda i: rows[:, i])


def holds_more(data: Any, needed: Iterable[int | str] | None) -> bool:
    """Whether a kernel of numbers looks at columns that one array of numbers cannot hold: of Arrow, or times."""
    if needed is None or not (hasattr(data, "column_names") or hasattr(data, "columns")):
        return False
    table = table_of(data)
    names = table.names or ()
    at = [c if isinstance(c, int) else names.index(c) for c in needed if isinstance(c, int) or names.count(c) == 1]
    columns = [table.column(i) for i in at if -table.width <= i < table.width]
    return hasattr(data, "column_names") or any(np.asarray(column).dtype.kind in "OMm" for column in columns)


def _of_rows(data: Any, kind: str) -> bool:
    """Whether data without names of columns holds rows of cells, and not one object per row."""
    if isinstance(data, np.ndarray):
        return data.ndim == 2
    return kind == "categories" and isinstance(data, list | tuple) and bool(data) and isinstance(data[0], list | tuple)


def _single(data: Any, kind: str) -> Table:
    things = None if isinstance(data, str | bytes | dict) or not hasattr(data, "__len__") else listed(data)
    if not things:
        got = "got an empty list" if things is not None else f"got {data!r:.60}"
        raise InputError(message(f"a list of {kind}, one per row", got, "Give a list, an array or a column."))
    return Table(len(things), 1, None, lambda i: things)


def _array(data: Any) -> NDArray[np.object_]:
    rows = [list(row) for row in data] if isinstance(data, list | tuple) else np.asarray(data, dtype=object).tolist()
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        got = f"got rows of {', '.join(map(str, sorted(widths)[:5])) or 'no'} cells"
        raise InputError(message("rows of equal length", got, "Give a DataFrame, or rows of cells."))
    found = np.empty((len(rows), *widths), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            found[i, j] = cell
    return found


def _texts(names: Any) -> tuple[str, ...] | None:
    return tuple(names) if all(isinstance(name, str) for name in names) else None


def listed(column: Any) -> list[Any]:
    """A column as a list of Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, polars and pandas, NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def numbers_of(label: str, column: Any) -> NDArray[np.float64]:
    """A column as float64, NaN where it has gaps: booleans are 0 and 1, times days since 1970, durations days."""
    arrow = hasattr(column, "to_pylist")
    values = column.to_numpy(zero_copy_only=False) if arrow else np.asarray(column)
    if values.dtype.kind == "O":
        values = _from_objects(label, values)
    if values.dtype.kind == "M":
        days = (values - np.datetime64(0, "D")) / DAY
        return np.asarray(days, dtype=np.float64)
    if values.dtype.kind == "m":
        return np.asarray(values / DAY, dtype=np.float64)
    if values.dtype.kind not in "fiub":
        got = f"{label} holds {values.flat[0]!r} (dtype {values.dtype})"
        raise InputError(message("numbers", got, "Choose columns of numbers with on(), or use Match()."))
    return values.astype(np.float64)


def _without_zone(value: Any) -> Any:
    """A time in UTC that names no zone, which NumPy does not know."""
    return value.astimezone(UTC).replace(tzinfo=None) if getattr(value, "tzinfo", None) else value


def _from_objects(label: str, values: NDArray[Any]) -> NDArray[Any]:
    """Cells that are numbers, times or durations, or missing, as an array of these."""
    cells = [None if _missing(value) else value for value in values.tolist()]
    known = [value for value in cells if value is not None]
    if known and all(hasattr(value, "toordinal") for value in known):
        return np.array([_without_zone(value) for value in cells], dtype="datetime64[us]")
    if known and all(isinstance(value, timedelta) for value in known):
        return np.array(cells, dtype="timedelta64[us]")
    strange = next(
        (value for value in known if isinstance(value, str | bytes) or not hasattr(value, "__float__")), None
    )
    if strange is not None:
        got = f"{label} holds {strange!r}"
        raise InputError(message("numbers", got, "Choose columns of numbers with on(), or use Match()."))
    return np.array([float("nan") if value is None else float(value) for value in cells])


def _missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, NaT, or pandas' NA, which cannot be compared."""
    return type(value).__name__ in NOTHING or bool(value != value)
