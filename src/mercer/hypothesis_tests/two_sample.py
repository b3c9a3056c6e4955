"""Are two samples of one law? The distance of their means in the space of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.hypothesis_tests.block_test import by_blocks
from mercer.hypothesis_tests.embeddings import Embedding, bytes_to_choose, embedding_of, kind_of
from mercer.hypothesis_tests.pair_sums import bytes_of_features, matrix_of, sums_of_features, sums_of_matrix
from mercer.hypothesis_tests.permutations import Splits
from mercer.hypothesis_tests.result import Comparison, Finding, Null
from mercer.hypothesis_tests.settings import BLOCKS, DRAWN, FULL, LIFTED, NORMAL, PERMUTATION, SPECTRAL, Settings, calm
from mercer.hypothesis_tests.spectral_null import Spectral, draws
from mercer.hypothesis_tests.unbiased import two_sample_spread
from mercer.hypothesis_tests.validation import Seen, kernel_of, pooled, seen_through
from mercer.kernels import Kernel
from mercer.kernels.function import PythonFunction
from mercer.lifts.randomness import generator

WHO = "mmd"
USUAL = "gaussian('median')"
NULLS = {FULL: DRAWN, LIFTED: DRAWN, BLOCKS: (NORMAL,)}
RANK = 500
"""Features of the way "lifted" where their number is not given."""
WORK = 2.7e10
"""Values of pairs, over all permutations, up to which "auto" takes all pairs: 5,000 rows with 1,000 permutations."""


def mmd(
    X: Any,
    Y: Any,
    kernel: Kernel | PythonFunction | str = USUAL,
    *,
    lengthscale: float | str = "median",
    way: str = "auto",
    null: str = "auto",
    permutations: int = 1000,
    rank: int | None = None,
    memory_limit: int | str | None = None,
    random_state: Any = None,
) -> Comparison:
    """Test whether two samples are of one law, by the maximum mean discrepancy.

    The statistic is the unbiased estimate of the squared distance of the means of k(x, .) and k(y, .),

        mean_{i != j} k(x_i, x_j) + mean_{i != j} k(y_i, y_j) - 2 mean_ij k(x_i, y_j).

    Its expectation is 0 where the laws are equal, and above 0 where they differ, for kernels such as the Gaussian,
    whose means tell all laws apart. It may be negative.

    "permutation" compares the statistic with that of rows which are dealt anew to the two samples. The p-value,
    (1 + #{permuted >= observed}) / (1 + permutations), is valid for every kernel and number of rows: if the laws are
    equal, it is at most u with a probability of at most u. That holds exactly for kernels and features that are chosen
    without a look at which sample a row belongs to, and so the lengthscale, landmarks and frequencies are chosen here.
    "spectral" draws from the law in the limit instead (`mercer.hypothesis_tests.spectral_null`): nothing is permuted.

    Cost for N rows in all, of d columns: "full" N^2 (d + 2 permutations) operations, and N^2 numbers up to N = 8,192,
    some columns above. "lifted" N (d + 2 permutations) rank operations, N permutations / 8 bytes, and some strips of
    features: linear in N. "blocks" N^1.5 d operations, and the matrix of one block.

    Parameters
    ----------
    X, Y : tables with the same columns, of at least 4 rows each
    kernel : a kernel, or its text; a lengthscale of "median", or left out of a text, is found from both
    lengthscale : a number, or "median", for a kernel that leaves it open
    way : "full" (all pairs), "lifted" (features that stand for the kernel: its exact lift where that is small, random
        Fourier features for a kernel with a spectral law, else landmarks), "blocks" (the mean over blocks of about
        sqrt(n) rows a sample), or "auto": "full" for up to 5,000 rows or so, "lifted" for more
    null : "permutation", "spectral", "normal" (for "blocks" alone), or "auto", the first that the way has
    permutations : how many, or draws of the spectral null
    rank : how many features; None for 500
    memory_limit : bytes, or a text such as "2 GB"; None for 80 % of what is free
    random_state : whole number, generator, or None: the source of permutations and features

    Returns
    -------
    Comparison
        with `statistic`, `p_value` and `null_sample`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import mmd
    >>> random = np.random.default_rng(0)
    >>> X, Y = random.normal(size=(150, 2)), random.normal(size=(200, 2))
    >>> mmd(X, Y, random_state=0).p_value > 0.05
    True
    >>> print(mmd(X, 1.5 * Y, "gaussian(1)", random_state=0))
    mmd of 150 and 200 rows: statistic 0.03853, p-value 0.000999 (1,000 permutations)
      gaussian(lengthscale=1.0): all pairs

    References
    ----------
    Gretton, Borgwardt, Rasch, Schoelkopf, Smola, A kernel two-sample test, JMLR 13 (2012).
    Zhao and Meng, FastMMD: ensemble of circular discrepancy for efficient two-sample test, Neural Comput. 27 (2015).
    """
    settings = Settings.of(WHO, NULLS, way, null, permutations, rank, memory_limit)
    random, given = generator(random_state), kernel_of(WHO, kernel, "lengthscale", lengthscale)
    points, sizes = pooled(WHO, given, X, Y)
    seen = seen_through(WHO, given, points, random)
    chosen = settings.chosen(seen.count, WORK, 0)
    with calm(seen.count):
        found = chosen.nothing("no two rows differ") if seen.constant else _compared(chosen, seen, sizes, random)
    return found.concluded(WHO, chosen.way, (seen.kernel,), sizes, seen.scale)


def _compared(settings: Settings, seen: Seen, sizes: tuple[int, int], random: np.random.Generator) -> Finding:
    if settings.way == BLOCKS:
        return by_blocks(WHO, seen, sizes, random)
    embedding = _embedding(settings, seen, random) if settings.way == LIFTED else None
    splits = Splits.drawn(sizes, settings.permutations, random)
    if embedding is None:
        sums = sums_of_matrix(matrix_of(seen, settings.budget), splits)
    else:
        sums = sums_of_features(embedding, splits)
    found = sums.statistics(sizes)
    if settings.null == PERMUTATION:
        law = Null.of_sample(PERMUTATION, found[1:])
    else:
        law = _spectral(settings, seen, embedding, sizes, random)
    detail = "all pairs" if embedding is None else embedding.detail
    return Finding(float(found[0]), law, sums.usual(sizes), detail)


def _embedding(settings: Settings, seen: Seen, random: np.random.Generator) -> Embedding:
    rank = settings.rank or RANK
    kind = kind_of(seen, rank, waves=True)
    needed = bytes_of_features(seen.count, rank, 1 + settings.permutations) + bytes_to_choose(kind, seen.count, rank)
    purpose = f"{rank:,} features and {settings.permutations:,} permutations of {seen.count:,} rows"
    settings.budget.require(WHO, needed, purpose, "Use a smaller rank, or fewer permutations.")
    return embedding_of(seen, rank, kind, random)


def _spectral(
    settings: Settings,
    seen: Seen,
    embedding: Embedding | None,
    sizes: tuple[int, int],
    random: np.random.Generator,
) -> Null:
    known = Spectral.of_rows(seen, random) if embedding is None else Spectral.of_features(embedding)
    spread = two_sample_spread(known.square, sizes)
    return Null(SPECTRAL, draws(known.weights, known.total, spread, settings.draws, random), spread)
