"""What statistics are compared with: p-values are uniform without a difference, and laws have the right moments."""

from itertools import combinations, permutations

import numpy as np
import pytest
from brute_force import dependence_by_sums, distance_of_means, uniform
from scipy.stats import kstest

from mercer.hypothesis_tests import hsic, mmd
from mercer.hypothesis_tests.embeddings import EXACT, embedding_of
from mercer.hypothesis_tests.result import Null
from mercer.hypothesis_tests.spectral_null import CHI_SQUARED_WEIGHTS, Spectral, draws, products
from mercer.hypothesis_tests.unbiased import independence_spread, inner, two_sample_spread, two_sample_third, zero_sums
from mercer.hypothesis_tests.validation import seen_through
from mercer.kernels import Gaussian, Polynomial
from mercer.kernels.evaluation.evaluate import read

REPEATS, DRAWS = 200, 39


def seen(kernel, X):
    return seen_through(kernel, read(kernel, X), np.random.default_rng(0))


def normal_rows(random, n):
    return random.normal(size=(n, 2))


def few_values(random, n):
    return random.integers(3, size=(n, 1)).astype(float)


# -- p-values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "settings"),
    [
        ((15, 15), {}),
        ((6, 24), {}),
        ((20, 20), {"null": "spectral"}),
        ((12, 40), {"null": "spectral"}),
        ((15, 20), {"method": "features", "n_landmarks": 20}),
        ((30, 20), {"method": "features", "n_landmarks": 20, "null": "spectral"}),
        ((20, 15), {"kernel": "rational_quadratic(lengthscale=1)", "method": "features", "n_landmarks": 8}),
    ],
    ids=str,
)
def test_p_values_of_equal_laws_are_uniform(sizes, settings):
    random = np.random.default_rng(1)
    found = [
        mmd(
            normal_rows(random, sizes[0]), normal_rows(random, sizes[1]), permutations=DRAWS, random_state=i, **settings
        )
        for i in range(REPEATS)
    ]
    assert kstest(uniform([each.p_value for each in found], DRAWS, random), "uniform").pvalue > 1e-3
    expected = np.std([each.statistic for each in found], ddof=1) / np.sqrt(REPEATS)
    assert abs(np.mean([each.statistic for each in found])) < 4 * expected  # unbiased


@pytest.mark.parametrize("settings", [{}, {"null": "spectral"}, {"method": "features", "n_landmarks": 12}], ids=str)
def test_p_values_of_independent_tables_are_uniform(settings):
    random = np.random.default_rng(2)
    found = [
        hsic(normal_rows(random, 25), random.exponential(size=(25, 1)), permutations=DRAWS, random_state=i, **settings)
        for i in range(REPEATS)
    ]
    assert kstest(uniform([each.p_value for each in found], DRAWS, random), "uniform").pvalue > 1e-3
    expected = np.std([each.statistic for each in found], ddof=1) / np.sqrt(REPEATS)
    assert abs(np.mean([each.statistic for each in found])) < 4 * expected


def test_the_normal_null_of_blocks_is_nearly_uniform():
    random = np.random.default_rng(3)
    found = [
        mmd(normal_rows(random, 100), normal_rows(random, 80), "gaussian(2)", method="blocks", random_state=i).p_value
        for i in range(REPEATS)
    ]
    assert kstest(found, "uniform").pvalue > 1e-3
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.06)


def test_ties_make_p_values_larger_not_smaller():
    random = np.random.default_rng(4)
    found = [
        mmd(few_values(random, 8), few_values(random, 7), "gaussian(1)", permutations=DRAWS, random_state=i).p_value
        for i in range(REPEATS)
    ]
    for level in (0.05, 0.1, 0.25, 0.5):
        share = np.mean(np.array(found) <= level)
        assert share <= level + 3.3 * np.sqrt(level * (1 - level) / REPEATS)


# -- moments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4, 4), (3, 6), (5, 4)], ids=str)
def test_the_scatter_over_all_ways_to_part_the_rows_is_known(sizes):
    X = normal_rows(np.random.default_rng(0), sum(sizes))
    K = Gaussian(1.0)(X)
    every = [distance_of_means(K, first) for first in combinations(range(len(X)), sizes[0])]
    assert np.mean(every) == pytest.approx(0.0, abs=1e-12)
    square = Spectral.of_rows(seen(Gaussian(1.0), X), np.random.default_rng(0)).square
    assert two_sample_spread(square, sizes) == pytest.approx(np.std(every), rel=1e-10)
    assert two_sample_third(zero_sums(K.copy()), sizes) == pytest.approx(np.mean(np.power(every, 3)), rel=1e-9)


def test_the_scatter_over_all_orders_is_known():
    random = np.random.default_rng(0)
    X, Y = normal_rows(random, 6), random.normal(size=(6, 1))
    K, L = Gaussian(1.0)(X), Gaussian(0.5)(Y)
    every = [dependence_by_sums(K, L[np.ix_(order, order)]) for order in map(list, permutations(range(6)))]
    assert np.mean(every) == pytest.approx(0.0, abs=1e-12)
    squares = [
        Spectral.of_rows(seen(kernel, rows), random).square for kernel, rows in ((Gaussian(1.0), X), (Gaussian(0.5), Y))
    ]
    assert independence_spread(*squares, 6) == pytest.approx(np.std(every), rel=1e-10)


