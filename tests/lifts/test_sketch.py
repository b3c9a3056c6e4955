"""Sketches of polynomial kernels against enumeration of all draws, averages over seeds, and scikit-learn's."""

import itertools
import math
import pickle
import tracemalloc
import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.utils.estimator_checks import check_estimator

from mercer.errors import BudgetError, InputError, KernelError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.lifts.axis import Axis
from mercer.lifts.moments import Pairs, Sample
from mercer.lifts.sketch import Sketch
from mercer.lifts.splitting import SAMPLE_ROWS, _variance, divide
from mercer.lifts.tensor_sketch import TensorSketch, fast_length, variance
from mercer.testing import check_lift


def rows(n, d, seed=0):
    """Rows of length one that are positive, so that they have a direction in common, as pixels and counts have."""
    table = np.random.default_rng(seed).random((n, d)) ** 3
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def isotropic(n, d, seed=0):
    table = np.random.default_rng(seed).normal(size=(n, d))
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def sparse_rows(n, d, density=0.05, seed=0):
    rng, size = np.random.default_rng(seed), int(density * n * d)
    return sparse.csr_array((rng.random(size), (rng.integers(0, n, size), rng.integers(0, d, size))), shape=(n, d))


def error(lift, X, K):
    features = lift.fit_transform(X)
    return np.linalg.norm(features @ features.T - K) / np.linalg.norm(K)


# -- TensorSketch: mean and variance over all draws ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("degree", "width", "columns"), [(1, 3, 3), (1, 2, 4), (2, 2, 2), (2, 3, 2), (2, 4, 2), (3, 2, 2), (3, 1, 2)]
)
def test_mean_and_variance_over_all_draws(degree, width, columns):
    x, z = np.array([[0.5, -1.5, 2.0, 0.3][:columns], [1.2, 0.7, -0.4, 1.0][:columns]])
    both, none = np.array([x, z]), np.zeros(2)
    products = []
    size = columns * degree
    for places in itertools.product(range(width), repeat=size):
        for signs in itertools.product((1, -1), repeat=size):
            at = np.reshape(places, (columns, degree)) + width * np.arange(degree)
            drawn = TensorSketch(
                at, np.reshape(signs, (columns, degree)).astype(np.int8), width, np.zeros(width * degree)
            )
            left, right = drawn.features(both, none).T
            products.append(left @ right)
    t = x @ z
    assert np.mean(products) == pytest.approx(t**degree, abs=1e-12)
    wanted = variance(t, (x @ x) * (z @ z), (x * x) @ (z * z), degree, width)
    assert np.var(products) == pytest.approx(float(wanted), rel=1e-11)


def test_a_sketch_is_the_convolution_of_count_sketches():
    drawn = TensorSketch.draw(2, 5, 7, np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=7)
    wanted = np.zeros(5)
    for i, j in itertools.product(range(7), repeat=2):
        place = (drawn.places[i, 0] + drawn.places[j, 1] - 5) % 5
        wanted[place] += drawn.signs[i, 0] * drawn.signs[j, 1] * x[i] * x[j]
    np.testing.assert_allclose(drawn.features(x[None, :], np.zeros(1))[:, 0], wanted, atol=1e-14)


def test_a_shift_and_a_constant_are_what_they_say():
    X, g, s = isotropic(4, 6), np.array([0.5, -1.0, 2.0, 0.0]), isotropic(1, 6, seed=2)[0]
    drawn = TensorSketch.draw(3, 8, 6, np.random.default_rng(0))
    wanted = drawn.features(X + np.outer(g, s), np.zeros(4))
    np.testing.assert_allclose(drawn.moved(s).features(X, g), wanted, atol=1e-14)
    np.testing.assert_allclose(drawn.moved(s).features(sparse.csr_array(X), g), wanted, atol=1e-14)
    wide = TensorSketch.draw(3, 8, 7, np.random.default_rng(0))
    apart = TensorSketch.draw_with_constant(3, 8, 6, np.random.default_rng(0))
    wanted = wide.features(np.column_stack([X, g]), np.zeros(4))
    np.testing.assert_allclose(apart.features(X, g), wanted, atol=1e-14)


def test_fast_lengths():
    assert fast_length(10**12 + 1) == 10**12
    for width in (1, 2, 17, 997, 1000, 4099, 10**12 - 1):
        found = fast_length(width)
        rest = found
        for prime in (2, 3, 5, 7, 11):
            while rest % prime == 0:
                rest //= prime
        assert rest == 1
        assert 0.9 * width < found <= width or width == 1


