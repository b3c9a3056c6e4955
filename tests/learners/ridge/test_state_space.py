"""Kernel ridge regression by the states of processes, against dense equations, with all options."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from learners.dense_models import left_out, saddle

import mercer
from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import BudgetError, InputError
from mercer.kernels.points import points_from
from mercer.learners.data.views import KernelView
from mercer.learners.ridge.state_form import Form, form_of
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.planner import RidgeTask, choose
from mercer.planner.machine import ROUGH
from mercer.solvers import Cholesky, Eigen
from mercer.sources import Arrays

KERNELS = (
    "laplace(lengthscale=0.7)",
    "product_laplace(lengthscale=0.7)",
    "matern(nu=1.5, lengthscale=1.0)",
    "matern(nu=2.5, lengthscale=2.0)",
    "matern(nu=3.5, lengthscale=0.5)",
    "3*matern(nu=1.5, lengthscale=1.0) + 0.1*laplace(lengthscale=0.1)",
    "matern(nu=1.5, lengthscale=1.0).scaled([2.0])",
    "matern(nu=1.5, lengthscale=1.0) + linear",
    "matern(nu=1.5, lengthscale=0.3) + trigonometric(order=2) + 0.001*polynomial(degree=2)",
    "(matern(nu=2.5, lengthscale=1.0) + 4.0 + trigonometric(period=1.3)).scaled([1.5])",
)
STATES = "matern(nu=1.5, lengthscale=1.0)"


def problem(seed, outputs=1):
    """Rows with ties, near ties and gaps, in no order."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(3, 60))
    x = draw.random(n) * draw.choice([0.5, 5.0, 20.0]) + draw.choice([0.0, -3.0])
    x[draw.integers(0, n, n // 4)] = x[draw.integers(0, n, n // 4)]
    x[0] = x[-1] * (1 + 1e-12)
    y = np.sin(2 * x)[:, None] + 0.3 * draw.normal(size=(n, outputs)) + draw.choice([0.0, 40.0])
    weights = [None, draw.integers(0, 4, n) + (np.arange(n) < 3), draw.random(n) + 0.2][int(draw.integers(3))]
    new = np.concatenate([draw.random(9) * 60 - 5, x[:3], [x.min() - 2, x.max() + 30]])
    return x[:, None], y[:, 0] if outputs == 1 else y, weights, new[:, None], draw


def close(got, wanted, rtol=1e-8, atol=1e-8):
    got, wanted = np.asarray(got), np.asarray(wanted)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol * max(1.0, float(np.abs(wanted).max(initial=0.0))))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(16))
def test_as_dense(kernel, seed):
    """All that a fit says is what a decomposition of the kernel matrix says."""
    X, y, weights, new, draw = problem(seed, outputs=1 + seed % 2)
    options = {"alpha": float(draw.choice([0.01, 0.1, 10.0])), "fit_intercept": bool(draw.integers(2))}
    dense = KernelRidge(kernel, solver=Cholesky(), **options).fit(X, y, weights)
    fast = KernelRidge(kernel, method="state_space", **options).fit(X, y, weights)
    assert (dense.plan_.method, fast.plan_.method) == ("direct", "state space")
    for means, others in zip(fast.predict(new, return_std=True), dense.predict(new, return_std=True), strict=True):
        close(means, others)
    close(fast.predict(X), dense.predict(X))
    close(fast.predict(new, return_cov=True)[1], dense.predict(new, return_cov=True)[1])
    for name in ("dual_coef_", "intercept_", "leverage_", "degrees_of_freedom_", "variance_", "noise_"):
        close(getattr(fast, name), getattr(dense, name), rtol=1e-7)
    close(fast.log_marginal_likelihood(), dense.log_marginal_likelihood())
    close(fast._result.fit.means, dense._result.fit.means)
    assert fast.converged_
    assert fast.residual_ < 1e-12
    assert fast.condition_ >= dense.condition_ / len(X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(8))
def test_paths_as_dense(kernel, seed):
    X, y, weights, new, draw = problem(100 + seed)
    alphas, intercept = np.geomspace(1e-2, 30, 5), bool(draw.integers(2))
    dense = KernelRidge(kernel, solver=Eigen(), alpha=alphas, fit_intercept=intercept).fit(X, y, weights)
    fast = KernelRidge(kernel, method="state_space", alpha=alphas, fit_intercept=intercept).fit(X, y, weights)
    close(fast.loo_.errors, dense.loo_.errors, rtol=1e-7)
    assert fast.alpha_ == dense.alpha_
    close(fast.predict(new), dense.predict(new))


