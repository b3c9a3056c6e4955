"""Weights and an intercept folded into a matrix, against explicit P and D, and against plain least squares."""

import tracemalloc

import numpy as np
import pytest

from mercer.operators import Centering, Dense, Gram, LowRank
from mercer.operators.dense import TILE_NUMBERS
from mercer.solvers import Cholesky, Eigen, System
from mercer.testing import check_operator

EPS = np.finfo(np.float64).eps
N = 40


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


X = draw(N, 3)
K = np.asarray(Gram("gaussian", X).to_dense())
WEIGHTS = {"equal": None, "ones": np.ones(N), "varied": np.random.default_rng(1).uniform(0.01, 5, N)}


def explicit(K, weights, intercept):
    """P D K D P + tau u u', tau and u, as the formulas stand."""
    D = np.diag(np.sqrt(np.ones(len(K)) if weights is None else weights))
    u = np.diagonal(D) / np.linalg.norm(np.diagonal(D)) if intercept else np.zeros(len(K))
    P = np.eye(len(K)) - np.outer(u, u)
    bare = P @ D @ K @ D @ P
    tau = bare.trace() / len(K) if intercept else 0.0
    return bare + tau * np.outer(u, u), tau, u


def cases(test):
    test = pytest.mark.parametrize("intercept", [False, True])(test)
    return pytest.mark.parametrize("name", WEIGHTS)(test)


# -- the matrix -------------------------------------------------------------------------------------------------------


@cases
def test_the_matrix_is_that_of_the_formulas(name, intercept):
    weights = WEIGHTS[name]
    centering = Centering.of(N, weights, intercept)
    wanted, tau, u = explicit(K, weights, intercept)
    stored = K.copy()
    found = centering.matrix(stored)
    assert found.values is stored
    assert np.array_equal(stored, stored.T)
    np.testing.assert_allclose(stored, wanted, rtol=0, atol=20 * EPS * np.abs(wanted).max())
    assert found.pull == pytest.approx(tau, rel=1e-13)
    np.testing.assert_allclose(centering.direction, u, rtol=1e-14, atol=0)
    np.testing.assert_allclose(stored @ u, tau * u, rtol=0, atol=100 * EPS * np.abs(wanted).max())
    assert centering.idle == (not intercept and name != "varied")
    if centering.idle:
        assert np.array_equal(stored, K)


@cases
def test_an_operator_is_the_same_matrix(name, intercept):
    centering = Centering.of(N, WEIGHTS[name], intercept)
    wanted = centering.matrix(K.copy())
    for inner in (Dense(K), Gram("gaussian", X)):
        found = centering.operator(inner)
        size = np.abs(wanted.values).max()
        np.testing.assert_allclose(found.to_dense(), wanted.values, rtol=0, atol=10 * EPS * size)
        np.testing.assert_allclose(found.diagonal(), np.diagonal(wanted.values), rtol=0, atol=10 * EPS * size)
        V = draw(N, 4, seed=2)
        np.testing.assert_allclose(found @ V, wanted.values @ V, rtol=0, atol=100 * EPS * size * np.abs(V).sum())
        np.testing.assert_allclose(found.parts.means, wanted.means, rtol=0, atol=10 * EPS)
        assert found.parts.middle == pytest.approx(wanted.middle, rel=1e-13, abs=0)
        assert found.parts.pull == pytest.approx(wanted.pull, rel=1e-13, abs=0)
        assert found.parts.values is None


@cases
def test_operators_obey_the_laws(name, intercept):
    check_operator(Centering.of(N, WEIGHTS[name], intercept).operator(Gram("gaussian", X)))
    check_operator(Centering.of(N, WEIGHTS[name], intercept).operator(LowRank(X)))


def test_symmetry_is_exact_over_several_tiles():
    n = 700  # more than one tile
    assert n * n > TILE_NUMBERS
    Z = draw(n, 4)
    values = 1e6 + Z @ Z.T
    values = np.tril(values) + np.tril(values, -1).T
    centering = Centering.of(n, np.random.default_rng(3).uniform(0.1, 3, n), True)
    wanted = explicit(Z @ Z.T, centering.weights, True)[0]  # an offset changes nothing
    found = centering.matrix(values).values
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=20 * EPS * 1e6 * centering.weights.max())


