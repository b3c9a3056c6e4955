"""Reading data: anything table-like becomes rows of float64, or one clear error says why not."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from mercer.backends.context import current
from mercer.backends.tensors import held, is_held, on_host
from mercer.compute.codegen.sparse import canonical, chosen, equal, is_sparse, place, with_columns
from mercer.compute.consistency import within
from mercer.errors import InputError, message
from mercer.kernels.objects import store as objects

Column = int | str
SINGLE: np.dtype[Any] = np.dtype(np.float32)
DOUBLE: np.dtype[Any] = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of data with the names of their columns, where they have names.

    values : (n, d) array of float64; for sparse data a csr_array, sorted, without duplicates and stored zeros; inside
        proofs an array of high-precision objects; for rows that lie on a device what stands for them
    names : one name per column, or None
    dtype : the dtype that results should have
    labels : how messages call the columns, where their positions are not those of the user's data
    stores : of each column the objects whose positions it holds, or None where it holds numbers; empty where all do
    """

    values: NDArray[Any]
    names: tuple[str, ...] | None = None
    dtype: np.dtype[Any] = DOUBLE
    labels: tuple[str, ...] | None = None
    stores: tuple[objects.Store | None, ...] = ()

    def _inconsistency(self) -> str:
        values: Any = self.values
        if values.ndim != 2 or values.dtype != DOUBLE or self.dtype not in (SINGLE, DOUBLE):
            return f"got rows of {values.dtype} and shape {values.shape}"
        stored = values.data if is_sparse(values) else values
        if stored.size and not (np.isfinite(stored.min()) and np.isfinite(stored.max())):
            return "rows hold infinite numbers"
        for about in (self.names, self.labels, self.stores):
            if about and len(about) != values.shape[1]:
                return f"got {len(about)} names or stores for {values.shape[1]} columns"
        if any(self.stores) and is_sparse(values):
            return "sparse rows hold no structured data"
        for column, store in enumerate(self.stores):
            codes = values[:, column] if store is not None else np.empty(0)
            if store is not None and not (within(codes, 0, len(store.items)) and (codes == np.rint(codes)).all()):
                return f"column {column} names objects that its store does not have"
        return ""

    def label(self, column: int) -> str:
        """How a message calls a column: by its name, or by its position from 0."""
        if self.labels is not None:
            return self.labels[column]
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    def rows(self, block: slice | NDArray[np.intp]) -> Points:
        """Some of the rows."""
        return Points(self.values[block], self.names, self.dtype, self.labels, self.stores)

    def here(self) -> Points:
        """The same in this process: for a few rows that lie on a device."""
        return replace(self, values=on_host(self.values)) if is_held(self.values) else self

    @cached_property
    def transposed(self) -> Any:
        """The columns of sparse rows as rows, for products: made once for all blocks of the other side."""
        rows: Any = self.values
        return rows.T.tocsr()

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether the rows are sparse."""
        return not isinstance(self.values, np.ndarray) and is_sparse(self.values)

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Points:
        """The rows after a map; the columns lose their names."""
        values = function(self.values)
        return Points(values, None, self.dtype, tuple(f"mapped column {i}" for i in range(values.shape[1])))

    def columns(self, columns: tuple[Column, ...], subject: object = None) -> Points:
        """Some of the columns, by position or name."""
        return self.chosen([self.position(column, subject) for column in columns])

    def chosen(self, positions: list[int]) -> Points:
        """Some of the columns, which keep their names and labels."""
        names = None if self.names is None else tuple(self.names[i] for i in positions)
        values = chosen(self.values, positions) if self.sparse else self.values[:, positions]
        stores = tuple(self.stores[i] for i in positions) if self.stores else ()
        return Points(values, names, self.dtype, tuple(map(self.label, positions)), stores)

    def things(self, column: int, kind: str, subject: object = None) -> objects.Column:
        """The objects of one kind in a column; messages name `subject`."""
        store = self.stores[column] if self.stores else None
        if store is None or store.kind != kind:
            got = f"{self.label(column)} holds {'numbers' if store is None else store.kind}"
            raise InputError(message(kind, got, "Choose the right column with on().", subject=subject))
        return objects.Column(store, self.values[:, column].astype(np.intp))

    @property
    def first_object(self) -> int | None:
        """The first column that holds objects and not numbers; None where there is none."""
        return next((i for i, store in enumerate(self.stores) if store is not None), None)

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples: of each column the number, or the object that stands there."""
        for row in self.values.tolist():
            yield tuple(
                cell if store is None else store.items[int(cell)] for cell, store in zip(row, self.stores, strict=True)
            )

    def position(self, column: Column, subject: object = None) -> int:
        """Where a column stands, from 0; messages name `subject`."""
        width = self.values.shape[1]
        if isinstance(column, int):
            if -width <= column < width:
                return int(column % width)
            got = f"the data has {width} column{'s' * (width != 1)}"
            raise InputError(message(f"column {column}", got, "Positions count from 0.", subject=subject))
        if self.names is None:
            raise InputError(
                message(
                    f"a column named {column!r}",
                    "the data has no column names",
                    "Give a DataFrame, or choose columns by position.",
                    subject=subject,
                )
            )
        if column not in self.names:
            got = f"the columns are {', '.join(map(repr, self.names[:10]))}"
            raise InputError(message(f"a column named {column!r}", got, "Check the spelling.", subject=subject))
        if self.names.count(column) > 1:
            got = f"{self.names.count(column)} columns have that name"
            raise InputError(message(f"one column named {column!r}", got, "Choose it by position.", subject=subject))
        return self.names.index(column)


