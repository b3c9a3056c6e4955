"""Graphs as random walks see them: sums of walks where all nodes are alike, and edges parted by labels where not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.graphs.counting import Whole, ranked
from mercer.kernels.graphs.joined import Joined, ends_of
from mercer.kernels.graphs.meetings import Layers, Meetings, Unions, compiles

Array = NDArray[np.float64]
Places = NDArray[np.intp]
MAX_MISSING_SHARE = 1e-17
"""The part of a value that terms may lack that are left out."""

UNION_NODES, UNION_KINDS = 1024, 16
"""Nodes of a union of graphs, about: more of them would not fit into a cache; and fewer where edges have more labels
than so many, since a union holds a number for each node and label of edges."""


def terms(rate: float) -> int:
    """How many terms of 1 + rate + rate^2 + ... make up all but MAX_MISSING_SHARE of the whole."""
    return 1 if rate == 0 else 1 + math.ceil(math.log(MAX_MISSING_SHARE * (1 - rate)) / math.log(rate))


def walk_counts(graphs: Joined, decay: float, count: int) -> Array:
    """(n, count): how many walks of 0, 1, 2, ... edges each graph has, times the root of the decay for each edge."""
    matrix = math.sqrt(decay) * graphs.matrix(loops=True).astype(np.float64)
    walks, found = np.ones(graphs.nodes), np.empty((graphs.count, count))
    for length in range(count):
        found[:, length] = np.bincount(graphs.owners, walks, graphs.count)
        walks = matrix @ walks
    return found


@dataclass(frozen=True, eq=False)
class Labelled:
    """Graphs with labels as walks see them.

    graphs : their nodes in the order of their labels
    radii : the largest eigenvalue of each
    """

    graphs: Joined
    radii: Array

    @cached_property
    def layers(self) -> Layers:
        """Their edges, parted by labels."""
        return layers(self.graphs)

    def meetings(self, rows: Places, columns: Places, lower: bool) -> tuple[Meetings, bool]:
        """Each graph in some rows with unions of those in columns, or with those up to its own where `lower`.

        And whether loops are compiled for them.
        """
        sizes = self.graphs.sizes
        share = 0.5 if lower else 1.0
        nodes = share * float(sizes[rows].sum()) * float(sizes[columns].sum())
        looped = compiles(nodes, share * len(rows) * len(columns))
        kinds = max(UNION_KINDS, int(self.graphs.kinds.max(initial=0)))
        unions = self._unions(columns, UNION_NODES * UNION_KINDS // kinds if looped else 0)
        left, right = np.divmod(np.arange(len(rows) * (len(unions.firsts) - 1)), len(unions.firsts) - 1)
        if lower:
            left, right = left[unions.firsts[right] <= left], right[unions.firsts[right] <= left]
        return self._met(rows, unions, left, right, left * len(columns) + unions.firsts[right]), looped

    def own(self, rows: Places) -> tuple[Meetings, bool]:
        """Each graph with itself."""
        looped, place = compiles(float(np.square(self.graphs.sizes[rows]).sum()), len(rows)), np.arange(len(rows))
        return self._met(rows, self._unions(rows, 0), place, place, place), looped

    def _met(self, rows: Places, unions: Unions, left: Whole, right: Whole, places: Whole) -> Meetings:
        return Meetings(self.layers, self.radii, unions, np.asarray(rows, np.int64)[left], right, places)

    def _unions(self, columns: Places, most: int) -> Unions:
        """Graphs in some columns, as many as have about so many nodes in a union."""
        chosen = self.graphs.chosen(columns)
        union = np.arange(chosen.count) if most == 0 else ranked(chosen.starts[:-1] // most)
        firsts = np.searchsorted(union, np.arange(int(union.max(initial=-1)) + 2))
        merged = replace(chosen, starts=chosen.starts[firsts])
        owners = (chosen.owners - firsts[merged.owners])[merged.order_of_labels]
        return Unions(layers(merged.by_label()), owners, firsts, self.radii[columns])


def layers(graphs: Joined) -> Layers:
    """Edges parted by labels; the nodes of each graph are in the order of theirs."""
    sources, targets, kinds = graphs.arcs
    owners = graphs.owners[sources]
    order = np.lexsort((targets, sources, kinds, owners))
    sources, targets, kinds, owners = sources[order], targets[order], kinds[order], owners[order]
    segment = ranked(owners, kinds)
    heads = _firsts(segment)
    offsets = ends_of(graphs.sizes[owners[heads]] + 1)
    rows = np.zeros(offsets[-1], np.int64)
    np.add.at(rows, offsets[segment] + sources - graphs.starts[owners] + 1, 1)
    nodes = ranked(segment, sources)
    turns = np.arange(len(nodes)) - _firsts(nodes)[nodes]
    crossed = np.lexsort((turns, graphs.labels[sources], segment))
    return Layers(
        starts=graphs.starts,
        labels=graphs.labels,
        segments=np.searchsorted(owners[heads], np.arange(graphs.count + 1)),
        kinds=kinds[heads],
        offsets=offsets,
        rows=np.cumsum(rows),
        targets=targets - graphs.starts[owners],
        sources=(sources - graphs.starts[owners])[crossed].astype(np.uint32),
        crossed=(targets - graphs.starts[owners])[crossed].astype(np.uint32),
    )


def _firsts(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of the numbers 0, 1, 2, ... first stands among ascending ones."""
    return np.asarray(np.searchsorted(ranks, np.arange(int(ranks.max(initial=-1)) + 1)))
