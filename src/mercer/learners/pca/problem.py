"""The problem of principal components: rows in memory, or left in their source where they are too many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import InputError, message
from mercer.kernels.points import Points
from mercer.learners.data.pair_cost import columns_of
from mercer.learners.data.views import KernelView, LiftView, MatrixView, TableView, View
from mercer.learners.pca.settings import PCASettings
from mercer.learners.streaming.source_stream import SourceStream
from mercer.learners.streaming.stream import DomainStream, StoredStream, Stream
from mercer.planner.pca import PCATask
from mercer.sources import Source
from mercer.sources.base import Batch


@dataclass(frozen=True, eq=False)
class Untargeted(Source):
    """The rows of a source, with zeros as their targets: those that it may have are passed over."""

    inner: Source

    @property
    def count(self) -> int:
        return self.inner.count

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.inner.names

    @property
    def grain(self) -> int:
        return self.inner.grain

    def batches(self, size: int, start: int = 0, what: str = "all") -> Iterator[Batch]:
        for batch in self.inner.batches(size, start, "all"):
            if batch.weights is not None:
                got, remedy = "the source has weights", "Leave them out, or repeat rows."
                raise InputError(message("rows that all count once", got, remedy))
            yield Batch(batch.rows, np.zeros(batch.count))

    def fingerprint(self) -> bytes:
        return self.inner.fingerprint()


@dataclass(frozen=True, eq=False)
class PCAProblem:
    """What components are to be found of.

    rows : points, or the matrix where the kernel is precomputed
    view : the same, as the kernel sees them
    columns : how many were fitted
    began : when they were read, for time limits
    """

    settings: PCASettings
    rows: Any
    view: View
    columns: int
    began: float

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.view.count

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in memory."""
        return True

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the rows and of their scores."""
        found: np.dtype[Any] = self.rows.dtype
        return found

    @property
    def task(self) -> PCATask:
        """What the planner has to know."""
        view = self.view
        return PCATask(
            rows=self.count,
            columns=self.columns,
            worth=columns_of(view, self.columns),
            components=self.settings.components,
            n_features=view.most_features,
            lift_given=isinstance(view, LiftView),
            approximable=isinstance(view, KernelView) and view.sure,
            given=isinstance(view, MatrixView),
            stored=self.in_memory,
            method=self.settings.method,
            n_landmarks=self.settings.n_landmarks,
        )


@dataclass(frozen=True, eq=False)
class TableProblem(PCAProblem):
    """Of rows that have features: not of a precomputed matrix."""

    view: TableView

    @property
    def stream(self) -> Stream:
        """All rows, in pieces."""
        return stored(self.view.points)


@dataclass(frozen=True, eq=False)
class StreamedProblem(TableProblem):
    """Of rows that stay in their source; `rows` and `view` are a sample of them."""

    source: SourceStream

    @property
    def count(self) -> int:
        return self.source.count

    @property
    def in_memory(self) -> bool:
        return False

    @property
    def stream(self) -> Stream:
        return self.source if self.view.kernel is None else DomainStream(self.source, self.view.kernel)


def stored(points: Points) -> StoredStream:
    """Rows in memory as a stream, with zeros as targets."""
    n = points.values.shape[0]
    return StoredStream(points, np.zeros((n, 1)), np.ones(n), np.ones(n))


def check_rows(settings: PCASettings, rows: Any, count: int) -> None:
    """Refuse fewer than two rows, and an inverse transform to rows that are not numbers."""
    if count < 2:
        got = f"n_samples = {count}"
        raise InputError(message("two rows or more, since they are centred", got, "Give more rows."))
    if settings.preimages and isinstance(rows, Points) and rows.first_object is not None:
        got, remedy = f"{rows.label(rows.first_object)} holds other objects", "Use fit_inverse_transform=False."
        raise InputError(message("rows of numbers for an inverse transform", got, remedy))
