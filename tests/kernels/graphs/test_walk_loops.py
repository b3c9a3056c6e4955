"""Shared walks of graphs by compiled loops: those of NumPy, and of a dense solve, in the memory that they promise."""

import tracemalloc

import numpy as np
import pytest

from mercer.compute.codegen import jit_cache
from mercer.compute.runtime import threads
from mercer.kernels.graphs import Graph, walk_loops
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.spectra import largest_eigenvalues
from mercer.kernels.graphs.walk_loops import shared_walks
from mercer.kernels.graphs.walks import layers

rng = np.random.default_rng(3)


def random_graph(n, edges, labels, kinds):
    pairs = np.unique(np.sort(rng.integers(0, n, (edges, 2)), axis=1), axis=0)
    return Graph(n, pairs, rng.integers(0, labels, n), rng.integers(0, kinds, len(pairs)))


GRAPHS = [random_graph(n, 2 * n, labels, kinds) for n, labels, kinds in [(9, 1, 1), (12, 3, 1), (7, 3, 4), (15, 6, 2)]]
GRAPHS += [Graph(3, [], [9, 9, 9]), Graph(1, [(0, 0)], [0], [0]), Graph(0, [], [], [])]


def encoded(some):
    graphs = joined(tuple(some)).by_label()
    return layers(graphs, largest_eigenvalues(graphs))


def all_pairs(n):
    i, j = np.divmod(np.arange(n * n), n)
    return i, j


def test_loops_and_numpy_agree():
    graphs, (i, j) = encoded(GRAPHS), all_pairs(len(GRAPHS))
    decay = 0.9 / graphs.radii.max() ** 2
    found, wanted = np.empty(len(i)), np.empty(len(i))
    assert graphs.compare(i, j, decay, found) == graphs.compare_plainly(i, j, decay, wanted) == 0
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    table = found.reshape(len(GRAPHS), -1)
    np.testing.assert_allclose(table, table.T, rtol=1e-13)
    assert table[4, 4] == 9  # three nodes without an edge: 3 * 3 walks of no step
    assert table[4, 0] == 0  # whose labels nobody has
    assert not table[6].any()  # no node
    np.testing.assert_allclose(table[5, 5], 1 / (1 - decay), rtol=1e-15)


def test_loops_as_written_and_numpy_agree(loops_as_written):
    test_loops_and_numpy_agree()


@pytest.mark.parametrize("piece", [1, 50, 1 << 20])
def test_pieces_do_not_matter(piece, monkeypatch):
    graphs, (i, j) = encoded(GRAPHS), all_pairs(len(GRAPHS))
    wanted, _ = shared_walks(graphs, i, j, 0.01)
    monkeypatch.setattr(walk_loops, "CALL_PAIRS", piece)
    monkeypatch.setattr(walk_loops, "MIN_COMPILED_PAIRS", 0)
    found, missed = shared_walks(graphs, i, j, 0.01)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert missed == 0


def test_without_numba(monkeypatch):
    graphs, (i, j) = encoded(GRAPHS), all_pairs(len(GRAPHS))
    monkeypatch.setattr(walk_loops, "MIN_COMPILED_PAIRS", 0)
    wanted, _ = shared_walks(graphs, i, j, 0.01)
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    np.testing.assert_allclose(shared_walks(graphs, i, j, 0.01)[0], wanted, rtol=1e-14)


def test_steps_that_do_not_suffice_are_counted(monkeypatch):
    graphs, (i, j) = encoded(GRAPHS[:3]), all_pairs(3)
    wanted, _ = shared_walks(graphs, i, j, 0.02)
    for compiled in (0, 1 << 60):
        monkeypatch.setattr(walk_loops, "MIN_COMPILED_PAIRS", compiled)
        monkeypatch.setattr(walk_loops, "MAX_MISSING_SHARE", 0.0)  # nobody reaches that
        monkeypatch.setattr(walk_loops, "BASE_STEPS", 3)
        found, missed = shared_walks(graphs, i, j, 0.02)
        assert missed > 0
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_the_product_graph_is_never_made(monkeypatch):
    """Two graphs of 300 nodes: their product graph has 90,000 nodes, and its matrix 8.1e9 numbers."""
    monkeypatch.setattr(walk_loops, "MIN_COMPILED_PAIRS", 0)
    graphs = encoded([random_graph(300, 600, 1, 1) for _ in range(2)])
    shared_walks(graphs, np.array([0]), np.array([1]), 0.01)  # a first call compiles, which takes memory of its own
    tracemalloc.start()
    found, _ = shared_walks(graphs, np.array([0]), np.array([1]), 0.01)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0] > 90_000
    assert peak < 8 * 90_000 * 10


def test_an_error_in_a_worker_comes_through(monkeypatch):
    graphs, (i, j) = encoded(GRAPHS), all_pairs(len(GRAPHS))

    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(walk_loops, "CALL_PAIRS", 10)
    monkeypatch.setattr(threads, "available", lambda: 2)
    monkeypatch.setattr(walk_loops.Layers, "compare_plainly", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shared_walks(graphs, i, j, 0.01)
