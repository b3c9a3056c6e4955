"""Positions of rows: how many there are, some of them, and values put back at their places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def n_rows(rows: Any) -> int:
    """How many rows there are, of points or of a matrix."""
    return int(rows.values.shape[0] if hasattr(rows, "values") else rows.shape[0])


def draw_rows(count: int, most: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Positions of rows, rising: all, or so many drawn without repetition."""
    return np.arange(count) if count <= most else np.sort(random.choice(count, most, replace=False))


def scatter_rows(values: Array, kept: NDArray[np.intp], count: int) -> Array:
    """Rows of values at the kept positions, zeros at the others."""
    if len(kept) == count:
        return values
    full = np.zeros((count, values.shape[1]))
    full[kept] = values
    return full


def at_rows(values: NDArray[Any] | None, rows: NDArray[np.intp]) -> Any:
    """Values of some rows, where there are values; not a copy where these are all rows."""
    return values if values is None or len(values) == len(rows) else values[rows]


def rows_that_count(weights: Array | None, count: int) -> tuple[NDArray[np.intp], Array]:
    """Positions of rows of positive weight among so many, and these weights: ones where there are none."""
    kept = np.arange(count) if weights is None else np.flatnonzero(weights)
    return kept, np.ones(count) if weights is None else weights[kept]
