"""Least squares without a penalty, or with a tiny one: as near to the truth as `numpy.linalg.lstsq`, and nearer.

The truth comes from mpmath, with 200 digits, for the very features that the lift gives.
"""

import warnings

import mpmath
import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import NumericalWarning
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.lifts import Monomials, Powers, RadialBasis
from mercer.solvers import Cholesky

DIGITS = 200
MULTIPLE = 10.0
"""The most that an error may be of that of `lstsq`; 3 at most when this was written."""
FLOOR = 1e-13
"""Errors below it are not compared."""


def rows(n, seed=0, scale=1.5):
    draw = np.random.default_rng([seed, n])
    x = np.sort(draw.uniform(-scale, scale, n))
    return x[:, None], np.sin(3 * x) + 0.3 * draw.normal(size=n)


def bumps(b, lengthscale=0.5):
    return RadialBasis(np.linspace(-1.5, 1.5, b)[:, None], lengthscale=lengthscale)


def truth(Phi, y, new, intercept=True, weights=None, alpha=0.0):
    """Predictions at new features, of the shortest weights where several fit equally well."""
    n, p = Phi.shape
    s = np.ones(n) if weights is None else weights
    with mpmath.workdps(DIGITS):
        exact = [[mpmath.mpf(float(value)) for value in row] for row in Phi]
        s = [mpmath.mpf(float(value)) for value in s]
        y = [mpmath.mpf(float(value)) for value in y]
        total = mpmath.fsum(s)
        means = [mpmath.fdot(s, column) / total if intercept else mpmath.mpf(0) for column in zip(*exact, strict=True)]
        level = mpmath.fdot(s, y) / total if intercept else mpmath.mpf(0)
        roots = [mpmath.sqrt(value) for value in s]
        Z = [
            [r * (value - m) for value, m in zip(row, means, strict=True)] for r, row in zip(roots, exact, strict=True)
        ]
        b = mpmath.matrix([r * (value - level) for r, value in zip(roots, y, strict=True)])
        ridge = mpmath.mpf(alpha) if alpha else mpmath.mpf(10) ** -100  # its limit is the shortest solution
        Z = mpmath.matrix(Z)
        w = (
            mpmath.lu_solve(Z.T * Z + ridge * mpmath.eye(p), Z.T * b)
            if p <= n
            else Z.T * mpmath.lu_solve(Z * Z.T + ridge * mpmath.eye(n), b)
        )
        return np.array(
            [
                float(
                    mpmath.fsum((mpmath.mpf(float(v)) - m) * x for v, m, x in zip(row, means, w, strict=True)) + level
                )
                for row in new
            ]
        )


def by_lstsq(Phi, y, new, intercept=True, weights=None):
    roots = np.ones(len(y)) if weights is None else np.sqrt(weights)
    means = roots**2 @ Phi / (roots @ roots) if intercept else 0.0
    level = roots**2 @ y / (roots @ roots) if intercept else 0.0
    w = np.linalg.lstsq((Phi - means) * roots[:, None], (y - level) * roots, rcond=None)[0]
    return (new - means) @ w + level


