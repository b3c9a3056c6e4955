"""Columns that give the target away: what will not be known when a prediction is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.diagnostics.finding import SERIOUS, Finding
from mercer.cli.target import CLASSIFICATION
from mercer.tables.columns import kind_of, numbers

if TYPE_CHECKING:
    from mercer.cli.result import Fitted

MAX_ROWS = 20_000
"""Rows that are looked at; of more, so many are drawn."""
MIN_ROWS = 20
"""Fewer rows tell nothing."""
LEAK_SHARE = 0.999
"""The rank correlation, or the share of rows whose class is known, from which on a column gives the target away."""
MIN_ROWS_PER_ENTRY = 5
"""Rows an entry, on the average, without which it is no wonder that an entry knows its target."""
MAX_LEFT_VARIANCE = 1e-6
"""The part of the variance of a target that may be left within equal entries."""
SPARSE = "If it is not known when a prediction is needed, leave it out of the file."
REMEDY = "If it is not known when a prediction is needed, leave it out: --drop {}."

Array = NDArray[np.float64]


def giving_away(done: Fitted) -> Iterator[Finding]:
    """Columns that are a copy of the target, rise or fall with it, or determine it."""
    rows = _sample(len(done.parts.y))
    y, classes = done.parts.y[rows], done.target.task == CLASSIFICATION
    if len(y) < MIN_ROWS:
        return
    ways: Mapping[Any, str]
    if done.parts.train.sparse is not None:
        ways = sparse_given_away(done.parts.train.sparse.rows[rows], y, classes)
    else:
        table = done.parts.train.table
        ways = {name: given_away(table.column(name).take(rows), y, classes) for name in done.look.columns}
    for name, how in ways.items():
        if how:
            text = f"Column {name!r} {how} the target {done.target.name!r}: the scores may be too good to be true."
            yield Finding("leak", SERIOUS, text, REMEDY.format(name) if done.look.columns else SPARSE)


def _sample(count: int) -> NDArray[np.intp]:
    if count <= MAX_ROWS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, MAX_ROWS, replace=False))


def given_away(column: Any, y: NDArray[Any], classes: bool) -> str:
    """How a column gives the target away, as a verb; "" where it does not.

    >>> import pyarrow
    >>> y = np.linspace(0.0, 1.0, 50) ** 3
    >>> given_away(pyarrow.array(range(50)), y, False), given_away(pyarrow.array([0, 1] * 25), y, False)
    ('rises and falls with', '')
    """
    numeric = kind_of(column) in ("number", "truth", "date")
    values = numbers([column], [""])[:, 0].astype(np.float64) if numeric else codes(column)
    known = np.isfinite(values)
    values, y = values[known], y[known]
    if len(y) < MIN_ROWS or 2 * len(y) < len(known):
        return ""
    return _of_classes(values, y, numeric) if classes else _of_numbers(values, np.asarray(y, dtype=float), numeric)


def codes(column: Any) -> Array:
    """A number for each different entry; NaN for missing ones."""
    import pyarrow

    if kind_of(column) == "graph":
        column = pyarrow.array([None if entry is None else repr(entry) for entry in column.to_pylist()])
    whole = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    coded = whole if pyarrow.types.is_dictionary(whole.type) else whole.dictionary_encode()
    return np.asarray(coded.indices.cast(pyarrow.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False))


def _of_numbers(values: Array, y: Array, numeric: bool) -> str:
    if y.min() == y.max():
        return ""
    if numeric and np.array_equal(values, y):
        return "equals"
    if numeric and abs(_rank_correlation(values, y)) > LEAK_SHARE:
        return "rises and falls with"
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if not 1 < len(counts) * MIN_ROWS_PER_ENTRY <= len(y):
        return ""
    means = np.bincount(place, y) / counts
    return "determines" if np.mean((y - means[place]) ** 2) <= MAX_LEFT_VARIANCE * np.var(y) else ""


def _rank_correlation(values: Array, y: Array) -> float:
    from scipy.stats import rankdata

    first, second = (rankdata(each) for each in (values, y))
    if first.min() == first.max():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _of_classes(values: Array, y: NDArray[Any], numeric: bool) -> str:
    labels, classes = np.unique(y, return_inverse=True)
    largest = np.bincount(classes).max() / len(y)
    if len(labels) < 2 or largest > LEAK_SHARE:
        return ""
    entries, place = np.unique(values, return_inverse=True)
    if len(entries) * MIN_ROWS_PER_ENTRY <= len(y):
        counts = np.bincount(place * len(labels) + classes, minlength=len(entries) * len(labels))
        pure = counts.reshape(len(entries), -1).max(axis=1).sum() / len(y)
        return "determines" if pure > LEAK_SHARE else ""
    return "separates the classes of" if numeric and _in_order(values, classes, len(labels)) else ""


def _in_order(values: Array, classes: NDArray[Any], count: int) -> bool:
    """Whether the classes are intervals of the values, but for a thousandth of the rows."""
    order = np.lexsort((classes, values))
    changes = int((np.diff(classes[order]) != 0).sum())
    return changes <= count - 1 + (1 - LEAK_SHARE) * len(classes)


def sparse_given_away(rows: Any, y: NDArray[Any], classes: bool) -> dict[int, str]:
    """Columns of sparse rows, from 1 on, on a line with a number or with one of two classes. Cost: two passes.

    >>> from scipy.sparse import csr_matrix
    >>> rows = csr_matrix(np.column_stack([np.arange(50) % 7, 2.0 * np.arange(50)]))
    >>> sparse_given_away(rows, np.arange(50.0), False)
    {2: 'rises and falls with'}
    """
    labels = np.unique(y)
    if classes and len(labels) != 2:
        return {}
    values = (y == labels[1]).astype(np.float64) if classes else np.asarray(y, dtype=np.float64)
    columns = rows.tocsc().astype(np.float64)
    mean, square = (np.asarray(each.mean(axis=0)).ravel() for each in (columns, columns.multiply(columns)))
    shared = columns.T @ (values - values.mean()) / len(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.abs(shared) / np.sqrt(np.maximum(square - mean**2, 0.0) * values.var())
    found = np.flatnonzero(np.isfinite(correlation) & (correlation > LEAK_SHARE))
    return {int(j) + 1: "determines" if classes else "rises and falls with" for j in found}
