"""k(x, z) = the sum over labels of how many nodes of x have it times how many of z."""

from __future__ import annotations

from typing import Any

from mercer.kernels.domain import Domain
from mercer.kernels.graphs.counting import table
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.joined import joined
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import GRAPHS
from mercer.kernels.proof.judgement import Fact


class VertexHistogram(Counted):
    """In how many pairs of nodes of two graphs the labels are equal; edges do not matter. Cost: linear in the nodes.

    k(x, z) = sum over labels l of n(x, l) n(z, l), where n(x, l) is how many nodes of x have label l. Nodes of a graph
    without labels are all alike, and unlike those that have one.

    Examples
    --------
    >>> from mercer.kernels import VertexHistogram
    >>> from mercer.kernels.graphs import Graph
    >>> VertexHistogram()([Graph(3, [], labels="CCO"), Graph(4, [], labels="CCNN")])
    array([[5., 4.],
           [4., 8.]])

    References
    ----------
    Sugiyama and Borgwardt, Halting in random walk kernels, NIPS 28 (2015), section 2.3.
    """

    formula = "sum over labels l of (nodes of x with l) (nodes of z with l)"

    @property
    def domain(self) -> Domain:
        return GRAPHS

    def count(self, items: tuple[Graph, ...]) -> Any:
        graphs = joined(items)
        return table(graphs.owners, graphs.labels, (graphs.count, int(graphs.labels.max(initial=-1)) + 1))

    def facts(self) -> tuple[Fact, ...]:
        reason = "it is the inner product of two histograms: phi(x) is how many nodes of x have each label"
        return (Fact(GRAPHS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_l n({x}, l) \, n({z}, l)"
