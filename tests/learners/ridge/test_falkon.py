"""Falkon against the same least squares, formed and solved densely."""

from types import SimpleNamespace

import numpy as np
import pytest
from dense_models import draw
from numpy.testing import assert_allclose, assert_array_equal
from streamed_requests import in_pieces

from mercer import KernelRidge
from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.compute.runtime.threads import as_planned
from mercer.kernels import Gaussian, Laplace
from mercer.kernels.points import Points
from mercer.learners.ridge import falkon, falkon_passes
from mercer.learners.ridge.landmark_preconditioner import preconditioner, sums
from mercer.learners.streaming.basis import LandmarkBasis, landmark_basis
from mercer.learners.streaming.stream import StoredStream
from mercer.lifts import Nystrom

BATCH = 64
KERNELS = {"laplace": Laplace(2.0), "gaussian": Gaussian(1.5)}


class Unstored(StoredStream):
    """Rows that a source would give."""

    @property
    def stored(self):
        return False


class Recorder(Run):
    """Keeps every state that is offered, and may stop or break off after so many tells."""

    def __init__(self, stop=None, fail=None, state=None):
        self.states, self.told, self.stop, self.fail, self.state, self.open = [], [], stop, fail, state, 0

    def stoppable(self):
        recorder = self

        class Block:
            def __enter__(self):
                recorder.open += 1

            def __exit__(self, *error):
                recorder.open -= 1

        return Block()

    def tell(self, done):
        self.told.append(done)
        if self.fail is not None and len(self.told) >= self.fail:
            raise KeyboardInterrupt
        if self.stop is not None and len(self.told) >= self.stop and self.open:
            raise Stopped("the time limit of 3 s was reached")

    def offer(self, key, state):
        assert key == "iterations"
        self.states.append({name: np.array(value) for name, value in state().items()})

    def saved(self, key):
        return self.state


def problem(kernel="laplace", n=300, outputs=1, m=40, weights=None, intercept=True, alpha=0.5, kind=StoredStream):
    """A problem, and the lift and data behind it."""
    X, Y = draw(n, 3, outputs, seed=3)
    Y = Y.reshape(n, -1)
    s = np.ones(n) if weights is None else weights
    lift = Nystrom(KERNELS[kernel], m, landmarks=X[:m]).fit(X)
    points = Points(X)
    stream = kind(points, Y, s, s)
    alphas = np.broadcast_to(np.asarray(alpha, dtype=float), (outputs,)).copy()
    request = in_pieces(
        landmark_basis(lift, points),
        stream,
        SimpleNamespace(details=SimpleNamespace(batch=BATCH)),
        alpha=alphas,
        intercept=intercept,
    )
    return request, SimpleNamespace(X=X, Y=Y, s=s, lift=lift, alphas=alphas)


def dense(given, intercept):
    """Weights, means, level and dual coefficients by normal equations."""
    Phi, s = given.lift.transform(given.X), given.s
    mean, level = (s @ Phi / s.sum(), s @ given.Y / s.sum()) if intercept else (0 * Phi[0], 0 * given.Y[0])
    Z, b = np.sqrt(s)[:, None] * (Phi - mean), np.sqrt(s)[:, None] * (given.Y - level)
    A = Z.T @ Z
    columns = zip(given.alphas, b.T, strict=True)
    w = np.column_stack([np.linalg.solve(A + a * np.eye(len(A)), Z.T @ y) for a, y in columns])
    e = b - Z @ w
    noise = (b * e).sum(axis=0) / (s.sum() - intercept)
    return SimpleNamespace(w=w, mean=mean, level=level, e=np.sqrt(s)[:, None] * e, noise=noise, A=A)


def predicted(found, request, X):
    return request.basis.times(Points(X), found.raw) + found.intercepts


WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, 300)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("outputs", "alpha"), [(1, 0.5), (3, 0.5), (3, [1e-2, 1.0, 100.0])], ids=["one", "three", "three alphas"]
)
def test_same_as_normal_equations(intercept, weights, outputs, alpha):
    request, given = problem(outputs=outputs, alpha=alpha, weights=weights, intercept=intercept)
    found, truth = request.falkon(IDLE), dense(given, intercept)
    fit = found
    assert fit.outcome.converged
    assert 0 < fit.outcome.iterations < 60
    assert_allclose(fit.weights, truth.w, rtol=1e-4, atol=1e-5 * np.abs(truth.w).max())
    assert_allclose(fit.means, truth.mean, atol=1e-9)
    assert_allclose(fit.levels, truth.level, rtol=1e-9, atol=1e-9)
    assert_allclose(fit.duals, truth.e / given.alphas, atol=2e-5 * np.abs(truth.e / given.alphas).max())
    assert_allclose(fit.noise, truth.noise, rtol=1e-6)
    assert_allclose(fit.variance, truth.noise / given.alphas, rtol=1e-6)
    assert fit.log_determinants is None
    assert found.spectrum is None
    if intercept:
        assert_allclose(fit.duals.sum(axis=0), 0.0, atol=1e-9 * np.abs(fit.duals).sum())
    new = np.random.default_rng(1).normal(size=(20, 3))
    for rows in (given.X, new):
        wanted = (given.lift.transform(rows) - truth.mean) @ truth.w + truth.level
        assert_allclose(predicted(found, request, rows), wanted, atol=1e-5 * np.abs(wanted).max())


def test_same_as_learner():
    request, given = problem("gaussian", alpha=1e-3)
    model = KernelRidge(given.lift, alpha=1e-3).fit(given.X, given.Y[:, 0])
    found = request.falkon(IDLE)
    new = np.random.default_rng(1).normal(size=(30, 3))
    assert_allclose(predicted(found, request, new)[:, 0], model.predict(new), atol=1e-5)
    assert_allclose(found.noise, model.noise_, rtol=1e-6)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0, 1e3])
def test_roundings_are_true(kernel, alpha):
    """The estimate is above the error of predictions at the rows, and below what is trusted where a fit converged."""
    request, given = problem(kernel, alpha=alpha, m=60)
    found, truth = request.falkon(IDLE), dense(given, True)
    wanted = (given.lift.transform(given.X) - truth.mean) @ truth.w + truth.level
    error = np.sqrt(np.mean((predicted(found, request, given.X) - wanted) ** 2) / np.mean(wanted**2))
    assert found.outcome.converged
    assert error <= found.roundings[0] <= 1e-6
    rows = request.basis.features(Points(given.X)) - truth.mean
    residual = rows.T @ (given.Y - truth.level - rows @ found.weights) - alpha * found.weights
    right = np.linalg.norm(rows.T @ (given.Y - truth.level))
    assert_allclose(found.outcome.residual, np.linalg.norm(residual) / right, rtol=1e-2, atol=1e-9)


def test_preconditioner_saves_steps():
    """Landmarks of which each stands for the rows around it, against landmarks that all count the same."""
    request, given = problem(n=2000, m=150, alpha=2e-4)
    near = request.falkon(IDLE).outcome.iterations
    A, right = dense(given, True).A, np.random.default_rng(0).normal(size=150)
    assert near < 60 < _steps(A + 2e-4 * np.eye(150), right)


def _steps(A, b):
    """Plain conjugate gradients, to the same tolerance."""
    x, r = np.zeros_like(b), b.copy()
    p, count = r.copy(), 0
    while np.linalg.norm(r) > 1e-6 * np.linalg.norm(b) and count < 1000:
        q = A @ p
        length = r @ r / (p @ q)
        x, new = x + length * p, r - length * q
        p, r, count = new + (new @ new) / (r @ r) * p, new, count + 1
    return count


