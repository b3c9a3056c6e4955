"""Falkon at a backend, by PyTorch on the cores: the models of this process, and nothing wide crosses."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from streamed_requests import Saving, in_pieces  # noqa: E402

import mercer  # noqa: E402
from mercer.backends import CUDA, use  # noqa: E402
from mercer.backends.cuda import panels, squares  # noqa: E402
from mercer.backends.cuda.sums import DeviceSums  # noqa: E402
from mercer.compute.runtime.run import IDLE  # noqa: E402
from mercer.errors import BudgetError  # noqa: E402
from mercer.kernels import Gaussian, Laplace  # noqa: E402
from mercer.kernels.evaluation.evaluate import fused_from  # noqa: E402
from mercer.kernels.points import Points  # noqa: E402
from mercer.learners.ridge import falkon, falkon_passes, planning  # noqa: E402
from mercer.learners.ridge.landmark_preconditioner import preconditioner, preconditioner_there, sums  # noqa: E402
from mercer.learners.ridge.landmarks_there import drawn  # noqa: E402
from mercer.learners.run.convergence import ConvergenceWarning  # noqa: E402
from mercer.learners.streaming.basis import LandmarkBasis  # noqa: E402
from mercer.learners.streaming.stream import StoredStream  # noqa: E402
from mercer.operators import Gram  # noqa: E402
from mercer.planner.placement import place  # noqa: E402
from mercer.solvers.ridge.at_backend import PivotsAtBackend  # noqa: E402

torch.set_num_threads(1)
TORCH = CUDA("cpu")
RANDOM = np.random.default_rng(0)
N, D, M = 1000, 4, 80
X = RANDOM.normal(size=(N, D))
Y = np.sin(X).sum(axis=1) + 0.1 * RANDOM.normal(size=N)
MANY = np.column_stack([Y, np.cos(X[:, 0]), Y**2])
NEW = RANDOM.normal(size=(300, D))
WEIGHTS = RANDOM.uniform(0.2, 3.0, N)
SETTINGS = {"alpha": 0.02, "method": "landmarks", "n_landmarks": M, "random_state": 0}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Plans of Falkon in some batches, small panels and slices, and no work that is too small for a backend."""

    def other(task, backend, *settings):
        plan = place(task, backend, *settings)
        found = next(each for each in (plan, *plan.others) if each.method == "nystrom iterative")
        return replace(found, details=replace(found.details, batch=400), backend=plan.backend)

    monkeypatch.setattr(planning, "place", other)
    monkeypatch.setattr(panels, "PANEL", 32)
    monkeypatch.setattr(squares, "SLICE_NUMBERS", 10_000)
    with fused_from(0):
        yield


def both(make, *data):
    """The same learner on both backends."""
    return make("cpu").fit(*data), make(TORCH).fit(*data)


def ridge(**settings):
    return lambda backend: mercer.KernelRidge(Gaussian(2.0), backend=backend, **(SETTINGS | settings))


# -- the same models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("targets", "alpha"), [(Y, 0.02), (MANY, 0.02), (MANY, [1e-3, 1.0, 10.0])], ids=["one", "three", "three alphas"]
)
def test_it_is_the_model_of_the_cores(targets, alpha, weights, intercept):
    ours, theirs = both(ridge(alpha=alpha, fit_intercept=intercept), X, targets, weights)
    assert (theirs.plan_.method, theirs.plan_.backend) == ("nystrom iterative", "cpu by PyTorch")
    assert theirs.converged_
    assert theirs.outcome_.iterations == pytest.approx(ours.outcome_.iterations, abs=2)
    np.testing.assert_array_equal(theirs.lift_.landmark_indices_, ours.lift_.landmark_indices_)
    np.testing.assert_allclose(theirs.predict(NEW), ours.predict(NEW), rtol=0, atol=1e-6 * np.abs(targets).max())
    np.testing.assert_allclose(theirs.coef_, ours.coef_, rtol=0, atol=1e-5 * np.abs(ours.coef_).max())
    np.testing.assert_allclose(theirs.dual_coef_, ours.dual_coef_, rtol=0, atol=1e-5 * np.abs(ours.dual_coef_).max())
    np.testing.assert_allclose(theirs._result.fit.means, ours._result.fit.means, rtol=0, atol=1e-10)
    assert theirs.condition_ == pytest.approx(ours.condition_, rel=0.5)


