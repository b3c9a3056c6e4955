"""How many sets of three or four nodes of a graph span a subgraph of each kind, from sums over nodes and edges.

Subgraphs that need not be induced (further edges between their nodes are allowed) are counted by sums: those with a
node in the middle from degrees, those with triangles from the common neighbours of the ends of edges, rings of four
from those of all pairs of nodes, and cliques from the edges between common neighbours. Each of them is one of the
subgraphs that all edges between their nodes make, and COPIES says how many of one kind are in one of another. That
system is triangular, and is solved in integers.

Ahmed, Neville, Rossi and Duffield, Efficient graphlet counting for large networks, ICDM (2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.graphs.joined import Joined

Exact = NDArray[Any]
"""Python's integers, which do not overflow."""
PRODUCT_NUMBERS = 1 << 22
"""Numbers of a sparse product that are held at once, about."""
KINDS = {
    3: ("no edge", "edge", "path", "triangle"),
    4: (
        *("no edge", "edge", "two edges", "path of three", "triangle"),
        *("star", "path", "triangle and edge", "ring", "ring and chord", "clique"),
    ),
}
COPIES = {
    3: [[1, 1, 1, 1], [0, 1, 2, 3], [0, 0, 1, 3], [0, 0, 0, 1]],
    4: [
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        [0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6],
        [0, 0, 1, 0, 0, 0, 1, 1, 2, 2, 3],
        [0, 0, 0, 1, 3, 3, 2, 5, 4, 8, 12],
        [0, 0, 0, 0, 1, 0, 0, 1, 0, 2, 4],
        [0, 0, 0, 0, 0, 1, 0, 1, 0, 2, 4],
        [0, 0, 0, 0, 0, 0, 1, 2, 4, 6, 12],
        [0, 0, 0, 0, 0, 0, 0, 1, 0, 4, 12],
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 3],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ],
}
"""COPIES[size][h][f] is how many subgraphs of kind h, on all of its nodes, the graph of kind f has."""


def induced(graphs: Joined, size: int) -> Exact:
    """(n, kinds): how many sets of so many nodes of each graph span a subgraph of each of KINDS.

    Cost: for 3 the sum over edges of the degrees of their ends; for 4 of all walks of two edges, and of the edges
    between common neighbours.
    """
    sums = _Sums.of(graphs, cliques=size == 4)
    found = _of_three(sums) if size == 3 else _of_four(sums, _rings(graphs))
    inverse = np.rint(np.linalg.inv(np.array(COPIES[size], dtype=np.float64))).astype(np.int64).astype(object)
    return np.asarray(found @ inverse.T)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over each graph, without edges from nodes to themselves; integers of Python.

    nodes, edges : how many there are
    wedges, stars : pairs and triples of edges at a node
    paths : walks of three edges that do not turn back, triangles included
    triangles, tails : triangles, and triangles with a further edge at a corner
    chords : pairs of triangles on an edge
    cliques : four nodes that are all connected
    """

    nodes: Exact
    edges: Exact
    wedges: Exact
    stars: Exact
    paths: Exact
    triangles: Exact
    tails: Exact
    chords: Exact
    cliques: Exact

    @classmethod
    def of(cls, graphs: Joined, cliques: bool) -> _Sums:
        matrix = graphs.matrix(loops=False)
        degrees = np.diff(matrix.indptr).astype(np.int64)
        u, v = graphs.edges[graphs.edges[:, 0] != graphs.edges[:, 1]].T
        common, inside = _common(matrix, u, v, cliques)
        owners = graphs.owners[u]

        def over(values: Any) -> Exact:
            """The sum of numbers of nodes."""
            return graphs.summed(values).astype(object)

        def along(values: Any) -> Exact:
            """The sum of numbers of edges."""
            return over(_added(u, values, graphs.nodes))

        corners = _added(u, common, graphs.nodes) + _added(v, common, graphs.nodes)  # twice the triangles at a node
        return cls(
            nodes=graphs.sizes.astype(object),
            edges=np.bincount(owners, minlength=graphs.count).astype(object),
            wedges=over(degrees * (degrees - 1) // 2),
            stars=over(degrees * (degrees - 1) * (degrees - 2) // 6),
            paths=along((degrees[u] - 1) * (degrees[v] - 1)),
            triangles=along(common) // 3,
            tails=over(corners * (degrees - 2)) // 2,
            chords=along(common * (common - 1) // 2),
            cliques=along(inside) // 12,
        )


def _of_three(s: _Sums) -> Exact:
    """Subgraphs of three nodes that need not be induced."""
    n = s.nodes
    return np.column_stack([n * (n - 1) * (n - 2) // 6, s.edges * (n - 2), s.wedges, s.triangles])


def _of_four(s: _Sums, rings: Exact) -> Exact:
    """Subgraphs of four nodes that need not be induced."""
    n, m = s.nodes, s.edges
    return np.column_stack(
        [
            n * (n - 1) * (n - 2) * (n - 3) // 24,
            m * ((n - 2) * (n - 3) // 2),
            m * (m - 1) // 2 - s.wedges,
            s.wedges * (n - 3),
            s.triangles * (n - 3),
            s.stars,
            s.paths - 3 * s.triangles,
            s.tails,
            rings,
            s.chords,
            s.cliques,
        ]
    )


def _common(matrix: Any, u: Any, v: Any, cliques: bool) -> tuple[Any, Any]:
    """For each edge, how many neighbours its nodes share, and twice the edges between these."""
    common, inside = np.zeros(len(u), np.int64), np.zeros(len(u), np.int64)
    degrees = np.diff(matrix.indptr)
    for part in _steps(degrees[u] + degrees[v]):
        shared = matrix[u[part]].multiply(matrix[v[part]]).tocsr()
        common[part] = np.diff(shared.indptr)
        if cliques:
            many = np.flatnonzero(common[part] > 1)
            some = shared[many]
            inside[part.start + many] = np.asarray(some.multiply(some @ matrix).sum(axis=1)).ravel()
    return common, inside


def _rings(graphs: Joined) -> Exact:
    """Rings of four nodes: pairs of common neighbours of two nodes that face each other, of which there are two."""
    matrix = graphs.matrix(loops=False)
    found = np.zeros(graphs.nodes, np.int64)
    degrees = np.diff(matrix.indptr)
    for part in _steps(np.asarray(matrix @ degrees)):
        shared = (matrix[part] @ matrix).tocsr()
        row = np.repeat(np.arange(part.start, part.stop), np.diff(shared.indptr))
        pairs = np.where(row == shared.indices, 0, shared.data * (shared.data - 1))
        found[part] = np.bincount(row - part.start, pairs, part.stop - part.start).astype(np.int64)
    return graphs.summed(found).astype(object) // 8


def _steps(costs: Any) -> Iterator[slice]:
    """Pieces of rows whose costs are about PRODUCT_NUMBERS."""
    total = np.cumsum(costs)
    cuts = np.searchsorted(total, np.arange(PRODUCT_NUMBERS, total[-1:].sum(), PRODUCT_NUMBERS))
    for start, stop in pairwise(np.unique([0, *cuts.tolist(), len(total)]).tolist()):
        yield slice(start, stop)


def _added(places: Any, values: Any, count: int) -> Any:
    """The sum of integers at each of so many places."""
    found = np.zeros(count, np.int64)
    np.add.at(found, places, values)
    return found
