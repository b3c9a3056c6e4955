"""Expansions: monomials, coefficients, and their texts."""

import math
import pickle
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.lifts import expansion as expansions
from mercer.lifts.expansion import Expansion, combinations, count, monomial_text, number_text, sum_text
from mercer.lifts.graded import Graded, root
from mercer.lifts.monomial_index import Family
from mercer.lifts.powers import Rising

CIRCLE = Expansion(
    2,
    np.array([[-1, -1], [0, -1], [0, 0], [0, 1], [1, 1]]),
    csr_array([[2.0, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, -1, 0, math.sqrt(2), 0]]),
)
"""Three features: 2 + x^2 + y^2, nothing, and -x + sqrt(2) x y."""


def table(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 12, 1 << 23])
def test_sums_of_monomials(block, monkeypatch):
    monkeypatch.setattr(expansions, "BLOCK_MONOMIALS", block)
    X = table(50, 2)
    x, y = X.T
    wanted = np.stack([2 + x**2 + y**2, 0 * x, -x + math.sqrt(2) * x * y], axis=1)
    np.testing.assert_allclose(CIRCLE.evaluate(X), wanted, rtol=1e-14, atol=1e-14)
    assert CIRCLE.evaluate(X.astype("float32")).dtype == np.float32
    assert CIRCLE.weights is None
    assert (len(CIRCLE), CIRCLE.size, CIRCLE.degree) == (3, 3, 2)


def test_weighted_monomials():
    factors, weights = combinations(3, 2), np.arange(1.0, 11.0)
    found = Expansion.weighted(3, factors, weights)
    np.testing.assert_array_equal(found.weights, weights)
    X = table(7, 3)
    plain = Expansion.weighted(3, factors, np.ones(10)).evaluate(X)
    np.testing.assert_array_equal(found.evaluate(X), plain * weights)
    np.testing.assert_array_equal(plain[:, 4:], np.stack([X[:, i] * X[:, j] for i, j in factors[4:]], axis=1))


def test_permuted_monomials_are_not_taken_for_weighted_ones():
    swapped = Expansion(2, np.array([[0], [1]]), csr_array([[0.0, 1.0], [1.0, 0.0]]))
    assert swapped.weights is None
    np.testing.assert_array_equal(swapped.evaluate(np.array([[3.0, 4.0]])), [[4.0, 3.0]])


def test_a_linear_function_of_features_is_a_polynomial():
    np.testing.assert_allclose(CIRCLE.combined(np.array([1.0, 5.0, 2.0])), [2, -2, 1, 2 * math.sqrt(2), 1])


def test_no_feature_exceeds_the_largest():
    assert CIRCLE.largest == pytest.approx(4.0)
    X = table(200, 2, seed=1)
    bound = CIRCLE.largest * np.maximum(1, np.abs(X).max(axis=1)) ** 2
    assert (np.abs(CIRCLE.evaluate(X)) <= bound[:, None]).all()


# -- lists -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lowest", [0, 1, 3])
def test_combinations_are_those_of_itertools(lowest):
    for d in (1, 2, 4):
        wanted = [[*m, *[-1] * (3 - p)] for p in range(lowest, 4) for m in combinations_with_replacement(range(d), p)]
        found = combinations(d, 3, lowest)
        assert found.tolist() == wanted
        assert count(d, 3, lowest) == len(wanted)


def test_combinations_of_different_columns():
    assert combinations(3, 3, 2, repeated=False).tolist() == [[0, 1, -1], [0, 2, -1], [1, 2, -1], [0, 1, 2]]
    assert combinations(3, 0).tolist() == [[-1]]
    assert count(3, 3, 2, repeated=False) == 4


# -- what is built on demand -------------------------------------------------------------------------------------------


def square(degree):
    """degree! 2^degree, for weights that differ."""
    return Fraction(math.factorial(degree) * 2**degree)


DEFERRED = {
    "graded": Graded(Family(3, 3), square),
    "graded, from degree 2": Graded(Family(4, 3, 2), square),
    "graded, different columns": Graded(Family(4, 3, 0, repeated=False), square),
    "graded, without weights": Graded(Family(3, 3, 1)),
    "rising": Rising(3, 4),
}