def test_sums_of_centred_matrices_give_the_estimate():
    random = np.random.default_rng(0)
    K, L = Gaussian(1.0)(normal_rows(random, 9)), Gaussian(1.0)(normal_rows(random, 9))
    H = np.eye(9) - 1 / 9
    A, B = H @ K @ H, H @ L @ H
    found = inner(np.sum(A * B), np.diag(A) @ np.diag(B), np.trace(A), np.trace(B), 9)
    assert found == pytest.approx(dependence_by_sums(K, L), rel=1e-10)


def test_features_have_the_spectrum_of_their_matrix():
    X, kernel = normal_rows(np.random.default_rng(0), 40), Polynomial(2)
    rows = seen(kernel, X)
    whole = Spectral.of_rows(rows, np.random.default_rng(0))
    lifted = Spectral.of_features(embedding_of(rows, 6, EXACT, np.random.default_rng(0)))
    np.testing.assert_allclose(lifted.weights, whole.weights[:6], rtol=1e-9, atol=1e-12)
    assert lifted.square == pytest.approx(whole.square, rel=1e-9)
    H = np.eye(40) - 1 / 40
    wanted = np.linalg.eigvalsh(H @ kernel(X) @ H)[::-1][:6] / 40
    np.testing.assert_allclose(lifted.weights, wanted, rtol=1e-9, atol=1e-12)


def test_a_sample_of_rows_stands_for_all(monkeypatch):
    rows = seen(Gaussian(1.0), normal_rows(np.random.default_rng(0), 300))
    whole = Spectral.of_rows(rows, np.random.default_rng(0))
    monkeypatch.setattr("mercer.hypothesis_tests.spectral_null.MAX_SAMPLE_ROWS", 150)
    part = Spectral.of_rows(rows, np.random.default_rng(0))
    assert len(part.weights) == 150
    assert part.square == pytest.approx(whole.square, rel=0.2)
    np.testing.assert_allclose(part.weights[:3], whole.weights[:3], rtol=0.25)


# -- draws ------------------------------------------------------------------------------------------------------------


def test_draws_have_the_moments_of_a_weighted_sum():
    weights = 0.7 ** np.arange(12)
    total = float(weights @ weights)
    found = draws(weights, total, 2.0, 200_000, np.random.default_rng(0))
    assert np.mean(found) == pytest.approx(0.0, abs=0.02)
    assert np.std(found) == pytest.approx(2.0, rel=0.02)
    skew = 8 * np.sum(weights**3) / (2 * total) ** 1.5
    assert np.mean((found / 2.0) ** 3) == pytest.approx(skew, rel=0.05)


def test_small_weights_add_a_normal_number():
    weights = np.full(4 * CHI_SQUARED_WEIGHTS, 0.1)
    found = draws(weights[:CHI_SQUARED_WEIGHTS], float(weights @ weights), 1.0, 20_000, np.random.default_rng(0))
    assert np.std(found) == pytest.approx(1.0, rel=0.03)


def test_no_weights_and_no_scatter_are_zeros():
    assert not draws(np.zeros(3), 0.0, 1.0, 5, np.random.default_rng(0)).any()
    assert not draws(np.ones(3), 3.0, 0.0, 5, np.random.default_rng(0)).any()


def test_products_are_the_largest_ones():
    left, right = np.array([4.0, 2.0, 1.0]), np.array([3.0, 1.0])
    assert products(left, right).tolist() == [12.0, 6.0, 4.0, 3.0, 2.0, 1.0]
    many = 1 / np.arange(1.0, 2 * CHI_SQUARED_WEIGHTS)
    found = products(many, many)
    assert len(found) == CHI_SQUARED_WEIGHTS
    assert found[-1] == pytest.approx(np.sort(np.outer(many, many), axis=None)[-CHI_SQUARED_WEIGHTS])


# -- p-values of given laws -------------------------------------------------------------------------------------------


def test_the_statistic_counts_as_a_draw():
    null = Null.of_sample("permutation", np.array([0.0, 1.0, 2.0, 3.0]))
    assert null.p_value(1.5, 0.0) == 3 / 5
    assert null.p_value(2.0, 0.0) == 3 / 5
    assert null.p_value(2.0 + 1e-12, 1e-11) == 3 / 5
    assert null.p_value(9.0, 0.0) == 1 / 5


def test_a_normal_law_has_a_tail():
    null = Null("normal", np.empty(0), 2.0)
    assert null.p_value(0.0, 0.0) == 0.5
    assert Null("normal", np.empty(0), 2.0, 0.6).p_value(0.0, 0.0) == pytest.approx(0.5 - 0.1 / np.sqrt(2 * np.pi))
    assert Null("normal", np.empty(0), 2.0, 0.6).p_value(4.0, 0.0) == pytest.approx(
        0.0227501 + 0.3 * 0.0539910, rel=1e-5
    )
    assert null.p_value(2 * 1.6448536269514722, 0.0) == pytest.approx(0.05)
    assert Null("normal", np.empty(0), 0.0).p_value(1.0, 1e-13) == 0.0
    assert Null("normal", np.empty(0), 0.0).p_value(0.0, 1e-13) == 1.0
