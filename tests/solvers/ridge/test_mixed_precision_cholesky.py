"""Factors in float32 in the memory of A: what comes out has the digits of float64, or float64 does it."""

import tracemalloc

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.compute.runtime.run import IDLE
from mercer.errors import InputError
from mercer.solvers import Cholesky, System
from mercer.solvers.ridge import blocked_cholesky, mixed_precision_cholesky
from mercer.solvers.ridge.cholesky_factor import Factor, factorize
from mercer.solvers.ridge.mixed_precision_cholesky import SingleFactor, single_factor
from mercer.testing import check_solver

EPS = np.finfo(np.float64).eps
pytestmark = pytest.mark.skipif(
    not blocked_cholesky.available("s"), reason="this SciPy gives no addresses of its routines"
)


@pytest.fixture
def small(monkeypatch):
    """A factor in float32 for matrices of any size, in panels of 16 columns."""
    monkeypatch.setattr(mixed_precision_cholesky, "MIN_ROWS", 1)
    monkeypatch.setattr(blocked_cholesky, "PANEL_COLUMNS", 16)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def gaussian(n, lengthscale=1.0, seed=0):
    """Exactly symmetric, with eigenvalues from zero to a part of n."""
    X = draw(n, 3, seed=seed)
    return np.exp(-(((X[:, None] - X) ** 2).sum(-1)) / (2 * lengthscale**2))


def norm(A):
    return float(np.abs(A).sum(axis=1).max())


def near(found, wanted, condition):
    """Two solutions are as near as rounding in float64 leaves them, column by column."""
    assert (np.abs(found - wanted).max(axis=0) <= 4 * EPS * condition * np.abs(wanted).max(axis=0)).all()


def made(A, alpha):
    return single_factor(A, norm(A), alpha)


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 100, 333])
def test_the_factor_is_in_the_memory_of_the_matrix_and_gives_it_back(small, n):
    A = gaussian(n)
    before, x = A.copy(), draw(n, 3)
    factor = made(A, 0.5)
    assert np.shares_memory(factor.lower, A)
    L = np.tril(factor.lower).astype(float)
    unit = np.finfo(np.float32).eps * norm(before)
    np.testing.assert_allclose(L @ L.T, before + 0.5 * np.eye(n), rtol=0, atol=2 * unit)
    np.testing.assert_allclose(factor.multiply(x), before @ x, rtol=0, atol=4 * EPS * (before @ abs(x)).max())
    assert 0.3 <= factor.condition / np.linalg.cond(before + 0.5 * np.eye(n), 1) <= 1.01
    factor.restore()
    assert A.tobytes() == before.tobytes()


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e290])
def test_solutions_have_the_digits_of_float64_whatever_the_size_of_targets(small, alpha, scale):
    A, b = gaussian(300), scale * draw(300, 3, seed=1)
    factor = factorize(A.copy(), alpha)
    outcome = Cholesky().solve(System(A.copy(), b, np.full(3, alpha)))
    assert isinstance(outcome.decomposition, SingleFactor)
    assert "in float32" in outcome.reason
    assert outcome.converged
    left = [np.abs((b - (A @ x + alpha * x)) / scale).max() for x in (outcome.value, factor.solve(b))]
    assert left[0] <= max(2 * left[1], 4 * EPS * norm(A) * np.abs(outcome.value / scale).max())
    near(outcome.value, factor.solve(b), factor.condition)
    further = draw(300, 2, seed=2)
    near(outcome.decomposition.solve(further, np.full(2, alpha)), factor.solve(further), factor.condition)


@pytest.mark.skipif(np.finfo(np.longdouble).eps >= EPS, reason="there are no longer floats here")
@pytest.mark.parametrize(("lengthscale", "alpha"), [(0.5, 0.1), (1.0, 0.01), (3.0, 1e-3)])
def test_solutions_are_as_near_to_the_truth_as_those_of_float64(small, lengthscale, alpha):
    """In coefficients and in A x, which predictions are."""
    A, b = gaussian(400, lengthscale), draw(400, 1, seed=1)
    long, double = A.astype(np.longdouble), factorize(A.copy(), alpha)
    plain = double.solve(b)
    true = plain.astype(np.longdouble)
    for _ in range(6):
        true = true + double.solve((b - long @ true - alpha * true).astype(float))
    found = Cholesky().solve(System(A.copy(), b, np.array([alpha]))).value
    assert np.abs(found - true).max() <= 1.5 * np.abs(plain - true).max()
    assert np.abs(long @ (found - true)).max() <= 1.5 * np.abs(long @ (plain - true)).max()


def test_what_is_asked_beyond_solutions_comes_from_float64(small):
    A = gaussian(150)
    double, factor = factorize(A.copy(), 0.01), made(A, 0.01)
    kept = A.tobytes()
    assert factor.log_determinant(0.01) == pytest.approx(double.log_determinant(0.01), rel=1e-14)
    np.testing.assert_array_equal(factor.inverse_diagonal(0.01), double.inverse_diagonal(0.01))
    assert A.tobytes() == kept
    with pytest.raises(InputError, match=r"alpha it was made for, 0\.01"):
        factor.log_determinant(0.02)
    with pytest.raises(InputError, match="alpha it was made for"):
        factor.solve(draw(150, 1), np.array([0.02]))


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-6])
def test_float32_is_not_tried_where_alpha_drowns_in_its_rounding(small, alpha):
    A = gaussian(200)
    before = A.tobytes()
    assert made(A, alpha) is None
    assert A.tobytes() == before


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_float32_is_not_tried_where_numbers_leave_its_range(small, scale):
    A = gaussian(50) * scale
    assert made(A.copy(), 0.1 * scale) is None
    b = draw(50, 1)
    x = Cholesky().solve(System(A.copy(), b, np.array([0.1 * scale]))).value
    np.testing.assert_allclose(x * scale, np.linalg.solve(gaussian(50) + 0.1 * np.eye(50), b), rtol=1e-10)


