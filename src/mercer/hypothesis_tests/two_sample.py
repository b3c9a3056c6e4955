"""Are two samples of one law? The distance of their means in the space of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import speaks
from mercer.hypothesis_tests.block_test import by_blocks
from mercer.hypothesis_tests.embeddings import Embedding, bytes_to_choose, embedding_of, kind_of
from mercer.hypothesis_tests.pair_sums import bytes_of_features, matrix_of, sums_of_features, sums_of_matrix
from mercer.hypothesis_tests.permutations import Splits
from mercer.hypothesis_tests.result import Comparison, Finding, Null
from mercer.hypothesis_tests.settings import (
    BLOCKS,
    DRAWN,
    EXACT,
    FEATURES,
    NORMAL,
    PERMUTATION,
    SPECTRAL,
    Settings,
    calm,
)
from mercer.hypothesis_tests.spectral_null import Spectral, draws
from mercer.hypothesis_tests.unbiased import two_sample_spread
from mercer.hypothesis_tests.validation import Seen, kernel_of, pooled, seen_through
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.lifts.randomness import generator

USUAL = "gaussian('median')"
NULLS = {EXACT: DRAWN, FEATURES: DRAWN, BLOCKS: (NORMAL,)}
DEFAULT_FEATURES = 500
"""Features of the method "features" where their number is not given."""
MAX_EXACT_VALUES = 2.7e10
"""Values of pairs, over all permutations, up to which "auto" takes all pairs: 5,000 rows with 1,000 permutations."""


@speaks
def mmd(
    X: Any,
    Y: Any,
    kernel: Kernel | PythonFunction | str = USUAL,
    *,
    lengthscale: float | str = "median",
    method: str = "auto",
    null: str = "auto",
    permutations: int = 1000,
    n_landmarks: int | None = None,
    memory_limit: int | str | None = None,
    random_state: Any = None,
) -> Comparison:
    """Test whether two samples are of one law, by the maximum mean discrepancy.

    The statistic is the unbiased estimate of the squared distance of the means of k(x, .) and k(y, .),

        mean_{i != j} k(x_i, x_j) + mean_{i != j} k(y_i, y_j) - 2 mean_ij k(x_i, y_j).

    Its expectation is 0 where the laws are equal, and above 0 where they differ, for kernels such as the Gaussian,
    whose means differ for all different laws. It may be negative.

    "permutation" compares the statistic with that of rows which are dealt anew to the two samples. The p-value,
    (1 + #{permuted >= observed}) / (1 + permutations), is valid for every kernel and number of rows: if the laws are
    equal, it is at most u with a probability of at most u. That holds exactly for kernels and features that are chosen
    without a look at which sample a row belongs to, and so the lengthscale, landmarks and frequencies are chosen here.
    "spectral" draws from the law in the limit instead (`mercer.hypothesis_tests.spectral_null`): nothing is permuted.

    Cost for N rows in all, of d columns: "exact" N^2 (d + 2 permutations) operations, and N^2 numbers up to N = 8,192,
    some columns above. "features" N (d + 2 permutations) n_landmarks operations, N permutations / 8 bytes, and some
    strips of features: linear in N. "blocks" N^1.5 d operations, and the matrix of one block.

    Parameters
    ----------
    X, Y : array-like or table of shape (n_samples, n_features)
        The samples, with the same columns, of at least 4 rows each.
    kernel : Kernel, function or str, default="gaussian('median')"
        A lengthscale of "median", or left out of a text, is found from both samples.
    lengthscale : float or "median", default="median"
        For a kernel that leaves it open.
    method : {"auto", "exact", "features", "blocks"}, default="auto"
        "exact" sums over all pairs. "features" takes features that stand for the kernel: its exact lift where that is
        small, random Fourier features for a kernel with a spectral law, else landmarks. "blocks" takes the mean over
        blocks of about sqrt(n) rows per sample. "auto" is "exact" for up to 5,000 rows or so, "features" for more.
    null : {"auto", "permutation", "spectral", "normal"}, default="auto"
        "normal" is for "blocks" alone; "auto" is the first that the method has.
    permutations : int, default=1000
        How many, or draws of the spectral null.
    n_landmarks : int or None, default=None
        How many landmarks, or random Fourier features, stand for the kernel; None for 500.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2 GB"; None for 80 % of what is free.
    random_state : int, generator or None, default=None
        The source of permutations and features.

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
    settings = Settings.of(NULLS, method, null, permutations, n_landmarks, memory_limit)
    random, given = generator(random_state), kernel_of(kernel, "lengthscale", lengthscale)
    points, sizes = pooled(given, X, Y)
    seen = seen_through(given, points, random)
    chosen = settings.chosen(seen.count, MAX_EXACT_VALUES, 0)
    with calm(seen.count):
        found = chosen.nothing("no two rows differ") if seen.constant else _compared(chosen, seen, sizes, random)
    return found.concluded("mmd", chosen.method, (seen.kernel,), sizes, seen.scale)


def _compared(settings: Settings, seen: Seen, sizes: tuple[int, int], random: np.random.Generator) -> Finding:
    if settings.method == BLOCKS:
        return by_blocks(seen, sizes, random)
    embedding = _embedding(settings, seen, random) if settings.method == FEATURES else None
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
    count = settings.n_landmarks or DEFAULT_FEATURES
    kind = kind_of(seen, count, waves=True)
    needed = bytes_of_features(seen.count, count, 1 + settings.permutations) + bytes_to_choose(kind, seen.count, count)
    purpose = f"{count:,} features and {settings.permutations:,} permutations of {seen.count:,} rows"
    settings.budget.require(needed, purpose, "Use a smaller n_landmarks, or fewer permutations.")
    return embedding_of(seen, count, kind, random)


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
