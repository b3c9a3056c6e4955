"""The test of independence against loops over quadruples, for each method; what goes in, and what comes out."""

import tracemalloc
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from brute_force import dependence, dependence_by_sums, gaussian, matrix_by_loops

from mercer.errors import BudgetError, InputError
from mercer.hypothesis_tests import hsic, joint
from mercer.hypothesis_tests.embeddings import LANDMARKS, embedding_of
from mercer.hypothesis_tests.joint import JointFeatures, JointPairs
from mercer.hypothesis_tests.validation import seen_through
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.kernels.evaluation.evaluate import read
from mercer.lifts.randomness import generator

BOTH_WAYS = pytest.mark.parametrize("method", ["exact", "features"])


def tables(n, seed=0, strength=0.5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    return X, random.normal(size=(n, 3)) + strength * X[:, :1] ** 2


def seen(kernel, X):
    return seen_through(kernel, read(kernel, X), np.random.default_rng(0))


def orders(n, count, seed):
    random = generator(seed)
    return [np.arange(n), *(random.permutation(n) for _ in range(count))]


# -- truth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5, 7])
def test_the_statistic_is_the_unbiased_estimate(n):
    X, Y = tables(n)
    found = hsic(X, Y, Gaussian(1.2), Gaussian(0.8), permutations=2, random_state=0)
    wanted = dependence(matrix_by_loops(X, gaussian(1.2)), matrix_by_loops(Y, gaussian(0.8)))
    assert found.method == "exact"
    assert found.statistic == pytest.approx(wanted, rel=1e-10, abs=1e-12)


def test_the_two_formulas_of_the_tests_agree():
    X, Y = tables(6)
    K, L = Gaussian(1.0)(X), Linear()(Y)
    assert dependence(K, L) == pytest.approx(dependence_by_sums(K, L), rel=1e-10)


@pytest.mark.parametrize("strip", [1, 64, 1 << 17])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(2)], ids=str)
def test_permuted_statistics_are_those_of_the_permuted_rows(monkeypatch, kernel, strip):
    monkeypatch.setattr(joint, "STRIP_NUMBERS", strip)
    X, Y = tables(14)
    found = hsic(X, Y, kernel, Gaussian(0.8), permutations=15, random_state=3)
    K, L = kernel(X), matrix_by_loops(Y, gaussian(0.8))
    wanted = [dependence_by_sums(K, L[np.ix_(order, order)]) for order in orders(14, 15, 3)]
    np.testing.assert_allclose(np.r_[found.statistic, found.null_sample], wanted, rtol=1e-10, atol=1e-11)
    assert found.p_value == (1 + np.sum(np.array(wanted[1:]) >= wanted[0] - 1e-12)) / 16


