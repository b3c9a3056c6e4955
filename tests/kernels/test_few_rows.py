"""The matrix of few rows: of kernels of the distance from each distance once, of all others from both sides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import parse
from mercer.kernels import Gaussian
from mercer.kernels.evaluation import evaluate
from mercer.kernels.pairs import OnlyDistancesError, Pairs
from mercer.operators import Gram

KERNELS = (
    "gaussian(1.3)",
    "laplace(0.7)",
    "matern(nu=2.5, lengthscale=2)",
    "epanechnikov(3)",
    "gaussian(1e-160)",
    "gaussian(1) * laplace(2) + 2",
    "0.5 + 3*gaussian(1)**2",
    "exp(gaussian(2))",
)
SIZES = ((1, 1), (2, 1), (60, 3), (181, 5), (200, 30))
"""More than one block of pairs among them."""


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("text", KERNELS)
def test_distances_alone_give_the_same(text, size, monkeypatch):
    X = np.random.default_rng(0).normal(size=size)
    X[-1] = X[0]  # equal rows
    kernel = parse(text)
    seen = []
    given = evaluate._from_distances
    monkeypatch.setattr(evaluate, "_from_distances", lambda *given_: seen.append(given(*given_)) or seen[-1])
    found = kernel(X)
    points = evaluate.read(kernel, X)
    assert len(seen) == 1
    assert (seen[0] is None) == (len(X) == 1)
    assert_array_equal(found, found.T)
    with np.errstate(all="ignore"):
        assert_allclose(found, kernel.evaluate(Pairs(points, points)), rtol=5e-13, atol=1e-300)
    assert_array_equal(np.diagonal(found), kernel.diagonal(X))


class Boastful(Gaussian):
    """It says that it is a function of the distance, and asks for inner products."""

    def evaluate(self, pairs):
        return super().evaluate(pairs) + 0.25 * pairs.dot()

    def evaluate_diagonal(self, points):
        return super().evaluate_diagonal(points) + 0.25 * (points.values**2).sum(axis=1)


def test_a_kernel_that_asks_for_more_gets_both_sides():
    X, kernel = np.random.default_rng(0).normal(size=(30, 2)), Boastful(2.0)
    assert evaluate._from_distances(kernel, evaluate.read(kernel, X)) is None
    assert_allclose(kernel(X), Gaussian(2.0)(X) + 0.25 * X @ X.T, rtol=1e-12)


def test_other_questions_are_refused():
    pairs = evaluate.DistancePairs(np.ones(3))
    for question in (pairs.dot, pairs.norms, pairs.angle, pairs.coordinates):
        with pytest.raises(OnlyDistancesError):
            question()
    assert_array_equal(pairs.distance(), np.ones(3))
    assert_array_equal(pairs.full(2.0), [2.0, 2.0, 2.0])


@pytest.mark.parametrize("n", [120, 500])  # by NumPy, and by compiled code
@pytest.mark.parametrize("hasty", [False, True])
def test_all_entries_and_parts_of_one_matrix(n, hasty):
    X, kernel = np.random.default_rng(0).normal(size=(n, 4)), Gaussian(2.0)
    K = Gram(kernel, X).rough() if hasty else Gram(kernel, X)
    expected = kernel(X)
    whole = K.block(slice(None), slice(None))
    assert_allclose(whole, expected, rtol=1e-12)
    assert_array_equal(whole, whole.T)
    rows = np.random.default_rng(1).permutation(n)[: n // 2]
    out = np.empty((len(rows), len(rows)))
    K.between(rows, rows, out)
    assert_allclose(out, expected[np.ix_(rows, rows)], rtol=1e-12)
