"""Which columns matter: how much worse the rows held out are predicted when one column is shuffled."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.target import CLASSIFICATION
from mercer.tables.libsvm import SparseRows
from mercer.tables.read import Sheet

if TYPE_CHECKING:
    from mercer.cli.result import Fitted
    from mercer.models.table_model import TableModel

ROWS, LEAST = 1_000, 200
"""Rows that are predicted again and again, at most; and fewer, where that takes too long."""
REPEATS = 5
SECONDS = 8.0
"""What all of it may take, about."""
COLUMNS = 100
"""Columns that are shuffled, at most."""


@dataclass(frozen=True)
class Importance:
    """How much columns matter.

    names : of the columns that were shuffled; total : how many there are
    losses : (columns, repeats), how much worse the score is
    metric : "rmse" (which rises) or "accuracy" (which falls); whole : with nothing shuffled
    rows : how many rows held out were predicted
    """

    names: list[str]
    total: int
    losses: NDArray[np.float64]
    metric: str
    whole: float
    rows: int

    @property
    def order(self) -> list[int]:
        """Positions, the most important first."""
        return [int(i) for i in np.argsort(-self.losses.mean(axis=1), kind="stable")]


def importance(done: Fitted, seed: int) -> Importance | None:
    """Shuffle columns of the rows held out, a few times each, within some seconds; None where there is nothing to."""
    if not done.held:
        return None
    shuffled = _begin(done, seed)
    names = shuffled.columns(seed)
    if not names:
        return None
    repeats = int(np.clip(SECONDS / (len(names) * shuffled.seconds), 1, REPEATS))
    losses: list[list[float]] = []
    start = time.perf_counter()
    for name in names:
        if losses and time.perf_counter() - start > 2 * SECONDS:
            break
        losses.append([shuffled.loss(name, seed + k) for k in range(repeats)])
    metric = "accuracy" if done.target.task == CLASSIFICATION else "rmse"
    shown = [str(name) for name in names[: len(losses)]]
    return Importance(shown, shuffled.width, np.array(losses), metric, shuffled.whole, len(shuffled.truth))


def _begin(done: Fitted, seed: int) -> Shuffled:
    """As many rows as can be predicted again and again: a thousand, or fewer if that is slow."""
    order = np.random.default_rng(seed).permutation(done.held)
    found = Shuffled.of(done, np.sort(order[:ROWS]))
    if len(found.columns(seed)) * found.seconds > SECONDS and done.held > LEAST:
        return Shuffled.of(done, np.sort(order[:LEAST]))
    return found


@dataclass(frozen=True, eq=False)
class Shuffled:
    """Rows held out whose columns can be shuffled.

    whole : the score of the model on them; seconds : that predicting them takes
    """

    model: TableModel
    sheet: Sheet
    truth: NDArray[Any]
    whole: float = field(default=0.0)
    seconds: float = field(default=0.0)

    @classmethod
    def of(cls, done: Fitted, rows: NDArray[np.intp]) -> Shuffled:
        """Some rows of those held out."""
        found = cls(done.judged.model, done.parts.test.take(rows), done.parts.truth[rows])
        start = time.perf_counter()
        whole = found._score(found.sheet)
        return replace(found, whole=whole, seconds=max(time.perf_counter() - start, 1e-6))

    @property
    def width(self) -> int:
        """How many columns can be shuffled."""
        return len(self.model.columns) if self.sheet.sparse is None else int(self.sheet.sparse.rows.shape[1])

    def columns(self, seed: int) -> list[Any]:
        """Which are shuffled: all; of very many those with most entries, or a drawing."""
        if self.sheet.sparse is not None:
            entries = np.diff(self.sheet.sparse.rows.tocsc().indptr)
            order = np.argsort(-entries, kind="stable")[:COLUMNS]
            return [int(j) + 1 for j in order if entries[j]]
        names = list(self.model.columns)
        if len(names) <= COLUMNS:
            return names
        return [names[i] for i in np.sort(np.random.default_rng(seed).choice(len(names), COLUMNS, replace=False))]

    def loss(self, column: Any, seed: int) -> float:
        """How much worse the score is without what a column tells."""
        order = np.random.default_rng(seed).permutation(len(self.truth))
        changed = self._score(self._without(column, order))
        return self.whole - changed if self.model.task == CLASSIFICATION else changed - self.whole

    def _without(self, column: Any, order: NDArray[np.intp]) -> Sheet:
        if self.sheet.sparse is not None:
            return replace(self.sheet, sparse=_shuffled_sparse(self.sheet.sparse, int(column) - 1, order))
        table = self.sheet.table
        at = table.column_names.index(column)
        return replace(self.sheet, table=table.set_column(at, column, table.column(column).take(order)))

    def _score(self, sheet: Sheet) -> float:
        predicted = self.model.predict(sheet)
        if self.model.task == CLASSIFICATION:
            return float(np.mean(predicted == self.truth))
        return float(np.sqrt(np.mean((np.asarray(predicted, dtype=np.float64) - self.truth) ** 2)))


def _shuffled_sparse(sparse: SparseRows, place: int, order: NDArray[np.intp]) -> SparseRows:
    from scipy.sparse import hstack

    whole = sparse.rows.tocsc()
    parts: Iterator[Any] = iter([whole[:, :place], whole[:, [place]][order], whole[:, place + 1 :]])
    return SparseRows(hstack([part for part in parts if part.shape[1]], format="csr"), sparse.labels)
