"""The sums of the rows of each cluster: of a kernel matrix that need not exist, or of features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tables import Seeds
from mercer.compute.runtime.run import IDLE, Run
from mercer.operators import Dense, Operator

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Labels = NDArray[np.intp]
EPS = float(np.finfo(np.float64).eps)
TIE_TOLERANCE = 32 * EPS
"""Means are equally near where what tells them apart is at most this part of what it is the difference of."""
ZERO_DISTANCE_ROUNDINGS = 64.0
"""A squared distance counts as zero up to so many units of the rounding of k(x, x)."""
BLOCK_NUMBERS = 1 << 20
"""Numbers of rows that are worked on at once, about: 8 MB."""


class Sums(ABC):
    """The sums of the rows of each cluster, and what Lloyd's steps ask of all rows.

    Labels and numbers for each row are arrays, or live where the features do.

    weights : (n,), each positive
    sizes : (n,), k(x, x)
    count : how many clusters there are
    unit : what a number is rounded to, relatively
    totals : (count,), the weight of each cluster
    """

    def __init__(self, weights: Array, sizes: Array, count: int, unit: float) -> None:
        self.weights, self.sizes, self.count, self.unit = weights, sizes, count, unit
        self.totals = np.zeros(count)

    @abstractmethod
    def settle(self, labels: Any) -> None:
        """Sum up these clusters, from scratch; where it is stopped, the sums stay as they were."""

    @abstractmethod
    def move(self, before: Any, after: Any) -> None:
        """Go over to another partition."""

    @abstractmethod
    def lengths(self, members: Any) -> Array:
        """(count,): the squared lengths of the sums, which are those of this partition."""

    @abstractmethod
    def assigned(self, members: Any, run: Run = IDLE, step: float = 0.0) -> tuple[Any, Any, float]:
        """The nearest mean of each row, the squared distance from it, and the inertia: their weighted sum."""

    @abstractmethod
    def seeds(self, draws: Array) -> Seeds:
        """A first row, drawn in proportion to the weights."""

    def opened(self, labels: Any) -> Any:
        """Labels of this process, where the sums want them."""
        return np.asarray(labels, dtype=np.intp)

    def closed(self, labels: Any, members: Any, squares: Any) -> tuple[Labels, Labels, Array]:
        """What is known of each row, in this process."""
        return labels, members, squares

    def equal(self, labels: Any, others: Any) -> bool:
        """Whether two partitions are the same."""
        return np.array_equal(labels, others)

    @property
    def shares(self) -> Array:
        """(count,): by what sums become means; 0 for clusters without rows."""
        return np.divide(1.0, self.totals, out=np.zeros(self.count), where=self.totals > 0)

    def means(self, members: Any) -> Array:
        """(count,): the squared lengths of the means, which are those of this partition; infinite without rows."""
        return np.where(self.totals > 0, self.lengths(members) * self.shares**2, np.inf)

    def refilled(self, labels: Any, squares: Any) -> Any:
        """The labels, with the row that costs most in each cluster that would be empty; the inertia does not rise.

        A row that is alone stays where it is, and one that has no distance to lose would not be missed: where there
        are no others, clusters stay empty.
        """
        counts = np.bincount(labels, minlength=self.count)
        empty = np.flatnonzero(counts == 0).tolist()
        if not empty:
            return labels
        found = labels.copy()
        costs = np.where(squares > ZERO_DISTANCE_ROUNDINGS * self.unit * self.sizes, self.weights * squares, 0.0)
        for row in np.argsort(-costs, kind="stable"):
            if not empty or costs[row] == 0.0:
                break
            if counts[found[row]] > 1:
                counts[found[row]] -= 1
                found[row] = empty.pop(0)
        return found


class StoredSums(Sums):
    """Whose labels and distances are arrays of this process."""

    @abstractmethod
    def _anew(self, labels: Labels) -> None:
        """Sum up these clusters; where it is stopped, the sums stay as they were."""

    @abstractmethod
    def _change(self, rows: Rows, moves: Array) -> None:
        """Add some rows times (rows, count) numbers; where it is stopped, the sums stay as they were."""

    @abstractmethod
    def products(self, part: slice) -> NDArray[Any]:
        """(some, count): the inner products of some rows with the sums."""

    @abstractmethod
    def apart(self, rows: Rows) -> Array:
        """(some, n): the squared distances of some rows from all rows, at least 0."""

    @property
    def width(self) -> int:
        """Numbers of a row that are worked on at once."""
        return self.count

    def settle(self, labels: Labels) -> None:
        self._anew(labels)
        self.totals = self._by_cluster(labels, self.weights)

    def _by_cluster(self, labels: Labels, numbers: Array) -> Array:
        """(count,): the sum of a number per row over each cluster."""
        return np.asarray(np.bincount(labels, numbers, minlength=self.count), dtype=np.float64)

    def move(self, before: Labels, after: Labels) -> None:
        """By the rows that moved, or from scratch where these are most of them."""
        rows = np.flatnonzero(before != after)
        if 2 * len(rows) > len(before):
            self.settle(after)
            return
        moves, every = np.zeros((len(rows), self.count)), np.arange(len(rows))
        moves[every, before[rows]] = -self.weights[rows]
        moves[every, after[rows]] = self.weights[rows]
        self._change(rows, moves)
        self.totals = self._by_cluster(after, self.weights)

    def assigned(self, members: Labels, run: Run = IDLE, step: float = 0.0) -> tuple[Labels, Array, float]:
        labels, gaps = np.empty(len(members), np.intp), np.empty(len(members))
        shares, lengths = self.shares, self.means(members)
        for part in parts(len(members), self.width):
            run.tell(step)
            labels[part], gaps[part] = nearest(self.products(part) * shares, lengths)
        squares = np.maximum(self.sizes + gaps, 0.0)
        return labels, squares, float(self.weights @ squares)

    def seeds(self, draws: Array) -> StoredSeeds:
        return StoredSeeds(self, draws)


class StoredSeeds:
    """Rows that are drawn one after the other, with distances of the kernel's own space: `Seeds` of this process."""

    def __init__(self, sums: StoredSums, draws: Array) -> None:
        self.sums, self.added = sums, 0
        self.labels = np.zeros(len(sums.weights), np.intp)
        self.left = self._apart(drawn(sums.weights, draws))[0]
        self.costs = sums.weights * self.left
        self.cost = float(self.costs.sum())

    def add(self, draws: Array) -> None:
        """The best of rows that are drawn by what they cost."""
        squares = np.minimum(self._apart(drawn(self.costs, draws)), self.left)
        best = squares[int(np.argmin(squares @ self.sums.weights))]
        self.added += 1
        self.labels[best < self.left] = self.added
        self.left, self.costs = best, self.sums.weights * best
        self.cost = float(self.costs.sum())

    def _apart(self, rows: Rows) -> Array:
        """The squared distances of some rows from all; rounding leaves none of a row from itself."""
        found = self.sums.apart(rows)
        found[np.arange(len(rows)), rows] = 0.0
        return found


