"""The statistic of dependence for any order of one table: from two kernel matrices, or from two sets of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.hypothesis_tests.embeddings import Embedding
from mercer.hypothesis_tests.permutations import Order
from mercer.hypothesis_tests.unbiased import inner, zero_sums
from mercer.hypothesis_tests.validation import Seen
from mercer.kernels.evaluation.evaluate import matrix

Array = NDArray[np.float64]

STRIP_NUMBERS = 1 << 17
"""Numbers of a strip of permuted rows (1 MiB): it stays in the cache of a core."""


@dataclass(frozen=True, eq=False)
class JointPairs:
    """All pairs of rows: sum_ij U_ij L_p(i)p(j) / (n (n - 3)), the unbiased HSIC of X and of Y in the order p.

    U is the matrix of X with zeros on its diagonal and in all sums of rows (`hypothesis_tests.unbiased`), so that
    L, of Y, may be as it is. Cost of a statistic: n^2 / 2 products, of values that are gathered strip by strip.

    left : 2 U below the diagonal, 0 elsewhere
    right : L
    usual : what a statistic is about by chance: the product of the means of both centred diagonals, over n
    """

    left: Array
    right: Array
    usual: float

    @classmethod
    def of(cls, x: Seen, y: Seen) -> JointPairs:
        """For rows of two tables. Memory: 2 n^2 numbers, and some tiles."""
        K, L = _dense(x), _dense(y)
        usual = _centred_size(K) * _centred_size(L) / len(K)
        return cls(_lower_half(K), L, usual)

    @property
    def cost(self) -> float:
        """Operations of a statistic, about."""
        return float(self.left.size)

    def statistic(self, order: Order) -> float:
        """The unbiased HSIC with the rows of Y in this order."""
        n, total = len(order), 0.0
        step = max(1, STRIP_NUMBERS // n)
        for start in range(0, n, step):
            stop = min(start + step, n)
            rows = np.take(self.right, order[start:stop], axis=0)
            total += float(np.einsum("ij,ij->", self.left[start:stop, :stop], np.take(rows, order[:stop], axis=1)))
        return total / (n * (n - 3.0))


def _dense(seen: Seen) -> Array:
    return np.asarray(matrix(seen.kernel, seen.points, seen.points), dtype=np.float64)


def _centred_size(K: Array) -> float:
    """The mean of the diagonal of HKH; rounding may leave it below 0."""
    return max(float(np.trace(K) / len(K) - K.mean()), 0.0)


def _lower_half(K: Array) -> Array:
    """2 U below the diagonal, in the memory of K."""
    U = zero_sums(K)
    U *= 2.0
    for i in range(len(U)):
        U[i, i:] = 0.0
    return U


@dataclass(frozen=True, eq=False)
class JointFeatures:
    """The same for the kernels of features, which are centred: from P = Z_X' Z_Y with the rows of Z_Y in the order p.

    The unbiased estimate of these kernels: what a row adds with itself is subtracted (`unbiased.inner`).
    Cost of a statistic: 2 n width width' operations. Memory: n (width + width') numbers.

    left, right : (n, width), features of X and Y, each column of mean zero
    own : (n,) each, the squared lengths of their rows
    """

    left: Array
    right: Array
    own: tuple[Array, Array]

    @classmethod
    def of(cls, x: Embedding, y: Embedding) -> JointFeatures:
        """For rows of two tables."""
        left, right = _centred(x), _centred(y)
        return cls(left, right, (np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)))

    @property
    def usual(self) -> float:
        """What a statistic is about by chance, as for all pairs."""
        return float(self.own[0].mean() * self.own[1].mean() / len(self.left))

    @property
    def cost(self) -> float:
        """Operations of a statistic, about."""
        return 2.0 * float(self.left.size) * int(self.right.shape[1])

    def statistic(self, order: Order) -> float:
        """The unbiased HSIC of the features with the rows of Y in this order."""
        n, step = len(order), max(1, STRIP_NUMBERS // self.right.shape[1])
        P = np.zeros((self.left.shape[1], self.right.shape[1]))
        for start in range(0, n, step):
            P += self.left[start : start + step].T @ np.take(self.right, order[start : start + step], axis=0)
        left, right = self.own
        own, squares = float(left @ right[order]), float(np.vdot(P, P))
        return inner(squares, own, float(left.sum()), float(right.sum()), n)


def _centred(embedding: Embedding) -> Array:
    Z = np.empty((embedding.count, embedding.width))
    for rows, values in embedding.strips():
        Z[rows] = values
    Z -= Z.mean(axis=0)
    return Z