@pytest.mark.parametrize("found", DEFERRED.values(), ids=DEFERRED)
def test_what_is_built_on_demand_is_the_same_expansion(found):
    tables = Expansion(found.width, found.factors, found.coefficients)
    X = table(6, found.width)
    np.testing.assert_allclose(found.evaluate(X), tables.evaluate(X), rtol=1e-15)
    np.testing.assert_array_equal(found.weights, tables.weights)
    assert (found.size, len(found), found.degree) == (tables.size, len(tables), tables.degree)
    assert found.largest == pytest.approx(tables.largest, rel=1e-15)
    names = [f"x{j}" for j in range(1, found.width + 1)]
    assert found.names(names) == tables.names(names)
    weights = np.arange(1.0, 1 + found.size)
    np.testing.assert_allclose(found.combined(weights), tables.combined(weights))


def test_weights_follow_the_exponents():
    """The root of square(|a|) / prod a!, with mathematics' own factorials."""
    found = DEFERRED["graded"]
    for row, weight in zip(found.factors, found.weights, strict=True):
        columns = [c for c in row if c >= 0]
        factorials = math.prod(math.factorial(columns.count(c)) for c in range(3))
        assert weight == pytest.approx(math.sqrt(square(len(columns)) / factorials), rel=4e-16)


def test_the_largest_weight_is_found_without_all_weights():
    for width in (1, 2, 3, 7):
        for degree in (1, 2, 5):
            found = Graded(Family(width, degree), square)
            assert found.largest == found.weights.max()


def test_tables_are_refused_where_they_do_not_fit(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls, fraction=0.8: cls(1 << 27)))
    found = Graded(Family(30_000, 2))
    assert found.size == 450_045_001
    with pytest.raises(BudgetError, match=r"An expansion needs .* for a table of 450045001 monomials; 128.0 MiB may"):
        found.names(["x"])
    with pytest.raises(BudgetError, match="a table of 450045001 monomials"):
        found.coefficients  # noqa: B018


def test_tables_are_not_pickled():
    found = Graded(Family(20, 3))
    before = len(pickle.dumps(found))
    assert found.factors.shape == (1771, 3)
    found.evaluate(table(2, 20))
    assert len(pickle.dumps(found)) == before < 1000
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    np.testing.assert_array_equal(again.evaluate(table(2, 20)), found.evaluate(table(2, 20)))
    assert pickle.loads(pickle.dumps(CIRCLE)).names("xy") == CIRCLE.names("xy")  # noqa: S301


def test_roots_of_numbers_that_fit_no_float():
    assert root(Fraction(0)) == 0.0
    assert root(Fraction(10) ** 600) == pytest.approx(1e300, rel=3e-16)
    assert root(Fraction(1, 10**600)) == pytest.approx(1e-300, rel=3e-16)
    assert root(Fraction(10) ** 700) == math.inf
    assert all(root(Fraction(n)) == math.sqrt(n) for n in range(1, 200))


# -- texts -------------------------------------------------------------------------------------------------------------


def test_names():
    assert CIRCLE.names(["x", "y"]) == ["2 + x^2 + y^2", "0", "-x + sqrt(2) x y"]
    assert monomial_text(np.array([0, 2, 2, -1]), ["a", "b", "c"]) == "a c^2"
    assert monomial_text(np.array([-1, -1]), ["a"]) == "1"
    assert sum_text(["1", "x"], [-1.0, -0.5]) == "-1 - 0.5 x"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (0.5, "0.5"),
        (123456.0, "123456"),
        (2e6, "2e+06"),
        (1234567.0, "1.23457e+06"),
        (math.sqrt(6), "sqrt(6)"),
        (math.sqrt(1.5), "sqrt(3/2)"),
        (math.sqrt(0.2), "sqrt(1/5)"),
        (1 / 3, "0.333333"),
        (math.pi, "3.14159"),
        (math.sqrt(2) + 1e-9, "1.41421"),
        (math.inf, "inf"),
    ],
)
def test_numbers(number, text):
    assert number_text(number) == text
