"""A polish ends at the solution where the free coefficients are known, and never makes it worse."""

import numpy as np
import pytest

from mercer.kernels import Gaussian, Linear
from mercer.learners.svm.active_set import free_coefficients, polished
from mercer.operators import Dense
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.working_sets import SMOSettings, solve


def drawn(kernel, kink, C):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 2)), random.normal(size=80)
    if kink == 0.0:
        s = np.where(X[:, 0] + 0.5 * y > 0, 1.0, -1.0)
        return BoxQP(-s, np.minimum(0.0, C * s), np.maximum(0.0, C * s)), kernel(X)
    return BoxQP(-y, np.full(80, -C), np.full(80, C), kink), kernel(X)


@pytest.mark.parametrize("kink", [0.0, 0.3])
def test_from_near_to_the_solution_it_is_reached_to_rounding(kink):
    problem, K = drawn(Gaussian(1.0), kink, 2.0)
    rested = solve(problem, Dense(K), SMOSettings(1e-4))
    found = polished(problem, K, rested)
    best = solve(problem, Dense(K), SMOSettings(1e-10))
    assert found.violation < 1e-12
    np.testing.assert_allclose(found.g, best.g, atol=1e-9)
    np.testing.assert_allclose(found.bias, best.bias, atol=1e-9)
    assert found.b.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kink", [0.0, 0.3])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()], ids=str)
@pytest.mark.parametrize("C", [1.0, 1e8])
def test_from_afar_the_objective_falls_inside_of_the_box(kernel, kink, C):
    problem, K = drawn(kernel, kink, C)
    rested = solve(problem, Dense(K), SMOSettings(1e-3, max_steps=30))
    found = polished(problem, K, rested)
    assert problem.objective(found.b, found.g) <= problem.objective(rested.b, rested.g) * (1 - 1e-9)
    assert ((found.b >= problem.lower) & (found.b <= problem.upper)).all()
    assert abs(found.b.sum()) <= 1e-12 * np.abs(found.b).sum()
    np.testing.assert_allclose(found.g, K @ found.b + problem.linear)


def test_what_is_free_moves_either_way():
    problem = BoxQP(np.zeros(4), -np.ones(4), np.ones(4), kink=0.5)
    assert free_coefficients(problem, np.array([0.5, 0.0, -1.0, -0.2])).tolist() == [0, 3]
