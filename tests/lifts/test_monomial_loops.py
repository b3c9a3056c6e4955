"""Products of columns: compiled loops and NumPy give the same bits, which exact arithmetic confirms."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.compute.codegen import jit_cache
from mercer.lifts import monomial_loops, monomial_plan
from mercer.lifts.expansion import combinations
from mercer.lifts.monomial_index import Family

WAYS = ["numpy", "compiled"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Both ways to compute, whatever the size."""
    monkeypatch.setattr(monomial_loops, "MIN_COMPILED_VALUES", 0 if request.param == "compiled" else 1 << 62)
    return request.param


def table(n, d, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def product_by_product(X, factors, weights=None):
    """From the last factor to the first, in the dtype of X: a plain loop over all monomials."""
    columns = []
    for row in factors:
        column = np.ones(len(X), X.dtype)
        for c in reversed([c for c in row if c >= 0]):
            column = X[:, c] * column
        columns.append(column)
    result = np.stack(columns, axis=1)
    return result if weights is None else result * weights.astype(X.dtype)


def of_list(X, factors, weights=None):
    """By the plan of a list of monomials."""
    return monomial_loops.evaluate(X, monomial_plan.of_factors(factors, X.shape[1]), weights)


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_whole_families(way, dtype, repeated):
    for d, degree in [(1, 1), (1, 4), (2, 1), (2, 2), (3, 3), (5, 4), (40, 2)]:
        X = table(9, d, dtype)
        for lowest in {0, 1, degree}:
            family = Family(d, degree, lowest, repeated)
            if family.count == 0:
                continue
            factors = combinations(d, degree, lowest, repeated)
            weights = np.sqrt(1.0 + np.arange(len(factors)))
            plan = monomial_plan.of_family(family)
            for w in (None, weights):
                found = monomial_loops.evaluate(X, plan, w)
                assert found.dtype == dtype
                np.testing.assert_array_equal(found, product_by_product(X, factors, w))
                np.testing.assert_array_equal(found, of_list(X, factors, w))


def test_loops_as_written(loops_as_written, monkeypatch):
    monkeypatch.setattr(monomial_loops, "MIN_COMPILED_VALUES", 0)
    for weights in (None, np.arange(35.0)):
        X, factors = table(4, 4), combinations(4, 3)
        np.testing.assert_array_equal(of_list(X, factors, weights), product_by_product(X, factors, weights))


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=5).map(sorted), min_size=1, max_size=30),
    st.integers(0, 3),
)
def test_any_list_of_monomials(rows, n):
    """In any order, with gaps, even twice."""
    factors = np.array([row + [-1] * (5 - len(row)) for row in rows], dtype=np.intp)
    X = table(n, 5)
    np.testing.assert_array_equal(of_list(X, factors), product_by_product(X, factors))


def test_scattered_monomials(way):
    """Many short runs: NumPy then multiplies by lists of places."""
    every = combinations(12, 4)
    X, drawn = table(7, 12), np.random.default_rng(0).permutation(len(every))[:600]
    for chosen in (drawn, np.sort(drawn)):
        plan = monomial_plan.of_factors(every[chosen], 12)
        assert len(plan.outer) > max(64, plan.count / 8)
        np.testing.assert_array_equal(monomial_loops.evaluate(X, plan), product_by_product(X, every[chosen]))


def test_a_sorted_list_falls_into_a_run_a_column():
    factors = combinations(30, 3)
    plan = monomial_plan.of_factors(factors, 30)
    assert plan.count == len(factors) == 5456
    assert len(plan.joined) == 30
    assert len(plan.outer) == 1 + 30 + 30
    assert plan.size == 1 + 30 + 465


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("degree", [1, 2, 5, 9])
def test_each_is_off_by_its_roundings_only(way, dtype, degree):
    """Against rational arithmetic: p - 1 products, a weight that is rounded, and a product with it."""
    X, factors = table(3, 3, dtype), combinations(3, degree)
    weights = np.sqrt(1.0 + np.arange(len(factors)))
    found = monomial_loops.evaluate(X, monomial_plan.of_factors(factors, 3), weights)
    unit = Fraction(float(np.finfo(dtype).eps)) / 2
    for row, values in zip(X, found, strict=True):
        for monomial, weight, value in zip(factors, weights, values, strict=True):
            exact = Fraction(float(weight)) * prod(Fraction(float(row[c])) for c in monomial if c >= 0)
            assert abs(Fraction(float(value)) - exact) <= (degree + 2) * unit * abs(exact)


@pytest.mark.parametrize(
    "sizes",
    [
        {"PIECE_VALUES": 1},
        {"PIECE_VALUES": 200},
        {"BLOCK_NUMBERS": 1},
        {"MAX_COLUMNWISE_MONOMIALS": 0},
        {"MAX_COLUMNWISE_MONOMIALS": 1, "BLOCK_NUMBERS": 300},
    ],
)
def test_results_do_not_depend_on_the_size_of_pieces(way, sizes, monkeypatch):
    X, factors = table(23, 4), combinations(4, 3)
    wanted = product_by_product(X, factors)
    for constant, value in sizes.items():
        monkeypatch.setattr(monomial_loops, constant, value)
    for lowest in (0, 3):
        plan = monomial_plan.of_family(Family(4, 3, lowest))
        for workers in (1, 2, 5):
            found = monomial_loops.evaluate(X, plan, None, workers)
            np.testing.assert_array_equal(found, wanted[:, -plan.count :])


def test_rows_that_are_not_contiguous(way):
    X, factors = table(20, 8), combinations(4, 2)
    np.testing.assert_array_equal(of_list(X[::2, 1:8:2], factors), product_by_product(X[::2, 1:8:2], factors))


def test_infinities_are_honoured_without_a_word(way):
    """Results say what overflowed; lifts warn."""
    found = of_list(np.array([[1e200, -1e200]]), combinations(2, 2))
    np.testing.assert_array_equal(found, [[1, 1e200, -1e200, np.inf, -np.inf, np.inf]])


def test_without_numba_many_values_are_computed_all_the_same(no_compiled_loops, monkeypatch):
    monkeypatch.setattr(monomial_loops, "MIN_COMPILED_VALUES", 0)
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    X, factors = table(5, 3), combinations(3, 3)
    np.testing.assert_array_equal(of_list(X, factors), product_by_product(X, factors))


def test_few_values_need_no_compiled_code(no_compiled_loops):
    assert of_list(table(1000, 5), combinations(5, 3)).shape == (1000, 56)
