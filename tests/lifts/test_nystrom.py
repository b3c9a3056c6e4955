"""The Nystrom lift: against dense NumPy, and its certificate against the truth."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from mercer.errors import DomainError, InputError, KernelError, NumericalWarning, ParseError
from mercer.kernels import (
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Min,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Sinc,
    Subsets,
)
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.lifts import landmarks
from mercer.lifts.nystrom import Nystrom
from mercer.testing import check_lift

KERNELS = {
    "gaussian": Gaussian(1.0),
    "laplace": Laplace(2.0),
    "matern": Matern(1.5, 2.0),
    "polynomial": Polynomial(3, 1.0),
    "min": Min(),
    "subsets": Subsets(),
    "sum": Gaussian(1.0) + 0.5 * Linear(),
    "product": Matern(2.5) * Polynomial(2, 1.0),
    "on": Gaussian(0.5).on([0, 2]) * Min().on(1),
}
WAYS = ["pivoted", "uniform", "kmeans"]


def rows(n, d=3, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).uniform(0.0, 2.0, size=(n, d)).astype(dtype)


def projected(kernel, L, X):
    """k(x, L) k(L, L)^-1 k(L, z), from dense matrices."""
    cross = kernel(X, L)
    return cross @ np.linalg.pinv(kernel(L), rcond=1e-14) @ cross.T


# -- what it is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_features_are_the_projection_on_the_landmarks(name, way):
    kernel, X, Z = KERNELS[name], rows(80), rows(30, seed=1)
    lift = Nystrom(kernel, 7, landmarks=way, random_state=0).fit(X)
    both = np.concatenate([X, Z])
    features = lift.transform(both)
    size = kernel.diagonal(both).max()
    assert features.shape == (110, 7)
    np.testing.assert_allclose(features @ features.T, projected(kernel, lift.landmarks_, both), atol=1e-9 * size)
    np.testing.assert_allclose(lift.factor_.T @ lift.factor_, kernel(lift.landmarks_), rtol=1e-11)
    assert np.array_equal(lift.factor_, np.triu(lift.factor_))
    assert lift.n_components_ == len(lift.landmarks_) == 7
    assert not lift.exact


@pytest.mark.parametrize("name", ["laplace", "matern", "min"])
def test_all_rows_as_landmarks_reproduce_the_kernel(name):
    kernel, X = KERNELS[name], rows(60)
    for way in ("pivoted", "uniform", X):
        features = Nystrom(kernel, 60, landmarks=way, random_state=0).fit_transform(X)
        np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-9, atol=1e-10)


def test_it_is_what_scikit_learn_computes_from_the_same_landmarks():
    X = rows(100)
    theirs = Nystroem(kernel="rbf", gamma=0.5, n_components=12, random_state=0).fit(X)
    features = Nystrom(Gaussian(1.0), landmarks=theirs.components_).fit_transform(X)
    wanted = theirs.transform(X)
    np.testing.assert_allclose(features @ features.T, wanted @ wanted.T, atol=1e-9)


def test_fitted_attributes():
    X = rows(50)
    lift = Nystrom(Laplace(), 7, random_state=0).fit(X)
    assert np.array_equal(lift.landmarks_, X[lift.landmark_indices_])
    assert Nystrom(Laplace(), 7, landmarks="kmeans", random_state=0).fit(X).landmark_indices_ is None
    given = Nystrom(Laplace(), landmarks=X[3:8]).fit(X)
    assert given.landmark_indices_ is None
    assert given.n_components_ == 5
    assert {tuple(row) for row in given.landmarks_} == {tuple(row) for row in X[3:8]}
    assert lift.get_feature_names_out().tolist() == [f"nystrom{i}" for i in range(1, 8)]


def test_the_number_of_features():
    assert Nystrom(Laplace()).fit(rows(30)).n_components_ == 30
    assert Nystrom(Laplace()).fit(rows(300)).n_components_ == 100
    assert Nystrom(Laplace(), np.int64(4)).fit(rows(300)).transform(rows(2)).shape == (2, 4)


def test_the_kernel_is_found_in_fit():
    X = rows(70)
    lift = Nystrom(random_state=0).fit(X)
    assert lift.kernel == "gaussian('median')"
    assert lift.kernel_ == Gaussian(np.median(pdist(X)))
    assert Nystrom(2.0 * Laplace("median")).fit(X).kernel_ == 2.0 * Laplace(np.median(pdist(X)))


# -- the same, whichever way ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_fit_transform_is_fit_then_transform(way):
    X = rows(200)
    for kernel in (Laplace(), Gaussian(0.3)):
        one = Nystrom(kernel, 40, landmarks=way, random_state=3).fit_transform(X)
        two = Nystrom(kernel, 40, landmarks=way, random_state=3).fit(X).transform(X)
        np.testing.assert_allclose(one, two, atol=1e-10)
    with pytest.warns(NumericalWarning, match="keeps"):
        one = Nystrom(Gaussian(20.0), 150, landmarks=way, random_state=3).fit_transform(X)
    with pytest.warns(NumericalWarning, match="keeps"):
        two = Nystrom(Gaussian(20.0), 150, landmarks=way, random_state=3).fit(X).transform(X)
    np.testing.assert_allclose(one @ one.T, two @ two.T, atol=1e-13)  # single features divide rounding by 1e-6
    np.testing.assert_allclose(one, two, atol=1e-8)


def test_fit_transform_of_a_sample(monkeypatch):
    monkeypatch.setattr(landmarks, "HELD", 2000)
    X = rows(500)
    one = Nystrom(Laplace(), 20, random_state=0).fit_transform(X)
    two = Nystrom(Laplace(), 20, random_state=0).fit(X).transform(X)
    assert np.array_equal(one, two)


def test_fused_and_plain_give_the_same(monkeypatch):
    X = rows(600)
    plain = Nystrom(Gaussian(0.5), 50, random_state=0).fit(X)
    with fused_from(0):
        fused = Nystrom(Gaussian(0.5), 50, random_state=0).fit(X)
        assert np.array_equal(fused.landmark_indices_, plain.landmark_indices_)
        np.testing.assert_allclose(fused.transform(X), plain.transform(X), atol=1e-10)
    monkeypatch.setattr("mercer.lifts.pivoting.BLOCK_NUMBERS", 700)
    np.testing.assert_allclose(plain.transform(X), fused.transform(X), atol=1e-10)


@pytest.mark.parametrize("way", WAYS)
def test_random_state(way):
    X = rows(150)
    one = Nystrom(Laplace(), 20, landmarks=way, random_state=7).fit(X)
    two = Nystrom(Laplace(), 20, landmarks=way, random_state=7).fit(X)
    other = Nystrom(Laplace(), 20, landmarks=way, random_state=8).fit(X)
    assert np.array_equal(one.transform(X), two.transform(X))
    assert not np.array_equal(one.landmarks_, other.landmarks_)
    with_generator = [
        Nystrom(Laplace(), 20, landmarks=way, random_state=np.random.default_rng(7)).fit(X) for _ in range(2)
    ]
    assert np.array_equal(with_generator[0].landmarks_, with_generator[1].landmarks_)


def test_the_order_of_rows_and_of_given_landmarks_does_not_matter():
    X, L = rows(100), rows(15, seed=1)
    order, other = np.random.default_rng(2).permutation(100), np.random.default_rng(3).permutation(15)
    lift = Nystrom(Gaussian(0.7), landmarks=L).fit(X)
    features = lift.transform(X)
    np.testing.assert_allclose(lift.transform(X[order]), features[order], atol=1e-12)
    np.testing.assert_allclose(Nystrom(Gaussian(0.7), landmarks=L).fit(X[order]).transform(X), features, atol=1e-12)
    shuffled = Nystrom(Gaussian(0.7), landmarks=L[other]).fit(X).transform(X)
    np.testing.assert_allclose(shuffled @ shuffled.T, features @ features.T, atol=1e-11)


@pytest.mark.parametrize("way", ["pivoted", "uniform"])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(2, 1.0), Laplace(), Linear() + Gaussian()])
def test_sparse_tables(way, kernel):
    X = np.where(rows(120, 6) < 1.2, 0.0, rows(120, 6))
    X = X[np.unique(X, axis=0, return_index=True)[1]]
    dense = Nystrom(kernel, 15, landmarks=way, random_state=0).fit(X)
    table = csr_array(X) if way == "pivoted" else csr_matrix(X)
    lift = Nystrom(kernel, 15, landmarks=way, random_state=0).fit(table)
    assert np.array_equal(lift.landmarks_.toarray(), dense.landmarks_)
    np.testing.assert_allclose(lift.transform(table), dense.transform(X), atol=1e-9)
    np.testing.assert_allclose(lift.transform(X), dense.transform(X), atol=1e-9)
    np.testing.assert_allclose(dense.transform(table), dense.transform(X), atol=1e-9)
    np.testing.assert_allclose(lift.residual(table), dense.residual(X), atol=1e-9)
    np.testing.assert_allclose(lift.fit_transform(table), dense.transform(X), atol=1e-9)
    some = X[4::12][:9]
    given = Nystrom(kernel, landmarks=csr_array(some)).fit(X)
    np.testing.assert_allclose(given.transform(X), Nystrom(kernel, landmarks=some).fit(X).transform(X), atol=1e-9)


def test_float32():
    X = rows(300, dtype=np.float32)
    lift = Nystrom(Gaussian(1.0), 80, random_state=0).fit(X)
    narrow, wide = lift.transform(X), lift.transform(X.astype(np.float64))
    assert narrow.dtype == lift.residual(X).dtype == np.float32
    assert Nystrom(Gaussian(1.0), 80, random_state=0).fit_transform(X).dtype == np.float32
    assert np.array_equal(narrow, wide.astype(np.float32))  # nothing is lost before the end
    product = narrow.astype(np.float64) @ narrow.T.astype(np.float64)
    assert np.abs(product - Gaussian(1.0)(X.astype(np.float64))).max() <= lift.certificate(X).bound


# -- numerics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [*WAYS, "given"])
@pytest.mark.parametrize("length", [10.0, 1e3, 1e6])
def test_nearly_singular_kernels(way, length):
    X = rows(200)
    with pytest.warns(NumericalWarning, match=r"Nystrom keeps \d+ of 100 landmarks.*rounding.*lengthscale"):
        lift = (
            Nystrom(Gaussian(length), landmarks=X[:100]).fit(X)
            if way == "given"
            else Nystrom(Gaussian(length), 100, landmarks=way, random_state=0).fit(X)
        )
    features = lift.transform(X)
    assert 1 <= lift.n_components_ < 100
    assert features.shape == (200, lift.n_components_)
    assert np.isfinite(features).all()
    assert np.abs(features @ features.T - Gaussian(length)(X)).max() <= lift.certificate(X).bound <= 1e-8


def test_no_number_no_warning():
    """What pivots leave is rounding, and nobody has asked for more."""
    lift = Nystrom(Gaussian(10.0), random_state=0).fit(rows(200))
    assert lift.n_components_ < 100


def test_many_equal_rows():
    X = np.repeat(rows(12), 30, axis=0)
    with pytest.warns(NumericalWarning, match="Nystrom keeps 12 of 50"):
        lift = Nystrom(Laplace(), 50, random_state=0).fit(X)
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(X).T, Laplace()(X), atol=1e-12)
    with pytest.warns(NumericalWarning, match=r"Nystrom keeps \d+ of 50"):
        lift = Nystrom(Laplace(), 50, landmarks="uniform", random_state=0).fit(X)
    assert 5 < lift.n_components_ <= 12
    assert np.abs(lift.residual(lift.landmarks_)).max() < 1e-12


def test_a_single_row():
    features = Nystrom(Gaussian(2.0)).fit_transform([[1.0, 2.0]])
    assert features.tolist() == [[1.0]]


@pytest.mark.filterwarnings("ignore:Nystrom keeps")
def test_pivots_find_small_clusters():
    """One cluster holds 95 % of the rows, and uniform landmarks see little of the ten others."""
    rng = np.random.default_rng(0)
    small = np.repeat(rng.uniform(-100, 100, size=(10, 2)), 7, axis=0) + 0.1 * rng.normal(size=(70, 2))
    X = np.concatenate([rng.normal(size=(1400, 2)), small])
    K = Gaussian(1.0)(X)
    errors = {}
    for way in ("pivoted", "uniform"):
        found = []
        for seed in range(9):
            features = Nystrom(Gaussian(1.0), 70, landmarks=way, random_state=seed).fit_transform(X)
            gap = np.abs(K - features @ features.T)
            found.append([gap.max(), np.sqrt((gap**2).mean())])
        errors[way] = np.median(found, axis=0)  # of one seed the largest gap is anything from 0.04 to 0.6
    assert (errors["pivoted"] < errors["uniform"] / [4, 25]).all()


def test_offset_data():
    X = rows(200) + 1e5
    lift = Nystrom(Gaussian(1.0), 60, random_state=0).fit(X)
    K = np.exp(-0.5 * cdist(X, X) ** 2)
    features = lift.transform(X)
    assert np.abs(K - features @ features.T).max() <= lift.certificate(X).bound <= 1e-2


def test_memory_is_the_result_and_a_block(monkeypatch):
    monkeypatch.setattr("mercer.lifts.pivoting.BLOCK_NUMBERS", 1 << 14)
    X = rows(3000)
    lift = Nystrom(Laplace(), 100, random_state=0).fit(X)
    lift.transform(X[:100])
    tracemalloc.start()
    lift.transform(X)
    transform = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    lift.residual(X)
    residual = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert transform < 1.5 * 3000 * 100 * 8
    assert residual < 0.5 * 3000 * 100 * 8


# -- certificates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_the_bound_holds_on_hundreds_of_draws(name):
    kernel, X, Z = KERNELS[name], rows(60), 1.5 * rows(40, seed=1)
    K, both = kernel(np.concatenate([X, Z])), np.concatenate([X, Z])
    tight = []
    for seed in range(24):
        lift = Nystrom(kernel, 1 + seed % 8, landmarks=WAYS[seed % 3], random_state=seed).fit(X)
        features, known = lift.transform(both), lift.certificate(both)
        worst = np.abs(K - features @ features.T).max()
        assert worst <= known.bound
        tight.append(worst / known.bound)
        assert (known.probability, known.kind) == (1.0, "maximum")
    assert np.median(tight) > 0.99  # the bound is attained on the diagonal


@given(
    st.sampled_from([Gaussian, Laplace, lambda s: Matern(2.5, s), lambda s: RationalQuadratic(1.0, s)]),
    st.floats(0.1, 300.0),
    st.integers(0, 10_000),
    st.sampled_from(WAYS),
    st.floats(0.1, 30.0),
)
@settings(max_examples=40)
def test_the_bound_holds(family, length, seed, way, far):
    """Also far outside of the landmarks, where rounding is amplified."""
    kernel, X = family(length), rows(50, 2, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        lift = Nystrom(kernel, 40, landmarks=way, random_state=seed).fit(X)
    new = np.concatenate([X, far * rows(20, 2, seed + 1)])
    features = lift.transform(new)
    assert np.abs(kernel(new) - features @ features.T).max() <= lift.certificate(new).bound


def test_the_bound_counts_amplified_rounding():
    """A polynomial kernel of rank 6 has no residual, but is extrapolated from landmarks in a corner."""
    X = rows(100, 1)
    with pytest.warns(NumericalWarning, match="keeps 6 of 50"):
        lift = Nystrom(Polynomial(5, 1.0), 50, random_state=0).fit(X)
    new = 100.0 * X + 1e3
    features, K = lift.transform(new), Polynomial(5, 1.0)(new)
    bound = lift.certificate(new).bound
    assert np.abs(features @ features.T - K).max() <= bound <= 1e-2 * K.max()
    assert lift.certificate(X).bound < 1e-8 * Polynomial(5, 1.0)(X).max()


def test_every_entry_is_bounded_by_both_residuals():
    X = rows(120)
    lift = Nystrom(Matern(1.5), 25, random_state=0).fit(X)
    features, left = lift.transform(X), lift.residual(X)
    gap = np.abs(Matern(1.5)(X) - features @ features.T)
    assert (gap <= np.sqrt(np.outer(left, left)) + 1e-9).all()


def test_the_residual():
    X = rows(80)
    lift = Nystrom(Gaussian(0.8), 20, random_state=0).fit(X)
    wanted = 1 - np.diag(projected(Gaussian(0.8), lift.landmarks_, X))
    np.testing.assert_allclose(lift.residual(X), wanted, atol=1e-9)
    assert np.abs(lift.residual(lift.landmarks_)).max() < 1e-12
    assert (lift.residual(X) >= 0).all()
    assert lift.residual([[100.0, 0.0, 0.0]]).tolist() == [1.0]
    known = lift.certificate(X)
    assert known.bound == pytest.approx(wanted.max(), rel=1e-6)
    assert str(known).startswith(f"No value of the kernel is off by more than {known.bound:.2g}")


def test_what_overflows_is_certified_by_infinity():
    lift = Nystrom(Polynomial(5, 1.0), 5, random_state=0).fit(rows(50))
    with pytest.warns(NumericalWarning, match="overflows"):
        assert lift.certificate(1e70 * rows(3)).bound == np.inf


def test_what_is_not_proven_to_be_a_kernel_gets_no_bound():
    """Cauchy and Schwarz need a kernel: tanh is concave here, so that k(x, -x) is off by more than k(x, x)."""
    X = np.array([[-1.5], [0.0], [1.5]])
    lift = Nystrom(Sigmoid(0.2, 1.0), 1, landmarks=[[0.0]]).fit(X)
    off = np.abs(lift.kernel_(X) - lift.transform(X) @ lift.transform(X).T).max()
    assert off > lift.residual(X).max()
    found = lift.certificate(X)
    assert found.bound == np.inf
    assert "No bound" in found.sentence
    assert "If it is one" in found.sentence
    assert (2.0 * lift).fit(X).certificate(X).bound == np.inf
    valid = Nystrom(Sinc(), 5, random_state=0)
    assert valid.fit(rows(50)[:, :3]).certificate(rows(50)[:, :3]).bound < np.inf  # a kernel up to three columns


def test_what_is_no_kernel_gets_no_certificate():
    lift = Nystrom(Sigmoid(1.0, -1.0), 1, landmarks="uniform", random_state=1).fit(rows(50))
    with pytest.raises(KernelError, match=r"positive semi-definite kernel for a certificate; k\(x, x\) .* is -"):
        lift.certificate(10 * rows(50) - 8)


# -- scikit-learn -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")  # tables of one row, or of equal rows
@pytest.mark.parametrize("way", WAYS)
def test_estimator_checks(way):
    check_estimator(Nystrom(landmarks=way), on_skip=None)


@pytest.mark.parametrize(
    ("kernel", "way"), [("laplace + linear", "pivoted"), ("min", "uniform"), ("gaussian", "kmeans")]
)
def test_the_laws_of_lifts(kernel, way):
    check_lift(Nystrom(kernel, 6, landmarks=way))


def test_a_search_over_numbers_of_the_kernel():
    X = rows(100)
    y = np.sin(3 * X[:, 0])
    model = make_pipeline(Nystrom(Gaussian(1.0), 30, random_state=0), Ridge(1e-6))
    search = GridSearchCV(model, {"nystrom__kernel__lengthscale": [0.01, 1.0]}).fit(X, y)
    assert search.best_params_ == {"nystrom__kernel__lengthscale": 1.0}
    assert search.best_estimator_[0].kernel_ == Gaussian(1.0)
    assert search.score(X, y) > 0.99


def test_parameters_do_not_reach_what_was_learnt():
    lift = clone(Nystrom(Gaussian(1.0), 5, random_state=0)).fit(rows(50))
    before = lift.transform(rows(3))
    lift.set_params(kernel__lengthscale=9.0)
    assert lift.kernel_ == Gaussian(1.0)
    assert np.array_equal(lift.transform(rows(3)), before)


def test_frames_and_names_of_columns():
    frame = pd.DataFrame(rows(60), columns=["a", "b", "c"])
    kernel = Gaussian("median").on("b") + Laplace("median").on(["a", "c"])
    lift = Nystrom(kernel, 10, random_state=0).fit(frame)
    assert lift.kernel_ == kernel.resolve(frame)
    features = lift.transform(frame)
    np.testing.assert_allclose(features @ features.T, projected(lift.kernel_, _frame(lift), frame), atol=1e-9)
    given = Nystrom(kernel, landmarks=frame[:5]).fit(frame)
    assert given.n_components_ == 5
    with pytest.raises(InputError, match=r"the landmarks have \('c', 'b', 'a'\) and the data has \('a', 'b', 'c'\)"):
        Nystrom(kernel, landmarks=frame[["c", "b", "a"]][:5]).fit(frame)


def _frame(lift):
    return pd.DataFrame(lift.landmarks_, columns=["a", "b", "c"])


def test_stored_and_read():
    lift = Nystrom("matern(1.5)", 12, random_state=0).fit(rows(40))
    again = pickle.loads(pickle.dumps(lift))  # noqa: S301  # written in the same breath
    assert np.array_equal(again.transform(rows(5)), lift.transform(rows(5)))


def test_the_induced_kernel():
    lift = Nystrom(Laplace(), 12, random_state=0).fit(rows(40))
    features = lift.transform(rows(9, seed=4))
    np.testing.assert_allclose(lift.induced(rows(9, seed=4)), features @ features.T, rtol=1e-12, atol=1e-14)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"kernel": 3}, KernelError, r"Nystrom needs a kernel or its text; got 3"),
        ({"kernel": "gausian"}, ParseError, "gaussian"),
        ({"kernel": Min().after(-np.eye(3))}, DomainError, r"Min needs non-negative coordinates"),
        ({"kernel": Sinc().after(np.ones((4, 3)))}, DomainError, r"Sinc needs at most 3 columns"),
        ({"n_components": 0}, KernelError, r"integer of at least 1 for n_components; got 0"),
        ({"n_components": 21}, InputError, r"landmarks as rows, 20; n_components is 21, a rank above n"),
        ({"landmarks": "greedy"}, InputError, r"got 'greedy'"),
        ({"landmarks": np.ones((2, 3))}, InputError, r"row 0 and row 1 are equal"),
        ({"landmarks": np.ones((1, 2))}, InputError, r"the landmarks have 2 and the data has 3"),
        ({"landmarks": [1.0, 2.0]}, InputError, r"Nystrom \(landmarks\) needs a table of rows and columns"),
        ({"landmarks": np.full((1, 3), np.nan)}, InputError, r"finite numbers; column 0 holds nan"),
        ({"landmarks": np.eye(3), "n_components": 2}, InputError, r"got n_components=2 with 3 landmarks"),
        ({"kernel": "min", "landmarks": -np.eye(3)}, DomainError, r"Min needs non-negative coordinates"),
        ({"kernel": Linear().after(np.zeros((1, 3)))}, InputError, r"a kernel that is not zero on the data"),
        ({"kernel": 1e300 * Polynomial(60, 1.0)}, InputError, r"k\(x, x\) is inf in row \d+. Scale the data down"),
    ],
)
def test_what_is_refused(parameters, error, words):
    with pytest.raises(error, match=words):
        Nystrom(**parameters).fit(rows(20) + 10.0)


def test_new_rows_outside_the_domain():
    lift = Nystrom("min", 5).fit(rows(20))
    for question in (lift.transform, lift.residual, lift.certificate):
        with pytest.raises(DomainError, match=r"Min needs non-negative coordinates"):
            question(-rows(2))


@pytest.mark.parametrize("parameters", [{"kernel": "min"}, {"landmarks": "kmeans"}])
def test_sparse_tables_are_refused_where_all_coordinates_are_needed(parameters):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Nystrom(**parameters).fit(csr_array(rows(20)))


# -- a matrix that somebody else computed ------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["pivoted", "uniform"])
def test_a_precomputed_matrix_gives_the_features_of_its_kernel(landmarks):
    X, new, kernel = rows(60), rows(7, seed=5), Gaussian(1.0)
    given = Nystrom("precomputed", 20, landmarks=landmarks, random_state=0).fit(kernel(X))
    known = Nystrom(kernel, landmarks=X[given.landmark_indices_]).fit(X)
    np.testing.assert_allclose(
        given.transform(kernel(new, X)) @ given.transform(kernel(X)).T,
        known.transform(new) @ known.transform(X).T,
        atol=1e-9,
    )
    np.testing.assert_allclose(
        Nystrom("precomputed", 20, landmarks=landmarks, random_state=0).fit_transform(kernel(X)),
        given.transform(kernel(X)),
        atol=1e-8,
    )
    whole = Nystrom("precomputed", 60, landmarks=landmarks, random_state=0).fit_transform(kernel(X))
    np.testing.assert_allclose(whole @ whole.T, kernel(X), atol=1e-8)


def test_a_sparse_precomputed_matrix_is_refused_in_words():
    with pytest.raises(InputError, match=r"a dense matrix for kernel='precomputed'; got a sparse csr_array"):
        Nystrom("precomputed", 3).fit(csr_array(np.eye(5)))


def test_a_precomputed_matrix_is_cut_in_both_directions_by_folds(tmp_path):
    from mercer import load, save

    X = rows(60)
    y, K = X[:, 0], Gaussian(1.0)(X)
    search = GridSearchCV(make_pipeline(Nystrom("precomputed"), Ridge()), {"nystrom__n_components": [5, 10]}, cv=3)
    assert 0.5 < search.fit(K, y).best_score_ <= 1
    lift = Nystrom("precomputed", 5, random_state=0).fit(K)
    save(lift, tmp_path / "lift.mercer")
    np.testing.assert_array_equal(load(tmp_path / "lift.mercer").transform(K), lift.transform(K))


@pytest.mark.parametrize(
    ("K", "parameters", "words"),
    [
        (np.ones((3, 4)), {}, r"all pairs of rows; got 3 rows and 4 columns"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), {}, r"symmetric matrix; K\[0, 1\] is 0.5 and K\[1, 0\] is 0.4"),
        (np.eye(3), {"landmarks": "kmeans"}, r"where the kernel is precomputed; got 'kmeans'"),
        (np.eye(3), {"landmarks": np.eye(3)}, r"got a table"),
    ],
)
def test_matrices_that_are_refused(K, parameters, words):
    with pytest.raises(InputError, match=words):
        Nystrom("precomputed", **parameters).fit(K)


def test_a_matrix_says_nothing_of_what_is_left():
    lift = Nystrom("precomputed", 2).fit(np.eye(3))
    for question in (lift.residual, lift.certificate):
        with pytest.raises(InputError, match="the kernel is precomputed"):
            question(np.eye(3))
