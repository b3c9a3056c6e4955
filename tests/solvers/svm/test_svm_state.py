"""The state of the exact solver of SVMs: gradients that are brought up to date, and rows that are chosen by them."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.operators import Dense, Gram
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.state import State


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    return BoxQP(-y, np.minimum(0, 2 * y), np.maximum(0, 2 * y)), Gram(Gaussian(1.0), X)


def moved(problem, count, seed=1):
    rows = np.random.default_rng(seed).permutation(problem.count)[:count]
    b = np.zeros(problem.count)
    b[rows] = np.where(problem.upper[rows] > 0, 0.5, -0.5)
    return b


@pytest.mark.parametrize("before", [0, 40, 200])
def test_a_refreshed_gradient_is_that_of_the_coefficients(problem, before):
    boxed, K = problem
    state = State(boxed, moved(boxed, before), K)
    state.b = np.where(moved(boxed, 60, seed=2) != 0, moved(boxed, 60, seed=2), state.b)
    truth = K @ state.b + boxed.linear
    active = np.arange(50, 120)
    state.optimal_on(active, truth[active])
    state.refresh(K)
    np.testing.assert_allclose(state.g, truth, atol=1e-12)
    assert state.violation == pytest.approx(boxed.violation(state.b, truth))


def test_a_check_finds_who_is_on_the_wrong_side_whatever_the_fast_rows_said(problem):
    boxed, K = problem
    state = State(boxed, moved(boxed, 80), K)
    truth = state.g.copy()
    noise = np.random.default_rng(3).uniform(-1, 1, boxed.count)
    noise[np.flatnonzero(state.b)[0]] = 1.0  # the support has seen the largest error
    state.g = truth + 1e-3 * noise
    state.check()
    support = state.b != 0
    np.testing.assert_allclose(state.g[support], truth[support], atol=1e-12)
    assert state.violation == pytest.approx(boxed.violation(state.b, truth), abs=1e-12)
    assert boxed.gap(state.b, state.g, 0.1) == pytest.approx(boxed.gap(state.b, truth, 0.1), rel=1e-2)


def test_a_check_looks_at_who_rests_by_less_than_the_support_was_wrong():
    y = np.array([1.0, -1.0, 1.0, 1.0])
    boxed = BoxQP(np.array([-1.0, 1.0, -0.6, 9.0]), np.minimum(0, 2 * y), np.maximum(0, 2 * y))
    state = State(boxed, np.array([0.5, -0.5, 0.0, 0.0]), Dense(np.eye(4)))
    assert state.violation == pytest.approx(0.5 + 0.6)
    state.g = np.array([-0.3, 0.3, 0.55, 9.0])  # the third seems to rest, and the support is off by 0.2
    state.check()
    assert state.violation == pytest.approx(0.5 + 0.6)


def test_a_check_computes_only_what_decides(problem):
    boxed, K = problem
    asked = []

    class Counted(Dense):
        def combine(self, columns, values, rows=None):
            asked.append(len(rows))
            return super().combine(columns, values, rows)

    state = State(boxed, moved(boxed, 10), Dense(K.to_dense()))
    state.exact, truth = Counted(K.to_dense()), state.g.copy()
    far = np.flatnonzero(state.b == 0)[:100]
    state.g[far] = np.where(boxed.upper[far] > 0, 50.0, -50.0)  # at rest by far, as it seems: nobody looks
    state.check()
    assert asked[0] == 10
    assert sum(asked) <= 300 - len(far)
    near = np.setdiff1d(np.arange(300), far)
    np.testing.assert_allclose(state.g[near], truth[near], atol=1e-12)


def test_the_nearest_rows_are_those_that_are_not_at_rest_and_the_next(problem):
    boxed, K = problem
    state = State(boxed, moved(boxed, 100), K)
    level = -boxed.bias(state.b, state.g)
    inside = np.minimum(boxed.rises(state.b, state.g) - level, level - boxed.falls(state.b, state.g))
    restless = np.count_nonzero(inside <= 0)
    found = state.nearest(1.0, 5, 300)
    assert (np.diff(found) > 0).all()
    assert len(found) == restless + 5
    assert inside[found].max() <= np.delete(inside, found).min()
    np.testing.assert_array_equal(state.nearest(100.0, 5, 300), np.arange(300))
    assert len(state.nearest(1.0, 300, 20)) == 20
