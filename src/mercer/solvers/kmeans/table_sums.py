"""The sums of clusters of features that live at a backend: labels and distances of all rows stay there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tables import Labels, Seeds, Table
from mercer.compute.runtime.run import IDLE, Run
from mercer.solvers.kmeans.cluster_sums import TIE_TOLERANCE, Array, FeatureSums, Rows, Sums


class TableSums(Sums):
    """Of features z(x) in a table at a backend. Cost: as of `FeatureSums`; they are summed up anew in every step.

    Z : (n, p)
    sizes : (n,), at least |z|^2, where features are only a part of what tells rows apart
    """

    def __init__(self, Z: Table, weights: Array, count: int, sizes: Array | None = None) -> None:
        own = Z.row_squares() if sizes is None else sizes
        super().__init__(weights, own, count, float(np.finfo(Z.dtype).eps))
        self.Z, self.groups = Z, Z.groups(weights, own, count)
        self.vectors = np.zeros((Z.shape[1], count))

    def opened(self, labels: Any) -> Labels:
        return self.groups.sent(labels) if isinstance(labels, np.ndarray) else labels

    def closed(self, labels: Labels, members: Labels, squares: Any) -> tuple[Rows, Rows, Array]:
        return self.groups.brought(labels), self.groups.brought(members), self.groups.brought(squares)

    def settle(self, labels: Labels) -> None:
        self.vectors, self.totals = self.groups.sums(self.opened(labels))

    def move(self, before: Labels, after: Labels) -> None:
        self.settle(after)

    def lengths(self, members: Labels) -> Array:
        return np.asarray((self.vectors**2).sum(axis=0))

    def assigned(self, members: Labels, run: Run = IDLE, step: float = 0.0) -> tuple[Labels, Any, float]:
        vectors, lengths = self.vectors * self.shares, self.means(members)
        labels, squares = self.groups.nearest(vectors, lengths, TIE_TOLERANCE, lambda: run.tell(step))
        return labels, squares, self.groups.total(squares)

    def equal(self, labels: Labels, others: Labels) -> bool:
        return self.groups.equal(labels, others)

    def refilled(self, labels: Labels, squares: Any) -> Labels:
        if self.groups.counts(labels).all():
            return labels
        return self.groups.sent(super().refilled(self.groups.brought(labels), self.groups.brought(squares)))

    def seeds(self, draws: Array) -> Seeds:
        return self.groups.seeds(draws)


def feature_sums(Z: NDArray[Any] | Table, weights: Array, count: int, sizes: Array | None = None) -> Any:
    """The sums of features, wherever they are."""
    return (FeatureSums if isinstance(Z, np.ndarray) else TableSums)(Z, weights, count, sizes)  # type: ignore[arg-type]
