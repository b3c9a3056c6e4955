"""A problem: rows in memory, or rows that stay in their source because they are too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.ridge.problem import Prepared, Problem, Settings, prepare
from mercer.learners.streaming.source_stream import SourceStream, fits_memory, loaded, sampled
from mercer.learners.streaming.stream import Piece

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posed:
    """What is to be fitted.

    prepared : checked, with the kernel's numbers; for a stream it holds a sample of the rows
    stream : the rows where they are not in memory; None where they are
    """

    prepared: Prepared
    stream: SourceStream | None = None

    @property
    def count(self) -> int:
        """How many rows are fitted."""
        return len(self.prepared.kept) if self.stream is None else self.stream.count

    @property
    def data(self) -> tuple[Any, ...]:
        """What a checkpoint belongs to."""
        if self.stream is not None:
            return (self.stream.source,)
        problem = self.prepared.problem
        return self.prepared.rows, problem.targets, problem.weights, problem.counts

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self.prepared.centering.total if self.stream is None else self.stream.total


def from_rows(settings: Settings, rows: Any, problem: Problem) -> Posed:
    """Rows that are in memory."""
    return Posed(prepare(settings, rows, problem))


def from_stream(settings: Settings, stream: SourceStream) -> Posed:
    """Rows of a source: read into memory where they fit well, else left where they are."""
    if fits_memory(stream, settings.memory_limit):
        whole = loaded(stream)
        piece = Piece(0, whole.count, whole.points, whole.targets, whole.weights, whole.copies)
        return Posed(prepare(settings, piece.points, _problem(stream, piece)))
    piece = sampled(stream)
    return Posed(prepare(settings, piece.points, _problem(stream, piece)), stream)


def _problem(stream: SourceStream, piece: Piece) -> Problem:
    weights = None if (piece.weights == 1.0).all() else piece.weights
    counts = None if weights is None or np.array_equal(piece.weights, piece.copies) else piece.copies
    labels = None if stream.labels is None else _classes(piece.targets)
    flat = stream.labels is None and stream.head.shape == ()
    return Problem(piece.points.values, piece.targets, weights, flat, labels, counts)


def _classes(coded: Array) -> NDArray[np.intp]:
    """The classes of coded targets, as integers."""
    return (coded[:, 0] > 0).astype(np.intp) if coded.shape[1] == 1 else np.argmax(coded, axis=1)