def fitted(model, X, y, weights=None):
    """The model, and what it said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y, weights)
    return model, [each.category for each in said]


def errors(model, X, y, weights=None, new=None):
    """Of the model and of lstsq, and the size of what is predicted."""
    new = X if new is None else new
    Phi, others = model.lift_.transform(X), model.lift_.transform(new)
    right = truth(Phi, y, others, model.fit_intercept, weights)
    theirs = by_lstsq(Phi, y, others, model.fit_intercept, weights)
    return np.abs(model.predict(new) - right).max(), np.abs(theirs - right).max(), np.abs(right).max()


def is_as_good(ours, theirs, size):
    return ours <= max(MULTIPLE * theirs, FLOOR * size)


@pytest.mark.parametrize("n", [10, 40, 200])
@pytest.mark.parametrize("b", [1, 2, 3, 5, 8, 10, 12, 15, 18, 20])
def test_powers_are_as_good_as_lstsq(b, n):
    X, y = rows(n)
    model, _ = fitted(KernelRidge(Powers(b), alpha=0.0), X, y)
    assert is_as_good(*errors(model, X, y))
    ours, theirs, size = errors(model, X, y, new=np.linspace(-1.5, 1.5, 31)[:, None])
    assert is_as_good(ours / 5 if b >= n else ours, theirs, size)  # of many curves through all rows the shortest


@pytest.mark.parametrize("n", [10, 40, 200])
@pytest.mark.parametrize("b", [1, 4, 8, 12, 16, 20, 25, 30])
def test_bumps_are_as_good_as_lstsq_or_it_is_said(b, n):
    X, y = rows(n)
    model, said = fitted(KernelRidge(bumps(b), alpha=0.0), X, y)
    ours, theirs, size = errors(model, X, y)
    assert is_as_good(ours, theirs, size)
    assert said or ours <= 1e-6 * size


@pytest.mark.slow
@pytest.mark.parametrize(
    "lift", [Powers(20), Powers(15), bumps(20), bumps(30)], ids=["20", "15", "20 bumps", "30 bumps"]
)
def test_a_thousand_rows_are_as_good_as_lstsq(lift):
    X, y = rows(1000)
    model, _ = fitted(KernelRidge(lift, alpha=0.0), X, y)
    assert is_as_good(*errors(model, X, y))


@pytest.mark.parametrize("b", [15, 20])
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_curves_of_the_lecture_on_forty_rows(b, scale):
    """Powers of 40 rows were off by up to 1.3, with a warning."""
    X, y = rows(40, scale=scale)
    model, said = fitted(KernelRidge(Powers(b), alpha=0.0), X, y)
    assert said == []
    assert errors(model, X, y)[0] < 1e-8
    assert (b == 15 and scale == 1.0) or "An orthogonal factor of the features" in model.outcome_.reason
    assert model.converged_
    assert model.residual_ < 1e-9


def test_it_is_said_where_digits_are_lost():
    """Wide bumps are dependent to rounding, and nothing in float64 tells them apart."""
    X, y = rows(40)
    model, said = fitted(KernelRidge(bumps(30, 1.0), alpha=0.0), X, y)
    assert said == [ConvergenceWarning]
    assert model.rounding_ == np.inf
    ours, theirs, _ = errors(model, X, y)
    assert ours > 1e-3
    assert ours < 2 * theirs


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", [Powers(15), "powers(degree=15)", "1 + powers(degree=15)", "polynomial(degree=9)"])
def test_kernels_weights_and_intercepts(kernel, intercept):
    X, y = rows(40)
    weights = np.random.default_rng(1).uniform(0.05, 5.0, 40)
    model, said = fitted(KernelRidge(kernel, alpha=0.0, fit_intercept=intercept), X, y, weights)
    assert said == []
    assert is_as_good(*errors(model, X, y, weights))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("b", "n"), [(15, 10), (20, 12), (9, 10)])
def test_more_features_than_rows_give_the_shortest_weights(b, n, intercept):
    X, y = rows(n)
    new = np.linspace(-1.2, 1.2, 9)[:, None]
    model, said = fitted(KernelRidge(Powers(b), alpha=0.0, fit_intercept=intercept), X, y)
    assert said == []
    assert is_as_good(*errors(model, X, y, new=new))
    if b + intercept >= n:
        np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_a_polynomial_of_two_columns_with_more_features_than_rows():
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, (30, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model, said = fitted(KernelRidge("monomials(degree=9)", alpha=0.0), X, y)
    assert said == []
    Phi, new = (Monomials(9).fit_transform(rows) for rows in (X, draw.uniform(-1, 1, (9, 2))))
    found = model.predict(new[:, 1:3])
    right, theirs = truth(Phi, y, new), by_lstsq(Phi, y, new)
    assert is_as_good(np.abs(found - right).max(), np.abs(theirs - right).max(), np.abs(right).max())


@pytest.mark.parametrize("intercept", [True, False])
def test_dependent_columns_need_no_warning(intercept):
    """Columns for the levels of a category sum to one: with an intercept they are dependent, and that harms nothing."""
    draw = np.random.default_rng(0)
    X, y = np.eye(4)[draw.integers(4, size=60)], draw.normal(size=60)
    model, said = fitted(KernelRidge("linear", alpha=0.0, fit_intercept=intercept), X, y)
    assert said == []
    assert model.converged_
    groups = np.array([y[X[:, level] == 1].mean() for level in range(4)])
    np.testing.assert_allclose(model.predict(np.eye(4)), groups, rtol=1e-12)
    if intercept:  # of all weights with these sums the shortest
        assert abs(model.coef_.sum()) < 1e-12
    double, said = fitted(KernelRidge("linear", alpha=0.0), np.hstack([X[:, :2], X[:, :2]]), y)
    assert said == []
    np.testing.assert_allclose(double.coef_[:2], double.coef_[2:], rtol=1e-12)


def test_several_outputs_are_fitted_as_each_alone():
    X, y = rows(40)
    Y = np.column_stack([y, 1e3 * y**2 + 5, X[:, 0]])
    together, said = fitted(KernelRidge(Powers(18), alpha=[0.0, 1e-3, 0.0]), X, Y)
    assert said == []
    for t, alpha in enumerate([0.0, 1e-3, 0.0]):
        alone = KernelRidge(Powers(18), alpha=alpha).fit(X, Y[:, t])
        np.testing.assert_allclose(together.predict(X)[:, t], alone.predict(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-8, 1e-14, 1e-20])
@pytest.mark.parametrize(("b", "n"), [(15, 40), (20, 40), (15, 10)])
def test_tiny_penalties(b, n, alpha):
    X, y = rows(n, scale=2.0)
    model, _ = fitted(KernelRidge(Powers(b), alpha=alpha), X, y)
    Phi = model.lift_.transform(X) if model.lift_ is not None else X ** np.arange(1, b + 1)
    right = truth(Phi, y, Phi, alpha=alpha)
    assert np.abs(model.predict(X) - right).max() < 1e-7 * np.abs(right).max()
    assert model.rounding_ < 1e-4


# -- what is said of the fit ------------------------------------------------------------------------------------------


def hat(Phi, weights):
    """The leverages of one copy of each row, from mpmath: alpha = 0, with an intercept."""
    with mpmath.workdps(DIGITS):
        A = mpmath.matrix([[1.0, *map(float, row)] for row in Phi])
        S = mpmath.diag([mpmath.mpf(float(value)) for value in weights])
        H = A * mpmath.inverse(A.T * S * A) * A.T
        return np.array([float(H[i, i]) for i in range(len(Phi))])


@pytest.mark.parametrize("b", [15, 20])
def test_leverages_and_deviations_agree_with_the_fit(b):
    X, y = rows(40)
    weights = np.random.default_rng(1).uniform(0.5, 3.0, 40)
    model, _ = fitted(KernelRidge(Powers(b), alpha=0.0), X, y, weights)
    right = hat(model.lift_.transform(X), weights)
    np.testing.assert_allclose(model.leverage_, right, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1] ** 2, model.noise_ * right, rtol=1e-7)
    residual = y - truth(model.lift_.transform(X), y, model.lift_.transform(X), weights=weights)
    np.testing.assert_allclose(model.noise_, (weights * residual**2).sum() / (weights.sum() - 1), rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("b", [12, 18])
def test_a_path_that_begins_at_zero(b):
    """Leave-one-out errors of tiny penalties, against fits without the row in 200 digits; inf where nobody can tell."""
    X, y = rows(22)
    alphas = [0.0, 1e-16, 1e-3]
    model, said = fitted(KernelRidge(Powers(b), alpha=alphas), X, y)
    assert said == []
    Phi = X ** np.arange(1, b + 1)
    np.testing.assert_array_equal(model.loo_.alphas, alphas)
    found = model.loo_.errors[:, 0]
    for alpha, error in zip(alphas, found, strict=True):
        left = [
            y[i] - truth(np.delete(Phi, i, 0), np.delete(y, i), Phi[i : i + 1], alpha=alpha)[0] for i in range(len(y))
        ]
        assert error == pytest.approx(np.mean(np.square(left)), rel=1e-3) or (b == 18 and error == np.inf)
    assert found[2] < np.inf
    assert model.alpha_ == alphas[int(np.argmin(found))]
    again = KernelRidge(Powers(b), alpha=model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.predict(X), again.predict(X), rtol=1e-9)


def test_a_path_whose_best_is_tiny():
    """Without noise the smallest penalty is the best, and its fit has the digits of one at this penalty alone."""
    X, _ = rows(60)
    y = np.sin(3 * X[:, 0])
    model, said = fitted(KernelRidge(Powers(18), alpha=[1e-18, 1e-4, 1.0]), X, y)
    assert said == []
    assert model.alpha_ == 1e-18
    again = KernelRidge(Powers(18), alpha=1e-18).fit(X, y)
    np.testing.assert_allclose(model.predict(X), again.predict(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.leverage_, again.leverage_, rtol=1e-6)


def test_classes_have_the_same_digits():
    X, y = rows(40)
    model = KernelRidgeClassifier(Powers(18), alpha=0.0).fit(X, y > 0)
    Phi = X ** np.arange(1, 19)
    np.testing.assert_allclose(model.decision_function(X), truth(Phi, np.where(y > 0, 1.0, -1.0), Phi), atol=1e-8)


def test_a_given_solver_is_not_replaced():
    """Who names a solver gets that one, and its warning."""
    X, y = rows(40, scale=3.0)
    with pytest.warns((ConvergenceWarning, NumericalWarning)):
        model = KernelRidge(Powers(20), alpha=0.0, solver=Cholesky()).fit(X, y)
    assert "orthogonal" not in model.outcome_.reason


@pytest.mark.parametrize("alpha", [0.0, 1e-14])
def test_a_given_side_is_not_replaced(alpha):
    """Who asks for coefficients of rows gets these; the default has weights, and says where to find coefficients."""
    X, y = rows(10)
    model, _ = fitted(KernelRidge(Powers(20), alpha=alpha), X, y)
    assert model.plan_.details.side == "primal"
    assert model.plan_.n_features == 20
    with pytest.raises(AttributeError, match='side="dual"'):
        _ = model.dual_coef_
    asked, _ = fitted(KernelRidge(Powers(20), alpha=alpha, side="dual"), X, y)
    assert asked.plan_.details.side == "dual"
    assert asked.dual_coef_.shape == (10,)


def test_where_memory_is_short_the_first_answer_stays():
    X, y = rows(300, scale=3.0)
    with pytest.warns((ConvergenceWarning, NumericalWarning)):
        model = KernelRidge(Powers(20), alpha=1e-12, memory_limit="0.25 MB").fit(X, y)
    assert "orthogonal" not in model.outcome_.reason


@pytest.mark.parametrize("b", [3, 8])
def test_a_fit_that_needs_none_has_the_factor_of_normal_equations(b):
    """Columns of unequal lengths lose no digits, whatever the condition number says."""
    X, y = rows(40)
    assert KernelRidge(Powers(b), alpha=0.0).fit(X, y).outcome_.reason == "One Cholesky factor an alpha."
    model = KernelRidge(Powers(3), alpha=0.0).fit(1e3 * X, y)
    assert model.outcome_.reason == "One Cholesky factor an alpha."
    assert model.condition_ > 1e12
