"""Kernel ridge regression against scikit-learn and dense equations: both sides, every solver, alpha and lengthscale."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from dense_models import draw, loo_error, saddle
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.utils.validation import NotFittedError

import mercer
from mercer import KernelRidge, KernelRidgeClassifier
from mercer.compute.codegen.tiles import mirror
from mercer.errors import InputError, NumericalWarning
from mercer.kernels import ExponentialChiSquared, Gaussian, Linear, Matern, Polynomial, ProductLaplace
from mercer.kernels.evaluation import plain
from mercer.learners.ridge import planning
from mercer.lifts import Nystrom, Powers, RadialBasis, RandomFourier, Trigonometric
from mercer.lifts import Polynomial as PolynomialLift
from mercer.planner.placement import place
from mercer.solvers import Cholesky, ConjugateGradient, Eigen, GradientDescent

X, Y = draw(24, 3, outputs=2)
y = Y[:, 0]
NEW = np.random.default_rng(9).normal(size=(11, 3))
WEIGHTS = np.random.default_rng(8).uniform(0.2, 3.0, 24)

SHARED = {
    "linear": (Linear(), {"kernel": "linear"}),
    "polynomial": (Polynomial(3, 0.7), {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 0.7}),
    "rbf": (Gaussian(1.3), {"kernel": "rbf", "gamma": 0.5 / 1.3**2}),
    "laplacian": (ProductLaplace(2.0), {"kernel": "laplacian", "gamma": 0.5}),
    "cosine": ("cosine", {"kernel": "cosine"}),
    "chi2": (ExponentialChiSquared(2.5), {"kernel": "chi2", "gamma": 0.4}),
}
"""Settings of both libraries that mean the same."""
ALPHAS = {"number": 0.3, "one per output": [0.02, 5.0]}


@pytest.fixture
def one_side(monkeypatch):
    """Makes every plan from now on one of the given side, whatever it costs."""

    def force(side):
        def other(task, backend, *settings):
            plan = place(task, backend, *settings)
            return next(way for way in (plan, *plan.others) if way.details.side == side and way.method == "direct")

        monkeypatch.setattr(planning, "place", other)

    return force


# -- scikit-learn's model -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("alpha", ALPHAS.values(), ids=ALPHAS)
@pytest.mark.parametrize("name", SHARED)
def test_predictions_are_those_of_scikit_learn(name, alpha, weights):
    kernel, settings = SHARED[name]
    rows, new = (np.abs(X), np.abs(NEW)) if name == "chi2" else (X, NEW)
    model = KernelRidge(kernel, alpha=alpha, fit_intercept=False).fit(rows, Y, sample_weight=weights)
    wanted = Reference(alpha=alpha, **settings).fit(rows, Y, sample_weight=weights)
    assert_allclose(model.predict(new), wanted.predict(new), rtol=1e-8, atol=1e-8)
    assert_allclose(model.predict(rows), wanted.predict(rows), rtol=1e-8, atol=1e-8)
    assert_allclose(model.dual_coef_, wanted.dual_coef_, rtol=1e-7, atol=1e-8)
    assert_array_equal(model.intercept_, [0.0, 0.0])
    assert_array_equal(model.alpha_, np.broadcast_to(alpha, 2))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_a_matrix_of_similarities_is_as_good_as_the_kernel(weights):
    K, across = Gaussian(1.3)(X), Gaussian(1.3)(NEW, X)
    model = KernelRidge("precomputed", alpha=0.3, fit_intercept=False).fit(K, Y, weights)
    wanted = Reference(alpha=0.3, kernel="precomputed").fit(K, Y, sample_weight=weights)
    assert_allclose(model.predict(across), wanted.predict(across), rtol=1e-8)
    assert model.kernel_ is None
    assert not hasattr(model, "coef_")
    both = [KernelRidge(k, alpha="auto").fit(data, Y, weights) for k, data in (("precomputed", K), (Gaussian(1.3), X))]
    assert_allclose(both[0].predict(across), both[1].predict(NEW), rtol=1e-9)
    assert_allclose(both[0].alpha_, both[1].alpha_, rtol=1e-12)
    with pytest.raises(InputError, match=r"needs k\(x, x\) of new rows for a standard deviation; the kernel is prec"):
        model.predict(across, return_std=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_similarities_of_new_rows_may_come_in_pieces(dtype, tmp_path):
    across = Gaussian(1.3)(NEW, X).astype(dtype)
    np.save(tmp_path / "across.npy", across)
    mapped = np.load(tmp_path / "across.npy", mmap_mode="r")
    for model in (KernelRidge("precomputed", alpha=0.3), KernelRidgeClassifier("precomputed", alpha=0.3)):
        model.fit(Gaussian(1.3)(X), y > y.mean())
        wanted = model.predict(across)
        for found in (model.predict(mapped), np.concatenate(list(model.predict_batches(across, 4)))):
            assert found.dtype == wanted.dtype
            assert_array_equal(found, wanted)
        with pytest.raises(InputError, match="needs a dense table; got a sparse"):
            list(model.predict_batches(sp.csr_array(across)))


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["linear", "polynomial", "rbf", "cosine"])
def test_sparse_tables_give_the_same_model(name, form):
    kernel, settings = SHARED[name]
    rows, new = np.where(np.abs(X) > 0.8, X, 0.0) + np.eye(24, 3), np.where(np.abs(NEW) > 0.5, NEW, 0.0)
    model = KernelRidge(kernel, alpha=0.3, fit_intercept=False).fit(form(rows), y)
    wanted = Reference(alpha=0.3, **settings).fit(rows, y)
    assert_allclose(model.predict(form(new)), wanted.predict(new), rtol=1e-8, atol=1e-9)
    assert_allclose(model.predict(new), wanted.predict(new), rtol=1e-8, atol=1e-9)
    assert sp.issparse(model.X_fit_)
    if name == "linear":
        assert_allclose(model.coef_, rows.T @ model.dual_coef_, rtol=1e-12)
    else:
        with pytest.raises(AttributeError, match="the rows are sparse; give a lift instead"):
            _ = model.coef_
    chosen = [KernelRidge(kernel).fit(data, y).predict(new) for data in (form(rows), rows)]
    assert_allclose(*chosen, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_float32_comes_back_for_float32_and_is_computed_in_float64(name):
    kernel, settings = SHARED[name]
    narrow, new = X.astype(np.float32), NEW.astype(np.float32)
    wide = Reference(alpha=0.3, **settings).fit(narrow.astype(float), y).predict(new.astype(float))
    model = KernelRidge(kernel, alpha=0.3, fit_intercept=False).fit(narrow, y.astype(np.float32))
    found, deviation = model.predict(new, return_std=True)
    assert found.dtype == deviation.dtype == np.float32
    assert_allclose(found, wide, rtol=1e-6, atol=1e-6)
    exact = KernelRidge(kernel, alpha=0.3, fit_intercept=False).fit(narrow, y)  # y in float64
    assert exact.predict(new.astype(float)).dtype == np.float64
    assert_allclose(exact.predict(new.astype(float)), wide, rtol=1e-9, atol=1e-10)


def test_shapes_follow_y():
    flat, column, several = (KernelRidge(alpha=1.0).fit(X, some) for some in (y, y[:, None], Y))
    assert flat.predict(NEW).shape == (11,)
    assert column.predict(NEW).shape == (11, 1)
    assert several.predict(NEW).shape == (11, 2)
    assert_allclose(several.predict(NEW)[:, 0], flat.predict(NEW), rtol=1e-12)
    assert isinstance(flat.alpha_, float)
    assert isinstance(flat.intercept_, float)
    assert flat.dual_coef_.shape == (24,)
    assert several.alpha_.shape == several.intercept_.shape == several.variance_.shape == (2,)
    assert several.dual_coef_.shape == several.leverage_.shape == (24, 2)
    assert several.degrees_of_freedom_.shape == several.log_marginal_likelihood().shape == (2,)
    deviations = several.predict(NEW, return_std=True)[1]
    assert deviations.shape == (11, 2)
    assert_allclose(deviations[:, 0], flat.predict(NEW, return_std=True)[1], rtol=1e-10)
    assert several.score(NEW, np.ones((11, 2))) == r2_score(np.ones((11, 2)), several.predict(NEW))


def test_a_model_that_is_not_fitted_says_so():
    model = KernelRidge()
    for ask in (model.predict, lambda rows: model.dual_coef_, lambda rows: model.coef_, lambda rows: model.leverage_):
        with pytest.raises(NotFittedError):
            ask(NEW)


# -- the intercept --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [Cholesky(), Eigen()], ids=str)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("kernel", [Gaussian(1.3), Polynomial(2), "linear", "matern(nu=0.5)"], ids=str)
def test_the_intercept_solves_the_saddle_point_equations(kernel, weights, solver):
    model = KernelRidge(kernel, alpha=0.3, solver=solver).fit(X, Y, weights)
    K, across = model.kernel_(X), model.kernel_(NEW, X)
    for t in range(2):
        a, b = saddle(K, Y[:, t], 0.3, True, weights)
        assert_allclose(model.dual_coef_[:, t], a, rtol=1e-8, atol=1e-10)
        assert_allclose(model.intercept_[t], b, rtol=1e-8)
        assert_allclose(model.predict(NEW)[:, t], across @ a + b, rtol=1e-9)
    assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-11)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_linear_kernels_are_scikit_learn_s_ridge_regression(weights):
    for rows in (X, X[:3]):  # primal and dual
        n = len(rows)
        s = None if weights is None else weights[:n]
        model = KernelRidge("linear", alpha=0.3).fit(rows, Y[:n], s)
        wanted = Ridge(0.3, solver="svd").fit(rows, Y[:n], s)
        assert_allclose(model.predict(NEW), wanted.predict(NEW), rtol=1e-9)
        assert_allclose(model.coef_, wanted.coef_, rtol=1e-8, atol=1e-10)
        assert_allclose(model.intercept_, wanted.intercept_, rtol=1e-9)


LIFTS = {
    "polynomial": PolynomialLift(2),
    "powers": Powers(3),
    "trigonometric": Trigonometric(1, 7.0),
    "radial basis": RadialBasis(n_components=5, lengthscale=1.0, random_state=0),
    "waves": RandomFourier(Gaussian(1.0), n_components=6, random_state=0),
    "landmarks": Nystrom(Gaussian(1.0), n_components=5, random_state=0),
    "sum": PolynomialLift(1) + 0.5 * Trigonometric(1, 5.0),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("name", LIFTS)
def test_a_lift_is_ridge_regression_on_its_features(name, weights):
    lift = LIFTS[name]
    model = KernelRidge(lift, alpha=0.2).fit(X, Y, weights)
    phi = clone(lift).fit(X)
    wanted = Ridge(0.2, solver="svd").fit(phi.transform(X), Y, weights)
    assert_allclose(model.predict(NEW), wanted.predict(phi.transform(NEW)), rtol=1e-8)
    assert_allclose(model.coef_, wanted.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(model.intercept_, wanted.intercept_, rtol=1e-7)
    assert_allclose(model.lift_.transform(NEW), phi.transform(NEW), rtol=1e-12)
    assert not hasattr(lift, "n_features_in_")  # the one that was given is not fitted
    assert model.plan_.n_features == phi.transform(X).shape[1]


def test_without_a_penalty_a_lift_is_ordinary_least_squares():
    model, wanted = KernelRidge("linear", alpha=0.0).fit(X, Y), LinearRegression().fit(X, Y)
    assert_allclose(model.predict(NEW), wanted.predict(NEW), rtol=1e-10)
    assert_allclose(model.coef_, wanted.coef_, rtol=1e-9, atol=1e-10)
    with pytest.raises(AttributeError, match="in the primal with alpha = 0"):
        _ = model.dual_coef_


def test_without_a_penalty_a_kernel_interpolates():
    model = KernelRidge("matern(nu=0.5)", alpha=0.0).fit(X, Y)
    assert_allclose(model.predict(X), Y, rtol=1e-11)
    assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-10)


# -- both sides are one model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.05, [0.02, 5.0], "auto"], ids=str)
@pytest.mark.parametrize("kernel", [Polynomial(2), PolynomialLift(2), Trigonometric(1, 6.0)], ids=repr)
def test_the_primal_is_the_dual(kernel, alpha, intercept, weights, one_side):
    models = []
    for side in ("primal", "dual"):
        one_side(side)
        models.append(KernelRidge(kernel, alpha=alpha, fit_intercept=intercept).fit(X, Y, weights))
        assert models[-1].plan_.details.side == side
    primal, dual = models
    assert_allclose(primal.alpha_, dual.alpha_, rtol=1e-12)
    assert_allclose(primal.predict(NEW), dual.predict(NEW), rtol=1e-8, atol=1e-8)
    assert_allclose(primal.dual_coef_, dual.dual_coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(primal.coef_, dual.coef_, rtol=1e-6, atol=1e-8)
    for name in ("intercept_", "variance_", "noise_", "degrees_of_freedom_"):
        assert_allclose(getattr(primal, name), getattr(dual, name), rtol=1e-7, atol=1e-9, err_msg=name)
    assert_allclose(primal.leverage_, dual.leverage_, rtol=1e-7)
    assert_allclose(*(model.predict(NEW, return_std=True)[1] for model in models), rtol=1e-7)
    assert_allclose(primal.log_marginal_likelihood(), dual.log_marginal_likelihood(), rtol=1e-9)
    if alpha == "auto":
        scale = dual.loo_.errors[-1]
        assert_allclose(primal.loo_.errors[8:] / scale, dual.loo_.errors[8:] / scale, rtol=1e-6)
    for model in models:
        phi = mercer.lift(kernel, 3) if isinstance(kernel, Polynomial) else clone(kernel).fit(X)
        assert_allclose(model.coef_.T, phi.transform(X).T @ model.dual_coef_, rtol=1e-7, atol=1e-8)
        assert_allclose(model.predict(NEW), phi.transform(NEW) @ model.coef_.T + model.intercept_, rtol=1e-8, atol=1e-8)


def test_size_decides_the_side_and_the_plan_says_so():
    few, many = (KernelRidge("polynomial(degree=2)", alpha=0.1).fit(X[:n], y[:n]) for n in (4, 24))
    assert (few.plan_.details.side, many.plan_.details.side) == ("dual", "primal")
    assert "The lift has 10 features, which is no cheaper than 4 rows." in str(few.plan_)
    assert "The lift has 10 features, and there are 24 rows." in str(many.plan_)
    assert str(many.plan_).startswith("least squares on 24 rows x 3 columns, 1 output: direct, 10 features, Cholesky\n")
    assert many.plan_.n_features == 10
    assert few.coef_.shape == many.coef_.shape == (10,)
    endless = KernelRidge(Gaussian(1.0), alpha=0.1).fit(X, y)
    assert "This kernel has no finite feature map that is known." in str(endless.plan_)
    assert not hasattr(endless, "coef_")
    with pytest.raises(AttributeError, match="coef_: the kernel has no finite lift that is known"):
        _ = endless.coef_


def test_a_lift_and_its_kernel_are_one_model():
    for n in (4, 24):
        one, other = (KernelRidge(k, alpha=0.1).fit(X[:n], y[:n]) for k in (PolynomialLift(2), Polynomial(2)))
        assert_allclose(one.predict(NEW), other.predict(NEW), rtol=1e-9)
        assert_allclose(one.dual_coef_, other.dual_coef_, rtol=1e-7, atol=1e-9)
        assert one.kernel_ == other.kernel_


@pytest.mark.parametrize("rows", [3, 24], ids=["dual", "primal"])
def test_features_that_say_the_same_count_once(rows):
    """The number of features is bounded before they are built: 9 here, of which 5 differ."""
    kernel = mercer.parse("polynomial(degree=2).on([0]) * polynomial(degree=2).on([0])")
    model = KernelRidge(kernel, alpha=1.0).fit(X[:rows], y[:rows])
    phi = mercer.lift(kernel, 3)
    assert model.plan_.details.side == ("dual" if rows == 3 else "primal")
    assert model.coef_.shape == (5,)
    assert_allclose(model.predict(NEW), phi.transform(NEW) @ model.coef_ + model.intercept_, rtol=1e-9)


def test_nothing_of_an_earlier_fit_is_left():
    model = KernelRidge("polynomial(degree=3)", alpha=1.0)
    for part in (slice(0, 5), slice(5, 11)):
        model.fit(X[part], y[part])
        fresh = clone(model).fit(X[part], y[part])
        assert model.plan_.details.side == "dual"
        assert_array_equal(model.coef_, fresh.coef_)
        assert_array_equal(model.leverage_, fresh.leverage_)
        assert_array_equal(model.predict(NEW, return_std=True), fresh.predict(NEW, return_std=True))
        assert model.log_marginal_likelihood() == fresh.log_marginal_likelihood()


# -- what is chosen -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), "linear"], ids=["dual", "primal"])
def test_alpha_is_that_of_least_leave_one_out_error(kernel, intercept, weights):
    model = KernelRidge(kernel, fit_intercept=intercept).fit(X, Y, weights)
    alphas, K = model.loo_.alphas, model.kernel_(X)
    assert alphas.shape == (45,)
    assert_allclose(alphas[-1] / alphas[0], 1e11)
    brute = np.array([loo_error(K, Y, alpha, intercept, weights) for alpha in alphas[10:]])
    assert_allclose(model.loo_.errors[10:], brute, rtol=1e-6)
    assert_allclose(model.alpha_, alphas[10:][brute.argmin(axis=0)], rtol=1e-12)
    given = KernelRidge(kernel, alpha=model.alpha_, fit_intercept=intercept).fit(X, Y, weights)
    assert given.loo_ is None
    assert_allclose(given.predict(NEW), model.predict(NEW), rtol=1e-8)


def test_the_range_of_candidates_is_that_of_the_spectrum():
    model = KernelRidge(Gaussian(1.3)).fit(X, y)
    P = np.eye(24) - 1 / 24
    largest = np.linalg.eigvalsh(P @ Gaussian(1.3)(X) @ P)[-1]
    assert_allclose(model.loo_.alphas[[0, -1]], [1e-10 * largest, 10 * largest], rtol=1e-10)


def test_candidates_are_judged_for_each_output_alone():
    noise = np.random.default_rng(3).normal(size=24)
    targets = np.column_stack([np.sin(X[:, 0]), noise, np.sin(X[:, 0]) + 0.3 * noise])
    candidates = [10.0, 1e-3, 0.1, 1.0]
    model = KernelRidge(Gaussian(1.3), alpha=candidates, fit_intercept=False).fit(X, targets)
    K = Gaussian(1.3)(X)
    folds = {"kernel": "precomputed"}
    brute = [
        ((cross_val_predict(Reference(alpha, **folds), K, targets, cv=LeaveOneOut()) - targets) ** 2).mean(axis=0)
        for alpha in candidates
    ]
    wanted = np.array(candidates)[np.argmin(brute, axis=0)]
    assert len(set(wanted)) > 1
    assert_array_equal(model.alpha_, wanted)
    assert_array_equal(model.loo_.alphas, sorted(candidates))
    assert_allclose(model.loo_.errors, np.array(brute)[np.argsort(candidates)], rtol=1e-9)


def test_as_many_alphas_as_outputs_are_one_an_output():
    """Two numbers are candidates for one output, and for three; for two columns each has its own."""
    K = Gaussian(1.3)(X)
    two = KernelRidge(Gaussian(1.3), alpha=[0.1, 2.0])
    assert_array_equal(two.fit(X, Y).alpha_, [0.1, 2.0])
    assert two.loo_ is None
    flat = two.fit(X, y)
    assert flat.alpha_ == min([0.1, 2.0], key=lambda alpha: loo_error(K, y, alpha, True))
    assert flat.loo_.errors.shape == (2, 1)
    assert two.fit(X, np.column_stack([Y, y])).loo_.errors.shape == (2, 3)
    assert KernelRidge(alpha=[0.7]).fit(X, Y).alpha_.tolist() == [0.7, 0.7]


STRETCHES = 2.0 ** np.arange(-4, 3)


@pytest.mark.parametrize("weights", [None, np.repeat([1.0, 2.0, 0.5], 8)], ids=["alike", "weighted"])
@pytest.mark.parametrize("alpha", ["auto", 0.1], ids=str)
@pytest.mark.parametrize("kernel", ["gaussian(lengthscale='median')", "matern(nu=1.5, lengthscale=3.0)"])
def test_lengthscales_by_leave_one_out_are_the_best_of_seven(kernel, alpha, weights):
    """Open lengthscales are stretches of the median distance; where all are stated, of what they are."""
    model = KernelRidge(kernel, alpha=alpha, lengthscale="loo").fit(X, y, weights)
    middle = mercer.parse(kernel).resolve(X, weights).lengthscale
    best = (np.inf, None, None)
    for stretch in STRETCHES:
        tried = mercer.parse(kernel).with_parameters({"lengthscale": stretch * middle})
        alphas = KernelRidge(tried).fit(X, y, weights).loo_.alphas if alpha == "auto" else [alpha]
        errors = [(loo_error(tried(X), y, a, True, weights), a, tried) for a in alphas[-35:]]
        best = min([best, *errors], key=lambda found: found[0])
    assert best[2].lengthscale / middle not in STRETCHES[[0, -1]]
    assert str(model.kernel_) == str(best[2])
    assert_allclose(model.alpha_, best[1], rtol=1e-10)
    assert_allclose(model.loo_.errors.min(), best[0], rtol=1e-7)
    assert model.plan_.details.solver == Eigen()


def test_lengthscales_of_several_outputs_count_alike():
    """What counts is the sum over the outputs of the error relative to the variance: units do not matter."""
    scaled = Y * [1e-6, 1e6]
    one, other = (KernelRidge("gaussian(lengthscale='median')", lengthscale="loo").fit(X, some) for some in (Y, scaled))
    assert str(one.kernel_) == str(other.kernel_)
    median = mercer.parse("gaussian(lengthscale='median')").resolve(X).lengthscale
    sums = []
    for stretch in STRETCHES:
        path = KernelRidge(Gaussian(stretch * median)).fit(X, Y).loo_
        sums.append((path.errors.min(axis=0) / Y.var(axis=0)).sum())
    assert_allclose(one.kernel_.lengthscale, STRETCHES[np.argmin(sums)] * median, rtol=1e-12)


def test_a_number_for_open_lengthscales():
    kernel = "gaussian(lengthscale='median') + 0.5 * laplace(lengthscale=3.0)"
    model = KernelRidge(kernel, alpha=0.1, lengthscale=0.7).fit(X, y)
    assert str(model.kernel_) == str(mercer.parse("gaussian(lengthscale=0.7) + 0.5 * laplace(lengthscale=3.0)"))
    wanted = KernelRidge(model.kernel_, alpha=0.1).fit(X, y)
    assert_array_equal(model.predict(NEW), wanted.predict(NEW))


def test_the_default_kernel_has_the_median_distance():
    from scipy.spatial.distance import pdist

    model = KernelRidge(alpha=0.1).fit(X, y)
    assert model.kernel_ == Matern(2.5, np.median(pdist(X)))
    a, b = saddle(model.kernel_(X), y, 0.1, True)
    assert_allclose(model.predict(NEW), model.kernel_(NEW, X) @ a + b, rtol=1e-9)


# -- solvers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_every_solver_gives_the_same_model(side, one_side):
    one_side(side)
    solvers = (Cholesky(), Eigen(), GradientDescent(max_iter=20_000, tol=1e-12, keep=False))
    kernel = 0.1 * Polynomial(2)
    models = [KernelRidge(kernel, alpha=3.0, solver=solver).fit(X, Y, WEIGHTS) for solver in solvers]
    assert [model.plan_.details.solver for model in models] == list(solvers)
    for model in models[1:]:
        assert_allclose(model.predict(NEW), models[0].predict(NEW), rtol=1e-9)
        assert_allclose(model.coef_, models[0].coef_, rtol=1e-7, atol=1e-10)
        assert_allclose(model.dual_coef_, models[0].dual_coef_, rtol=1e-7, atol=1e-9)
        assert_allclose(model.log_marginal_likelihood(), models[0].log_marginal_likelihood(), rtol=1e-9)
        assert_allclose(model.leverage_, models[0].leverage_, rtol=1e-8)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_a_descent_keeps_its_history(side, one_side):
    """The loss is the one that is minimised: at each step it is that of the coefficients there."""
    one_side(side)
    kernel, alpha = 0.2 * Polynomial(2), 1.0
    model = KernelRidge(kernel, alpha=alpha, solver=GradientDescent()).fit(X, y, WEIGHTS)
    history, K, b = model.outcome_.history, kernel(X), y - np.average(y, weights=WEIGHTS)
    center = np.eye(24) - np.outer(np.ones(24), WEIGHTS / WEIGHTS.sum())
    phi = center @ mercer.lift(kernel, 3).transform(X)[:, 1:]  # the constant one is left to the intercept
    assert len(history.coefficients) == len(history.losses) == model.outcome_.iterations + 1 > 10
    assert (np.diff(history.losses[:20, 0]) < 0).all()
    for x, loss in zip(history.coefficients[:10, :, 0], history.losses[:10, 0], strict=True):
        if side == "primal":
            fitted, size = phi @ x, x @ x
        else:
            a = np.sqrt(WEIGHTS) * x
            fitted, size = center @ K @ a, a @ K @ a
            assert_allclose(a.sum(), 0.0, atol=1e-12)
        assert_allclose(loss, WEIGHTS @ (b - fitted) ** 2 + alpha * size, rtol=1e-10)


def test_a_constant_feature_is_left_to_the_intercept():
    """Without a penalty its weight is not determined: that is no reason to warn."""
    model = KernelRidge(Polynomial(2), alpha=0.0).fit(X, y)
    columns = mercer.lift(Polynomial(2), 3).transform(X)
    wanted = np.linalg.lstsq(columns, y, rcond=None)[0]
    assert model.plan_.details.side == "primal"
    assert model.coef_[0] == 0.0
    assert_allclose(model.predict(X), columns @ wanted, rtol=1e-10)
    assert model.converged_


def test_both_descents_pass_through_the_same_models(one_side):
    kernel, found = 0.2 * Polynomial(2), []
    for side in ("primal", "dual"):
        one_side(side)
        with pytest.warns(NumericalWarning, match="After 5 steps"):
            found.append(KernelRidge(kernel, alpha=1.0, solver=GradientDescent(max_iter=5)).fit(X, y))
    assert_allclose(found[0].outcome_.history.step, found[1].outcome_.history.step, rtol=1e-6)
    assert_allclose(found[0].predict(NEW), found[1].predict(NEW), rtol=1e-5)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_a_descent_that_has_not_arrived_warns_and_predicts(side, one_side):
    one_side(side)
    model = KernelRidge(Polynomial(2), alpha=1e-3, solver=GradientDescent(max_iter=3))
    with pytest.warns(NumericalWarning, match=r"KernelRidge: After 3 steps the residual is .* \(the condition number"):
        model.fit(X, y)
    assert not model.converged_
    assert model.residual_ > 1e-8
    assert model.rounding_ == np.inf
    assert 0 < model.score(X, y) < 1


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_held_out_rows_stop_a_descent(side, weights, one_side):
    one_side(side)
    noisy = y + 2 * np.random.default_rng(1).normal(size=24)
    solver = GradientDescent(max_iter=3000, validation=0.25, patience=5, step=0.001)
    model = KernelRidge(Polynomial(2), alpha=1e-6, solver=solver).fit(X, noisy, weights)
    losses = model.outcome_.history.validation[:, 0]
    assert model.converged_
    assert "Early stopping" in model.outcome_.reason
    assert model.outcome_.iterations == len(losses) - 1 == losses.argmin() + 5
    held = np.flatnonzero(model.dual_coef_ == 0)
    assert len(held) == 6
    error = np.average((model.predict(X[held]) - noisy[held]) ** 2, weights=None if weights is None else weights[held])
    assert_allclose(error, losses.min(), rtol=1e-9)


def test_held_out_rows_of_a_matrix():
    K, solver = Gaussian(1.3)(X), GradientDescent(validation=0.25, patience=3)
    found = []
    for kernel, rows in ((Gaussian(1.3), X), ("precomputed", K)):
        model = KernelRidge(kernel, alpha=0.1, solver=solver).fit(rows, y)
        found.append(model.predict(rows))
    assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize("solver", [Cholesky(), Eigen(), GradientDescent(tol=1e-3)], ids=str)
@pytest.mark.parametrize("kernel", [Gaussian(1.3), Polynomial(2)], ids=["dual", "primal"])
def test_the_truth_about_a_fit_can_be_computed_again(kernel, solver):
    alpha, model = 2.0, KernelRidge(kernel, alpha=2.0, solver=solver)
    if isinstance(solver, GradientDescent):
        with pytest.warns(
            NumericalWarning, match=r"the residual of \d\.\de-0\d may have moved .* smaller tol of the solver"
        ):
            model.fit(X, y, WEIGHTS)
    else:
        model.fit(X, y, WEIGHTS)
    D, u = np.diag(np.sqrt(WEIGHTS)), np.sqrt(WEIGHTS / WEIGHTS.sum())
    P = np.eye(24) - np.outer(u, u)
    if model.plan_.details.side == "primal":
        Z = P @ D @ mercer.lift(kernel, 3).transform(X)[:, 1:]  # the constant one is left to the intercept
        A, b = Z.T @ Z, Z.T @ P @ D @ y
    else:
        A = P @ D @ kernel(X) @ D @ P
        A, b = A + np.diag(A).mean() * np.outer(u, u), P @ D @ y
    x = model.outcome_.value[:, 0]
    residual = np.linalg.norm(b - A @ x - alpha * x) / np.linalg.norm(b)
    assert_allclose(model.residual_, residual, rtol=1e-6, atol=1e-13)
    condition = np.linalg.cond(A + alpha * np.eye(len(A)))
    if isinstance(solver, GradientDescent):
        assert 0.999 * condition <= model.condition_ <= 1.001 * (np.linalg.norm(A, 2) + alpha) / alpha  # a bound
        assert 1e-8 < model.residual_ <= 1e-3
    else:
        assert condition / 3 < model.condition_ < 24 * condition  # estimated, in another norm
        assert model.residual_ < 1e-13
    assert model.converged_
    assert model.outcome_.decomposition is None


def test_ill_conditioned_fits_warn_with_the_condition_number():
    near = np.concatenate([X, X + 1e-9])
    twice = np.concatenate([y, y + 1.0])
    with pytest.warns(NumericalWarning, match=r"KernelRidge: the condition number is \d\.\de\+\d+, and rounding may"):
        model = KernelRidge(Gaussian(1.3), alpha=1e-12).fit(near, twice)
    assert model.condition_ > 1e10
    assert model.rounding_ > 1e-6
    fine = KernelRidge(Gaussian(1.3)).fit(near, twice)  # no warning: alpha="auto" stays clear of it
    assert fine.rounding_ < 1e-6


# -- size -----------------------------------------------------------------------------------------------------------


@pytest.mark.cores("weighs matrices in this process: on a card there are none")
@pytest.mark.parametrize(("alpha", "matrices"), [(1.0, 1), ("auto", 3)], ids=["given", "chosen"])
def test_a_fit_holds_one_matrix_or_three(alpha, matrices, monkeypatch):
    """And some hundred rows of it: at 10,000 rows, 1.04 n^2 numbers for a given alpha.

    Blocks of plain NumPy are made as small against 1,000 rows as they are against 10,000.
    """
    monkeypatch.setattr(plain, "BLOCK_PAIRS", 1 << 13)
    monkeypatch.setattr(plain, "mirror", lambda matrix: mirror(matrix, 64))
    n = 1000
    rows = np.random.default_rng(0).normal(size=(n, 3))
    model = KernelRidge(Gaussian(1.0), alpha=alpha)
    model.fit(rows, np.sin(rows[:, 0]))  # a first fit compiles, which takes memory of its own
    tracemalloc.start()
    try:
        model.fit(rows, np.sin(rows[:, 0]))
        peak = tracemalloc.get_traced_memory()[1] / 8
    finally:
        tracemalloc.stop()
    assert matrices * n**2 < peak < matrices * n**2 + 400 * n
    assert matrices * n**2 < model.plan_.bytes / 8 < peak


def test_a_saved_model_holds_no_matrix():
    n = 120
    rows = np.random.default_rng(0).normal(size=(n, 2))
    for settings in ({"alpha": 1.0}, {}, {"kernel": PolynomialLift(2), "alpha": 1.0}):
        model = KernelRidge(**settings).fit(rows, rows[:, 0])
        wanted = model.predict(rows[:5], return_std=True)
        assert model.leverage_.sum() > 1
        saved = pickle.dumps(model)
        assert len(saved) < 8 * n * 20
        loaded = pickle.loads(saved)  # noqa: S301
        assert_allclose(loaded.predict(rows[:5], return_std=True), wanted, rtol=1e-9)
        assert_array_equal(loaded.dual_coef_, model.dual_coef_)
        assert str(loaded.plan_) == str(model.plan_)


@pytest.mark.parametrize("kernel", ["0 * linear", "0 * polynomial(degree=2)", "0 * gaussian(1.0)"])
@pytest.mark.parametrize("solver", ["auto", Cholesky(), ConjugateGradient()])
def test_a_kernel_that_is_zero_everywhere_leaves_the_mean(kernel, solver):
    rows = np.random.default_rng(0).normal(size=(12, 2))
    model = KernelRidge(kernel, alpha=1.0, solver=solver).fit(rows, rows[:, 0])
    assert_allclose(model.predict(rows), rows[:, 0].mean(), rtol=1e-12)
    assert_allclose(KernelRidge(kernel).fit(rows, rows[:, 0]).predict(rows), rows[:, 0].mean(), rtol=1e-12)


def test_a_random_state_that_cannot_seed_is_refused_where_nothing_is_drawn():
    """And one that can is drawn from once per fit, whatever the plan."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelRidge(Gaussian(1.0), alpha=1.0, random_state="tomorrow")
    with pytest.raises(ValueError, match=r"'tomorrow' cannot be used to seed"):
        model.fit(rows, rows[:, 0])
    source = np.random.RandomState(0)
    model.set_params(random_state=source).fit(rows, rows[:, 0])
    assert source.randint(2**31) != np.random.RandomState(0).randint(2**31)
