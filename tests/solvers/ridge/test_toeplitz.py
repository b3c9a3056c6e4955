"""Products of waves on a grid by fast transforms, and conjugate gradients with them, against stored matrices."""

import numpy as np
import pytest

from mercer import kernels as k
from mercer.compute.runtime.run import IDLE
from mercer.kernels.points import Points
from mercer.learners.streaming.grid import GridMoments, feature_squares, feature_sums
from mercer.learners.streaming.stream import Piece
from mercer.lifts.wave_grid import wave_grid
from mercer.solvers.ridge.toeplitz import Toeplitz, solved

RANDOM = np.random.default_rng(0)


def summed(d, count=151, n=120):
    X, y, s = RANDOM.uniform(0, 1, (n, d)), RANDOM.standard_normal((n, 2)), RANDOM.integers(1, 4, n).astype(float)
    grid = wave_grid(k.Matern(1.5, 0.3), X.min(axis=0), X.max(axis=0), 1e-9, count)
    moments = GridMoments(grid, 2, centred=True)
    for part in (slice(0, 50), slice(50, n)):
        moments.add(Piece(part.start, part.stop, Points(X[part]), y[part], s[part], s[part]))
    return grid, X, y - moments.shift, s, *moments.joined()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_sums_hold_all_products_of_features(d):
    grid, X, y, s, boxes, squares = summed(d)
    F = grid.features(X)
    np.testing.assert_allclose(feature_squares(grid, boxes[0]), (F.T * s) @ F, atol=1e-11)
    np.testing.assert_allclose(feature_sums(grid, boxes[1:]), (s[:, None] * y).T @ F, atol=1e-11)
    np.testing.assert_allclose(squares, [s.sum(), *(s @ y**2)], rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_products_and_solutions(d, intercept):
    grid, X, _, s, boxes, _ = summed(d)
    F = grid.features(X)
    means = s @ F / s.sum() * intercept
    A = (F.T * s) @ F - s.sum() * np.outer(means, means)
    system = Toeplitz.of(grid, boxes[0], means, s.sum())
    W = RANDOM.standard_normal((grid.count, 3))
    np.testing.assert_allclose(system.times(W), A @ W, atol=1e-10)
    np.testing.assert_allclose(system.diagonal, np.diag(A), atol=1e-10)
    right, alphas = A @ W[:, :2], np.array([0.01, 1.0])
    chosen = np.arange(grid.count)[::3]
    found = solved(system, A[np.ix_(chosen, chosen)], chosen, right, alphas, np.full(2, 1e-6), IDLE)
    assert found.converged
    for t, alpha in enumerate(alphas):
        true = np.linalg.solve(A + alpha * np.eye(len(A)), right[:, t])
        off = found.weights[:, t] - true
        assert np.sqrt(off @ A @ off / s.sum()) < 1e-10  # what was asked for, of predictions