def drawn(costs: Array, draws: Array) -> Rows:
    """Rows in proportion to what they cost, one for each number from 0 to 1."""
    ends = np.cumsum(costs)
    return np.asarray(np.minimum(np.searchsorted(ends, draws * ends[-1], side="right"), len(ends) - 1), dtype=np.intp)


class KernelSums(StoredSums):
    """Of a kernel matrix, of which nothing is stored but the n x count sums t_ic.

    Cost: n^2 / 2 pairs of rows to sum up, and pairs of all rows with those that moved for a step.

    K : (n, n), symmetric and positive semi-definite
    sizes : its diagonal, where K knows that less well
    """

    def __init__(self, K: Operator, weights: Array, count: int, sizes: Array | None = None) -> None:
        own = np.asarray(K.diagonal(), dtype=np.float64) if sizes is None else sizes
        super().__init__(weights, own, count, float(np.finfo(K.dtype).eps))
        self.K = K
        self.table = np.zeros((len(weights), count))

    def _anew(self, labels: Labels) -> None:
        places = np.zeros((len(labels), self.count))
        places[np.arange(len(labels)), labels] = self.weights
        self.table = np.asarray(self.K @ places, dtype=np.float64)

    def _change(self, rows: Rows, moves: Array) -> None:
        if not isinstance(self.K, Dense):
            self.table += self.K.combine(rows, moves)
            return
        for part in parts(len(rows), len(self.weights)):  # a product with zeros elsewhere would read the whole matrix
            self.table += self.K.matrix[rows[part]].T @ moves[part]

    def products(self, part: slice) -> Array:
        return self.table[part]

    def lengths(self, members: Labels) -> Array:
        own = self.table[np.arange(len(members)), members]
        return self._by_cluster(members, self.weights * own)

    def apart(self, rows: Rows) -> Array:
        values = np.empty((len(rows), len(self.weights)), self.K.dtype)
        self.K.fill(rows, values)
        return np.maximum(self.sizes[rows, None] + self.sizes - 2.0 * values, 0.0)


