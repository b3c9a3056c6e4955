"""Unbiased estimates from sums over pairs of rows, and how far they scatter over all permutations.

Both estimates look at pairs of different rows only, and do not change when the kernel k(x_i, x_j) becomes
k(x_i, x_j) - h_i - h_j + c there. So each kernel matrix may be replaced by the one, U, that has zeros on its diagonal
and in all sums of rows:

    U_ij = K_ij - r_i / (N - 2) - r_j / (N - 2) + t / ((N - 1) (N - 2)),   r_i = sum_{j != i} K_ij,   t = sum_i r_i.

`square` is the mean of its squares, q = sum_ij U_ij^2 / (N (N - 3)): an unbiased estimate of E k~(x, x')^2 for the
kernel k~ that is centred by the law of the rows.

Song, Smola, Gretton, Bedo, Borgwardt, Feature selection via dependence maximization, JMLR 13 (2012).
Szekely and Rizzo, Partial distance correlation with methods for dissimilarities, Annals of Statistics 42 (2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def zero_sums(K: Array) -> Array:
    """U, in the memory of K. Cost: 4 n^2 operations."""
    n = len(K)
    np.fill_diagonal(K, 0.0)
    sums = K.sum(axis=0)
    shifts = sums / (n - 2.0) - float(sums.sum()) / (2 * (n - 1.0) * (n - 2.0))
    K -= shifts
    K -= shifts[:, None]
    np.fill_diagonal(K, 0.0)
    return K


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of a kernel matrix K of N rows, pairs of a row with itself included, for several ways to part the rows.

    s is 1 for the rows of the first sample, and 0 for the others.

    inside : (splits,), s'Ks
    across : (splits,), s'K1
    own : (splits,), the sum of k(x, x) over the first sample
    total, trace : 1'K1, and the sum of all k(x, x)
    """

    inside: Array
    across: Array
    own: Array
    total: float
    trace: float

    def statistics(self, sizes: tuple[int, int]) -> Array:
        """(splits,): the unbiased squared distance of the means of two samples of m and n rows.

        mean_{i != j} k(x_i, x_j) + mean_{i != j} k(y_i, y_j) - 2 mean_ij k(x_i, y_j).
        """
        m, n = map(float, sizes)
        first = (self.inside - self.own) / (m * (m - 1))
        second = (self.total - 2 * self.across + self.inside - (self.trace - self.own)) / (n * (n - 1))
        return np.asarray(first + second - 2 * (self.across - self.inside) / (m * n))

    def usual(self, sizes: tuple[int, int]) -> float:
        """What a statistic is about by chance: the mean k~(x, x) of the centred kernel, over N."""
        count = float(sum(sizes))
        return (self.trace - self.total / count) / count**2


def two_sample_spread(square: float, sizes: tuple[int, int]) -> float:
    """The standard deviation of the statistic of two samples over all ways to part the rows; exact for the rows' own q.

    With U for K, sums across the samples are the negative of those inside: the statistic is c A with
    A = sum_{i != j in X} U_ij and c = 1 / (m (m - 1)) + 1 / (n (n - 1)) + 2 / (m n). The mean of A is 0. Of the terms
    of A^2 those with the same pair sum to 2 Q over all rows, Q = sum_ij U_ij^2, those that share one row to -4 Q, and
    those of four rows to 2 Q; each has its own probability to fall into X, which together make

        E A^2 = 2 Q m (m - 1) n (n - 1) / (N (N - 1) (N - 2) (N - 3)).

    For large samples c A has the variance 2 (1 / m + 1 / n)^2 q.
    """
    m, n = map(float, sizes)
    total = m + n
    return _weight(sizes) * math.sqrt(2 * max(square, 0.0) * m * (m - 1) * n * (n - 1) / ((total - 1) * (total - 2)))


def two_sample_third(U: Array, sizes: tuple[int, int]) -> float:
    """The third moment of the statistic of two samples over all ways to part the rows; six rows or more.

    E (c A)^3 as for the variance: the terms of A^3 are sorted by the graph that their three pairs make, and a row that
    stands in one pair only is summed over, which leaves C = sum_ij U_ij^3 and T = tr U^3. With p_k, the probability
    that k given rows fall into X,

        E A^3 = (4 p_2 - 24 p_3 + 52 p_4 - 48 p_5 + 16 p_6) C + 8 (p_3 - 3 p_4 + 3 p_5 - p_6) T.

    Cost: 2 N^3 operations.
    """
    _, p2, p3, p4, p5, p6 = np.cumprod([(sizes[0] - i) / (len(U) - i) for i in range(6)])
    cubes, triangles = float(np.einsum("ij,ij,ij->", U, U, U)), float(np.vdot(U @ U, U))
    alone, closed = 4 * p2 - 24 * p3 + 52 * p4 - 48 * p5 + 16 * p6, 8 * (p3 - 3 * p4 + 3 * p5 - p6)
    return float(_weight(sizes) ** 3 * (alone * cubes + closed * triangles))


def _weight(sizes: tuple[int, int]) -> float:
    """c, by which sums inside of the first sample are multiplied where rows of U sum to zero."""
    m, n = map(float, sizes)
    return 1 / (m * (m - 1)) + 1 / (n * (n - 1)) + 2 / (m * n)


def inner(product: float, own: float, left: float, right: float, n: int) -> float:
    """The unbiased HSIC, sum_ij U_ij V_ij / (n (n - 3)), from sums over two matrices K and L with rows of sum 0.

    U and V belong to K and L. Where rows sum to 0 with their diagonal (HKH does), r_i = -K_ii and t = -tr K, and
    sum_ij U_ij V_ij = sum_ij K_ij L_ij - n / (n - 2) sum_i K_ii L_ii + tr K tr L / ((n - 1) (n - 2)).

    product : sum_ij K_ij L_ij
    own : sum_i K_ii L_ii
    left, right : tr K, tr L
    """
    rest = left * right / ((n - 1.0) * (n - 2.0)) - own * n / (n - 2.0)
    return (product + rest) / (n * (n - 3.0))


def independence_spread(left: float, right: float, n: int) -> float:
    """The standard deviation of HSIC over all permutations of one table's rows; exact for the rows' own q of both.

    As for two samples: E (sum_ij U_ij V_p(i)p(j))^2 = 2 sum U^2 sum V^2 / (n (n - 3)).
    """
    return math.sqrt(2 * max(left, 0.0) * max(right, 0.0) / (n * (n - 3.0)))
