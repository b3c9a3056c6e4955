"""Shortest paths, counted by compiled loops and by SciPy: both equal to sums of powers of the adjacency matrix."""

from collections import Counter

import numpy as np
import pytest

from mercer.kernels.graphs import path_loops
from mercer.kernels.graphs.path_loops import Grouped, path_counts


@pytest.fixture(params=["scipy", "compiled", "compiled in pieces"])
def way(request, monkeypatch):
    """All ways to compute, whatever the size."""
    monkeypatch.setattr(path_loops, "MIN_COMPILED_PAIRS", 1 << 60 if request.param == "scipy" else 0)
    if request.param == "compiled in pieces":
        monkeypatch.setattr(path_loops, "CALL_VISITS", 13)


def some_graphs(sizes, density, seed):
    """Adjacency matrices, groups of nodes in order, and both as arrays one after the other."""
    rng = np.random.default_rng(seed)
    matrices = [np.triu(rng.random((n, n)) < density / max(n, 1)) for n in sizes]
    matrices = [matrix | matrix.T for matrix in matrices]
    groups, first = [], 0
    for n in sizes:
        groups.append(first + np.sort(rng.integers(0, max(1, n // 3), n)))
        first += max(1, n // 3)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    near = [np.flatnonzero(row) + start for matrix, start in zip(matrices, starts, strict=False) for row in matrix]
    begins = np.concatenate([[0], np.cumsum([len(one) for one in near])]).astype(np.int64)
    joined = np.concatenate([np.empty(0, np.int64), *near]).astype(np.int64)
    return matrices, groups, Grouped(starts, np.concatenate([np.empty(0, np.int64), *groups]), begins, joined)


def by_powers(matrices, groups):
    """The distance of two nodes is the first power of the matrix that connects them."""
    found = Counter()
    for matrix, group in zip(matrices, groups, strict=True):
        n = len(matrix)
        distance, reached, d = np.zeros((n, n), int), np.eye(n, dtype=bool), 0
        while True:
            d += 1
            further = (reached.astype(int) @ (matrix | np.eye(n, dtype=bool)).astype(int)) > 0
            if (further == reached).all():
                break
            distance[further & ~reached] = d
            reached = further
        for u, v in np.argwhere(distance):
            found[int(group[u]), int(group[v]), int(distance[u, v])] += 1
    return found


@pytest.mark.parametrize(
    ("sizes", "density"),
    [([5], 1.0), ([7, 1, 0, 12, 2], 1.5), ([20, 15, 30], 2.0), ([40], 1.2), ([1, 1], 2.0), ([0], 1.0), ([], 1.0)],
)
def test_counts(sizes, density, way):
    matrices, groups, joined = some_graphs(sizes, density, seed=len(sizes))
    found = Counter()
    for first, last, distance, pairs in path_counts(joined).tolist():
        found[first, last, distance] += pairs
    assert found == by_powers(matrices, groups)


def test_counts_by_loops_as_written(loops_as_written, monkeypatch):
    monkeypatch.setattr(path_loops, "MIN_COMPILED_PAIRS", 0)
    matrices, groups, joined = some_graphs([7, 1, 0, 12, 2], 1.5, seed=5)
    found = Counter()
    for first, last, distance, pairs in path_counts(joined).tolist():
        found[first, last, distance] += pairs
    assert found == by_powers(matrices, groups)


def test_the_same_bits_whoever_works(way):
    _, _, joined = some_graphs([30, 20, 25, 3], 2.0, seed=1)
    wanted = path_counts(joined, workers=1)
    for workers in (2, 5):
        np.testing.assert_array_equal(path_counts(joined, workers), wanted)


def test_buffers_grow():
    """A path of 3,000 nodes: more different paths than room at first."""
    check_a_path(3000)


def test_buffers_of_loops_as_written_grow(loops_as_written, monkeypatch):
    monkeypatch.setattr(path_loops, "MIN_COMPILED_PAIRS", 0)
    check_a_path(150)


def check_a_path(n):
    near = [[v for v in (u - 1, u + 1) if 0 <= v < n] for u in range(n)]
    begins = np.concatenate([[0], np.cumsum([len(one) for one in near])])
    joined = Grouped(np.array([0, n]), np.arange(n) // 10, begins, np.concatenate(near).astype(np.int64))
    found = path_counts(joined)
    assert found[:, 3].sum() == n * (n - 1)
    lengths = np.bincount(found[:, 2], found[:, 3])
    np.testing.assert_array_equal(lengths[1:], 2 * np.arange(n - 1, 0, -1))
