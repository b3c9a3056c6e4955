"""Kernel k-means against the formula written out, and against scikit-learn's KMeans for the linear kernel."""

import pickle
import signal
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Matern, Sigmoid
from mercer.learners.clustering import seeds
from mercer.learners.clustering.kernel_kmeans import KernelKMeans
from mercer.learners.clustering.model import ByLandmarks, ByRows
from mercer.lifts import Nystrom
from mercer.lifts import Polynomial as PolynomialLift
from mercer.planner import clustering as planner
from mercer.solvers.kmeans.cluster_sums import KernelSums

WAYS = ["exact", "products", "landmarks"]
EVERY_WAY = pytest.mark.parametrize("way", WAYS)


def blobs(n=150, count=3, seed=0, d=2, spread=0.3):
    """Clear clusters, and which row is of which."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % count
    return 4 * random.normal(size=(count, d))[y] + spread * random.normal(size=(n, d)), y


def cloud(n=200, d=3, seed=0):
    """Rows without clusters."""
    return np.random.default_rng(seed).normal(size=(n, d))


def squares(kernel, X, weights, members, count, new=None):
    """(rows, count): squared distances from weighted means, by the formula."""
    new = X if new is None else new
    K, cross, found = kernel(X), kernel(new, X), np.full((len(new), count), np.inf)
    for c in range(count):
        own = np.flatnonzero((members == c) & (weights > 0))
        if len(own):
            w = weights[own] / weights[own].sum()
            found[:, c] = kernel.diagonal(new) - 2 * cross[:, own] @ w + w @ K[np.ix_(own, own)] @ w
    return found


@pytest.fixture
def learner(monkeypatch):
    """A maker of learners that take a given way on few rows, through the fused pass or not."""

    def make(way, count=4, kernel="gaussian(1)", **settings):
        if way == "products":
            monkeypatch.setattr(planner, "WHOLE", 0)
            settings = {"method": "exact", "n_landmarks": 40, **settings}
        if way == "landmarks":
            settings = {"method": "landmarks", "n_landmarks": 60, **settings}
        return KernelKMeans(count, kernel=kernel, **{"random_state": 0, **settings})

    return make


# -- truth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(2.5, 1.5)], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("way", WAYS[:2])
def test_no_row_is_nearer_to_another_mean_by_the_formula(learner, way, kernel, weighted):
    X = cloud()
    weights = np.random.default_rng(1).uniform(0.1, 3, 200) if weighted else np.ones(200)
    model = learner(way, 5, kernel).fit(X, sample_weight=weights if weighted else None)
    D = squares(kernel, X, weights, model.labels_, 5)
    assert model.plan_.method == way
    assert model.converged_
    assert_array_equal(model.labels_, D.argmin(axis=1))
    assert model.inertia_ == pytest.approx(weights @ D.min(axis=1), rel=1e-10)
    new = cloud(30, seed=9)
    wanted = squares(kernel, X, weights, model.labels_, 5, new)
    assert_allclose(model.transform(new), np.sqrt(wanted), rtol=1e-8)
    assert_array_equal(model.predict(new), wanted.argmin(axis=1))
    assert model.score(new, sample_weight=np.arange(30)) == pytest.approx(-np.arange(30) @ wanted.min(axis=1))


@pytest.mark.parametrize("kernel", ["linear", PolynomialLift(1), "precomputed"], ids=str)
def test_plain_kmeans_of_clear_clusters(kernel):
    X, y = blobs(300, 5, d=4)
    wanted = KMeans(5, n_init=20, tol=0, random_state=0).fit(X)
    model = KernelKMeans(5, kernel=kernel, random_state=0).fit(X @ X.T if kernel == "precomputed" else X)
    assert model.inertia_ == pytest.approx(wanted.inertia_, rel=1e-9)
    assert adjusted_rand_score(model.labels_, wanted.labels_) == 1.0
    assert adjusted_rand_score(model.labels_, y) == 1.0


def test_plain_kmeans_from_the_same_start(monkeypatch):
    seen = {}

    def start(sums, random):
        labels = np.arange(len(sums.weights)) % 6
        Z = sums.Z.copy() if isinstance(sums.Z, np.ndarray) else sums.Z.to_host()
        means = np.stack([np.average(Z[labels == c], axis=0, weights=sums.weights[labels == c]) for c in range(6)])
        seen.update(Z=Z, weights=sums.weights, means=means)
        return labels

    monkeypatch.setattr(seeds, "seeded", start)
    X, weights = cloud(500), np.random.default_rng(1).uniform(0.5, 2, 500)
    model = KernelKMeans(6, kernel="linear", n_init=1).fit(X, sample_weight=weights)
    wanted = KMeans(6, init=seen["means"], n_init=1, max_iter=1000, tol=0, algorithm="lloyd")
    wanted.fit(seen["Z"], sample_weight=seen["weights"])
    assert model.inertia_ == pytest.approx(weights.mean() * wanted.inertia_, rel=1e-9)
    assert model.n_iter_ > 5


@EVERY_WAY
def test_the_best_of_many_starts_is_kept(learner, way):
    X = cloud(300, 2)
    one, many = learner(way, 8, n_init=1).fit(X), learner(way, 8, n_init=20).fit(X)
    assert many.inertia_ <= one.inertia_ * (1 + 1e-6)
    assert np.sort(np.bincount(many.labels_)).min() > 0


def test_exact_steps_end_where_landmarks_alone_do_not(learner):
    X = cloud(400, 4)
    exact = learner("products", 6, n_landmarks=10).fit(X)
    lifted = learner("landmarks", 6, n_landmarks=10).fit(X)
    assert exact.inertia_ < lifted.inertia_
    D = squares(Gaussian(1.0), X, np.ones(400), exact.labels_, 6)
    assert exact.inertia_ == pytest.approx(D.min(axis=1).sum(), rel=1e-10)
    own = squares(Gaussian(1.0), X, np.ones(400), lifted.labels_, 6)[np.arange(400), lifted.labels_].sum()
    assert own <= lifted.inertia_  # distances from means in the span of landmarks are longer


def test_landmarks_that_are_all_rows_give_the_exact_model(learner):
    X, _ = blobs(120, 4)
    lifted = learner("landmarks", 4, n_landmarks=120).fit(X)
    exact = learner("exact", 4).fit(X)
    assert lifted.plan_.method == "landmarks"
    assert adjusted_rand_score(lifted.labels_, exact.labels_) == 1.0
    assert lifted.inertia_ == pytest.approx(exact.inertia_, rel=1e-5)
    new = cloud(20, 2)
    order = [lifted.labels_[np.argmax(exact.labels_ == c)] for c in range(4)]
    assert_allclose(lifted.transform(new)[:, order], exact.transform(new), atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_features_of_rows_that_were_not_drawn_are_the_same(learner, monkeypatch, kind):
    X = np.round(cloud(300), 1)
    few = learner("landmarks", 5, n_landmarks=20).fit(kind(X))
    monkeypatch.setattr("mercer.lifts.landmarks.HELD", 1000)  # draws from a sample of the rows
    model = learner("landmarks", 5, n_landmarks=20).fit(kind(X))
    assert_array_equal(model.predict(kind(X)), model.labels_)
    assert model.score(kind(X)) == pytest.approx(-model.inertia_, rel=1e-9)
    assert model.inertia_ == pytest.approx(few.inertia_, rel=0.1)


def test_starts_see_the_first_landmarks_alone(learner):
    X = cloud(500, 5)
    model = learner("landmarks", 6, n_landmarks=300).fit(X)
    assert model.plan_.n_landmarks == 300
    assert np.diff(model.history_).max() <= 1e-6 * 500
    D = squares(Gaussian(1.0), X, np.ones(500), model.labels_, 6)
    assert D[np.arange(500), model.labels_].sum() == pytest.approx(model.inertia_, rel=1e-2)
    assert_array_equal(model.predict(X), model.labels_)


def test_an_exact_lift_gives_the_exact_model(monkeypatch):
    X = cloud(150, 2)
    by_features = KernelKMeans(4, kernel="polynomial(degree=2)", random_state=0).fit(X)
    by_lift = KernelKMeans(4, kernel=PolynomialLift(2), random_state=0).fit(X)
    monkeypatch.setattr(planner, "LIFTED", 0)
    by_matrix = KernelKMeans(4, kernel="polynomial(degree=2)", random_state=0).fit(X)
    assert [model.plan_.method for model in (by_features, by_lift, by_matrix)] == ["features", "features", "exact"]
    for model in (by_features, by_lift):
        assert_array_equal(model.labels_, by_matrix.labels_)
        assert_allclose(model.history_, by_matrix.history_, rtol=1e-9)
        assert_allclose(model.transform(cloud(9, 2)), by_matrix.transform(cloud(9, 2)), rtol=1e-6)


def test_a_lift_of_landmarks_may_be_given():
    X, y = blobs(200, 3)
    lift = Nystrom("gaussian(2)", 50, random_state=0)
    model = KernelKMeans(3, kernel=lift, random_state=0).fit(X)
    Z = clone(lift).fit_transform(X)
    wanted = KMeans(3, n_init=10, tol=0, random_state=0).fit(Z)
    assert model.inertia_ == pytest.approx(wanted.inertia_, rel=1e-9)
    assert adjusted_rand_score(model.labels_, y) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "gaussian(1)"])
def test_rows_far_from_the_origin_are_clustered_as_near_it(kernel):
    X, y = blobs()
    near = KernelKMeans(3, kernel=kernel, random_state=0).fit(X)
    far = KernelKMeans(3, kernel=kernel, random_state=0).fit(X + 1e6)
    assert adjusted_rand_score(far.labels_, y) == 1.0
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6)
    assert_allclose(np.sort(far.transform(X + 1e6)), np.sort(near.transform(X)), rtol=1e-4)


def test_a_wide_kernel_is_nearly_plain_kmeans(learner):
    """Where k(x, z) is 1 - |x - z|^2 / 2 L^2 for all pairs, float32 would see no distances."""
    X = cloud(300, 3)
    wide = learner("products", 5, "gaussian(3000)").fit(X)
    D = squares(Linear(), X, np.ones(300), wide.labels_, 5)
    assert wide.inertia_ * 3000**2 == pytest.approx(D.min(axis=1).sum(), rel=1e-4)
    assert (wide.labels_ == D.argmin(axis=1)).mean() > 0.99


# -- laws -------------------------------------------------------------------------------------------------------------


@EVERY_WAY
@pytest.mark.parametrize("kernel", ["gaussian(0.7)", "laplace(2)", "matern(nu=2.5, lengthscale='median')"])
def test_the_inertia_never_rises(learner, way, kernel):
    for seed in range(3):
        random = np.random.default_rng(seed)
        X, weights = random.normal(size=(250, 3)), 10 ** random.uniform(-1, 1, 250)
        model = learner(way, 7, kernel, n_init=2).fit(X, sample_weight=weights)
        rises = np.diff(model.history_).max(initial=0.0)
        assert rises <= (1e-12 if way == "exact" else 1e-6) * weights.sum()
        assert model.history_[-1] == model.inertia_
        assert model.n_iter_ == len(model.history_)


@EVERY_WAY
def test_whole_weights_are_repeated_rows_in_any_order(learner, way):
    X = cloud(60, 2)
    random = np.random.default_rng(0)
    weights = random.integers(0, 4, 60)
    repeated = random.permutation(np.repeat(X, weights, axis=0))
    one = learner(way).fit(X, sample_weight=weights)
    other = learner(way).fit(repeated)
    assert_array_equal(one.predict(X), other.predict(X))
    assert_allclose(one.transform(X), other.transform(X), rtol=1e-12)
    assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-12)
    assert_array_equal(one.labels_, one.predict(X))  # those of weight zero, too


def test_whole_weights_are_repeated_rows_of_a_matrix():
    X, _ = blobs(60, 3)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    K = Gaussian(2.0)(X)
    one = KernelKMeans(3, kernel="precomputed", random_state=0).fit(K, sample_weight=weights)
    other = KernelKMeans(3, kernel="precomputed", random_state=0).fit(K[np.ix_(rows, rows)])
    assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-10)
    assert adjusted_rand_score(one.predict(K), other.predict(K[:, rows])) == 1.0


@EVERY_WAY
@pytest.mark.parametrize("scale", [1e-80, 1e-3, 1e80])
def test_only_the_ratios_of_weights_decide(learner, way, scale):
    X, weights = cloud(80), np.random.default_rng(0).uniform(0.5, 2, 80)
    one, other = (learner(way).fit(X, sample_weight=factor * weights) for factor in (1.0, scale))
    assert_array_equal(one.labels_, other.labels_)
    assert other.inertia_ == pytest.approx(scale * one.inertia_, rel=1e-6)


@EVERY_WAY
def test_training_rows_are_predicted_as_they_were_labelled(learner, way):
    X = np.random.default_rng(0).integers(-4, 5, size=(300, 2)).astype(float)  # on a lattice there are ties
    model = learner(way, 6).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-6)
    assert_array_equal(learner(way, 6).fit_predict(X), model.labels_)


@EVERY_WAY
def test_the_same_seed_gives_the_same_bits(learner, way):
    X = cloud(200)
    first, second, other = (learner(way, 6, random_state=seed).fit(X) for seed in (3, 3, 4))
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.history_, second.history_)
    assert first.history_.tolist() != other.history_.tolist()


# -- clusters ---------------------------------------------------------------------------------------------------------


def rings(n=200, inner=1.0, outer=3.0):
    """Two circles around the origin."""
    random, y = np.random.default_rng(0), np.arange(n) % 2
    angle, radius = random.uniform(0, 2 * np.pi, n), np.where(y == 0, inner, outer) + 0.1 * random.normal(size=n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def test_circles_are_parted_by_the_parabolic_lift():
    X, y = rings()
    assert adjusted_rand_score(KernelKMeans(2, kernel="linear", random_state=0).fit(X).labels_, y) < 0.1
    assert adjusted_rand_score(KernelKMeans(2, kernel="parabolic", random_state=0).fit(X).labels_, y) == 1.0


def test_a_ring_around_a_core_is_parted_by_a_gaussian():
    X, y = rings(inner=0.0, outer=3.0)
    assert adjusted_rand_score(KernelKMeans(2, kernel="linear", random_state=0).fit(X).labels_, y) < 0.5
    assert adjusted_rand_score(KernelKMeans(2, kernel="gaussian(1)", random_state=0).fit(X).labels_, y) == 1.0


@EVERY_WAY
def test_one_cluster_and_one_for_every_row(learner, way):
    X = cloud(50)
    one = learner(way, 1).fit(X)
    assert (one.labels_ == 0).all()
    assert one.inertia_ == pytest.approx(squares(Gaussian(1.0), X, np.ones(50), np.zeros(50), 1).sum(), rel=1e-6)
    alone = learner(way, 50, n_landmarks=50).fit(X)
    assert_array_equal(np.sort(alone.labels_), np.arange(50))
    assert alone.inertia_ == pytest.approx(0.0, abs=1e-6)


@EVERY_WAY
@pytest.mark.parametrize("kernel", ["gaussian(1)", "linear"])
def test_equal_rows_are_of_one_cluster(learner, way, kernel):
    X = np.repeat([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], [9, 5, 3], axis=0)
    model = learner(way, 5, kernel).fit(X)
    assert len(np.unique(model.labels_)) == 3
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)
    assert [len(set(part.tolist())) for part in np.split(model.labels_, [9, 14])] == [1, 1, 1]
    assert np.isinf(model.transform(X)).sum(axis=1).tolist() == [2] * 17  # from means that do not exist
    assert_array_equal(model.predict(X), model.labels_)


def test_rows_that_are_all_equal():
    with pytest.warns(NumericalWarning, match="no two different rows"):
        model = KernelKMeans(3).fit(np.ones((10, 2)))
    assert (model.labels_ == 0).all()
    assert model.inertia_ == 0.0
    zeros = KernelKMeans(2, kernel="linear").fit(np.zeros((5, 2)))
    assert (zeros.labels_ == 0).all()


def test_columns_that_never_vary_change_nothing():
    X, _ = blobs()
    one = KernelKMeans(3, random_state=0).fit(X)
    other = KernelKMeans(3, random_state=0).fit(np.column_stack([X, np.full(150, 7.0)]))
    assert adjusted_rand_score(one.labels_, other.labels_) == 1.0


# -- kinds of input -----------------------------------------------------------------------------------------------


@EVERY_WAY
def test_float32_stays_float32(learner, way):
    X, y = blobs(200, 4)
    narrow, wide = learner(way).fit(X.astype(np.float32)), learner(way).fit(X)
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert narrow.transform(X).dtype == np.float64
    assert adjusted_rand_score(narrow.labels_, y) == adjusted_rand_score(wide.labels_, y) == 1.0
    assert narrow.inertia_ == pytest.approx(wide.inertia_, rel=1e-5)


def test_distances_beyond_float32_are_told_of():
    X = np.array([[60.0], [61.0], [70.0]])
    model = KernelKMeans(2, kernel="exponential(5)", random_state=0).fit(X.astype(np.float32))
    with pytest.warns(NumericalWarning, match="KernelKMeans: distances overflow float32 on this data"):
        assert np.isinf(model.transform(X.astype(np.float32))).any()
    assert np.isfinite(model.transform(X)).all()


@EVERY_WAY
def test_sparse_rows_give_the_same(learner, way):
    X = np.where(np.abs(cloud(150)) < 0.5, 0.0, cloud(150))
    dense, sparse = learner(way).fit(X), learner(way).fit(sp.csr_array(X))
    assert_array_equal(dense.labels_, sparse.labels_)
    assert sparse.inertia_ == pytest.approx(dense.inertia_, rel=1e-6)
    assert_allclose(sparse.transform(sp.csr_array(X[:9])), dense.transform(X[:9]), atol=1e-6)


def test_a_matrix_of_similarities_gives_the_same():
    X, _ = blobs()
    K, new = Gaussian(2.0)(X), cloud(20, 2)
    given = KernelKMeans(3, kernel="precomputed", random_state=0).fit(K)
    plain = KernelKMeans(3, kernel="gaussian(2)", random_state=0).fit(X)
    assert adjusted_rand_score(given.labels_, plain.labels_) == 1.0
    assert given.inertia_ == pytest.approx(plain.inertia_, rel=1e-12)
    order = [given.labels_[np.argmax(plain.labels_ == c)] for c in range(3)]
    assert_array_equal(given.predict(Gaussian(2.0)(new, X)), np.array(order)[plain.predict(new)])
    assert_allclose(clone(given).fit_transform(K)[:, order], plain.transform(X), atol=1e-7)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_frames(library):
    frame = pytest.importorskip(library).DataFrame
    X, y = blobs()
    table = frame({"a": X[:, 0], "name": [f"row {i}" for i in range(150)], "b": X[:, 1]})
    model = KernelKMeans(3, kernel=Gaussian(2.0).on(["a", "b"]), random_state=0).fit(table)
    assert adjusted_rand_score(model.labels_, y) == 1.0
    assert_array_equal(model.predict(table), model.labels_)


def test_distances_have_names_and_go_into_frames():
    X, _ = blobs()
    model = KernelKMeans(3, random_state=0).set_output(transform="pandas").fit(X)
    assert model.transform(X).columns.tolist() == ["kernelkmeans0", "kernelkmeans1", "kernelkmeans2"]
    assert_allclose(clone(model).set_output(transform="default").fit_transform(X), model.transform(X), rtol=1e-9)


def test_copies_and_files():
    X = cloud(60)
    model = KernelKMeans(4, random_state=0).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)  # noqa: S301
    assert repr(KernelKMeans(3, n_init=2)) == "KernelKMeans(n_clusters=3, n_init=2)"
    model.set_params(kernel="gaussian(1)", kernel__lengthscale=2.0).fit(X)
    assert model.kernel_ == Gaussian(2.0)


# -- memory, and how it can be stopped ------------------------------------------------------------------------------


def test_products_hold_nothing_of_the_square_of_rows():
    X, _ = blobs(6000, 5)
    model = KernelKMeans(5, kernel="gaussian(2)", method="exact", n_init=2, random_state=0)
    model.fit(X[:3000])  # compiles
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.plan_.method == "products"
    assert peak < 2 * 6000**2  # bytes: half of the matrix in float32
    assert peak < 1.5 * model.plan_.bytes


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_memory_decides_the_way():
    X = cloud(2000)
    assert KernelKMeans(3, kernel="gaussian(1)").plan(X).method == "exact"
    assert KernelKMeans(3, kernel="gaussian(1)", memory_limit="45 MB").plan(X).method == "products"
    with pytest.raises(BudgetError, match=r"KernelKMeans needs .* for k-means of 2,000 rows"):
        KernelKMeans(3, kernel="gaussian(1)", memory_limit="1 MB").fit(X)
    with pytest.raises(BudgetError, match="Use fewer rows"):
        KernelKMeans(3, kernel="precomputed", memory_limit="1 MB").fit(np.eye(400))


@pytest.mark.parametrize("way", [*WAYS, "features"])
def test_a_time_limit_keeps_what_was_found(learner, way):
    X = cloud(300)
    kernel = "linear" if way == "features" else "gaussian(1)"
    model = learner(way, 6, kernel, time_limit=1e-9)
    if way == "exact":
        model.set_params(kernel="precomputed")
    data = Gaussian(1.0)(X) if way == "exact" else X
    with pytest.warns(NumericalWarning, match="KernelKMeans: The time limit of 1e-09 s was reached, after 1 step"):
        model.fit(data)
    assert not model.converged_
    assert len(np.unique(model.labels_)) == 6
    assert_array_equal(model.predict(data), model.labels_)
    assert np.isfinite(model.inertia_)


@pytest.mark.parametrize("when", ["_anew", "_change"])
def test_ctrl_c_in_exact_steps_keeps_what_was_found(learner, monkeypatch, when):
    """Before the first sum, landmarks are all there is."""
    X, calls, plain = cloud(400), [], getattr(KernelSums, when)

    def interrupted(self, *given):
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        plain(self, *given)

    monkeypatch.setattr(KernelSums, when, interrupted)
    model = learner("products", 6, n_landmarks=10, on_interrupt="keep")
    with pytest.warns(NumericalWarning, match="KernelKMeans: The fit was interrupted, after"):
        model.fit(X)
    assert not model.converged_
    assert_array_equal(model.predict(X), model.labels_)
    assert isinstance(model._model, ByLandmarks if when == "_anew" else ByRows)
    whole = learner("products", 6, n_landmarks=10).fit(X)
    assert model.inertia_ >= whole.inertia_ * (1 - 1e-6)
    assert np.diff(model.history_).max(initial=0.0) <= 1e-6 * 400
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        learner("products", 6, n_landmarks=10).fit(X)


def test_few_steps_are_told_of():
    X = cloud(500)
    with pytest.warns(NumericalWarning, match=r"KernelKMeans: 2 steps were not enough.* Allow more max_iter"):
        few = KernelKMeans(8, kernel="gaussian(1)", max_iter=2, random_state=0).fit(X)
    assert not few.converged_
    assert few.n_iter_ == 2
    assert_array_equal(few.predict(X), few.labels_)
    coarse = KernelKMeans(8, kernel="gaussian(1)", tol=0.01, random_state=0).fit(X)
    assert coarse.converged_
    assert coarse.n_iter_ < KernelKMeans(8, kernel="gaussian(1)", random_state=0).fit(X).n_iter_


def test_a_plan_says_what_a_fit_takes():
    X = cloud(100)
    model = KernelKMeans(3, kernel="gaussian(1)", random_state=0)
    plan = model.plan(X)
    assert str(plan).startswith("k-means on 100 rows x 3 columns, 3 clusters: exact\n")
    assert not hasattr(model, "n_features_in_")
    assert model.fit(X).plan_ == plan


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "a positive integer for n_clusters; got 0"),
        ({"n_clusters": 2.0}, "a positive integer for n_clusters; got 2.0"),
        ({"n_clusters": 21}, "at least as many rows of positive weight as clusters, 21; n_samples = 20"),
        ({"n_init": True}, "a positive integer for n_init; got True"),
        ({"max_iter": -1}, "a positive integer for max_iter; got -1"),
        ({"n_landmarks": 0}, "a positive integer, or None, for n_landmarks; got 0"),
        ({"tol": -1e-3}, "a finite number of at least 0 for tol; got -0.001"),
        ({"tol": np.nan}, "a finite number of at least 0 for tol; got nan"),
        ({"method": "fast"}, 'method that is "auto", "exact" or "landmarks"; got \'fast\''),
        ({"lengthscale": "loo"}, 'a lengthscale that is "median" or a number; got "loo"'),
        ({"time_limit": 0}, "a positive number of seconds, or None, for time_limit"),
        ({"on_interrupt": "stop"}, 'on_interrupt that is "raise" or "keep"'),
        ({"kernel": Sigmoid(1.0, -1.0), "method": "landmarks"}, 'a kernel that is proven for method="landmarks"'),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        KernelKMeans(**{"n_clusters": 3, **settings}).fit(cloud(20))


def test_data_that_makes_no_sense_is_refused():
    X = cloud(20)
    with pytest.raises(InputError, match="as clusters, 3; n_samples = 2"):
        KernelKMeans(3).fit(X, sample_weight=np.arange(20) < 2)
    with pytest.raises(InputError, match="some row of positive weight; all are zero"):
        KernelKMeans(3).fit(X, sample_weight=np.zeros(20))
    with pytest.raises(InputError, match="finite numbers of at least 0"):
        KernelKMeans(3).fit(X, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="NaN"):
        KernelKMeans(3).fit(np.where(X > 1, np.nan, X))
    with pytest.raises(InputError, match="K is indefinite: smallest eigenvalue -1, largest 1"):
        KernelKMeans(1, kernel="precomputed").fit([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(InputError, match="as many rows as columns"):
        KernelKMeans(2, kernel="precomputed").fit(X)
    with pytest.raises(InputError, match='for method="landmarks"; the kernel is precomputed'):
        KernelKMeans(2, kernel="precomputed", method="landmarks").fit(np.eye(5))
    with pytest.raises(InputError, match="values of the kernel with finite sums"):
        KernelKMeans(2, kernel="linear").fit(1e200 * X)


def test_a_failed_fit_keeps_the_model_before():
    X = cloud(50)
    model = KernelKMeans(3, random_state=0).fit(X)
    before = model.predict(X)
    with pytest.raises(InputError, match="n_samples = 2"):
        model.fit(X[:2])
    assert_array_equal(model.predict(X), before)


def test_fits_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelKMeans(3, random_state=0).fit(cloud(40)).predict(cloud(5))


def test_what_needs_rows_is_not_there_for_a_matrix():
    X, _ = blobs(40)
    model = KernelKMeans(2, kernel="precomputed").fit(Gaussian(1.0)(X))
    assert [hasattr(model, name) for name in ("transform", "score", "fit_transform", "predict")] == [0, 0, 1, 1]
    rows = KernelKMeans(2, kernel="gaussian(1)").set_output(transform="pandas").fit(X)
    assert isinstance(rows.transform(X), pd.DataFrame)
    assert rows.score(X) < 0
    with pytest.raises(AttributeError, match="'KernelKMeans' has no attribute 'transform'") as told:
        model.transform(X)
    assert "the kernel is precomputed" in str(told.value.__cause__)
