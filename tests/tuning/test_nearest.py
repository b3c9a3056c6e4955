"""Likelihoods and deviations from nearest rows, against those from all."""

import numpy as np
import pytest

from mercer import kernels as k
from mercer.tuning import nearest
from mercer.tuning.nearest import Conditionals, NearestRows

RANDOM = np.random.default_rng(0)


def drawn(kernel, alpha, n, d=1):
    X = RANDOM.uniform(0, 1, (n, d))
    K = kernel(X) + alpha * np.eye(n)
    return X, 5 + np.linalg.cholesky(K) @ RANDOM.standard_normal((n, 1))


def test_the_likelihood_is_that_of_all_rows_where_all_are_neighbours(monkeypatch):
    """Differences of values between kernels are those of the restricted likelihood of later rows given the first."""
    monkeypatch.setattr(nearest, "SAMPLED", 10**6)
    monkeypatch.setattr(nearest, "LATE", 10**6)
    monkeypatch.setattr(nearest, "FIRST", 63)
    monkeypatch.setattr(nearest, "NEIGHBOURS", 63)
    n = 64  # one row is left, whose law is known from the others
    X, y = drawn(k.Gaussian(0.2), 0.1, n)
    known = Conditionals.of(X, y, np.ones(n), False, np.random.default_rng(0))
    for kernel, alpha in ((k.Gaussian(0.2), 0.1), (k.Matern(1.5, 0.3), 0.02)):
        row, others = known.targets[0], known.others[0]
        near = known.near[0]
        K = kernel(near) + alpha * np.eye(63)
        c = np.linalg.solve(K, kernel(near, np.zeros((1, 1)))[:, 0])
        variance = 1 + alpha - kernel(near, np.zeros((1, 1)))[:, 0] @ c
        left = float(row[0] - c @ others[:, 0])
        want = 0.5 * np.log(left**2) + 0.5 * np.log(variance) - 0.5 * np.log(variance)
        assert known.value(kernel, alpha) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("nu", [0.5, 2.5])
def test_it_finds_what_rows_were_drawn_from(nu):
    true = k.Matern(nu, 0.1)
    X, y = drawn(true, 0.1, 1500, 2)
    known = Conditionals.of(X, y, np.ones(len(X)), True, np.random.default_rng(0))
    found = {each: known.stretched(k.Matern(each, 0.3)) for each in (0.5, 2.5)}
    assert min(found, key=lambda each: found[each][0]) == nu
    _, kernel, alpha = found[nu]
    assert 0.5 < kernel.lengthscale / 0.1 < 2
    assert 0.5 < alpha / 0.1 < 2
    assert 0.5 < known.alpha(true) / 0.1 < 2
    assert known.alpha(true, np.array([1e-3, 0.1, 10.0])) == 0.1


@pytest.mark.parametrize("intercept", [False, True])
def test_no_deviation_is_too_small_and_few_are_much_too_large(intercept):
    kernel, alpha, n = k.Matern(1.5, 0.2), 0.05, 3000
    X, weights = RANDOM.uniform(0, 1, (n, 2)), RANDOM.integers(1, 3, n).astype(float)
    new = np.vstack([RANDOM.uniform(0, 1, (100, 2)), [[3.0, 3.0]]])
    found = NearestRows.of(X, weights, np.random.default_rng(0)).variances(kernel, alpha, new, intercept)
    A, K = np.linalg.inv(kernel(X) + np.diag(alpha / weights)), kernel(X, new)
    true = 1 - np.einsum("ij,ij->j", K, A @ K)
    if intercept:
        true += (1 - (A @ K).sum(axis=0)) ** 2 / A.sum()
    assert (found >= true * (1 - 1e-9)).all()
    assert np.median(found / true) < 1.3
