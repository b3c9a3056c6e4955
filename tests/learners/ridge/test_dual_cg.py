"""The dual by conjugate gradients, against the same model by Cholesky."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mercer.compute.runtime.run import IDLE
from mercer.kernels import Gaussian, Laplace
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import points_from
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import KernelView, LiftView, MatrixView
from mercer.learners.ridge import dual, dual_cg
from mercer.learners.ridge.dual_cg import Swift
from mercer.learners.ridge.problem import RidgeProblem
from mercer.lifts import Polynomial
from mercer.operators import Centering, Dense
from mercer.planner import Plan
from mercer.planner.ridge import RidgeDetails
from mercer.solvers import Cholesky, ConjugateGradient
from mercer.solvers.ridge.perturbation import mean_size
from mercer.testing import check_operator
from mercer.testing.solver_runs import Recorder

N = 150
X = np.random.default_rng(0).normal(size=(N, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 5, X[:, 1] ** 2]) + 0.1 * np.random.default_rng(1).normal(size=(N, 2))
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2, N)
ALPHAS = np.array([0.1, 0.02])
VIEWS = {
    "kernel": KernelView(points_from(X), Laplace(2.0)),
    "lift": LiftView(points_from(X), Polynomial(3).fit(X)),
    "matrix": MatrixView(Laplace(2.0)(X)),
}


def request(view="kernel", weights=None, intercept=True, alphas=ALPHAS, dtype=np.float64):
    return RidgeProblem(
        views=(VIEWS[view],),
        kept=np.arange(N),
        targets=Y,
        labels=None,
        centering=Centering.of(N, weights, intercept),
        penalty=Penalty(alphas, path=False),
        dtype=np.dtype(dtype),
        is_flat=False,
    )


def plan(solver=None, rank=0):
    return Plan("direct", N, 3, 2, 1, 1.0, (), RidgeDetails("dual", solver or Cholesky(), rank=rank))


def by_cholesky(asked):
    return dual.solve(asked, plan(), IDLE)


def by_gradients(asked, tol=1e-11, single=False, run=IDLE, plan_rank=0, **settings):
    asked = replace(asked, dtype=np.dtype(np.float32 if single else np.float64))
    return dual_cg.solve(asked, plan(ConjugateGradient(tol=tol, **settings), plan_rank), run, seed=0)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_model_is_that_of_cholesky(view, weights, intercept):
    asked = request(view, weights, intercept)
    wanted, found = by_cholesky(asked), by_gradients(asked)
    assert found.outcome.converged
    for name in ("duals", "intercepts", "levels", "means", "noise", "variance", "alphas"):
        one, other = getattr(found, name), getattr(wanted, name)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8 * np.abs(other).max(initial=0.0), err_msg=name)
    assert not hasattr(found, "weights")
    assert found.log_determinants is None
    assert found.leverage is None
    assert (found.roundings < 1e-9).all()
    if intercept:
        np.testing.assert_allclose(found.duals.sum(axis=0), 0.0, atol=1e-10 * np.abs(found.duals).sum())


def test_single_precision_leads_to_the_same_model():
    """Entries and true residuals are in float64: only the way there is shorter."""
    asked = request()
    wanted, found = by_cholesky(asked), by_gradients(asked, single=True)
    assert found.outcome.converged
    assert found.outcome.residual <= 1e-11
    np.testing.assert_allclose(found.duals, wanted.duals, rtol=1e-6, atol=1e-8 * np.abs(wanted.duals).max())
    for view in ("lift", "matrix"):
        assert by_gradients(request(view), single=True).outcome.converged


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_the_intercept_comes_from_true_products(weights, monkeypatch):
    """On a card those in float32 are all else; here they are off by much, and the mean of predictions is that of y."""
    monkeypatch.setattr(dual_cg, "current", lambda: SimpleNamespace(holds_squares=True))
    monkeypatch.setattr(dual_cg, "_fast", lambda problem, exact, run: Swift(1.0003 * exact, exact))
    asked = request(weights=weights)
    wanted, found = by_cholesky(asked), by_gradients(asked, single=True)
    assert found.outcome.converged
    np.testing.assert_allclose(found.intercepts, wanted.intercepts, rtol=1e-8)
    means = asked.centering.shares @ (Laplace(2.0)(X) @ found.duals)
    np.testing.assert_allclose(means + found.intercepts, asked.centering.means(Y), rtol=1e-12)
    other = np.random.default_rng(5).normal(size=(N, 2))
    true = dual_cg.TrueProducts(
        VIEWS["kernel"].operator(), asked.centering, asked.centering.operator(Dense(np.eye(N))).parts
    )
    once, later = true.means(other), true.means(-8 * other)
    np.testing.assert_array_equal(later, -8 * once)


def test_the_rank_is_that_of_the_solver_or_of_the_plan():
    seen = []

    class Stages(Recorder):
        def stage(self, name, total=1.0):
            seen.append((name, total))
            return super().stage(name, total)

    by_gradients(request(), run=Stages(), plan_rank=17)
    by_gradients(request(), run=Stages(), plan_rank=17, preconditioner_rank=5)
    dual_cg.solve(request(), plan(rank=17), Stages(), seed=0)  # the plan names another solver
    assert [total for name, total in seen if name == "preconditioner"] == [17, 5, 17]
    assert [name for name, _ in seen] == ["preconditioner", "iterations"] * 3


def test_a_rank_that_is_weighed_is_left_open():
    seen = []

    class Stages(Recorder):
        def stage(self, name, total=1.0):
            seen.append((name, total))
            return super().stage(name, total)

    open_rank = plan(ConjugateGradient(tol=1e-8), rank=17)
    open_rank = replace(open_rank, details=replace(open_rank.details, step=1e-3, column=1e-7, pivot=1e-5, square=1e-9))
    assert dual_cg.solve(request(), open_rank, Stages(), seed=0).outcome.converged
    given = replace(open_rank.details, solver=ConjugateGradient(tol=1e-8, preconditioner_rank=5))
    dual_cg.solve(request(), replace(open_rank, details=given), Stages(), seed=0)
    assert [total for name, total in seen if name == "preconditioner"] == [N // 4, 5]


def test_predictions_are_off_by_no_more_than_the_residual():
    exact = by_cholesky(request())
    K, lengths = Laplace(2.0)(X), np.linalg.norm(request().centering.rows(request().targets), axis=0)
    for tolerance in (1e-2, 1e-4, 1e-6):
        fit = by_gradients(request(), tolerance)
        assert fit.outcome.converged
        gaps = K @ (fit.duals - exact.duals) + fit.intercepts - exact.intercepts
        assert (np.linalg.norm(gaps, axis=0) <= 1.01 * fit.outcome.residual * lengths).all()
        assert (fit.roundings < 1e-12).all()


def test_a_model_that_is_stopped_can_be_used_and_says_so():
    run = Recorder(6)
    fit = by_gradients(request(), run=run, preconditioner_rank=0)
    assert run.stopped
    assert not fit.outcome.converged
    assert np.isinf(fit.roundings).all()
    assert "The law of stopping was tried: after 7 iterations" in fit.outcome.reason
    predictions = Laplace(2.0)(X) @ fit.duals + fit.intercepts
    assert (np.square(predictions - Y).mean(axis=0) < 0.5 * Y.var(axis=0)).all()


def test_a_model_goes_on_from_a_checkpoint_to_the_same_bits():
    run = Recorder()
    whole = by_gradients(request(weights=WEIGHTS), run=run, single=True)
    key, state = run.states[len(run.states) // 2]
    again = by_gradients(request(weights=WEIGHTS), run=Recorder(found={key: state}), single=True)
    assert whole.duals.tobytes() == again.duals.tobytes()
    assert whole.intercepts.tobytes() == again.intercepts.tobytes()


@pytest.mark.parametrize("far", [False, True])
def test_rounding_of_products_is_estimated(far):
    """Fused products against plain NumPy: they are off by less than the estimate, which is small."""
    view = VIEWS["kernel"]
    if far:
        view = replace(view, points=points_from(X * 1e-3 + 1e6), kernel=Gaussian(1e-3))
    with fused_from(0):
        fit = by_gradients(replace(request(), views=(view,)), tol=1e-6)
        fused = view.operator() @ fit.duals
    plain = view.kernel(view.points.values) @ fit.duals
    off = mean_size(fused - plain) / mean_size(plain + fit.intercepts)
    assert (off <= fit.roundings).all()
    assert (fit.roundings < (1e-3 if far else 1e-11)).all()


def test_a_matrix_of_fast_products_and_true_entries():
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    swift = Swift(Dense(A), Dense(A))
    check_operator(swift)
    other = Swift(Dense(2 * A), Dense(A))
    np.testing.assert_array_equal(other @ np.eye(2), 2 * A)
    np.testing.assert_array_equal(other.to_dense(), A)
    np.testing.assert_array_equal(other.diagonal(), [2.0, 3.0])
