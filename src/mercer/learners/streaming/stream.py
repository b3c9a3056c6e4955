"""Rows in pieces, as one-pass methods read them: slices of what is in memory, or batches of a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import check_domain, leaves
from mercer.kernels.points import Points

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows `start` to `stop` of a stream.

    points : the rows
    targets : (rows, outputs), numbers: labels are coded
    weights : (rows,), each positive
    copies : (rows,), how many copies of a row its weight stands for: leaving a row out takes one of them
    """

    start: int
    stop: int
    points: Points
    targets: Array
    weights: Array
    copies: Array

    def rows(self, part: slice) -> Piece:
        """Some of its rows, counted from its first."""
        start, stop, _ = part.indices(self.stop - self.start)
        points, targets = self.points.rows(part), self.targets[part]
        return Piece(self.start + start, self.start + stop, points, targets, self.weights[part], self.copies[part])


class Stream(ABC):
    """Rows of positive weights, in pieces, as often as they are needed, always in the same order."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """How many columns they have."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many targets a row has."""

    @property
    @abstractmethod
    def stored(self) -> bool:
        """Whether all rows are in memory already."""

    @abstractmethod
    def pieces(self, size: int, start: int = 0) -> Iterator[Piece]:
        """All rows from position `start` on, at most so many at once."""

    @abstractmethod
    def sample(self, positions: NDArray[np.intp]) -> Piece:
        """The rows at these positions, which rise: one pass over a source. They count from 0 in the piece."""

    @cached_property
    def total(self) -> float:
        """The sum of all weights."""
        return float(sum(piece.weights.sum() for piece in self.pieces(1 << 16)))


@dataclass(frozen=True, eq=False)
class StoredStream(Stream):
    """Rows that are in memory."""

    points: Points
    targets: Array
    weights: Array
    copies: Array

    @property
    def count(self) -> int:
        return len(self.targets)

    @property
    def columns(self) -> int:
        return int(self.points.values.shape[1])

    @property
    def outputs(self) -> int:
        return int(self.targets.shape[1])

    @property
    def stored(self) -> bool:
        return True

    def pieces(self, size: int, start: int = 0) -> Iterator[Piece]:
        for first in range(start, self.count, size):
            last = min(first + size, self.count)
            yield self._piece(slice(first, last), first, last)

    def sample(self, positions: NDArray[np.intp]) -> Piece:
        return self._piece(positions, 0, len(positions))

    def _piece(self, rows: slice | NDArray[np.intp], start: int, stop: int) -> Piece:
        return Piece(start, stop, self.points.rows(rows), self.targets[rows], self.weights[rows], self.copies[rows])

    @cached_property
    def total(self) -> float:
        return float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class DomainStream(Stream):
    """The rows of another stream, each looked at once more: whether the kernel is one there."""

    inner: Stream
    kernel: Kernel

    @property
    def count(self) -> int:
        return self.inner.count

    @property
    def columns(self) -> int:
        return self.inner.columns

    @property
    def outputs(self) -> int:
        return self.inner.outputs

    @property
    def stored(self) -> bool:
        return self.inner.stored

    def pieces(self, size: int, start: int = 0) -> Iterator[Piece]:
        for piece in self.inner.pieces(size, start):
            for leaf, points in leaves(self.kernel, piece.points):
                check_domain(leaf, points)
            yield piece

    def sample(self, positions: NDArray[np.intp]) -> Piece:
        return self.inner.sample(positions)

    @cached_property
    def total(self) -> float:
        return self.inner.total
