"""k(x, z) = how many pairs of shortest paths of x and z have equal ends and equal lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.domain import Domain
from mercer.kernels.graphs.counting import ranked, table
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.path_loops import Grouped, path_counts
from mercer.kernels.graphs.settings import choice, written
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import GRAPHS
from mercer.kernels.proof.judgement import Fact


class ShortestPath(Counted):
    """The shortest-path kernel: how often nodes with the same labels are as far apart in one graph as in the other.

    k(x, z) = sum over labels a and b and distances d of n(x, a, b, d) n(z, a, b, d), where n(x, a, b, d) is how many
    pairs (u, v) of different nodes of x, in both orders, have labels a and b and a shortest path of d edges. Pairs
    without a path do not count. So a graph without edges has k(x, x) = 0.

    Cost: nodes times edges of each graph, then a sparse product. Memory: a number for each triple of each graph.

    Parameters
    ----------
    labels : bool, default=True
        Whether labels of nodes count, and not lengths alone; texts write 1 or 0.

    Examples
    --------
    >>> from mercer.kernels import ShortestPath
    >>> from mercer.kernels.graphs import Graph
    >>> path = Graph(3, [(0, 1), (1, 2)], labels="CCO")
    >>> ring = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="CCO")
    >>> ShortestPath()([path, ring])
    array([[ 8.,  8.],
           [ 8., 12.]])
    >>> ShortestPath(labels=False)([path, ring])  # 4 and 6 paths of one edge, 2 and 0 of two
    array([[20., 24.],
           [24., 36.]])

    References
    ----------
    Borgwardt and Kriegel, Shortest-path kernels on graphs, ICDM (2005).
    """

    formula = "sum over labels a, b and distances d of (pairs of nodes of x with a, b and d) (those of z)"

    labels: bool = choice(default=True)

    @property
    def domain(self) -> Domain:
        return GRAPHS

    def count(self, items: tuple[Graph, ...]) -> Any:
        graphs = joined(items)
        graphs = (graphs if self.labels else graphs.unlabelled()).by_label()
        groups = ranked(graphs.owners, graphs.labels)
        first, last, distances, counts = path_counts(
            Grouped(graphs.starts, groups, graphs.begins, graphs.arcs.targets)
        ).T
        heads = np.searchsorted(groups, np.arange(int(groups.max(initial=-1)) + 1))  # a node of each group
        labels, owners = graphs.labels[heads], graphs.owners[heads]
        columns = ranked(labels[first], labels[last], distances)
        return table(owners[first], columns, (graphs.count, int(columns.max(initial=-1)) + 1), counts)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the inner product of two lists of counts: phi(x) is how many pairs of nodes of x have each pair of "
            "labels and each distance"
        )
        return (Fact(GRAPHS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return written(self, python)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_{{a, b, d}} n({x}, a, b, d) \, n({z}, a, b, d)"
