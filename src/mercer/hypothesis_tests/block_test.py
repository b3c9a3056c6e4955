"""The B-test: the mean over blocks of rows of the unbiased statistic, whose law is nearly normal for many blocks.

The scatter of the blocks is not that of their mean without a difference: they are skewed, so that their own standard
deviation is large where their mean is, and the test would reject too seldom. What is taken instead are the variance and
the third moment of each block over all ways to part its rows, which are known in closed form.

Zaremba, Gretton, Blaschko, B-tests: low variance kernel two-sample tests, NIPS 2013.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.hypothesis_tests.pair_sums import sums_of_matrix
from mercer.hypothesis_tests.permutations import Splits
from mercer.hypothesis_tests.result import Finding, Null
from mercer.hypothesis_tests.settings import NORMAL
from mercer.hypothesis_tests.unbiased import two_sample_spread, two_sample_third, zero_sums
from mercer.hypothesis_tests.validation import Seen
from mercer.kernels.evaluation.evaluate import matrix
from mercer.operators import Dense

Array = NDArray[np.float64]

MIN_BLOCKS = 8
"""Blocks, at least: the mean of fewer is not normal."""


def by_blocks(seen: Seen, sizes: tuple[int, int], random: np.random.Generator) -> Finding:
    """The mean over blocks, as many as the root of the rows of the smaller sample, and its law."""
    count = math.isqrt(min(sizes))
    if count < MIN_BLOCKS:
        needs, got = f"at least {MIN_BLOCKS**2} rows of each for blocks", f"got {min(sizes)}"
        raise InputError(message(needs, got, 'Use method="exact": it is quick for so few.'))
    found, variances, thirds = block_moments(seen, sizes, count, random)
    spread = math.sqrt(float(variances.sum())) / count
    skewness = float(thirds.sum()) / (count * spread) ** 3 if spread > 0 else 0.0
    law = Null(NORMAL, np.empty(0), spread, skewness)
    return Finding(float(found.mean()), law, spread, f"{count} blocks")


def block_moments(seen: Seen, sizes: tuple[int, int], count: int, random: np.random.Generator) -> Array:
    """(3, count): of each block the unbiased statistic, and its variance and third moment without a difference.

    Rows are drawn without repetition, and every row is in one block. Cost: N^2 / count pairs, 2 N^3 / count^2
    operations, and two matrices of one block.
    """
    first = np.array_split(random.permutation(sizes[0]), count)
    second = np.array_split(sizes[0] + random.permutation(sizes[1]), count)
    found = np.empty((3, count))
    for i, (x, y) in enumerate(zip(first, second, strict=True)):
        rows = seen.points.rows(np.concatenate([x, y]))
        found[:, i] = _moments(np.asarray(matrix(seen.kernel, rows, rows), dtype=np.float64), (len(x), len(y)))
    return found


def _moments(K: Array, sizes: tuple[int, int]) -> tuple[float, float, float]:
    """The statistic of a block from its matrix, which is overwritten, and its moments."""
    N = float(len(K))
    split = Splits.drawn(sizes, 0, np.random.default_rng(0))  # the given one alone: nothing is drawn
    statistic = float(sums_of_matrix(Dense(K, symmetric=True), split).statistics(sizes)[0])
    U = zero_sums(K)
    spread = two_sample_spread(float(np.vdot(U, U)) / (N * (N - 3)), sizes)
    return statistic, spread**2, two_sample_third(U, sizes)
