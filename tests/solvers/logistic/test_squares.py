"""Squares of features, by a spectrum and by a factor: both against dense NumPy."""

import numpy as np
import pytest

from mercer.solvers.logistic.squares import OfFactor, Spectral


def draw(n=60, rank=60, seed=0):
    random = np.random.default_rng(seed)
    B = random.normal(size=(n, rank)) * 0.8 ** np.arange(rank)
    return B @ B.T, B


def of_factor(A, L):
    both = np.tril(A) + np.triu(np.full_like(A, np.nan), 1)  # the other triangle is not read
    return OfFactor(L, both, A.diagonal().copy(), float(np.linalg.norm(A, np.inf)))


@pytest.mark.parametrize("rank", [1, 20, 60])
@pytest.mark.parametrize("alpha", [1e-4, 1.0, 100.0])
def test_division(rank, alpha):
    A, L = draw(rank=rank)
    G, W = L.T @ L, np.random.default_rng(1).normal(size=(rank, 3))
    curvatures = np.array([0.25, 0.03125, 2.0])  # powers of two: nothing is rounded to one
    wanted = np.column_stack(
        [np.linalg.solve(c * G + alpha * np.eye(rank), w) for c, w in zip(curvatures, W.T, strict=True)]
    )
    values, vectors = np.linalg.eigh(G)
    for squares in (of_factor(A, L), Spectral(values, vectors)):
        np.testing.assert_allclose(squares.divided(W, curvatures, alpha), wanted, rtol=1e-7, atol=1e-9 / alpha)


def test_other_curvatures_count_as_the_nearest_power_of_two():
    A, L = draw()
    squares, W = of_factor(A, L), np.ones((60, 1))
    near = squares.divided(W, np.array([0.23]), 1.0)
    np.testing.assert_array_equal(near, squares.divided(W, np.array([0.25]), 1.0))
    assert len(squares._known) == 1


@pytest.mark.parametrize("rank", [1, 10, 25])
def test_what_is_fitted(rank):
    A, L = draw(rank=rank)
    W = np.random.default_rng(1).normal(size=(rank, 2))
    wanted = np.linalg.solve(L.T @ L, W)
    values, vectors = np.linalg.eigh(L.T @ L)
    for squares in (of_factor(A, L), Spectral(values, vectors)):
        np.testing.assert_allclose(squares.fitted(W), wanted, rtol=1e-5)
