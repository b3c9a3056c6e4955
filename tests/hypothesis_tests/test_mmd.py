"""The two-sample test against loops over pairs, for each method; what comes in, and what comes out."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from brute_force import distance_of_means, gaussian, laplace, matrix_by_loops, polynomial
from scipy.stats import norm

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, DomainError, InputError, KernelError, NumericalWarning
from mercer.hypothesis_tests import mmd, pair_sums, two_sample
from mercer.hypothesis_tests.block_test import block_moments
from mercer.hypothesis_tests.embeddings import EXACT, LANDMARKS, WAVES, embedding_of, kind_of
from mercer.hypothesis_tests.pair_sums import sums_of_features, sums_of_matrix
from mercer.hypothesis_tests.permutations import Splits
from mercer.hypothesis_tests.settings import Settings
from mercer.hypothesis_tests.validation import seen_through
from mercer.kernels import Gaussian, Laplace, Linear, Polynomial
from mercer.kernels.evaluation.evaluate import fused_from, read
from mercer.lifts.randomness import generator

SIZES = pytest.mark.parametrize("sizes", [(8, 8), (5, 11), (12, 4)], ids=str)
KERNELS = pytest.mark.parametrize(
    ("kernel", "value"),
    [(Gaussian(1.3), gaussian(1.3)), (Laplace(0.7), laplace(0.7)), (Polynomial(3), polynomial(3))],
    ids=["gaussian", "laplace", "polynomial"],
)
EVERY_WAY = pytest.mark.parametrize("method", ["exact", "features", "blocks"])


def samples(sizes, seed=0, d=2, shift=0.4):
    random = np.random.default_rng(seed)
    return random.normal(size=(sizes[0], d)), random.normal(shift, 1.2, size=(sizes[1], d))


def seen(kernel, X, Y):
    rows = np.vstack([X, Y])
    return seen_through(kernel, read(kernel, rows), np.random.default_rng(0))


def first_samples(splits):
    """Which rows belong to the first sample, for each way to part them."""
    return [np.flatnonzero(row) for row in splits.some(0, splits.count)]


# -- truth ------------------------------------------------------------------------------------------------------------


@SIZES
@KERNELS
def test_the_statistic_is_the_unbiased_estimate(sizes, kernel, value):
    X, Y = samples(sizes)
    found = mmd(X, Y, kernel, permutations=3, random_state=0)
    K = matrix_by_loops(np.vstack([X, Y]), value)
    assert found.method == "exact"
    assert found.statistic == pytest.approx(distance_of_means(K, range(sizes[0])), rel=1e-10, abs=1e-10)


@SIZES
@KERNELS
def test_permuted_statistics_are_those_of_the_permuted_rows(sizes, kernel, value):
    X, Y = samples(sizes)
    found = mmd(X, Y, kernel, permutations=20, random_state=7)
    K = matrix_by_loops(np.vstack([X, Y]), value)
    dealt = first_samples(Splits.drawn(sizes, 20, generator(7)))
    wanted = [distance_of_means(K, first) for first in dealt]
    np.testing.assert_allclose(np.r_[found.statistic, found.null_sample], wanted, rtol=1e-10, atol=1e-10)
    assert found.p_value == (1 + np.sum(np.array(wanted[1:]) >= wanted[0] - 1e-12)) / 21


def test_splits_have_the_sizes_of_the_samples_and_are_all_equally_likely():
    splits = Splits.drawn((2, 4), 15_000, np.random.default_rng(0))
    table = splits.some(0, splits.count)
    assert (table.sum(axis=1) == 2).all()
    assert table[0].tolist() == [1, 1, 0, 0, 0, 0]
    counts = np.unique(table[1:], axis=0, return_counts=True)[1]
    assert len(counts) == 15
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000 * 14 / 15)
    np.testing.assert_array_equal(splits.of_rows(slice(1, 4)), table[:, 1:4])
    np.testing.assert_array_equal(splits.some(16, 21), table[16:21])


def test_the_larger_sample_may_be_the_first():
    table = Splits.drawn((5, 2), 30, np.random.default_rng(0)).some(0, 31)
    assert (table.sum(axis=1) == 5).all()
    assert len(np.unique(table, axis=0)) > 10


@pytest.mark.parametrize("pairs", [0, 1 << 62], ids=["fused", "plain"])
def test_a_matrix_that_is_not_stored_gives_the_same(monkeypatch, pairs):
    X, Y = samples((150, 130), d=3)
    stored = mmd(X, Y, permutations=40, random_state=0)
    monkeypatch.setattr(pair_sums, "MAX_STORED_NUMBERS", 0)
    monkeypatch.setattr(pair_sums, "MAX_PRODUCT_COLUMNS", 16)
    with fused_from(pairs):
        found = mmd(X, Y, permutations=40, random_state=0)
    assert found.statistic == pytest.approx(stored.statistic, rel=1e-9)
    np.testing.assert_allclose(found.null_sample, stored.null_sample, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "kind", "most"),
    [(Polynomial(2), EXACT, 6), (Gaussian(1.0), WAVES, 40), (Gaussian(1.0).weighted(np.ravel).on(0), LANDMARKS, 40)],
)
def test_lifted_statistics_are_those_of_the_kernel_of_the_features(kernel, kind, most):
    X, Y = samples((9, 14))
    rows = seen(kernel, X, Y)
    assert kind_of(rows, 40, waves=True) == kind
    embedding = embedding_of(rows, 40, kind, np.random.default_rng(0))
    assert embedding.width <= most
    splits = Splits.drawn((9, 14), 25, np.random.default_rng(1))
    Z = embedding.lift.transform(np.vstack([X, Y]))
    found = sums_of_features(embedding, splits).statistics((9, 14))
    wanted = [distance_of_means(Z @ Z.T, first) for first in first_samples(splits)]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


def test_strips_of_features_do_not_change_the_sums(monkeypatch):
    X, Y = samples((30, 21))
    whole = mmd(X, Y, method="features", n_landmarks=20, permutations=30, random_state=0)
    monkeypatch.setattr(pair_sums, "TABLE_NUMBERS", 31 * 8)
    parts = mmd(X, Y, method="features", n_landmarks=20, permutations=30, random_state=0)
    np.testing.assert_allclose(parts.null_sample, whole.null_sample, rtol=1e-10, atol=1e-14)


def test_an_exact_lift_gives_what_all_pairs_give():
    X, Y = samples((40, 25), d=3)
    exact, features = (mmd(X, Y, Polynomial(2), method=method, random_state=3) for method in ("exact", "features"))
    assert features.detail == "10 exact features"
    assert features.statistic == pytest.approx(exact.statistic, rel=1e-9)


def test_features_approach_the_kernel():
    X, Y = samples((200, 150), shift=0.8)
    full = mmd(X, Y, "gaussian(1.5)", permutations=1).statistic
    waves = mmd(X, Y, "gaussian(1.5)", method="features", n_landmarks=20_000, permutations=1, random_state=0)
    landmarks = mmd(X, Y, "arc_cosine", method="features", n_landmarks=350, permutations=1, random_state=0)
    assert waves.statistic == pytest.approx(full, rel=0.1)
    assert waves.detail == "20,000 random Fourier features"
    wanted = mmd(X, Y, "arc_cosine", method="exact", permutations=1)
    assert landmarks.detail.endswith(" landmarks")  # nearly all rows, up to rounding
    assert landmarks.statistic == pytest.approx(wanted.statistic, rel=1e-9)


def test_blocks_are_means_over_parts_of_the_rows():
    X, Y = samples((70, 100))
    rows, K = seen(Gaussian(1.0), X, Y), Gaussian(1.0)(np.vstack([X, Y]))
    found = block_moments(rows, (70, 100), 8, np.random.default_rng(5))[0]
    random = np.random.default_rng(5)
    parts = zip(np.array_split(random.permutation(70), 8), np.array_split(70 + random.permutation(100), 8), strict=True)
    wanted = [distance_of_means(K[np.ix_(np.r_[x, y], np.r_[x, y])], range(len(x))) for x, y in parts]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    whole = mmd(X, Y, Gaussian(1.0), method="blocks", random_state=0)
    assert (whole.null, whole.permutations, len(whole.null_sample)) == ("normal", 0, 0)
    statistics, variances, thirds = block_moments(rows, (70, 100), 8, generator(0))
    assert whole.statistic == np.mean(statistics)
    assert whole.spread == pytest.approx(np.sqrt(variances.sum()) / 8)
    z, skewness = whole.statistic / whole.spread, thirds.sum() / variances.sum() ** 1.5
    assert whole.p_value == pytest.approx(norm.sf(z) + norm.pdf(z) * (z**2 - 1) * skewness / 6)


def test_equal_statistics_count_as_equal_whatever_rounding_does():
    random = np.random.default_rng(0)
    for _ in range(10):
        X, Y = random.integers(2, size=(9, 3)) / 10, random.integers(2, size=(7, 3)) / 10  # tenths are rounded
        found = mmd(X, Y, Linear(), permutations=60, random_state=1)
        rows = [[Fraction(round(10 * number), 10) for number in row] for row in np.vstack([X, Y])]
        K = [[sum(a * b for a, b in zip(x, z, strict=True)) for z in rows] for x in rows]
        dealt = first_samples(Splits.drawn((9, 7), 60, generator(1)))
        exact = [distance_of_means(K, first.tolist()) for first in dealt]
        assert found.p_value == (1 + sum(each >= exact[0] for each in exact[1:])) / 61


# -- what it is invariant to ------------------------------------------------------------------------------------------


@EVERY_WAY
def test_the_same_seed_gives_the_same_bits(method):
    X, Y = samples((80, 90))
    first, again, other = (mmd(X, Y, method=method, random_state=seed, permutations=50) for seed in (3, 3, 4))
    assert (first.statistic, first.p_value) == (again.statistic, again.p_value)
    np.testing.assert_array_equal(first.null_sample, again.null_sample)
    assert method == "blocks" or not np.array_equal(first.null_sample, other.null_sample)


def test_a_generator_is_used_up():
    X, Y = samples((10, 10))
    random = np.random.default_rng(0)
    first, second = (mmd(X, Y, random_state=random, permutations=50) for _ in range(2))
    assert not np.array_equal(first.null_sample, second.null_sample)


@pytest.mark.parametrize("method", ["exact", "features"])
def test_samples_may_change_places(method):
    X, Y = samples((30, 45))
    here, there = mmd(X, Y, method=method, random_state=0), mmd(Y, X, method=method, random_state=0)
    assert here.statistic == pytest.approx(there.statistic, rel=1e-10)
    assert here.kernel == there.kernel
    assert abs(here.p_value - there.p_value) < 0.05
    assert (here.sizes, there.sizes) == ((30, 45), (45, 30))


def test_the_lengthscale_is_the_median_of_all_rows():
    X, Y = samples((20, 30))
    assert mmd(X, Y, permutations=1).kernel == Gaussian("median").resolve(np.vstack([X, Y]))
    assert mmd(X, Y, "gaussian('median')", lengthscale=2.5, permutations=1).kernel == Gaussian(2.5)
    assert mmd(X, Y, "gaussian('median') + linear", lengthscale=2, permutations=1).kernel == Gaussian(2) + Linear()
    assert mmd(X, Y, "gaussian", permutations=1).kernel == Gaussian("median").resolve(np.vstack([X, Y]))


def test_tables_of_all_kinds_give_the_same():
    X, Y = samples((12, 15))
    X[X < 0] = 0.0
    Y[Y < 0] = 0.0
    wanted = mmd(X, Y, permutations=10, random_state=0)
    names = ["a", "b"]
    for convert in (
        sp.csr_matrix,
        sp.coo_array,
        lambda rows: rows.tolist(),
        lambda rows: pd.DataFrame(rows, columns=names),
        lambda rows: pl.DataFrame(rows, schema=names),
    ):
        found = mmd(convert(X), convert(Y), permutations=10, random_state=0)
        np.testing.assert_allclose(found.null_sample, wanted.null_sample, rtol=1e-9, atol=1e-13)
    assert mmd(sp.csr_array(X), Y, permutations=10).statistic == pytest.approx(wanted.statistic, rel=1e-9)


def test_sparse_tables_are_lifted_too():
    X, Y = samples((40, 50), d=5)
    X[X < 0.5], Y[Y < 0.5] = 0.0, 0.0
    for kernel in (Gaussian(1.0), Linear()):
        found = mmd(
            sp.csr_array(X), sp.csr_array(Y), kernel, method="features", n_landmarks=30, permutations=20, random_state=0
        )
        dense = mmd(X, Y, kernel, method="features", n_landmarks=30, permutations=20, random_state=0)
        assert np.isfinite(found.null_sample).all()
        assert kernel != Linear() or found.statistic == pytest.approx(dense.statistic, rel=1e-8)


def test_columns_at_which_the_kernel_does_not_look_may_hold_anything():
    frame = pd.DataFrame({"x": np.arange(10.0), "name": list("abcdefghij")})
    found = mmd(frame[:5], frame[5:], "gaussian(1).on('x')", permutations=9, random_state=0)
    wanted = mmd(frame[["x"]][:5], frame[["x"]][5:], "gaussian(1)", permutations=9, random_state=0)
    assert found.statistic == pytest.approx(wanted.statistic)


def test_float32_is_computed_in_float64():
    X, Y = (rows.astype(np.float32) for rows in samples((10, 12)))
    narrow = mmd(X, Y, Gaussian(1.0), permutations=5, random_state=0)
    wide = mmd(X.astype(float), Y.astype(float), Gaussian(1.0), permutations=5, random_state=0)
    assert narrow.statistic == wide.statistic


# -- what it finds ----------------------------------------------------------------------------------------------------


@EVERY_WAY
@pytest.mark.parametrize("change", ["shift", "spread"])
def test_a_difference_is_found(method, change):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(300, 2)), random.normal(size=(250, 2))
    Y = Y + 0.7 if change == "shift" else 2.5 * Y
    assert mmd(X, Y, method=method, permutations=200, random_state=0).p_value < 0.01


@pytest.mark.parametrize("method", ["exact", "features"])
def test_the_spectral_null_finds_it_too(method):
    X, Y = samples((150, 80), shift=0.7)
    found = mmd(X, Y, method=method, null="spectral", random_state=0)
    assert found.p_value < 0.01
    assert found.null == "spectral"
    assert found.spread == pytest.approx(mmd(X, Y, method=method, random_state=0).spread, rel=0.1)


@pytest.mark.filterwarnings("ignore:Gaussian finds no two different rows")
@EVERY_WAY
@pytest.mark.parametrize("kernel", ["gaussian('median')", "linear", "polynomial(2)"])
def test_rows_that_are_all_equal_do_not_differ(method, kernel):
    for rows in (np.full((70, 2), 0.3), np.zeros((70, 2)), sp.csr_array(np.full((70, 2), 0.3))):
        found = mmd(rows, rows, kernel, method=method, permutations=20, random_state=0)
        assert (found.statistic, found.p_value, found.spread) == (0.0, 1.0, 0.0)


def test_two_constants_differ():
    X, Y = np.zeros((80, 1)), np.ones((70, 1))
    for method in ("exact", "features", "blocks"):
        found = mmd(X, Y, "gaussian(1)", method=method, permutations=99, random_state=0)
        assert found.p_value <= 0.01
        assert method == "features" or found.statistic == pytest.approx(2 - 2 * np.exp(-0.5))


def test_a_kernel_that_is_zero_finds_nothing():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for kernel in ("linear.weighted", "constant(0)"):
        given = Linear().weighted(lambda rows: np.zeros(len(rows))) if kernel.startswith("linear") else kernel
        for method in ("exact", "features"):
            assert mmd(X[:8], X[8:], given, method=method, permutations=9, random_state=0).p_value == 1.0


def test_rounding_that_decides_is_told():
    X, Y = samples((50, 50))
    with pytest.warns(NumericalWarning, match="rounding may move it"):
        mmd(1e7 + X, 1e7 + Y, "linear", permutations=20, random_state=0)
    mmd(1e7 + X, 1e7 + Y, "gaussian(1)", permutations=20, random_state=0)  # distances lose nothing


# -- memory -----------------------------------------------------------------------------------------------------------


def test_lifted_memory_is_linear_in_the_rows(monkeypatch):
    monkeypatch.setattr("mercer.hypothesis_tests.embeddings.STRIP_NUMBERS", 1 << 18)
    monkeypatch.setattr(pair_sums, "TABLE_NUMBERS", 1 << 18)
    X, Y = samples((15_000, 15_000), d=2)
    tracemalloc.start()
    found = mmd(X, Y, "gaussian(1)", method="features", n_landmarks=400, permutations=40, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.detail == "400 random Fourier features"
    assert peak < 30e6  # all features would be 96 MB


def test_what_does_not_fit_is_refused():
    X, Y = samples((20_000, 20_000), d=1)
    with pytest.raises(BudgetError, match=r"mmd needs .* for 500 features and 1,000 permutations of 40,000 rows"):
        mmd(X, Y, "gaussian(1)", memory_limit="10 MB")


def test_auto_takes_all_pairs_of_few_rows_and_features_of_many(monkeypatch):
    X, Y = samples((64, 64))
    assert mmd(X, Y, permutations=10).method == "exact"
    assert mmd(X, Y, null="normal").method == "blocks"
    monkeypatch.setattr(two_sample, "MAX_EXACT_VALUES", 128.0**2 * 60)
    assert mmd(X, Y, permutations=10).method == "exact"
    assert mmd(X, Y, permutations=11, n_landmarks=4).method == "features"
    assert mmd(X, Y, permutations=11, null="spectral").method == "exact"  # nothing is permuted


@pytest.mark.parametrize(
    ("rows", "permutations", "method"), [(5_000, 1000, "exact"), (6_000, 1000, "features"), (9_000, 200, "exact")]
)
def test_auto_counts_pairs_and_permutations(rows, permutations, method):
    asked = Settings.of(two_sample.NULLS, "auto", "auto", permutations, None, "1 GB")
    assert asked.chosen(rows, two_sample.MAX_EXACT_VALUES, 0).method == method
    assert asked.chosen(rows, two_sample.MAX_EXACT_VALUES, 2 * 10**9).method == "features"


def test_the_matrix_is_kept_within_half_of_the_budget():
    rows = seen(Gaussian(1.0), *samples((50, 50)))
    assert type(pair_sums.matrix_of(rows, Budget(160_000))).__name__ == "Dense"
    assert type(pair_sums.matrix_of(rows, Budget(159_999))).__name__ == "Gram"
    dense, lazy = (
        sums_of_matrix(pair_sums.matrix_of(rows, budget), Splits.drawn((50, 50), 9, np.random.default_rng(0)))
        for budget in (Budget(1 << 30), Budget(1))
    )
    np.testing.assert_allclose(dense.inside, lazy.inside, rtol=1e-12)


# -- bad input --------------------------------------------------------------------------------------------------------

GOOD = np.random.default_rng(0).normal(size=(10, 2))


@pytest.mark.parametrize(
    ("X", "Y", "settings", "error", "match"),
    [
        (GOOD[:, 0], GOOD, {}, InputError, r"mmd \(X\) needs a table .*reshape\(-1, 1\)"),
        (GOOD, GOOD[:, :1], {}, InputError, "X has 2 and Y has 1"),
        (GOOD[:3], GOOD, {}, InputError, "at least 4 rows of each; X has 3"),
        (GOOD, GOOD[:0], {}, InputError, "empty table"),
        (GOOD, np.where(GOOD > 1, np.nan, GOOD), {}, InputError, r"mmd \(Y\) needs finite numbers"),
        (GOOD, GOOD.astype(str), {}, InputError, "needs numbers"),
        (GOOD, GOOD + 1j, {}, InputError, "needs real numbers"),
        (pd.DataFrame(GOOD, columns=["a", "b"]), pd.DataFrame(GOOD, columns=["b", "a"]), {}, InputError, "column 0 is"),
        (GOOD, GOOD, {"method": "half"}, InputError, "method that is one of 'auto', 'exact', 'features', 'blocks'"),
        (GOOD, GOOD, {"null": 3}, InputError, "null that is one of"),
        (GOOD, GOOD, {"method": "blocks", "null": "spectral"}, InputError, "null='normal' for method='blocks'"),
        (GOOD, GOOD, {"method": "exact", "null": "normal"}, InputError, "null='permutation' or 'spectral'"),
        (GOOD, GOOD, {"method": "blocks"}, InputError, "at least 64 rows of each for blocks; got 10"),
        (GOOD, GOOD, {"permutations": 0}, InputError, "a positive integer for permutations"),
        (GOOD, GOOD, {"permutations": 10.0}, InputError, "a positive integer for permutations"),
        (GOOD, GOOD, {"permutations": True}, InputError, "a positive integer for permutations"),
        (GOOD, GOOD, {"n_landmarks": 0, "method": "features"}, InputError, "a positive integer for n_landmarks"),
        (GOOD, GOOD, {"memory_limit": "much"}, InputError, "memory budget"),
        (GOOD, GOOD, {"kernel": 3}, KernelError, "mmd needs a kernel or its text"),
        (GOOD, GOOD, {"kernel": "gausian"}, KernelError, "gausian"),
        (GOOD, GOOD, {"kernel": "min"}, DomainError, "non-negative"),
        (GOOD, GOOD, {"lengthscale": -1.0}, InputError, "a positive number for lengthscale"),
        (GOOD, GOOD, {"lengthscale": "mean"}, InputError, "a positive number for lengthscale"),
        (GOOD, GOOD, {"kernel": "gaussian(1)", "lengthscale": 2.0}, InputError, "an open lengthscale"),
        (1e200 * GOOD, GOOD, {}, InputError, "finite squared distances"),
        (1e200 * GOOD, GOOD, {"kernel": "linear"}, InputError, "overflows on this data"),
        (sp.csr_array(np.abs(GOOD)), sp.csr_array(np.abs(GOOD)), {"kernel": "min"}, InputError, "dense table"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict | str) else "",
)
def test_bad_input_is_refused(X, Y, settings, error, match):
    with pytest.raises(error, match=match):
        mmd(X, Y, **settings)