# -- the split ----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-10, 10), min_size=3, max_size=3).filter(lambda u: np.linalg.norm(u) > 1e-3),
    st.floats(0, 100),
)
def test_an_axis_keeps_inner_products(u, offset):
    u = np.array(u) / np.linalg.norm(u) * (1 if u[0] >= 0 else -1)
    axis = Axis(float(u[0]), u[1:], offset)
    X = 3 * np.random.default_rng(3).normal(size=(5, 2))
    along = axis.along(X)
    rest = axis.rest(X, axis.pull(along))
    np.testing.assert_allclose(np.outer(along, along) + rest @ rest.T, offset + X @ X.T, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(along, np.column_stack([np.full(5, math.sqrt(offset)), X]) @ u, rtol=1e-12, atol=1e-12)


def test_the_sample_knows_its_pairs_and_its_longest_direction():
    X, offset = 20 * rows(30, 12), 2.0
    Y = np.column_stack([np.full(30, math.sqrt(offset)), X])
    sample = Sample(X, offset)
    unit = math.sqrt(offset / sample.offset)
    assert 0.25 < np.linalg.norm(Y, axis=1).max() / unit <= 1
    axis = sample.longest()
    u = np.concatenate([[axis.head], axis.tail])
    np.testing.assert_allclose(u, np.abs(np.linalg.svd(Y)[2][0]), atol=1e-12)
    i, j = np.triu_indices(30, 1)
    whole, split = sample.whole(), sample.split(axis)
    np.testing.assert_allclose(whole.dots, (Y @ Y.T / unit**2)[i, j], rtol=1e-12)
    np.testing.assert_allclose(whole.fourths, (Y**2 @ (Y**2).T / unit**4)[i, j], rtol=1e-12)
    own = Axis(axis.head, axis.tail, offset)
    R = own.rest(X, own.pull(own.along(X))) / unit
    np.testing.assert_allclose(split.dots, (R @ R.T)[i, j], atol=1e-14)
    np.testing.assert_allclose(split.squares, np.outer((R**2).sum(1), (R**2).sum(1))[i, j], atol=1e-14)
    np.testing.assert_allclose(split.fourths, (R**2 @ (R**2).T)[i, j], atol=1e-14)
    np.testing.assert_allclose(split.along, (np.outer(Y @ u, Y @ u) / unit**2)[i, j], rtol=1e-12)


def test_a_sparse_sample_has_the_same_bits(monkeypatch):
    monkeypatch.setattr("mercer.lifts.moments.BLOCK_COLUMNS", 64)  # several blocks of columns
    X = sparse_rows(40, 300)
    one, other = Sample(X, 3.0), Sample(X.toarray(), 3.0)
    assert np.array_equal(one.longest().tail, other.longest().tail)
    assert one.longest().head == other.longest().head < 1
    for name in ("dots", "squares", "fourths", "along"):
        assert np.array_equal(getattr(one.whole(), name), getattr(other.whole(), name))
        assert np.array_equal(getattr(one.split(one.longest()), name), getattr(other.split(other.longest()), name))


@pytest.mark.parametrize("degree", [2, 3])
def test_the_shares_are_nearly_the_best(degree):
    X, total = rows(SAMPLE_ROWS, 200), 100
    sample = Sample(X, 1.0)
    pairs = sample.split(sample.longest())

    def predicted(counts):
        return sum(_variance(pairs, degree, k, counts[k]).mean() for k in range(1, degree + 1))

    found = divide(X, 1.0, degree, total)
    assert found.exact == 0
    assert sum(found.counts) == total
    seen = [c for c in itertools.product(range(1, total), repeat=degree - 1) if sum(c) < total - 1]
    least = min(predicted((1, total - 1 - sum(c), *c)) for c in seen[:: 1 if degree == 2 else 17])
    assert predicted(found.counts) <= 1.02 * least


def test_exact_degrees_where_there_is_room():
    X = isotropic(50, 3)
    phi = Sketch(Polynomial(3), random_state=0).fit(X)
    assert phi.counts_ == (1, 3, 6, 10)
    assert phi.n_components_ == 20
    np.testing.assert_allclose(phi.transform(X) @ phi.transform(X).T, Polynomial(3)(X), rtol=1e-12, atol=1e-12)
    line = Sketch(3 * Linear(), random_state=0).fit(X)
    np.testing.assert_allclose(line.transform(X) @ line.transform(X).T, 3 * (X @ X.T), rtol=1e-12, atol=1e-12)


def test_nothing_is_split_where_nothing_is_gained():
    X = isotropic(300, 500)
    assert Sketch(Polynomial(3, 0.0), 50, random_state=0).fit(X).counts_ == (0, 0, 0, 50)
    assert Sketch(Polynomial(3), 3, random_state=0).fit(X).counts_ == (0, 0, 0, 3)  # four degrees, three features
    assert Sketch(Polynomial(3), 50, method="tensor").fit(X).counts_ == (0, 0, 0, 50)


def test_division_depends_on_no_unit():
    X = rows(60, 80)
    wanted = divide(X, 1.0, 3, 60)
    for size in (1e-60, 1e70):
        found = divide(size * X, size**2, 3, 60)
        assert found.counts == wanted.counts
        np.testing.assert_allclose(found.axis.tail, wanted.axis.tail, rtol=1e-9)


def test_zeros_and_single_rows_can_be_fitted():
    zeros = np.zeros((5, 200))
    for offset in (0.0, 1.0):
        features = Sketch(Polynomial(2, offset), 50, random_state=0).fit_transform(zeros)
        np.testing.assert_allclose(features @ features.T, np.full((5, 5), offset**2), atol=1e-12)
    one = rows(1, 200)
    features = Sketch(Polynomial(2), 50, random_state=0).fit_transform(one)
    np.testing.assert_allclose(features @ features.T, Polynomial(2)(one), rtol=1e-10)  # nothing is left but u


def test_pairs_of_one_row_are_with_itself():
    found = Pairs.of(np.array([[2.0]]), np.array([[1.5]]), np.array([3.0]))
    assert (found.dots, found.squares, found.fourths, found.along) == (2.0, 4.0, 1.5, 9.0)


# -- the lift -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["split", "tensor"])
@pytest.mark.parametrize("kernel", [Polynomial(2), 0.5 * Polynomial(3, 2.0), Polynomial(2, 0.0), 2 * Linear()])
def test_the_mean_is_the_kernel(kernel, method):
    X, new = rows(10, 20), isotropic(4, 20)
    values = []
    for seed in range(150):
        phi = Sketch(kernel, 12, method=method, random_state=seed).fit(X)
        features = phi.transform(new)
        values.append(features @ features.T)
    deviation = np.std(values, axis=0) / math.sqrt(len(values))
    assert (np.abs(np.mean(values, axis=0) - kernel(new)) <= 6 * deviation + 1e-12).all()
    assert deviation.max() > 0


@pytest.mark.parametrize(
    ("degree", "offset", "unit"), [(2, 1, True), (3, 1, True), (4, 1, True), (2, 1, False), (3, 0, False)]
)
def test_the_error_is_below_that_of_scikit_learn(degree, offset, unit):
    """Handwritten digits, rows of length one or as they are; means over seeds."""
    X = load_digits().data[::15] / 16
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X
    K = (offset + X @ X.T) ** degree
    ours = [error(Sketch(Polynomial(degree, offset), 300, random_state=s), X, K) for s in range(3)]
    other = PolynomialCountSketch(degree=degree, coef0=offset, n_components=300)
    theirs = [error(clone(other).set_params(random_state=s), X, K) for s in range(3)]
    assert np.mean(ours) < 0.75 * np.mean(theirs)


def test_the_error_is_below_that_of_scikit_learn_on_sparse_rows():
    X = sparse_rows(150, 1000, density=0.02)
    X = sparse.csr_array(sparse.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    K = Polynomial(2)(X)
    ours = [error(Sketch(Polynomial(2), 200, random_state=s), X, K) for s in range(3)]
    theirs = [
        error(PolynomialCountSketch(degree=2, coef0=1, n_components=200, random_state=s), X.toarray(), K)
        for s in range(4)
    ]
    assert np.mean(ours) < 0.9 * np.mean(theirs)


@pytest.mark.parametrize("method", ["split", "tensor"])
@pytest.mark.parametrize("components", [60, 400])
def test_sparse_tables_have_the_features_of_dense_ones(method, components):
    X = sparse_rows(200, 300)
    dense = X.toarray()
    phi = Sketch(Polynomial(3), components, method=method, random_state=0).fit(dense)
    wanted = phi.transform(dense)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        np.testing.assert_allclose(phi.transform(form(X)), wanted, atol=1e-12 * np.abs(wanted).max())
        again = clone(phi).fit(form(X)).transform(dense)
        np.testing.assert_allclose(again, wanted, atol=1e-12 * np.abs(wanted).max())
    twice = sparse.csr_array((np.ones(3), [1, 1, 2], [0, 3]), shape=(1, 300))  # a place that is stored twice
    np.testing.assert_allclose(phi.transform(twice), phi.transform(twice.toarray()), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("method", ["split", "tensor"])
def test_float32_stays(method):
    X = rows(100, 150).astype(np.float32)
    phi = Sketch(Polynomial(4), 200, method=method, random_state=0).fit(X)
    wanted = phi.transform(X.astype(np.float64))
    for table in (X, sparse.csr_array(X)):
        found = phi.transform(table)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("method", ["split", "tensor"])
def test_same_seed_same_bits(method):
    X = rows(SAMPLE_ROWS + 100, 40)  # so many that the rows of the sample are drawn
    phi = Sketch(Polynomial(3), 30, method=method, random_state=5).fit(X)
    wanted = phi.transform(X)
    assert np.array_equal(clone(phi).fit(X).transform(X), wanted)
    assert np.array_equal(pickle.loads(pickle.dumps(phi)).transform(X), wanted)  # noqa: S301  # written here
    assert not np.array_equal(Sketch(Polynomial(3), 30, method=method, random_state=6).fit(X).transform(X), wanted)
    assert not np.array_equal(Sketch(Polynomial(3), 30, method=method).fit(X).transform(X), wanted)


def test_what_is_fitted():
    X = rows(50, 200)
    phi = Sketch("2*polynomial(degree=3)", 100, random_state=0).fit(X)
    assert phi.kernel_ == 2 * Polynomial(3)
    assert phi.n_components_ == sum(phi.counts_) == 100
    assert phi.counts_[0] == 1
    assert list(phi.parts_) == [1, 2, 3]
    assert phi.parts_[2].degree == 2
    assert phi.direction_.shape == (201,)
    assert np.linalg.norm(phi.direction_) == pytest.approx(1)
    assert phi.get_feature_names_out().tolist() == [f"sketch{i}" for i in range(1, 101)]
    assert Sketch().fit(isotropic(20, 50)).n_components_ == 100
    assert clone(Sketch(Polynomial(3))).set_params(kernel__degree=2).fit(X).counts_[2:]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_blocks_of_rows_are_held(kind):
    X = rows(20_000, 40) if kind == "dense" else sparse_rows(20_000, 4000, density=0.01)
    phi = Sketch(Polynomial(4), 64, random_state=0).fit(X[:100])
    wanted = phi.transform(X[-3:])
    tracemalloc.start()
    try:
        found = phi.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - found.nbytes < 12e6  # the sketches of all rows at once would be 40e6
    np.testing.assert_allclose(found[-3:], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["split", "tensor"])
def test_the_laws_of_lifts(method):
    check_lift(Sketch(method=method))
    check_lift(Sketch(Polynomial(3), n_components=5, method=method))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("lift", [Sketch(), Sketch(method="tensor"), Sketch(Polynomial(3, 0.5), n_components=1)])
def test_scikit_learn_accepts_it(lift):
    check_estimator(lift)


def test_the_certificate_of_few_rows_is_the_largest_error():
    X = rows(80, 100)
    phi = Sketch(Polynomial(3), 50, random_state=0).fit(X)
    features = phi.transform(X)
    known = phi.certificate(X)
    assert (known.kind, known.probability) == ("maximum", 1.0)
    assert known.bound == pytest.approx(np.abs(features @ features.T - Polynomial(3)(X)).max(), rel=1e-9)
    assert phi.certificate(sparse.csr_array(X)).bound == pytest.approx(known.bound, rel=1e-9)


def test_the_certificate_of_many_rows_bounds_the_mean_error():
    X = rows(2100, 30)
    phi = Sketch(Polynomial(2), 20, random_state=0).fit(X)
    features = phi.transform(X)
    errors = np.abs(features @ features.T - Polynomial(2)(X))
    known = phi.certificate(X, delta=0.001)
    assert (known.kind, known.probability) == ("mean", 0.999)
    off = errors[~np.eye(len(X), dtype=bool)].mean()
    assert off <= known.bound <= 2 * off
    assert np.einsum("ij,ij->i", features, features).max() + Polynomial(2)(X).max() >= errors.max()


def test_the_certificate_of_what_was_not_sketched():
    """Where all monomials fit, the lift is exact, however large the kernel's values are."""
    X = 1e3 * rows(2100, 3)
    phi = Sketch(Polynomial(2), 50, random_state=0).fit(X)
    known, features = phi.certificate(X), phi.transform(X)
    assert known.kind == "exact"
    assert np.abs(features @ features.T - Polynomial(2)(X)).max() <= known.bound <= 1e-12 * Polynomial(2)(X).max()


def test_the_certificate_of_high_degrees_counts_their_roundings():
    """Each feature is a product of 150 numbers: rounding moves their sum by more than that of 151 features does."""
    x, degree = np.array([[0.3]]), 150
    phi = Sketch(Polynomial(degree, 0.3), degree + 1, random_state=0).fit(x)
    features, known = phi.transform(x)[0], phi.certificate(x)
    assert (known.kind, phi.n_components_) == ("exact", degree + 1)
    with mpmath.workdps(40):
        gap = float(abs(mpmath.mpf(float(features @ features)) - (mpmath.mpf(0.3) + mpmath.mpf(0.3) ** 2) ** degree))
    assert (degree + 17) * np.finfo(np.float64).eps * (features @ features) < gap <= known.bound


def test_the_certificate_of_what_overflows_is_infinite():
    X = (np.random.default_rng(0).random((50, 4)) * 1e14).astype(np.float32)
    phi = Sketch("polynomial(degree=3)", 64, method="tensor", random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        assert phi.certificate(X).bound == np.inf


# -- what is refused ----------------------------------------------------------------------------------------------


def test_other_kernels_are_refused():
    X = rows(5, 3)
    reason = r"Sketch needs Polynomial\(degree, offset\), Linear\(\), or a number times one of them, since it sketches"
    for kernel in (Gaussian(), Linear() + Polynomial(2), Linear() * Polynomial(2), 2 * Gaussian(), "gaussian"):
        with pytest.raises(KernelError, match=reason + r".*got .*\. Use Nystrom"):
            Sketch(kernel).fit(X)
    with pytest.raises(KernelError, match="Sketch needs a kernel or its text; got 7"):
        Sketch(7).fit(X)


@pytest.mark.parametrize("number", [0, -1, 2.5, True, "many"])
def test_other_numbers_of_features_are_refused(number):
    with pytest.raises(InputError, match=r"n_components to be an integer of at least 1, or None; got .*"):
        Sketch(n_components=number).fit(rows(5, 3))
    assert Sketch(n_components=np.int64(2)).fit(rows(5, 3)).n_components_ == 2


def test_other_methods_are_refused():
    with pytest.raises(InputError, match="method to be one of 'split', 'tensor'; got 'complex'"):
        Sketch(method="complex").fit(rows(5, 3))


def test_overflow_is_said():
    X = np.full((3, 50), 1e12, dtype=np.float32)
    phi = Sketch(Polynomial(4), 20, method="tensor", random_state=0).fit(X)
    with pytest.warns(NumericalWarning, match="Sketch needs finite features; some do not fit float32"):
        phi.transform(X)
    assert np.isfinite(phi.transform(X.astype(np.float64))).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300, np.array([1e-200, 1.0, 1e200])])
@pytest.mark.parametrize("kernel", [Polynomial(2, 0.0), Polynomial(3)])
def test_the_ends_of_the_range_are_sketched_or_said(scale, kernel):
    X = np.random.default_rng(0).normal(size=(40, 3)) * scale
    lift = Sketch(kernel, n_components=8, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)
        if np.max(scale) > 1:
            with pytest.raises(NumericalWarning, match="some do not fit float64"):
                lift.transform(X)
        else:
            assert np.isfinite(lift.transform(X)).all()
    twin = Sketch(kernel, n_components=8, random_state=0).fit(sparse.csr_array(X))
    assert np.array_equal(lift.direction_, twin.direction_)
    assert lift.counts_ == twin.counts_


def test_an_outlier_at_the_largest_float_is_fitted():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 3)), np.full((1, 3), 1e308)])
    lift = Sketch(random_state=0).fit(X)
    assert np.isfinite(lift.transform(X[:40])).all()


def test_what_is_too_large_is_refused_before_it_is_drawn():
    X = rows(40, 30)
    with pytest.raises(BudgetError, match=r"Sketch needs .* for a sketch of 1,000,000,000,000 features"):
        Sketch(Polynomial(20), n_components=10**12).fit(X)
    for method in ("split", "tensor"):
        with pytest.raises(InputError, match="a degree of at most 1,000; got degree 1,000,000"):
            Sketch(Polynomial(10**6), method=method).fit(X)
    assert Sketch(Polynomial(2), n_components=10**12).fit(X).n_components_ == math.comb(32, 2)  # fewer are exact
