"""Arithmetic of expansions, against plain arithmetic of their features and of their kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.lifts import algebra
from mercer.lifts.expansion import Expansion, combinations

NAMES = ["x1", "x2", "x3"]
X = np.random.default_rng(0).normal(size=(6, 3))
Z = np.random.default_rng(1).normal(size=(5, 3))


def gram(expansion, left=X, right=Z):
    return expansion.evaluate(left) @ expansion.evaluate(right).T


def drawn(degree, features, seed, width=3):
    """A random expansion with some coefficients that are zero."""
    rng = np.random.default_rng(seed)
    factors = combinations(width, degree)
    C = rng.normal(size=(features, len(factors))) * (rng.random((features, len(factors))) < 0.5)
    return Expansion(width, factors, algebra.csr_array(C))


def test_sums_stand_side_by_side():
    a, b = drawn(2, 3, 0), drawn(1, 2, 1)
    assert_allclose(algebra.added(a, b).evaluate(X), np.hstack([a.evaluate(X), b.evaluate(X)]), rtol=1e-12, atol=1e-13)


def test_products_are_all_products_in_order():
    a, b = drawn(2, 3, 2), drawn(2, 2, 3)
    wanted = (a.evaluate(X)[:, :, None] * b.evaluate(X)[:, None, :]).reshape(len(X), -1)
    assert_allclose(algebra.multiplied(a, b).evaluate(X), wanted, rtol=1e-11, atol=1e-12)


def test_a_factor_multiplies_every_feature():
    a = drawn(2, 3, 4)
    assert_allclose(algebra.scaled(a, -2.5).evaluate(X), -2.5 * a.evaluate(X), rtol=1e-14)


def test_columns_may_be_chosen_twice():
    a = drawn(2, 4, 5)
    chosen = algebra.on_columns(a, [2, 0, 2], 3)
    assert_allclose(chosen.evaluate(X), a.evaluate(X[:, [2, 0, 2]]), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_a_map_is_multiplied_out(degree):
    a, matrix = drawn(degree, 3, 6, width=4), np.random.default_rng(7).normal(size=(4, 3))
    assert_allclose(
        algebra.substituted(a, algebra.linear(matrix)).evaluate(X), a.evaluate(X @ matrix.T), rtol=1e-10, atol=1e-12
    )


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 2))
def test_property_simplifying_keeps_the_kernel_and_its_rank(seed, features, degree):
    a = drawn(degree, features, seed)
    simple = algebra.simplified(a)
    scale = np.sqrt((a.evaluate(X) ** 2).sum(axis=1))[:, None] * np.sqrt((a.evaluate(Z) ** 2).sum(axis=1))
    assert (np.abs(gram(simple) - gram(a)) <= 1e-12 * scale + 1e-300).all()
    assert len(simple) == np.linalg.matrix_rank(a.coefficients.toarray(), tol=1e-9)


def test_equal_kernels_have_equal_features():
    turned = algebra.linear(np.array([[3.0, 4.0], [-4.0, 3.0]]) / 5)
    assert algebra.simplified(turned).names(["x1", "x2"]) == ["x1", "x2"]


def test_features_that_vanish_are_left_out():
    nothing = algebra.simplified(algebra.scaled(algebra.linear(np.eye(2)), 0.0))
    assert len(nothing) == 0
    assert nothing.evaluate(X[:, :2]).shape == (6, 0)


def test_many_mixed_monomials_are_left_as_they_are(monkeypatch):
    monkeypatch.setattr(algebra, "MAX_MIXED_MONOMIALS", 2)
    a = algebra.linear(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    assert algebra.simplified(a).names(NAMES) == ["x1 + x2 + x3"] * 2
    assert_allclose(gram(algebra.simplified(a)), gram(a), rtol=1e-13)


def test_echelon_of_a_singular_matrix():
    C = np.array([[0.6, 1.2, 0.0], [0.8, 1.6, 0.0], [0.0, 0.0, -3.0]])
    assert_allclose(algebra.echelon(C), [[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], rtol=1e-15)
    assert_allclose(algebra.echelon(np.vstack([C, 0 * C])), [[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], rtol=1e-15)


@pytest.mark.parametrize("near", [1e-3, 1e-6, 1e-9, 0.0])
def test_echelon_of_nearly_dependent_columns(near):
    for seed in range(20):
        C = np.random.default_rng(seed).normal(size=(6, 6))
        C[:, 3], C[:, 4] = C[:, 0] + near * C[:, 3], C[:, 1] - C[:, 0] + near * C[:, 4]
        R = algebra.echelon(C)
        leading = (R != 0).argmax(axis=1)
        assert (np.diff(leading) > 0).all()
        assert (R[np.arange(len(R)), leading] > 0).all()
        assert len(R) == (6 if near else 4)
        assert np.abs(R.T @ R - C.T @ C).max() <= 1e-14 * (C**2).sum(axis=0).max()
