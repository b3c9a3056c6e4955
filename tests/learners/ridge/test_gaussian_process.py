"""The Gaussian process that is equal to a model, against scikit-learn's and against dense formulas."""

import numpy as np
import pytest
from dense_models import deviations, draw, hat, process, saddle
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.linear_model import LinearRegression

from mercer import KernelRidge
from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Matern, Polynomial
from mercer.lifts import Polynomial as PolynomialLift
from mercer.solvers import Cholesky, Eigen, GradientDescent

X, Y = draw(24, 3, outputs=2)
y = Y[:, 0]
NEW = np.random.default_rng(9).normal(size=(11, 3))
FRACTIONS = np.random.default_rng(8).uniform(0.2, 3.0, 24)
WHOLE = np.random.default_rng(7).integers(1, 4, 24).astype(float)
WEIGHTED = pytest.mark.parametrize("weights", [None, FRACTIONS], ids=["alike", "weighted"])
INTERCEPT = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
KERNELS = pytest.mark.parametrize("kernel", [Gaussian(1.3), Polynomial(2)], ids=["dual", "primal"])

SHARED = {
    "gaussian": (Gaussian(1.3), gp.RBF(1.3)),
    "matern": (Matern(1.5, 2.0), gp.Matern(2.0, nu=1.5)),
    "linear": (Linear(), gp.DotProduct(1e-20)),  # the primal
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("alpha", [0.05, 2.0])
def test_it_is_scikit_learn_s_gaussian_process(name, alpha):
    kernel, known = SHARED[name]
    model = KernelRidge(kernel, alpha=alpha, fit_intercept=False).fit(X, y)
    wanted = GaussianProcessRegressor(
        gp.ConstantKernel(model.variance_) * known, alpha=model.noise_, optimizer=None
    ).fit(X, y)
    for rows in (NEW, X):
        for found, there in zip(
            model.predict(rows, return_std=True), wanted.predict(rows, return_std=True), strict=True
        ):
            assert_allclose(found, there, rtol=1e-7, atol=1e-9)
    assert_allclose(model.log_marginal_likelihood(), wanted.log_marginal_likelihood(), rtol=1e-9)
    assert_allclose(model.noise_, alpha * model.variance_, rtol=1e-12)


def test_no_other_variance_is_likelier():
    model = KernelRidge(Gaussian(1.3), alpha=0.3, fit_intercept=False).fit(X, y)

    def likelihood(variance):
        there = GaussianProcessRegressor(
            gp.ConstantKernel(variance) * gp.RBF(1.3), alpha=0.3 * variance, optimizer=None
        )
        return there.fit(X, y).log_marginal_likelihood()

    at, near = likelihood(model.variance_), 1e-3
    assert_allclose(model.log_marginal_likelihood(), at, rtol=1e-10)
    slopes = [likelihood(model.variance_ * factor) - at for factor in (1 - near, 1 + near)]
    assert_allclose(slopes, -6 * near**2, rtol=1e-2)  # n / 4 times the square: the top, and no slope
    assert max(likelihood(model.variance_ * factor) for factor in (0.01, 0.5, 2.0, 100.0)) < at


@WEIGHTED
@INTERCEPT
@KERNELS
@pytest.mark.parametrize("alpha", [0.02, 3.0])
def test_deviations_are_those_of_kriging(kernel, alpha, intercept, weights):
    model = KernelRidge(kernel, alpha=alpha, fit_intercept=intercept).fit(X, Y, weights)
    units = deviations(kernel(X), kernel(NEW, X), kernel.diagonal(NEW), alpha, intercept, weights)
    means, found = model.predict(NEW, return_std=True)
    assert_array_equal(means, model.predict(NEW))
    assert_allclose(found, units[:, None] * np.sqrt(model.variance_), rtol=1e-7)


def test_an_intercept_has_a_flat_prior():
    """Kernels with a constant of a large variance come close: the limit is the model with an intercept."""
    model = KernelRidge(Gaussian(1.3), alpha=0.3).fit(X, y)
    for wide, close in ((1e3, 1e-2), (1e6, 1e-5)):
        K, across = Gaussian(1.3)(X) + wide, Gaussian(1.3)(NEW, X) + wide
        a, _ = saddle(K, y, 0.3, False)
        assert_allclose(model.predict(NEW), across @ a, rtol=close)
        units = deviations(K, across, np.full(11, 1 + wide), 0.3, False)
        assert_allclose(model.predict(NEW, return_std=True)[1], np.sqrt(model.variance_) * units, rtol=close)


@INTERCEPT
@KERNELS
@pytest.mark.parametrize("weights", [None, WHOLE], ids=["alike", "copies"])
@pytest.mark.parametrize("solver", [Cholesky(), Eigen()], ids=str)
def test_the_likelihood_counts_copies_and_spares_the_intercept(kernel, weights, intercept, solver):
    model = KernelRidge(kernel, alpha=0.4, fit_intercept=intercept, solver=solver).fit(X, Y, weights)
    wanted = np.array([process(kernel(X), column, 0.4, intercept, weights) for column in Y.T])
    assert_allclose(model.variance_, wanted[:, 0], rtol=1e-8)
    assert_allclose(model.log_marginal_likelihood(), wanted[:, 1], rtol=1e-8)


@INTERCEPT
@KERNELS
def test_the_likelihood_of_several_alphas(kernel, intercept):
    """One Cholesky factor knows one alpha; what the others need is found when it is asked for."""
    alphas = [0.1, 4.0]
    model = KernelRidge(kernel, alpha=alphas, fit_intercept=intercept).fit(X, Y)
    wanted = [process(kernel(X), Y[:, t], alphas[t], intercept) for t in range(2)]
    assert_allclose(model.log_marginal_likelihood(), [likelihood for _, likelihood in wanted], rtol=1e-8)
    units = [deviations(kernel(X), kernel(NEW, X), kernel.diagonal(NEW), alpha, intercept) for alpha in alphas]
    found = model.predict(NEW, return_std=True)[1]
    assert_allclose(found, np.transpose(units) * np.sqrt(model.variance_), rtol=1e-7)


@WEIGHTED
@INTERCEPT
@KERNELS
@pytest.mark.parametrize("alpha", [0.3, "auto"], ids=["given", "chosen"])
def test_leverages_are_the_diagonal_of_the_hat_matrix(kernel, alpha, intercept, weights):
    model = KernelRidge(kernel, alpha=alpha, fit_intercept=intercept).fit(X, y, weights)
    H = hat(kernel(X), model.alpha_, intercept, weights)
    assert_allclose(H @ y, model.predict(X), rtol=1e-8)
    s = np.ones(24) if weights is None else weights
    assert_allclose(model.leverage_, np.diag(H) / s, rtol=1e-7)
    assert_allclose(model.degrees_of_freedom_, np.trace(H), rtol=1e-8)
    assert intercept < model.degrees_of_freedom_ < 24


@KERNELS
def test_a_leverage_is_what_a_prediction_follows_its_own_y_by(kernel):
    model = KernelRidge(kernel, alpha=0.3).fit(X, y)
    for i in (0, 13):
        moved = y.copy()
        moved[i] += 0.5
        there = KernelRidge(kernel, alpha=0.3).fit(X, moved)
        assert_allclose((there.predict(X[[i]]) - model.predict(X[[i]])) / 0.5, model.leverage_[i], rtol=1e-8)


@KERNELS
def test_leverages_of_copies(kernel):
    """A row of weight 3 is three rows, each with its own y: one of them moves the prediction by a leverage."""
    model = KernelRidge(kernel, alpha=0.3).fit(X, y, WHOLE)
    copies = np.repeat(np.arange(24), WHOLE.astype(int))
    repeated = KernelRidge(kernel, alpha=0.3).fit(X[copies], y[copies])
    assert_allclose(model.leverage_[copies], repeated.leverage_, rtol=1e-8)
    assert_allclose(model.degrees_of_freedom_, repeated.degrees_of_freedom_, rtol=1e-9)


@INTERCEPT
def test_equal_rows_share_a_leverage_of_one_without_a_penalty(intercept):
    rows, targets = np.concatenate([X, X[:5]]), np.concatenate([y, y[:5] + 1])
    model = KernelRidge("matern(nu=0.5)", alpha=0.0, fit_intercept=intercept)
    with pytest.warns(NumericalWarning, match=r"A \+ alpha I is singular to rounding"):
        model.fit(rows, targets)
    wanted = np.where(np.isin(np.arange(29), [*range(5), *range(24, 29)]), 0.5, 1.0)
    assert_allclose(model.leverage_, wanted, rtol=1e-9)
    assert_allclose(model.degrees_of_freedom_, 24, rtol=1e-9)
    assert_allclose(model.predict(rows[:5]), y[:5] + 0.5, rtol=1e-9)


def test_rows_of_weight_zero_have_no_leverage():
    weights = FRACTIONS * (np.arange(24) % 4 > 0)
    model = KernelRidge(Gaussian(1.3), alpha=0.3).fit(X, Y, weights)
    kept = weights > 0
    assert (model.leverage_[~kept] == 0).all()
    assert (model.leverage_[kept] > 0).all()
    assert_allclose(model.degrees_of_freedom_, (weights[:, None] * model.leverage_).sum(axis=0), rtol=1e-12)
    units = deviations(Gaussian(1.3)(X[kept]), Gaussian(1.3)(NEW, X[kept]), np.ones(11), 0.3, True, weights[kept])
    assert_allclose(model.predict(NEW, return_std=True)[1], units[:, None] * np.sqrt(model.variance_), rtol=1e-8)


@INTERCEPT
def test_without_a_penalty_deviations_are_those_of_ordinary_least_squares(intercept):
    """noise_ x'(X'X)^-1 x, of a kernel whose variance has no limit: the data alone decides."""
    model = KernelRidge("linear", alpha=0.0, fit_intercept=intercept).fit(X, y)
    design, new = (np.column_stack([np.ones(len(rows)), rows])[:, 1 - intercept :] for rows in (X, NEW))
    residuals = y - LinearRegression(fit_intercept=intercept).fit(X, y).predict(X)
    assert_allclose(model.noise_, residuals @ residuals / (24 - intercept), rtol=1e-10)
    wanted = np.sqrt(model.noise_ * np.einsum("ij,jk,ik->i", new, np.linalg.inv(design.T @ design), new))
    assert_allclose(model.predict(NEW, return_std=True)[1], wanted, rtol=1e-9)
    assert_allclose(model.degrees_of_freedom_, 3 + intercept, rtol=1e-10)
    assert model.variance_ == np.inf
    assert model.log_marginal_likelihood() == -np.inf


def test_without_a_penalty_a_kernel_is_sure_of_its_rows():
    model = KernelRidge("matern(nu=0.5)", alpha=0.0).fit(X, y)
    assert model.noise_ == 0.0
    assert_allclose(model.predict(X, return_std=True)[1], 0.0, atol=1e-6)
    units = deviations(model.kernel_(X), model.kernel_(NEW, X), np.ones(11), 0.0, True)
    assert_allclose(model.predict(NEW, return_std=True)[1], np.sqrt(model.variance_) * units, rtol=1e-8)


@KERNELS
@pytest.mark.parametrize("value", [7.1, 0.3, 1e9 / 3])
def test_a_y_that_never_varies_leaves_no_variance(kernel, value):
    """What is left of it is rounding, of either sign."""
    model = KernelRidge(kernel, alpha=1.0).fit(X, np.full(24, value))
    means, found = model.predict(NEW, return_std=True)
    assert_allclose(means, value, rtol=1e-14)
    assert_allclose(found, 0.0, atol=1e-12 * value)
    assert model.log_marginal_likelihood() > 300


def test_the_answers_do_not_depend_on_the_solver():
    solvers = (Cholesky(), Eigen(), GradientDescent(max_iter=20_000, tol=1e-13, keep=False))
    for kernel in (Gaussian(1.3), 0.1 * Polynomial(2)):
        models = [KernelRidge(kernel, alpha=1.0, solver=solver).fit(X, y, FRACTIONS) for solver in solvers]
        for model in models[1:]:
            assert_allclose(
                model.predict(NEW, return_std=True)[1], models[0].predict(NEW, return_std=True)[1], rtol=1e-8
            )
            assert_allclose(model.log_marginal_likelihood(), models[0].log_marginal_likelihood(), rtol=1e-9)


def test_new_rows_are_taken_a_block_at_a_time(monkeypatch):
    from mercer.learners.data import views

    models = [KernelRidge(kernel, alpha=0.3).fit(X, y) for kernel in (Gaussian(1.3), PolynomialLift(2))]
    wanted = [model.predict(NEW, return_std=True) for model in models]
    monkeypatch.setattr(views, "BLOCK", 60)
    for model, pair in zip(models, wanted, strict=True):
        assert_allclose(model.predict(NEW, return_std=True), pair, rtol=1e-12)


@pytest.mark.parametrize("name", SHARED)
def test_covariances_are_scikit_learn_s(name):
    kernel, known = SHARED[name]
    model = KernelRidge(kernel, alpha=0.05, fit_intercept=False).fit(X, y)
    wanted = GaussianProcessRegressor(
        gp.ConstantKernel(model.variance_) * known, alpha=model.noise_, optimizer=None
    ).fit(X, y)
    pairs = zip(model.predict(NEW, return_cov=True), wanted.predict(NEW, return_cov=True), strict=True)
    for found, there in pairs:
        assert_allclose(found, there, rtol=1e-7, atol=1e-9)


@WEIGHTED
@INTERCEPT
@KERNELS
def test_the_diagonal_of_a_covariance_holds_the_squared_deviations(kernel, intercept, weights):
    model = KernelRidge(kernel, alpha=[0.02, 3.0], fit_intercept=intercept).fit(X, Y, weights)
    found = model.predict(NEW, return_cov=True)[1]
    assert found.shape == (11, 11, 2)
    assert_array_equal(found, found.transpose(1, 0, 2))
    assert_allclose(np.einsum("iit->it", found), model.predict(NEW, return_std=True)[1] ** 2, rtol=1e-9)
    for t in range(2):
        assert np.linalg.eigvalsh(found[:, :, t])[0] > -1e-12 * np.abs(found).max()


def test_draws_have_the_mean_and_the_covariance():
    model = KernelRidge(Gaussian(1.3), alpha=0.3).fit(X, Y)
    means, covariance = model.predict(NEW, return_cov=True)
    drawn = model.sample_y(NEW, 20_000, random_state=3)
    assert drawn.shape == (11, 2, 20_000)
    assert_allclose(drawn.mean(axis=2), means, atol=0.05 * np.sqrt(covariance.max()))
    assert_allclose(np.cov(drawn[:, 1]), covariance[:, :, 1], atol=0.05 * covariance.max())
    assert_allclose(np.corrcoef(drawn[0])[0, 1], 0.0, atol=0.03)  # outputs are drawn independently
    assert_array_equal(drawn, model.sample_y(NEW, 20_000, random_state=3))
    assert KernelRidge(Gaussian(1.3)).fit(X, y).sample_y(NEW).shape == (11, 1)


def test_covariances_that_cannot_be_had_are_refused():
    model = KernelRidge(Gaussian(1.3), alpha=0.3, memory_limit="100 MB").fit(X, y)
    with pytest.raises(InputError, match="at most one of return_std and return_cov"):
        model.predict(NEW, return_std=True, return_cov=True)
    with pytest.raises(BudgetError, match="a covariance of 3000 rows"):
        model.predict(np.zeros((3000, 3)), return_cov=True)
    with pytest.raises(InputError, match="precomputed"):
        KernelRidge("precomputed", alpha=1.0).fit(np.eye(4), np.arange(4.0)).sample_y(np.eye(4))
    with pytest.raises(ValueError, match="n_samples"):
        model.sample_y(NEW, 0)
