"""Closed-form k-fold against models that are fitted again, and against scikit-learn's own search."""

import numpy as np
import pytest
from refits import WEIGHTS, draw, dual, predict_precisely, primal, without_folds
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict

from mercer.errors import InputError, NumericalWarning
from mercer.kernels import Gaussian
from mercer.tuning import kfold_path
from mercer.tuning.folds import folds_of

X, K, Y = draw()
FOLDS = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 0, 0, 1])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", WEIGHTS)
def test_dual_equals_refits(name, intercept):
    s = WEIGHTS[name]
    alphas = [0.0, 1e-10, 1e-4, 0.3, 1e3]
    found = dual(K, Y, s, intercept).left_out_folds(alphas, FOLDS)
    for alpha, errors in zip(alphas, found, strict=True):
        np.testing.assert_allclose(errors, without_folds(K, Y, s, alpha, intercept, FOLDS), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("features", [2, 9])
def test_primal_equals_dual_and_refits(name, intercept, features):
    """Folds of 7, 4 and 3 rows: with more rows than features, and with fewer."""
    s = WEIGHTS[name]
    Phi = np.random.default_rng(features).normal(size=(14, features)) + 2
    alphas = np.array([1e-3, 1.0, 50.0])
    one, other = primal(Phi, Y, s, intercept), dual(Phi @ Phi.T, Y, s, intercept)
    found = one.left_out_folds(alphas, FOLDS)
    np.testing.assert_allclose(found, other.left_out_folds(alphas, FOLDS), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(one.fold_errors(alphas, FOLDS), other.fold_errors(alphas, FOLDS), rtol=1e-7)
    wanted = without_folds(Phi @ Phi.T, Y, s, 1.0, intercept, FOLDS)
    np.testing.assert_allclose(found[1], wanted, rtol=1e-8, atol=1e-8)
    errors = np.einsum("i,aio->ao", s, found**2) / s.sum()
    np.testing.assert_allclose(one.fold_errors(alphas, FOLDS), errors, rtol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_folds_of_one_row_leave_the_whole_row_out(intercept):
    s = WEIGHTS["below one"]
    alphas = [0.0, 1e-3, 1.0]
    np.testing.assert_allclose(
        dual(K, Y, s, intercept).left_out_folds(alphas, np.arange(14)),
        dual(K, Y, s, intercept).left_out(alphas),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        primal(X, Y, s, intercept).left_out_folds(alphas, np.arange(14)),
        primal(X, Y, s, intercept).left_out(alphas),
        rtol=1e-9,
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_singular_matrices_without_a_penalty_have_the_limit(intercept):
    """Duplicates in one fold, and across folds; one row that the rest does not reach."""
    rows = np.array([0, 1, 2, 3, 4, 5, 0, 0, 1])
    folds = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2])
    K9, Y9, ones = K[np.ix_(rows, rows)], Y[rows, :1] + 0.1 * np.arange(9)[:, None], np.ones(9)
    found = dual(K9, Y9, ones, intercept).left_out_folds(0.0, folds)[0]
    wanted = without_folds(K9, Y9, ones, 0.0, intercept, folds, predict_precisely)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    few = np.round(4 * X[:9])  # integers have exact products
    linear = few @ few.T  # of rank 2: ordinary least squares, in the primal as well
    found = dual(linear, Y9, ones, intercept).left_out_folds(0.0, folds)[0]
    wanted = without_folds(linear, Y9, ones, 0.0, intercept, folds, predict_precisely)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    np.testing.assert_allclose(primal(few, Y9, ones, intercept).left_out_folds(0.0, folds)[0], wanted, rtol=1e-9)


def test_a_fold_that_only_itself_explains_has_no_left_out_prediction():
    Phi = np.column_stack([X, FOLDS == 2]).astype(float)
    for extra in (0, 12):  # folds of more rows than features, and of fewer
        wide = np.column_stack([Phi, 1e-3 * np.random.default_rng(0).normal(size=(14, extra))])
        at = primal(wide[:, :3] if extra == 0 else wide, Y, np.ones(14), False)
        errors = at.left_out_folds([0.0, 1.0], FOLDS)
        assert np.isposinf(errors[0, FOLDS == 2]).all()
        assert np.isfinite(errors[1]).all()
        assert np.isposinf(at.fold_errors([0.0], FOLDS)).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("extra", [0, 5])
def test_rounding_of_eigenvalues_is_no_prediction_either(seed, extra):
    """Features of very different lengths, mixed: what is left over of a fold that only itself explains is rounding."""
    random = np.random.default_rng(seed)
    Phi = np.column_stack([1e5 * X[:, 0], X[:, 1], FOLDS == 2, random.normal(size=(14, extra))])
    mixed = Phi @ np.linalg.qr(random.normal(size=(3 + extra, 3 + extra)))[0]
    assert np.isposinf(primal(mixed, Y, np.ones(14), False).left_out_folds(0.0, FOLDS)[0, FOLDS == 2]).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_ill_conditioned_matrices_to_the_last_reachable_digit(intercept):
    x = np.linspace(0, 1, 10)[:, None]
    K = Gaussian(1.0)(x)
    Y = np.exp(x) + 0.1 * np.random.default_rng(1).normal(size=(10, 1))
    folds = np.arange(10) % 5
    alpha = 1e-10 * np.linalg.eigvalsh(K)[-1]
    found = dual(K, Y, np.ones(10), intercept).left_out_folds(alpha, folds)[0]
    wanted = without_folds(K, Y, np.ones(10), alpha, intercept, folds, predict_precisely)
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


# -- the public door --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 5, 14])
def test_successive_folds_are_those_of_scikit_learn(count):
    wanted = np.empty(14, dtype=int)
    for number, (_, rows) in enumerate(KFold(count).split(X)):
        wanted[rows] = number
    np.testing.assert_array_equal(folds_of(count, 14), wanted)


def test_the_search_of_scikit_learn_agrees():
    alphas = np.geomspace(1e-4, 100, 9)
    path = kfold_path(Gaussian(0.7), X, Y[:, 0], 4, alphas, fit_intercept=False)
    model = KernelRidge(kernel="rbf", gamma=1 / (2 * 0.7**2))
    for alpha, error in zip(alphas, path.errors[:, 0], strict=True):
        guessed = cross_val_predict(model.set_params(alpha=alpha), X, Y[:, 0], cv=KFold(4))
        assert error == pytest.approx(np.mean((Y[:, 0] - guessed) ** 2), rel=1e-9)
    even = kfold_path(Gaussian(0.7), X, Y[:, 0], 7, alphas, fit_intercept=False)  # equal folds: a mean of means
    search = GridSearchCV(model, {"alpha": alphas}, scoring="neg_mean_squared_error", cv=KFold(7)).fit(X, Y[:, 0])
    np.testing.assert_allclose(even.errors[:, 0], -search.cv_results_["mean_test_score"], rtol=1e-9)
    assert even.alpha[0] == search.best_params_["alpha"]


def test_kfold_path_equals_refits_with_weights_and_intercept():
    s = WEIGHTS["fractions"].copy()
    s[3] = 0.0
    path = kfold_path("gaussian(lengthscale=0.7)", X, Y, FOLDS + 10, [1e-3, 2.0], sample_weight=s)
    for a, alpha in enumerate([1e-3, 2.0]):
        kept = s > 0
        errors = without_folds(K, Y, s, alpha, True, FOLDS)[kept]
        np.testing.assert_allclose(path.errors[a], s[kept] @ errors**2 / s.sum(), rtol=1e-9)
    same = kfold_path("precomputed", K, Y, FOLDS, [1e-3, 2.0], sample_weight=s)
    np.testing.assert_allclose(same.errors, path.errors, rtol=1e-9)


def test_open_numbers_come_from_all_rows():
    kernel = Gaussian("median").resolve(X)
    np.testing.assert_array_equal(kfold_path("gaussian('median')", X, Y).errors, kfold_path(kernel, X, Y).errors)
    assert kfold_path(kernel, X, Y).errors.shape == (45, 2)


def test_tiny_penalties_warn_or_are_refused():
    x = np.linspace(0, 1, 16)[:, None]
    y = x[:, 0] + 0.1 * np.random.default_rng(0).normal(size=16)
    with pytest.warns(NumericalWarning, match="kfold_path meets a condition number"):
        path = kfold_path(Gaussian(1.0), x, y, 4, [1e-15, 1e-3])
    assert path.alpha == [1e-3]


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (1, "2 folds to 14, one per row; got 1"),
        (15, "2 folds to 14, one per row; got 15"),
        (True, "a number of folds, or one integer per row"),
        (2.5, "a number of folds, or one integer per row"),
        ([0, 1], r"one integer per row, 14 in all; got folds of shape \(2,\)"),
        (np.zeros(14, dtype=int), "rows of weight above 0 in at least two folds; all are in one"),
        (np.linspace(0, 1, 14), "dtype float64"),
    ],
)
def test_bad_folds_are_named(folds, message):
    with pytest.raises(InputError, match=message):
        kfold_path(Gaussian(1.0), X, Y, folds)


def test_folds_of_weight_zero_do_not_count():
    with pytest.raises(InputError, match="at least two folds"):
        kfold_path(Gaussian(1.0), X, Y, FOLDS, sample_weight=FOLDS == 1)
