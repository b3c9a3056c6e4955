"""Steps of pairs: the same bits by compiled loops and by NumPy, from whole rows and from pieces of rows."""

import numpy as np
import pytest

from mercer.compute.codegen import jit_cache
from mercer.kernels import Gaussian
from mercer.solvers.svm import smo
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.smo import gradient, in_one_piece, walk_loop, walk_numpy

needs_numba = pytest.mark.skipif(not jit_cache.numba_works(), reason="Numba is missing")


def problem_of(kind, n, C, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    if kind == "classes":
        return BoxQP(-y, np.minimum(0, C * y), np.maximum(0, C * y)), Gaussian(1.0)(X)
    if kind == "regression":
        target = np.where(np.arange(n) % 5 == 0, 0.0, np.sin(2 * X[:, 0]))  # zeros: slopes of both signs of zero
        return BoxQP(-target, np.full(n, -C), np.full(n, C), kink=0.1), Gaussian(1.0)(X)
    return BoxQP(np.zeros(n), np.zeros(n), np.ones(n), total=0.3 * n), Gaussian(1.0)(X)


def box(problem):
    return problem.lower, problem.upper, problem.kink


@needs_numba
@pytest.mark.parametrize("kind", ["classes", "regression", "one class"])
@pytest.mark.parametrize("n", [2, 5, 64, 65, 199])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_compiled_loops_and_numpy_give_the_same_bits(kind, n, C):
    problem, K = problem_of(kind, n, C)
    diagonal, found = K.diagonal().copy(), []
    for compiled in (True, False):
        b = problem.feasible(np.zeros(n))
        g = gradient(K, problem, b)
        if compiled:
            steps = walk_loop(*in_one_piece(K, np.arange(n)), diagonal, b, g, *box(problem), 1e-6, 3000)
        else:
            steps = walk_numpy(K, diagonal, problem, b, g, 1e-6, 3000)
        found.append((steps, b, g))
    (steps, b, g), (others, c, h) = found
    assert steps == others
    assert steps[0] > 0 or n == 2
    np.testing.assert_array_equal(b, c)
    np.testing.assert_array_equal(g, h)


@needs_numba
def test_gradients_have_the_same_bits():
    problem, K = problem_of("regression", 70, 1.0)
    b = np.where(np.arange(70) % 3 == 0, 0.0, np.linspace(-1, 1, 70))
    compiled, plain = problem.linear.copy(), problem.linear.copy()
    smo.gradient_loop(*in_one_piece(K, np.arange(70)), b, compiled)
    for i in np.flatnonzero(b):
        plain += b[i] * K[i]
    np.testing.assert_array_equal(compiled, plain)
    np.testing.assert_allclose(plain, K @ b + problem.linear, rtol=1e-12)


def pieces(K, split):
    """The matrix as `walk_loop` takes it in pieces: squares behind each other, and what is between them."""
    n = len(K)
    near = np.concatenate([K[:split, :split].ravel(), K[split:, split:].ravel()])
    places = np.concatenate([np.arange(split) * split, split**2 + np.arange(n - split) * (n - split)])
    across = np.concatenate([np.full(7, np.nan), K[:split, split:].ravel()])
    return near, places, split, across, 7, n - split, np.full((n - split) * split, np.nan), np.zeros(n - split, bool)


@pytest.mark.parametrize("written", [pytest.param(False, marks=needs_numba), True])
def test_pieces_of_a_matrix_give_the_bits_of_the_whole(written, request):
    if written:
        request.getfixturevalue("loops_as_written")
    problem, K = problem_of("classes", 40, 10.0)
    diagonal, found = K.diagonal().copy(), []
    for parts in (in_one_piece(K, np.arange(40)), pieces(K, 17)):
        b, g = np.zeros(40), problem.linear.copy()
        steps, _ = walk_loop(*parts, diagonal, b, g, *box(problem), 1e-4, 1000)
        fresh = problem.linear.copy()
        smo.gradient_loop(*parts, b, fresh)
        np.testing.assert_allclose(g, fresh, atol=1e-12)
        found.append((steps, b, g, fresh))
    assert found[0][0] == found[1][0] > 10
    for one, other in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("written", [pytest.param(False, marks=needs_numba), True])
def test_coefficients_whose_rows_are_not_known_stay(written, request):
    if written:
        request.getfixturevalue("loops_as_written")
    problem, K = problem_of("classes", 30, 1.0)
    slots = np.full(30, -1)
    rows = np.arange(0, 30, 2)
    slots[rows] = np.arange(15)
    b, g = np.zeros(30), problem.linear.copy()
    steps, left = smo.walk(K[rows], problem, b, g, 1e-8, 1000, K.diagonal().copy(), slots)
    assert steps > 5
    assert left <= 1e-8
    assert not b[1::2].any()
    np.testing.assert_allclose(g, K @ b + problem.linear, atol=1e-12)
    part, inner = problem.part(rows), np.zeros(15)
    smo.walk(K[np.ix_(rows, rows)], part, inner, part.linear.copy(), 1e-8, 1000)
    np.testing.assert_allclose(b[rows], inner, atol=1e-6)


@pytest.mark.parametrize("written", [pytest.param(False, marks=needs_numba), True])
def test_the_first_of_equal_numbers_is_found(written, request):
    if written:
        request.getfixturevalue("loops_as_written")
    rng = np.random.default_rng(0)
    for n in (1, 2, 63, 64, 65, 200):
        values = rng.integers(-3, 4, n) / 2 + 0.0
        assert smo.least(values) == values.argmin()
        assert smo.largest(values) == values.argmax()
    far = np.array([1.0, np.inf, -np.inf, 2.0])
    assert (smo.least(far), smo.largest(far)) == (2, 1)


def test_few_steps_are_taken_before_compiled_loops_are_loaded(monkeypatch):
    problem, K = problem_of("classes", 40, 10.0)
    monkeypatch.setattr(smo.Taken, "steps", 0)
    monkeypatch.setattr(smo, "MAX_NUMPY_STEPS", 20)
    monkeypatch.setattr(type(walk_loop), "is_loaded", property(lambda _: False))
    whole = np.zeros(40), problem.linear.copy()
    walk_numpy(K, K.diagonal().copy(), problem, *whole, 1e-4, 1000)
    b, g = np.zeros(40), problem.linear.copy()
    steps, _ = smo.walk(K, problem, b, g, 1e-4, 1000)
    assert steps > 20
    assert smo.Taken.steps == 20
    np.testing.assert_array_equal(b, whole[0])
    np.testing.assert_array_equal(g, whole[1])
    assert smo.is_compiled(40)
