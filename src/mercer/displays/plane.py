"""A table of two columns, and a grid over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, sentence

MARGIN = 0.08
"""How far a grid goes beyond the rows, as a part of their range."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Rows with two columns.

    values : (n, 2)
    names : of the columns
    frame : the kind of table that the rows came in, where that has names which a model may ask for; else None
    """

    values: NDArray[Any]
    names: Sequence[str]
    frame: Any = None

    @classmethod
    def of(cls, who: str, X: Any) -> Plane:
        """Read a table, or say why it cannot be drawn."""
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        if values.ndim != 2 or values.shape[1] != 2 or len(values) == 0:
            remedy = "Draw scores of the rows, with ComponentsDisplay.from_estimator(pca, X, y=model.labels_), say."
            raise InputError(sentence(who, "rows of two columns", f"an array of shape {values.shape} came", remedy))
        if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            remedy = "Remove or replace the rows that have them."
            raise InputError(sentence(who, "finite numbers", "others came", remedy))
        names = list(getattr(X, "columns", ()))
        if len(names) == 2 and all(isinstance(name, str) for name in names):
            return cls(values, names, type(X))
        return cls(values, ("x1", "x2"))

    def grid(self, count: int) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """Places along both axes, count of them each, and all their pairs as a table like that of the rows."""
        low, high = self.values.min(axis=0).astype(float), self.values.max(axis=0).astype(float)
        width = np.where(high > low, high - low, 1.0)
        across, up = np.linspace(low - MARGIN * width, high + MARGIN * width, count).T
        pairs = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
        return across, up, pairs if self.frame is None else self.frame(dict(zip(self.names, pairs.T, strict=True)))
