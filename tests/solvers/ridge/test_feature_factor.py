"""An orthogonal factor of features, against dense NumPy."""

from fractions import Fraction

import numpy as np
import pytest

from mercer.operators.dense import TILE_NUMBERS
from mercer.solvers import Eigen
from mercer.solvers.ridge.cholesky_factor import factorize
from mercer.solvers.ridge.feature_factor import MAX_SQUARED_CONDITION, factor_of, fitted, suffices, triangle_of


def table(n, p, k=2, seed=0):
    draw = np.random.default_rng([seed, n, p])
    return draw.normal(size=(n, p)), draw.normal(size=(n, k))


def lengths(Z):
    return np.linalg.norm(Z, axis=0)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize(("n", "p"), [(30, 7), (7, 30), (9, 9), (1, 4), (5, 1)])
def test_the_solution_and_what_it_serves_for(n, p, alpha):
    Z, Y = table(n, p)
    factor, w = fitted(Z, Y, alpha, lengths(Z), n)
    A = Z.T @ Z + alpha * np.eye(p)
    inverse = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    np.testing.assert_allclose(w, inverse @ Z.T @ Y, rtol=1e-9, atol=1e-11)
    g = np.random.default_rng(1).normal(size=(p, 3))
    np.testing.assert_allclose(factor.solve(g, np.full(3, alpha)), inverse @ g, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(factor.inverse_diagonal(alpha), np.diagonal(inverse), rtol=1e-8)
    np.testing.assert_allclose(factor.multiply(g), Z.T @ (Z @ g), rtol=1e-9, atol=1e-10)
    scores = (Z @ factor.vectors) ** 2 @ factor.inverses(np.array([alpha]))
    np.testing.assert_allclose(scores[:, 0], np.diagonal(Z @ inverse @ Z.T), rtol=1e-9)
    assert factor.is_clear
    if alpha or n >= p:
        np.testing.assert_allclose(factor.log_determinant(alpha), np.linalg.slogdet(A)[1], rtol=1e-9)
    else:
        assert factor.log_determinant(alpha) == -np.inf


def test_blocks_of_rows_give_the_same_triangle():
    Z, Y = table(TILE_NUMBERS // 10, 30, 3)
    R, C = triangle_of(Z, Y)
    np.testing.assert_allclose(R.T @ R, Z.T @ Z, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(R.T @ C, Z.T @ Y, rtol=1e-10, atol=1e-9)
    np.testing.assert_array_equal(np.tril(R, -1), 0.0)


def test_columns_of_any_length_are_alike():
    """Powers of two change no digit: weights are those of the unscaled columns, to the last digit nearly."""
    Z, Y = table(40, 6)
    scales = 2.0 ** np.array([0, 40, -30, 10, -60, 5])
    w = fitted(Z, Y, 0.0, lengths(Z), 40).weights
    other, scaled = fitted(Z * scales, Y, 0.0, lengths(Z * scales), 40)
    np.testing.assert_allclose(scaled * scales[:, None], w, rtol=1e-13)
    assert len(other.values) == 6
    assert other.condition > 1e40


def test_dependent_columns_give_the_shortest_weights():
    Z, Y = table(40, 5)
    Z = np.hstack([Z, Z[:, :2] + Z[:, 2:4], 1e6 * Z[:, :1]])
    factor, w = fitted(Z, Y, 0.0, lengths(Z), 40)
    assert len(factor.values) == 5
    assert factor.is_clear
    np.testing.assert_allclose(w, np.linalg.pinv(Z) @ Y, rtol=1e-8, atol=1e-11)


def test_the_rank_is_in_doubt_where_singular_values_fall_to_rounding_by_steps():
    Q, _ = np.linalg.qr(table(40, 12)[0])
    V, _ = np.linalg.qr(table(12, 12)[0])
    Z = (Q * 10.0 ** -np.arange(0, 24, 2)) @ V.T
    assert not factor_of(Z, 0.0, lengths(Z), 40).is_clear


def test_lauchlis_columns():
    """Columns (1, e, 0), (1, 0, e): Z'Z is singular in float64, and the weights are known as fractions."""
    e = 2.0**-30
    Z, y = np.array([[1.0, 1.0], [e, 0.0], [0.0, e]]), np.array([[2.0], [3 * e], [-e]])
    # (Z'Z) w = Z'y with Z'Z = [[1 + e^2, 1], [1, 1 + e^2]] and Z'y = [2 + 3 e^2, 2 - e^2]
    square = Fraction(e) ** 2
    det = (1 + square) ** 2 - 1
    right = 2 + 3 * square, 2 - square
    wanted = [((1 + square) * right[0] - right[1]) / det, ((1 + square) * right[1] - right[0]) / det]
    assert np.linalg.matrix_rank(Z.T @ Z) == 1
    np.testing.assert_allclose(fitted(Z, y, 0.0, lengths(Z), 3).weights[:, 0], [float(w) for w in wanted], rtol=1e-6)


@pytest.mark.parametrize("exponent", [4, 5, 7, 8])
def test_when_a_factor_of_the_squares_suffices(exponent):
    """By the condition number of columns of equal length, squared: scales of columns do not count."""
    Q, _ = np.linalg.qr(table(40, 4)[0])
    Z = Q @ np.array([[1.0, 1, 1, 1], [0, 10.0**-exponent, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    Z[:, 2] *= 1e3
    A, alphas = Z.T @ Z, np.zeros(1)
    good = 10.0 ** (2 * exponent) < MAX_SQUARED_CONDITION / 10
    known = factorize(A.copy(), 0.0)
    if known is not None:
        assert suffices(known, alphas) == good
    assert good or not suffices(Eigen().decompose(A.copy()), alphas)
