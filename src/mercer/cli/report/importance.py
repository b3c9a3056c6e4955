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

MAX_ROWS = 1_000
"""Rows that are predicted again and again, at most."""
REDUCED_ROWS = 200
"""The same where so many take too long."""
REPEATS = 5
MAX_SECONDS = 8.0
"""What all of it may take, about."""
MAX_COLUMNS = 100
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
    from sklearn.inspection import permutation_importance

    if not done.held:
        return None
    rows = _begin(done, seed)
    names = rows.columns(seed)[: max(1, int(2 * MAX_SECONDS / rows.seconds))]
    if not names:
        return None
    repeats = int(np.clip(MAX_SECONDS / (len(names) * rows.seconds), 1, REPEATS))
    order = np.tile(np.arange(len(rows.truth))[:, None], len(names))

    def score(learner: object, order: NDArray[np.intp], truth: NDArray[Any]) -> float:
        """Minus the error, or the accuracy, where each column has its entries from other rows."""
        value = rows.score(rows.shuffled(names, order))
        return value if rows.classes else -value

    found = permutation_importance(
        rows.model.learner, order, rows.truth, scoring=score, n_repeats=repeats, random_state=seed
    )
    metric = "accuracy" if rows.classes else "rmse"
    shown = [str(name) for name in names]
    return Importance(shown, rows.width, found.importances, metric, rows.whole, len(rows.truth))


def _begin(done: Fitted, seed: int) -> Shuffled:
    """As many rows as can be predicted again and again: a thousand, or fewer if that is slow."""
    order = np.random.default_rng(seed).permutation(done.held)
    found = Shuffled.of(done, np.sort(order[:MAX_ROWS]))
    if len(found.columns(seed)) * found.seconds > MAX_SECONDS and done.held > REDUCED_ROWS:
        return Shuffled.of(done, np.sort(order[:REDUCED_ROWS]))
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
        whole = found.score(found.sheet)
        return replace(found, whole=whole, seconds=max(time.perf_counter() - start, 1e-6))

    @property
    def classes(self) -> bool:
        """Whether labels are predicted."""
        return self.model.task == CLASSIFICATION

    @property
    def width(self) -> int:
        """How many columns can be shuffled."""
        return len(self.model.columns) if self.sheet.sparse is None else int(self.sheet.sparse.rows.shape[1])

    def columns(self, seed: int) -> list[Any]:
        """Which are shuffled: all; of very many those with most entries, or a drawing."""
        if self.sheet.sparse is not None:
            entries = np.diff(self.sheet.sparse.rows.tocsc().indptr)
            order = np.argsort(-entries, kind="stable")[:MAX_COLUMNS]
            return [int(j) + 1 for j in order if entries[j]]
        names = list(self.model.columns)
        if len(names) <= MAX_COLUMNS:
            return names
        return [names[i] for i in np.sort(np.random.default_rng(seed).choice(len(names), MAX_COLUMNS, replace=False))]

    def shuffled(self, names: list[Any], order: NDArray[np.intp]) -> Sheet:
        """The table where column k of `names` has its entries from the rows order[:, k]."""
        own = np.arange(len(self.truth))
        sparse, table = self.sheet.sparse, self.sheet.table
        for k in np.flatnonzero((order != own[:, None]).any(axis=0)):
            if sparse is not None:
                sparse = _shuffled_sparse(sparse, int(names[k]) - 1, order[:, k])
            else:
                at = table.column_names.index(names[k])
                table = table.set_column(at, names[k], table.column(at).take(order[:, k]))
        return replace(self.sheet, sparse=sparse, table=table)

    def score(self, sheet: Sheet) -> float:
        """The accuracy, or the root mean squared error."""
        from sklearn.metrics import accuracy_score, root_mean_squared_error

        predicted = self.model.predict(sheet)
        if self.classes:
            return float(accuracy_score(self.truth, predicted))
        return float(root_mean_squared_error(self.truth, predicted))


def _shuffled_sparse(sparse: SparseRows, place: int, order: NDArray[np.intp]) -> SparseRows:
    from scipy.sparse import hstack

    whole = sparse.rows.tocsc()
    parts: Iterator[Any] = iter([whole[:, :place], whole[:, [place]][order], whole[:, place + 1 :]])
    return SparseRows(hstack([part for part in parts if part.shape[1]], format="csr"), sparse.labels)
