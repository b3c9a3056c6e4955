"""A table of two columns, and a grid over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message, number_of

MARGIN_SHARE = 0.08
"""How far a grid goes beyond the rows, as a part of their range."""
MIN_RELATIVE_RANGE = 1e-9
"""A column whose range is below this part of its values counts as constant: places of a grid would not differ."""
MAX_AXIS_VALUE = 1e100
"""Axes compute with squares of what they show."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Rows with two columns.

    values : (n, 2)
    names : of the columns
    frame : the kind of table of the rows, where that has names which a model may ask for; else None
    """

    values: NDArray[Any]
    names: Sequence[str]
    frame: Any = None

    @classmethod
    def of(cls, X: Any) -> Plane:
        """Read a table, or say why it cannot be drawn."""
        values = values_of(X)
        if values.ndim != 2 or values.shape[1] != 2 or len(values) == 0:
            remedy = "Draw scores of the rows, with ComponentsDisplay.from_estimator(pca, X, y=model.labels_), say."
            raise InputError(message("rows of two columns", f"got an array of shape {values.shape}", remedy))
        if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            remedy = "Remove or replace the rows that have them."
            raise InputError(message("finite numbers", "got others", remedy))
        refuse_huge(values)
        names = list(getattr(X, "columns", ()))
        if len(names) == 2 and all(isinstance(name, str) for name in names):
            return cls(values, names, type(X))
        return cls(values, ("x1", "x2"))

    def grid(self, count: int) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """Places along both axes, count of them each, and all their pairs as a table like that of the rows."""
        across, up = (span(column, count) for column in self.values.T)
        pairs = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
        return across, up, pairs if self.frame is None else self.frame(dict(zip(self.names, pairs.T, strict=True)))


def values_of(X: Any) -> NDArray[Any]:
    """A table as an array; frames with columns that may miss values give objects, though none is missed."""
    values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    plain = values.dtype.kind == "O" and all(isinstance(each, Real) for each in values.ravel())
    return values.astype(np.float64) if plain else values


def span(values: NDArray[Any], count: int) -> NDArray[np.float64]:
    """So many places from a little below the least value to a little above the largest."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    margin = MARGIN_SHARE * (high - low if high - low > MIN_RELATIVE_RANGE * size else max(1.0, 1e-3 * size))
    return np.linspace(low - margin, high + margin, count)


def refuse_huge(values: NDArray[Any]) -> None:
    """Refuse numbers that axes cannot show."""
    largest = np.abs(values.astype(float)).max(initial=0.0)
    if largest > MAX_AXIS_VALUE:
        needs, got = f"numbers of at most {MAX_AXIS_VALUE:g}", f"got {largest:g}"
        raise InputError(message(needs, got, "Scale the columns down."))


def check_grid(grid: int) -> None:
    """Refuse a grid that has no inside."""
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or grid < 2:
        raise InputError(message("a grid of two places or more", f"got {grid}", "Use grid=200."))


def labels_of(y: Any, count: int) -> NDArray[Any]:
    """One label a row, which can be sorted."""
    labels = np.asarray(y)
    if labels.shape != (count,):
        got = f"y has shape {labels.shape} for {number_of(count, 'row')}"
        raise InputError(message("one label per row", got, "Give y for the rows of X."))
    missing = labels != labels if labels.dtype.kind in "fO" else np.zeros(count, dtype=bool)
    if np.any(missing) or any(label is None for label in labels.tolist()):
        raise InputError(message("a label for every row", "got NaN or None", "Leave out rows without one."))
    if labels.dtype.kind == "O" and not len({isinstance(label, str) for label in labels.tolist()}) == 1:
        raise InputError(message("labels of one kind", "got texts and others", "Write all as texts."))
    return labels
