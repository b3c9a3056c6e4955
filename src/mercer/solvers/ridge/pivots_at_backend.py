"""Randomly pivoted Cholesky of a square at a backend: choices are made here, columns are computed and kept there."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Features, Square
from mercer.compute.runtime.run import Run
from mercer.lifts.pivoting import Factor, RandomPivots, tolerance

Array = NDArray[np.float64]


class PivotsAtBackend(RandomPivots):
    """The same draws and the same pivots as `RandomPivots`, up to rounding; what has n rows and columns stays there.

    diagonal : (n,), that of the square
    square : the matrix
    count : the most pivots
    """

    def __init__(self, diagonal: NDArray[Any], square: Square, count: int) -> None:
        self.values = square.block
        self.left = np.maximum(np.asarray(diagonal, dtype=np.float64), 0.0)
        self.floor = tolerance(count) * self.left
        self.columns = square.features(count)
        self.features: Any = _Rows(self.columns)
        self.upper = np.zeros((count, count), order="F")
        self.pivots = []

    def _factor(self) -> Factor:
        k, features = len(self.pivots), cast("Array", self.columns)
        return Factor(np.array(self.pivots, dtype=np.intp), self.upper[:k, :k].copy(order="F"), features)

    def _take(self, chosen: NDArray[np.intp], lower: Array, run: Run) -> None:
        i, t = len(self.pivots), len(chosen)
        before = self.columns.rows(chosen)
        self.left -= self.columns.extend(chosen, before, lower)
        run.tell(i + t)
        self.left[self.left <= self.floor] = 0.0
        self.left[chosen] = 0.0
        self.upper[:i, i : i + t] = before.T
        self.upper[i : i + t, i : i + t] = lower.T
        self.pivots.extend(chosen.tolist())


class _Rows:
    """The rows of features at a backend, as `RandomPivots` reads them: `features[rows, :k]` with all k columns."""

    def __init__(self, columns: Features) -> None:
        self.columns = columns

    @property
    def size(self) -> int:
        return self.columns.size

    def __getitem__(self, at: tuple[NDArray[np.intp], slice]) -> Array:
        return self.columns.rows(at[0])
