"""Wide tables at a backend, by PyTorch on the cores: against NumPy, and learners against those of this process."""

import pickle
from unittest import mock

import numpy as np
import pytest
from sklearn.datasets import make_blobs

torch = pytest.importorskip("torch")

from mercer import KernelKMeans, KernelLogisticRegression, KernelRidge, KernelSVC, KernelSVR, lifts  # noqa: E402
from mercer.backends import CPU, CUDA, Layout, RowValues, use  # noqa: E402
from mercer.backends.cuda import slices as slicing  # noqa: E402
from mercer.backends.cuda.sums import TorchOperations  # noqa: E402
from mercer.backends.cuda.tables import DeviceTable  # noqa: E402
from mercer.backends.row_functions import RowFunctions  # noqa: E402
from mercer.backends.tables import leading  # noqa: E402
from mercer.compute.runtime.run import IDLE, Run, Stopped  # noqa: E402
from mercer.errors import BudgetError, NumericalWarning  # noqa: E402
from mercer.kernels.points import Points  # noqa: E402
from mercer.learners.clustering.seeds import seeded  # noqa: E402
from mercer.learners.run.convergence import ConvergenceWarning  # noqa: E402
from mercer.learners.streaming.basis import FeatureBasis, LiftBasis, landmark_basis  # noqa: E402
from mercer.learners.streaming.feature_pass import feature_table, held_table  # noqa: E402
from mercer.learners.streaming.moments import Moments  # noqa: E402
from mercer.learners.streaming.stream import Piece  # noqa: E402
from mercer.lifts.row_functions import row_functions  # noqa: E402
from mercer.solvers.kmeans.cluster_sums import FeatureSums  # noqa: E402
from mercer.solvers.kmeans.lloyd import LloydSettings, descend  # noqa: E402
from mercer.solvers.kmeans.table_sums import TableSums  # noqa: E402

torch.set_num_threads(1)
RNG, EPS = np.random.default_rng(0), np.finfo(float).eps
DTYPES = ["float32", "float64"]
CLOSE = {"float32": 1e-5, "float64": 1e-13}


@pytest.fixture(autouse=True)
def at_backend(monkeypatch):
    """Small slices and chunks, so that there are many, and the last ones are not full."""
    monkeypatch.setitem(slicing.SLICE_NUMBERS, "cpu", 5000)
    monkeypatch.setattr(slicing, "CHUNK_ROWS", 64)
    monkeypatch.setattr("mercer.backends.cuda.groups.CHUNK_ROWS", 64)
    monkeypatch.setattr("mercer.backends.cuda.tables.CHUNK_ROWS", 64)
    monkeypatch.setattr(slicing, "QUEUED_NUMBERS", 10_000)
    with use(CUDA("cpu")) as opened:
        yield opened


def sent(Z, backend):
    table = backend.table(Z.shape, Z.dtype)
    table.values[...] = torch.from_numpy(Z)
    return table


def blobs(n, p, dtype="float64", clusters=4):
    X, labels = make_blobs(n, p, centers=clusters, cluster_std=1.0, center_box=(-8, 8), random_state=n)
    return X.astype(dtype), labels


