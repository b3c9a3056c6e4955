"""The median heuristic and `resolve`."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from mercer.errors import DomainError, InputError, KernelError, NumericalWarning
from mercer.kernels import (
    Dot,
    ExponentialChiSquared,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    ProductLaplace,
    ProductSinc,
    median,
)
from mercer.kernels.median import median_distance, merged
from mercer.kernels.points import points_from
from mercer.lifts import RandomFourier

X = np.random.default_rng(0).normal(size=(50, 3))


@pytest.mark.parametrize(
    ("kernel", "metric"),
    [(Gaussian, "euclidean"), (Laplace, "euclidean"), (ProductSinc, "euclidean"), (ProductLaplace, "cityblock")],
)
def test_the_median_pairwise_distance(kernel, metric):
    assert kernel("median").resolve(X) == kernel(float(np.median(pdist(X, metric))))


def test_chi_squared_distances_have_a_median_of_their_own():
    counts = np.abs(X)
    wanted = [((a - b) ** 2 / (a + b)).sum() for i, a in enumerate(counts) for b in counts[:i]]
    found = ExponentialChiSquared("median").resolve(counts).lengthscale
    assert found == pytest.approx(np.median(wanted), rel=1e-12)


def test_a_kernel_of_your_own_of_any_family_is_resolved():
    class Mine(Dot):
        lengthscale: float = 1.0

        def profile(self, t):
            return t / self.lengthscale**2

    found = (Mine("median") + Linear()).resolve(X)
    assert not found.is_open
    assert found == Mine(float(np.median(pdist(X)))) + Linear()
    with pytest.raises(DomainError, match="non-negative"):
        ExponentialChiSquared("median").resolve(X)


def test_a_closed_kernel_is_given_back():
    kernel = Gaussian(2.0) + Linear()
    assert kernel.resolve(X) is kernel
    assert not kernel.is_open
    assert (Gaussian("median") + Linear()).is_open


def test_each_leaf_sees_its_own_columns():
    frame = pd.DataFrame(X * [1, 10, 100], columns=["a", "b", "c"])
    kernel = Gaussian("median").on(["a"]) * Gaussian("median").on([2]) + Gaussian("median").scaled([1, 10, 100])
    found = kernel.resolve(frame)
    wanted = Gaussian(float(np.median(pdist(frame[["a"]])))).on(["a"]) * Gaussian(
        float(np.median(pdist(frame[["c"]])))
    ).on([2]) + Gaussian(float(np.median(pdist(frame.to_numpy() / [1, 10, 100])))).scaled([1, 10, 100])
    assert found == wanted
    assert Gaussian("median").after(2 * np.eye(3)).resolve(X).kernel == Gaussian("median").resolve(2 * X)


def test_large_data_is_sampled_with_a_fixed_seed():
    big = np.random.default_rng(1).normal(size=(5_000, 2))
    first, second = Gaussian("median").resolve(big), Gaussian("median").resolve(big)
    assert first == second
    assert first.lengthscale == pytest.approx(np.median(pdist(big)), rel=0.03)


def test_duplicates_do_not_make_it_zero():
    rows = np.vstack([np.zeros((30, 2)), [[3.0, 4.0]], [[3.0, 4.0]]])
    assert Gaussian("median").resolve(rows).lengthscale == 5.0


@pytest.mark.parametrize("rows", [np.ones((5, 2)), np.ones((1, 2))])
def test_equal_rows_are_said(rows):
    with pytest.warns(NumericalWarning, match="no two different rows"):
        assert Gaussian("median").resolve(rows).lengthscale == 1.0


# -- weights are frequencies -----------------------------------------------------------------------------------------


def repeated(rows, weights, seed):
    """Row i standing weights[i] times, in any order."""
    return rows[np.random.default_rng(seed).permutation(np.repeat(np.arange(len(weights)), weights))]


def table(seed):
    """Rows of few different numbers, so that many are equal, and weights with zeros among them."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 25), rng.integers(1, 4)
    rows = rng.integers(-1, 2, (n, d)) * rng.choice([1.0, 0.3]) if seed % 2 else rng.normal(size=(n, d))
    weights = rng.integers(0, 5, n)
    weights[rng.integers(n)] += 1
    return rows + 0.0, weights


