"""k(x, z) = the sum over kinds of small graphs of how often each is a part of x times how often of z."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer.kernels.domain import Domain
from mercer.kernels.fields import integer
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.subgraphs import induced
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import GRAPHS
from mercer.kernels.proof.judgement import Fact


class Graphlet(Counted):
    """The graphlet kernel: how often three or four nodes of two graphs are connected in the same way.

    k(x, z) = sum over kinds s of f(x, s) f(z, s), where f(x, s) is how many sets of so many nodes of x span a graph of
    kind s: one of 4 kinds for three nodes, of 11 for four, those that are not connected included. Labels, and edges
    from a node to itself, do not matter. Counts are exact, and grow with the number of nodes to the power of the size:
    `Graphlet().normalized()` compares how frequent kinds are.

    Cost: for three nodes the sum over edges of the degrees of their ends; for four that over all walks of two edges,
    and the edges between common neighbours. Memory: a few numbers per graph.

    Parameters
    ----------
    size : {3, 4}, default=3
        The nodes of a small graph.

    Examples
    --------
    >>> from mercer.kernels import Graphlet
    >>> from mercer.kernels.graphs import Graph
    >>> path = Graph(4, [(0, 1), (1, 2), (2, 3)])
    >>> ring = Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> Graphlet(size=3)([path, ring])  # the path has 2 edges with a node apart, and 2 paths; the ring has 4 paths
    array([[ 8.,  8.],
           [ 8., 16.]])

    References
    ----------
    Shervashidze, Vishwanathan, Petri, Mehlhorn and Borgwardt, Efficient graphlet kernels for large graph comparison,
    AISTATS (2009).
    """

    formula = "sum over graphs s of `size` nodes of (how often s is in x) (how often s is in z)"

    size: int = integer(default=3, minimum=3, maximum=4)

    @property
    def domain(self) -> Domain:
        return GRAPHS

    def count(self, items: tuple[Graph, ...]) -> Any:
        counts = induced(joined(items), self.size).astype(np.float64)
        return csr_array(counts[:, counts.any(axis=0)])

    def facts(self) -> tuple[Fact, ...]:
        reason = "it is the inner product of two lists of counts: phi(x) is how often each small graph is a part of x"
        return (Fact(GRAPHS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_{{\lvert s \rvert = {self.size}}} f({x}, s) \, f({z}, s)"
