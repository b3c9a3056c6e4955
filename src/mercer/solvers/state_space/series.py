"""Rows in the order of time, those of one time merged, and the pieces in which they are swept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes
from mercer.kernels.processes import Process
from mercer.solvers.state_space.steps import Steps

Array = NDArray[np.float64]
PIECE = 2048
"""Rows of a piece with one alpha: what is held of it stays in the cache, and between pieces a fit can be stopped."""
MERGED = 1e-30
"""Times that are nearer than this, in units of 1 / rate, are one time: no kernel value can tell."""


@dataclass(frozen=True, eq=False)
class Series:
    """Least squares on ordered times.

    times : (n,), each above the one before
    weights : (n,), each above 0
    columns : (n, outputs + features): what is fitted, then functions of time whose coefficients are found beside
    outputs : how many of the columns are fitted
    penalties : (features,): 0 for a coefficient that is free, else 1
    sizes, rates, variances : of the processes whose sum is the kernel
    piece : rows that are swept at once
    """

    times: Array
    weights: Array
    columns: Array
    outputs: int
    penalties: Array
    sizes: NDArray[np.int64]
    rates: Array
    variances: Array
    piece: int = PIECE

    def _inconsistency(self) -> str:
        n, parts = self.times.shape[:1] or (0,), self.sizes.shape
        if self.piece < 1 or self.sizes.size == 0 or self.sizes.min() < 1 or not (np.diff(self.times) > 0).all():
            return "times that do not ascend, or no process"
        wide = self.outputs + len(self.penalties)
        return shapes(
            (self.times, n), (self.weights, n), (self.columns, (*n, wide)), (self.rates, parts), (self.variances, parts)
        )

    @cached_property
    def steps(self) -> Steps:
        """How a state moves."""
        return Steps(tuple(map(Process, self.sizes.tolist(), self.rates.tolist(), self.variances.tolist())))

    @property
    def count(self) -> int:
        """How many times there are."""
        return len(self.times)

    @property
    def features(self) -> int:
        """How many functions of time there are."""
        return len(self.penalties)

    @property
    def pieces(self) -> range:
        """The numbers of the pieces."""
        return range(-(-self.count // self.piece))

    def rows(self, piece: int) -> slice:
        """The rows of a piece."""
        return slice(piece * self.piece, min((piece + 1) * self.piece, self.count))

    def before(self, piece: int) -> float:
        """The time of the row before a piece; of the first piece its own first time: nothing has happened yet."""
        return float(self.times[max(piece * self.piece - 1, 0)])

    def after(self, piece: int) -> float:
        """The time of the row after a piece; of the last piece its own last time."""
        return float(self.times[min((piece + 1) * self.piece, self.count - 1)])

    def gaps(self, piece: int) -> Array:
        """(rows + 1,): the gap before each row of a piece, and that before the row after it."""
        times = self.times[self.rows(piece)]
        return np.diff(np.concatenate([[self.before(piece)], times, [self.after(piece)]]))


@dataclass(frozen=True, eq=False)
class Order:
    """How rows were brought into the order of time.

    order : (rows,), positions of rows in that order; None where they stood in it
    starts : (times + 1,), where those of each time begin among ordered rows; None where no two have the same time
    """

    order: NDArray[np.intp] | None
    starts: NDArray[np.intp] | None

    @classmethod
    def of(cls, times: Array, nearest: float) -> Order:
        """The order of times; those that are nearer than a bound are one."""
        gaps = np.diff(times)
        order = None
        if (gaps < 0).any():
            order = np.argsort(times, kind="stable")
            gaps = np.diff(times[order])
        if not (gaps <= nearest).any():
            return cls(order, None)
        return cls(order, np.concatenate([[0], np.flatnonzero(gaps > nearest) + 1, [len(times)]]))

    def sorted(self, rows: Array) -> Array:
        """Rows in the order of time."""
        return rows if self.order is None else rows[self.order]

    def firsts(self, rows: Array) -> Array:
        """Of ordered rows the first of each time."""
        return rows if self.starts is None else rows[self.starts[:-1]]

    def sums(self, rows: Array) -> Array:
        """Of ordered rows the sum of each time."""
        return rows if self.starts is None else np.add.reduceat(rows, self.starts[:-1], axis=0)

    def spread(self, values: Array) -> Array:
        """From values of times to those of ordered rows."""
        return values if self.starts is None else np.repeat(values, np.diff(self.starts), axis=0)

    def back(self, rows: Array) -> Array:
        """From ordered rows to rows as they were given."""
        if self.order is None:
            return rows
        found = np.empty_like(rows)
        found[self.order] = rows
        return found
