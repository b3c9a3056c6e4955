"""Perceptrons on a budget: rows of no length, which change nothing."""

import numpy as np
import pytest

from mercer import KernelPerceptron
from mercer.operators import Dense
from mercer.solvers.perceptron.budget import STRATEGIES, Budgeted
from mercer.solvers.perceptron.perceptron import MistakeLog


def draw(n=200):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, 0)


@pytest.mark.parametrize("budget", [1, 5])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_of_no_length_are_not_remembered(strategy, budget):
    """All is as if they were not there, but that they are mistakes."""
    X, y = draw()
    settings = {"budget": budget, "strategy": strategy, "max_iter": 1}
    wanted = KernelPerceptron("linear", **settings).fit(X, y)
    zeros = np.vstack([np.zeros((2, 3)), X[:50], np.zeros((1, 3)), X[50:]])
    found = KernelPerceptron("linear", **settings).fit(zeros, np.concatenate([[1, 0], y[:50], [1], y[50:]]))
    np.testing.assert_array_equal(zeros[found.support_], X[wanted.support_])
    np.testing.assert_allclose(found.dual_coef_, wanted.dual_coef_, rtol=1e-12)
    assert found.history_.tolist() == [wanted.history_[0] + 3]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_is_learned_from_zeros_alone(strategy):
    memory = STRATEGIES[strategy](1, 1)
    learner, log = Budgeted(Dense(np.zeros((4, 4))), memory, np.zeros(0, np.intp)), MistakeLog()
    learner.one_pass(np.arange(4), np.array([0, 1, 0, 1]), log)
    assert (len(learner.support), memory.used, log.history) == (0, 0, [4])
    model = KernelPerceptron("linear", budget=1, strategy=strategy).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert len(model.support_) == 0
    assert len(set(model.predict(np.ones((3, 2))).tolist())) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_memory_grows_with_the_rows_that_are_remembered(strategy):
    """A budget that nobody could allocate is the same as one that is never reached, also for rows that come later."""
    X, y = draw()
    found = KernelPerceptron("gaussian(1)", budget=10**9, strategy=strategy)
    wanted = KernelPerceptron("gaussian(1)", budget=500, strategy=strategy)
    for model in (found, wanted):
        model.fit(X, y)
        for _ in range(3):
            model.partial_fit(X[::-1] + 0.5, y[::-1])
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_array_equal(found.dual_coef_, wanted.dual_coef_)
    assert found._state.memory.inner.shape[0] <= 64 + 1.5 * len(found.support_)
    assert found.plan_.bytes < 1e9


def test_slots_are_added_as_they_are_needed():
    """Sixty-five mistakes and more: each is a row of its own to the kernel, and labels alternate."""
    n, kernel = 150, "gaussian(0.01)"
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    for strategy in STRATEGIES:
        wide = KernelPerceptron(kernel, budget=1000, strategy=strategy, max_iter=1).fit(X, y)
        assert len(wide.support_) == n
        narrow = KernelPerceptron(kernel, budget=100, strategy=strategy, max_iter=1).fit(X, y)
        assert (len(narrow.support_), narrow._state.memory.inner.shape) == (100, (100, 100))
