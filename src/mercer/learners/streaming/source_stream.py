"""Rows of a source as learners take them: checked, coded, weighted, in pieces, never all in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from mercer.compute.codegen.sparse import canonical
from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message, speaker
from mercer.kernels.points import Points, refuse_sparse
from mercer.learners.data.validation import as_fitted
from mercer.learners.streaming.first_pass import BLOCK_ROWS, Kept, Labels, kept_of, labels_of
from mercer.learners.streaming.stream import Piece, StoredStream, Stream
from mercer.learners.streaming.validate_batch import Head, answers, head_of, values_of
from mercer.sources.base import Batch, Source
from mercer.sources.rebatch import rebatched
from mercer.sources.tables import rows_at_once

Array = NDArray[np.float64]
MEMORY_SHARE = 0.25
"""The part of the memory that the rows of a source may take: where they fit into it, they are read once and kept."""
SAMPLE_ROWS = 20_000
"""Rows that stand for a source that stays where it is: the kernel's numbers and alpha are looked for among them."""


@dataclass(frozen=True, eq=False)
class SourceStream(Stream):
    """The rows of a source that have positive weights; made by `regression_stream` and `classification_stream`.

    labels : the classes; None where targets are numbers
    kept : None where every row is kept, since none has a weight

    Memory: a batch, and one number for each `BLOCK_ROWS` rows.
    """

    source: Source
    head: Head
    labels: Labels | None = None
    kept: Kept | None = None

    @cached_property
    def count(self) -> int:
        return self.source.count if self.kept is None else int(self.kept.before[-1])

    @property
    def columns(self) -> int:
        return self.head.columns

    @property
    def outputs(self) -> int:
        if self.labels is None:
            return int(np.prod(self.head.shape or ()))
        return 1 if len(self.labels.classes) == 2 else len(self.labels.classes)

    @property
    def stored(self) -> bool:
        return False

    @cached_property
    def total(self) -> float:
        return float(self.count) if self.kept is None else self.kept.total

    def pieces(self, size: int, start: int = 0) -> Iterator[Piece]:
        for batch in self._batches(size, start):
            yield self._piece(batch, start)
            start += batch.count

    def sample(self, positions: NDArray[np.intp]) -> Piece:
        """The rows at these positions, which rise: one pass, in which long gaps are skipped where the source can."""
        gap = self.source.grain if self.kept is None else max(self.source.grain, 2 * BLOCK_ROWS)  # kept rows: by blocks
        ends = np.flatnonzero(np.diff(positions) > gap) + 1
        bounds = [0, *ends.tolist(), len(positions)]
        parts = [part for first, last in pairwise(bounds) for part in self._run(positions[first:last])]
        return _joined(parts or [_part(next(self.pieces(1)), np.arange(0))])

    def _run(self, positions: NDArray[np.intp]) -> Iterator[Piece]:
        """Rows at positions near each other."""
        if not len(positions):
            return
        first, last = int(positions[0]), int(positions[-1])
        for piece in self.pieces(min(rows_at_once(self.columns), last + 1 - first), first):
            inside = slice(*np.searchsorted(positions, [piece.start, piece.stop]))
            yield _part(piece, positions[inside] - piece.start)
            if piece.stop > last:
                return

    def _batches(self, size: int, start: int) -> Iterator[Batch]:
        """Checked rows of positive weight, in batches of exactly `size`."""
        if self.kept is None:
            return self._checked(size, start)
        first, skip = self.kept.place(start)
        every = self._checked(min(BLOCK_ROWS, rows_at_once(self.columns)), first)
        return rebatched((batch.part(self._weights(batch) > 0) for batch in every), size, skip)

    def _checked(self, size: int, start: int) -> Iterator[Batch]:
        """Numbers or labels, and a weight, for each row from `start` on."""
        for batch in self.source.batches(size, start):
            values = values_of(self.head, batch.rows, start)
            yield Batch(values, *answers(self.head, batch, start, self.labels is not None))
            start += batch.count

    def _weights(self, batch: Batch) -> Array:
        copies: Any = batch.weights
        targets: Any = batch.targets
        return np.asarray(copies if self.labels is None else copies * self.labels.weights(targets))

    def _piece(self, batch: Batch, start: int) -> Piece:
        points = Points(batch.rows, self.head.names, self.head.dtype)
        targets: Any = batch.targets
        copies: Any = batch.weights
        coded = targets if self.labels is None else self.labels.coded(targets)
        return Piece(start, start + batch.count, points, coded, self._weights(batch), copies)


# -- streams, and rows without targets --------------------------------------------------------------------------------


