"""Batches of a source as learners read them, or one clear error, which names the row in the whole data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from mercer.compute.codegen.sparse import canonical, is_sparse, place
from mercer.errors import InputError, message
from mercer.kernels.points import DOUBLE, SINGLE, Points
from mercer.sources.base import Batch, Source
from mercer.sources.tables import NUMBERS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Head:
    """What the first row of a source says of all.

    dtype : float32 where rows are of that, else float64: the one that predictions have
    shape : that of the targets of a row; None where there are none
    """

    columns: int
    names: tuple[str, ...] | None
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    weighted: bool

    @classmethod
    def of(cls, source: Source) -> Head:
        """Cost: one row is read."""
        first = next(iter(source.batches(1)))
        shape = None if first.targets is None else first.targets.shape[1:]
        dtype = SINGLE if first.rows.dtype == SINGLE else DOUBLE
        return cls(first.rows.shape[1], source.names, dtype, shape, first.weights is not None)


def head_of(source: Source) -> Head:
    """The first row, which must have targets."""
    head = Head.of(source)
    if head.shape is None:
        remedy = 'Name the column of a file, as in fit(path, y="name"), or give batches of (X, y).'
        raise InputError(message("targets", "the source has none, and y is None", remedy))
    return head


def values_of(head: Head, rows: Any, start: int) -> Any:
    """Rows as finite numbers of float64."""
    if rows.shape[1] != head.columns or (head.dtype == SINGLE and rows.dtype != SINGLE):
        got = f"got {rows.shape[1]} of {rows.dtype} after {head.columns} of {head.dtype}"
        raise InputError(message("batches with the same columns", got, "Make all in the same way."))
    sparse = is_sparse(rows)
    values = canonical(rows) if sparse else np.ascontiguousarray(rows, dtype=np.float64)
    finite = np.isfinite(values.data if sparse else values)
    if not finite.all():
        at = place(values, int(np.flatnonzero(~finite)[0])) if sparse else tuple(np.argwhere(~finite)[0].tolist())
        got = f"{Points(values, head.names).label(at[1])} holds {values[at]} in row {start + at[0]}"
        raise InputError(message("finite numbers", got, "Impute or drop such rows."))
    return values


def answers(head: Head, batch: Batch, start: int, coded: bool) -> tuple[NDArray[Any], Array]:
    """Targets as numbers of two dimensions, or labels of one, and how often each row counts."""
    targets = batch.targets
    if targets is None or targets.shape[1:] != head.shape or (batch.weights is not None) != head.weighted:
        got = f"those from row {start} on have others than the first"
        raise InputError(message("targets and weights alike in all batches", got, "Make all in the same way."))
    found = _labels(targets, start) if coded else _numbers(targets, start)
    if batch.weights is None:
        return found, np.ones(len(found))
    weights = np.asarray(batch.weights, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        got, remedy = f"that of row {start + bad[0]} is {weights[bad[0]]}", "Weights say how often a row counts."
        raise InputError(message("sample_weight of finite numbers of at least 0", got, remedy))
    return found, weights


def _numbers(targets: NDArray[Any], start: int) -> Array:
    if targets.ndim > 2:
        remedy = "Give one number per row, or one row of numbers."
        raise InputError(message("y of one or two dimensions", f"got {targets.ndim}", remedy))
    columns = targets.reshape(len(targets), -1)
    if targets.dtype.kind not in NUMBERS:
        remedy = "Convert it to numbers; labels are for KernelRidgeClassifier."
        raise InputError(message("numbers for y", f"row {start} holds {str(columns[0, 0])!r}", remedy))
    bad = np.argwhere(~np.isfinite(columns))
    if len(bad):
        got = f"row {start + bad[0, 0]} holds {columns[tuple(bad[0])]}"
        raise InputError(message("finite numbers for y", got, "Impute or drop such rows."))
    return columns.astype(np.float64)


def _labels(targets: NDArray[Any], start: int) -> NDArray[Any]:
    labels = np.asarray(column_or_1d(targets))
    bad: Any = ()
    if labels.dtype.kind == "O":
        bad = [at for at, label in enumerate(labels) if not isinstance(label, str)]
    elif labels.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(labels) | (labels != np.floor(labels)))
    elif labels.dtype.kind not in "iubU":
        bad = (0,)
    if len(bad):
        got = f"row {start + bad[0]} holds {labels[bad[0]]!r} (Unknown label type)"
        remedy = "Drop rows without a label, and use y.astype(str), say."
        raise InputError(message("labels that are all text, or all integers", got, remedy))
    return labels