@pytest.mark.parametrize("seed", range(12))
def test_left_out_rows_as_n_models(seed):
    X, y, weights, _, _ = problem(300 + seed)
    s = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    kept = s > 0
    K = mercer.parse(STATES)(X[kept])
    path = KernelRidge(STATES, method="state_space", alpha=[0.1, 1.0]).fit(X, y, weights).loo_
    for alpha, error in zip(path.alphas, path.errors[:, 0], strict=True):
        wanted = s[kept] @ left_out(K, y[kept], alpha, True, s[kept]) ** 2 / s.sum()
        np.testing.assert_allclose(error, wanted, rtol=1e-9)


def test_the_default_alphas_are_those_of_all_rows():
    X, y, *_ = problem(7)
    for intercept in (True, False):
        dense = KernelRidge(STATES, solver=Eigen(), fit_intercept=intercept).fit(X, y)
        fast = KernelRidge(STATES, method="state_space", fit_intercept=intercept).fit(X, y)
        np.testing.assert_allclose(fast.loo_.alphas, dense.loo_.alphas, rtol=1e-9)


def test_two_thousand_rows_as_dense():
    draw = np.random.default_rng(0)
    x = draw.random(2000) * 30
    y = np.sin(x) + 0.1 * draw.normal(size=2000)
    dense = KernelRidge(STATES, solver=Cholesky(), alpha=0.02).fit(x[:, None], y)
    fast = KernelRidge(STATES, alpha=0.02).fit(x[:, None], y)
    assert fast.plan_.method == "state space"
    new = np.linspace(-3, 33, 500)[:, None]
    for got, wanted in zip(fast.predict(new, return_std=True), dense.predict(new, return_std=True), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-10)


def test_small_alphas_and_near_times_keep_their_digits():
    """Where the matrix has a condition number of 1e14, and its factor would have lost all digits."""
    x = np.linspace(0, 1, 40)
    x = np.sort(np.concatenate([x, x[5:20] + 1e-9]))
    y = np.cos(6 * x)
    fast = KernelRidge("matern(nu=1.5, lengthscale=1.0)", method="state_space", alpha=1e-13).fit(x[:, None], y)
    new = np.linspace(0.01, 0.99, 300)
    assert np.abs(fast.predict(new[:, None]) - np.cos(6 * new)).max() < 3e-3
    assert np.abs(fast.predict(x[:, None]) - y).max() < 1e-9
    assert fast.rounding_ < 1e-10


def test_without_a_penalty_it_interpolates():
    x = np.linspace(0, 3, 12)
    y = np.exp(-x)
    model = KernelRidge(STATES, method="state_space", alpha=0.0).fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(x[:, None]), y, rtol=1e-12)
    a, b = saddle(mercer.parse(STATES)(x[:, None]), y, 0.0, True)
    np.testing.assert_allclose(model.dual_coef_, a, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-8)


def test_ties_that_differ_are_told_where_there_is_no_penalty():
    x, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 2.0, 4.0])
    with pytest.warns(ConvergenceWarning, match="one time that differ"):
        model = KernelRidge(STATES, method="state_space", alpha=0.0).fit(x, y)
    np.testing.assert_allclose(model.predict([[1.0]]), 3.0)
    assert not model.converged_


def test_times_that_are_endlessly_far():
    x, y = np.array([[0.0], [2.0], [1e150]]), np.array([1.0, 2.0, 4.0])
    dense = KernelRidge(STATES, solver=Cholesky(), alpha=0.1).fit(x, y)
    fast = KernelRidge(STATES, method="state_space", alpha=0.1).fit(x, y)
    np.testing.assert_allclose(fast.predict(x, return_std=True), dense.predict(x, return_std=True), rtol=1e-10)


def test_lengthscales_are_compared():
    X, y, *_ = problem(3)
    dense = KernelRidge("matern(nu=1.5)", solver=Eigen(), lengthscale="loo").fit(X, y)
    fast = KernelRidge("matern(nu=1.5)", method="state_space", lengthscale="loo").fit(X, y)
    assert fast.kernel_ == dense.kernel_
    np.testing.assert_allclose(fast.predict(X), dense.predict(X), rtol=1e-7)


def test_outputs_have_alphas_of_their_own():
    X, Y, _, new, _ = problem(5, outputs=3)
    together = KernelRidge(STATES, method="state_space", alpha=[0.1, 1.0, 0.1]).fit(X, Y)
    for t, alpha in enumerate((0.1, 1.0, 0.1)):
        alone = KernelRidge(STATES, method="state_space", alpha=alpha).fit(X, Y[:, t])
        for got, wanted in zip(together.predict(new, True), alone.predict(new, True), strict=True):
            np.testing.assert_allclose(got[:, t], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [STATES, KERNELS[8]])
