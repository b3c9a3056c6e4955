"""The radial basis, against scikit-learn's kernel and plain arithmetic, and how its centers are chosen."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer.errors import InputError, KernelError, NumericalWarning
from mercer.kernels import Gaussian
from mercer.lifts.centers import distinct, side
from mercer.lifts.radial_basis import RadialBasis
from mercer.testing.lift import check_lift

X = np.random.default_rng(0).normal(size=(40, 3))
CENTERS = np.random.default_rng(1).normal(size=(5, 3))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:Gaussian finds no two different rows:mercer.errors.NumericalWarning")
@pytest.mark.parametrize("centers", ["random", "grid"])
def test_scikit_learns_checks(centers):
    check_estimator(RadialBasis(centers, n_components=1024 if centers == "grid" else None))


@pytest.mark.parametrize("lift", [RadialBasis(n_components=6), RadialBasis("random"), RadialBasis("grid")], ids=repr)
def test_the_laws_of_lifts(lift):
    check_lift(lift)


def test_the_laws_of_lifts_with_given_centers():
    check_lift(RadialBasis(CENTERS[:, :1]), X[:24, :1])


def test_the_values():
    lift = RadialBasis(CENTERS, lengthscale=0.7).fit(X)
    np.testing.assert_allclose(lift.transform(X), rbf_kernel(X, CENTERS, gamma=1 / (2 * 0.49)), rtol=1e-12)
    np.testing.assert_array_equal(lift.centers_, CENTERS)
    assert lift.lengthscale_ == 0.7
    assert lift.get_feature_names_out().tolist() == [f"rbf(x, c{i})" for i in (1, 2, 3, 4, 5)]


def test_the_median():
    lift = RadialBasis(CENTERS).fit(X)
    wanted = np.median(pairwise_distances(X)[np.triu_indices(len(X), 1)])
    np.testing.assert_allclose(lift.lengthscale_, wanted, rtol=1e-12)
    assert Gaussian("median").resolve(X) == Gaussian(lift.lengthscale_)


def test_one_row_has_no_median():
    with pytest.warns(NumericalWarning, match="no two different rows"):
        lift = RadialBasis().fit(X[:1])
    assert lift.lengthscale_ == 1.0
    np.testing.assert_array_equal(lift.transform(X[:1]), [[1.0]])


def test_random_rows():
    lift = RadialBasis("random", n_components=10, random_state=3).fit(X)
    assert {tuple(row) for row in lift.centers_} <= {tuple(row) for row in X}
    assert len({tuple(row) for row in lift.centers_}) == 10
    again = RadialBasis("random", n_components=10, random_state=3).fit(X)
    np.testing.assert_array_equal(lift.centers_, again.centers_)
    other = RadialBasis("random", n_components=10, random_state=4).fit(X)
    assert not np.array_equal(lift.centers_, other.centers_)


def test_the_means_of_clusters():
    """Four tight clusters: the centers are their means, whatever the seed."""
    middles = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    members = np.repeat(np.arange(4), 25)
    rows = middles[members] + 0.01 * np.random.default_rng(2).normal(size=(100, 2))
    wanted = np.array([rows[members == i].mean(axis=0) for i in range(4)])
    for seed in range(3):
        found = RadialBasis("kmeans", n_components=4, random_state=seed).fit(rows).centers_
        np.testing.assert_allclose(found[np.lexsort(found.round(1).T)], wanted, atol=1e-12)


@pytest.mark.parametrize("centers", ["random", "kmeans"])
def test_how_many(centers):
    many = np.random.default_rng(3).normal(size=(300, 2))
    assert RadialBasis(centers, random_state=0).fit(many).transform(many).shape == (300, 100)
    assert RadialBasis(centers, random_state=0).fit(X).transform(X).shape == (40, 40)
    assert RadialBasis(centers, n_components=7, random_state=0).fit(X).transform(X).shape == (40, 7)


@pytest.mark.parametrize("centers", ["random", "kmeans"])
def test_equal_rows_count_once(centers):
    twins = np.repeat(X[:6], 50, axis=0)
    lift = RadialBasis(centers, random_state=0).fit(twins)
    assert {tuple(row) for row in lift.centers_} == {tuple(row) for row in X[:6]}
    assert lift.transform(twins).shape == (300, 6)


def test_the_first_distinct_rows():
    table = np.array([[1.0, 0], [1, 0], [0, 2], [1, 0], [0, 1], [0, 2]])
    np.testing.assert_array_equal(distinct(table, 2), [[1, 0], [0, 2]])
    np.testing.assert_array_equal(distinct(table, 9), [[1, 0], [0, 2], [0, 1]])


def test_a_grid():
    lift = RadialBasis("grid", n_components=30).fit(X)  # 3^3 = 27, and 4^3 are too many
    axes = [np.array([low, (low + high) / 2, high]) for low, high in zip(X.min(axis=0), X.max(axis=0), strict=True)]
    np.testing.assert_allclose(lift.centers_, list(itertools.product(*axes)), rtol=1e-12)


def test_a_grid_of_columns_that_do_not_vary():
    flat = X.copy()
    flat[:, 1] = 7.0
    lift = RadialBasis("grid", n_components=9).fit(flat)
    assert lift.centers_.shape == (9, 3)
    assert (lift.centers_[:, 1] == 7.0).all()
    np.testing.assert_array_equal(RadialBasis("grid", lengthscale=1.0).fit(flat[:1]).centers_, flat[:1])
    middle = (flat.min(axis=0) + flat.max(axis=0)) / 2
    np.testing.assert_allclose(RadialBasis("grid", n_components=1).fit(flat).centers_, [middle])


@pytest.mark.parametrize(("count", "width"), [(1, 3), (7, 3), (8, 3), (124, 3), (125, 3), (10**18 - 1, 3), (10**18, 9)])
def test_the_side_of_a_grid(count, width):
    m = side(count, width)
    assert m**width <= count < (m + 1) ** width


def test_its_kernel_is_its_own():
    lift = RadialBasis(CENTERS, lengthscale=1.3).fit(X)
    bumps = np.exp(-(pairwise_distances(X, CENTERS) ** 2) / (2 * 1.69))
    np.testing.assert_allclose(lift.kernel(X), sum(np.outer(b, b) for b in bumps.T), rtol=1e-12)
    assert lift.exact
    assert lift.certificate(X).kind == "exact"
    assert mercer.prove(lift.kernel).status == "proven"
    assert np.linalg.matrix_rank(lift.kernel(X)) == len(CENTERS)
    assert np.ptp(lift.kernel.diagonal(X)) > 0.1  # not a function of x - z
    with pytest.raises(AttributeError, match="not fitted"):
        RadialBasis().kernel  # noqa: B018


@pytest.mark.parametrize("s", [0.5, 1.0])
def test_dense_uniform_centers_give_a_gaussian_that_is_longer(s):
    """phi(x).phi(z) h / (sqrt(pi) s) -> exp(-(x - z)^2 / (4 s^2)): of lengthscale sqrt(2) s, not s."""
    h = s / 4
    centers = np.arange(-12.0, 12.0 + h / 2, h)[:, None]
    x = np.linspace(-2, 2, 9)[:, None]
    found = RadialBasis(centers, lengthscale=s).fit(x).kernel(x) * h / (np.sqrt(np.pi) * s)
    np.testing.assert_allclose(found, Gaussian(np.sqrt(2) * s)(x), atol=1e-14)
    assert np.abs(found - Gaussian(s)(x)).max() > 0.1
    edge = RadialBasis(centers, lengthscale=s).fit(x).kernel([[12.0]]) * h / (np.sqrt(np.pi) * s)
    assert edge < 0.6  # half of the bumps are missing there


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_single_precision_far_from_zero(offset):
    """Rounded to float32, centers around 10^6 would be off by up to 0.03."""
    centers = CENTERS + offset
    narrow = (X + offset).astype(np.float32)
    lift = RadialBasis(centers, lengthscale=1.0).fit(narrow)
    found = lift.transform(narrow)
    assert found.dtype == np.float32
    gaps = narrow.astype(np.float64)[:, None] - centers[None]
    np.testing.assert_allclose(found, np.exp(-(gaps**2).sum(axis=2) / 2), rtol=2e-6, atol=1e-12)


def test_centers_are_of_the_dtype_of_the_data():
    for way in ("kmeans", "random", "grid"):
        assert RadialBasis(way, n_components=8).fit(X.astype(np.float32)).centers_.dtype == np.float32
        assert RadialBasis(way, n_components=8).fit(X).centers_.dtype == np.float64


def test_given_centers_are_not_shared():
    given = CENTERS.copy()
    lift = RadialBasis(given, lengthscale=1.0).fit(X)
    before = lift.transform(X)
    given[:] = 0.0
    np.testing.assert_array_equal(lift.transform(X), before)


def test_least_squares_on_bumps():
    """The regression of the lectures: a smooth curve from noisy samples."""
    rng = np.random.default_rng(4)
    x = np.linspace(0, 10, 200)[:, None]
    y = np.sin(x[:, 0]) + 0.1 * rng.normal(size=200)
    model = make_pipeline(RadialBasis("grid", n_components=15, lengthscale=1.0), Ridge(1e-3)).fit(x, y)
    assert np.sqrt(np.mean((model.predict(x) - np.sin(x[:, 0])) ** 2)) < 0.04


@pytest.mark.parametrize(
    ("lift", "error", "message"),
    [
        (RadialBasis("kmean"), InputError, 'a table of centers, "kmeans", "random" or "grid"; got centers=\'kmean\''),
        (RadialBasis("random", n_components=41), InputError,
         "as many distinct rows as centers; got n_components=41, and 40 of the 40 rows are distinct"),
        (RadialBasis("kmeans", n_components=41), InputError, "40 of the 40 rows are distinct. Ask for fewer"),
        (RadialBasis("grid", n_components=7), InputError,
         "room for a grid; two points for each of 3 columns are 8 centers, and n_components is 7. Use centers"),
        (RadialBasis(n_components=0), KernelError, "needs an integer of at least 1 for n_components; got 0"),
        (RadialBasis(lengthscale=-1.0), KernelError, "RadialBasis needs a positive lengthscale; got -1.0"),
        (RadialBasis(lengthscale="mean"), KernelError, 'RadialBasis needs a positive lengthscale or "median"'),
        (RadialBasis(CENTERS[:, :2]), InputError, "columns of the data; the centers have 2 and the data has 3"),
        (RadialBasis(CENTERS, n_components=4), InputError, "got n_components=4 with 5 centers. Leave it out"),
        (RadialBasis(CENTERS[[0, 1, 2, 1]]), InputError, "distinct centers; row 1 and row 3 are equal. Drop one"),
        (RadialBasis([1.0, 2.0]), InputError, r"RadialBasis \(centers\) needs a table of rows and columns"),
        (RadialBasis([[np.nan, 0.0, 0.0]]), InputError, r"RadialBasis \(centers\) needs finite numbers"),
    ],
)  # fmt: skip
def test_mistakes(lift, error, message):
    with pytest.raises(error, match=message):
        lift.fit(X)


def test_a_grid_in_many_columns_explodes():
    wide = np.random.default_rng(5).normal(size=(30, 12))
    with pytest.raises(InputError, match="12 columns are 4096 centers, and n_components is 100"):
        RadialBasis("grid").fit(wide)


def test_sparse_centers_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(InputError, match="a dense table of centers; got a sparse one"):
        RadialBasis(csr_array(CENTERS)).fit(X)


def test_a_number_is_no_center():
    with pytest.raises(InputError, match=r'got the number 7. Give RadialBasis\("random", 7\) or n_components=7.'):
        RadialBasis(7).fit(X)
    assert RadialBasis("random", 7, random_state=0).fit(X).n_features() == 7
