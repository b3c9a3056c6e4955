"""Polynomials as inequalities: texts, values, and the same about zero, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

from mercer.errors import InputError
from mercer.geometry import Ellipse, Inequality, preimage
from mercer.geometry.terms import Terms
from mercer.lifts.expansion import combinations


def inequality(width, degree, seed, origin=None, unit=None, names=()):
    factors = combinations(width, degree)
    rng = np.random.default_rng(seed)
    origin = np.zeros(width) if origin is None else np.asarray(origin, dtype=float)
    unit = np.ones(width) if unit is None else np.asarray(unit, dtype=float)
    return Inequality(Terms(factors, rng.normal(size=len(factors)), origin, unit), names)


def exact(terms, row):
    """The polynomial at a point, in fractions."""
    u = [(Fraction(x) - Fraction(m)) / Fraction(s) for x, m, s in zip(row, terms.origin, terms.unit, strict=True)]
    total = Fraction(0)
    for factors, number in zip(terms.factors.tolist(), terms.coefficients.tolist(), strict=True):
        product = Fraction(number)
        for column in factors:
            product *= u[column] if column >= 0 else 1
        total += product
    return total


@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_values_and_the_form_about_zero(width, degree, seed):
    rng = np.random.default_rng(seed)
    shape = inequality(width, degree, seed, rng.normal(size=width), rng.uniform(0.5, 2, size=width))
    X = rng.normal(size=(5, width))
    values = [float(exact(shape.terms, row)) for row in X.tolist()]
    np.testing.assert_allclose(shape.value(X), values, rtol=1e-12, atol=1e-12)
    plain = shape.expanded()
    assert not plain.terms.origin.any()
    assert (plain.terms.unit == 1).all()
    np.testing.assert_allclose(plain.value(X), values, rtol=1e-11, atol=1e-11)
    assert shape.degree == plain.degree == degree


def test_texts():
    shape = preimage(
        PolynomialFeatures(3).fit(np.zeros((1, 2))), [0, 0, -2, 1.5, 0, 0, 0, 1, 0, -1 / 3], 0.3, ["a", "b"]
    )
    assert str(shape) == "a^2 b - 0.333333 b^3 + 1.5 a^2 - 2 b + 0.3 >= 0"
    assert shape.kind == "inequality"
    factors, numbers = np.array([[0, 0, 0], [0, 1, -1], [-1, -1, -1]]), np.array([8.0, -6.0, 1.0])
    moved = Inequality(Terms(factors, numbers, np.array([3.0, -1.0]), np.array([2.0, 1.0])))
    assert str(moved) == "(x1 - 3)^3 - 3 (x1 - 3) (x2 + 1) + 1 >= 0"
    assert str(moved.expanded()) == "x1^3 - 9 x1^2 - 3 x1 x2 + 24 x1 + 9 x2 - 17 >= 0"
    nothing = Terms(factors, np.zeros(3), np.zeros(2), np.ones(2))
    assert str(Inequality(nothing)) == "0 >= 0"


def test_many_rows_are_evaluated_in_blocks():
    shape = inequality(2, 9, 0)
    X = np.random.default_rng(1).normal(size=(90_000, 2))  # 55 monomials: more than one block
    np.testing.assert_array_equal(shape.value(X)[[0, 45_000, -1]], shape.value(X[[0, 45_000, -1]]))
    assert shape.contains(X).shape == (90_000,)


@given(st.integers(0, 10**6))
def test_inequalities_go_to_a_lift_and_back(seed):
    rng = np.random.default_rng(seed)
    shape = inequality(2, 3, seed, rng.normal(size=2), rng.uniform(0.5, 2, size=2))
    lift = PolynomialFeatures(4).fit(np.zeros((1, 2)))
    weights, intercept = shape.halfspace(lift)
    X = rng.normal(size=(20, 2))
    np.testing.assert_allclose(lift.transform(X) @ weights + intercept, shape.value(X), rtol=1e-10, atol=1e-10)
    found = preimage(lift, weights, intercept)
    assert found.degree == 3
    np.testing.assert_allclose(found.value(X), shape.value(X), rtol=1e-10, atol=1e-10)


def test_a_lift_must_reach_the_degree():
    with pytest.raises(InputError, match="can express this inequality; its features hold no x1^3".replace("^", r"\^")):
        inequality(2, 3, 0).halfspace(PolynomialFeatures(2).fit(np.zeros((1, 2))))


def test_an_ellipse_turned_by_a_quarter_has_no_mixed_term():
    ellipse = Ellipse([0, 0], [100, 1], np.pi / 2)
    assert str(Inequality(ellipse.terms)) == "-x1^2 - 0.0001 x2^2 + 1 >= 0"
    assert len(ellipse.terms.coefficients) == 3


def test_inequalities_are_values():
    assert inequality(2, 3, 0) == inequality(2, 3, 0)
    assert inequality(2, 3, 0) != inequality(2, 3, 1)
    assert inequality(2, 3, 0).terms != "x1"
