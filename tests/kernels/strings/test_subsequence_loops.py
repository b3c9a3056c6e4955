"""Gappy subsequences: every pair, compiled or not, against plain Python; calls that stay short, threads that stop."""

from collections import Counter
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from mercer.compute.codegen import jit_cache
from mercer.compute.runtime import threads
from mercer.errors import BudgetError
from mercer.kernels.strings import subsequence_loops
from mercer.kernels.strings.sequences import joined
from mercer.kernels.strings.subsequence_loops import LANES, Gappy, by_numpy, matrix, pairs


@pytest.fixture(params=["numpy", "compiled"])
def way(request, monkeypatch):
    """Both ways to compute, whatever the size."""
    if request.param == "compiled" and not jit_cache.numba_works():
        pytest.skip("Numba is missing")
    monkeypatch.setattr(subsequence_loops, "MIN_COMPILED_STEPS", 0 if request.param == "compiled" else 1 << 62)
    return request.param


def of(rows):
    return joined(np.array([code for row in rows for code in row], dtype=np.int64), map(len, rows), len(rows))


def some(count, longest, size=3, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, size, size=n).tolist() for n in rng.integers(0, longest + 1, size=count)]


def features(s, gappy):
    """The definition: every choice of places, by the gaps between them."""
    found = Counter()
    for places in combinations(range(len(s)), gappy.length):
        gaps = places[-1] - places[0] + 1 - gappy.length
        found[tuple(s[i] for i in places)] += gappy.decay**gaps
    return found


def wanted(rows, columns, gappy):
    left, right = ([features(s, gappy) for s in side] for side in (rows, columns))
    return [[sum(value * z[word] for word, value in x.items()) for z in right] for x in left]


@pytest.mark.parametrize("gappy", [Gappy(1, 0.5), Gappy(2, 1.0), Gappy(3, 0.7), Gappy(5, 0.25)])
def test_all_pairs(way, gappy):
    rows = some(9, 12)
    left, right = np.array([0, 3, 8]), np.array([1, 2, 4, 3, 5, 6, 7, 0])
    found = matrix(of(rows), left, right, gappy)
    expected = wanted([rows[i] for i in left], [rows[j] for j in right], gappy)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_all_pairs_by_loops_as_written(loops_as_written, monkeypatch):
    monkeypatch.setattr(subsequence_loops, "MIN_COMPILED_STEPS", 0)
    rows = some(6, 7)
    left, right, gappy = np.array([0, 3]), np.array([1, 2, 4, 5]), Gappy(3, 0.7)
    expected = wanted([rows[i] for i in left], [rows[j] for j in right], gappy)
    np.testing.assert_allclose(matrix(of(rows), left, right, gappy), expected, rtol=1e-13)


def test_a_symmetric_matrix(way):
    rows = some(LANES + 5, 10, seed=1)
    gappy, places = Gappy(3, 0.5), np.array([4, 1, 1, *range(LANES + 5)])
    found = matrix(of(rows), places, places, gappy)
    chosen = [rows[i] for i in places]
    np.testing.assert_allclose(found, wanted(chosen, chosen, gappy), rtol=1e-13)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("count", [1, LANES - 1, LANES, LANES + 1, 3 * LANES])
