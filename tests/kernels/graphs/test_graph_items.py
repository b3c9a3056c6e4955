"""Whatever describes a graph, in whatever table: the same graph, or an error that names its row."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis.strategies import lists, randoms
from kernels.graphs.oracles import graphs, random_graphs

from mercer.errors import InputError
from mercer.kernels.graphs import Graph, graphs_of
from mercer.kernels.graphs.items import items_of
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman

GRAPH = Graph(4, [(0, 1), (1, 2), (3, 3)], ["C", "O", "C", "Å"], ["-", "=", "o"])
MATRIX = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
EDGES = [0, 1, 1, 2, 3, 3]
ROW = {"nodes": ["C", "O", "C", "Å"], "edges": EDGES, "edge_labels": ["-", "=", "o"]}


class Network:
    """As much of a NetworkX graph as is asked for: with parallel edges, where none is asked not to be."""

    def __init__(self, nodes, edges, directed=False, parallel=True):
        self._nodes, self._edges, self._directed, self._parallel = nodes, edges, directed, parallel

    def __repr__(self):
        return f"Network({self._nodes}, {self._edges})"

    def is_directed(self):
        return self._directed

    def is_multigraph(self):
        return self._parallel

    def nodes(self, data):
        return self._nodes

    def adjacency(self):
        near = {name: {} for name, _ in self._nodes}
        for key, (u, v, about) in enumerate(self._edges):
            if self._parallel:
                near[u].setdefault(v, {})[key] = near[v].setdefault(u, {})[key] = about
            else:
                near[u][v] = near[v][u] = about
        return near.items()


def named(label):
    return {} if label is None else {"label": label, "weight": 3.0}


NETWORK = Network(
    [("a", named("C")), ("b", named("O")), ("c", named("C")), ("d", named("Å"))],
    [("b", "a", named("-")), ("b", "c", named("=")), ("d", "d", named("o")), ("a", "b", named("-"))],
)
WHOLE = [
    GRAPH,
    NETWORK,
    ROW,
    pd.Series({"nodes": np.array(["C", "O", "C", "Å"]), "edges": np.array(EDGES), "edge_labels": ["-", "=", "o"]}),
    {**ROW, "edges": np.array(EDGES, "i4").reshape(-1, 2)},
    (MATRIX, ["C", "O", "C", "Å"], ["-", "=", "o"]),
    (MATRIX.astype(bool), ("C", "O", "C", "Å"), {(1, 0): "-", (1, 2): "=", (3, 3): "o"}),
    (sp.csr_array(MATRIX), np.array(["C", "O", "C", "Å"]), ["-", "=", "o"]),
    (sp.coo_matrix(MATRIX.astype(float)), "COCÅ", "-=o"),
]


@pytest.mark.parametrize("thing", WHOLE, ids=lambda thing: type(thing).__name__)
def test_every_form_of_a_labelled_graph(thing):
    assert items_of([thing]) == (GRAPH,)


@pytest.mark.parametrize(
    "thing",
    [
        Graph(4, GRAPH.edges),
        MATRIX,
        MATRIX.tolist(),
        sp.csc_matrix(MATRIX),
        (MATRIX, None),
        {"nodes": 4, "edges": EDGES},
        {"nodes": 4, "edges": EDGES, "edge_labels": None},
        Network([(i, {}) for i in range(4)], [(0, 1, {}), (1, 2, {}), (3, 3, {})]),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_every_form_of_a_graph_without_labels(thing):
    assert items_of([thing]) == (Graph(4, GRAPH.edges),)


def test_graphs_of_nothing():
    nothing = [{"nodes": [], "edges": []}, np.zeros((0, 0)), sp.csr_array((0, 0)), Network([], [])]
    found = items_of(nothing)
    assert [(graph.nodes, len(graph.edges)) for graph in found] == [(0, 0)] * 4


@given(graphs())
def test_columns_and_matrices_give_back_the_graph(graph):
    nodes = graph.nodes if graph.labels is None else list(graph.labels)
    row = {"nodes": nodes, "edges": graph.edges.ravel().tolist(), "edge_labels": graph.edge_labels}
    matrix = np.zeros((graph.nodes, graph.nodes))
    matrix[graph.edges[:, 0], graph.edges[:, 1]] = matrix[graph.edges[:, 1], graph.edges[:, 0]] = 1
    kinds = graph.edge_labels and dict(zip(map(tuple, graph.edges.tolist()), graph.edge_labels, strict=True))
    read = items_of([(matrix, graph.labels, kinds), row, networked(graph, False), networked(graph, True)])
    assert read[1] == graph
    empty = graph.nodes == 0 or len(graph.edges) == 0  # no label and an empty list of labels are then the same
    assert all(found == graph for found in read) or empty


def networked(graph, parallel):
    """As a NetworkX graph, whose nodes have names, and whose edges come in another order."""
    edges = [
        (f"node {v}", f"node {u}", {} if graph.edge_labels is None else {"label": graph.edge_labels[i]})
        for i, (u, v) in enumerate(graph.edges.tolist())
    ]
    nodes = [(f"node {i}", {} if graph.labels is None else {"label": graph.labels[i]}) for i in range(graph.nodes)]
    return Network(nodes, edges[::-1], parallel=parallel)


@given(lists(graphs(), max_size=6), randoms())
def test_many_networks_are_read_as_one_by_one(listed, random):
    things = [random.choice([graph, networked(graph, False), networked(graph, True)]) for graph in listed]
    assert items_of(things) == tuple(items_of([thing])[0] for thing in things)


def test_what_is_read_together_cannot_be_changed_and_holds_its_own_edges():
    first, second = items_of([networked(GRAPH, False), networked(GRAPH, False)])
    assert first == second == GRAPH
    for graph in (first, second):
        assert not graph.edges.flags.writeable
        assert pickle.loads(pickle.dumps(graph)) == graph  # noqa: S301


@pytest.mark.parametrize("bad", range(3))
def test_of_many_networks_the_one_that_is_refused_is_named(bad):
    things = [networked(GRAPH, False), networked(GRAPH, True), networked(GRAPH, False)]
    things[bad] = Network([(0, named("C")), (1, {})], [])
    with pytest.raises(InputError, match=f"row {bad} holds none.*1 of 2 nodes have none"):
        items_of(things)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("CCO", r"Mercer needs graphs; row 1 holds 'CCO'\. Give a Graph"),
        (None, "row 1 holds None"),
        (3.5, "row 1 holds 3.5"),
        ({"nodes": ["C"]}, "row 1 holds {'nodes'"),
        ({"nodes": ["C"], "edges": [0, 1]}, r"row 1 holds none\. Graph needs .* edge 0 is \(0, 1\)"),
        ({"nodes": ["C"], "edges": [0]}, "two nodes an edge; got 1 numbers"),
        ({"nodes": None, "edges": []}, "got None"),
        (np.ones((2, 3)), r"as many rows as columns; got an array of shape \(2, 3\)"),
        ([[0, 1], [1]], "rows of equal length"),
        (np.array([[0, 1], [0, 0]]), r"symmetry; cell \(0, 1\) is one and \(1, 0\) is zero"),
        (np.array([[0, 2.5], [2.5, 0]]), r"zeros and ones; cell \(0, 1\) is 2.5. Kernels of graphs know no weights"),
        (np.array([[0, np.nan], [np.nan, 0]]), "cell .* is nan"),
        (np.array([["a"]]), "dtype <U1"),
        ((MATRIX, "CC"), "got 2 for 4 nodes"),
        ((MATRIX, "COCN", {(0, 1): "-"}), r"edge \(1, 2\) has none"),
        ((MATRIX, "COCN", "-="), "got 2 for 3 edges"),
        ((MATRIX,), "row 1 holds"),
        (Network([(0, {})], [], directed=True), r"Give graph.to_undirected"),
        (Network([(0, named("C")), (1, {})], []), "1 of 2 nodes have none"),
        (Network([(0, {}), (1, {})], [(0, 1, named("-")), (0, 0, {})]), "1 of 2 edges have none"),
        (Network([(0, {}), (1, {})], [(0, 1, named("-")), (1, 0, named("="))]), "with '-' and with '='"),
        (Network([(0, {"label": [1]})], []), "hashable labels"),
        (Network([(0, {"label": float("nan")})], []), "NaN"),
    ],
    ids=str,
)
def test_what_is_refused(thing, message):
    with pytest.raises(InputError, match=message):
        items_of([GRAPH, thing])


def test_real_networkx_graphs():
    networkx = pytest.importorskip("networkx", reason="NetworkX is not installed")
    graph = networkx.Graph()
    graph.add_nodes_from([("a", {"label": "C"}), ("b", {"label": "O"}), ("c", {"label": "C"}), ("d", {"label": "Å"})])
    graph.add_edge("b", "a", label="-")
    graph.add_edge("b", "c", label="=")
    graph.add_edge("d", "d", label="o")
    assert (
        items_of([graph, networkx.MultiGraph(graph), graph.subgraph("abcd"), graph.copy(as_view=True)]) == (GRAPH,) * 4
    )
    assert items_of([graph.subgraph("bc")]) in [(Graph(2, [(0, 1)], named, ["="]),) for named in ("OC", "CO")]
    parallel = networkx.MultiGraph(graph)
    parallel.add_edge("a", "b", label="-")
    parallel.add_edge("d", "d", label="o")
    assert items_of([parallel]) == (GRAPH,)
    with pytest.raises(InputError, match="to_undirected"):
        items_of([networkx.DiGraph(graph)])


TABLE = {
    "nodes": [["C", "O", "C", "Å"], ["N"], ["C", "C"]],
    "edges": [EDGES, [], [0, 1]],
    "edge_labels": [["-", "=", "o"], [], ["-"]],
    "target": [1, 0, 1],
}
WANTED = [GRAPH, Graph(1, [], ["N"], []), Graph(2, [(0, 1)], "CC", ["-"])]


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pa.table, lambda table: pa.table(table).to_pandas()])
def test_tables(build):
    table = build(TABLE)
    assert graphs_of(table) == WANTED
    plain = table.drop_columns("edge_labels") if isinstance(table, pa.Table) else table[["nodes", "edges"]]
    assert graphs_of(plain) == [Graph(graph.nodes, graph.edges, graph.labels) for graph in WANTED]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pd.DataFrame({"nodes": [["C"]], "bonds": [[0, 0]]}),
            "a column named 'edges'; the columns are 'nodes', 'bonds'",
        ),
        (pd.DataFrame({"nodes": [["C"], ["C"]], "edges": [[], [0, 1]]}), "row 1 holds none"),
        (pd.DataFrame({"nodes": [["C"], None], "edges": [[], []]}), "row 1 holds none"),
        ([1, 2], "a table of pandas, polars or Arrow; got list"),
    ],
)
def test_tables_that_are_refused(table, message):
    with pytest.raises(InputError, match=message):
        graphs_of(table)


def test_the_public_door_takes_all_forms():
    kernel = WeisfeilerLehman(2)
    wanted = kernel([GRAPH, GRAPH])
    for things in (WHOLE[:2], (GRAPH, ROW), pd.Series([GRAPH, GRAPH]), pa.array([ROW, ROW]), [ROW, NETWORK]):
        np.testing.assert_array_equal(kernel(things), wanted)
    with pytest.raises(InputError, match=r"WeisfeilerLehman.* row 1 holds 3"):
        kernel([GRAPH, 3])


def test_a_graph_that_is_one_already_is_not_read_again():
    some = tuple(random_graphs(50, most=9))
    assert all(a is b for a, b in zip(items_of(some), some, strict=True))
