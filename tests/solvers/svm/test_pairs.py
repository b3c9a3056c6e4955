"""Pairs of classes on one matrix: each ends where it does alone, whatever the pieces, and with the same bits."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.svm import SVC

from mercer.compute.codegen import jit_cache
from mercer.compute.runtime.run import Run, Stopped
from mercer.kernels import Gaussian
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.operators import Dense, Gram, LowRank
from mercer.solvers.svm import pairs, smo
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.pairs import ClassRows, solve_pairs
from mercer.solvers.svm.stored import solve_stored
from mercer.solvers.svm.working_sets import SMOSettings

needs_numba = pytest.mark.skipif(not jit_cache.numba_works(), reason="Numba is missing")
WAYS = [pytest.param("compiled", marks=needs_numba), pytest.param("strips", marks=needs_numba), "numpy", "written"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    take(request.param, monkeypatch)
    if request.param == "written":
        request.getfixturevalue("loops_as_written")
    return request.param


def take(way, monkeypatch):
    for module in (smo, pairs):
        monkeypatch.setattr(module, "is_compiled", lambda count: way != "numpy")
    monkeypatch.setattr(smo, "MAX_NUMPY_STEPS", 10**9)
    if way != "compiled":
        monkeypatch.setattr(pairs, "MAX_WHOLE_ROWS", 0)
        monkeypatch.setattr(pairs, "MIN_STRIP_NUMBERS", 900)
        monkeypatch.setattr(pairs, "MIN_THREADED_ROWS", 0)


def drawn(counts, C=2.0, seed=0):
    """Classes of these sizes, in disorder; rows, classes, problems of all pairs."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(len(codes), 3)) + 0.7 * rng.normal(size=(len(counts), 3))[codes]
    rows, weights = ClassRows.of(codes, len(counts)), C * rng.uniform(0.5, 1.5, len(codes))
    problems = []
    for a, b in combinations(range(len(counts)), 2):
        both = np.concatenate([rows.members(a), rows.members(b)])
        sign = np.where(codes[both] == b, 1.0, -1.0)
        problems.append(BoxQP(-sign, np.minimum(0, sign) * weights[both], np.maximum(0, sign) * weights[both]))
    return X, codes, rows, problems


def members(rows):
    return [np.concatenate([rows.members(a), rows.members(b)]) for a, b in combinations(range(len(rows.counts)), 2)]


@pytest.mark.parametrize("counts", [(30, 20, 25), (1, 1, 1), (40, 3, 17, 22, 9)], ids=str)
def test_each_pair_ends_where_it_does_alone(counts, way):
    X, _, rows, problems = drawn(counts)
    K = Gaussian(1.0)(X)
    found = solve_pairs(Gram(Gaussian(1.0), X), rows, problems, [None] * len(problems), 1e-8, lambda count: 10_000)
    for problem, result, own in zip(problems, found, members(rows), strict=True):
        part = K[np.ix_(own, own)]
        alone = solve_stored(problem, part, SMOSettings(1e-9))
        assert result.converged
        assert "The largest violation is" in result.reason
        assert ((result.b >= problem.lower) & (result.b <= problem.upper)).all()
        g = part @ result.b + problem.linear
        np.testing.assert_allclose(result.g, g, atol=1e-12)
        assert result.violation == pytest.approx(problem.violation(result.b, g), abs=1e-12)
        assert result.bias == pytest.approx(problem.bias(result.b, g), abs=1e-12)
        assert result.gap == pytest.approx(problem.gap(result.b, g, result.bias), abs=1e-10)
        np.testing.assert_allclose(part @ result.b + result.bias, part @ alone.b + alone.bias, atol=1e-6)


@needs_numba
def test_all_ways_give_the_same_bits(monkeypatch):
    X, _, rows, problems = drawn((40, 3, 17, 22, 9))
    found = []
    for way in ("compiled", "strips", "numpy"):
        with monkeypatch.context() as patch:
            take(way, patch)
            results = solve_pairs(Gram(Gaussian(1.0), X), rows, problems, [None] * 10, 1e-4, lambda count: 10_000)
        found.append([(one.b, one.g, one.bias, one.violation, one.gap, one.steps) for one in results])
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            for mine, theirs in zip(one, another, strict=True):
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["Dense", "LowRank", "fused", "float32"])
def test_any_operator_will_do(kind, monkeypatch):
    monkeypatch.setattr(pairs, "MAX_WHOLE_ROWS", 0)
    X, codes, rows, problems = drawn((60, 50, 70), C=1.0)
    problems = [BoxQP(one.linear, np.sign(one.lower), np.sign(one.upper)) for one in problems]
    with fused_from(0):
        K = {
            "Dense": lambda: Dense(Gaussian(1.0)(X)),
            "LowRank": lambda: LowRank(X),
            "fused": lambda: Gram(Gaussian(1.0), X),
            "float32": lambda: Gram(Gaussian(1.0), X).narrowed().rough(),
        }[kind]()
        K.prepare()
        found = solve_pairs(K, rows, problems, [None] * 3, 1e-6, lambda count: 100_000)
    values = X @ X.T if kind == "LowRank" else Gaussian(1.0)(X)
    model = SVC(kernel="precomputed", C=1.0, tol=1e-8, decision_function_shape="ovo").fit(values, codes)
    for k, (result, own) in enumerate(zip(found, members(rows), strict=True)):
        f = values[:, own] @ result.b + result.bias
        np.testing.assert_allclose(-f, model.decision_function(values)[:, k], atol=1e-4)


def test_starts_are_gone_on_from(way):
    X, _, rows, problems = drawn((30, 20, 25))
    K = Gram(Gaussian(1.0), X)
    first = solve_pairs(K, rows, problems, [None] * 3, 1e-6, lambda count: 10_000)
    again = solve_pairs(K, rows, problems, [first[0].b, None, first[2].b], 1e-6, lambda count: 10_000)
    assert [one.steps for one in again] == [0, first[1].steps, 0]
    np.testing.assert_allclose(again[0].b, first[0].b, atol=1e-12)


def test_steps_end_where_they_are_over(way):
    X, _, rows, problems = drawn((30, 20, 25))
    found = solve_pairs(Gram(Gaussian(1.0), X), rows, problems, [None] * 3, 1e-10, lambda count: 4)
    assert [one.steps for one in found] == [4, 4, 4]
    assert not any(one.converged for one in found)


def test_a_run_that_ends_keeps_what_was_found(way):
    class Ending(Run):
        def tell(self, done):
            if done >= 1:
                raise Stopped("time is over")

    X, _, rows, problems = drawn((30, 20, 25, 10))
    found = solve_pairs(Gram(Gaussian(1.0), X), rows, problems, [None] * 6, 1e-6, lambda count: 10_000, Ending())
    left = [one for one in found if not one.converged]
    assert all("time is over" in one.reason.lower() for one in left)
    assert all(np.isfinite(one.gap) for one in found)