def test_any_number_of_pairs(way, count):
    rows = some(20, 9, seed=count)
    rng = np.random.default_rng(count)
    left, right = rng.integers(0, 20, count), rng.integers(0, 20, count)
    gappy = Gappy(2, 0.5)
    found = pairs(of(rows), left, right, gappy)
    expected = [wanted([rows[i]], [rows[j]], gappy)[0][0] for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("rows", [[[]], [[], [1]], [[1], [2]], [[0, 0, 0]]])
def test_short_and_empty_sequences(way, rows):
    places = np.arange(len(rows))
    for gappy in (Gappy(1, 0.5), Gappy(2, 0.5), Gappy(4, 1.0)):
        np.testing.assert_allclose(matrix(of(rows), places, places, gappy), wanted(rows, rows, gappy))


def test_one_long_pair_takes_several_calls(way, monkeypatch):
    """Strips of the left sequence, so that no call is long: the same sums."""
    monkeypatch.setattr(subsequence_loops, "CALL_STEPS", 50)
    rows = some(3, 60, seed=3)
    places = np.arange(3)
    gappy = Gappy(3, 0.9)
    np.testing.assert_allclose(matrix(of(rows), places, places, gappy), wanted(rows, rows, gappy), rtol=1e-13)


def test_whole_numbers_are_exact(way):
    """decay = 1 on equal symbols: C(n, length) C(m, length) pairs of places."""
    rows = [[1] * 12, [1] * 20]
    found = pairs(of(rows), np.array([0]), np.array([1]), Gappy(5, 1.0))
    assert found[0] == comb(12, 5) * comb(20, 5)


def test_long_sequences_of_one_symbol(way):
    rows = [[1] * 300]
    assert pairs(of(rows), np.array([0]), np.array([0]), Gappy(1, 1.0))[0] == 90_000
    rows = [[1] * 60]
    found = pairs(of(rows), np.array([0]), np.array([0]), Gappy(30, 1.0))
    assert found[0] == pytest.approx(comb(60, 30) ** 2, rel=1e-13)


def test_the_same_bits_by_any_number_of_threads(monkeypatch):
    rows = some(70, 20, seed=4)
    places = np.arange(70)
    monkeypatch.setattr(subsequence_loops, "MIN_COMPILED_STEPS", 0)
    monkeypatch.setattr(subsequence_loops, "CALL_STEPS", 1000)
    found = []
    for workers in (1, 2, 3):
        monkeypatch.setattr(threads, "available", lambda workers=workers: workers)
        found.append(matrix(of(rows), places, places[:50], Gappy(3, 0.5)))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_calls_are_short():
    """No piece of work is much longer than a call, but where one chunk of pairs is."""
    rows = some(200, 80, seed=5)
    chunks = subsequence_loops._Chunks(of(rows), *np.triu_indices(200), Gappy(3, 0.5))
    cuts = chunks._pieces()
    assert cuts[0] == 0
    assert cuts[-1] == len(chunks.left)
    sums = [int(chunks.steps[a:b].sum()) for a, b in pairwise(cuts)]
    assert max(sums) <= subsequence_loops.CALL_STEPS + int(chunks.steps.max())
    mixed = subsequence_loops._Chunks(of([[1] * 2000, [1]]), *np.repeat([[1, 0, 1]] * 2, LANES, axis=1), Gappy(2, 0.5))
    assert mixed._pieces() == [0, 1, 2, 3]  # the long pair, in strips, and nothing beside it
    long = subsequence_loops._Chunks(of([[1] * 9000]), np.array([0]), np.array([0]), Gappy(2, 0.5))
    strips = list(long._strips(slice(0, 1), 9000))
    assert len(strips) >= 9000 * 9000 * 2 // subsequence_loops.CALL_STEPS
    assert strips[0][0] == 0
    assert strips[-1][1] >= 9000
    assert all(a[1] == b[0] for a, b in pairwise(strips))


def test_too_little_memory_is_said(monkeypatch):
    monkeypatch.setattr(subsequence_loops, "MIN_COMPILED_STEPS", 0)
    monkeypatch.setattr(subsequence_loops.Budget, "of", lambda memory: subsequence_loops.Budget(100))
    with pytest.raises(BudgetError, match=r"GappySubsequence needs .* for 32 pairs of strings of up to 3 symbols"):
        pairs(of([[1, 2, 3]]), np.array([0]), np.array([0]), Gappy(2, 0.5))


def test_numpy_takes_batches(monkeypatch):
    monkeypatch.setattr(subsequence_loops, "NUMPY_PAIRS", 7)
    rows = some(5, 9, seed=6)
    left, right = map(np.array, zip(*combinations(range(5), 2), strict=True))
    gappy = Gappy(2, 0.5)
    expected = [wanted([rows[i]], [rows[j]], gappy)[0][0] for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(by_numpy(of(rows), left, right, gappy), expected, rtol=1e-13)