# -- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_those_of_arrays(at_backend, n, dtype):
    Z = RNG.normal(size=(n, 7)).astype(dtype)
    table, wide = sent(Z, at_backend), Z.astype(float)
    W, R, weights = RNG.normal(size=(7, 3)), RNG.normal(size=(n, 3)), RNG.uniform(size=n)
    close = {"rtol": 0, "atol": 1e-12 * n}
    assert (table.shape, table.dtype, len(table)) == (Z.shape, Z.dtype, n)
    np.testing.assert_allclose(table @ W, wide @ W, **close)
    np.testing.assert_allclose(table @ W[:, 0], wide @ W[:, 0], **close)
    np.testing.assert_allclose(table.T @ R, wide.T @ R, **close)
    np.testing.assert_allclose(table.T @ R[:, 0], wide.T @ R[:, 0], **close)
    np.testing.assert_allclose(table.squares(), wide.T @ wide, **close)
    np.testing.assert_allclose(table.squares(weights), wide.T * weights @ wide, **close)
    np.testing.assert_allclose(table.row_squares(), (wide**2).sum(axis=1), **close)
    np.testing.assert_allclose(leading(table, 3) @ W[:3], leading(wide, 3) @ W[:3], **close)
    np.testing.assert_array_equal(table.rows(np.array([n - 1, 0])), Z[[n - 1, 0]])
    np.testing.assert_array_equal(table[slice(n // 2, n)].to_host(), Z[n // 2 :])
    np.testing.assert_array_equal(table.to_host(), Z)  # nothing of all that has changed it
    table.subtract(W[:, 0])
    np.testing.assert_array_equal(table.to_host(), (wide - W[:, 0]).astype(dtype))


def test_products_in_float32_are_not_those_of_tf32():
    torch.set_float32_matmul_precision("high")
    try:
        with use(CUDA("cpu")):
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_table_without_room_is_refused_before_it_is_made(at_backend):
    with pytest.raises(BudgetError, match="features of"):
        at_backend.table((10**9, 10**6), "float64")


def test_on_the_cores_it_is_an_array():
    assert isinstance(CPU().table((3, 2), "float32"), np.ndarray)
    assert not CPU.holds_tables


def test_who_listens_can_end_squares(at_backend):
    def tell():
        raise Stopped("enough")

    with pytest.raises(Stopped):
        sent(np.ones((2000, 5)), at_backend).squares(tell=tell)


def test_numbers_are_added_at_positions_like_on_the_cores():
    positions, numbers = RNG.integers(7, size=1000), RNG.normal(size=1000)
    sums = torch.ones(9, dtype=torch.float64)
    TorchOperations.add_at(sums, torch.from_numpy(positions), torch.from_numpy(numbers))
    np.testing.assert_allclose(sums.numpy(), 1 + np.bincount(positions, numbers, 9), atol=1e-13)


# -- clusters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("beyond", [0.0, 0.5])
def test_steps_are_those_of_arrays(at_backend, dtype, beyond):
    Z, _ = blobs(900, 3, dtype)
    weights = RNG.integers(1, 4, size=900).astype(float)
    sizes = (Z.astype(float) ** 2).sum(axis=1) + beyond
    start = RNG.integers(4, size=900)
    here = descend(FeatureSums(Z, weights, 4, sizes), start)
    there = descend(TableSums(sent(Z, at_backend), weights, 4, sizes), start)
    np.testing.assert_array_equal(there.labels, here.labels)
    np.testing.assert_allclose(there.squares, here.squares, rtol=0, atol=CLOSE[dtype] * sizes.max())
    np.testing.assert_allclose(there.history, here.history, rtol=10 * CLOSE[dtype])
    assert there.reason == here.reason
    assert there.labels.dtype.kind == "i"


@pytest.mark.parametrize("n", [40, 64, 65, 900])
@pytest.mark.parametrize("seed", range(3))
def test_seeds_are_those_of_arrays(at_backend, n, seed):
    Z, _ = blobs(n, 3)
    weights = RNG.uniform(0.5, 2.0, size=n)
    here = seeded(FeatureSums(Z, weights, 5), np.random.default_rng(seed))
    there = TableSums(sent(Z, at_backend), weights, 5)
    found = there.groups.brought(seeded(there, np.random.default_rng(seed)))
    np.testing.assert_array_equal(found, here)


def test_equally_near_means_and_empty_clusters(at_backend):
    Z = np.array([[-1.0], [0.0], [1.0], [5.0]])
    weights, start = np.ones(4), np.array([0, 0, 1, 1])
    here = descend(FeatureSums(Z, weights, 6), start, LloydSettings(3))
    there = descend(TableSums(sent(Z, at_backend), weights, 6), start, LloydSettings(3))
    np.testing.assert_array_equal(there.labels, here.labels)
    assert len(set(there.labels)) == 4
    groups = sent(Z, at_backend).groups(weights, np.ones(4), 3)
    labels, _ = groups.nearest(np.array([[-1.0, 1.0, 0.0]]), np.array([1.0, 1.0, np.inf]), 1e-14)
    assert groups.brought(labels).tolist() == [0, 0, 1, 1]  # 0 is as near to both; the last one does not exist


def test_a_step_is_stopped_between_slices(at_backend):
    class Early(Run):
        told = 0

        def tell(self, done):
            self.told += 1
            if self.told == 3:
                raise Stopped("time is over")

    Z, _ = blobs(5000, 4)
    found = descend(TableSums(sent(Z, at_backend), np.ones(5000), 4), np.arange(5000) % 4, run=Early())
    assert found.stopped
    assert len(found.history) == 1
    assert (found.labels < 4).all()


# -- functions of rows ------------------------------------------------------------------------------------------------

LIFTS = [
    lifts.RandomFourier("gaussian(1.5)", n_components=30, random_state=0),
    lifts.RandomFourier("laplace(0.01)", n_components=31, form="offset", random_state=0),  # long phases
    lifts.Monomials(3),
    lifts.Polynomial(2),
    lifts.Parabolic(),
    lifts.Scaled(lifts.Monomials(2), 0.5),
]


def fitted(lift, X):
    return lift.fit(X)


@pytest.mark.parametrize("lift", LIFTS, ids=lambda lift: type(lift).__name__)
def test_functions_of_rows_are_the_features_of_a_lift(at_backend, lift):
    X = RNG.normal(size=(500, 4))
    basis = LiftBasis(fitted(lift, X))
    functions = row_functions(basis.lift, X)
    assert isinstance(functions, RowFunctions)
    assert pickle.loads(pickle.dumps(functions)).key() == functions.key()  # noqa: S301
    features = basis.lift.features(X)
    assert functions.width == features.shape[1]
    with mock.patch.object(LiftBasis, "raw", side_effect=AssertionError("a table was made here")):
        held = held_table(basis, Points(X))
        W = RNG.normal(size=(basis.width, 2))
        products = basis.times(Points(X), W)
    phases = np.abs(X @ basis.lift.frequencies_.T).max() if isinstance(lift, lifts.RandomFourier) else 1.0
    close = {"rtol": 0, "atol": 4 * EPS * max(phases, np.abs(features).max())}  # a phase is rounded where it is long
    assert isinstance(held, DeviceTable)
    np.testing.assert_allclose(held.to_host(), features, **close)
    np.testing.assert_allclose(products, features @ W, rtol=0, atol=np.abs(W).sum(axis=0).max() * close["atol"])
    with use(CPU()):
        assert basis.at_backend(Points(X)) is None
        values = RowValues(functions=functions, points=X)
        sums = CPU().accumulate(_of_all(basis), basis.width, Layout(2))
        np.testing.assert_allclose(sums.add(values, {})["Z"], features, **close)


def test_whitened_values_are_combined_at_the_backend(at_backend):
    X, W = RNG.normal(size=(600, 3)), RNG.normal(size=(40, 2))
    lift = lifts.Nystrom("matern(2.5, 2.0)", n_components=40, random_state=0).fit(X)
    basis = FeatureBasis(landmark_basis(lift, Points(X)))
    before = at_backend.traffic().brought
    found = basis.times(Points(X), W)
    assert at_backend.traffic().brought == before
    with use(CPU()):
        np.testing.assert_allclose(found, basis.times(Points(X), W), rtol=0, atol=1e-9)


def _of_all(basis):
    from mercer.learners.streaming.feature_pass import Features

    return Features("float64")


def test_what_may_overflow_is_left_to_the_lift_that_warns():
    X = np.full((3, 2), 1e150)
    assert row_functions(lifts.Monomials(3).fit(X), X) is None
    waves = lifts.RandomFourier("gaussian(1e-200)", n_components=4, center=False, random_state=0).fit(X)
    assert row_functions(waves, X) is None
    with pytest.warns(NumericalWarning):
        held_table(LiftBasis(waves), Points(X))
    assert row_functions(lifts.Trigonometric(1).fit(X), X) is None
    assert row_functions(None, X) is None


def test_tables_of_a_lift_are_sent_part_by_part(at_backend, monkeypatch):
    monkeypatch.setattr("mercer.lifts.pivoting.BLOCK_NUMBERS", 900)
    X = RNG.normal(size=(333, 3))
    basis = LiftBasis(lifts.Trigonometric(2).fit(X))
    np.testing.assert_array_equal(held_table(basis, Points(X)).to_host(), basis.lift.features(X))
    assert at_backend.traffic().brought == 8 * 333 * 12  # by `to_host`


def test_features_of_this_process_are_counted_as_wide(at_backend):
    X = RNG.normal(size=(300, 4))
    basis = LiftBasis(fitted(LIFTS[0], X))
    before = at_backend.traffic().brought
    found = feature_table(basis, Points(X))
    assert found.dtype == np.float32
    assert at_backend.traffic().brought - before == found.nbytes
    np.testing.assert_allclose(found, basis.lift.features(X), atol=1e-7)


def test_one_pass_of_waves_sends_rows_and_brings_nothing_wide(at_backend):
    X, y, weights = RNG.normal(size=(700, 4)), RNG.normal(size=(700, 1)), RNG.uniform(1, 2, size=700)
    basis, piece = LiftBasis(fitted(LIFTS[0], X)), Piece(0, 700, Points(X), y, weights, weights)
    found = []
    for backend in (at_backend, CPU()):
        with use(backend):
            moments = Moments(basis, 1, centred=True)
            moments.add(piece, IDLE)
            found.append(moments.given_away())
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-12 * np.abs(found[1]).max())
    assert at_backend.traffic() == (X.nbytes, 0)


# -- learners ---------------------------------------------------------------------------------------------------------


def fits(make, *data):
    """Of this process, and twice at the backend."""
    return make("cpu").fit(*data), make(CUDA("cpu")).fit(*data), make(CUDA("cpu")).fit(*data)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "landmarks", "n_landmarks": 40},
        {"method": "landmarks", "n_landmarks": 150},
        {},
        {"kernel": "polynomial(2)"},
        {"kernel": lifts.RandomFourier("gaussian(6)", n_components=60, random_state=0)},
        {"kernel": lifts.Nystrom("gaussian(6)", n_components=30, random_state=0)},
    ],
    ids=str,
)
def test_clusters_are_those_of_the_cores(options):
    X, _ = blobs(2500, 3)
    here, there, again = fits(lambda backend: KernelKMeans(4, n_init=2, random_state=0, backend=backend, **options), X)
    assert there.plan_.method == here.plan_.method
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.history_, here.history_, rtol=1e-5)
    np.testing.assert_allclose(there.transform(X[:50]), here.transform(X[:50]), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(again.history_, there.history_)
    np.testing.assert_array_equal(again.transform(X[:50]), there.transform(X[:50]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "landmarks", "n_landmarks": 50},
        {"kernel": lifts.RandomFourier("gaussian(3)", n_components=60, random_state=0)},
        {"kernel": "polynomial(2)", "method": "auto"},
        {"kernel": lifts.Nystrom("gaussian(3)", n_components=30, random_state=0)},
    ],
    ids=str,
)
def test_logistic_regression_is_that_of_the_cores(options, classes):
    X, labels = blobs(1500, 3)
    y, weights = (labels + RNG.integers(2, size=1500)) % classes, RNG.uniform(0.5, 2.0, size=1500)
    here, there, again = fits(
        lambda backend: KernelLogisticRegression(tol=1e-10, random_state=0, backend=backend, **options), X, y, weights
    )
    wanted = here.decision_function(X)
    np.testing.assert_allclose(there.decision_function(X), wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
    np.testing.assert_array_equal(again.decision_function(X), there.decision_function(X))
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=1e-7)


