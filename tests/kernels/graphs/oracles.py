"""Graphs for tests, and kernels of graphs in plain Python, each straight from its definition."""

from collections import Counter, deque
from itertools import combinations, permutations, product

import numpy as np
from hypothesis import strategies as st

from mercer.kernels.graphs import Graph

NODE_LABELS = st.sampled_from(["C", "Å", "碳", "", 7, 7.5, ("C", 1), None])
EDGE_LABELS = st.sampled_from(["-", "=", 3, None])


@st.composite
def graphs(draw, most=6):
    """Graphs with isolated nodes, edges from a node to itself, with labels and without; some have no node at all."""
    n = draw(st.integers(0, most))
    possible = [(u, v) for u in range(n) for v in range(u, n)]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True, max_size=10)) if possible else []
    labels = draw(st.none() | st.lists(NODE_LABELS, min_size=n, max_size=n))
    kinds = draw(st.none() | st.lists(EDGE_LABELS, min_size=len(chosen), max_size=len(chosen)))
    return Graph(n, chosen, labels, kinds)


collections = st.lists(graphs(), min_size=1, max_size=5)


def labels_of(graph):
    return [None] * graph.nodes if graph.labels is None else list(graph.labels)


def neighbours(graph):
    """For each node, its neighbours and the labels of the edges to them; a loop leads to the node itself, once."""
    near = [[] for _ in range(graph.nodes)]
    kinds = [None] * len(graph.edges) if graph.edge_labels is None else graph.edge_labels
    for (u, v), kind in zip(graph.edges.tolist(), kinds, strict=True):
        near[u].append((v, kind))
        if u != v:
            near[v].append((u, kind))
    return near


def dot(here, there):
    return float(sum(count * there[key] for key, count in here.items()))


def gram(features, some, others=None):
    rows, columns = [features(g) for g in some], [features(g) for g in (some if others is None else others)]
    return np.array([[dot(a, b) for b in columns] for a in rows])


def vertex_features(graph):
    return Counter(labels_of(graph))


def edge_features(ends):
    def features(graph):
        labels, found = labels_of(graph), Counter()
        for u, near in enumerate(neighbours(graph)):
            for v, kind in near:
                if u <= v:
                    found[(kind, frozenset(Counter([labels[u], labels[v]]).items())) if ends else kind] += 1
        return found

    return features


def subtree_features(rounds, edge_labels=False):
    """Nested tuples instead of colours: nothing is renamed, so that nothing can be renamed wrongly."""

    def features(graph):
        near, trees = neighbours(graph), [("leaf", label) for label in labels_of(graph)]
        found = Counter((0, tree) for tree in trees)
        for t in range(1, rounds + 1):
            trees = [
                (trees[u], frozenset(Counter((kind if edge_labels else "", trees[v]) for v, kind in near[u]).items()))
                for u in range(graph.nodes)
            ]
            found.update((t, tree) for tree in trees)
        return found

    return features


def distances_from(near, source):
    found, queue = {source: 0}, deque([source])
    while queue:
        u = queue.popleft()
        for v, _ in near[u]:
            if v not in found:
                found[v] = found[u] + 1
                queue.append(v)
    return found


def path_features(labelled=True):
    def features(graph):
        near, labels = neighbours(graph), labels_of(graph) if labelled else [0] * graph.nodes
        return Counter(
            (labels[u], labels[v], d) for u in range(graph.nodes) for v, d in distances_from(near, u).items() if u != v
        )

    return features


def small_graph(nodes, edges):
    """One name for all numberings of a small graph: the least of its lists of edges."""
    n = len(nodes)
    ways = []
    for order in permutations(range(n)):
        place = dict(zip(nodes, order, strict=True))
        ways.append(tuple(sorted(tuple(sorted((place[u], place[v]))) for u, v in edges)))
    return min(ways)


def graphlet_features(size):
    def features(graph):
        edges = {(u, v) for u, v in graph.edges.tolist() if u != v}
        return Counter(
            small_graph(some, [pair for pair in combinations(some, 2) if pair in edges])
            for some in combinations(range(graph.nodes), size)
        )

    return features


def walks(one, other, decay, labels=True, edge_labels=False):
    """The product graph, node by node and edge by edge, and a dense solve."""
    mine, others = (labels_of(g) if labels else [0] * g.nodes for g in (one, other))
    nodes = [(u, v) for u, v in product(range(one.nodes), range(other.nodes)) if mine[u] == others[v]]
    place = {pair: k for k, pair in enumerate(nodes)}
    matrix = np.zeros((len(nodes), len(nodes)))
    here, there = neighbours(one), neighbours(other)
    for u, v in nodes:
        for (w, kind), (x, same) in product(here[u], there[v]):
            if (w, x) in place and (kind == same or not edge_labels):
                matrix[place[u, v], place[w, x]] = 1.0
    return float(np.linalg.solve(np.eye(len(nodes)) - decay * matrix, np.ones(len(nodes))).sum())


def renumbered(graph, seed):
    """The same graph under other numbers."""
    order = np.random.default_rng(seed).permutation(graph.nodes)
    labels = None if graph.labels is None else [graph.labels[i] for i in np.argsort(order)]
    return Graph(graph.nodes, order[graph.edges], labels, graph.edge_labels)


def random_graphs(count, seed=0, most=20, degree=2.5):
    """Larger graphs with few labels."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        n = int(rng.integers(1, most))
        edges = rng.integers(0, n, size=(int(degree * n / 2), 2))
        edges = np.unique(np.sort(edges, axis=1), axis=0)
        labels = rng.choice(["C", "N", "O"], size=n, p=[0.7, 0.2, 0.1]).tolist()
        found.append(Graph(n, edges, labels, rng.integers(0, 3, len(edges)).tolist()))
    return found
