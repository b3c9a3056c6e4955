"""Random walks: equal to a dense solve on the product graph, in all ways to compute them; decays that are too large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.graphs.oracles import collections, random_graphs, renumbered, walks

import mercer
from mercer.errors import DomainError, KernelError
from mercer.kernels.graphs import Graph, meetings, random_walk, spectra
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.random_walk import RandomWalk
from mercer.kernels.graphs.spectra import largest_eigenvalues
from mercer.kernels.graphs.walks import terms

KERNELS = [
    RandomWalk(0.01, labels=False),
    RandomWalk(0.02),
    RandomWalk(0.02, labels=False, edge_labels=True),
    RandomWalk(0.02, edge_labels=True),
]
every = pytest.mark.parametrize("kernel", KERNELS, ids=str)


@pytest.fixture(params=["counts or numpy", "systems by numpy", "systems by loops"])
def way(request, monkeypatch):
    """All ways to compute, whatever the size."""
    if request.param != "counts or numpy":
        monkeypatch.setattr(random_walk, "MAX_COUNTED_LENGTHS", 0)
    monkeypatch.setattr(meetings, "MIN_COMPILED_PAIRS", 0 if request.param == "systems by loops" else 1 << 60)
    return request.param


def oracle(kernel, some, others):
    return np.array([[walks(a, b, kernel.decay, kernel.labels, kernel.edge_labels) for b in others] for a in some])


@given(some=collections, seed=st.integers(0, 9))
def test_values_are_those_of_a_dense_solve(some, seed):
    other = [renumbered(graph, seed) for graph in some]
    for kernel in KERNELS:
        found = kernel(some)
        np.testing.assert_allclose(found, oracle(kernel, some, some), rtol=1e-13, err_msg=str(kernel))
        np.testing.assert_allclose(kernel(other), found, rtol=1e-13, err_msg=str(kernel))


@every
def test_every_way(kernel, way):
    some, more = random_graphs(5, seed=5, most=9), random_graphs(3, seed=6, most=9)
    np.testing.assert_allclose(kernel(some), oracle(kernel, some, some), rtol=1e-13)
    np.testing.assert_allclose(kernel(some, more), oracle(kernel, some, more), rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(more), np.diag(oracle(kernel, more, more)), rtol=1e-13)


@every
def test_small_pieces(kernel, monkeypatch):
    monkeypatch.setattr(meetings, "CALL_PAIRS", 7)
    some = random_graphs(5, seed=5, most=6)
    np.testing.assert_allclose(kernel(some), oracle(kernel, some, some), rtol=1e-13)


@pytest.mark.parametrize("part", [0.5, 0.9, 0.99, 0.999999])
@pytest.mark.parametrize("labels", [True, False])
def test_decays_near_the_largest(part, labels, way):
    some = random_graphs(4, seed=7, most=9)
    decay = part / float(largest_eigenvalues(joined(tuple(some))).max()) ** 2
    kernel = RandomWalk(decay, labels=labels)
    np.testing.assert_allclose(kernel(some), oracle(kernel, some, some), rtol=1e-9 if part > 0.999 else 1e-12)
    assert np.linalg.eigvalsh(kernel(some))[0] > 0


def test_by_hand():
    """Two walks of each length in an edge, 2 * 2^p in a ring; one node has one walk only."""
    edge, ring, node = Graph(2, [(0, 1)]), Graph(3, [(0, 1), (1, 2), (0, 2)]), Graph(1, [])
    found = RandomWalk(0.125)([edge, ring, node])
    wanted = [[4 / (1 - 0.125), 6 / (1 - 0.25), 2], [6 / (1 - 0.25), 9 / (1 - 0.5), 3], [2, 3, 1]]
    np.testing.assert_allclose(found, wanted, rtol=1e-15)


@every
def test_odd_graphs_have_no_negative_value(kernel):
    odd = [
        Graph(0, []),
        Graph(1, []),
        Graph(1, [(0, 0)]),
        Graph(2, []),
        Graph(5, [], "ABCDE"),
        Graph(2, [(0, 1)], "AB"),
    ]
    K = kernel(odd)
    assert (K >= 0).all()
    assert np.linalg.eigvalsh(K)[0] >= -1e-14 * K.max()
    unit = np.diag(kernel.normalized()(odd))
    np.testing.assert_allclose(unit, [0, 1, 1, 1, 1, 1], rtol=1e-15)


def test_a_decay_that_is_too_large_is_refused_and_a_good_one_named():
    some = [Graph(2, [(0, 1)]), Graph(5, [(0, i) for i in range(1, 5)])]  # stars have the root of their leaves
    with pytest.raises(DomainError, match=r"5 nodes and 4 edges it is 0.25 \* 2\^2 = 1\. Use decay=0.1,") as caught:
        RandomWalk(0.25)(some)
    works = float(str(caught.value).split("decay=")[1].split(",")[0])
    assert np.isfinite(RandomWalk(works)(some)).all()
    assert RandomWalk(0.2499)(some).max() > 1000
    with pytest.raises(DomainError):
        RandomWalk(0.3).diagonal(some)
    with pytest.raises(DomainError):
        RandomWalk(0.3)(some[:1], some[1:])


@pytest.mark.parametrize("decay", [-0.1, 0.0, float("nan"), "0.1"])
def test_decays_that_are_none(decay):
    with pytest.raises(KernelError):
        RandomWalk(decay)


@every
def test_texts_and_proofs(kernel):
    assert mercer.parse(str(kernel), {kernel.name: RandomWalk}) == kernel
    assert eval(repr(kernel)) == kernel  # noqa: S307
    assert mercer.prove(kernel).status == "proven"
    assert "A_{x \\times z}" in kernel.latex()


@pytest.mark.parametrize("dense", [0, 200])
def test_largest_eigenvalues(dense, monkeypatch):
    monkeypatch.setattr(spectra, "MAX_DENSE_NODES", dense)
    monkeypatch.setattr(spectra, "STACK_NUMBERS", 50)
    some = [
        *random_graphs(9, seed=8, most=15),
        Graph(0, []),
        Graph(3, []),
        Graph(6, [(i, (i + 1) % 6) for i in range(6)]),
    ]
    some = [graph for graph in some if dense or graph.nodes > 2 or not len(graph.edges)]
    wanted = []
    for graph in some:
        matrix = np.zeros((graph.nodes, graph.nodes))
        for u, v in graph.edges.tolist():
            matrix[u, v] = matrix[v, u] = 1
        wanted.append(np.abs(np.linalg.eigvals(matrix)).max(initial=0))
    np.testing.assert_allclose(largest_eigenvalues(joined(tuple(some))), wanted, atol=1e-10)


def test_terms_that_are_left_out_do_not_matter():
    for rate in (1e-5, 0.1, 0.5, 0.9, 0.96):
        count = terms(rate)
        assert rate**count / (1 - rate) <= 1.1e-17
        assert rate ** (count - 2) / (1 - rate) > 1e-17
    assert terms(0.0) == 1


def test_what_is_not_exact_is_told(monkeypatch):
    monkeypatch.setattr(meetings, "BASE_STEPS", -60)  # far too few steps
    some = random_graphs(3, seed=9, most=8)
    with pytest.warns(mercer.errors.NumericalWarning, match="less accurate than rounding"):
        RandomWalk(0.05)(some)
