"""What solvers say they cost, the condition they report, and the residual: by hand, and at the ends of the range."""

import numpy as np
import pytest

from mercer.solvers import Cholesky, ConjugateGradient, Cost, Eigen, GradientDescent, Solver, System
from mercer.solvers.logistic.newton import _level
from mercer.solvers.ridge import blocked_cholesky
from mercer.solvers.ridge.base import opening
from mercer.solvers.ridge.checks import relative_residual, solves


def test_cholesky_counts_a_factor_and_two_solutions_and_products():
    """A third of n^3, and for each output two triangles of n^2 and a product of 2 n^2."""
    n, outputs = 30, 4
    cost = Cholesky().cost(n, outputs)
    assert cost.operations == pytest.approx(9000 + outputs * (2 * n**2 + 2 * n**2))
    assert cost.numbers == n**2 + outputs * 4 * n


def test_conjugate_gradients_count_products_and_a_factor():
    """A product of 2 n^2 and a preconditioner of 4 n k for each output and step, and once 3 n k^2 + k^3 / 3."""
    n, k, steps, outputs = 100, 6, 3, 2
    cost = ConjugateGradient(preconditioner_rank=k, max_iter=steps).cost(n, outputs)
    once = 3 * n * k**2 + k**3 / 3
    assert cost.operations == pytest.approx(once + (steps + 1) * outputs * (2 * n**2 + 4 * n * k))
    assert cost.numbers == n * k + 3 * k**2 + 12 * n * outputs
    assert ConjugateGradient(preconditioner_rank=500, max_iter=steps).cost(n, 1) == ConjugateGradient(
        preconditioner_rank=n, max_iter=steps
    ).cost(n, 1)


@pytest.mark.parametrize("alphas", [[0.0], [0.0, 3.0]])
def test_the_condition_of_the_identity_is_one(alphas):
    outcome = Cholesky().solve(System(np.eye(4), np.ones((4, len(alphas))), np.array(alphas)))
    assert outcome.condition == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_residuals_have_no_unit(unit):
    """x is 2 % too large in the first output, 4 % in the second; squares of the targets leave the range of floats."""
    A, alphas = np.diag([1.0, 2.0, 4.0]), np.array([0.5, 1.0])
    x = unit * np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    system = System(A, A @ x + alphas * x, alphas)
    wrong = x * np.array([1.02, 1.04])
    assert relative_residual(system, A @ wrong, wrong) == pytest.approx(0.04, rel=1e-10)
    assert relative_residual(system, A @ x, x) < 1e-15


def test_residuals_of_nothing():
    system = System(np.eye(2), np.zeros((2, 1)), np.ones(1))
    assert relative_residual(system, np.zeros((2, 1)), np.zeros((2, 1))) == 0.0
    assert relative_residual(system, np.ones((2, 1)), np.ones((2, 1))) == np.inf


def test_what_a_solution_is_called():
    told = []
    assert solves(1e-12, told)
    assert told == []
    assert not solves(1.0, told)
    assert told == ["The solution leaves a residual of 1.0e+00: A + alpha I is singular to rounding."]
    assert opening(ValueError("the fit was stopped. ")) == "The fit was stopped"


def test_a_factor_tells_how_far_it_is(monkeypatch):
    """After each strip, the share of all operations that the panels before take: those of n^3 - (n - s)^3, about."""
    monkeypatch.setattr(blocked_cholesky, "PANEL_COLUMNS", 8)
    shares = []

    class Told:
        def tell(self, done):
            shares.append(done)

    assert blocked_cholesky.factor_in_place(np.asfortranarray(np.eye(32)), Told()) == 0
    assert shares == [0.0, *(part**2 * (3 - 2 * part) for part in (0.25, 0.5)), 1.0]


def test_intercepts_of_many_classes_have_a_mean_of_zero():
    change, moved = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]), np.ones((2, 3))
    level, scores = _level(change.copy(), moved.copy())
    np.testing.assert_array_equal(level, [[1, 2, 3], [-2, -1, 3]])
    np.testing.assert_array_equal(scores, moved - 6.0)
    one, same = _level(change[:, :1].copy(), moved[:, :1].copy())
    np.testing.assert_array_equal(one, change[:, :1])
    np.testing.assert_array_equal(same, moved[:, :1])


class Stopwatch:
    """A machine that takes a second for an operation or a number, a thousand for an eigenvector, and notes float32."""

    def __init__(self):
        self.single = None

    def multiply(self, operations):
        return operations

    def read(self, numbers):
        return numbers

    def store(self, numbers):
        return numbers

    def cholesky(self, n, single=False):
        self.single = single
        return n**3 / 3

    def eigenvectors(self, n):
        return 1000 * n


class Own(Cholesky):
    """A solver of somebody else, which states its operations alone."""

    seconds = Solver.seconds

    def cost(self, n, outputs):
        return Cost(2.0 * n * outputs, n)


def test_solvers_tell_their_seconds():
    n, watch = 30, Stopwatch()
    assert Cholesky().seconds(n, 1, watch) == pytest.approx(n**3 / 3 + 10 * n**2)
    assert Eigen().seconds(n, 1, watch) == pytest.approx(1000 * n + 10 * n**2)
    descent = GradientDescent(max_iter=5)
    assert descent.seconds(n, 2, watch) == descent.cost(n, 2).operations / 2
    assert Own().seconds(n, 3, watch) == n * 3


@pytest.mark.skipif(not blocked_cholesky.available("s"), reason="no float32 factor on this machine")
@pytest.mark.parametrize(("n", "largest", "alpha", "single"), [(8000, 10.0, 1.0, True), (8000, 1e9, 1e-9, False)])
def test_cholesky_tells_when_a_factor_in_float32_will_do(n, largest, alpha, single):
    watch = Stopwatch()
    seconds = Cholesky().seconds(n, 1, watch, largest, alpha)
    assert watch.single is single
    assert seconds == pytest.approx(n**3 / 3 + (18 if single else 10) * float(n) ** 2)


@pytest.mark.parametrize(("largest", "alpha"), [(None, 1.0), (10.0, None), (10.0, 1.0)])
def test_nothing_is_known_without_a_sample_and_of_few_rows(largest, alpha):
    watch = Stopwatch()
    Cholesky().seconds(100, 1, watch, largest, alpha)
    assert watch.single is False
