"""How many iterations conjugate gradients take: against those of conjugate gradients themselves."""

import numpy as np
import pytest
from machines import kernel

from mercer.planner.ridge.iterations import ASSUMED, LEAST, eigenvalue, iterations
from mercer.solvers import ConjugateGradient


def taken(values, rank, alpha, tolerance):
    """Steps of conjugate gradients on a diagonal matrix whose first eigenvalues are taken care of."""
    diagonal = np.concatenate([np.ones(rank), (values[rank:] + alpha) / alpha])
    b = np.random.default_rng(0).normal(size=len(diagonal))
    x, r = np.zeros_like(b), b.copy()
    p, rho = r.copy(), r @ r
    for step in range(1, 10_000):
        product = diagonal * p
        length = rho / (p @ product)
        x, r = x + length * p, r - length * product
        if np.linalg.norm(r) <= tolerance * np.linalg.norm(b):
            return step
        rho, last = r @ r, rho
        p = r + rho / last * p
    raise AssertionError("no end")


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("rank", [0, 10, 100])
def test_the_estimate_is_near_what_conjugate_gradients_take(power, rank):
    values = 1000.0 / np.arange(1, 2001) ** power
    found = iterations(2 * rank, tuple(values), 0.1, 1e-6)  # a factor that leaves what the best of half its rank leaves
    steps = taken(values, rank, 0.1, 1e-6)
    assert steps / 2 <= found <= 3 * steps + 2


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_eigenvalues_beyond_the_sample_follow_its_power_law(power):
    values = tuple(7.0 / np.arange(1, 1001) ** power)
    for position in (0, 10, 330, 700, 5000):
        assert eigenvalue(position, values) == pytest.approx(7.0 / (position + 1) ** power, rel=1e-9)


def test_eigenvalues_that_end_at_zero_stay_there():
    assert eigenvalue(5000, (3.0, 2.0, 1.0, *[0.0] * 97)) == 0.0
    assert eigenvalue(50, (3.0, 2.0, 1.0, *[-1e-17] * 97)) == 0.0
    assert eigenvalue(9, (2.0, 1.0)) <= 1.0


def test_a_higher_rank_and_a_larger_alpha_take_fewer():
    values = tuple(1000.0 / np.arange(1, 501))
    by_rank = [iterations(rank, values, 0.1) for rank in (0, 100, 1000, 10_000)]
    by_alpha = [iterations(100, values, alpha) for alpha in (1e-3, 0.1, 10.0, 1e6)]
    assert by_rank == sorted(by_rank, reverse=True)
    assert by_alpha == sorted(by_alpha, reverse=True)
    assert min(*by_rank, *by_alpha) >= LEAST


def test_a_tolerance_of_zero_is_that_of_rounding():
    values = tuple(1000.0 / np.arange(1, 501))
    assert iterations(100, values, 0.1, 0.0) == iterations(100, values, 0.1, np.finfo(float).eps)
    assert iterations(100, values, 0.1, 1e-6) < iterations(100, values, 0.1, 0.0) < np.inf
    assert iterations(100, values, 0.1, 5.0) == iterations(100, values, 0.1, 1.0) >= LEAST
    found = kernel(10_000, solver=ConjugateGradient(tol=0.0), spectrum=values, alpha=0.1)
    assert found.method == "conjugate gradients"


def test_where_nothing_is_known_it_is_twenty_at_rank_1000():
    assert iterations(1000, None, None) == iterations(1000, (1.0, 0.5), None) == ASSUMED
    assert iterations(1000, (1.0, 0.5), 0.0) == ASSUMED
    assert iterations(4000, None, None) == ASSUMED / 2
    assert iterations(0, None, 1.0) > iterations(250, None, 1.0) > ASSUMED
