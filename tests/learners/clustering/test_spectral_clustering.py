"""Spectral clustering against dense eigenvectors, and against scikit-learn's on the same affinities."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.cluster import SpectralClustering as Reference
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from mercer import kernels
from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Matern, Polynomial
from mercer.learners.clustering import laplacian
from mercer.learners.clustering.laplacian import Normalised, never_negative
from mercer.learners.clustering.spectral_clustering import SpectralClustering
from mercer.lifts import Nystrom
from mercer.lifts import Polynomial as PolynomialLift
from mercer.operators import Dense
from mercer.planner import clustering as planner
from mercer.testing import check_operator

STORED = pytest.mark.parametrize("stored", [True, False], ids=["matrix", "products"])


@pytest.fixture
def by_products(monkeypatch):
    """Stores no matrix from now on."""
    return lambda: monkeypatch.setattr(planner, "WHOLE", 0)


def rings(n=300, noise=0.1):
    """Two circles around the origin."""
    random, y = np.random.default_rng(0), np.arange(n) % 2
    angle, radius = 2 * np.pi * np.arange(n) / n, np.where(y == 0, 1.0, 3.0) + noise * random.normal(size=n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def blobs(n=200, count=4, seed=0):
    random, y = np.random.default_rng(seed), np.arange(n) % count
    return 4 * random.normal(size=(count, 3))[y] + 0.4 * random.normal(size=(n, 3)), y


def walk(K, count):
    """The largest eigenvalues of D^-1 K and their eigenvectors, from the generalised problem K v = value D v."""
    degrees = K.sum(axis=1)
    values, vectors = eigh(K, np.diag(degrees))
    return values[::-1][:count], np.sqrt(degrees.sum()) * vectors[:, ::-1][:, :count]


# -- truth ------------------------------------------------------------------------------------------------------------


@STORED
@pytest.mark.parametrize("kernel", [Gaussian(1.5), Matern(2.5, 2.0), Polynomial(2, 1.0)], ids=str)
def test_eigenvectors_are_those_of_the_walk(by_products, stored, kernel):
    X, _ = blobs()
    if not stored:
        by_products()
    model = SpectralClustering(4, kernel=kernel, n_components=5, tol=1e-10, random_state=0).fit(X)
    assert model.plan_.method == ("exact" if stored else "krylov")
    values, vectors = walk(kernel(X), 5)
    assert_allclose(model.eigenvalues_, values, atol=1e-9)
    assert model.eigenvalues_[0] == pytest.approx(1.0)
    signs = np.sign((model.embedding_ * vectors).sum(axis=0))
    assert_allclose(model.embedding_, vectors * signs, atol=1e-4)
    assert_allclose(model.embedding_[:, 0], 1.0, atol=1e-6)
    largest = np.abs(model.embedding_).argmax(axis=0)
    assert (model.embedding_[largest, np.arange(5)] > 0).all()
    shares = kernel(X).sum(axis=1) / kernel(X).sum()
    assert_allclose(shares @ model.embedding_**2, 1.0, rtol=1e-8)
    assert model.residuals_.max() < 1e-9
    assert model.converged_


@STORED
def test_circles_are_parted(by_products, stored):
    X, y = rings()
    if not stored:
        by_products()
    model = SpectralClustering(2, kernel="gaussian(0.3)", random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1.0
    theirs = Reference(2, affinity="precomputed", random_state=0).fit(Gaussian(0.3)(X))
    assert adjusted_rand_score(model.labels_, theirs.labels_) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_labels_are_those_of_scikit_learn(seed):
    X, y = blobs(200, 4, seed)
    theirs = Reference(4, affinity="precomputed", random_state=0).fit(Gaussian(1.0)(X))
    model = SpectralClustering(4, kernel="gaussian(1)", random_state=0)
    assert adjusted_rand_score(model.fit_predict(X), theirs.labels_) == 1.0
    assert adjusted_rand_score(model.labels_, y) == 1.0


def test_both_ways_give_the_same_labels(by_products):
    X, _ = blobs(300, 5)
    stored = SpectralClustering(5, random_state=0).fit(X)
    by_products()
    products = SpectralClustering(5, random_state=0).fit(X)
    assert adjusted_rand_score(stored.labels_, products.labels_) == 1.0
    assert_allclose(products.eigenvalues_, stored.eigenvalues_, atol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian(1.5)", PolynomialLift(2), "precomputed"], ids=str)
def test_the_method_that_was_asked_for(kernel):
    X, _ = blobs(150, 3)
    X = Gaussian(1.5)(X) if kernel == "precomputed" else X
    settings = {"kernel": kernel, "tol": 1e-10, "random_state": 0}
    auto, exact, krylov = (
        SpectralClustering(3, method=method, **settings).fit(X) for method in ("auto", "exact", "krylov")
    )
    assert [model.plan_.method for model in (auto, exact, krylov)] == ["exact", "exact", "krylov"]
    assert_array_equal(exact.embedding_, auto.embedding_)
    assert_array_equal(exact.labels_, auto.labels_)
    assert krylov.converged_
    assert_allclose(krylov.eigenvalues_, exact.eigenvalues_, atol=1e-9)
    assert_allclose(krylov.embedding_, exact.embedding_, atol=1e-6)
    assert adjusted_rand_score(krylov.labels_, exact.labels_) == 1.0


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_exact_stores_the_matrix_of_many_rows():
    X, y = rings(2100)
    model = SpectralClustering(2, kernel="gaussian(0.4)", method="exact", random_state=0).fit(X)
    assert model.plan_.method == "exact"
    assert adjusted_rand_score(model.labels_, y) == 1.0
    with pytest.raises(BudgetError, match=r'of 2,100 rows \(exact\); .* Use method="krylov", or fewer rows'):
        model.set_params(memory_limit="50 MB").fit(X)


def test_many_rows_by_the_fused_pass():
    X, y = rings(2500)
    model = SpectralClustering(2, kernel="gaussian(0.4)", random_state=0).fit(X)
    assert model.plan_.method == "krylov"
    assert model.converged_
    assert adjusted_rand_score(model.labels_, y) == 1.0
    assert model.residuals_.max() <= 1e-5


def test_a_graph_that_falls_apart_has_an_eigenvalue_of_one_for_each_part():
    K = np.kron(np.eye(3), np.ones((4, 4)))
    model = SpectralClustering(3, kernel="precomputed", n_components=4, random_state=0).fit(K)
    assert_allclose(model.eigenvalues_, [1, 1, 1, 0], atol=1e-12)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1, 2], 4)) == 1.0


@STORED
def test_ties_need_not_be_a_kernel(by_products, stored):
    """Eigenvalues down to -1 are no reason to miss the largest: nearest neighbours are such a graph."""
    X, y = rings()
    if not stored:
        by_products()
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    near = distances <= np.sort(distances, axis=1)[:, 5:6]
    ties = (near | near.T).astype(float) - np.eye(len(X))
    assert np.linalg.eigvalsh(ties)[0] < -1
    model = SpectralClustering(2, kernel="precomputed", n_components=3, tol=1e-9, max_iter=200, random_state=0).fit(
        ties
    )
    assert_allclose(model.eigenvalues_, walk(ties, 3)[0], atol=1e-8)
    assert adjusted_rand_score(model.labels_, y) == 1.0


# -- the graph --------------------------------------------------------------------------------------------------------


def test_the_normalised_matrix_is_an_operator():
    K = Gaussian(1.0)(np.random.default_rng(0).normal(size=(12, 2)))
    roots = 1 / np.sqrt(K.sum(axis=1))
    A = Normalised(Dense(K), roots)
    check_operator(A)
    assert_allclose(A.to_dense(), roots[:, None] * K * roots, rtol=1e-14)


def test_kernels_that_are_never_negative_are_known():
    random = np.random.default_rng(0)
    X = np.abs(random.normal(size=(40, 2)))
    known = [Gaussian(1.0), Matern(1.5, 1.0) + 2.0 * Gaussian(0.5), kernels.Exp(Linear()), kernels.Min()]
    known += [Gaussian(1.0).on([0]) * kernels.Periodic(1.0, 1.0), kernels.ArcCosine(1), kernels.Wendland(2, 1, 2.0)]
    for kernel in known:
        assert never_negative(kernel)
        assert kernel(X).min() >= 0
        assert kernel(-X if not isinstance(kernel, kernels.Min) else X).min() >= 0
    for kernel in (Linear(), Gaussian(1.0) * Linear(), Polynomial(3, 0.0), kernels.Sinc(1.0)):
        assert not never_negative(kernel)


@STORED
@pytest.mark.parametrize("kernel", ["linear", "cosine", PolynomialLift(1)], ids=str)
def test_negative_ties_are_refused(by_products, stored, kernel):
    X, _ = blobs()
    if not stored:
        by_products()
    with pytest.raises(InputError, match=r"SpectralClustering needs ties of at least 0; the smallest value of .* is -"):
        SpectralClustering(4, kernel=kernel).fit(X)


def test_the_smallest_value_is_named():
    K = np.eye(4) + 0.5
    K[1, 3] = K[3, 1] = -0.25
    with pytest.raises(InputError, match=r"the smallest value of the matrix is -0\.25, of the rows 1 and 3"):
        SpectralClustering(2, kernel="precomputed").fit(K)
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 1.0]])
    with pytest.raises(InputError, match="the smallest value of linear is -2, of the rows 0 and 2"):
        SpectralClustering(2, kernel="linear").fit(X)


def test_a_row_without_ties_is_refused():
    K = np.ones((4, 4))
    K[2] = K[:, 2] = 0
    with pytest.raises(InputError, match="a finite positive tie; those of row 2 add up to 0"):
        SpectralClustering(2, kernel="precomputed").fit(K)


def test_kernels_that_are_not_negative_on_the_data_are_taken():
    X = np.abs(blobs()[0])
    assert SpectralClustering(4, kernel="linear", random_state=0).fit(X).eigenvalues_[0] == pytest.approx(1.0)


# -- kinds of input -----------------------------------------------------------------------------------------------


def test_float32_sparse_and_precomputed_give_the_same():
    X, y = blobs()
    plain = SpectralClustering(4, kernel="gaussian(1)", random_state=0).fit(X)
    narrow = clone(plain).fit(X.astype(np.float32))
    assert narrow.embedding_.dtype == np.float32
    sparse, given = clone(plain).fit(sp.csr_array(X)), SpectralClustering(4, kernel="precomputed", random_state=0)
    given.fit(Gaussian(1.0)(X))
    for model in (narrow, sparse, given):
        assert adjusted_rand_score(model.labels_, y) == 1.0
        assert_allclose(model.eigenvalues_, plain.eigenvalues_, atol=1e-5)


def test_a_lift_may_be_given():
    X, y = blobs()
    model = SpectralClustering(4, kernel=Nystrom("gaussian(2)", 200, random_state=0), random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1.0


def test_the_same_seed_gives_the_same_labels(by_products):
    by_products()
    X = np.random.default_rng(0).normal(size=(200, 3))
    one, other = (SpectralClustering(5, random_state=3).fit(X) for _ in range(2))
    assert_array_equal(one.labels_, other.labels_)
    assert_array_equal(one.embedding_, other.embedding_)
    assert_array_equal(pickle.loads(pickle.dumps(one)).labels_, one.labels_)  # noqa: S301


@STORED
def test_one_cluster_one_row_and_equal_rows(by_products, stored):
    if not stored:
        by_products()
    assert SpectralClustering(1, kernel="gaussian(1)").fit([[1.0, 2.0]]).labels_.tolist() == [0]
    assert (SpectralClustering(1).fit(np.random.default_rng(0).normal(size=(20, 2))).labels_ == 0).all()
    X = np.repeat([[0.0], [9.0]], 5, axis=0)
    labels = SpectralClustering(2, kernel="gaussian(1)", random_state=0).fit(X).labels_
    assert [len(set(part.tolist())) for part in np.split(labels, 2)] == [1, 1]
    assert labels[0] != labels[5]


# -- limits -----------------------------------------------------------------------------------------------------------


def test_products_hold_nothing_of_the_square_of_rows():
    X, _ = rings(6000)
    model = SpectralClustering(2, kernel="gaussian(0.5)", n_init=1, random_state=0)
    model.fit(X[:2500])  # compiles
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.plan_.method == "krylov"
    assert peak < 2 * 6000**2  # bytes: half of the matrix in float32


def test_few_products_are_told_of(by_products):
    by_products()
    X, _ = rings()
    with pytest.warns(
        NumericalWarning, match=r"SpectralClustering: After .* products? .* those that were found so far"
    ):
        model = SpectralClustering(2, kernel="gaussian(0.2)", max_iter=1, tol=1e-12, random_state=0).fit(X)
    assert not model.converged_
    assert len(model.labels_) == 300


def test_a_time_limit_keeps_what_was_found(by_products):
    by_products()
    X, _ = rings()
    with pytest.warns(NumericalWarning, match="SpectralClustering: The time limit of 1e-09 s was reached"):
        model = SpectralClustering(2, kernel="gaussian(0.2)", tol=1e-12, time_limit=1e-9, random_state=0).fit(X)
    assert not model.converged_
    assert set(model.labels_.tolist()) == {0, 1}


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_a_plan_says_what_a_fit_takes():
    X, _ = blobs()
    model = SpectralClustering(4, kernel="gaussian(1)", random_state=0)
    plan = model.plan(X)
    assert str(plan).startswith("spectral clustering on 200 rows x 3 columns, 4 clusters: exact\n")
    assert not hasattr(model, "n_features_in_")
    assert model.fit(X).plan_ == plan
    with pytest.raises(BudgetError, match=r"SpectralClustering needs .* for spectral clustering of 200 rows"):
        SpectralClustering(4, kernel="gaussian(1)", memory_limit="10 kB").fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "a positive integer for n_clusters; got 0"),
        ({"n_clusters": 21}, "as clusters, 21; n_samples = 20"),
        ({"n_components": 21}, "at most as many components as rows; n_components is 21, and there are 20 rows"),
        ({"n_components": "all"}, "a positive integer for n_components; got 'all'"),
        ({"method": "landmarks"}, 'method that is "auto", "exact" or "krylov"; got \'landmarks\''),
        ({"n_init": 0}, "a positive integer for n_init; got 0"),
        ({"max_iter": None}, "a positive integer for max_iter; got None"),
        ({"tol": np.inf}, "a finite number of at least 0 for tol; got inf"),
        ({"lengthscale": "loo"}, 'a lengthscale that is "median" or a number; got "loo"'),
        ({"verbose": "loud"}, 'verbose that is True, False or "auto"'),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        SpectralClustering(**{"n_clusters": 2, **settings}).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_sparse_ties():
    X = np.random.default_rng(3).normal(size=(60, 2))
    K = Gaussian(1.0)(X)
    K[K < 0.2] = 0.0
    dense = SpectralClustering(3, kernel="precomputed", random_state=0).fit(K)
    for kind in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        model = SpectralClustering(3, kernel="precomputed", random_state=0).fit(kind(K))
        assert np.array_equal(model.labels_, dense.labels_)
        assert np.array_equal(model.embedding_, dense.embedding_)
    nearest = kneighbors_graph(X, 8, include_self=True)
    with pytest.warns(NumericalWarning, match="not symmetric"):
        model = SpectralClustering(2, kernel="precomputed", random_state=0).fit(nearest)
    assert len(set(model.labels_)) == 2
    with pytest.raises(BudgetError):
        SpectralClustering(2, kernel="precomputed", memory_limit="1 MB").fit(sp.eye_array(100_000).tocsr())


def test_more_parts_than_clusters_are_told():
    K = np.kron(np.eye(4), np.ones((10, 10)))
    with pytest.warns(NumericalWarning, match="not connected: it has 4 parts that no tie above rounding connects"):
        model = SpectralClustering(3, kernel="precomputed", random_state=0).fit(K)
    assert all(len(set(model.labels_[i : i + 10])) == 1 for i in range(0, 40, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(set(SpectralClustering(4, kernel="precomputed", random_state=0).fit(K).labels_)) == 4
        SpectralClustering(3, kernel="precomputed", random_state=0).fit(K + 1e-6)


def test_few_eigenvectors_are_those_of_a_decomposition(monkeypatch):
    X, _ = rings(400)
    few = SpectralClustering(3, kernel="gaussian(0.4)", random_state=0).fit(X)
    monkeypatch.setattr(laplacian, "certified", lambda *given: None)
    whole = SpectralClustering(3, kernel="gaussian(0.4)", random_state=0).fit(X)
    assert few.n_iter_ > 1 == whole.n_iter_
    assert_allclose(few.eigenvalues_, whole.eigenvalues_, atol=1e-12)
    assert_allclose(few.embedding_, whole.embedding_, atol=1e-8)
    assert_array_equal(few.labels_, whole.labels_)