@pytest.mark.parametrize("n", [1, 3, 30, 333])
@pytest.mark.parametrize("value", [0.0, 0.1, 7.0, 1e12])
def test_a_matrix_that_is_centred_to_nothing_is_pulled_by_one(n, value):
    """What rounding leaves of it is no spectrum to be inside of."""
    for weights in (None, np.random.default_rng(n).uniform(0.1, 3, n)):
        centering = Centering.of(n, weights, True)
        found = centering.matrix(np.full((n, n), value))
        assert found.pull == 1.0
        wanted = np.outer(centering.direction, centering.direction)
        np.testing.assert_allclose(found.values, wanted, rtol=1e-14, atol=n * EPS * value * centering.weights.max())
        assert centering.operator(Dense(np.full((n, n), value))).parts.pull == 1.0


@pytest.mark.parametrize("make", [np.asfortranarray, lambda A: A[::-1, ::-1]])
def test_any_writable_array_of_float64_is_used_in_place(make):
    stored = make(K.copy())
    given, wanted = stored.copy(), explicit(stored, None, True)[0]
    found = Centering.of(N, None, True).matrix(stored)
    assert np.shares_memory(found.values, stored)
    assert not np.array_equal(stored, given)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=20 * EPS)


def test_other_arrays_are_copied():
    locked = K.copy()
    locked.flags.writeable = False
    narrow = K.astype(np.float32)
    for given in (locked, narrow):
        before, wanted = given.copy(), explicit(given.astype(np.float64), None, True)[0]
        found = Centering.of(N, None, True).matrix(given).values
        assert found.dtype == np.float64
        assert np.array_equal(given, before)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=20 * EPS)


# -- the problem that it stands for -----------------------------------------------------------------------------------


def fitted(K, Y, weights, intercept, alpha, solver=None):
    """Dual coefficients and intercepts, as the formulas stand, from the system."""
    centering = Centering.of(len(K), weights, intercept)
    centered = centering.matrix(K.copy())
    system = System(centered.values, centering.rows(Y), np.full(Y.shape[1], alpha))
    duals = centering.roots[:, None] * (solver or Cholesky()).solve(system).value
    return duals, centering.intercepts(Y, duals, centered.means)


def least_squares(K, Y, weights, intercept, alpha):
    """The same from the normal equations of sum_i s_i (y_i - (K a)_i - b)^2 + alpha a'K a in a and b at once."""
    s = np.ones(len(K)) if weights is None else weights
    design = np.column_stack([K, np.ones(len(K))]) if intercept else K
    left = design.T @ (s[:, None] * design)
    left[: len(K), : len(K)] += alpha * K
    solution = np.linalg.solve(left, design.T @ (s[:, None] * Y))
    return solution[: len(K)], solution[len(K) :].sum(axis=0)


