"""The means of clusters, and how far new rows are from them: by rows, by features, or by landmarks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes, within
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.points import Points
from mercer.learners.data.views import MatrixView, TableView, View, blocks
from mercer.learners.streaming.basis import Basis
from mercer.solvers.kmeans.cluster_sums import Labels, nearest

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """The means.

    lengths : (count,), |mean|^2 from some origin; infinite for a cluster without rows
    """

    lengths: Array

    @abstractmethod
    def products(self, rows: Any) -> Array:
        """(rows, count): the inner products with the means, of rows as the learner reads them, from that origin."""

    @abstractmethod
    def seen(self, rows: Any) -> tuple[Array, Array]:
        """The same, and |phi(x)|^2 from that origin."""

    @property
    def compared(self) -> int:
        """With how many rows, or landmarks, each new row is compared, where a card can do that; else 0."""
        return 0

    def labels(self, rows: Any) -> Labels:
        """The nearest mean of each row."""
        return nearest(self.products(rows), self.lengths)[0]

    def squares(self, rows: Any) -> Array:
        """(rows, count): the squared distances from the means; infinite from that of a cluster without rows."""
        products, sizes = self.seen(rows)
        return np.maximum(sizes[:, None] + (self.lengths - 2.0 * products), 0.0)

    def nearest(self, rows: Any) -> tuple[Labels, Array]:
        """The nearest mean of each row, and the squared distance from it."""
        products, sizes = self.seen(rows)
        labels, gaps = nearest(products, self.lengths)
        return labels, np.maximum(sizes + gaps, 0.0)


@dataclass(frozen=True, eq=False)
class ByRows(Model):
    """Means of rows: each cluster holds some, with shares that add up to one.

    view : the rows
    members : (view,), the cluster of each
    shares : (view,), how much it counts there; 0 for one that does not count
    """

    view: View
    members: Labels
    shares: Array

    def _inconsistency(self) -> str:
        count = self.view.count
        if not within(self.members, 0, self.lengths.size):
            return "rows belong to clusters that do not exist"
        return shapes((self.lengths, (None,)), (self.members, (count,)), (self.shares, (count,)))

    def products(self, rows: Any) -> Array:
        places = np.zeros((len(self.members), len(self.lengths)))
        places[np.arange(len(self.members)), self.members] = self.shares
        return np.asarray(self.view.cross(rows) @ places)

    def seen(self, rows: Any) -> tuple[Array, Array]:
        if isinstance(self.view, MatrixView):
            needs, got = "k(x, x) of new rows for their distances", "the kernel is precomputed"
            raise InputError(message(needs, got, "Use predict, or give the kernel itself."))
        return self.products(rows), self.view.diagonal(rows)

    @property
    def compared(self) -> int:
        return self.view.count if self.view.on_card else 0

    def own(self, matrix: NDArray[Any]) -> Array:
        """(rows, count): the squared distances of the rows themselves, where all that is known is their matrix."""
        sizes = np.asarray(matrix.diagonal(), dtype=np.float64)
        return np.maximum(sizes[:, None] + (self.lengths - 2.0 * self.products(matrix)), 0.0)


@dataclass(frozen=True, eq=False)
class ByFeatures(Model):
    """Means of features, measured from the middle of the training rows: a far origin cancels.

    view : with its lift
    means : (features, count)
    origin : (features,)
    """

    view: TableView
    means: Array
    origin: Array

    def _inconsistency(self) -> str:
        k, p = self.lengths.size, self.origin.size
        return shapes((self.lengths, (k,)), (self.origin, (p,)), (self.means, (p, k)))

    def products(self, rows: Points) -> Array:
        return self.seen(rows)[0]

    def seen(self, rows: Points) -> tuple[Array, Array]:
        found: list[tuple[Array, Array]] = []
        for part in blocks(rows.values.shape[0], len(self.means)):
            Z = self.view.features_of(rows.rows(part)) - self.origin
            found.append((Z @ self.means, np.einsum("ij,ij->i", Z, Z)))
        return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])


@dataclass(frozen=True, eq=False)
class ByLandmarks(Model):
    """Means in the span of landmarks, which are functions of the kernel's own space: so distances are of that space.

    kernel : with its numbers
    basis : the landmarks, whitened
    weights : (features, count + 1), of the raw functions of the basis: those of the means, and of the origin
    shift : (count + 1,), the inner products of the origin with these
    """

    kernel: Kernel
    basis: Basis
    weights: Array
    shift: Array

    def _inconsistency(self) -> str:
        k = self.lengths.size
        return shapes((self.lengths, (k,)), (self.weights, (self.basis.width, k + 1)), (self.shift, (k + 1,)))

    @classmethod
    def of(cls, kernel: Kernel, basis: Basis, means: Array, origin: Array) -> ByLandmarks:
        """The model of means (features, count) that are measured from an origin (features,); NaN for none."""
        exists = np.isfinite(means).all(axis=0)
        columns = np.column_stack([np.where(exists, means, 0.0), origin])
        lengths = np.where(exists, (columns[:, :-1] ** 2).sum(axis=0), np.inf)
        return cls(lengths, kernel, basis, basis.to_raw(np.asfortranarray(columns)), origin @ columns)

    @property
    def compared(self) -> int:
        return self.basis.compared

    def products(self, rows: Points) -> Array:
        return self.basis.times(rows, np.ascontiguousarray(self.weights[:, :-1])) - self.shift[:-1]

    def nearest_of(self, rows: Points, parts: Iterable[slice]) -> Iterator[tuple[Labels, Array]]:
        """`nearest` of some rows after the other."""
        times = self.basis.bound(rows)
        for part in parts:
            products, sizes = self._seen(rows.rows(part), times(part, self.weights))
            labels, gaps = nearest(products, self.lengths)
            yield labels, np.maximum(sizes + gaps, 0.0)

    def seen(self, rows: Points) -> tuple[Array, Array]:
        return self._seen(rows, self.basis.times(rows, self.weights))

    def _seen(self, rows: Points, found: Array) -> tuple[Array, Array]:
        sizes = np.asarray(self.kernel.evaluate_diagonal(rows), dtype=np.float64) - 2.0 * found[:, -1] + self.shift[-1]
        return found[:, :-1] - self.shift[:-1], sizes
