"""k(x, z) = 1' (I - decay A)^-1 1, with A the adjacency matrix of the product graph of x and z."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.tiles import mirror
from mercer.errors import DomainError, NumericalWarning, caller_level, message
from mercer.kernels.domain import Domain
from mercer.kernels.fields import positive
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.joined import joined
from mercer.kernels.graphs.meetings import Meetings, shared_walks
from mercer.kernels.graphs.settings import choice, written
from mercer.kernels.graphs.spectra import largest_eigenvalues
from mercer.kernels.graphs.walks import Labelled, terms, walk_counts
from mercer.kernels.latex import numeral
from mercer.kernels.objects.compared import Compared, Places
from mercer.kernels.objects.domains import GRAPHS
from mercer.kernels.proof.judgement import Fact

Array = NDArray[np.float64]
MIN_DISTANCE_TO_DIVERGENCE = 1e-9
"""How near to 1 the growth of the series may come."""
MAX_COUNTED_LENGTHS = 1024
"""Lengths of walks that are counted one by one; where more matter, a system is solved for each pair of graphs."""


class RandomWalk(Compared):
    """The geometric random-walk kernel: how many walks two graphs share, a factor `decay` for each step.

    k(x, z) = sum over p = 0, 1, 2, ... of decay^p (pairs of walks of p steps, one in x and one in z, that meet the same
    labels). That is 1' (I - decay A)^-1 1, where A is the adjacency matrix of the product graph: its nodes are pairs of
    nodes with equal labels, its edges pairs of edges. The sum is finite for graphs with decay * (largest eigenvalue)^2
    below 1, and others are refused.

    Cost: where all nodes are alike, a product of matrices with a column for each length of walks that matters (and with
    decay * (largest eigenvalue)^2 above 0.96, as with labels). With labels, for each pair of graphs, some ten products
    with A, which take (nodes of x) * (edges of z); A itself is never made. Memory: a few numbers per pair of nodes of
    one graph and of those that it meets at once, a thousand nodes or one large graph.

    Parameters
    ----------
    decay : float, default=0.01
        Positive factor per step.
    labels : bool, default=True
        Whether labels of nodes count; texts write 1 or 0.
    edge_labels : bool, default=False
        Whether those of edges count; texts write 1 or 0.

    Examples
    --------
    >>> from mercer.kernels import RandomWalk
    >>> from mercer.kernels.graphs import Graph
    >>> edge = Graph(2, [(0, 1)])
    >>> RandomWalk(decay=0.5)([edge])  # 4 (1 + 0.5 + 0.25 + ...): two walks of each length
    array([[8.]])

    References
    ----------
    Gaertner, Flach and Wrobel, On graph kernels: hardness results and efficient alternatives, COLT (2003).
    Vishwanathan, Schraudolph, Kondor and Borgwardt, Graph kernels, JMLR 11 (2010).
    """

    formula = "1' (I - decay A)^-1 1, A the adjacency matrix of the product graph of x and z"

    decay: float = positive(default=0.01)
    labels: bool = choice(default=True)
    edge_labels: bool = choice(default=False)

    @property
    def domain(self) -> Domain:
        return GRAPHS

    def encode(self, items: tuple[Graph, ...]) -> Array | Labelled:
        """Numbers of walks of each length, where all nodes are alike; else graphs with edges parted by labels."""
        graphs = joined(items)
        radii = largest_eigenvalues(graphs)
        self._check_decay(items, radii)
        if not self.labels:
            graphs = graphs.unlabelled()
        if not self.edge_labels:
            graphs = replace(graphs, kinds=np.zeros_like(graphs.kinds))
        alike = not graphs.labels.any() and not graphs.kinds.any()
        count = terms(self.decay * float(radii.max(initial=0.0)) ** 2)
        if alike and count <= MAX_COUNTED_LENGTHS:
            return walk_counts(graphs, self.decay, count)
        return Labelled(graphs.by_label(), radii)

    def values(self, encoded: Array | Labelled, rows: Places, columns: Places) -> Array:
        if not isinstance(encoded, Labelled):
            return np.asarray(encoded[rows] @ encoded[columns].T)
        if len(rows) < len(columns):  # unions are made of fewer graphs
            return self.values(encoded, columns, rows).T
        same = np.array_equal(rows, columns)
        found = np.zeros((len(rows), len(columns)))
        self._share(*encoded.meetings(rows, columns, lower=same), found)
        if same:
            mirror(found)
        return found

    def own(self, encoded: Array | Labelled, rows: Places) -> Array:
        if not isinstance(encoded, Labelled):
            return np.asarray(np.square(encoded[rows]).sum(axis=1))
        found = np.zeros(len(rows))
        self._share(*encoded.own(rows), found)
        return found

    def _share(self, meetings: Meetings, looped: bool, out: Array) -> None:
        missed = shared_walks(meetings, self.decay, looped, out.reshape(-1))
        if missed:
            text = f"{self}: {missed} of {out.size} values are less accurate than rounding. Use a smaller decay."
            warnings.warn(text, NumericalWarning, stacklevel=caller_level())

    def _check_decay(self, items: tuple[Graph, ...], radii: Array) -> None:
        """Refuse graphs of which walks grow faster than the decay takes them back."""
        worst = int(radii.argmax()) if len(radii) else 0
        radius = float(radii.max(initial=0.0))
        growth = self.decay * radius**2
        if growth > 1 - MIN_DISTANCE_TO_DIVERGENCE:
            needs = "decay * (largest eigenvalue of a graph)^2 below 1, so that the sum over walks is finite"
            graph = f"a graph of {items[worst].nodes} nodes and {len(items[worst].edges)} edges"
            got = f"for {graph} it is {self.decay:g} * {radius:.6g}^2 = {growth:.6g}"
            works = float(f"{0.4 / radius**2:.2g}")
            raise DomainError(message(needs, got, f"Use decay={works:g}, for example.", subject=type(self).__name__))

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "pairs of walks that meet the same labels are pairs of equal sequences of labels, so that it is the inner "
            "product of two lists of counts, of how many walks of x meet each sequence, times decay^(p / 2) for walks "
            "of p steps; the lists have a finite length where decay * (largest eigenvalue)^2 is below 1"
        )
        return (Fact(GRAPHS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return written(self, python)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\mathbf{{1}}^\top (I - {numeral(self.decay)} A_{{{x} \times {z}}})^{{-1}} \mathbf{{1}}"
