"""A table of one column, and places along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.displays.plane import refuse_huge, span, values_of
from mercer.errors import InputError, message, number_of


@dataclass(frozen=True, eq=False)
class Line:
    """Rows with one column.

    values : (n,)
    name : of the column
    frame : the kind of table of the rows, where that has names which a model may ask for; else None
    """

    values: NDArray[Any]
    name: str
    frame: Any = None

    @classmethod
    def of(cls, X: Any) -> Line:
        """Read a table, or say why it cannot be drawn."""
        values = values_of(X)
        if values.ndim != 2 or values.shape[1] != 1 or len(values) == 0:
            remedy = "Fit one column to draw a curve over it; write a list of numbers as X[:, None]."
            raise InputError(message("rows of one column", f"got an array of shape {values.shape}", remedy))
        if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            raise InputError(message("finite numbers", "got others", "Remove or replace the rows that have them."))
        refuse_huge(values)
        names = list(getattr(X, "columns", ()))
        if names and isinstance(names[0], str):
            return cls(values[:, 0], names[0], type(X))
        return cls(values[:, 0], "x1")

    def grid(self, count: int) -> tuple[NDArray[np.float64], Any]:
        """So many places along the column, and the same as a table like that of the rows."""
        places = span(self.values, count)
        return places, places[:, None] if self.frame is None else self.frame({self.name: places})


def rows_and_targets(X: Any, y: Any) -> tuple[Line | None, NDArray[Any] | None]:
    """Rows of one column with their targets, as far as they are given."""
    line = None if X is None else Line.of(X)
    if line is None or y is None:
        return line, None
    targets = np.asarray(y)
    if targets.shape != line.values.shape:
        got = f"y has shape {targets.shape} for {number_of(len(line.values), 'row')}"
        raise InputError(message("one number per row in y", got, "Give y for the rows of X."))
    if targets.dtype.kind not in "fiub" or not np.isfinite(targets).all():
        raise InputError(message("finite numbers in y", "got others", "Leave these rows out."))
    refuse_huge(targets)
    return line, targets
