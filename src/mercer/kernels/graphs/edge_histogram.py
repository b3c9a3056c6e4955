"""k(x, z) = the sum over labels of how many edges of x have it times how many of z."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.domain import Domain
from mercer.kernels.graphs.counting import ranked, table
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.settings import choice, written
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import GRAPHS
from mercer.kernels.proof.judgement import Fact


class EdgeHistogram(Counted):
    """In how many pairs of edges of two graphs the labels are equal. Cost: linear in the edges, and a sort.

    k(x, z) = sum over labels l of m(x, l) m(z, l), where m(x, l) is how many edges of x have label l, each counted
    once. Edges without labels are all alike, and unlike those that have one.

    Parameters
    ----------
    ends : bool, default=False
        Whether the labels of the two nodes of an edge, in either order, are a part of its label; texts write 1 or 0.

    Examples
    --------
    >>> from mercer.kernels import EdgeHistogram
    >>> from mercer.kernels.graphs import Graph
    >>> path = Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels="-=")
    >>> ring = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="CCO", edge_labels="---")
    >>> EdgeHistogram()([path, ring])
    array([[2., 3.],
           [3., 9.]])
    >>> EdgeHistogram(ends=True)([path, ring])  # C-C is in both
    array([[2., 1.],
           [1., 5.]])

    References
    ----------
    Sugiyama and Borgwardt, Halting in random walk kernels, NIPS 28 (2015), section 2.3.
    """

    formula = "sum over labels l of (edges of x with l) (edges of z with l)"

    ends: bool = choice(default=False)

    @property
    def domain(self) -> Domain:
        return GRAPHS

    def count(self, items: tuple[Graph, ...]) -> Any:
        graphs = joined(items)
        labels = graphs.kinds
        if self.ends:
            low, high = np.sort(graphs.labels[graphs.edges], axis=1).T
            labels = ranked(labels, low, high)
        owners = graphs.owners[graphs.edges[:, 0]]
        return table(owners, labels, (graphs.count, int(labels.max(initial=-1)) + 1))

    def facts(self) -> tuple[Fact, ...]:
        reason = "it is the inner product of two histograms: phi(x) is how many edges of x have each label"
        return (Fact(GRAPHS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return written(self, python)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_l m({x}, l) \, m({z}, l)"