@pytest.mark.parametrize("alphas", [np.full(2, 0.3), np.array([1e-3, 4.0])], ids=["one", "two"])
@pytest.mark.parametrize("panel", [7, 256])
def test_preconditioner_solves(alphas, panel, monkeypatch):
    monkeypatch.setattr("mercer.learners.ridge.landmark_preconditioner.PANEL", panel)
    random = np.random.default_rng(0)
    R, near, b = (
        np.triu(random.normal(size=(40, 40))) + 3 * np.eye(40),
        random.uniform(size=40),
        random.normal(size=(40, 2)),
    )
    q = np.maximum(near, 1e-3 * near.sum() / 40)
    q *= near.sum() / q.sum()
    C = (R - (R @ q / q.sum())[:, None]) * np.sqrt(q)
    assert_allclose(sums(R, near, True), C @ C.T, atol=1e-12)
    made = preconditioner(R, near, True, alphas)
    for t, alpha in enumerate(alphas):
        H = C @ C.T + alpha * np.eye(40)
        assert_allclose(made.solve(b, alphas)[:, t], np.linalg.solve(H, b[:, t]), rtol=1e-9, atol=1e-12)
    true = np.linalg.cond(C @ C.T + alphas.min() * np.eye(40), 1 if alphas[0] == alphas[1] else 2)
    assert true / 3 <= made.condition <= 3 * true


def test_no_penalty():
    """Without alpha the features are fitted as they are, and no dual coefficients are known."""
    request, given = problem(alpha=0.0, m=20)
    found = request.falkon(IDLE)
    Phi = given.lift.transform(given.X)
    Z, b = Phi - Phi.mean(axis=0), given.Y - given.Y.mean(axis=0)
    truth = Z @ np.linalg.lstsq(Z, b, rcond=None)[0] + given.Y.mean(axis=0)
    assert found.outcome.converged
    assert found.duals is None
    assert_allclose(predicted(found, request, given.X), truth, atol=1e-5)
    assert np.isinf(found.variance).all()


def test_no_penalty_on_a_singular_system():
    """As many landmarks as rows, less one for the intercept: what cannot be solved, or not surely, is told."""
    request, _ = problem("gaussian", n=50, alpha=0.0, m=50)
    fit = request.falkon(IDLE)
    assert fit.outcome.converged == (fit.outcome.residual <= 1e-6)
    assert fit.outcome.condition > 1e12
    assert fit.outcome.converged or "larger alpha" in fit.outcome.reason


def test_constant_targets():
    request, _ = problem()
    request.stream.targets[...] = 2.5
    found = request.falkon(IDLE)
    assert found.outcome.converged
    assert found.outcome.iterations == 0
    assert_array_equal(found.raw, 0.0)
    assert_allclose(found.intercepts, 2.5)


def test_outputs_that_are_done_are_left():
    """A column of zeros takes no step, and each of the others gives what it gives alone."""
    request, _ = problem(outputs=3, alpha=[1e-3, 1.0, 1.0])
    request.stream.targets[:, 1] = 0.0
    found = request.falkon(IDLE)
    assert_array_equal(found.raw[:, 1], 0.0)
    alone, _ = problem(outputs=3, alpha=1.0)
    wanted = alone.falkon(IDLE)
    assert_allclose(found.raw[:, 2], wanted.raw[:, 2], rtol=1e-3, atol=1e-5)


def test_large_level():
    """y near 1e6 with a spread of 1 loses no more digits than y has."""
    request, given = problem(alpha=1.0)
    request.stream.targets[...] += 1e6
    wanted = dense(given, True)
    found = request.falkon(IDLE)
    assert_allclose(found.weights, wanted.w, atol=5e-5)


def test_steps_that_are_not_enough_are_told(monkeypatch):
    monkeypatch.setattr(falkon, "STEPS", 3)
    request, given = problem(alpha=1e-4)
    found, truth = request.falkon(IDLE), dense(given, True)
    assert not found.outcome.converged
    assert found.outcome.iterations == 3
    assert "3 steps" in found.outcome.reason
    wanted = (given.lift.transform(given.X) - truth.mean) @ truth.w + truth.level
    error = np.sqrt(np.mean((predicted(found, request, given.X) - wanted) ** 2) / np.mean(wanted**2))
    assert 1e-6 < error <= found.roundings[0]


