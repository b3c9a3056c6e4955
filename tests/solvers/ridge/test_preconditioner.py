"""The preconditioner against dense NumPy, and which rank it takes."""

from contextlib import contextmanager

import numpy as np
import pytest

from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import BudgetError
from mercer.kernels import Gaussian, Laplace
from mercer.kernels.points import points_from
from mercer.lifts.pivoting import RandomPivots
from mercer.operators import Dense, Gram
from mercer.solvers.ridge import preconditioner
from mercer.solvers.ridge.preconditioner import Worth, build
from mercer.solvers.ridge.price import Price

X = np.random.default_rng(0).normal(size=(300, 2))


def made(kernel, alphas=(0.1,), rank=None, tolerance=1e-6, seed=0):
    return build(Gram(kernel, X), np.array(alphas), rank, tolerance, seed, IDLE)


@pytest.mark.parametrize("call", [1e10, 1000.0])
@pytest.mark.parametrize("rank", [0, 1, 40])
@pytest.mark.parametrize("alphas", [(0.5, 1e-3), (0.02, 0.02)], ids=["several", "one"])
def test_it_is_the_inverse_of_the_factor_with_a_ridge(rank, alphas, call, monkeypatch):
    """In one strip, and in many."""
    monkeypatch.setattr(preconditioner, "MAX_CALL_OPERATIONS", call)
    alphas, R = np.array(alphas), np.random.default_rng(1).normal(size=(300, 2))
    M = made(Laplace(1.0), alphas, rank)
    Z = M.solve(R, alphas)
    np.testing.assert_allclose(M.solve(R[:, [1]], alphas[[1]]), Z[:, [1]], rtol=1e-9, atol=1e-9)
    for t, alpha in enumerate(alphas):
        dense = M.features @ M.features.T + alpha * np.eye(300)
        np.testing.assert_allclose(dense @ Z[:, t], R[:, t], rtol=0, atol=1e-9)


def test_it_leaves_what_it_says():
    K = Laplace(1.0)(X)
    M = made(Laplace(1.0), rank=50)
    left = K - M.features @ M.features.T
    assert M.rank == 50
    assert M.left == pytest.approx(np.trace(left), rel=1e-9)
    assert np.linalg.eigvalsh(left)[0] >= -1e-12
    assert M.top == pytest.approx(np.linalg.eigvalsh(M.features @ M.features.T)[-1], rel=1e-6)


def test_it_stays_positive_where_alpha_is_nothing():
    M = made(Gaussian(3.0), (1e-30,), rank=200)
    assert M.ridges(np.array([1e-30]))[0] == M.floor > 1e-13
    inverse = M.solve(np.eye(300), np.full(300, 1e-30))
    assert np.linalg.eigvalsh((inverse + inverse.T) / 2)[0] > 0


def test_without_an_alpha_the_ridge_is_what_the_factor_leaves():
    M = made(Laplace(1.0), (0.0, 0.2), rank=50)
    np.testing.assert_allclose(M.ridges(np.array([0.0, 0.2])), [M.left / 300, 0.2])
    nothing = build(Dense(np.zeros((8, 8))), np.zeros(1), None, 1e-6, 0, IDLE)
    assert nothing.rank == 0
    np.testing.assert_array_equal(nothing.solve(np.ones((8, 1)), np.zeros(1)), np.ones((8, 1)))


def test_the_pivots_are_those_of_landmarks():
    """A factor from blocks of an operator is the one from a kernel and points."""
    points = points_from(X)
    wanted = RandomPivots.of(Gaussian(1.0), points, 40).run(np.random.default_rng(7))
    M = made(Gaussian(1.0), rank=40, seed=7)
    np.testing.assert_allclose(M.features, wanted.features, rtol=1e-9, atol=1e-12)


def test_an_easy_matrix_takes_a_low_rank_and_a_hard_one_a_higher():
    ranks = [made(Gaussian(1.0), (alpha,)).rank for alpha in (10.0, 0.1, 1e-4)]
    assert ranks[0] <= ranks[1] <= ranks[2] <= 75
    smooth, rough = made(Gaussian(5.0), (1e-2,)), made(Laplace(0.1), (1e-2,))
    assert smooth.left <= 0.1 * 1e-2 * 300
    assert rough.rank == 75  # a quarter of the rows


def test_a_rank_that_is_asked_for_is_taken():
    assert made(Gaussian(1.0), (10.0,), rank=60).rank == 60
    assert made(Laplace(1.0), rank=1000).rank == 300
    assert made(Gaussian(20.0), rank=300).rank < 100  # rounding is reached


def test_a_higher_rank_pays_while_products_are_dear():
    """The trace falls like rank^-1: for few rows the factor soon costs more than it saves."""

    def enough(n, alpha):
        worth = Worth(n, alpha, 1e-6)
        return next(rank for rank in range(100, 100_000, 100) if worth(rank, 100 * n / rank))

    assert enough(10_000, 0.01) < enough(100_000, 0.01) < enough(1_000_000, 0.01)
    assert enough(100_000, 10.0) < enough(100_000, 0.01)
    assert Worth(1000, 0.1, 1e-6)(100, 9.9)  # a tenth of alpha n


def test_the_rank_follows_what_pivots_and_steps_take():
    """Where a pivot takes its time, a lower rank is enough; where steps do, a higher one."""

    def enough(step, pivot):
        worth = Worth(50_000, 0.01, 1e-3, Price(step, 1e-7, pivot, 1e-9))
        return next(rank for rank in range(20, 100_000, 20) if worth(rank, 1e6 / rank))

    assert enough(1e-3, 1e-3) < enough(1e-3, 1e-5) < enough(1.0, 1e-5)
    assert Price.of_operations(10).total(2, 3) == 3 * 10 * 4 + 3 * (25 * 100 + 4 * 10 * 2)


def test_expected_iterations_are_about_right():
    from mercer.solvers import ConjugateGradient, System

    A, b = Gram(Laplace(1.0), X), np.random.default_rng(1).normal(size=(300, 1))
    for alpha in (1.0, 0.1):
        expected = made(Laplace(1.0), (alpha,), rank=60).iterations(np.array([alpha]), 1e-6)
        found = (
            ConjugateGradient(preconditioner_rank=60, random_state=0).solve(System(A, b, np.array([alpha]))).iterations
        )
        assert expected / 3 <= found <= 3 * expected


def test_memory_that_is_not_there_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls: cls(10_000)))
    with pytest.raises(BudgetError, match=r"needs .* for a preconditioner of rank 75"):
        made(Gaussian(1.0))


def test_a_run_that_stops_takes_the_rank_that_was_reached():
    class Over(Run):
        usable = False

        @contextmanager
        def stoppable(self):
            self.usable = True
            yield
            self.usable = False

        def tell(self, done):
            if self.usable:
                raise Stopped("the time is over")

    gram, alphas = Gram(Gaussian(0.3), np.random.default_rng(0).normal(size=(900, 3))), np.array([1e-6])
    for rank in (800, None):
        made = build(gram, alphas, rank, 1e-6, 0, Over())
        assert 0 < made.rank <= 256
    assert build(gram, alphas, 800, 1e-6, 0, IDLE).rank > 256
