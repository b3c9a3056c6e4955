"""What a graph is: edges each once, in order, labels beside them, and errors that say what is wrong."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from kernels.graphs.oracles import graphs

from mercer.errors import InputError
from mercer.kernels.graphs import Graph


def test_edges_come_in_order_and_once():
    graph = Graph(4, [(3, 1), (0, 1), (1, 3), (2, 2), (1, 0)])
    assert graph.edges.tolist() == [[0, 1], [1, 3], [2, 2]]
    assert graph.labels is graph.edge_labels is None
    assert Graph(4, {(3, 1), (1, 0), (2, 2)}) == graph == Graph(np.int64(4), np.array([[0, 1], [2, 2], [1, 3]], "u1"))


def test_labels_of_edges_go_with_them():
    graph = Graph(3, [(2, 1), (1, 0), (0, 1)], labels=np.array([5, 6, 5]), edge_labels=["double", "single", "single"])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_labels == ("single", "double")
    assert graph.labels == (5, 6, 5)
    assert all(type(label) is int for label in graph.labels)


@given(graphs())
def test_graphs_are_values(graph):
    parts = (graph.nodes, graph.edges.tolist(), graph.labels, graph.edge_labels)
    assert Graph(*parts) == graph
    assert hash(Graph(*parts)) == hash(graph)
    assert Graph(graph.nodes + 1, graph.edges) != graph
    for twin in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):  # noqa: S301
        assert twin == graph
        assert not twin.edges.flags.writeable


def test_graphs_cannot_be_changed():
    graph = Graph(2, [(0, 1)])
    with pytest.raises(AttributeError):
        graph.nodes = 3
    with pytest.raises(ValueError, match="read-only"):
        graph.edges[0, 0] = 1


def test_the_given_array_stays_as_it_is():
    edges = np.array([[1, 0], [2, 1]])
    Graph(3, edges)
    assert edges.tolist() == [[1, 0], [2, 1]]
    assert edges.flags.writeable


def test_unlike_graphs():
    one = Graph(2, [(0, 1)], "CO")
    assert one != Graph(2, [(0, 1)], "OC")
    assert one != Graph(2, [(0, 1)])
    assert one != Graph(2, [], "CO")
    assert one != Graph(2, [(0, 1)], "CO", ["-"])
    assert one != "CO"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Graph(3, [(0, 1), (1, 3)]), r"edge 1 is \(1, 3\), and there are 3 nodes. Number nodes from 0"),
        (lambda: Graph(3, [(-1, 1)]), r"edge 0 is \(-1, 1\)"),
        (lambda: Graph(0, [(0, 0)]), "there are 0 nodes"),
        (lambda: Graph(3, [(0, 1, 2)]), "pairs of integers for edges"),
        (lambda: Graph(3, [(0.0, 1.0)]), "dtype float64"),
        (lambda: Graph(3, [(0, 1), (2,)]), "NumPy says"),
        (lambda: Graph(3, 7), "pairs of nodes for edges"),
        (lambda: Graph(3, [], labels="CC"), "as many labels as nodes; got 2 for 3 nodes"),
        (lambda: Graph(3, [(0, 1)], edge_labels=[]), "as many edge_labels as edges; got 0 for 1 edges"),
        (lambda: Graph(1, [], labels=[[1.0]]), "hashable labels"),
        (lambda: Graph(2, [], labels=["C", float("nan")]), "NaN"),
        (lambda: Graph(2, [], labels=3), "a list for labels"),
        (lambda: Graph(2, [(0, 1), (1, 0)], edge_labels="-="), r"got edge \(0, 1\) with '-' and with '='"),
        (lambda: Graph(-1, []), "an integer of at least 0; got -1"),
        (lambda: Graph(["C"], []), r"got \['C'\]. Give labels="),
        (lambda: Graph(True, []), "got True"),
    ],
)
def test_what_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_how_a_graph_is_written():
    graph = Graph(3, [(0, 1)], "CCO", ["="])
    assert repr(graph) == "Graph(nodes=3, edges=[[0, 1]], labels=('C', 'C', 'O'), edge_labels=('=',))"
    assert eval(repr(graph)) == graph  # noqa: S307
    assert len(repr(Graph(10_000, [(i, i + 1) for i in range(9999)]))) < 200