@cases
def test_the_solution_is_that_of_least_squares(name, intercept):
    kernel = K + 0.5 * np.eye(N)  # so that the normal equations, which square it, can be solved
    Y = draw(N, 3, seed=4) + np.array([0.0, 10.0, -1e3])
    for solver in (Cholesky(), Eigen()):
        duals, intercepts = fitted(kernel, Y, WEIGHTS[name], intercept, 0.3, solver)
        wanted, above = least_squares(kernel, Y, WEIGHTS[name], intercept, 0.3)
        np.testing.assert_allclose(duals, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(intercepts, above, rtol=1e-10, atol=1e-10)
        if intercept:
            np.testing.assert_allclose(duals.sum(axis=0), 0, atol=1e-12 * np.abs(duals).sum(axis=0).max())
        else:
            assert not intercepts.any()


@pytest.mark.parametrize("intercept", [False, True])
def test_weights_are_repetitions(intercept):
    counts = np.random.default_rng(5).integers(1, 5, N)
    rows = np.repeat(np.arange(N), counts)
    Y = draw(N, 2, seed=4) + 3
    duals, intercepts = fitted(K, Y, counts.astype(float), intercept, 0.2)
    copies, same = fitted(K[np.ix_(rows, rows)], Y[rows], None, intercept, 0.2)
    summed = np.zeros_like(duals)
    np.add.at(summed, rows, copies)
    np.testing.assert_allclose(duals, summed, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(intercepts, same, rtol=1e-12, atol=1e-12)


def test_the_pull_changes_no_solution():
    """Centred targets have no part along u, so that tau may be anything."""
    centering = Centering.of(N, WEIGHTS["varied"], True)
    A, tau, u = explicit(K, centering.weights, True)
    b = centering.rows(draw(N, 2) + 1e3)
    np.testing.assert_allclose(u @ b, 0, atol=1e-11)
    with_pull = np.linalg.solve(A + 0.1 * np.eye(N), b)
    without = np.linalg.solve(A - tau * np.outer(u, u) + 0.1 * np.eye(N), b)
    np.testing.assert_allclose(with_pull, without, rtol=1e-8, atol=1e-9)
    assert np.linalg.eigvalsh(A)[0] < tau < np.linalg.eigvalsh(A)[-1]


@cases
def test_rows_are_centred_and_weighted(name, intercept):
    s = np.ones(N) if WEIGHTS[name] is None else WEIGHTS[name]
    centering = Centering.of(N, WEIGHTS[name], intercept)
    Y = draw(N, 3) + 5
    mean = np.average(Y, axis=0, weights=s) if intercept else np.zeros(3)
    np.testing.assert_allclose(centering.means(Y), mean, rtol=1e-13)
    np.testing.assert_allclose(centering.rows(Y), np.sqrt(s)[:, None] * (Y - mean), rtol=1e-12, atol=1e-13)
    assert np.array_equal(centering.rows(Y[:, 0]), centering.rows(Y[:, :1])[:, 0])  # a vector is one column
    assert centering.total == pytest.approx(s.sum())
    np.testing.assert_allclose(centering.shares, s / s.sum(), rtol=1e-13)


# -- new rows ---------------------------------------------------------------------------------------------------------


@cases
def test_new_rows_are_centred_as_the_old_ones(name, intercept):
    """The kernel less its weighted means is one of features less their weighted mean."""
    s = np.ones(N) if WEIGHTS[name] is None else WEIGHTS[name]
    centering, new = Centering.of(N, WEIGHTS[name], intercept), draw(7, 3, seed=6)
    parts = centering.matrix(X @ X.T)
    mean = np.average(X, axis=0, weights=s) if intercept else np.zeros(3)
    cross = new @ X.T
    found = parts.cross(cross, centering)
    assert found is cross
    np.testing.assert_allclose(found, (new - mean) @ (X - mean).T, rtol=0, atol=1e-13)
    old = parts.cross(X @ X.T, centering)
    pulled = parts.pull * np.outer(centering.direction, centering.direction)
    np.testing.assert_allclose(np.outer(*2 * [centering.roots]) * old + pulled, parts.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_predictions_from_centred_rows(intercept):
    new, Y = draw(7, 3, seed=6), draw(N, 2) + 4
    centering = Centering.of(N, WEIGHTS["varied"], intercept)
    parts = centering.matrix(K.copy())
    duals, intercepts = fitted(K, Y, centering.weights, intercept, 0.1)
    cross = np.asarray(Gram("gaussian", new, X).to_dense())
    wanted = cross @ duals + intercepts
    np.testing.assert_allclose(parts.cross(cross, centering) @ duals + centering.means(Y), wanted, rtol=0, atol=1e-12)


# -- memory -----------------------------------------------------------------------------------------------------------


def held_at_peak(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_there_is_no_second_matrix():
    n = 1500
    stored, centering = np.ones((n, n)) + np.eye(n), Centering.of(n, np.linspace(1, 2, n), True)
    assert held_at_peak(lambda: centering.matrix(stored)) <= 0.1 * stored.nbytes
    cross = np.ones((n, n))
    parts = centering.matrix(np.eye(n))
    assert held_at_peak(lambda: parts.cross(cross, centering)) <= 0.1 * stored.nbytes


def test_the_predicted_peak_of_products_and_of_the_dense_matrix():
    factor = draw(6000, 20)
    A, V = Centering.of(6000, None, True).operator(LowRank(factor)), draw(6000, 10)
    assert 0.8 * A.peak(10) <= held_at_peak(lambda: A @ V) <= A.peak(10) + 100_000
    for part in (factor[:900], factor[:900].astype(np.float32)):
        A = Centering.of(900, None, True).operator(LowRank(part))
        assert 0.8 * A._peak_dense() <= held_at_peak(A.to_dense) <= A._peak_dense() + 200_000