def test_classes():
    make = lambda backend: mercer.KernelRidgeClassifier(Laplace(2.0), backend=backend, **SETTINGS)  # noqa: E731
    ours, theirs = both(make, X, np.digitize(Y, [-1.0, 1.0]))
    np.testing.assert_allclose(theirs.decision_function(NEW), ours.decision_function(NEW), rtol=0, atol=1e-6)


def test_rows_of_a_source():
    source = mercer.sources.Arrays(X, Y)
    make = ridge(memory_limit="400 kB")
    ours, theirs = make("cpu").fit(source), make(TORCH).fit(source)
    assert theirs._result.view is None
    assert theirs.lift_.factor_ is None
    np.testing.assert_allclose(theirs.predict(NEW), ours.predict(NEW), rtol=0, atol=1e-6)


def test_sparse_rows_are_compared_on_the_cores():
    from scipy.sparse import csr_array

    ours, theirs = both(ridge(), csr_array(np.where(X > 0.5, X, 0.0)), Y)
    np.testing.assert_allclose(theirs.predict(NEW), ours.predict(NEW), rtol=0, atol=1e-6)
    assert theirs.lift_.factor_ is not None


def test_a_kernel_that_has_few_dimensions_ends_at_rounding():
    ours, theirs = both(lambda b: mercer.KernelRidge("polynomial(degree=2)", backend=b, **SETTINGS), X, Y)
    assert len(theirs.lift_.landmarks_) == len(ours.lift_.landmarks_) == 15
    np.testing.assert_allclose(theirs.predict(NEW), ours.predict(NEW), rtol=0, atol=1e-6)


def test_it_stops_at_a_time_limit_with_a_model():
    with pytest.warns(ConvergenceWarning):
        model = ridge(time_limit=1e-3)(TORCH).fit(X, Y)
    assert not model.converged_
    assert np.isfinite(model.predict(NEW)).all()