def by_hand(found):
    """The rule, with NumPy's median of all pairs."""
    middle = np.median(found) if found.size else 0.0
    return float(middle if middle > 0 or not found.any() else np.median(found[found > 0])) or 1.0


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
@pytest.mark.parametrize("seed", range(60))
def test_weight_and_repetition_are_the_same_to_the_last_digit(seed):
    rows, weights = table(seed)
    copies = repeated(rows, weights, seed)
    found = Gaussian("median").resolve(rows, weights)
    assert found == Gaussian("median").resolve(copies) == Gaussian(by_hand(pdist(copies)))
    assert ProductLaplace("median").resolve(rows, weights).lengthscale == by_hand(pdist(copies, "cityblock"))
    assert found == Gaussian("median").resolve(rows, weights[:, None].ravel().astype(np.float32))


COMPOSED = [
    Gaussian("median").on([1]) * Linear() + Laplace("median"),
    Gaussian("median").after(np.random.default_rng(3).normal(size=(7, 3))),
    Matern(1.5, "median").after(RandomFourier(Gaussian(1.0), 64, random_state=0).fit(X)),
    Laplace("median").weighted(lambda rows: rows[:, 0]).normalized() ** 2,
]


@pytest.mark.parametrize("kernel", COMPOSED, ids=str)
def test_maps_see_the_same_rows_either_way(kernel):
    """A product of matrices may round a row by where it stands; the lengthscale must not notice."""
    weights = np.random.default_rng(4).integers(0, 6, len(X))
    found = kernel.resolve(X, weights)
    assert [kernel.resolve(repeated(X, weights, seed)) for seed in range(3)] == [found] * 3


def test_a_negative_zero_is_a_zero():
    rows = np.array([[-0.0, 1.0], [0.0, 1.0], [2.0, -0.0]])
    for table in (rows, sp.csr_array(rows)):
        found, weights = merged(points_from(table), np.array([1.0, 3.0, 1.0]))
        assert weights.tolist() == [4.0, 1.0]
        values = found.values.toarray() if found.sparse else found.values
        assert values.tolist() == [[0.0, 1.0], [2.0, 0.0]]
        assert not np.signbit(values).any()
    upside = Gaussian("median").after(lambda x: np.arctan2(x, -1.0))  # pi for 0.0, -pi for -0.0
    assert upside.resolve(rows) == upside.resolve(np.abs(rows))


def test_fractions_lie_between():
    line = np.array([[0.0], [1.0], [3.0]])  # distances 1, 3, 2

    def length(*weights):
        return Gaussian("median").resolve(line, weights).lengthscale

    assert length(0.3, 0.3, 0.3) == length(1, 1, 1) == 2.0
    assert length(1.0, 0.9, 0.1) == 1.0  # pairs of 0.9, 0.1 and 0.09
    assert length(1.0, 1.0, 0.5) == 1.5  # 1 at 1, 0.5 at 2, 0.5 at 3: half of it lies exactly between 1 and 2
    assert length(1.5, 0.5, 0.5) == 1.0  # 0.375 at 0, 0.75 at 1, 0.25 at 2, 0.75 at 3: without the zeros it were 2
    assert length(1e-200, 1e-200, 1e-200) == 2.0
    assert length(1e200, 1e200, 1e200) == length(1000, 1000, 1000) == 1.0  # a third of all pairs are copies
    assert length(2e-200, 2e-200, 1e-200) == 1.5


def test_fractions_add_up_the_same_in_any_order():
    rng = np.random.default_rng(5)
    rows, weights = rng.integers(0, 3, (60, 2)) * 1.0, rng.random(60)
    found, totals = merged(points_from(rows), weights)
    assert found.values.tolist() == np.unique(rows, axis=0).tolist()
    np.testing.assert_allclose(totals, [weights[(rows == row).all(axis=1)].sum() for row in found.values], rtol=1e-14)
    for _ in range(5):
        order = rng.permutation(60)
        assert merged(points_from(rows[order]), weights[order])[1].tolist() == totals.tolist()


def test_a_large_table_in_any_order():
    rng = np.random.default_rng(6)
    rows, weights = rng.normal(size=(2_500, 3)), rng.integers(0, 4, 2_500)
    found = Gaussian("median").resolve(rows, weights)
    assert found == Gaussian("median").resolve(repeated(rows, weights, 1))
    of_sparse = Gaussian("median").resolve(sp.csr_array(repeated(rows, weights, 2))).lengthscale
    assert of_sparse == pytest.approx(found.lengthscale, rel=1e-12)
    assert found.lengthscale == pytest.approx(np.median(pdist(repeated(rows, weights, 0))), rel=0.03)
    assert found == Gaussian("median").on([0, 1, 2]).resolve(np.hstack([rows, rows]), weights).kernel


def test_many_copies_of_few_rows_are_not_sampled():
    rng = np.random.default_rng(7)
    rows, weights = rng.normal(size=(40, 2)), rng.integers(60, 90, 40)
    copies = repeated(rows, weights, 0)
    assert len(copies) > 2_000
    assert Gaussian("median").resolve(copies).lengthscale == np.median(pdist(copies))


