"""Learners whose backend is PyTorch on the cores: the same models, on the path that a card takes."""

import numpy as np
import pytest

pytest.importorskip("torch")

import mercer
from mercer import backends
from mercer.backends.cuda.eager import Eager
from mercer.kernels import Gaussian
from mercer.kernels.radial.base import Radial
from mercer.learners.data import views
from mercer.operators import Gram
from mercer.planner import svm as planned
from mercer.solvers import Cholesky, ConjugateGradient, Eigen
from mercer.solvers.svm import working_sets

TORCH = backends.CUDA("cpu")
K = Gaussian(2.0)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(1200, 4))
Y = np.sin(X).sum(axis=1) + 0.1 * RANDOM.normal(size=1200)
NEW = RANDOM.normal(size=(700, 4))


def both(make, *data):
    """The same learner on both backends."""
    return make("cpu").fit(*data), make(TORCH).fit(*data)


@pytest.mark.parametrize("solver", [Cholesky(), Eigen(), ConjugateGradient(tol=1e-10), "auto"])
@pytest.mark.parametrize("alpha", [0.1, "auto"])
def test_ridge(solver, alpha):
    if alpha == "auto" and isinstance(solver, Cholesky | ConjugateGradient):
        pytest.skip("the solver has one alpha")
    ours, theirs = both(lambda backend: mercer.KernelRidge(K, alpha=alpha, solver=solver, backend=backend), X, Y)
    assert theirs.plan_.backend == "cpu by PyTorch"
    assert theirs.alpha_ == pytest.approx(ours.alpha_, rel=1e-9)
    np.testing.assert_allclose(theirs.dual_coef_, ours.dual_coef_, rtol=0, atol=1e-8 * np.abs(ours.dual_coef_).max())
    for one, other in zip(ours.predict(NEW, return_std=True), theirs.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
def test_ridge_on_landmarks(alpha):
    settings = {"alpha": alpha, "method": "landmarks", "n_landmarks": 60, "random_state": 0}
    ours, theirs = both(lambda backend: mercer.KernelRidge(K, backend=backend, **settings), X, Y)
    np.testing.assert_allclose(theirs.predict(NEW), ours.predict(NEW), rtol=0, atol=1e-7)
    assert theirs.certificate_.rms == pytest.approx(ours.certificate_.rms, rel=1e-3)


LEARNERS = {
    "ridge classifier": (lambda b: mercer.KernelRidgeClassifier(K, backend=b), "decision_function", 1e-7),
    "svc": (lambda b: mercer.KernelSVC(K, tol=1e-6, backend=b), "decision_function", 1e-4),
    "logistic": (lambda b: mercer.KernelLogisticRegression(K, backend=b), "predict_proba", 1e-4),
    "perceptron": (lambda b: mercer.KernelPerceptron(K, backend=b, max_iter=3), "decision_function", 1e-6),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_classifiers(name):
    make, answer, close = LEARNERS[name]
    ours, theirs = both(make, X, Y > 0)
    np.testing.assert_allclose(getattr(theirs, answer)(NEW), getattr(ours, answer)(NEW), rtol=0, atol=close)
    assert theirs.plan_.backend == "cpu by PyTorch"


def test_what_needs_no_targets():
    ours, theirs = both(lambda b: mercer.KernelPCA(K, n_components=3, backend=b), X)
    np.testing.assert_allclose(theirs.transform(NEW), ours.transform(NEW), rtol=0, atol=1e-8)
    ours, theirs = both(lambda b: mercer.KernelKMeans(3, kernel=K, random_state=0, backend=b), X)
    assert (theirs.labels_ == ours.labels_).all()
    ours, theirs = both(lambda b: mercer.KernelOneClassSVM(K, tol=1e-6, backend=b), X)
    np.testing.assert_allclose(theirs.decision_function(NEW), ours.decision_function(NEW), rtol=0, atol=1e-3)


def test_means_of_landmarks_bind_their_rows_once(monkeypatch):
    made, own = [], Eager.__init__
    monkeypatch.setattr(Eager, "__init__", lambda self, *given: made.append(1) or own(self, *given))
    make = lambda backend: mercer.KernelKMeans(  # noqa: E731
        3, kernel=K, method="landmarks", n_landmarks=40, random_state=0, backend=backend
    )
    with mercer.kernels.evaluation.evaluate.fused_from(0):
        ours, theirs = both(make, X)
        before = len(made)
        monkeypatch.setattr(views, "BLOCK", 1 << 8)  # the rows come in many parts
        again = make(TORCH).fit(X)
    assert theirs.plan_.method == "landmarks"
    np.testing.assert_array_equal(theirs.labels_, ours.labels_)
    assert theirs.inertia_ == pytest.approx(ours.inertia_, rel=1e-9)
    np.testing.assert_array_equal(again.labels_, theirs.labels_)
    assert 0 < len(made) - before <= before + 1


def test_a_fit_on_float32_rows():
    rows = X.astype(np.float32)
    ours, theirs = both(lambda b: mercer.KernelRidge(K, alpha=0.1, solver=ConjugateGradient(), backend=b), rows, Y)
    assert theirs.residual_ <= 1e-6
    np.testing.assert_allclose(theirs.predict(NEW), ours.predict(NEW), rtol=0, atol=1e-4)


def test_structured_data_is_computed_on_the_cores():
    texts = ["kernel", "kernels", "method", "methods", "lift"] * 4
    numbers = np.arange(20.0)
    kernel = mercer.kernels.Spectrum(2)
    ours, theirs = both(lambda b: mercer.KernelRidge(kernel, alpha=0.1, backend=b), texts, numbers)
    np.testing.assert_allclose(theirs.predict(texts), ours.predict(texts), rtol=1e-9)


def test_rows_that_were_changed_after_a_fit_are_sent_anew():
    """What a card holds is found by the identity of arrays, and nobody may change them while it holds them."""
    rows = X.copy()
    model = mercer.KernelRidge(K, alpha=0.1, backend=TORCH).fit(rows, Y)
    rows += 1.0
    model.fit(rows, Y)
    again = mercer.KernelRidge(K, alpha=0.1, backend=TORCH).fit(X + 1.0, Y)
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)


def test_a_model_goes_to_a_machine_without_a_card(tmp_path):
    model = mercer.KernelRidge(K, alpha=0.1, backend="cuda")
    model.set_params(backend=TORCH).fit(X, Y)
    model.set_params(backend="cuda")  # as it would be named where there is one
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert loaded.backend == "cuda"
    np.testing.assert_allclose(loaded.predict(NEW), model.predict(NEW), rtol=1e-9)


def test_nothing_wide_goes_to_and_fro():
    with backends.use(TORCH) as opened, mercer.kernels.evaluation.evaluate.fused_from(0):
        product = Gram(K, X) @ np.ones((len(X), 2))
        assert product.shape == (1200, 2)
        traffic = opened.traffic()
    assert traffic.sent == X.nbytes
    assert traffic.brought == 0


def test_the_same_bits_twice():
    fits = [
        mercer.KernelRidge(K, alpha=1e-3, method="landmarks", n_landmarks=40, random_state=0, backend=TORCH).fit(X, Y)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].predict(NEW), fits[1].predict(NEW))