def test_same_bits_twice():
    first, second = (ridge()(TORCH).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_it_goes_on_to_the_same_bits():
    with use(TORCH):
        lift, triangle = drawn(Gaussian(2.0), Points(X), M, np.random.default_rng(0), IDLE)
        basis = LandmarkBasis(lift.kernel_, lift.landmark_points(None), None)
        plan = SimpleNamespace(details=SimpleNamespace(batch=400))
        request = in_pieces(basis, StoredStream(Points(X), Y[:, None], WEIGHTS, WEIGHTS), plan, alpha=np.array([0.02]))
        given = request.problem, request.stream, basis, plan
        first = Saving()
        whole = falkon.solve(*given, first, triangle)
        for state in first.states[1 :: len(first.states) // 4]:
            again = falkon.solve(*given, Saving(state), triangle)
            np.testing.assert_array_equal(again.raw, whole.raw)
            np.testing.assert_array_equal(again.duals, whole.duals)


# -- what crosses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stay", [True, False])
def test_nothing_wide_crosses(stay, monkeypatch):
    monkeypatch.setattr(falkon_passes, "MAX_BOUND_NUMBERS", N * D if stay else 1)
    monkeypatch.setattr(falkon_passes, "HELD", 4 if stay else 1 << 50)
    with use(TORCH) as opened:
        monkeypatch.setattr(CUDA, "opened", lambda self: _given(opened))
        model = ridge()(TORCH).fit(X, Y)
        seen, steps = opened.resident.traffic, model.outcome_.iterations
    assert model.lift_.factor_ is None
    assert model._result.fit.basis.upper is None
    passes = 1 if stay else 2 * (steps + 3)
    drawn = model.plan_.details.drawn
    assert X.nbytes <= seen.rows <= passes * (X.nbytes + 5 * M * D * 8) + drawn * D * 8 + 8 * M * D * 8
    assert seen.wide <= 8 * 256**2 * (1 + M // 16)  # rows that are proposed, among themselves
    assert seen.thin <= 8 * (steps + 5) * (10 * M + 8 * N) + 8 * M * M // 2 + 8 * drawn * 20


class _given:  # noqa: N801
    """A session that is open already."""

    def __init__(self, opened):
        self.opened = opened

    def __enter__(self):
        return self.opened

    def __exit__(self, *error):
        return None


def test_steps_write_no_values(monkeypatch):
    """Products compute them again."""
    asked, own = [], DeviceSums._values
    monkeypatch.setattr(DeviceSums, "_values", lambda *given: asked.append(type(given[0].work)) or own(*given))
    model = ridge()(TORCH).fit(X, Y)
    assert model.outcome_.iterations > 3
    assert not asked


# -- the model --------------------------------------------------------------------------------------------------------


def test_the_factor_is_computed_when_it_is_needed():
    ours, theirs = both(ridge(), X, Y)
    assert theirs.lift_.factor_ is None
    assert theirs.certificate_.rms == pytest.approx(ours.certificate_.rms, rel=1e-3)
    assert theirs.lift_.factor_ is None
    np.testing.assert_allclose(theirs.lift_.transform(NEW), ours.lift_.transform(NEW), rtol=0, atol=1e-8)
    np.testing.assert_allclose(theirs.lift_.factor_, ours.lift_.factor_, rtol=0, atol=1e-10)
    deviations = [model.predict(NEW, return_std=True)[1] for model in (ours, theirs)]
    np.testing.assert_allclose(*deviations, rtol=1e-5)


def test_it_is_saved_without_the_factor(tmp_path):
    model = ridge()(TORCH).fit(X, Y).set_params(backend="cpu")
    mercer.save(model, tmp_path / "model.mercer")
    assert (tmp_path / "model.mercer").stat().st_size < 8 * M * M + 8 * N * (D + 4)
    loaded = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))
    assert loaded.lift_.factor_ is None
    assert loaded.certificate_.rms == pytest.approx(model.certificate_.rms, rel=1e-6)


# -- the triangle -----------------------------------------------------------------------------------------------------


@pytest.fixture
def triangle():
    """A triangle that was drawn, one that was factored, and R."""
    with use(TORCH):
        square = Gram(Laplace(2.0), X[:150]).at_backend()
        pivots, drawn = PivotsAtBackend(square.diagonal(), square, 70).landmarks(np.random.default_rng(0))
        factored = Gram(Laplace(2.0), X[pivots]).at_backend().triangle()
        yield drawn, factored, np.linalg.cholesky(Laplace(2.0)(X[pivots], X[pivots])).T


def test_it_is_the_factor_of_its_landmarks(triangle):
    *both, R = triangle
    W = np.random.default_rng(1).normal(size=(70, 3))
    for each in both:
        before = W.copy()
        np.testing.assert_allclose(each.to_raw(W), np.linalg.solve(R, W), rtol=0, atol=1e-11)
        np.testing.assert_allclose(each.to_features(W), np.linalg.solve(R.T, W), rtol=0, atol=1e-11)
        np.testing.assert_array_equal(W, before)
        np.testing.assert_allclose(each.squares, (R**2).sum(axis=0), rtol=1e-12)
        assert each.width == 70


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alphas", [np.full(2, 0.3), np.array([1e-3, 4.0])], ids=["one", "two"])
def test_its_preconditioner_is_that_of_this_process(triangle, intercept, alphas):
    there, _, R = triangle
    near, B = np.random.default_rng(2).uniform(0, 5, 70), np.random.default_rng(3).normal(size=(70, 2))
    near[:5] = 0.0
    ours = preconditioner(np.asfortranarray(R), near, intercept, alphas)
    theirs = preconditioner_there(there, near, intercept, alphas)
    np.testing.assert_allclose(theirs.solve(B, alphas), ours.solve(B, alphas), rtol=1e-8, atol=1e-10)
    assert theirs.condition == pytest.approx(ours.condition, rel=0.3)
    q = np.maximum(near, 1e-3 * near.sum() / 70)
    q *= near.sum() / q.sum()
    H = sums(np.asfortranarray(R), near, intercept)
    assert there.trace(q, intercept / near.sum()) == pytest.approx(np.trace(H), rel=1e-12)
    np.testing.assert_allclose(there.times(q, intercept / near.sum(), B), H @ B, rtol=0, atol=1e-10)
    found = there.factor(q, intercept / near.sum(), 0.3)
    assert found.norm == pytest.approx(np.abs(H + 0.3 * np.eye(70)).sum(axis=1).max(), rel=1e-12)


def test_a_singular_sum_gets_a_larger_ridge(triangle):
    there = triangle[0]
    near = np.zeros(70)
    near[0] = 1e20
    theirs = preconditioner_there(there, near, False, np.zeros(1))
    assert np.isfinite(theirs.solve(np.ones((70, 1)), np.zeros(1))).all()


def test_no_room_is_said(triangle):
    poor = replace(triangle[0], budget=CUDA("cpu", memory_limit="1 kB").budget)
    with pytest.raises(BudgetError, match="70 landmarks"):
        poor.factor(np.ones(70), 0.0, 1.0)
    with pytest.raises(BudgetError, match="70 landmarks"):
        poor.spectrum(np.ones(70), 0.0)
