"""Never silently wrong: an ill-conditioned problem is solved to 1e-6 (float32: 1e-3), or a warning says how bad it is.

The truth comes from mpmath, with formulas of its own for each kernel (many_digits.py), for the very floats given.
"""

import inspect

import mpmath
import numpy as np
import pytest
from ill_conditioned import ALPHAS, KERNELS, LIMITS, NONNEGATIVE, TABLES, report, suite
from many_digits import mp, predictions, value

from mercer import kernels as k
from mercer.kernels.evaluation.evaluate import leaves
from mercer.kernels.points import Points

FALSE_ALARMS = 0.05
"""The most of all problems that may be told of although they are right; 6 of 364 were when this was written."""
NO_KERNELS = {k.Sigmoid, k.Epanechnikov}


def test_there_are_200_problems_of_all_kinds():
    problems = suite()
    assert len(problems) >= 200
    assert len({problem.name for problem in problems}) == len(problems)
    labels = [problem.label for problem in problems]
    assert all(sum(label.startswith(f"{kernel}, ") for label in labels) >= 5 for kernel in KERNELS)
    assert all(sum(label.endswith(f", {table}") for label in labels) >= 5 for table in TABLES)
    alphas = [problem.alpha for problem in problems]
    assert all(alphas.count(alpha) >= 5 for alpha in ALPHAS)
    assert {1e-14, 1.0, 0.0, "auto"} < set(ALPHAS)
    for kind in (
        lambda problem: problem.X.dtype == np.float32,
        lambda problem: problem.intercept,
        lambda problem: not problem.intercept,
        lambda problem: problem.weights is not None,
        lambda problem: problem.y.ndim == 2,
    ):
        assert sum(map(kind, problems)) >= 20
    sides = [report(index).side for index in range(len(problems))]
    assert min(sides.count("primal"), sides.count("dual")) >= 50


def test_every_kernel_is_there():
    concrete = {each for _, each in inspect.getmembers(k, inspect.isclass) if issubclass(each, k.Kernel)}
    concrete = {each for each in concrete if not inspect.isabstract(each) and each.of_numbers} - NO_KERNELS
    seen = set()
    for problem in suite():
        kernel = problem.kernel.resolve(problem.X.astype(float))
        seen |= {type(leaf) for leaf, _ in leaves(kernel, Points(problem.X.astype(float)))} | set(_inner(kernel))
    assert concrete <= seen


def _inner(kernel):
    yield type(kernel)
    for child in kernel.children:
        yield from _inner(child)


@pytest.mark.parametrize("index", range(len(suite())), ids=lambda index: f"{index:03} {suite()[index].name}")
def test_right_or_told(index):
    found = report(index)
    assert not found.silent, f"off by {found.error:.1e}, thought to be {found.rounding:.1e}, and nothing was said"
    assert all(told == f"{found.condition:.1e}" for told in found.told)
    assert bool(found.told) == (not found.converged or found.rounding > found.problem.limit)


def test_warnings_are_not_given_everywhere():
    reports = [report(index) for index in range(len(suite()))]
    assert sum(each.missed for each in reports) >= 50, "the problems are too easy to show anything"
    assert sum(each.false_alarm for each in reports) <= FALSE_ALARMS * len(reports)
    assert sum(bool(each.told) for each in reports) <= 2 * sum(each.missed for each in reports)


@pytest.mark.parametrize("label", ["subsets, directions without rows", "less off balance", "unequal weights"])
def test_what_once_was_wrong_is_right(label):
    """These were off by more than 1e-6 without a word in an earlier version; they are solved now, not only told of."""
    found = [report(index) for index, problem in enumerate(suite()) if label in problem.label]
    assert found
    assert max(each.error for each in found) < LIMITS["float64"] / 10
    assert not any(each.told for each in found)


# -- the oracle -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_the_formulas_of_the_oracle(name):
    """On harmless rows, where floats lose nothing, against the kernels, which have other oracles of their own."""
    X = np.random.default_rng(0).normal(size=(6, 3))
    X = np.abs(X) if name in NONNEGATIVE else X
    kernel = KERNELS[name](X).resolve(X)
    mp.dps = 40
    wanted = [[float(value(kernel, *([mp.mpf(number) for number in row] for row in (x, z)))) for z in X] for x in X]
    np.testing.assert_allclose(kernel(X), wanted, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_equations_of_the_oracle(intercept):
    """Against the derivatives of the penalised sum of squares, which are zero at the model."""
    X, Y = np.array([[0.0], [1.0], [3.0]]), np.array([[1.0], [2.0], [-1.0]])
    weights, alpha = np.array([1.0, 2.0, 0.5]), 0.3
    with mpmath.workdps(30):
        K = mpmath.matrix([[mpmath.exp(-(mpmath.mpf(x - z) ** 2) / 2) for z in X[:, 0]] for x in X[:, 0]])
        S, one = mpmath.diag(weights.tolist()), mpmath.ones(3, 1)
        # d/da: K S (K a + b - y) + alpha K a = 0, and d/db: 1'S (K a + b - y) = 0
        system, right = mpmath.zeros(4), mpmath.zeros(4, 1)
        system[:3, :3], system[:3, 3] = K * S * K + alpha * K, K * S * one
        system[3, :3], system[3, 3] = one.T * S * K, (one.T * S * one)[0]
        right[:3, 0], right[3] = K * S * mpmath.matrix(Y.tolist()), (one.T * S * mpmath.matrix(Y.tolist()))[0]
        size = 3 + intercept
        solved = mpmath.lu_solve(system[:size, :size], right[:size, 0])
        wanted = K * solved[:3, 0] + (solved[3] if intercept else 0) * one
    found = predictions(k.Gaussian(1.0), X, Y, X[:0], np.array([alpha]), weights, intercept)
    np.testing.assert_allclose(found[:, 0], [float(number) for number in wanted], rtol=1e-15)


def test_without_a_penalty_the_oracle_takes_the_limit():
    """Of two equal rows the mean of their y, and of an underdetermined problem the shortest solution."""
    X, Y = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0], [3.0]])
    found = predictions(k.Linear(), X, Y, np.array([[1.0, 5.0]]), np.array([0.0]), None, intercept=False)
    np.testing.assert_allclose(found[:, 0], [2.0, 2.0, 2.0], rtol=1e-15)
