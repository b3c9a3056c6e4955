"""SVMs on landmarks and on features: the same model as the exact one on those, audited by the kernel."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from mercer import KernelOneClassSVM, KernelSVC, KernelSVR
from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError
from mercer.kernels import Gaussian, Sigmoid
from mercer.lifts import Nystrom, Polynomial, RandomFourier
from mercer.planner import SVMTask, choose
from mercer.planner.svm import POOL

pytestmark = pytest.mark.slow


def draw(n=400, classes=2, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    return random.normal(size=(n, 2)) + 1.5 * random.normal(size=(classes, 2))[y], y


@pytest.mark.parametrize("classes", [2, 3])
def test_all_rows_as_landmarks_give_the_exact_machine(classes):
    X, y = draw(150, classes)
    exact = KernelSVC(Gaussian(1.0)).fit(X, y)
    model = KernelSVC(Gaussian(1.0), method="landmarks", n_landmarks=150, tol=1e-4, random_state=0).fit(X, y)
    np.testing.assert_allclose(model._values(X), exact._values(X), atol=5e-2)
    assert model.relative_gap_ < 5e-3
    assert model.plan_.method == "landmarks"


def test_a_lift_that_is_given_has_its_own_features():
    X, y = draw()
    lift = Polynomial(2)
    model = KernelSVC(lift, method="landmarks").fit(X, y)
    exact = KernelSVC(lift, method="exact").fit(X, y)
    assert (model.plan_.method, model.plan_.n_features) == ("features", clone(lift).fit(X).transform(X).shape[1])
    assert model.plan_.stages[0].name == "features"
    assert model.relative_gap_ < 5e-3
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.98


def test_the_gap_is_that_of_the_exact_kernel():
    X, y = draw()
    K, s = Gaussian(1.0)(X), np.where(y == 1, 1.0, -1.0)
    best = -KernelSVC(Gaussian(1.0), tol=1e-8).fit(X, y).outcomes_[0].objective
    gaps = []
    for rank in (5, 40):
        model = KernelSVC(Gaussian(1.0), method="landmarks", n_landmarks=rank, random_state=0).fit(X, y)
        b = np.zeros(len(y))
        b[model.support_] = model.dual_coef_
        dual = np.abs(b).sum() - b @ K @ b / 2
        losses = [np.maximum(0, 1 - s * (K @ b + bias)).sum() for bias in np.linspace(-3, 3, 601)]
        primal = b @ K @ b / 2 + min(losses)
        assert 0 <= best - dual <= model.duality_gap_ + 1e-6
        assert model.duality_gap_ <= primal - dual + 1e-6  # of the best bias
        gaps.append(model.duality_gap_)
    assert gaps[1] < gaps[0]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_polish_ends_at_the_exact_machine(classes):
    X, y = draw(1500, classes)
    exact, rough = KernelSVC(Gaussian(0.5), C=10.0), KernelSVC(Gaussian(0.5), C=10.0, n_landmarks=20, random_state=0)
    exact.fit(X, y)
    rough.set_params(method="landmarks").fit(X, y)
    model = clone(rough).set_params(polish=True).fit(X, y)
    assert model.converged_
    assert model.relative_gap_ < 5e-3 < rough.relative_gap_
    np.testing.assert_allclose(model._values(X), exact._values(X), atol=2e-2)
    assert np.abs(rough._values(X) - exact._values(X)).max() > 0.2
    assert [stage.name for stage in model.plan_.stages] == ["landmarks", "coefficients", "polish"]
    assert len(model.support_) == pytest.approx(len(exact.support_), rel=0.02)


def test_a_polish_of_regression_and_one_class():
    X, _ = draw(1500)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    for model, target in ((KernelSVR(Gaussian(0.5)), y), (KernelOneClassSVM(Gaussian(0.5), nu=0.2), None)):
        exact = clone(model).fit(X, target)
        found = clone(model).set_params(method="landmarks", n_landmarks=20, polish=True, random_state=0).fit(X, target)
        assert found.converged_
        scores = [(each.decision_function if target is None else each.predict)(X) for each in (exact, found)]
        np.testing.assert_allclose(scores[1], scores[0], atol=2e-2)


def test_a_polish_is_for_kernels_and_true_or_false():
    X, y = draw()
    given = KernelSVC(Polynomial(2), method="landmarks", polish=True).fit(X, y)  # its features are exact
    assert [stage.name for stage in given.plan_.stages] == ["features", "coefficients"]
    with pytest.raises(InputError, match=r"KernelSVC needs True or False for polish; got 1"):
        KernelSVC(polish=1).fit(X, y)


def test_regression_and_one_class_on_landmarks():
    X, _ = draw()
    y = np.sin(X[:, 0]) + X[:, 1]
    exact, model = (
        KernelSVR(Gaussian(1.0), method=way, n_landmarks=200, random_state=0) for way in ("exact", "landmarks")
    )
    np.testing.assert_allclose(model.fit(X, y).predict(X), exact.fit(X, y).predict(X), atol=0.1)
    one = KernelOneClassSVM(Gaussian(1.0), method="landmarks", n_landmarks=100, nu=0.2, random_state=0).fit(X)
    assert np.mean(one.decision_function(X) < -1e-2) <= 0.2
    assert one.dual_coef_.sum() == pytest.approx(0.2 * len(X), rel=1e-6)


def test_warm_starts_on_landmarks():
    X, y = draw(classes=3)
    model = KernelSVC(Gaussian(1.0), method="landmarks", n_landmarks=50, warm_start=True, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.6
    first = model.n_iter_.sum()
    assert model.fit(X, y).n_iter_.sum() < first


def test_the_gap_is_not_saved_with_the_rows():
    X, y = draw()
    model = KernelSVC(Gaussian(1.0), method="landmarks", n_landmarks=30, random_state=0).fit(X, y)
    stranger = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(stranger.predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="the rows were not saved with the model"):
        _ = stranger.duality_gap_
    known = model.duality_gap_
    assert pickle.loads(pickle.dumps(model)).duality_gap_ == known  # noqa: S301


def test_what_has_no_landmarks_is_refused():
    X, y = draw()
    with pytest.raises(InputError, match=r'a kernel that is proven for method="landmarks"; sigmoid'):
        KernelSVC(Sigmoid(1.0, 0.0), method="landmarks").fit(X, y)


# -- plans ------------------------------------------------------------------------------------------------------------


def test_auto_goes_over_to_landmarks_where_exact_is_too_much():
    task = SVMTask(50_000, 10, (50_000,), 10.0)
    assert choose(task, Budget(10**10)).method == "exact"
    short = choose(task, Budget(10**10), seconds=0.001)
    assert (short.method, short.n_landmarks) == ("landmarks", 2000)
    assert "would take about" in short.reason
    many = choose(SVMTask(200_000, 10, (200_000,), 10.0), Budget(10**10))
    assert many.method == "landmarks"
    tight = choose(SVMTask(90_000, 10, (90_000,), 10.0), Budget(10**9))
    assert tight.method == "landmarks"
    assert tight.bytes <= 10**9
    stored = SVMTask(50_000, 50_000, (50_000,), 10.0, stored=True, approximable=False)
    assert choose(stored, Budget(10**12)).method == "exact"


def test_the_pool_takes_what_memory_leaves():
    task = SVMTask(20_000, 10, (20_000,), 10.0)
    wide = choose(replace(task, method="exact"), Budget(10**10))
    assert wide.details.pool == POOL < 4 * 20_000**2
    narrow = choose(replace(task, method="exact"), Budget(10**9))
    assert 4 * 4096 * 20_000 <= narrow.details.pool < wide.details.pool
    assert narrow.bytes <= 10**9
    with pytest.raises(BudgetError, match=r'needs .* of the kernel matrix of 20,000 rows; .* method="landmarks"'):
        choose(replace(task, method="exact"), Budget(10**8))
    with pytest.raises(
        BudgetError, match=r"needs .* for 5,000 features of 20,000 rows; .* landmarks fit: set n_landmarks"
    ):
        choose(replace(task, method="landmarks", n_landmarks=5000), Budget(10**8))


def test_a_nystrom_lift_is_a_lift():
    X, y = draw()
    model = KernelSVC(Nystrom(Gaussian(1.0), 60, random_state=0), method="landmarks").fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.plan_.n_features == 60


@pytest.mark.parametrize(
    "kernel", [Gaussian(2.0), RandomFourier("gaussian(2)", 40, random_state=0)], ids=["kernel", "lift"]
)
def test_sparse_rows_are_the_same_rows(kernel):
    X, y = draw()
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    given = {"method": "landmarks", "n_landmarks": 30, "random_state": 0, "tol": 1e-5}
    dense, sparse = KernelSVC(kernel, **given).fit(X, y), KernelSVC(kernel, **given).fit(sp.csr_array(X), y)
    found = sparse.decision_function(sp.csr_array(X))
    np.testing.assert_allclose(found, dense.decision_function(X), atol=1e-3)
