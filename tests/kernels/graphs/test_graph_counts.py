"""Kernels that count parts of graphs: equal to plain Python, whatever the numbers of nodes, and whoever comes later."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.graphs.oracles import (
    collections,
    edge_features,
    gram,
    graphlet_features,
    path_features,
    random_graphs,
    renumbered,
    subtree_features,
    vertex_features,
)

import mercer
from mercer.compute.codegen.sparse import canonical
from mercer.kernels.graphs import Graph, path_loops, subgraphs
from mercer.kernels.graphs.counting import ranked
from mercer.kernels.graphs.edge_histogram import EdgeHistogram
from mercer.kernels.graphs.graphlet import Graphlet
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.refinement import folded
from mercer.kernels.graphs.shortest_path import ShortestPath
from mercer.kernels.graphs.vertex_histogram import VertexHistogram
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman

KERNELS = {
    VertexHistogram(): vertex_features,
    EdgeHistogram(): edge_features(ends=False),
    EdgeHistogram(ends=True): edge_features(ends=True),
    WeisfeilerLehman(0): subtree_features(0),
    WeisfeilerLehman(3): subtree_features(3),
    WeisfeilerLehman(2, edge_labels=True): subtree_features(2, edge_labels=True),
    ShortestPath(): path_features(),
    ShortestPath(labels=False): path_features(labelled=False),
    Graphlet(3): graphlet_features(3),
    Graphlet(4): graphlet_features(4),
}
every = pytest.mark.parametrize(("kernel", "features"), KERNELS.items(), ids=map(str, KERNELS))
PATH = Graph(3, [(0, 1), (1, 2)], labels="CCO")
RING = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="CCO")


def product(kernel, things):
    rows = kernel.count(tuple(things))
    assert rows.shape[0] == len(things)
    assert rows.dtype == np.float64
    return (rows @ rows.T).toarray()


@given(some=collections)
def test_counts_are_those_of_plain_python(some):
    for kernel, features in KERNELS.items():
        np.testing.assert_array_equal(product(kernel, some), gram(features, some), err_msg=str(kernel))


@given(some=collections, seed=st.integers(0, 9))
def test_numbers_of_nodes_do_not_matter(some, seed):
    other, n = [renumbered(graph, seed) for graph in some], len(some)
    for kernel in KERNELS:
        both = product(kernel, some + other)
        np.testing.assert_array_equal(both[:n, n:], both[:n, :n], err_msg=str(kernel))
        np.testing.assert_array_equal(both[n:, n:], both[:n, :n], err_msg=str(kernel))


@given(some=collections, more=collections)
def test_what_comes_later_moves_no_feature(some, more):
    """The columns that the first graphs use are the same without the others, in the same order."""
    for kernel in KERNELS:
        alone = canonical(kernel.count(tuple(some))).toarray()
        beside = canonical(kernel.count(tuple(some + more))).toarray()[: len(some)]
        used, kept = alone[:, alone.any(axis=0)], beside[:, beside.any(axis=0)]
        np.testing.assert_array_equal(used, kept, err_msg=str(kernel))


@pytest.mark.slow
@every
def test_larger_graphs(kernel, features, monkeypatch):
    some = random_graphs(12, seed=3, most=14)
    wanted = gram(features, some)
    np.testing.assert_array_equal(product(kernel, some), wanted)
    monkeypatch.setattr(path_loops, "CALL_VISITS", 40)
    monkeypatch.setattr(path_loops, "MIN_COMPILED_PAIRS", 0)
    monkeypatch.setattr(subgraphs, "PRODUCT_NUMBERS", 10)
    np.testing.assert_array_equal(product(kernel, some), wanted)


@every
def test_the_public_door(kernel, features):
    some, new = random_graphs(6, seed=1, most=8), [*random_graphs(3, seed=2, most=8), Graph(2, [(0, 1)], ["Xe", "C"])]
    np.testing.assert_array_equal(kernel(some), gram(features, some))
    np.testing.assert_array_equal(kernel(some, new), gram(features, some, new))  # with labels that were never seen
    np.testing.assert_array_equal(kernel.diagonal(new), np.diag(gram(features, new)))
    assert kernel(some, list(some)).tobytes() == kernel(some).tobytes()


@every
def test_texts_and_proofs(kernel, features):
    assert mercer.parse(str(kernel), {kernel.name: type(kernel)}) == kernel
    assert eval(repr(kernel), globals()) == kernel  # noqa: S307
    proof = mercer.prove(kernel)
    assert proof.status == "proven"
    assert "phi(x)" in str(proof)
    assert kernel.formula
    assert "mathrm" not in kernel.latex()


@every
def test_nothing_is_negative_and_normalized_is_at_most_one(kernel, features):
    """GraKeL gives k(x, x) = -1 for some graphs: those of one node, of no edge, of no node."""
    odd = [Graph(0, []), Graph(1, []), Graph(1, [(0, 0)]), Graph(2, []), Graph(5, [], "ABCDE"), PATH, RING]
    K = kernel(odd)
    assert (K >= 0).all()
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * K.max()
    unit = kernel.normalized()(odd)
    size = np.diag(K)
    np.testing.assert_allclose(np.diag(unit), (size > 0).astype(float), rtol=1e-15)
    assert unit.max() <= 1 + 1e-12


def test_by_hand():
    """Two rounds on a path and a ring of three nodes, C C O."""
    np.testing.assert_array_equal(WeisfeilerLehman(0)([PATH, RING]), [[5, 5], [5, 5]])
    np.testing.assert_array_equal(WeisfeilerLehman(2)([PATH, RING]), [[11, 7], [7, 15]])
    np.testing.assert_array_equal(ShortestPath()([PATH, RING]), [[8, 8], [8, 12]])


def test_the_example_of_the_weisfeiler_lehman_paper():
    """Figure 2 of Shervashidze et al. (2011): <phi(G), phi(G')> = 11 after one round."""
    one = Graph(6, [(0, 4), (1, 4), (2, 3), (2, 5), (3, 4), (3, 5), (4, 5)], [1, 1, 2, 3, 4, 5])
    other = Graph(6, [(0, 4), (1, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)], [1, 2, 2, 3, 4, 5])
    assert WeisfeilerLehman(1)([one], [other])[0, 0] == 11
    assert WeisfeilerLehman(1).diagonal([one, other]).tolist() == [8 + 8, 8 + 6]


def test_famous_graphs_that_colours_cannot_tell_apart():
    """A ring of six and two rings of three: all nodes have two neighbours; paths and small graphs tell them apart."""
    ring = Graph(6, [(i, (i + 1) % 6) for i in range(6)])
    two = Graph(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    assert WeisfeilerLehman(5).distance([ring], [two]) == 0
    assert ShortestPath().distance([ring], [two]) > 0
    assert Graphlet(3).distance([ring], [two]) > 0


def test_counts_of_the_petersen_graph():
    """Ten nodes of degree three, girth five: 30 paths of three nodes, no triangle and no ring of four."""
    outer = [(i, (i + 1) % 5) for i in range(5)]
    petersen = Graph(10, [*outer, *((i, i + 5) for i in range(5)), *((5 + i, 5 + (i + 2) % 5) for i in range(5))])
    assert subgraphs.KINDS[3] == ("no edge", "edge", "path", "triangle")
    assert subgraphs.induced(joined((petersen,)), 3).tolist() == [[30, 60, 30, 0]]
    found = dict(zip(subgraphs.KINDS[4], subgraphs.induced(joined((petersen,)), 4)[0], strict=True))
    assert found["triangle"] == found["ring"] == found["clique"] == 0
    assert (found["star"], found["path"]) == (10, 60)
    assert sum(found.values()) == 210


@pytest.mark.parametrize("size", [3, 4])
def test_counts_of_subgraphs_stay_exact_in_large_graphs(size):
    """C(n, 4) of 200,000 nodes does not fit 64 bits; a hub gives a star of each set of its neighbours."""
    n = 200_000
    found = subgraphs.induced(joined((Graph(n, [(0, i) for i in range(1, 301)]),)), size)[0]
    named = dict(zip(subgraphs.KINDS[size], found, strict=True))
    assert named["path" if size == 3 else "star"] == comb(300, size - 1)
    assert sum(found) == comb(n, size)


def test_hubs_take_few_steps():
    """A star of 5,000 leaves: lists of neighbours are folded in halves."""
    star = Graph(5001, [(0, i) for i in range(1, 5001)])
    assert WeisfeilerLehman(2)([star])[0, 0] == 5001**2 + 2 * (5000**2 + 1)


@given(st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=30))
def test_folded_lists_are_equal_where_the_lists_are(lists):
    lengths = np.array([len(one) for one in lists])
    found = folded(np.array([x for one in lists for x in one], dtype=np.int64), lengths)
    for a, one in zip(found, lists, strict=True):
        for b, other in zip(found, lists, strict=True):
            if len(one) == len(other):
                assert (a == b) == (one == other)


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 7, 2**31, 2**40, 2**61])] * 3), min_size=1, max_size=12))
def test_ranks_of_tuples(tuples):
    """However large the numbers are: their product may not fit."""
    order = {one: rank for rank, one in enumerate(sorted(set(tuples)))}
    parts = np.array(tuples, dtype=np.int64).T
    assert ranked(*parts).tolist() == [order[one] for one in tuples]


def test_whole_numbers_are_checked():
    for wrong in (lambda: WeisfeilerLehman(-1), lambda: Graphlet(5), lambda: Graphlet(2), lambda: ShortestPath("yes")):
        with pytest.raises(mercer.errors.KernelError):
            wrong()


def test_composed_with_numbers_and_with_each_other():
    some = random_graphs(5, seed=4, most=8)
    one, other = WeisfeilerLehman(2), ShortestPath()
    np.testing.assert_allclose((one + 2 * other)(some), one(some) + 2 * other(some), rtol=1e-15)
    np.testing.assert_allclose((one * other)(some), one(some) * other(some), rtol=1e-15)
    np.testing.assert_allclose((one**2)(some), one(some) ** 2, rtol=1e-15)