def points_from(data: Any, needed: frozenset[Column] | None = None) -> Points:
    """Read rows of numbers from an array, a list of lists, a DataFrame, or a sparse matrix or array of SciPy.

    Sparse data stays sparse; it becomes compressed rows where it has another format. float32 is remembered as the dtype
    of the results; the work is done in float64. Where only some columns are needed, the others may hold anything; they
    are read as zeros.
    """
    if is_sparse(data):
        return _sparse_points(data, needed)
    array = type(data) is np.ndarray  # most are, and then nothing is asked
    if not array and (there := held(data, getattr(current(), "device", None))) is not None:
        return device_points(there, needed)
    names = _names_of(data)
    kept = None if needed is None else _positions(data, names, needed)
    if kept is None:
        return _checked(Points(_as_array(data), names))
    labels = tuple(Points(np.empty(0), names).label(i) for i in kept)
    part = _checked(Points(_as_array(_selected(data, kept)), labels=labels))
    values = np.zeros((len(part.values), data.shape[1]))
    values[:, kept] = part.values
    return Points(values, names, part.dtype)


def _checked(raw: Points) -> Points:
    """The same points in float64, if that can be."""
    _refuse_wrong_shape(raw.values)
    _refuse_wrong_kind(raw)
    values = np.ascontiguousarray(raw.values, dtype=np.float64)
    points = replace(raw, values=values, dtype=_dtype_of(raw.values))
    bad = ~np.isfinite(values)
    if bad.any():
        _refuse_value(points, *map(int, np.argwhere(bad)[0]))
    return points


def device_points(rows: Any, needed: frozenset[Column] | None = None) -> Points:
    """Rows that lie on a device, which stay there; the same is refused as of arrays."""
    if rows.ndim != 2 or 0 in rows.shape:
        _refuse_wrong_shape(rows.on_host())
    dtype = _dtype_of(np.empty(0, rows.given))
    kept = None if needed is None else _positions(rows, None, needed)
    bad = (rows if kept is None else rows[:, kept]).first_bad()
    if bad is not None:
        _refuse_value(Points(rows), bad[0], bad[1] if kept is None else kept[bad[1]])
    if kept is not None:
        looked = np.zeros(rows.shape[1], bool)
        looked[kept] = True
        rows = rows.where(looked)
    return Points(rows, dtype=dtype)


def _sparse_points(data: Any, needed: frozenset[Column] | None) -> Points:
    _refuse_wrong_shape(data)
    _refuse_wrong_kind(Points(data))
    try:
        rows = canonical(data)
    except ValueError as error:
        raise InputError(
            message("a sound sparse table", f"SciPy says: {error}", "Build it again, from X.toarray() say.")
        ) from error
    kept = None if needed is None else _positions(rows, None, needed)
    if kept is not None:
        rows = with_columns(chosen(rows, kept), np.array(kept), rows.shape[1])
    points = Points(rows, dtype=_dtype_of(data))
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        _refuse_value(points, *place(rows, bad[0]))
    return points


def _dtype_of(values: Any) -> np.dtype[Any]:
    """The dtype of the results."""
    return SINGLE if values.dtype in (np.float16, np.float32) else DOUBLE


def _positions(data: Any, names: tuple[str, ...] | None, needed: frozenset[Column]) -> list[int] | None:
    """Where the needed columns stand; None where some do not exist, so that all are read and the kernel complains."""
    if len(getattr(data, "shape", ())) != 2 or not needed:
        return None
    width = data.shape[1]
    known = range(-width, width)
    if not all((c in known) if isinstance(c, int) else (names or ()).count(c) == 1 for c in needed):
        return None
    return sorted({c % width if isinstance(c, int) else (names or ()).index(c) for c in needed})


def _selected(data: Any, positions: list[int]) -> Any:
    return data.iloc[:, positions] if hasattr(data, "iloc") else data[:, positions]


def _as_array(data: Any) -> NDArray[Any]:
    try:
        array = np.asarray(data)
        return _joined(data) if array.dtype == object and _of_numbers(data) else array
    except ValueError as error:  # rows of different lengths
        raise InputError(
            message("rows of equal length", f"NumPy says: {error}", "Give an array of n rows, d columns.")
        ) from error


def _of_numbers(data: Any) -> bool:
    """Whether data is a table of pandas whose columns all hold numbers or booleans by their types, pandas' own too."""
    if not hasattr(data, "iloc") or data.ndim != 2 or 0 in data.shape:
        return False
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in data.dtypes)


def _joined(data: Any) -> NDArray[np.float64]:
    """Such columns side by side, with NaN where something is missing: where types differ, pandas makes objects."""
    columns = [data.iloc[:, i].to_numpy(dtype=np.float64, na_value=np.nan) for i in range(data.shape[1])]
    return np.column_stack(columns)


