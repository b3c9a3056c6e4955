"""Graphs with labels, unions of them, and which graph meets which union: what loops of walks work on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.compute.codegen import jit_cache
from mercer.compute.runtime import threads
from mercer.kernels.graphs.walk_loops import Array, Index, Whole, meetings

MIN_COMPILED_PAIRS = 1 << 19
"""Pairs of nodes from which on compiled loops are used: below it, loading them takes longer."""
PAIRS_PER_MEETING = 100
"""Pairs of nodes that take plain NumPy as long as it takes to begin with another pair of graphs."""
CALL_PAIRS = 1 << 19
"""Pairs of nodes in one call: some hundredths of a second, where it is not one pair of large graphs."""
MAX_MISSING_SHARE = 1e-15
"""The part of a value that may be missing."""
BASE_STEPS = 100
"""Steps for a pair, at least, and as many again as it has pairs of nodes: more are never needed but for rounding."""


@dataclass(frozen=True, eq=False)
class Layers:
    """Graphs one after the other, whose edges are parted by their labels.

    starts : (n + 1,), the first node of each graph, and the number of all
    labels : of each node, ascending in each graph
    segments : (n + 1,), where the segments of each graph begin; a segment is its edges of one label
    kinds : the label of each segment, ascending in each graph
    offsets : where the part of `rows` of each segment begins, one longer than its graph has nodes
    rows : where the neighbours of each node, by edges of the segment, begin
    targets : neighbours, counted from the first node of their graph
    sources, crossed : nodes and their neighbours once more, in segments; nodes of one label take turns
    """

    starts: Whole
    labels: Whole
    segments: Whole
    kinds: Whole
    offsets: Whole
    rows: Whole
    targets: Whole
    sources: Index
    crossed: Index

    @property
    def sizes(self) -> Whole:
        """How many nodes each graph has."""
        return np.asarray(np.diff(self.starts))

    @property
    def arrays(self) -> tuple[Whole, ...]:
        """As loops take it, without edges in turns."""
        return self.starts, self.labels, self.segments, self.kinds, self.offsets, self.rows, self.targets

    def nodes(self, g: int) -> Whole:
        """The labels of the nodes of a graph."""
        return self.labels[self.starts[g] : self.starts[g + 1]]

    def matrices(self, g: int) -> dict[int, Array]:
        """The adjacency matrix of each label of edges of a graph."""
        n, found = int(self.starts[g + 1] - self.starts[g]), {}
        for s in range(self.segments[g], self.segments[g + 1]):
            begins = self.rows[self.offsets[s] : self.offsets[s] + n + 1]
            matrix = np.zeros((n, n))
            matrix[np.repeat(np.arange(n), np.diff(begins)), self.targets[begins[0] : begins[-1]]] = 1.0
            found[int(self.kinds[s])] = matrix
        return found


@dataclass(frozen=True, eq=False)
class Unions:
    """Unions of graphs that follow each other in a list.

    layers : the unions, each as one graph
    owners : of each node, the graph that it is of, counted from the first of its union
    firsts : (unions + 1,), the first graph of each union, and the number of all
    radii : the largest eigenvalue of each graph
    """

    layers: Layers
    owners: Whole
    firsts: Whole
    radii: Array


@dataclass(frozen=True, eq=False)
class Meetings:
    """Graphs and unions of graphs whose values are wanted.

    graphs, radii : some graphs, and the largest eigenvalue of each
    unions : those that they meet
    left, right : which graph meets which union, the values of which begin at `places`
    """

    graphs: Layers
    radii: Array
    unions: Unions
    left: Whole
    right: Whole
    places: Whole

    @property
    def costs(self) -> Whole:
        """Pairs of nodes in each meeting."""
        return np.asarray(self.graphs.sizes[self.left] * self.unions.layers.sizes[self.right] + 1)

    def compare(self, part: slice, decay: float, out: Array) -> int:
        """The values of some meetings, by compiled loops; how many of them are not as exact as they should be."""
        unions = self.unions
        return meetings(
            self.left[part],
            self.right[part],
            self.places[part],
            self.graphs.arrays,
            unions.layers.arrays,
            (unions.layers.sources, unions.layers.crossed),
            unions.owners,
            unions.firsts,
            self.radii,
            unions.radii,
            decay,
            MAX_MISSING_SHARE,
            BASE_STEPS,
            out,
        )

    def compare_plainly(self, part: slice, decay: float, out: Array) -> int:
        """The same with NumPy, for unions of one graph."""
        left, right = self.left[part], self.right[part]
        slack = MAX_MISSING_SHARE * (1 - decay * self.radii[left] * self.unions.radii[right])
        both = zip(left.tolist(), right.tolist(), slack.tolist(), strict=True)
        found = [self._solve(i, j, decay, enough) for i, j, enough in both]
        out[self.places[part]] = [value for value, _ in found]
        return sum(missed for _, missed in found)

    def _solve(self, i: int, j: int, decay: float, slack: float) -> tuple[float, int]:
        mask = (self.graphs.nodes(i)[:, None] == self.unions.layers.nodes(j)[None, :]).astype(np.float64)
        mine, others = self.graphs.matrices(i), self.unions.layers.matrices(j)
        both = [(mine[kind], others[kind]) for kind in mine.keys() & others.keys()]
        p, r, size, value = mask, mask, float(mask.sum()), 0.0
        for _ in range(BASE_STEPS + int(size) if size else 0):
            y = p - decay * mask * sum((A @ p @ B for A, B in both), np.zeros_like(p))
            length = size / float((p * y).sum())
            value += length * size
            r = r - length * y
            left = float((r * r).sum())
            if left <= slack * value:
                return value, 0
            p, size = r + left / size * p, left
        return value, int(size > 0)


def compiles(pairs: float, graphs: float) -> bool:
    """Whether compiled loops are used for so many pairs of nodes of so many pairs of graphs: then unions of many."""
    return pairs + PAIRS_PER_MEETING * graphs >= MIN_COMPILED_PAIRS and jit_cache.numba_works()


def shared_walks(wanted: Meetings, decay: float, looped: bool, out: Array) -> int:
    """Write the values by all cores; how many of them are not as exact as they should be.

    Cost: for each pair of graphs a few times the edges of one times the nodes of the other; memory for the largest.
    """
    costs = np.cumsum(wanted.costs)
    compare = wanted.compare if looped else wanted.compare_plainly
    cuts = np.searchsorted(costs, np.arange(CALL_PAIRS, int(costs[-1:].sum()), CALL_PAIRS))
    pieces: list[Any] = list(pairwise(np.unique([0, *cuts.tolist(), len(costs)]).tolist()))
    missed = np.zeros(len(pieces), np.int64)

    def work(worker: int, place: int, stop: threads.Stop) -> None:
        missed[place] = compare(slice(*pieces[place]), decay, out)
        stop.step(worker, pieces[place][1] - pieces[place][0])

    workers = threads.available()
    dealt = [list(range(len(pieces)))[worker::workers] for worker in range(max(1, min(workers, len(pieces))))]
    threads.run(work, dealt, len(costs))
    return int(missed.sum())