@pytest.mark.parametrize("learner", [KernelSVC, KernelSVR])
def test_svm_on_landmarks_is_that_of_the_cores(learner):
    X, labels = blobs(1500, 3)
    y = labels % 2 if learner is KernelSVC else X[:, 0] + 0.1 * RNG.normal(size=1500)
    here, there, again = fits(
        lambda backend: learner(method="landmarks", n_landmarks=60, random_state=0, backend=backend), X, y
    )
    name = "decision_function" if learner is KernelSVC else "predict"
    wanted, found, same = (getattr(each, name)(X[:200]) for each in (here, there, again))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-3 * np.abs(wanted).max())  # the tolerance of descents
    np.testing.assert_array_equal(same, found)


@pytest.mark.parametrize("kernel", [LIFTS[0], lifts.Monomials(3), "polynomial(3)"], ids=str)
def test_ridge_on_features_is_that_of_the_cores(kernel):
    X = RNG.normal(size=(900, 4))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    here, there, again = fits(lambda backend: KernelRidge(kernel=kernel, alpha=1e-2, backend=backend), X, y)
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(again.predict(X), there.predict(X))


@pytest.mark.parametrize(
    "make",
    [
        lambda backend: KernelKMeans(4, n_init=2, method="landmarks", n_landmarks=70, backend=backend, random_state=0),
        lambda backend: KernelLogisticRegression(
            method="landmarks", n_landmarks=70, backend=backend, random_state=0, tol=1e-4
        ),
    ],
)
def test_nothing_wide_comes_down(make, monkeypatch):
    monkeypatch.setattr("mercer.lifts.landmarks.HELD", 10_000)  # landmarks are drawn from four rows for each
    monkeypatch.setattr("mercer.learners.clustering.features.ORIGIN_SAMPLE_ROWS", 200)
    X, labels = blobs(3000, 3)
    with CUDA("cpu").opened() as backend:
        make(backend).fit(X, labels)
        assert backend.traffic().brought <= 4 * 70 * 70 * 8


def test_a_time_limit_ends_steps():
    X, _ = blobs(4000, 6, clusters=30)
    model = KernelKMeans(
        30, n_init=10, method="landmarks", n_landmarks=200, backend=CUDA("cpu"), time_limit=0.05, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model.fit(X)
    assert not model.converged_
    assert (model.labels_ < 30).all()
