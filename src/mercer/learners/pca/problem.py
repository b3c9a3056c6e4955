"""Rows whose components are asked for: in memory, or left in their source where they are too many."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message, speaker
from mercer.kernels.points import Points
from mercer.learners.data.pair_cost import columns_of
from mercer.learners.data.range_checks import refuse_range
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.validation import is_precomputed
from mercer.learners.data.views import KernelView, LiftView, MatrixView, TableView, View
from mercer.learners.pca.settings import PCASettings
from mercer.learners.streaming.source_stream import (
    SourceStream,
    fits_memory,
    loaded,
    note_columns,
    regression_stream,
    sampled,
)
from mercer.learners.streaming.stream import DomainStream, StoredStream, Stream
from mercer.planner.pca import ComponentPlan, ComponentTask, components
from mercer.sources import Source, source_of
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
    """What components are asked of.

    asked : the settings
    rows : points, or the matrix where the kernel is precomputed; of a stream, a sample of its rows
    view : the same, as the kernel sees them
    source : the rows where they stay in their source; None where they are in memory
    began : when they were read, for time limits
    """

    settings: PCASettings
    rows: Any
    view: View
    source: SourceStream | None
    began: float = field(default_factory=time.perf_counter)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the rows and of their scores."""
        found: np.dtype[Any] = np.dtype(self.rows.dtype)
        return found

    @property
    def stream(self) -> Stream:
        """All rows, in pieces."""
        assert isinstance(self.view, TableView)  # noqa: S101  # no plan streams a matrix
        if self.source is None:
            return stored(self.view.points)
        return self.source if self.view.kernel is None else DomainStream(self.source, self.view.kernel)


def stored(points: Points) -> StoredStream:
    """Rows in memory as a stream, without targets to speak of."""
    n = points.values.shape[0]
    return StoredStream(points, np.zeros((n, 1)), np.ones(n), np.ones(n))


def read_problem(estimator: Any, settings: PCASettings, X: Any) -> PCAProblem:
    """The rows of a table or of a source, checked, with the kernel's numbers."""
    began = time.perf_counter()
    source = source_of(X, matrix=is_precomputed(estimator.kernel))
    if source is None:
        rows, stream, table = estimator._read(X, reset=True), None, X
    else:
        rows, stream = _from_source(estimator, source)
        table = rows.values
    seen = int(rows.values.shape[0]) if isinstance(rows, Points) else len(rows)
    count = seen if stream is None else stream.count
    if count < 2:
        got = f"n_samples = {count}"
        raise InputError(message("two rows or more, since they are centred", got, "Give more rows."))
    if settings.preimages and isinstance(rows, Points) and rows.first_thing is not None:
        got, remedy = f"{rows.label(rows.first_thing)} holds other things", "Use fit_inverse_transform=False."
        raise InputError(message("rows of numbers for a way back", got, remedy))
    given = estimator.kernel, estimator.lengthscale
    view = resolve_view(*given, rows, table, np.arange(seen), memory_limit=estimator.memory_limit)
    settings.check(view, stream is None)
    refuse_range(view, float(seen))
    return PCAProblem(settings, rows, view, stream, began)


def _from_source(estimator: Any, source: Source) -> tuple[Points, SourceStream | None]:
    """All rows where they fit well into memory; else some that stand for them, and the source."""
    if is_precomputed(estimator.kernel):
        needs, got = "a kernel or a lift for rows from a source", "similarities come as one matrix"
        raise InputError(message(needs, got, "Load the matrix with np.load."))
    stream = regression_stream(Untargeted(source))
    note_columns(estimator, stream.head)
    estimator._precomputed, estimator._reader = False, None
    if fits_memory(stream, estimator.memory_limit):
        return loaded(stream).points, None
    return sampled(stream).points, stream


def planned(estimator: Any, problem: PCAProblem) -> ComponentPlan:
    """What the fit will take, and how it is done."""
    settings, view = problem.settings, problem.view
    task = ComponentTask(
        rows=view.count if problem.source is None else problem.source.count,
        columns=int(estimator.n_features_in_),
        worth=columns_of(view, int(estimator.n_features_in_)),
        components=settings.components,
        features=view.most_features,
        lift_given=isinstance(view, LiftView),
        approximable=isinstance(view, KernelView) and view.sure,
        given=isinstance(view, MatrixView),
        stored=problem.source is None,
    )
    budget = Budget.of(estimator.memory_limit)
    return components(speaker(), task, settings.method, settings.n_landmarks, budget, estimator.time_limit)
