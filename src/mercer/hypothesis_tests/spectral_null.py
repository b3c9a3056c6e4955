"""The spectral null: without a difference a statistic is a weighted sum of chi-squared numbers, in the limit.

With the eigenvalues w_l of the centred kernel (as an operator on the law of the rows) the unbiased statistics have, for
large samples and standard normal g, the laws

    mmd: (1 / m + 1 / n) sum_l w_l (g_l^2 - 1),       hsic: 1 / n sum_kl v_k w_l (g_kl^2 - 1).

For samples of unequal sizes: along the unit function of w_l the mean of m rows is a / sqrt(m), that of n others is
b / sqrt(n), a and b standard normal, and their difference is sqrt(1 / m + 1 / n) g; the unbiased estimate leaves out
what the diagonals add to its square, which is (1 / m + 1 / n) w_l on average.

Eigenvalues are those of HKH / N, of at most `MAX_SAMPLE_ROWS` rows of both samples together. They give the shape of the
law. Its standard deviation is not taken from the limit, where it would be (1 / m + 1 / n) sqrt(2 sum w^2): the scatter
over all permutations is known in closed form (`hypothesis_tests.unbiased`), and the sum is scaled to it. That corrects
what the diagonal of K adds to the eigenvalues of few rows, too.

Gretton, Fukumizu, Harchaoui, Sriperumbudur, A fast, consistent kernel two-sample test, NIPS 2009.
Zhang, Filippi, Gretton, Sejdinovic, Large-scale kernel methods for independence testing, Stat. Comput. 28 (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.tiles import mirror
from mercer.compute.runtime.lapack import add_squares, patiently
from mercer.hypothesis_tests.embeddings import Embedding
from mercer.hypothesis_tests.unbiased import inner
from mercer.hypothesis_tests.validation import Seen
from mercer.kernels.evaluation.evaluate import matrix

Array = NDArray[np.float64]

MAX_SAMPLE_ROWS = 2_000
"""Rows whose eigenvalues stand for those of all, at most."""
CHI_SQUARED_WEIGHTS = 500
"""Weights that have a chi-squared number each; the sum of what the smaller ones add is nearly normal."""
DRAWN_NUMBERS = 1 << 20
"""Normal numbers that are held at once."""


@dataclass(frozen=True, eq=False)
class Spectral:
    """What is known of a centred kernel on the law of the rows.

    weights : its eigenvalues, of at least 0, falling
    square : the unbiased estimate of E k~(x, x')^2, the sum of their squares
    """

    weights: Array
    square: float

    @property
    def total(self) -> float:
        """The sum of the squares of the weights: about `square`, and more for few rows."""
        return float(self.weights @ self.weights)

    @classmethod
    def of_rows(cls, seen: Seen, random: np.random.Generator) -> Spectral:
        """From the kernel matrix of a sample of rows. Cost: 4 s^3 / 3 operations and s^2 numbers for s rows."""
        few = seen.points
        if seen.count > MAX_SAMPLE_ROWS:
            few = few.rows(np.sort(random.choice(seen.count, MAX_SAMPLE_ROWS, replace=False)))
        K = np.asarray(matrix(seen.kernel, few, few), dtype=np.float64)
        means = K.mean(axis=0)
        K -= means
        K -= means[:, None] - means.mean()
        return cls._of_centred(K, np.diagonal(K), len(K))

    @classmethod
    def of_features(cls, embedding: Embedding) -> Spectral:
        """From the features of all rows, in two passes. Cost: N width^2 operations, and width^2 numbers."""
        n, width = embedding.count, embedding.width
        mean = np.sum([Z.sum(axis=0) for _, Z in embedding.strips()], axis=0) / n
        C, own = np.zeros((width, width)), np.empty(n)
        for rows, Z in embedding.strips():
            Z -= mean
            add_squares(C, Z)
            own[rows] = np.einsum("ij,ij->i", Z, Z)
        mirror(C)
        return cls._of_centred(C, own, n)

    @classmethod
    def _of_centred(cls, C: Array, own: Array, n: int) -> Spectral:
        """From a matrix with the eigenvalues of HKH, but for zeros, and the diagonal of HKH itself."""
        trace = float(own.sum())
        square = inner(float(np.vdot(C, C)), float(own @ own), trace, trace, n)
        values = patiently(partial(np.linalg.eigvalsh, C)) / n
        return cls(np.maximum(values[::-1], 0.0), max(square, 0.0))


def draws(weights: Array, total: float, spread: float, count: int, random: np.random.Generator) -> Array:
    """(count,): sum_l w_l (g_l^2 - 1), scaled to a standard deviation.

    weights : of at least 0, falling; the first `CHI_SQUARED_WEIGHTS` are enough
    total : the sum of the squares of all of them
    """
    leading = weights[:CHI_SQUARED_WEIGHTS]
    rest = max(total - float(leading @ leading), 0.0)
    if total == 0 or spread == 0:
        return np.zeros(count)
    found, step = np.empty(count), max(1, DRAWN_NUMBERS // len(leading))
    for start in range(0, count, step):
        part = found[start : start + step]
        squares = random.standard_normal((len(part), len(leading))) ** 2
        part[:] = (squares - 1) @ leading + math.sqrt(2 * rest) * random.standard_normal(len(part))
    return found * (spread / math.sqrt(2 * total))


def products(left: Array, right: Array) -> Array:
    """The largest `CHI_SQUARED_WEIGHTS` products of two falling lists of weights, falling."""
    return np.sort(np.outer(left[:CHI_SQUARED_WEIGHTS], right[:CHI_SQUARED_WEIGHTS]), axis=None)[::-1][
        :CHI_SQUARED_WEIGHTS
    ]
