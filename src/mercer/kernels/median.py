"""The median heuristic: a lengthscale from the distances of the data itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import NumericalWarning
from mercer.kernels.points import Points

MOST_ROWS = 2_000
"""Above this many rows a subsample with a fixed seed stands for the data."""


def median_distance(who: str, points: Points, distances: Callable[[NDArray[Any]], NDArray[Any]]) -> float:
    """The median of the pairwise distances that `distances` gives for rows.

    Equal rows say nothing about length: where they are so many that the median is zero, the median of the
    positive distances is taken. Where all rows are equal every length gives the same matrix: 1.0, with a warning.
    """
    found = distances(_sample(points.values))
    middle = float(np.median(found)) if found.size else 0.0
    if middle == 0.0 and (found > 0).any():
        middle = float(np.median(found[found > 0]))
    if middle > 0.0:
        return middle
    warnings.warn(
        f"{who} finds no two different rows, so there is no median distance: the lengthscale is set to 1.0. "
        "Check the columns, or give a number.",
        NumericalWarning,
        stacklevel=4,
    )
    return 1.0


def _sample(values: NDArray[Any]) -> NDArray[Any]:
    count = values.shape[0]
    if count <= MOST_ROWS:
        return values
    chosen = np.random.default_rng(0).choice(count, MOST_ROWS, replace=False)
    return values[np.sort(chosen)]