@pytest.mark.parametrize("change", [lambda X: X[::-1], lambda X: X[:1][::-1], np.asfortranarray, lambda X: X[:, ::-1]])
def test_rows_that_lie_otherwise_are_sent(change):
    rows = change(X)
    rows.setflags(write=False)
    with backends.use(TORCH), mercer.kernels.evaluation.evaluate.fused_from(0):
        found = Gram(K, rows, X) @ np.ones(len(X))[::-1]
    np.testing.assert_allclose(found, K(rows, X).sum(axis=1), rtol=1e-12)


def test_an_svm_whose_rows_are_computed_again_needs_the_memory_of_its_plan():
    rows = RANDOM.normal(size=(5100, 3))
    labels = rows[:, 0] * rows[:, 1] > 0
    plan = mercer.KernelSVC(K, backend=TORCH).plan(rows, labels)
    assert (plan.method, plan.details.pool) == ("exact", 0)
    enough = backends.CUDA("cpu", memory_limit=plan.bytes)
    model = mercer.KernelSVC(K, backend=enough).fit(rows, labels)
    assert model.converged_
    assert model.score(rows, labels) > 0.95


class Sorted(Radial):
    """A Gaussian in words that no formula has."""

    max_dimension = property(lambda self: None)

    def profile(self, t):
        order = np.argsort(np.ravel(t), kind="stable")
        found = np.empty(order.size)
        found[order] = np.exp(-np.ravel(t)[order] / 2)
        return found.reshape(np.shape(t))


def test_an_svm_whose_code_cannot_be_followed_keeps_rows_here(monkeypatch):
    monkeypatch.setattr(planned, "BOARD_ROWS", 700)
    monkeypatch.setattr(working_sets, "MAX_KNOWN_ROWS", 600)
    ours, theirs = both(lambda b: mercer.KernelSVC(Sorted(), tol=1e-6, method="exact", backend=b), X, Y > 0)
    assert theirs.plan_.details.pool == 0
    assert theirs.converged_
    np.testing.assert_allclose(theirs.decision_function(NEW), ours.decision_function(NEW), rtol=0, atol=1e-4)
