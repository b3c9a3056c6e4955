"""The sums over pairs of rows that two samples are compared by: from a kernel matrix, or from features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.memory import Budget
from mercer.hypothesis_tests.embeddings import STRIP_NUMBERS, Embedding
from mercer.hypothesis_tests.permutations import BITS_PER_BYTE, Splits
from mercer.hypothesis_tests.unbiased import Sums
from mercer.hypothesis_tests.validation import Seen
from mercer.kernels.evaluation.evaluate import matrix
from mercer.operators import Dense, Gram, Operator

Array = NDArray[np.float64]

MAX_STORED_NUMBERS = 1 << 26
"""Numbers of a kernel matrix that is kept, at most (512 MiB): larger ones are evaluated for every block of columns."""
MAX_PRODUCT_COLUMNS = 256
"""Ways to part the rows in one product, at most."""
BLOCK_NUMBERS = 1 << 24
"""Numbers of such columns, about (128 MiB)."""
TABLE_NUMBERS = 1 << 22
"""Numbers of a table of ways and rows, about (32 MiB)."""


def matrix_of(seen: Seen, budget: Budget) -> Operator:
    """The kernel matrix, kept where it is small and fits into half of the budget, so that products are quick."""
    numbers = seen.count**2
    if numbers > MAX_STORED_NUMBERS or not budget.allows(2 * 8 * numbers):
        return Gram.of(seen.kernel, seen.points)
    return Dense(matrix(seen.kernel, seen.points, seen.points), symmetric=True)


def sums_of_matrix(K: Operator, splits: Splits) -> Sums:
    """From products K @ S with columns S of zeros and ones. Cost: 2 N^2 operations per way; some blocks of columns."""
    n = K.shape[0]
    diagonal, margins = np.asarray(K.diagonal(), dtype=np.float64), np.asarray(K @ np.ones(n), dtype=np.float64)
    inside, across, own = np.empty((3, splits.count))
    step = max(BITS_PER_BYTE, min(MAX_PRODUCT_COLUMNS, BLOCK_NUMBERS // n) // BITS_PER_BYTE * BITS_PER_BYTE)
    for start in range(0, splits.count, step):
        part = slice(start, min(start + step, splits.count))
        S = splits.some(part.start, part.stop)
        inside[part] = np.einsum("ij,ji->i", S, K @ S.T)
        across[part], own[part] = S @ margins, S @ diagonal
    return Sums(inside, across, own, float(margins.sum()), float(diagonal.sum()))


def sums_of_features(embedding: Embedding, splits: Splits) -> Sums:
    """The same for the kernel of features, from their sums over each sample. Cost: 2 N width operations per way.

    Features are computed once, strip by strip, and never stored together.
    """
    sums = np.zeros((splits.count, embedding.width))
    own, total, trace = np.zeros(splits.count), np.zeros(embedding.width), 0.0
    for rows, Z in embedding.strips(max(BITS_PER_BYTE, TABLE_NUMBERS // splits.count)):
        S, sizes = splits.of_rows(rows), np.einsum("ij,ij->i", Z, Z)
        sums += S @ Z
        own += S @ sizes
        total += Z.sum(axis=0)
        trace += float(sizes.sum())
    inside = np.einsum("ij,ij->i", sums, sums)
    return Sums(inside, sums @ total, own, float(total @ total), trace)


def bytes_of_features(rows: int, rank: int, count: int) -> int:
    """What `sums_of_features` holds at its peak, about: bits, sums, a strip of features, and a table of ways."""
    return rows * -(-count // BITS_PER_BYTE) + 8 * (
        2 * count * rank + 2 * STRIP_NUMBERS + 2 * max(TABLE_NUMBERS, BITS_PER_BYTE * count)
    )