class FeatureSums(StoredSums):
    """Of features z(x), whose sums are vectors. Cost: n p count operations for a step, in the dtype of the features.

    Z : (n, p), of float32 or float64
    sizes : (n,), at least |z|^2, where features are only a part of what tells rows apart
    """

    def __init__(self, Z: NDArray[Any], weights: Array, count: int, sizes: Array | None = None) -> None:
        self.Z = Z
        self.own = np.concatenate([(Z[part] ** 2).sum(axis=1, dtype=np.float64) for part in parts(*Z.shape)])
        super().__init__(weights, self.own if sizes is None else sizes, count, float(np.finfo(Z.dtype).eps))
        self.vectors = np.zeros((Z.shape[1], count))

    @property
    def width(self) -> int:
        return max(self.count, int(self.Z.shape[1]))

    def _anew(self, labels: Labels) -> None:
        found = np.zeros_like(self.vectors)
        for part in parts(len(labels), self.width):
            own = labels[part]
            places = np.zeros((len(own), self.count), self.Z.dtype)
            places[np.arange(len(own)), own] = self.weights[part]
            found += self.Z[part].T @ places
        self.vectors = found

    def _change(self, rows: Rows, moves: Array) -> None:
        found, narrow = np.zeros_like(self.vectors), moves.astype(self.Z.dtype, copy=False)
        for part in parts(len(rows), self.width):
            found += self.Z[rows[part]].T @ narrow[part]
        self.vectors += found

    def products(self, part: slice) -> NDArray[Any]:
        return np.asarray(self.Z[part] @ self.vectors.astype(self.Z.dtype, copy=False))

    def lengths(self, members: Labels) -> Array:
        return np.asarray((self.vectors**2).sum(axis=0))

    def apart(self, rows: Rows) -> Array:
        values = self.Z[rows] @ self.Z.T
        return np.asarray(np.maximum(self.own[rows, None] + self.own - 2.0 * values, 0.0))


def nearest(products: NDArray[Any], lengths: Array) -> tuple[Labels, Array]:
    """The nearest mean of each row, the first of those that are equally near; and |mean|^2 - 2 <row, mean> of it.

    products : (n, count), of rows with means
    lengths : (count,), |mean|^2; infinite for a mean that does not exist
    """
    gaps, every = lengths - 2.0 * products, np.arange(len(products))
    least = gaps[every, gaps.argmin(axis=1)]
    slack = TIE_TOLERANCE * (np.abs(least) + 2.0 * float(lengths[np.isfinite(lengths)].max(initial=0.0)))
    labels = (gaps <= (least + slack)[:, None]).argmax(axis=1)  # the first of all that are near enough
    return labels, gaps[every, labels]


def parts(length: int, width: int) -> list[slice]:
    """Slices that cover a length, each of about `BLOCK_NUMBERS` numbers where a row has a given width."""
    step = max(1, BLOCK_NUMBERS // max(1, width))
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