def test_threads_share_permutations_without_a_trace():
    X, Y = tables(300)  # enough for threads
    found = hsic(X, Y, Gaussian(1.0), Gaussian(1.0), permutations=9, random_state=1)
    K, L = Gaussian(1.0)(X), Gaussian(1.0)(Y)
    wanted = [dependence_by_sums(K, L[np.ix_(order, order)]) for order in orders(300, 9, 1)]
    np.testing.assert_allclose(np.r_[found.statistic, found.null_sample], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("strip", [40, 1 << 17])
def test_lifted_statistics_are_those_of_the_kernels_of_the_features(monkeypatch, strip):
    monkeypatch.setattr(joint, "STRIP_NUMBERS", strip)
    X, Y = tables(16)
    random = np.random.default_rng(0)
    x = embedding_of(seen(Gaussian(1.0), X), 6, LANDMARKS, random)
    y = embedding_of(seen(Gaussian(1.5), Y), 9, LANDMARKS, random)
    both = JointFeatures.of(x, y)
    K, L = (lift.transform(rows) @ lift.transform(rows).T for lift, rows in ((x.lift, X), (y.lift, Y)))
    for order in orders(16, 10, 0):
        wanted = dependence_by_sums(K, L[np.ix_(order, order)])
        assert both.statistic(order) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_exact_lifts_give_what_all_pairs_give():
    X, Y = tables(40)
    exact, features = (
        hsic(X, Y, Polynomial(2), Linear(), method=method, random_state=3) for method in ("exact", "features")
    )
    assert features.detail == "6 exact features and 3 exact features"
    np.testing.assert_allclose(features.null_sample, exact.null_sample, rtol=1e-8, atol=1e-12)


def test_landmarks_approach_the_kernel():
    X, Y = tables(120)
    exact = hsic(X, Y, "gaussian(2)", "gaussian(2)", permutations=1, random_state=0)
    features = hsic(
        X, Y, "gaussian(2)", "gaussian(2)", method="features", n_landmarks=100, permutations=1, random_state=0
    )
    assert features.statistic == pytest.approx(exact.statistic, rel=0.02)


# -- what it is invariant to ------------------------------------------------------------------------------------------


@BOTH_WAYS
def test_the_same_seed_gives_the_same_bits(method):
    X, Y = tables(60)
    first, again, other = (hsic(X, Y, method=method, random_state=seed, permutations=50) for seed in (3, 3, 4))
    assert (first.statistic, first.p_value) == (again.statistic, again.p_value)
    np.testing.assert_array_equal(first.null_sample, again.null_sample)
    assert not np.array_equal(first.null_sample, other.null_sample)


def test_tables_may_change_places():
    X, Y = tables(40)
    here, there = hsic(X, Y, random_state=0), hsic(Y, X, random_state=0)
    assert here.statistic == pytest.approx(there.statistic, rel=1e-10)
    assert here.kernels == there.kernels[::-1]
    assert abs(here.p_value - there.p_value) < 0.05


def test_lengthscales_are_medians_of_their_own_tables():
    X, Y = tables(30)
    found = hsic(X, Y, permutations=1)
    assert found.kernels == (Gaussian("median").resolve(X), Gaussian("median").resolve(Y))
    found = hsic(X, Y, "gaussian('median')", "gaussian('median')", lengthscale_x=2, lengthscale_y=3.0, permutations=1)
    assert found.kernels == (Gaussian(2.0), Gaussian(3.0))


def test_tables_of_all_kinds_give_the_same():
    X, Y = tables(15)
    X[X < 0] = 0.0
    wanted = hsic(X, Y, permutations=10, random_state=0)
    frame = pd.DataFrame(Y, columns=list("abc"))
    for left, right in ((sp.csr_array(X), Y), (X.tolist(), frame), (sp.coo_matrix(X), sp.csr_matrix(Y))):
        found = hsic(left, right, permutations=10, random_state=0)
        np.testing.assert_allclose(found.null_sample, wanted.null_sample, rtol=1e-9, atol=1e-13)
    found = hsic(sp.csr_array(X), Y, method="features", permutations=10, random_state=0)
    assert found.statistic == pytest.approx(wanted.statistic, rel=0.05)


# -- what it finds ----------------------------------------------------------------------------------------------------


@BOTH_WAYS
@pytest.mark.parametrize("null", ["permutation", "spectral"])
def test_dependence_is_found(method, null):
    X, Y = tables(150)
    found = hsic(X, Y, method=method, null=null, permutations=200, random_state=0)
    assert found.p_value < 0.01
    assert found.null == null


def test_the_scatter_of_the_spectral_null_is_that_of_permutations():
    X, Y = tables(80)
    spectral, permuted = (hsic(X, Y, null=null, random_state=0).spread for null in ("spectral", "permutation"))
    assert spectral == pytest.approx(permuted, rel=0.1)


@pytest.mark.filterwarnings("ignore:Gaussian finds no two different rows")
@BOTH_WAYS
def test_a_table_that_is_constant_depends_on_nothing(method):
    X, Y = tables(30)
    for left, right in ((X, np.full((30, 1), 0.7)), (np.zeros((30, 2)), Y), (sp.csr_array((30, 2)), X)):
        found = hsic(left, right, method=method, permutations=20, random_state=0)
        assert (found.statistic, found.p_value, found.spread) == (0.0, 1.0, 0.0)


@BOTH_WAYS
def test_labels_that_repeat_are_ties(method):
    random = np.random.default_rng(0)
    labels = np.repeat([[0.0], [0.1]], 10, axis=0)
    found = hsic(labels, labels, "gaussian(0.1)", "gaussian(0.1)", method=method, permutations=500, random_state=0)
    assert found.p_value < 0.01
    noise = random.permutation(labels)
    once, again = (
        hsic(labels, rows, "gaussian(0.1)", "gaussian(0.1)", method=method, permutations=3000, random_state=0).p_value
        for rows in (noise, np.vstack([noise[9::-1], noise[:9:-1]]))  # the same table of counts
    )
    counts = [np.sum(random.permutation(labels)[:10] > 0) for _ in range(20_000)]
    far = np.abs(np.array(counts) - 5.0) >= abs(np.sum(noise[:10] > 0) - 5.0)
    assert once == pytest.approx(np.mean(far), abs=0.04)
    assert again == pytest.approx(np.mean(far), abs=0.04)


# -- memory -----------------------------------------------------------------------------------------------------------


def test_lifted_memory_is_linear_in_the_rows():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(20_000, 1)), random.normal(size=(20_000, 1))
    tracemalloc.start()
    found = hsic(X, Y, "gaussian(1)", "gaussian(1)", n_landmarks=16, permutations=200, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.method == "features"
    assert peak < 90e6  # a matrix of all pairs would be 3.2 GB


def test_what_does_not_fit_is_refused():
    X = np.zeros((3000, 1))
    X[0] = 1.0
    with pytest.raises(BudgetError, match=r"hsic needs .* for two matrices of 3,000 rows"):
        hsic(X, X, "gaussian(1)", "gaussian(1)", method="exact", memory_limit="100 MB")
    found = hsic(X, X, "gaussian(1)", "gaussian(1)", memory_limit="100 MB", n_landmarks=2, permutations=5)
    assert found.method == "features"
    with pytest.raises(BudgetError, match=r"hsic needs .* for 64 features per table of 3,000 rows"):
        hsic(X, X, "gaussian(1)", "gaussian(1)", method="features", memory_limit="1 MB")


def test_the_mean_over_all_orders_is_zero():
    X, Y = tables(6)
    pairs = JointPairs.of(seen(Gaussian(1.0), X), seen(Gaussian(2.0), Y))
    found = [pairs.statistic(np.array(order)) for order in permutations(range(6))]
    assert np.mean(found) == pytest.approx(0.0, abs=1e-12)


# -- bad input --------------------------------------------------------------------------------------------------------

GOOD = np.random.default_rng(0).normal(size=(10, 2))


@pytest.mark.parametrize(
    ("X", "Y", "settings", "match"),
    [
        (GOOD, GOOD[:, 0], {}, r"hsic \(Y\) needs a table .*reshape\(-1, 1\)"),
        (GOOD, GOOD[:9], {}, "X has 10 and Y has 9"),
        (GOOD[:3], GOOD[:3], {}, "at least 4 rows of each; X has 3"),
        (np.where(GOOD > 1, np.inf, GOOD), GOOD, {}, r"hsic \(X\) needs finite numbers"),
        (GOOD, GOOD, {"method": "blocks"}, "method that is one of 'auto', 'exact', 'features'; got 'blocks'"),
        (GOOD, GOOD, {"null": "normal"}, "null that is one of 'auto', 'permutation', 'spectral'"),
        (GOOD, GOOD, {"permutations": -5}, "a positive integer for permutations"),
        (GOOD, GOOD, {"n_landmarks": 2.5}, "a positive integer for n_landmarks"),
        (GOOD, GOOD, {"kernel_x": None}, "a kernel or its text"),
        (GOOD, GOOD, {"kernel_y": "linear", "lengthscale_y": 1.0}, "an open lengthscale for lengthscale_y=1.0"),
        (GOOD, 1e200 * GOOD, {}, "finite squared distances"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict | str) else "",
)
def test_bad_input_is_refused(X, Y, settings, match):
    with pytest.raises(InputError if "kernel_x" not in settings else ValueError, match=match):
        hsic(X, Y, **settings)
