"""Do two tables know of each other? The size of their covariance in the spaces of two kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import InputError, message, speaks
from mercer.hypothesis_tests.embeddings import Embedding, bytes_to_choose, embedding_of, kind_of
from mercer.hypothesis_tests.joint import JointFeatures, JointPairs
from mercer.hypothesis_tests.permutations import HELD_NUMBERS, over_orders
from mercer.hypothesis_tests.result import Comparison, Finding, Null
from mercer.hypothesis_tests.settings import DRAWN, EXACT, FEATURES, PERMUTATION, SPECTRAL, Settings, calm
from mercer.hypothesis_tests.spectral_null import Spectral, draws, products
from mercer.hypothesis_tests.two_sample import USUAL
from mercer.hypothesis_tests.unbiased import independence_spread
from mercer.hypothesis_tests.validation import Seen, kernel_of, seen_through, table_of
from mercer.kernels import Kernel
from mercer.lifts.randomness import generator

NULLS = {EXACT: DRAWN, FEATURES: DRAWN}
DEFAULT_FEATURES = 64
"""Features per table where their number is not given: a permutation takes the product of both."""
MAX_EXACT_VALUES = 1.7e10
"""Values of pairs, over all permutations, up to which "auto" takes all pairs: 4,000 rows with 1,000 permutations."""
HELD_MATRICES = 3
"""Matrices of all pairs that are held at once, with what is made of them."""


@speaks
def hsic(
    X: Any,
    Y: Any,
    kernel_x: Kernel | str = USUAL,
    kernel_y: Kernel | str = USUAL,
    *,
    lengthscale_x: float | str = "median",
    lengthscale_y: float | str = "median",
    method: str = "auto",
    null: str = "auto",
    permutations: int = 1000,
    n_landmarks: int | None = None,
    memory_limit: int | str | None = None,
    random_state: Any = None,
) -> Comparison:
    """Test whether the rows of two tables are independent, by the Hilbert-Schmidt independence criterion.

    The statistic is the unbiased estimate of the squared size of the covariance of k(x, .) and l(y, .). With U and V,
    the matrices of k and l with zeros on their diagonals and in all sums of rows, it is sum_ij U_ij V_ij / (n (n - 3)).
    Its expectation is 0 where x and y are independent, and above 0 where they are not, for kernels such as the
    Gaussian. It may be negative.

    "permutation" compares it with that of rows of Y in random orders: the p-value,
    (1 + #{permuted >= observed}) / (1 + permutations), is valid for every kernel and number of rows. The kernel, the
    lengthscale and the features of a table are chosen without a look at the other one, so that this holds for them,
    too. "spectral" draws from the law in the limit (`mercer.hypothesis_tests.spectral_null`).

    Cost for n rows and M features per table: "exact" n^2 permutations / 2 operations and 2 n^2 numbers. "features"
    2 n M^2 permutations operations and 2 n M numbers: linear in n. It is the unbiased estimate for kernels of features.

    Parameters
    ----------
    X, Y : array-like or table of shape (n_samples, n_features)
        Tables with as many rows, at least 4; row i of both belongs together.
    kernel_x, kernel_y : Kernel or str, default="gaussian('median')"
        A lengthscale of "median" is found from the rows of its own table.
    lengthscale_x, lengthscale_y : float or "median", default="median"
        For a kernel that leaves it open.
    method : {"auto", "exact", "features"}, default="auto"
        "exact" sums over all pairs. "features" takes features that stand for the kernels: exact lifts where these are
        small, else landmarks. "auto" is "exact" for up to 4,000 rows or so, "features" for more.
    null : {"auto", "permutation", "spectral"}, default="auto"
        "auto" is "permutation".
    permutations : int, default=1000
        How many, or draws of the spectral null.
    n_landmarks : int or None, default=None
        How many landmarks stand for each kernel; None for 64.
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
    >>> from mercer import hsic
    >>> angle = np.random.default_rng(0).uniform(0, 6.283, size=(200, 1))
    >>> x, y = np.cos(angle), np.sin(angle)  # a circle: without correlation, and dependent
    >>> print(hsic(x, y, "gaussian(0.5)", "gaussian(0.5)", random_state=0))
    hsic of 200 pairs of rows: statistic 0.01885, p-value 0.000999 (1,000 permutations)
      gaussian(lengthscale=0.5) and gaussian(lengthscale=0.5): all pairs

    References
    ----------
    Gretton, Fukumizu, Teo, Song, Schoelkopf, Smola, A kernel statistical test of independence, NIPS 2007.
    Song, Smola, Gretton, Bedo, Borgwardt, Feature selection via dependence maximization, JMLR 13 (2012).
    """
    settings = Settings.of(NULLS, method, null, permutations, n_landmarks, memory_limit)
    random = generator(random_state)
    given = (
        kernel_of(kernel_x, "lengthscale_x", lengthscale_x),
        kernel_of(kernel_y, "lengthscale_y", lengthscale_y),
    )
    tables = table_of("X", given[0], X), table_of("Y", given[1], Y)
    sizes = int(tables[0].values.shape[0]), int(tables[1].values.shape[0])
    if sizes[0] != sizes[1]:
        got, remedy = f"X has {sizes[0]} and Y has {sizes[1]}", "Row i of both belongs together."
        raise InputError(message("X and Y with the same number of rows", got, remedy))
    x, y = (seen_through(kernel, table, random) for kernel, table in zip(given, tables, strict=True))
    chosen = settings.chosen(sizes[0], MAX_EXACT_VALUES, _bytes_of_pairs(sizes[0]))
    if x.constant or y.constant:
        found = chosen.nothing("no two rows of one table differ")
    else:
        with calm(x.count):
            found = _compared(chosen, x, y, random)
    return found.concluded("hsic", chosen.method, (x.kernel, y.kernel), sizes, x.scale * y.scale)


def _bytes_of_pairs(rows: int) -> int:
    return 8 * HELD_MATRICES * rows**2


def _compared(settings: Settings, x: Seen, y: Seen, random: np.random.Generator) -> Finding:
    if settings.method == EXACT:
        purpose = f"two matrices of {x.count:,} rows"
        settings.budget.require(_bytes_of_pairs(x.count), purpose, 'Use method="features".')
        joint: JointPairs | JointFeatures = JointPairs.of(x, y)
        embeddings, detail = None, "all pairs"
    else:
        embeddings = _embeddings(settings, x, y, random)
        joint = JointFeatures.of(*embeddings)
        detail = " and ".join(each.detail for each in embeddings)
    found = over_orders(x.count, settings.permutations, random, joint.cost, joint.statistic)
    if settings.null == PERMUTATION:
        law = Null.of_sample(PERMUTATION, found[1:])
    else:
        law = _spectral(settings, x, y, embeddings, random)
    return Finding(float(found[0]), law, joint.usual, detail)


def _embeddings(settings: Settings, x: Seen, y: Seen, random: np.random.Generator) -> tuple[Embedding, Embedding]:
    count, rows = settings.n_landmarks or DEFAULT_FEATURES, x.count
    kinds = [kind_of(each, count, waves=False) for each in (x, y)]
    needed = 8 * (2 * rows * count + HELD_NUMBERS) + max(bytes_to_choose(kind, rows, count) for kind in kinds)
    purpose = f"{count:,} features per table of {rows:,} rows"
    settings.budget.require(needed, purpose, "Use a smaller n_landmarks.")
    return embedding_of(x, count, kinds[0], random), embedding_of(y, count, kinds[1], random)


def _spectral(
    settings: Settings,
    x: Seen,
    y: Seen,
    embeddings: tuple[Embedding, Embedding] | None,
    random: np.random.Generator,
) -> Null:
    if embeddings is None:
        known = [Spectral.of_rows(each, random) for each in (x, y)]
    else:
        known = [Spectral.of_features(each) for each in embeddings]
    spread = independence_spread(known[0].square, known[1].square, x.count)
    weights = products(known[0].weights, known[1].weights)
    return Null(SPECTRAL, draws(weights, known[0].total * known[1].total, spread, settings.draws, random), spread)
