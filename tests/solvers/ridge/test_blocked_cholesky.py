"""The Cholesky factor in short calls, against LAPACK's own in one."""

import numpy as np
import pytest
from scipy.linalg import lapack

from mercer.compute.runtime.run import Run
from mercer.solvers import Cholesky, System
from mercer.solvers.ridge import blocked_cholesky, cholesky_factor
from mercer.solvers.ridge.blocked_cholesky import factor_in_place
from mercer.solvers.ridge.cholesky_factor import factorize

EPS = np.finfo(np.float64).eps


def definite(n, seed=0):
    Z = np.random.default_rng(seed).normal(size=(n, 20))
    A = Z @ Z.T / 20 + np.eye(n)
    return np.asfortranarray(np.tril(A) + np.tril(A, -1).T)


class Told(Run):
    def __init__(self):
        self.shares = []

    def tell(self, done):
        self.shares.append(done)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 100])
@pytest.mark.parametrize("call", [1e10, 2000.0, 1.0])
def test_the_factor_is_that_of_lapack(n, call, monkeypatch):
    """In panels of eight columns, and in strips of all rows, of some, and of one."""
    monkeypatch.setattr(blocked_cholesky, "PANEL_COLUMNS", 8)
    monkeypatch.setattr(blocked_cholesky, "MAX_CALL_OPERATIONS", call)
    A, run = definite(n), Told()
    stored = A.copy(order="F")
    assert factor_in_place(stored, run) == 0
    wanted = lapack.dpotrf(A, lower=1, clean=0)[0]
    np.testing.assert_allclose(np.tril(stored), np.tril(wanted), rtol=0, atol=20 * EPS * np.abs(A).sum(0).max())
    np.testing.assert_array_equal(np.triu(stored, 1), np.triu(A, 1))
    assert run.shares[-1] == 1.0
    assert (np.diff(run.shares) >= 0).all()


@pytest.mark.parametrize("bad", [0, 5, 8, 30, 39])
def test_it_ends_at_the_row_where_lapack_does(bad, monkeypatch):
    monkeypatch.setattr(blocked_cholesky, "PANEL_COLUMNS", 8)
    A = definite(40)
    A[bad, bad] = -1.0
    assert factor_in_place(A.copy(order="F")) == lapack.dpotrf(A, lower=1)[1] == bad + 1


@pytest.fixture
def small(monkeypatch):
    """Large matrices begin at ten rows."""
    monkeypatch.setattr(blocked_cholesky, "PANEL_COLUMNS", 16)
    monkeypatch.setattr(blocked_cholesky, "MIN_BLOCKED_ROWS", 10)


def test_solutions_conditions_and_the_matrix_itself(small):
    A, b = np.ascontiguousarray(definite(100)), np.random.default_rng(1).normal(size=(100, 3))
    before, run = A.copy(), Told()
    factor = factorize(A, 0.5, run)
    assert np.shares_memory(factor.stored, A)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(before + 0.5 * np.eye(100), b), rtol=1e-11, atol=1e-12)
    assert 0.5 <= factor.condition / np.linalg.cond(before + 0.5 * np.eye(100), 1) <= 1.01
    assert run.shares[-1] == 1.0
    assert factor.restore().tobytes() == before.tobytes()
    A[-1, -1] = -2.0
    before = A.tobytes()
    assert factorize(A, 0.5) is None
    assert A.tobytes() == before


def test_the_run_of_the_system_is_told(small):
    run = Told()
    outcome = Cholesky().solve(System(definite(60), np.ones((60, 2)), np.array([0.1, 0.2]), run=run))
    assert outcome.converged
    assert run.shares.count(1.0) == 2  # one factor per alpha


def test_without_addresses_lapack_does_it_in_one_call(small, monkeypatch):
    A, b = definite(50), np.ones((50, 1))
    wanted = Cholesky().solve(System(A.copy(), b, np.array([0.1])))
    monkeypatch.setattr(blocked_cholesky, "routine", lambda name: None)
    assert not blocked_cholesky.available()
    found = Cholesky().solve(System(A.copy(), b, np.array([0.1])))
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-12)
    assert found.condition == pytest.approx(wanted.condition, rel=1e-9)


def test_many_right_sides_are_solved_in_parts(monkeypatch):
    A, b = definite(30), np.random.default_rng(1).normal(size=(30, 7))
    whole = factorize(A.copy(), 0.1).solve(b)
    monkeypatch.setattr(cholesky_factor, "MAX_CALL_OPERATIONS", 2 * 2.0 * 30**2)
    np.testing.assert_allclose(factorize(A.copy(), 0.1).solve(b), whole, rtol=1e-13, atol=1e-14)
