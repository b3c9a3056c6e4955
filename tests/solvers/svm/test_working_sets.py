"""The exact solver of SVMs, against the conditions of optimality and scikit-learn's LIBSVM."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, OneClassSVM

from mercer.compute.codegen import jit_cache
from mercer.compute.runtime.run import Run, Stopped
from mercer.kernels import Gaussian, Linear
from mercer.operators import Dense, Gram, LowRank
from mercer.solvers.svm import known_rows, smo, working_sets
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.kernel_cache import KernelCache
from mercer.solvers.svm.pairs import ClassRows, solve_pairs
from mercer.solvers.svm.stored import solve_stored
from mercer.solvers.svm.working_sets import SMOSettings, solve

TIGHT = SMOSettings(tolerance=1e-6)
LIBSVM = {"rtol": 1e-4, "atol": 2e-5}
"""It keeps the kernel matrix in float32."""


def draw(n, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def classes(y, C):
    return BoxQP(-y, np.minimum(0, y * C), np.maximum(0, y * C))


def rests(problem, found, tolerance):
    """The conditions of optimality, and the box, from the definition."""
    assert (problem.lower <= found.b).all()
    assert (found.b <= problem.upper).all()
    assert abs(found.b.sum() - problem.total) <= 1e-9 * max(1.0, np.abs(found.b).sum())
    assert found.converged
    assert found.violation <= tolerance
    assert found.gap >= -1e-9


@pytest.fixture(params=["compiled", "plain"])
def way(request, monkeypatch):
    monkeypatch.setattr(smo, "is_compiled", lambda count: request.param == "compiled")
    monkeypatch.setattr(smo, "MAX_NUMPY_STEPS", 10**9)
    return request.param


@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_classification_ends_where_libsvm_ends(C, way):
    X, y = draw(120)
    K = Gaussian(1.0)(X)
    found = solve(classes(y, C), Dense(K), TIGHT)
    rests(classes(y, C), found, 1e-6)
    model = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
    np.testing.assert_allclose(K @ found.b + found.bias, model.decision_function(K), **LIBSVM)
    signed = np.zeros(len(y))
    signed[model.support_] = model.dual_coef_[0]
    g = K @ signed - y
    assert found.gap <= 1e-4 * C * len(y)
    np.testing.assert_allclose(classes(y, C).objective(found.b, found.g), classes(y, C).objective(signed, g), rtol=1e-6)


@pytest.mark.parametrize("kink", [0.0, 0.1, 0.5])
def test_regression_ends_where_libsvm_ends(kink, way):
    X, _ = draw(100)
    y = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    K = Gaussian(1.5)(X)
    problem = BoxQP(-y, np.full(100, -2.0), np.full(100, 2.0), kink)
    found = solve(problem, Dense(K), TIGHT)
    rests(problem, found, 1e-6)
    model = SVR(kernel="precomputed", C=2.0, epsilon=kink, tol=1e-8).fit(K, y)
    np.testing.assert_allclose(K @ found.b + found.bias, model.predict(K), **LIBSVM)


def test_one_class_ends_where_libsvm_ends(way):
    X, _ = draw(150)
    K = Gaussian(1.5)(X)
    problem = BoxQP(np.zeros(150), np.zeros(150), np.ones(150), total=0.3 * 150)
    found = solve(problem, Dense(K), TIGHT)
    rests(problem, found, 1e-6)
    model = OneClassSVM(kernel="precomputed", nu=0.3, tol=1e-9).fit(K)
    np.testing.assert_allclose(K @ found.b + found.bias, model.decision_function(K), atol=1e-4)


@pytest.mark.parametrize("bytes_", [1e9, 1.0])
def test_many_small_working_sets_end_where_one_large_one_does(bytes_, monkeypatch):
    X, y = draw(600)
    problem, K = classes(y, 5.0), Gram(Gaussian(1.0), X)
    whole = solve(problem, K, TIGHT)
    monkeypatch.setattr(working_sets, "MAX_SET", 40)
    monkeypatch.setattr(working_sets, "ROUNDS_BETWEEN_SHRINKING", 3)
    small = solve(problem, K, SMOSettings(tolerance=1e-6, bytes=bytes_))
    rests(problem, small, 1e-6)
    assert small.rounds > 3
    np.testing.assert_allclose(K @ small.b + small.bias, K @ whole.b + whole.bias, atol=1e-4)


def test_rows_in_float32_end_at_the_solution_in_float64(monkeypatch):
    X, y = draw(700)
    problem, K = classes(y, 5.0), Gram(Gaussian(1.0), X)
    monkeypatch.setattr(working_sets, "MIN_FLOAT32_ROWS", 0)
    monkeypatch.setattr(working_sets, "MAX_SET", 100)
    found = solve(problem, K, SMOSettings(tolerance=1e-6))  # less than float32 can tell: float64 has to finish
    rests(problem, found, 1e-6)
    truth, support = K @ found.b - y, found.b != 0
    np.testing.assert_allclose(found.g[support], truth[support], atol=1e-9)
    np.testing.assert_allclose(found.g, truth, atol=1e-4)  # who is far from deciding has it from rows in float32
    assert problem.violation(found.b, truth) == pytest.approx(found.violation, abs=1e-9)
    assert problem.gap(found.b, truth, found.bias) == pytest.approx(found.gap, abs=1e-9)
    exact = solve(problem, Dense(K.to_dense()), TIGHT)
    np.testing.assert_allclose(K @ found.b + found.bias, K @ exact.b + exact.bias, atol=1e-4)


@pytest.mark.parametrize("kind", ["classes", "regression", "one class"])
def test_some_rows_first_end_where_all_of_them_do(kind, monkeypatch):
    X, y = draw(900)
    problem, K = many(kind, X, y), Gram(Gaussian(1.0), X)
    monkeypatch.setattr(working_sets, "MAX_SET", 100)
    whole = solve(problem, K, SMOSettings(tolerance=1e-5))
    monkeypatch.setattr(working_sets, "MIN_GROWING_ROWS", 0)
    monkeypatch.setattr(working_sets, "MAX_KNOWN_ROWS", 0)
    turns = []
    monkeypatch.setattr(working_sets, "_rounds", watched(working_sets._rounds, turns))
    grown = solve(problem, K, SMOSettings(tolerance=1e-5))
    rests(problem, grown, 1e-5)
    assert min(turns) < 900
    assert problem.violation(grown.b, K @ grown.b + problem.linear) <= 1e-5
    np.testing.assert_allclose(K @ grown.b + grown.bias, K @ whole.b + whole.bias, atol=1e-4)


@pytest.mark.parametrize("kind", ["classes", "regression", "one class"])
def test_rows_fetched_as_needed_end_where_working_sets_do(kind, monkeypatch):
    X, y = draw(900)
    problem, K = many(kind, X, y), Gram(Gaussian(1.0), X)
    known = solve(problem, K, SMOSettings(tolerance=1e-6))
    rests(problem, known, 1e-6)
    monkeypatch.setattr(known_rows, "MIN_STEPS", 20)  # rows are left out again and again
    shrunk = solve(problem, K, SMOSettings(tolerance=1e-6))
    rests(problem, shrunk, 1e-6)
    assert shrunk.rounds > known.rounds or kind == "one class"  # which takes few steps
    monkeypatch.setattr(working_sets, "MAX_KNOWN_ROWS", 0)
    sets = solve(problem, K, SMOSettings(tolerance=1e-6))
    for found in (known, shrunk):
        assert problem.violation(found.b, K @ found.b + problem.linear) <= 2e-6
        np.testing.assert_allclose(K @ found.b + found.bias, K @ sets.b + sets.bias, atol=1e-4)


def test_without_numba_nothing_runs_that_would_be_compiled(no_compiled_loops, monkeypatch):
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    monkeypatch.setattr(smo.Taken, "steps", 0)
    monkeypatch.setattr(smo, "MAX_NUMPY_STEPS", 100)
    monkeypatch.setattr(type(smo.walk_loop), "is_loaded", property(lambda _: False))
    X, y = draw(600)
    problem, K = classes(y, 5.0), Gaussian(1.0)(X)
    for found in (solve(problem, Dense(K), SMOSettings()), solve_stored(problem, K, SMOSettings())):
        rests(problem, found, 1e-3)
        assert found.steps > 100
    rows = ClassRows.of(np.arange(600) % 3, 3)
    parts = [problem.part(np.concatenate([rows.members(a), rows.members(b)])) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert all(one.converged for one in solve_pairs(Dense(K), rows, parts, [None] * 3, 1e-3, lambda count: 10_000))


def test_few_support_vectors_take_few_rows(monkeypatch):
    X, _ = draw(2000)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += 3 * y
    fetched, plain = [], KernelCache.fetch

    def fetch(self, rows):
        fetched.append(len(rows))
        return plain(self, rows)

    monkeypatch.setattr(KernelCache, "fetch", fetch)
    found = solve(classes(y, 1.0), Gram(Gaussian(2.0), X), SMOSettings())
    rests(classes(y, 1.0), found, 1e-3)
    assert np.count_nonzero(found.b) < 60
    assert sum(fetched) < 400


def many(kind, X, y):
    n, target = len(y), np.sin(2 * X[:, 0])
    if kind == "classes":
        return classes(y, 5.0)
    if kind == "regression":
        return BoxQP(-target, np.full(n, -2.0), np.full(n, 2.0), 0.1)
    return BoxQP(np.zeros(n), np.zeros(n), np.ones(n), total=0.3 * n)


def watched(rounds, turns):
    def told(state, board, active, *rest):
        turns.append(len(active))
        return rounds(state, board, active, *rest)

    return told


def test_a_class_that_the_first_rows_miss_is_found_later(monkeypatch):
    X, _ = draw(600)
    y = np.full(600, -1.0)
    y[X[:, 0].argsort()[-2:]] = 1.0
    monkeypatch.setattr(working_sets, "MIN_GROWING_ROWS", 0)
    monkeypatch.setattr(working_sets, "FIRST_SHARE", 0.02)
    problem, K = classes(y, 10.0), Gram(Gaussian(1.0), X)
    found = solve(problem, K, TIGHT)
    rests(problem, found, 1e-6)
    assert (found.b[y > 0] > 0).all()


def test_a_start_near_the_solution_takes_fewer_steps_and_ends_there():
    X, y = draw(400)
    K = Gram(Gaussian(1.0), X)
    first = solve(classes(y, 1.0), K, TIGHT)
    problem = classes(y, 1.1)
    cold, warm = solve(problem, K, TIGHT), solve(problem, K, TIGHT, start=first.b)
    rests(problem, warm, 1e-6)
    assert warm.steps < cold.steps
    np.testing.assert_allclose(K @ warm.b + warm.bias, K @ cold.b + cold.bias, atol=1e-4)


def test_the_gap_bounds_the_distance_to_the_solution():
    X, y = draw(200)
    K = Gaussian(1.0)(X)
    problem = classes(y, 10.0)
    best = solve(problem, Dense(K), SMOSettings(tolerance=1e-10))
    for tolerance in (1.0, 0.1, 1e-2, 1e-3):
        rough = solve(problem, Dense(K), SMOSettings(tolerance=tolerance))
        away = rough.b - best.b
        assert 0.5 * away @ K @ away <= rough.gap * (1 + 1e-9)
        assert problem.objective(rough.b, rough.g) - problem.objective(best.b, best.g) <= rough.gap


def test_features_serve_as_well_as_their_matrix():
    X, y = draw(300)
    problem = classes(y, 1.0)
    by_features, by_rows = solve(problem, LowRank(X), TIGHT), solve(problem, Gram(Linear(), X), TIGHT)
    np.testing.assert_allclose(X.T @ by_features.b, X.T @ by_rows.b, atol=1e-5)


class Cut(Run):
    """Stops after some rounds."""

    def __init__(self, rounds):
        self.left = rounds

    def tell(self, done):
        self.left -= 1
        if self.left < 0:
            raise Stopped("the time is over")


def test_a_run_that_is_stopped_tells_the_truth_of_what_it_has(monkeypatch):
    monkeypatch.setattr(working_sets, "MAX_SET", 40)
    X, y = draw(500)
    problem, K = classes(y, 5.0), Gram(Gaussian(1.0), X)
    found = solve(problem, K, TIGHT, run=Cut(4))
    assert not found.converged
    assert found.reason == "The time is over."
    np.testing.assert_allclose(found.g, K @ found.b - y, atol=1e-10)
    assert found.violation == problem.violation(found.b, found.g) > 1e-6
    assert found.gap > 0


def test_steps_that_are_over_are_told():
    X, y = draw(100)
    found = solve(classes(y, 1e3), Gram(Gaussian(1.0), X), SMOSettings(tolerance=1e-9, max_steps=20))
    assert not found.converged
    assert "20 steps are over" in found.reason


def test_steps_that_are_over_among_some_rows_leave_the_truth_of_all(monkeypatch):
    monkeypatch.setattr(working_sets, "MIN_GROWING_ROWS", 0)
    monkeypatch.setattr(working_sets, "MAX_SET", 100)
    X, y = draw(900)
    problem, K = classes(y, 5.0), Gram(Gaussian(1.0), X)
    found = solve(problem, K, SMOSettings(tolerance=1e-6, max_steps=100))
    assert "100 steps are over" in found.reason
    truth, support = K @ found.b - y, found.b != 0
    np.testing.assert_allclose(found.g[support], truth[support], atol=1e-9)
    assert problem.violation(found.b, truth) == pytest.approx(found.violation, abs=1e-9)


def test_what_has_no_fast_rows_of_its_own_is_worked_with_in_two_ways():
    X, _ = draw(600)
    for K in (Dense(X @ X.T), LowRank(X)):
        narrow, exact = working_sets._ways(600, K)
        assert (narrow.dtype, exact) == (np.float32, K)
    K = Gram(Gaussian(1.0), X)
    assert working_sets._ways(600, K) == [K.narrowed().rough(), K.narrowed(), K]
    assert working_sets._ways(100, K) == [K]


def test_rows_that_are_equal_and_contradict_each_other_end():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    found = solve(classes(y, 10.0), Gram(Gaussian(1.0), X), TIGHT)
    rests(classes(y, 10.0), found, 1e-6)


def test_rows_of_zeros_end():
    X, y = np.zeros((6, 2)), np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    found = solve(classes(y, 1.0), Gram(Linear(), X), TIGHT)
    rests(classes(y, 1.0), found, 1e-6)
    assert np.isfinite(found.b).all()


@pytest.mark.parametrize("kink", [0.0, 0.1])
def test_loops_as_written_end_where_libsvm_ends(kink, loops_as_written, monkeypatch):
    monkeypatch.setattr(smo, "MIN_COMPILED_COEFFICIENTS", 0)
    X, _ = draw(30)
    y = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    K = Gaussian(1.5)(X)
    problem = BoxQP(-y, np.full(30, -2.0), np.full(30, 2.0), kink)
    found = solve(problem, Dense(K), TIGHT)
    rests(problem, found, 1e-6)
    model = SVR(kernel="precomputed", C=2.0, epsilon=kink, tol=1e-8).fit(K, y)
    np.testing.assert_allclose(K @ found.b + found.bias, model.predict(K), **LIBSVM)


def test_rows_of_a_pool_by_loops_as_written(loops_as_written, monkeypatch):
    monkeypatch.setattr(smo, "MIN_COMPILED_COEFFICIENTS", 0)
    monkeypatch.setattr(smo, "CALL_NUMBERS", 5)
    rng = np.random.default_rng(1)
    pool, slots, factors, out = rng.normal(size=(6, 12)), np.array([4, 0, 3]), rng.normal(size=3), np.ones(12)
    np.testing.assert_array_equal(smo.square(pool, slots, np.array([11, 2])), pool[np.ix_(slots, [11, 2])])
    smo.add_rows(pool, slots, factors, out)
    np.testing.assert_allclose(out, 1 + factors @ pool[slots], rtol=1e-14)
