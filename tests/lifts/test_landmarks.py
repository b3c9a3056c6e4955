"""Pivoted Cholesky factors and the choice of landmarks: against dense NumPy, and the exact law of the pivots."""

from itertools import pairwise, permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mercer.compute.codegen.tiles import Fused
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import Run
from mercer.errors import BudgetError, InputError, KernelError
from mercer.kernels import Gaussian, Laplace, Linear, Min, Sigmoid, Spectrum
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import points_from
from mercer.lifts import landmarks, pivoting
from mercer.lifts.landmarks import check_table, equal_rows, number, way
from mercer.lifts.nystrom import Nystrom
from mercer.lifts.pivoting import (
    RELATIVE_TOLERANCE,
    Blocks,
    RandomPivots,
    cholesky,
    pivots_one_by_one,
    strips,
    tolerance,
    weights,
    whitened,
)


def rows(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def pivots_of(kernel, X, count, seed=0):
    return RandomPivots.of(kernel, points_from(X), count).run(np.random.default_rng(seed))


def by_blocks(K, count, random):
    return RandomPivots(np.diag(K), lambda i, j: K[i][:, j], count).run(random)


both = pytest.mark.parametrize("choose", [by_blocks, pivots_one_by_one])


# -- triangular solves ------------------------------------------------------------------------------------------------


def test_whitening_is_a_product_with_the_inverse():
    upper = np.asfortranarray(np.triu(rows(5, 5)) + 3 * np.eye(5))
    values = rows(7, 5, seed=1)
    features = whitened(upper, values.copy())
    np.testing.assert_allclose(features, values @ np.linalg.inv(upper), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(weights(upper, features), values @ np.linalg.inv(upper.T @ upper), atol=1e-13)


def test_strips_cover_all_rows_once():
    parts = strips(10_000_001, 1000)
    assert parts[0].start == 0
    assert parts[-1].stop >= 10_000_001
    assert all(a.stop == b.start for a, b in pairwise(parts))
    assert strips(3, 1 << 40) == [slice(0, 1), slice(1, 2), slice(2, 3)]


# -- pivoted Cholesky of a matrix -------------------------------------------------------------------------------------


def test_the_factor_of_a_matrix():
    K = Laplace(1.5)(rows(30))
    pivots, upper = cholesky(K)
    assert sorted(pivots) == list(range(30))
    assert np.array_equal(upper, np.triu(upper))
    np.testing.assert_allclose(upper.T @ upper, K[np.ix_(pivots, pivots)], rtol=1e-13, atol=1e-14)
    assert (np.diff(np.diag(upper)) <= 1e-12).all()  # the largest pivot first


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_equal_rows_and_zero_rows_are_left_out(scale):
    X = np.concatenate([rows(6), rows(6), np.zeros((1, 3))])
    K = scale * Linear()(X) ** 2
    pivots, upper = cholesky(K)
    assert len(pivots) == 6
    assert 12 not in pivots
    assert len({int(p) % 6 for p in pivots}) == 6
    np.testing.assert_allclose(upper.T @ upper, K[np.ix_(pivots, pivots)], rtol=1e-10)


def test_the_rank_does_not_depend_on_the_sizes_of_rows():
    K = Gaussian(30.0)(rows(40))
    sizes = 10.0 ** np.random.default_rng(1).uniform(-6, 6, size=40)
    pivots, _ = cholesky(K)
    scaled, upper = cholesky(K * np.outer(sizes, sizes))
    assert 10 < len(pivots) < 40
    assert abs(len(scaled) - len(pivots)) <= 1
    with mpmath.workdps(50):
        inverse = np.array((mpmath.matrix(K[np.ix_(pivots, pivots)]) ** -1).tolist())
        left = (K - K[:, pivots] @ inverse @ K[pivots]).astype(float)
    assert np.abs(left).max() <= 10 * RELATIVE_TOLERANCE
    assert (np.diag(upper) > 0).all()


def test_the_tolerance_grows_with_the_number_of_terms():
    assert tolerance(10) == RELATIVE_TOLERANCE
    assert tolerance(100_000) > 8e-11


# -- randomly pivoted Cholesky ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Laplace(2.0), Gaussian(0.5), Laplace() + Linear()])
def test_all_rows_reproduce_the_matrix(kernel):
    X = rows(50)
    factor = pivots_of(kernel, X, 50)
    assert sorted(factor.pivots) == list(range(50))
    np.testing.assert_allclose(factor.features @ factor.features.T, kernel(X), rtol=1e-12, atol=1e-12)


def test_the_factor_is_that_of_the_pivots(monkeypatch):
    monkeypatch.setattr("mercer.lifts.pivoting.BLOCK_NUMBERS", 500)  # several strips
    X, kernel = rows(300), Gaussian(1.0)
    factor = pivots_of(kernel, X, 60)
    L = X[factor.pivots]
    np.testing.assert_allclose(factor.upper.T @ factor.upper, kernel(L), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(factor.features, kernel(X, L) @ np.linalg.inv(factor.upper), atol=1e-9)
    np.testing.assert_allclose(factor.features[factor.pivots], factor.upper.T, atol=1e-12)


@both
def test_the_pivots_have_the_law_of_the_paper(choose):
    """P(i, j) = k(x_i, x_i) / trace, times what i leaves of k(x_j, x_j), over what it leaves of the trace."""
    X = np.array([[0.0], [0.3], [1.0], [2.0]])
    kernel, draws = 2.0 * Gaussian(1.0) + Linear(), 2000
    K, rng = kernel(X), np.random.default_rng(0)
    counts = np.zeros((4, 4))
    for _ in range(draws):
        i, j = choose(K, 2, rng).pivots
        counts[i, j] += 1
    statistic = 0.0
    for i, j in permutations(range(4), 2):
        left = np.diag(K) - K[:, i] ** 2 / K[i, i]
        wanted = draws * K[i, i] / np.trace(K) * left[j] / left.sum()
        statistic += (counts[i, j] - wanted) ** 2 / wanted
    assert statistic < 31.3  # chi-squared with 11 degrees of freedom: exceeded once in a thousand


@pytest.mark.parametrize("kernel", [Gaussian(8.0), Laplace(8.0), Linear() + Gaussian(3.0)], ids=str)
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_plain_numpy_one_fused_pass_and_several_give_the_same_factor(kernel, shift, monkeypatch):
    X = rows(700, 20) + shift
    with fused_from(1 << 40):
        plain = pivots_of(kernel, X, 40)
    with fused_from(0):
        assert isinstance(Blocks(kernel, points_from(X), 40).whole, Fused)
        bound = pivots_of(kernel, X, 40)
        monkeypatch.setattr(pivoting, "MAX_BOUND_NUMBERS", 0)
        assert Blocks(kernel, points_from(X), 40).whole is None
        several = pivots_of(kernel, X, 40)
        monkeypatch.setattr(pivoting, "MAX_ONE_THREAD_NUMBERS", 0)
        monkeypatch.setattr(pivoting, "STRIP_NUMBERS", 1000)
        by_threads = pivots_of(kernel, X, 40)
    K = kernel(X)
    for found in (plain, bound, several, by_threads):
        assert np.array_equal(found.pivots, plain.pivots)
        left = K - found.features @ found.features.T
        assert np.abs(left[:, found.pivots]).max() <= 1e-11 * K.max()
        assert np.linalg.eigvalsh(left)[0] >= -1e-10 * K.max()


def test_sparse_rows_have_the_factor_of_dense_ones():
    X = rows(500, 30) * (np.random.default_rng(1).uniform(size=(500, 30)) < 0.2)
    dense, sparse = (pivots_of(Gaussian(3.0), table, 60) for table in (X, csr_array(X)))
    with fused_from(0):
        bound = pivots_of(Gaussian(3.0), csr_array(X), 60)
    for found in (sparse, bound):
        assert np.array_equal(found.pivots, dense.pivots)
        np.testing.assert_allclose(found.features, dense.features, atol=1e-11)


def test_it_ends_at_the_rank():
    X = np.concatenate([rows(100), rows(100)])
    assert len(pivots_of(Linear(), X, 50).pivots) == 3
    assert len(set(pivots_of(Laplace(), X, 200).pivots % 100)) == 100
    assert len(pivots_of(Laplace(), X, 200).pivots) == 100
    assert len(pivots_of(Min(), np.zeros((5, 2)), 3).pivots) == 0


def test_what_is_left_is_rounding_at_the_end():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    factor = pivots_of(Gaussian(2.0), X, 400)
    assert 20 < len(factor.pivots) < 150
    assert np.isfinite(factor.features).all()
    assert np.abs(Gaussian(2.0)(X) - factor.features @ factor.features.T).max() <= 5 * RELATIVE_TOLERANCE


def test_rows_of_any_size():
    X = rows(40) * 10.0 ** np.random.default_rng(1).uniform(-4, 4, size=(40, 1))
    K = Linear()(X) ** 2
    factor = pivots_of(Linear() ** 2, X, 40)
    sizes = np.sqrt(np.diag(K))
    assert len(factor.pivots) == 6
    assert (np.abs(K - factor.features @ factor.features.T) <= 1e-9 * np.outer(sizes, sizes)).all()


def test_a_factor_from_blocks_of_a_matrix_with_an_early_end_and_progress():
    K, told, asked = Laplace(1.0)(rows(300)), [], []

    class Told(Run):
        def tell(self, done):
            told.append(done)

    def enough(count, left):
        asked.append((count, left))
        return left < 30

    pivots = RandomPivots(np.diag(K), lambda i, j: K[i][:, j], 250)
    factor = pivots.run(np.random.default_rng(0), enough, Told())
    left = np.trace(K - factor.features @ factor.features.T)
    assert len(factor.pivots) == asked[-1][0] == told[-1] < 250
    assert left == pytest.approx(asked[-1][1], rel=1e-9)
    assert left < 30 <= min(before for _, before in asked[:-1])
    assert (np.diff(told) > 0).all()


@both
def test_numbers_that_are_not_finite_are_refused(choose):
    K = Laplace(1.0)(rows(30))
    K[3, 4] = K[4, 3] = np.nan
    with pytest.raises(InputError, match="A pivoted factor needs finite numbers; there are infinities or NaN"):
        choose(K, 30, np.random.default_rng(0))


@both
def test_either_way_gives_a_factor_that_ends_at_rounding(choose):
    X = np.random.default_rng(0).uniform(size=(120, 2))
    for K in (Gaussian(2.0)(X), 1e300 * Laplace()(X), Linear()(X), np.zeros((5, 5))):
        factor = choose(K, len(K), np.random.default_rng(1))
        assert len(set(factor.pivots)) == len(factor.pivots) == factor.features.shape[1]
        chosen = K[np.ix_(factor.pivots, factor.pivots)]
        size = max(1.0, K.max())
        np.testing.assert_allclose(factor.upper.T @ (factor.upper / size), chosen / size, atol=1e-12)
        np.testing.assert_allclose(factor.features @ (factor.features.T / size), K / size, atol=1e-11)
        assert (np.tril(factor.upper, -1) == 0).all()
        assert factor.upper.flags.f_contiguous


def test_a_function_that_is_no_kernel_ends_as_well():
    factor = pivots_of(Sigmoid(1.0, -1.0), rows(30), 30)
    assert np.isfinite(factor.features).all()


@given(st.integers(0, 10_000), st.floats(0.05, 50.0), st.integers(1, 60))
@settings(max_examples=40)
def test_the_residual_is_a_kernel(seed, length, count):
    X = rows(60, 2, seed)
    factor = pivots_of(Gaussian(length), X, count, seed)
    left = Gaussian(length)(X) - factor.features @ factor.features.T
    assert len(factor.pivots) <= count
    assert len(set(factor.pivots)) == len(factor.pivots)
    assert np.linalg.eigvalsh(left)[0] >= -1e-10


# -- ways -------------------------------------------------------------------------------------------------------------


def chosen(name, X, count, kernel=None, seed=0):
    return way(name)(kernel or Laplace(), points_from(X), count, np.random.default_rng(seed))


@pytest.mark.parametrize("name", ["pivoted", "uniform"])
def test_rows_are_chosen(name):
    X = rows(200)
    choice = chosen(name, X, 20)
    assert len(set(choice.indices)) == 20
    assert np.array_equal(choice.points.values, X[choice.indices])
    np.testing.assert_allclose(choice.upper.T @ choice.upper, Laplace()(X[choice.indices]), atol=1e-14)


def test_uniform_rows_are_uniform():
    X = np.linspace(0, 1, 10)[:, None]
    found = np.concatenate([chosen("uniform", X, 3, seed=seed).indices for seed in range(1000)])
    counts = np.bincount(found, minlength=10)
    assert ((counts - 300) ** 2 / 300).sum() < 27.9  # chi-squared with 9 degrees of freedom: once in a thousand


def test_means_of_clusters():
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    X = np.concatenate([middle + 0.01 * rows(50, 2, seed) for seed, middle in enumerate(middles)])
    choice = chosen("kmeans", X, 4)
    assert choice.indices is None
    gaps = np.abs(choice.points.values[:, None] - middles[None]).max(axis=2)
    assert sorted(gaps.argmin(axis=1)) == [0, 1, 2, 3]
    assert gaps.min(axis=1).max() < 0.01


def test_equal_clusters_are_dropped_in_silence():
    choice = chosen("kmeans", np.repeat(rows(3), 20, axis=0), 10)
    assert len(choice.upper) == 3


def test_large_data_is_sampled(monkeypatch):
    monkeypatch.setattr(landmarks, "HELD", 3000)
    X = rows(1000)
    choice = chosen("pivoted", X, 20)
    assert choice.features is None
    assert len(set(choice.indices)) == 20
    assert np.array_equal(choice.points.values, X[choice.indices])
    assert choice.indices.max() > 500
    seen = []
    plain = RandomPivots.of
    monkeypatch.setattr(RandomPivots, "of", lambda k, p, c: seen.append(len(p.values)) or plain(k, p, c))
    chosen("pivoted", X, 20)
    chosen("pivoted", X, 100)  # at least four rows a landmark
    assert seen == [150, 400]


def test_choosing_asks_the_memory_budget(monkeypatch):
    monkeypatch.setattr(landmarks, "MAX_UNASKED_BYTES", 0)
    monkeypatch.setattr(Budget, "of", lambda memory: Budget(1000))
    with pytest.raises(BudgetError, match=r"needs .* for choosing 20 landmarks from 200 rows; .*uniform"):
        chosen("pivoted", rows(200), 20)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_an_unknown_way():
    with pytest.raises(InputError, match=r"one of 'pivoted', 'uniform', 'kmeans', or a table; got 'best'"):
        way("best")


def test_the_number_of_landmarks():
    assert number(None, 1000) == 100
    assert number(None, 7) == 7
    assert number(np.int64(7), 7) == 7
    with pytest.raises(InputError, match=r"at most as many landmarks as rows, 7; n_components is 8, a rank above n"):
        number(8, 7)
    for wrong in (0, -1, 2.5, "many", True):
        with pytest.raises(KernelError, match=r"Nystrom needs .*n_components"):
            number(wrong, 7)


def test_things_have_no_means():
    words = ["banana", "bandana", "ananas"]
    message = r"Nystrom needs columns of numbers for landmarks='kmeans'; column 0 holds .* Use landmarks='pivoted'\."
    with pytest.raises(InputError, match=message):
        Nystrom(Spectrum(3), 2, landmarks="kmeans").fit(words)
    assert Nystrom(Spectrum(3), 2, landmarks="pivoted", random_state=0).fit_transform(words).shape == (3, 2)


def test_tables_of_landmarks():
    X = points_from(rows(10))
    check_table(points_from(rows(4)), None, X)
    check_table(points_from(rows(4)), 4, X)
    with pytest.raises(InputError, match=r"the landmarks have 2 and the data has 3"):
        check_table(points_from(rows(4, 2)), None, X)
    with pytest.raises(InputError, match=r"got n_components=5 with 4 landmarks"):
        check_table(points_from(rows(4)), 5, X)
    with pytest.raises(InputError, match=r"distinct landmarks; row 1 and row 3 are equal"):
        check_table(points_from(rows(4)[[0, 1, 2, 1]]), None, X)


def test_equal_rows():
    values = np.array([[0.0, 1.0], [2.0, 0.0], [-0.0, 1.0]])
    assert equal_rows(values) == (0, 2)
    assert equal_rows(values[:2]) is None
    assert equal_rows(points_from(csr_array(values)).values) == (0, 2)
    assert equal_rows(points_from(csr_array(values[:2])).values) is None