@pytest.mark.parametrize("row", [0, 20, 59])
def test_a_matrix_that_is_not_positive_is_given_back(small, row):
    A = gaussian(60)
    A[row, row] = -2.0
    before = A.tobytes()
    assert made(A, 0.5) is None
    assert A.tobytes() == before


def test_where_steps_are_not_enough_float64_does_it(small, monkeypatch):
    monkeypatch.setattr(mixed_precision_cholesky, "MAX_STEPS", 0)
    A, b = gaussian(120), draw(120, 2)
    outcome = Cholesky().solve(System(A.copy(), b, np.array([0.01, 0.01])))
    assert isinstance(outcome.decomposition, Factor)
    assert outcome.reason == "One Cholesky factor an alpha."
    np.testing.assert_array_equal(outcome.value, factorize(A.copy(), 0.01).solve(b))


def test_a_factor_that_is_no_use_is_noticed(small, monkeypatch):
    """Corrections that do not shrink the residual end the steps at once."""
    A, b = gaussian(80), draw(80, 1)
    factor = made(A, 0.1)
    factor.lower[0, 0] *= 1e3
    counted = []
    monkeypatch.setattr(SingleFactor, "multiply", lambda self, x: counted.append(1) or np.nan * x)
    assert factor.refined(b)[1] == mixed_precision_cholesky.NO_STEPS
    assert len(counted) == 1


@pytest.fixture
def products(monkeypatch):
    """One for each product with A, of which every step takes one."""
    multiply, counted = SingleFactor.multiply, []
    monkeypatch.setattr(SingleFactor, "multiply", lambda self, x: counted.append(1) or multiply(self, x))
    return counted


def test_steps_are_counted_and_the_last_one_is_taken(small, products):
    A, b = gaussian(200), draw(200, 1)
    before, factor = A.copy(), made(A, 0.01)
    x, steps = factor.refined(b)
    assert steps == len(products) > 1
    left = np.abs(b - before @ x - 0.01 * x).max()
    assert left <= 0.5 * mixed_precision_cholesky.RESIDUAL_TOLERANCE * factor.norm * np.abs(x).max()


def test_steps_that_gain_less_than_half_are_given_up(small, products):
    """With twice the factor a step takes a quarter of the error away."""
    A = gaussian(80)
    factor = made(A, 0.1)
    for i in range(80):
        factor.lower[i:, i] *= 2
    assert factor.refined(draw(80, 1))[1] == mixed_precision_cholesky.NO_STEPS
    assert len(products) == 3  # relative to x, which grows from a quarter, the first one halves it


def test_each_alpha_has_its_own_way(small):
    A, alphas = gaussian(200), np.array([1e-9, 0.1, 10.0, 0.1])
    b = draw(200, 4)
    outcome = Cholesky().solve(System(A.copy(), b, alphas))
    for i, alpha in enumerate(alphas):
        wanted = factorize(A.copy(), alpha)
        near(outcome.value[:, [i]], wanted.solve(b[:, [i]]), wanted.condition)
    assert outcome.decomposition is None
    assert outcome.converged


def test_few_rows_are_left_to_float64():
    assert made(gaussian(100), 1.0) is None
    assert mixed_precision_cholesky.MIN_ROWS > 1000


def test_without_addresses_float64_does_it(small, monkeypatch):
    monkeypatch.setattr(blocked_cholesky, "available", lambda letter="d": letter == "d")
    assert isinstance(Cholesky().solve(System(gaussian(50), draw(50, 1), np.ones(1))).decomposition, Factor)


def test_the_laws_of_solvers(small):
    check_solver(Cholesky())


def test_the_peak_is_the_matrix_alone(small, monkeypatch):
    monkeypatch.setattr(blocked_cholesky, "PANEL_COLUMNS", 128)
    n = 1200
    A = np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / 10.0)
    problem = System(A, draw(n, 1), np.array([0.1]), run=IDLE)
    tracemalloc.start()
    try:
        outcome = Cholesky().solve(problem)
        assert isinstance(outcome.decomposition, SingleFactor)
        assert tracemalloc.get_traced_memory()[1] <= 0.4 * 8 * n**2  # beyond A
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_model_is_that_of_float64_and_its_likelihood_too(monkeypatch, fit_intercept):
    X, new = draw(250, 3), draw(40, 3, seed=5)
    y = np.sin(X[:, 0]) + 0.1 * draw(250, seed=6)
    model = KernelRidge("gaussian(1.5)", alpha=0.05, fit_intercept=fit_intercept, solver=Cholesky())
    exact = model.fit(X, y)
    wanted = exact.predict(new, return_std=True), exact.log_marginal_likelihood(), exact.rounding_
    monkeypatch.setattr(mixed_precision_cholesky, "MIN_ROWS", 1)
    found = model.fit(X, y)
    assert "in float32" in found.outcome_.reason
    for one, other in zip(found.predict(new, return_std=True), wanted[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert found.log_marginal_likelihood() == pytest.approx(wanted[1], rel=1e-12)
    assert found.rounding_ <= 2 * wanted[2]
