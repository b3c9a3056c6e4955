"""Shared walks of graphs by compiled loops: those of NumPy, and of a dense solve, in the memory that they promise."""

import tracemalloc

import numpy as np
import pytest

from mercer.compute.codegen import jit_cache
from mercer.compute.runtime import threads
from mercer.kernels.graphs import Graph, meetings, walks
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.meetings import shared_walks
from mercer.kernels.graphs.spectra import largest_eigenvalues
from mercer.kernels.graphs.walks import Labelled

rng = np.random.default_rng(3)


def random_graph(n, edges, labels, kinds):
    pairs = np.unique(np.sort(rng.integers(0, n, (edges, 2)), axis=1), axis=0)
    return Graph(n, pairs, rng.integers(0, labels, n), rng.integers(0, kinds, len(pairs)))


GRAPHS = [random_graph(n, 2 * n, labels, kinds) for n, labels, kinds in [(9, 1, 1), (12, 3, 1), (7, 3, 4), (15, 6, 2)]]
GRAPHS += [Graph(3, [], [9, 9, 9]), Graph(1, [(0, 0)], [0], [0]), Graph(0, [], [], [])]


def encoded(some):
    graphs = joined(tuple(some)).by_label()
    return Labelled(graphs, largest_eigenvalues(graphs))


def table(graphs, decay, loops, union=1024, lower=False):
    """All values of some graphs, by loops or by NumPy, and how many are not exact; below the diagonal where `lower`."""
    every = np.arange(graphs.graphs.count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meetings, "MIN_COMPILED_PAIRS", 0 if loops else 1 << 60)
        patch.setattr(walks, "UNION_NODES", union)
        wanted, looped = graphs.meetings(every, every, lower)
        assert looped == (loops and jit_cache.numba_works())
        found = np.full((len(every), len(every)), np.nan)
        return found, shared_walks(wanted, decay, looped, found.reshape(-1))


def test_many_pairs_of_tiny_graphs_are_worth_loading_loops():
    """Plain NumPy takes long for each pair of graphs, and not for their nodes."""
    assert meetings.compiles(9 * 20_100, 20_100) == jit_cache.numba_works()
    assert not meetings.compiles(9 * 1_275, 1_275)
    assert meetings.compiles(1 << 19, 1) == jit_cache.numba_works()


@pytest.mark.parametrize("union", [1, 20, 1024])
def test_loops_and_numpy_agree(union):
    graphs = encoded(GRAPHS)
    decay = 0.9 / graphs.radii.max() ** 2
    (found, missed), (wanted, also) = table(graphs, decay, True, union), table(graphs, decay, False)
    assert missed == also == 0
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    np.testing.assert_allclose(found, found.T, rtol=1e-13)
    assert found[4, 4] == 9  # three nodes without an edge: 3 * 3 walks of no step
    assert found[4, 0] == 0  # whose labels nobody has
    assert not found[6].any()  # no node
    np.testing.assert_allclose(found[5, 5], 1 / (1 - decay), rtol=1e-15)


def test_loops_as_written_and_numpy_agree(loops_as_written):
    test_loops_and_numpy_agree(20)


@pytest.mark.parametrize("loops", [False, True])
def test_values_do_not_depend_on_the_union(loops):
    """Graphs that end their steps at other times, in unions of two sizes: the same bits."""
    graphs = encoded([*GRAPHS, *GRAPHS[::-1]])
    decay = 0.99 / graphs.radii.max() ** 2
    found = [table(graphs, decay, loops, union)[0] for union in (1, 20, 1024)]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    lower = table(graphs, decay, loops, 20, lower=True)[0]
    assert (np.tril(lower) == np.tril(found[0])).all()


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("piece", [1, 50, 1 << 20])
def test_pieces_do_not_matter(piece, loops, monkeypatch):
    graphs = encoded(GRAPHS)
    wanted, _ = table(graphs, 0.01, loops)
    monkeypatch.setattr(meetings, "CALL_PAIRS", piece)
    found, missed = table(graphs, 0.01, loops)
    assert (found == wanted).all()
    assert missed == 0


def test_some_graphs_with_themselves():
    graphs, some = encoded(GRAPHS), np.array([3, 0, 3, 6])
    found = np.full(4, np.nan)
    wanted, looped = graphs.own(some)
    shared_walks(wanted, 0.01, looped, found)
    np.testing.assert_allclose(found, table(graphs, 0.01, False)[0].diagonal()[some], rtol=1e-14)


def test_without_numba(monkeypatch):
    graphs = encoded(GRAPHS)
    wanted, _ = table(graphs, 0.01, True)
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    np.testing.assert_allclose(table(graphs, 0.01, True)[0], wanted, rtol=1e-14)


@pytest.mark.parametrize("loops", [False, True])
def test_steps_that_do_not_suffice_are_counted(loops, monkeypatch):
    graphs = encoded(GRAPHS[:3])
    wanted, _ = table(graphs, 0.02, loops)
    monkeypatch.setattr(meetings, "MAX_MISSING_SHARE", 0.0)  # nobody reaches that
    monkeypatch.setattr(meetings, "BASE_STEPS", 3)
    found, missed = table(graphs, 0.02, loops)
    assert missed > 0
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("loops", [False, True])
def test_no_step_at_all_is_counted(loops, monkeypatch):
    graphs = encoded(GRAPHS)
    wanted, _ = table(graphs, 0.01, False)
    monkeypatch.setattr(meetings, "BASE_STEPS", -1000)
    found, missed = table(graphs, 0.01, loops)
    assert missed == np.count_nonzero(wanted)
    assert not found.any()


def test_the_product_graph_is_never_made():
    """Two graphs of 300 nodes: their product graph has 90,000 nodes, and its matrix 8.1e9 numbers."""
    graphs = encoded([random_graph(300, 600, 1, 1) for _ in range(2)])
    table(graphs, 0.01, True, 1)  # a first call compiles, which takes memory of its own
    tracemalloc.start()
    found, _ = table(graphs, 0.01, True, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0, 1] > 90_000
    assert peak < 8 * 90_000 * 10


def test_an_error_in_a_worker_comes_through(monkeypatch):
    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(meetings, "CALL_PAIRS", 10)
    monkeypatch.setattr(threads, "available", lambda: 2)
    monkeypatch.setattr(meetings.Meetings, "compare_plainly", interrupted)
    with pytest.raises(KeyboardInterrupt):
        table(encoded(GRAPHS), 0.01, False)