def test_files_and_copies(kernel, tmp_path):
    X, y, weights, new, _ = problem(11)
    model = KernelRidge(kernel, method="state_space").fit(X, y, weights)
    wanted = model.predict(new, return_std=True)
    mercer.save(model, tmp_path / "model.mercer")
    for copy in (mercer.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):  # noqa: S301
        np.testing.assert_array_equal(copy.predict(new, return_std=True), wanted)
        assert copy.plan_ == model.plan_
        assert copy.log_marginal_likelihood() == model.log_marginal_likelihood()


def test_long_series_are_planned_so_and_short_ones_are_not():
    task = RidgeTask(50_000, 1, 1, None, 45, True, approximable=True, products=True, components=2)
    plan = choose(task, machine=ROUGH)
    assert plan.method == "state space"
    assert plan.exact
    assert "1 output: state space, 2 components" in str(plan)
    assert choose(replace(task, rows=100), machine=ROUGH).method == "direct"
    assert choose(replace(task, method="landmarks"), machine=ROUGH).method != "state space"
    assert choose(replace(task, components=0), machine=ROUGH).method != "state space"
    assert choose(replace(task, rows=100, method="state_space"), machine=ROUGH).method == "state space"


def test_forms_of_kernels():
    rows = np.linspace(0, 1, 9)[:, None]
    sizes = {"gaussian(lengthscale=1.0)": 0, "matern(nu=1.7, lengthscale=1.0)": 0, "matern(nu=1.5) + min": 0}
    for kernel, size in (sizes | dict.fromkeys(KERNELS[2:4], None)).items():
        form = form_of(KernelView(points_from(rows), mercer.parse(kernel)))[0]
        assert (form is None) == (size == 0)
    wide = KernelView(points_from(np.hstack([rows, rows])), mercer.parse(STATES))
    assert form_of(wide)[0] is None
    assert form_of(KernelView(points_from(rows), mercer.parse(KERNELS[9])))[0] == Form(
        mercer.parse(KERNELS[9]).state_space(), 3, 3
    )


def test_what_has_no_states_is_refused():
    X, y, *_ = problem(1)
    for kernel, said in (
        ("gaussian(lengthscale=1.0)", "no part with a state"),
        ("matern(nu=1.5) + gaussian(lengthscale=1.0)", "neither a state nor a few features"),
        ("+".join(["matern(nu=3.5, lengthscale=1.0)"] * 3), "12 components"),
    ):
        with pytest.raises(InputError, match=said):
            KernelRidge(kernel, method="state_space").fit(X, y)
    with pytest.raises(InputError, match="2 columns"):
        KernelRidge(STATES, method="state_space").fit(np.hstack([X, X]), y)
    with pytest.raises(InputError, match="state_space"):
        KernelRidgeClassifier(STATES, method="state_space").fit(X, y > y.mean())
    with pytest.raises(InputError, match="solver"):
        KernelRidge(STATES, method="state_space", solver=Eigen()).fit(X, y)
    with pytest.raises(InputError, match="side"):
        KernelRidge(STATES, method="state_space", side="primal").fit(X, y)


def test_memory_is_kept_to():
    x = np.linspace(0, 1, 20_000)[:, None]
    with pytest.raises(BudgetError):
        KernelRidge(STATES, method="state_space", memory_limit=100_000).fit(x, x[:, 0])


def test_tables_and_single_precision():
    frame = pd.DataFrame({"hours": np.linspace(0, 4, 50, dtype=np.float32)})
    model = KernelRidge(STATES, method="state_space").fit(frame, np.sin(frame["hours"]))
    found = model.predict(frame)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.sin(frame["hours"]), atol=1e-3)


def test_a_source_that_fits_is_swept():
    x = np.linspace(0, 1, 3000)[:, None]
    model = KernelRidge(STATES, alpha=0.1).fit(Arrays(x, np.cos(x[:, 0])))
    assert model.plan_.method == "state space"
    np.testing.assert_allclose(model.predict(Arrays(x)), model.predict(x))


def test_functions_are_drawn():
    X, y, _, new, _ = problem(13)
    model = KernelRidge(STATES, method="state_space", alpha=0.1).fit(X, y)
    drawn = model.sample_y(new, 4000, random_state=0)
    means, deviations = model.predict(new, return_std=True)
    assert (np.abs(drawn.mean(axis=1) - means) <= 5 * deviations / 4000**0.5 + 1e-6).all()


def test_an_interrupted_fit_leaves_the_model_as_it_was(monkeypatch):
    from mercer.solvers.state_space import sweeps

    X, y, *_ = problem(17)
    model = KernelRidge(STATES, method="state_space", alpha=0.1).fit(X, y)
    before = model.predict(X)

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "add_products", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y + 1)
    np.testing.assert_array_equal(model.predict(X), before)
