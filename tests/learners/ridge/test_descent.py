"""The path of gradient descent as the lectures write it: their loops, their losses, their s."""

import numpy as np
import pytest

import mercer
from mercer import ConvergenceWarning, KernelRidge, KernelRidgeClassifier
from mercer.errors import NumericalWarning
from mercer.kernels import Gaussian
from mercer.solvers import Cholesky, GradientDescent

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
Y = X @ [1.0, -2.0] + 0.3 * RNG.normal(size=12)
PLAIN = {"alpha": 0.0, "fit_intercept": False}


def descended(kernel, s, steps, weight=None, rows=X, y=Y, **settings):
    solver = GradientDescent(step=s, max_iter=steps, tol=0.0)
    with pytest.warns(NumericalWarning, match="KernelRidge: After"):
        return KernelRidge(kernel, solver=solver, **settings).fit(rows, y, weight)


def lecture_in_alpha(K, y, s, steps):
    """alpha_i <- alpha_i - s gamma_i with gamma_i = 2 (sum_j alpha_j K_ij - y_i), and the loss before each step."""
    alpha, path, losses = np.zeros(len(y)), [], []
    for _ in range(steps + 1):
        path.append(alpha.copy())
        losses.append(sum((alpha @ K[:, i] - y[i]) ** 2 for i in range(len(y))))
        gamma = [2 * (alpha @ K[:, i] - y[i]) for i in range(len(y))]
        alpha = alpha - s * np.array(gamma)
    return np.array(path), np.array(losses)


def test_the_lectures_own_case_in_alpha():
    """Squared loss, a linear kernel, from zero, with the step s of the lecture."""
    model = descended("linear", 0.01, 20, side="dual", **PLAIN)
    alphas, losses = lecture_in_alpha(X @ X.T, Y, 0.01, 20)
    np.testing.assert_allclose(model.history_.alphas, alphas, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(model.history_.losses, losses, rtol=1e-12)
    np.testing.assert_allclose(model.dual_coef_, alphas[-1], rtol=1e-12)
    assert model.history_.step == 0.01
    assert model.history_.weights is None
    assert model.history_.validation is None


def test_the_same_in_weights():
    """w <- w - s sum_i 2 (w.x_i - y_i) x_i: at each step the combination of rows that the alphas tell."""
    primal, dual = (descended("linear", 0.01, 20, side=side, **PLAIN).history_ for side in ("primal", "dual"))
    w, path = np.zeros(2), []
    for _ in range(21):
        path.append(w)
        w = w - 0.01 * sum(2 * (w @ X[i] - Y[i]) * X[i] for i in range(12))
    np.testing.assert_allclose(primal.weights, path, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(dual.alphas @ X, path, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(primal.losses, dual.losses, rtol=1e-11)
    assert primal.alphas is None


@pytest.mark.parametrize("kernel", [Gaussian(1.0), "precomputed"], ids=str)
def test_a_kernel_in_the_place_of_inner_products(kernel):
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    model = descended(kernel, 0.05, 15, rows=K if kernel == "precomputed" else X, **PLAIN)
    alphas, losses = lecture_in_alpha(K, Y, 0.05, 15)
    np.testing.assert_allclose(model.history_.alphas, alphas, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(model.history_.losses, losses, rtol=1e-11)


def test_the_loss_is_the_one_that_ridge_minimises():
    """sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2 with weights, an intercept, and rows that do not count."""
    s = np.array([1.0, 2.0, 0.0, 0.5, *np.ones(8)])
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    history = descended("gaussian(1)", 0.02, 10, weight=s, alpha=0.3).history_
    assert history.alphas.shape == (11, 12)
    assert not history.alphas[:, 2].any()
    for a, loss in zip(history.alphas, history.losses, strict=True):
        f = K @ a
        b = s @ (Y - f) / s.sum()
        assert loss == pytest.approx(s @ (Y - f - b) ** 2 + 0.3 * a @ f, rel=1e-11)


@pytest.mark.parametrize("side", ["dual", "primal"])
def test_features_of_a_constant_keep_their_place(side):
    """The weight of 1 stays 0 beside an intercept; both sides are at the same f after each step."""
    kernel = "polynomial(degree=2)"
    history, phi = descended(kernel, 1e-3, 8, alpha=0.1, side=side).history_, mercer.lift(kernel, 2).transform(X)
    weights = history.weights if side == "primal" else history.alphas @ phi
    w, centred, y = np.zeros(6), phi - phi.mean(axis=0), Y - Y.mean()
    for found, loss in zip(weights, history.losses, strict=True):
        np.testing.assert_allclose(found, w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(loss, ((centred @ w - y) ** 2).sum() + 0.1 * w @ w, rtol=1e-10)
        w = w - 1e-3 * 2 * (centred.T @ (centred @ w - y) + 0.1 * w)


def test_several_columns_and_classes_have_one_path_each():
    two = KernelRidge("gaussian(1)", alpha=1.0, solver=GradientDescent()).fit(X, np.column_stack([Y, -Y]))
    assert two.history_.alphas.shape[1:] == (12, 2)
    assert two.history_.losses.shape[1:] == (2,)
    np.testing.assert_allclose(two.history_.losses[:, 0], two.history_.losses[:, 1], rtol=1e-12)
    labels = KernelRidgeClassifier("gaussian(1)", alpha=1.0, solver=GradientDescent()).fit(X, np.digitize(Y, [-1, 1]))
    assert labels.history_.alphas.shape[1:] == (12, 3)
    np.testing.assert_allclose(labels.history_.alphas[-1], labels.dual_coef_, atol=1e-9)


def test_held_out_rows_have_no_coefficient_and_their_error_is_told():
    solver = GradientDescent(validation=0.25, patience=3)
    model = KernelRidge("gaussian(1)", alpha=1e-3, solver=solver, fit_intercept=False).fit(X, Y)
    history = model.history_
    held = np.flatnonzero(~history.alphas.any(axis=0))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    wanted = ((history.alphas @ K - Y) ** 2)[:, held].mean(axis=1)
    np.testing.assert_allclose(history.validation, wanted, rtol=1e-10)
    assert len(held) == 3


def test_what_was_not_kept_is_not_there():
    model = KernelRidge("linear", alpha=1.0, solver=GradientDescent(keep=False), side="dual").fit(X, Y)
    assert model.history_.alphas is None
    assert len(model.history_.losses) == model.outcome_.iterations + 1
    for solver in ("auto", Cholesky()):
        with pytest.raises(AttributeError, match="history_: the solver takes no steps; use solver=GradientDescent"):
            _ = KernelRidge("linear", alpha=1.0, solver=solver).fit(X, Y).history_
    assert not hasattr(KernelRidge(), "history_")


def test_a_path_comes_back_from_a_file(tmp_path):
    model = KernelRidge("linear", alpha=1.0, solver=GradientDescent(), side="dual").fit(X, Y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer").history_
    np.testing.assert_array_equal(again.alphas, model.history_.alphas)
    np.testing.assert_array_equal(again.losses, model.history_.losses)


def test_one_step_is_told_in_the_singular():
    with pytest.warns(NumericalWarning, match="KernelRidge: After 1 step the residual is"):
        KernelRidge("linear", solver=GradientDescent(max_iter=1), **PLAIN).fit(X, Y)


def test_a_descent_that_ends_early_names_no_condition_number():
    """It has no factor that would know one."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.warns(ConvergenceWarning, match="After 3 steps") as said:
        KernelRidge("linear", alpha=0, side="dual", solver=GradientDescent(max_iter=3)).fit(X, X[:, 0])
    assert not [each for each in said if "nan" in str(each.message)]