def regression_stream(source: Source) -> SourceStream:
    """The rows of a source with numbers as targets; where there are weights, they are looked through now."""
    head = head_of(source)
    kept = kept_of(source, head, None) if head.weighted else None
    return SourceStream(source, head, None, kept)


def classification_stream(source: Source, class_weight: Any = None) -> tuple[SourceStream, Labels]:
    """The rows of a source with coded labels, which are looked through now, and again where there are weights."""
    head = head_of(source)
    labels = labels_of(source, head, class_weight)
    weighted = head.weighted or class_weight is not None
    kept = kept_of(source, head, labels) if weighted else None
    return SourceStream(source, head, labels, kept), labels


def fits_memory(stream: SourceStream, memory_limit: Any) -> bool:
    """Whether all rows may be kept: twice their numbers, since a fit holds others of that size."""
    numbers = 2.0 * stream.count * (stream.columns + stream.outputs + 2)
    return 8 * numbers <= MEMORY_SHARE * Budget.of(memory_limit).bytes


def sampled(stream: SourceStream) -> Piece:
    """Rows at even distances that stand for all."""
    positions = np.unique(np.linspace(0, stream.count - 1, min(SAMPLE_ROWS, stream.count)).astype(np.intp))
    return stream.sample(positions)


def loaded(stream: SourceStream) -> StoredStream:
    """All rows in memory. Cost: one pass; the rows in float64, and one piece more."""
    size = rows_at_once(stream.columns)
    first = next(stream.pieces(1))
    if first.points.sparse:
        return _stored(_joined(list(stream.pieces(size))))
    n = stream.count
    values, targets, weights, copies = (
        np.empty((n, *shape)) for shape in ((stream.columns,), (stream.outputs,), (), ())
    )
    for piece in stream.pieces(size):
        rows = slice(piece.start, piece.stop)
        values[rows], targets[rows] = piece.points.values, piece.targets
        weights[rows], copies[rows] = piece.weights, piece.copies
    return StoredStream(replace(first.points, values=values), targets, weights, copies)


class ReadsColumns(Protocol):
    """A learner that knows how many columns were fitted."""

    n_features_in_: int
    _precomputed: bool


def new_points(estimator: ReadsColumns, source: Source, size: int) -> Iterator[Points]:
    """Rows for a fitted model, at most so many at once: as many columns as it knows, with the same names."""
    head, start = Head.of(source), 0
    if head.columns != estimator.n_features_in_:
        known = estimator.n_features_in_
        raise InputError(f"X has {head.columns} features, but {speaker()} is expecting {known} features as input.")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and head.names is not None and tuple(names) != head.names:
        at = next(i for i in range(head.columns) if names[i] != head.names[i])
        got = f"column {at} is {head.names[at]!r}, and it was {names[at]!r}"
        raise InputError(message("the columns that were fitted, in their order", got, "Choose these columns."))
    for batch in source.batches(size):
        yield Points(values_of(head, batch.rows, start), head.names, head.dtype)
        start += batch.count


def new_rows(estimator: ReadsColumns, source: Source, size: int) -> Iterator[Any]:
    """The same as the model reads a table: points, or similarities with its rows where the kernel is precomputed."""
    for points in new_points(estimator, source, size):
        if estimator._precomputed:
            refuse_sparse(points, subject=type(estimator).__name__)
            yield points.values.astype(points.dtype, copy=False)
        else:
            yield as_fitted(estimator, points)


def note_columns(estimator: ReadsColumns, head: Head) -> None:
    """Tell an estimator how many columns were fitted, and their names, where scikit-learn looks for that."""
    estimator.n_features_in_ = head.columns
    if head.names is not None:
        estimator.__dict__["feature_names_in_"] = np.array(head.names, dtype=object)
    else:
        estimator.__dict__.pop("feature_names_in_", None)


# -- pieces -----------------------------------------------------------------------------------------------------------


def _part(piece: Piece, rows: NDArray[np.intp]) -> Piece:
    found = piece.targets[rows], piece.weights[rows], piece.copies[rows]
    return Piece(0, len(rows), piece.points.rows(rows), *found)


def _joined(parts: list[Piece]) -> Piece:
    """Several pieces as one, which counts from 0."""
    tables: list[Any] = [part.points.values for part in parts]
    values = canonical(vstack(tables, format="csr")) if parts[0].points.sparse else np.concatenate(tables)
    targets, weights, copies = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("targets", "weights", "copies")
    )
    return Piece(0, len(targets), replace(parts[0].points, values=values), targets, weights, copies)


def _stored(piece: Piece) -> StoredStream:
    return StoredStream(piece.points, piece.targets, piece.weights, piece.copies)
