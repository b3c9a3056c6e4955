"""Certificates of fits against the exact solution, from dense equations."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from dense_models import draw, saddle
from numpy.testing import assert_allclose

from mercer.errors import InputError
from mercer.kernels import Gaussian, Laplace
from mercer.kernels.points import Points
from mercer.learners.certificates import bounds
from mercer.learners.certificates.approximation import Approximation
from mercer.learners.certificates.bounds import of_features, of_landmarks, of_residual
from mercer.learners.certificates.sampled_bounds import BOUND_PROBABILITY
from mercer.learners.streaming.basis import LiftBasis, landmark_basis
from mercer.lifts import Nystrom, RandomFourier
from mercer.operators import Centering

N = 200
X, Y = draw(N, 3, outputs=2, seed=2)
NEW = np.random.default_rng(8).normal(size=(50, 3))
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, N)
KERNELS = {"laplace": Laplace(2.0), "gaussian": Gaussian(1.5)}
CASES = [(True, None), (True, WEIGHTS), (False, WEIGHTS), (False, None)]
CASE = pytest.mark.parametrize(("intercept", "weights"), CASES, ids=["plain", "weighted", "no intercept", "neither"])


def exact(kernel, alphas, intercept, s):
    """The exact model: dual coefficients, intercepts, its predictions, and the mean of k(., x_i)."""
    K, across = kernel(X, X), kernel(NEW, X)
    found = [saddle(K, y, alpha, intercept, s) for alpha, y in zip(alphas, Y.T, strict=True)]
    duals, offset = np.column_stack([a for a, _ in found]), np.array([b for _, b in found])
    shares = s / s.sum() * intercept
    return SimpleNamespace(
        K=K, across=across, duals=duals, rows=K @ duals + offset, new=across @ duals + offset, shares=shares
    )


def centred_sizes(truth, kernel):
    """|k(., x) - mu| at new rows."""
    diagonal = np.diagonal(kernel(NEW, NEW))
    squares = diagonal - 2 * truth.across @ truth.shares + truth.shares @ truth.K @ truth.shares
    return np.sqrt(diagonal), np.sqrt(squares)


def approximate(lift, kernel, alphas, intercept, s, w=None):
    """A fit of features by dense normal equations, or at weights that are not their solution."""
    points = Points(X)
    basis = landmark_basis(lift, points) if isinstance(lift, Nystrom) else LiftBasis(lift)
    Phi, centering = basis.features(points), Centering.of(N, s, intercept)
    Z, b = centering.rows(Phi), centering.rows(Y)
    if w is None:
        A = Z.T @ Z
        w = np.column_stack([np.linalg.solve(A + a * np.eye(len(A)), Z.T @ b[:, t]) for t, a in enumerate(alphas)])
    duals = centering.roots[:, None] * (b - Z @ w) / alphas
    given = Approximation(kernel, points, centering, basis, w, duals, alphas, Y.std(axis=0))
    mean, level = centering.means(Phi), centering.means(Y)
    return given, (Phi - mean) @ w + level, (basis.features(Points(NEW)) - mean) @ w + level


def weighted_rms(values, s):
    return np.sqrt(s @ values**2 / s.sum())


def space_norm(truth, lift, given):
    """|f~ - f*| in the space of the kernel, from coefficients at landmarks and rows."""
    v, L = given.basis.to_raw(given.weights), given.basis.landmarks.values
    both = np.vstack([X, L])
    K = given.kernel(both, both)
    c = np.vstack([-truth.duals, v])
    return np.sqrt((c * (K @ c)).sum(axis=0))


# -- coefficients that are not the solution ---------------------------------------------------------------------------


@CASE
@pytest.mark.parametrize("steps", [0, 2, 10, 25])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 30.0])
def test_unconverged_coefficients(intercept, weights, steps, alpha):
    kernel, s, alphas = KERNELS["laplace"], np.ones(N) if weights is None else weights, np.array([alpha, 3 * alpha])
    truth, centering = exact(kernel, alphas, intercept, s), Centering.of(N, s, intercept)
    A, b = _dense(centering, truth.K), centering.rows(Y)
    c = np.column_stack([_gradients(A + a * np.eye(N), b[:, t], steps) for t, a in enumerate(alphas)])
    r = np.linalg.norm(b - A @ c - alphas * c, axis=0)
    duals = centering.roots[:, None] * c
    offset = centering.means(Y) - centering.shares @ truth.K @ duals * intercept
    middle = np.sqrt(truth.shares @ truth.K @ truth.shares)
    found = of_residual(r, alphas, s.sum(), middle, Y.std(axis=0))
    rms = weighted_rms(truth.K @ duals + offset - truth.rows, s)
    difference = duals - truth.duals
    norm = np.sqrt((difference * (truth.K @ difference)).sum(axis=0))
    assert (rms <= found.rms + 1e-12).all()
    assert (norm <= found.norm + 1e-9).all()
    assert (found.rms <= 100 * rms + 1e-9).all()
    assert (found.norm <= 1000 * norm + 1e-9).all()
    sizes, lengths = centred_sizes(truth, kernel)
    off = np.abs(truth.across @ duals + offset - truth.new)
    assert (off <= lengths[:, None] * found.norm + 1e-9).all()
    assert (lengths[:, None] * found.norm <= found.at(sizes) + 1e-12).all()
    assert found.probability == 1.0


def _dense(centering, K):
    u, D = centering.direction, centering.roots
    P = np.eye(len(u)) - np.outer(u, u)
    return P @ (D[:, None] * K * D) @ P


def _gradients(A, b, steps):
    """So many steps of conjugate gradients."""
    x, r = np.zeros_like(b), b.copy()
    p = r.copy()
    for _ in range(steps):
        q = A @ p
        length = r @ r / (p @ q)
        x, new = x + length * p, r - length * q
        p, r = new + (new @ new) / (r @ r) * p, new
    return x


def test_no_penalty_promises_nothing_but_rows():
    found = of_residual(np.array([0.5, 0.0]), np.zeros(2), 25.0, 0.9, np.ones(2))
    assert_allclose(found.rms, [0.1, 0.0])
    assert found.norm.tolist() == [np.inf, 0.0]


# -- landmarks --------------------------------------------------------------------------------------------------------


@CASE
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("m", [5, 25, 60])
@pytest.mark.parametrize("alpha", [1e-2, 1.0])
def test_landmarks(intercept, weights, kernel, m, alpha):
    k, s, alphas = KERNELS[kernel], np.ones(N) if weights is None else weights, np.array([alpha, 10 * alpha])
    truth = exact(k, alphas, intercept, s)
    lift = Nystrom(k, m, random_state=0).fit(X)
    given, rows, new = approximate(lift, k, alphas, intercept, s)
    found = of_landmarks(given, np.random.default_rng(0))
    rms, norm = weighted_rms(rows - truth.rows, s), space_norm(truth, lift, given)
    assert (rms <= found.rms).all()
    assert (norm <= found.norm).all()
    assert (found.rms <= 10 * rms + 1e-3).all()
    assert (found.norm <= 20 * norm + 1e-3).all()
    sizes, lengths = centred_sizes(truth, k)
    off = np.abs(new - truth.new)
    assert (off <= lengths[:, None] * found.norm + 1e-9).all()
    assert (off <= found.at(sizes)).all()
    duals = given.balanced
    of_duals = truth.across @ duals
    of_duals += given.centering.means(Y) - truth.shares @ truth.K @ duals
    assert (off <= found.at(sizes, np.abs(new - of_duals)) + 1e-9).all()


@CASE
def test_landmarks_at_weights_that_are_not_the_solution(intercept, weights):
    """What conjugate gradients leave out is in the bound."""
    k, s, alphas = KERNELS["laplace"], np.ones(N) if weights is None else weights, np.array([0.5, 2.0])
    truth, lift = exact(k, alphas, intercept, s), Nystrom(k, 40, random_state=0).fit(X)
    given, _, _ = approximate(lift, k, alphas, intercept, s)
    for size in (1e-3, 0.1, 10.0):
        w = given.weights + size * np.random.default_rng(0).normal(size=given.weights.shape)
        moved, rows, _ = approximate(lift, k, alphas, intercept, s, w)
        found = of_landmarks(moved, np.random.default_rng(0))
        assert (weighted_rms(rows - truth.rows, s) <= found.rms).all()
        assert (space_norm(truth, lift, moved) <= found.norm).all()


def test_all_rows_as_landmarks():
    """Then nothing is lost but rounding."""
    k, alphas = KERNELS["laplace"], np.array([0.5, 2.0])
    lift = Nystrom(k, landmarks=X).fit(X)
    given, _, _ = approximate(lift, k, alphas, True, np.ones(N))
    found = of_landmarks(given, np.random.default_rng(0))
    assert (found.rms < 1e-5).all()
    assert (found.norm < 1e-3).all()


# -- any features -----------------------------------------------------------------------------------------------------


@CASE
@pytest.mark.parametrize("count", [20, 200])
@pytest.mark.parametrize("alpha", [1e-2, 1.0])
def test_random_features(intercept, weights, count, alpha):
    k, s, alphas = KERNELS["gaussian"], np.ones(N) if weights is None else weights, np.array([alpha, 10 * alpha])
    truth = exact(k, alphas, intercept, s)
    given, rows, new = approximate(RandomFourier(k, count, random_state=0).fit(X), k, alphas, intercept, s)
    found = of_features(given, np.random.default_rng(0))
    rms = weighted_rms(rows - truth.rows, s)
    assert (rms <= found.rms).all()
    assert (found.rms <= 500 * rms).all()
    size = np.sqrt(s @ (Y - given.centering.means(Y)) ** 2 / s.sum())
    assert (found.rms <= 2 * size * (1 + 1e-9)).all()
    assert np.isinf(found.norm).all()
    duals = given.balanced
    difference = duals - truth.duals
    assert (np.sqrt((difference * (truth.K @ difference)).sum(axis=0)) <= found.dual).all()
    of_duals = truth.across @ duals + given.centering.means(Y) - truth.shares @ truth.K @ duals
    sizes, _ = centred_sizes(truth, k)
    bound = found.at(sizes, np.abs(new - of_duals))
    assert (np.abs(new - truth.new) <= bound).all()
    assert np.isinf(found.at(sizes)).all()


# -- sampled rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outputs", "rows"), [(1, 20), (1, 60), (2, 60)])
def test_sampled_landmarks_cover(outputs, rows):
    """The bound holds in nearly all of 100 repetitions: 99 in 100 are promised."""
    k, s = KERNELS["laplace"], WEIGHTS
    lift = Nystrom(k, 20, random_state=0).fit(X)
    given = _some(approximate(lift, k, np.array([0.5, 2.0]), True, s)[0], outputs)
    truth = of_landmarks(given, np.random.default_rng(0)).norm
    random = np.random.default_rng(1)
    found = np.array([of_landmarks(given, random, pairs=rows * N).norm for _ in range(100)])
    covered = (found >= truth * (1 - 1e-9)).all(axis=1)
    assert covered.mean() >= 0.97
    exactly = of_landmarks(given, random).rms
    assert np.mean([(of_landmarks(given, random, pairs=rows * N).rms >= exactly).all() for _ in range(30)]) >= 0.95
    sums = (np.abs(given.balanced) * np.sqrt(lift.residual(X))[:, None]).sum(axis=0)
    assert (found <= sums * (1 + 1e-6) + 1e-3).all()
    sample = of_landmarks(given, random, pairs=rows * N)
    assert sample.probability == BOUND_PROBABILITY
    assert sample.middle >= of_landmarks(given, random).middle


@pytest.mark.parametrize("intercept", [True, False])
def test_sampled_features_cover(intercept):
    k, s = KERNELS["gaussian"], WEIGHTS
    given, _, _ = approximate(RandomFourier(k, 100, random_state=0).fit(X), k, np.array([0.5, 2.0]), intercept, s)
    truth = of_features(given, np.random.default_rng(0)).rms
    random = np.random.default_rng(1)
    found = np.array([of_features(given, random, pairs=50 * N).rms for _ in range(100)])
    assert (found >= truth * (1 - 1e-9)).all(axis=1).mean() >= 0.97
    assert np.isfinite(found).all()
    assert of_features(given, random, pairs=50 * N).probability == BOUND_PROBABILITY


def test_more_rows_say_more():
    k = KERNELS["laplace"]
    given, _, _ = approximate(Nystrom(k, 20, random_state=0).fit(X), k, np.array([0.5, 2.0]), True, np.ones(N))
    medians = []
    for rows in (4, 30, 99):
        random = np.random.default_rng(0)
        medians.append(np.median([of_landmarks(given, random, pairs=rows * N).norm[0] for _ in range(15)]))
    assert medians[0] > medians[1] > medians[2] > of_landmarks(given, random).norm[0]


def test_residuals_of_the_first_landmarks(monkeypatch):
    """Fewer landmarks give larger residuals, and a bound that still holds."""
    k = KERNELS["laplace"]
    given, _, _ = approximate(Nystrom(k, 40, random_state=0).fit(X), k, np.array([0.5, 2.0]), True, np.ones(N))
    truth = of_landmarks(given, np.random.default_rng(0)).norm
    full = of_landmarks(given, np.random.default_rng(0), pairs=50 * N).norm
    monkeypatch.setattr("mercer.learners.certificates.sampled_bounds.OPERATIONS_PER_VALUE", 2.0)
    short = of_landmarks(given, np.random.default_rng(0), pairs=50 * N).norm
    assert (short > full).all()
    assert (full > truth).all()


def test_landmarks_are_needed():
    k = KERNELS["gaussian"]
    given, _, _ = approximate(RandomFourier(k, 20, random_state=0).fit(X), k, np.array([0.5, 2.0]), True, np.ones(N))
    with pytest.raises(InputError, match="basis of landmarks"):
        of_landmarks(given, np.random.default_rng(0))


def _some(given, outputs):
    part = slice(outputs)
    return replace(
        given,
        weights=given.weights[:, part],
        duals=given.duals[:, part],
        alphas=given.alphas[part],
        spread=given.spread[part],
    )


# -- words ------------------------------------------------------------------------------------------------------------


def test_sentence():
    found = of_residual(np.array([0.5, 0.2]), np.array([4.0, 1.0]), 25.0, 0.9, np.array([2.0, 1.0]))
    assert str(found) == (
        "Predictions are off by at most 0.1, 0.05 of the spread of y, in the mean over the rows of the fit, and at any "
        "x by at most 0.12 (sqrt(k(x, x)) + 0.9), against the exact solution."
    )
    none = np.array([np.inf])
    sampled = bounds.Distance(none, np.array([0.5]), 0.99, 0.0, np.array([0.0]), none)
    assert sampled.sentence == (
        "With probability 0.99, predictions are off by at most 0.5, in the mean over the rows of the fit, and of new "
        "rows nothing is known, against the exact solution."
    )