def test_each_leaf_merges_the_rows_that_it_sees():
    rng = np.random.default_rng(10)
    rows = np.column_stack([rng.normal(size=300)[rng.integers(0, 300, 2_500)], rng.normal(size=2_500)])
    found = (Gaussian("median").on([0]) + Gaussian("median")).resolve(rows)
    assert found.parts[0].kernel.lengthscale == np.median(pdist(rows[:, :1]))
    assert found.parts[1].lengthscale == pytest.approx(np.median(pdist(rows)), rel=0.03)


def test_a_heavy_row_among_many():
    """Half of all copies are one row: a quarter of all pairs are zero, and the sample knows it."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(2_200, 2))
    weights = np.ones(2_200)
    weights[17] = 2_199
    wanted = np.median(pdist(repeated(rows, weights.astype(int), 0)))
    assert Gaussian("median").resolve(rows, weights).lengthscale == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize("n", [30, 600])
def test_sparse_rows_stand_in_the_order_of_dense_ones(n, monkeypatch):
    monkeypatch.setattr(median, "MAX_ROWS", 200)
    rng = np.random.default_rng(9)
    rows = rng.integers(-1, 2, (n, 9)) * rng.choice([0.5, 1.0], (n, 9))
    weights = rng.integers(0, 4, n)
    for kernel in (
        Gaussian("median"),
        Gaussian("median").on([5, 1, 0, 3, 8, 2, 4]),
        Laplace("median").scaled([2.0] * 9),
    ):
        found, wanted = kernel.resolve(sp.csr_array(rows), weights), kernel.resolve(rows, weights)
        assert found == kernel.resolve(sp.csc_array(repeated(rows, weights, 3)))
        length, of_dense = ((k.children or (k,))[0].lengthscale for k in (found, wanted))
        assert length == pytest.approx(of_dense, rel=1e-12)


def test_stretch_multiplies_what_is_found():
    kernel = Gaussian("median") * Laplace(2.0) + Matern(1.5, "median").on([0])
    weights = np.arange(50.0)
    found, stretched = kernel.resolve(X, weights), kernel.resolve(X, weights, stretch=4.0)
    (one, _), (four, closed) = found.parts[0].parts, stretched.parts[0].parts
    assert four.lengthscale == 4 * one.lengthscale
    assert closed == Laplace(2.0)
    assert stretched.parts[1].kernel.lengthscale == 4 * found.parts[1].kernel.lengthscale
    assert stretched == kernel.resolve_points(points_from(X), weights, 4.0)


def test_rows_of_weight_zero_may_lie_anywhere():
    with pytest.raises(DomainError, match="non-negative"):
        ExponentialChiSquared("median").resolve([[1.0], [2.0], [-1.0]])
    assert ExponentialChiSquared("median").resolve([[1.0], [3.0], [-1.0]], [1, 1, 0]).lengthscale == 1.0
    with pytest.warns(NumericalWarning, match="no two different rows"):
        assert Gaussian("median").resolve([[1.0], [3.0]], [0, 3]).lengthscale == 1.0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"^Gaussian needs one weight per row, 3 in all; got an array of shape \(2,\)"),
        ([[1.0], [2.0], [3.0]], r"one weight per row.*shape \(3, 1\)"),
        (2.0, r"one weight per row.*shape \(\)"),
        (["a", "b", "c"], "weights that are numbers; got dtype <U1"),
        ([1.0, np.nan, 1.0], "finite weights of at least zero; that of row 1 is nan"),
        ([1.0, 1.0, np.inf], "that of row 2 is inf"),
        ([1.0, -0.5, 1.0], r"that of row 1 is -0\.5"),
        ([0, 0, 0], "finite positive sum; all are zero"),
        ([1e308, 1e308, 1e308], "finite positive sum; their sum overflows"),
    ],
)
def test_weights_that_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        Gaussian("median").resolve([[1.0], [2.0], [4.0]], weights)


@pytest.mark.parametrize("stretch", [0.0, -1.0, np.nan, "2"])
def test_stretches_that_are_refused(stretch):
    with pytest.raises(KernelError, match=r"^gaussian\(lengthscale='median'\) \+ linear needs .*stretch"):
        (Gaussian("median") + Linear()).resolve(X, stretch=stretch)


def test_distances_of_your_own():
    class Mine(Dot):
        lengthscale: float = 1.0

        def profile(self, t):
            return t / self.lengthscale

        def distances(self, values):
            return pdist(values, "chebyshev")

    class Wrong(Mine):
        def distances(self, values):
            return np.abs(values - values.T)

    weights = np.random.default_rng(1).integers(0, 4, 50)
    wanted = np.median(pdist(repeated(X, weights, 0), "chebyshev"))
    assert Mine("median").resolve(X, weights).lengthscale == wanted
    with pytest.raises(KernelError, match=r"one distance a pair of rows, 1 in all; .*distances gave .*\(2, 2\)"):
        Wrong("median").resolve([[1.0], [2.0]])


# -- many pairs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [0.0, 0.1, 0.6, 1.0, 1.5])
@pytest.mark.parametrize("some", [16, 1 << 13])
@pytest.mark.parametrize("kind", ["numbers", "ties", "ascending", "far apart", "heavy first"])
def test_a_part_of_the_pairs_says_where_to_look_and_no_more(kind, some, zeros, monkeypatch):
    """Whatever that part says, the median is NumPy's; also where it is misled, or half of all are zeros."""
    monkeypatch.setattr(median, "SAMPLED_DISTANCES", some)
    rng = np.random.default_rng(some)
    for n in (1, 2, 30, 5_001, 40_000):
        found = rng.integers(0, 4, n) + 0.5 if kind == "ties" else rng.exponential(size=n)
        found = np.sort(found) if kind == "ascending" else found
        found[:: max(1, n // some)] = 1e6 if kind == "far apart" else found[0]
        counts = rng.integers(1, 4, n)
        counts[: n // 4] += 50 * (kind == "heavy first")
        copies = round(zeros * counts.sum())
        wanted = np.median(np.concatenate([np.zeros(copies), np.repeat(found, counts)]))
        assert median._median(found, counts / 8, copies / 8) == wanted


def test_the_median_of_a_sample_is_found_in_little_memory():
    """2,000 rows have two million pairs: their distances and counts are 32 MB, and to sort them took as much again."""
    rows = np.random.default_rng(0).normal(size=(6_000, 3))
    Gaussian("median").resolve(rows[:2_500])  # what is loaded
    tracemalloc.start()
    try:
        Gaussian("median").resolve(rows)
        assert tracemalloc.get_traced_memory()[1] < 45e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("at_once", [1, 2, 3, 1_000])
def test_equal_rows_are_found_across_blocks(at_once, monkeypatch):
    monkeypatch.setattr(median, "BLOCK_ROWS", at_once)
    rows = np.random.default_rng(1).integers(0, 2, (40, 3)) * 1.0
    found, totals = merged(points_from(rows), np.ones(40))
    wanted, counts = np.unique(rows, axis=0, return_counts=True)
    assert found.values.tolist() == wanted.tolist()
    assert totals.tolist() == counts.tolist()


def test_the_median_distance_is_the_lengthscale_that_is_found():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(60, 4)), rng.integers(0, 3, size=60)
    exact = np.median([np.linalg.norm(X[i] - X[j]) for i in range(60) for j in range(i)])
    assert abs(median_distance(X) - exact) <= 1e-14 * exact
    repeated = np.repeat(X, weights, axis=0)
    assert median_distance(X, weights) == median_distance(repeated) == Gaussian("median").resolve(repeated).lengthscale
    with pytest.raises(InputError, match="median_distance needs"):
        median_distance([["a"]])


@pytest.mark.parametrize("count", [10, 16_384, 16_385, 20_001, 97_461])
def test_the_median_of_many_numbers_is_that_of_numpy(count):
    random = np.random.default_rng(count)
    normal = random.normal(size=count) ** 2
    for numbers in (normal, np.round(3 * random.random(count)), np.sort(normal), np.zeros(count), -normal):
        assert median._plain_median(numbers) == np.median(numbers)
    normal[count // 2] = np.nan
    assert np.isnan(median._plain_median(normal))


@pytest.mark.parametrize("tied", [0, 3, 2000])
@pytest.mark.parametrize("columns", [1, 3])
def test_many_rows_are_sorted_like_few(tied, columns, monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, columns))
    table[rng.permutation(3000)[:tied], 0] = rng.integers(3, size=tied)
    table[rng.permutation(3000)[: tied // 2]] = table[7]
    table[:5] = 0.0
    table[2] = -0.0
    keys = median.keys_of(table)
    order, starts = median.groups(keys)
    monkeypatch.setattr(median, "MIN_PARTED_ROWS", 1)
    for each in (keys, keys[order]):
        parted = median.groups(each)
        np.testing.assert_array_equal(parted[0], np.argsort(each, kind="stable"))
        np.testing.assert_array_equal(parted[1], starts)