def test_sources_get_no_duals():
    request, _ = problem(kind=Unstored)
    stored, _ = problem()
    found = request.falkon(IDLE)
    assert found.duals is None
    assert_array_equal(found.raw, stored.falkon(IDLE).raw)


@pytest.mark.parametrize("after", [1, 3, 8, 12, 30, -2])
def test_goes_on_to_the_same_bits(after):
    """From any piece of any pass: the first, one of a product, the last."""
    request, _ = problem(outputs=2, alpha=[0.1, 3.0], weights=WEIGHTS)
    whole = Recorder()
    wanted = request.falkon(whole)
    state = whole.states[after]
    again = request.falkon(Recorder(state=state))
    assert_array_equal(again.raw, wanted.raw)
    assert_array_equal(again.duals, wanted.duals)
    assert again.outcome.iterations == wanted.outcome.iterations
    assert again.outcome.residual == wanted.outcome.residual


def test_states_of_all_passes_are_offered():
    request, _ = problem()
    run = Recorder()
    steps = request.falkon(run).outcome.iterations
    pieces = -(-300 // BATCH)
    assert len(run.states) >= pieces * (steps + 2)
    assert len(run.states) % pieces == 0
    assert run.told == sorted(run.told)
    assert 0.5 < run.told[-1] <= 1.0


@pytest.mark.parametrize("tells", [1, 11, 17])
def test_stopped_returns_what_it_has(tells):
    request, given = problem(alpha=1e-4)
    run = Recorder(stop=tells)
    found = request.falkon(run)
    outcome = found.outcome
    assert not outcome.converged
    assert outcome.iterations >= 1
    assert outcome.reason.startswith("The time limit of 3 s was reached: ")
    assert found.duals is None
    truth = dense(given, True)
    wanted = (given.lift.transform(given.X) - truth.mean) @ truth.w + truth.level
    error = np.sqrt(np.mean((predicted(found, request, given.X) - wanted) ** 2) / np.mean(wanted**2))
    assert error <= found.roundings[0]
    assert error < 1.0


def test_an_interruption_goes_through():
    request, _ = problem()
    with pytest.raises(KeyboardInterrupt):
        request.falkon(Recorder(fail=3))


@pytest.mark.parametrize("kept", [True, False])
def test_few_rows_in_memory_are_bound_to_the_landmarks_once(kept, monkeypatch):
    bound, plain = [], LandmarkBasis.at_backend
    monkeypatch.setattr(LandmarkBasis, "at_backend", lambda self, points: bound.append(points) or plain(self, points))
    monkeypatch.setattr(falkon_passes, "MAX_BOUND_NUMBERS", 300 * 3 if kept else 300 * 3 - 1)
    request, _ = problem()
    fit = request.falkon(IDLE)
    pieces, passes = -(-300 // BATCH), fit.outcome.iterations + 2
    assert len(bound) == (pieces if kept else pieces * passes)
    np.testing.assert_array_equal(fit.weights, problem()[0].falkon(IDLE).weights)


def test_other_lanes_have_other_last_digits_and_the_same_lanes_the_same(monkeypatch):
    monkeypatch.setattr("mercer.backends.lanes.MAX_STRIP_ROWS", 16)
    monkeypatch.setattr("mercer.backends.lanes.MIN_STRIP_ROWS", 16)

    def weights(lanes):
        with as_planned(lanes, 1):
            return problem()[0].falkon(IDLE).weights

    three = weights(3)
    assert_array_equal(weights(3), three)
    assert not np.array_equal(weights(1), three)
    assert_allclose(weights(1), three, rtol=1e-5, atol=1e-7)
