"""Many graphs as one graph whose parts are not connected, in a few long arrays: what counting works on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.kernels.graphs.graph import Graph, Labels

Whole = NDArray[np.int64]


class Arcs(NamedTuple):
    """Edges seen from each of their nodes, in the order of these; an edge from a node to itself is one arc.

    sources, targets : the nodes
    kinds : the codes of the labels of the edges
    """

    sources: Whole
    targets: Whole
    kinds: Whole


@dataclass(frozen=True, eq=False)
class Joined:
    """The nodes of all graphs, one after the other, with codes for labels.

    starts : (n + 1,), the first node of each graph, and the number of all
    edges : (m, 2), each once
    labels : a code for each node; the first label that occurs has code 0, the next one 1, and so on
    kinds : a code for each edge, in the same way
    """

    starts: Whole
    edges: Whole
    labels: Whole
    kinds: Whole

    @property
    def count(self) -> int:
        """How many graphs there are."""
        return len(self.starts) - 1

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return int(self.starts[-1])

    @property
    def sizes(self) -> Whole:
        """How many nodes each graph has."""
        return np.asarray(np.diff(self.starts))

    @cached_property
    def owners(self) -> Whole:
        """The graph of each node."""
        return np.repeat(np.arange(self.count), self.sizes)

    @cached_property
    def arcs(self) -> Arcs:
        """The edges seen from both sides."""
        u, v = self.edges.T
        other = u != v
        sources = np.concatenate([u, v[other]])
        targets = np.concatenate([v, u[other]])
        kinds = np.concatenate([self.kinds, self.kinds[other]])
        order = np.argsort(sources, kind="stable")
        return Arcs(sources[order], targets[order], kinds[order])

    @cached_property
    def begins(self) -> Whole:
        """(nodes + 1,), where the arcs of each node begin."""
        return ends_of(np.bincount(self.arcs.sources, minlength=self.nodes))

    def summed(self, per_node: NDArray[Any]) -> NDArray[Any]:
        """The sum of numbers of nodes over each graph."""
        total = np.concatenate([[0], np.cumsum(per_node)])
        return np.asarray(total[self.starts[1:]] - total[self.starts[:-1]])

    def chosen(self, graphs: NDArray[np.intp]) -> Joined:
        """Some of the graphs, in this order; codes of labels stay as they are."""
        ends = np.searchsorted(self.owners[self.edges[:, 0]], np.arange(self.count + 1))
        starts, nodes = _taken(self.starts, graphs)
        _, edges = _taken(ends, graphs)
        moved = np.repeat(starts[:-1] - self.starts[graphs], np.diff(ends)[graphs])
        return Joined(starts, self.edges[edges] + moved[:, None], self.labels[nodes], self.kinds[edges])

    @property
    def order_of_labels(self) -> Whole:
        """The nodes of each graph in the order of their labels."""
        return np.lexsort((self.labels, self.owners))

    def by_label(self) -> Joined:
        """The same graphs, with the nodes of each in the order of their labels."""
        order = self.order_of_labels
        places = np.empty(self.nodes, np.int64)
        places[order] = np.arange(self.nodes)
        return replace(self, edges=places[self.edges], labels=self.labels[order])

    def unlabelled(self) -> Joined:
        """The same graphs without labels of nodes."""
        return replace(self, labels=np.zeros(self.nodes, np.int64))

    def matrix(self, loops: bool) -> Any:
        """The adjacency matrix of all graphs, with edges from a node to itself or without them: integers."""
        sources, targets, _ = self.arcs
        kept = np.full(len(sources), loops) | (sources != targets)
        places = (sources[kept], targets[kept])
        return csr_array((np.ones(len(places[0]), np.int64), places), shape=(self.nodes, self.nodes))


def joined(graphs: tuple[Graph, ...]) -> Joined:
    """Graphs one after the other. Cost: a few operations per node and edge."""
    starts = ends_of([graph.nodes for graph in graphs])
    edges = [graph.edges + start for graph, start in zip(graphs, starts.tolist(), strict=False)]
    return Joined(
        starts,
        np.concatenate([np.empty((0, 2), np.int64), *edges]),
        codes([(graph.labels, graph.nodes) for graph in graphs]),
        codes([(graph.edge_labels, len(graph.edges)) for graph in graphs]),
    )


def _taken(starts: Whole, pieces: NDArray[np.intp]) -> tuple[Whole, Whole]:
    """Where pieces begin when some follow each other, and what stands in them; at `starts` they began before."""
    lengths = np.diff(starts)[pieces]
    ends = ends_of(lengths)
    return ends, np.arange(ends[-1]) + np.repeat(starts[pieces] - ends[:-1], lengths)


def codes(parts: list[tuple[Labels | None, int]]) -> Whole:
    """Labels as numbers, in the order in which they first occur: so labels that come later change no code.

    parts : of each graph its labels, or None where it has none, and how many there should be
    """
    if all(labels is None for labels, _ in parts):
        return np.zeros(sum(count for _, count in parts), np.int64)
    listed = list(chain.from_iterable(repeat(None, count) if labels is None else labels for labels, count in parts))
    known = {label: code for code, label in enumerate(dict.fromkeys(listed))}
    return np.fromiter(map(known.__getitem__, listed), np.int64, len(listed))


def ends_of(lengths: Any) -> Whole:
    """Where pieces of some lengths begin, one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
