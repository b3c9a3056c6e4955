"""k(x, z) = the sum over rounds of <colours of x, colours of z>."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.domain import Domain
from mercer.kernels.fields import integer
from mercer.kernels.graphs.counting import table
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.joined import ends_of, joined
from mercer.kernels.graphs.refinement import colours
from mercer.kernels.graphs.settings import choice, written
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import GRAPHS
from mercer.kernels.proof.judgement import Fact


class WeisfeilerLehman(Counted):
    """The Weisfeiler-Lehman subtree kernel: in how many pairs of nodes of two graphs the surroundings are alike.

    k(x, z) = sum over t = 0..iterations of sum over colours c of n_t(x, c) n_t(z, c), where n_t(x, c) is how many nodes
    of x have colour c after t rounds. A node's first colour is its label; a round gives nodes one colour where their
    colours, and the multisets of their neighbours' colours, are equal. Nothing is hashed: colours are exact.

    Cost: a round sorts the edges of all graphs; then a sparse product. Memory: a number for each colour of each graph.

    Parameters
    ----------
    iterations : int, default=5
        Rounds, from 0 to 1,000; 0 compares labels only.
    edge_labels : bool, default=False
        Whether a neighbour behind an edge with another label is another neighbour; texts write 1 or 0.

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehman
    >>> from mercer.kernels.graphs import Graph
    >>> path = Graph(3, [(0, 1), (1, 2)], labels="CCO")
    >>> ring = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="CCO")
    >>> WeisfeilerLehman(iterations=1)([path, ring])  # 2 * 2 + 1 * 1 for labels; then C beside C and O: 1 * 2
    array([[ 8.,  7.],
           [ 7., 10.]])

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and Borgwardt, Weisfeiler-Lehman graph kernels, JMLR 12 (2011).
    """

    aliases = ("wl",)
    formula = "sum over t = 0..iterations of <counts of colours of x after t rounds, those of z>"

    iterations: int = integer(default=5, maximum=1000)
    edge_labels: bool = choice(default=False)

    @property
    def domain(self) -> Domain:
        return GRAPHS

    def count(self, items: tuple[Graph, ...]) -> Any:
        graphs = joined(items)
        rounds = list(colours(graphs, self.iterations, self.edge_labels))
        starts = ends_of([int(found.max(initial=-1)) + 1 for found in rounds])
        columns = np.concatenate([found + start for found, start in zip(rounds, starts.tolist(), strict=False)])
        return table(np.tile(graphs.owners, len(rounds)), columns, (graphs.count, int(starts[-1])))

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the inner product of two lists of counts, of how many nodes have each colour after each round: "
            "phi(x) is that list"
        )
        return (Fact(GRAPHS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return written(self, python)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_{{t=0}}^{{{self.iterations}}} \sum_c n_t({x}, c) \, n_t({z}, c)"