def _refuse_wrong_kind(raw: Points) -> None:
    array, kind = raw.values, raw.values.dtype.kind
    if kind == "c":
        raise InputError(message("real numbers", "got complex numbers", "Use X.real, or stack X.real and X.imag."))
    if kind not in "fiub":
        got = f"got numbers of dtype {array.dtype}"
        if not raw.sparse:
            where = next((at for at in np.ndindex(array.shape) if not isinstance(array[at], numbers.Real)), (0, 0))
            got = f"{raw.label(where[1])} holds {array[where]!r} (dtype {array.dtype})"
        raise InputError(message("numbers", got, "Convert the columns to numbers, or choose numeric ones with on()."))


def _refuse_wrong_shape(array: NDArray[Any]) -> None:
    if array.ndim != 2:
        remedy = "Give an array of n rows and d columns."
        if array.ndim == 0 and array.dtype.kind in "fiub":
            remedy = f"Write one number as [[{array.item()}]]."
        if array.ndim == 1:
            remedy = "Use X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        got = f"got an array of {array.ndim} dimension{'s' * (array.ndim != 1)} and shape {array.shape}"
        raise InputError(message("a table of rows and columns", got, remedy))
    refuse_empty(array.shape)


def refuse_empty(shape: tuple[int, ...]) -> None:
    """Refuse a table without rows or without columns."""
    if 0 in shape:
        got = f"got an empty table of shape {shape}"
        raise InputError(message("at least one row and one column", got, "Check how the data was selected."))


def _names_of(data: Any) -> tuple[str, ...] | None:
    columns = getattr(data, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def _refuse_value(points: Points, row: int, column: int) -> None:
    value = points.values[row, column]
    raise InputError(
        message("finite numbers", f"{points.label(column)} holds {value} in row {row}", "Impute or drop such rows.")
    )


def refuse_sparse(points: Points, subject: object = None) -> None:
    """Refuse sparse rows where all coordinates are needed."""
    if points.sparse:
        got = f"got a sparse {type(points.values).__name__}"
        remedy = "Use X.toarray(), or a kernel of inner products or distances."
        raise InputError(message("a dense table", got, remedy, subject=subject))


def refuse_objects(points: Points, subject: object = None) -> None:
    """Refuse columns of strings, graphs or labels where numbers are needed."""
    at = points.first_object
    if at is not None:
        got = f"{points.label(at)} holds {points.stores[at].kind}"  # type: ignore[union-attr]
        raise InputError(message("numbers", got, "Choose columns of numbers with on().", subject=subject))


def alike(left: Points, right: Points) -> tuple[Points, Points]:
    """Both tables sparse where one is."""
    if left.sparse == right.sparse:
        return left, right
    if left.sparse:
        return left, replace(right, values=canonical(csr_array(right.values)))
    return replace(left, values=canonical(csr_array(left.values))), right


def stacked(left: Points, right: Points) -> Points:
    """The rows of one table, and after them those of another with the same columns; both are sparse, or none."""
    names = right.names if left.names is None else left.names
    left, right = left.here(), right.here()
    if left.sparse:
        return replace(left, values=canonical(vstack([left.values, right.values]).tocsr()), names=names)
    values, stores = np.vstack([left.values, right.values]), list(left.stores)
    for i, (here, there) in enumerate(zip(left.stores, right.stores, strict=True)):
        if here is not None and there is not None and here is not there:
            stores[i] = objects.Store(here.kind, here.items + there.items)
            values[len(left.values) :, i] += len(here.items)
    return replace(left, values=values, names=names, stores=tuple(stores))


def same_rows(left: Points, right: Points) -> bool:
    """Whether two tables hold the same rows, to be given back in the same dtype."""
    if left.dtype != right.dtype or not _same_stores(left, right):
        return False
    if left.sparse and right.sparse:
        return equal(left.values, right.values)
    if is_held(left.values) or is_held(right.values):
        here, there = left.values, right.values
        return is_held(here) and is_held(there) and bool(here.equals(there))  # type: ignore[attr-defined]
    return np.array_equal(left.values, right.values)


def _same_stores(left: Points, right: Points) -> bool:
    """Whether equal positions stand for equal objects."""
    if len(left.stores) != len(right.stores):
        return False
    both = zip(left.stores, right.stores, strict=True)
    return all(a is b or (a is not None and b is not None and a.items == b.items) for a, b in both)


def same_columns(left: Points, right: Points) -> None:
    """Refuse two tables whose columns do not match."""
    here, there = left.values.shape[1], right.values.shape[1]
    if here != there:
        got = f"X has {here} and Z has {there}"
        raise InputError(message("X and Z with the same number of columns", got, "Select the same columns in both."))
    if left.names is not None and right.names is not None and left.names != right.names:
        first = next(i for i in range(here) if left.names[i] != right.names[i])
        got = f"column {first} is {left.names[first]!r} in X and {right.names[first]!r} in Z"
        raise InputError(message("X and Z with the same columns", got, "Reorder the columns of one."))
