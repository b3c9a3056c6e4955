"""How many walks two graphs share, each step weighed by a decay: 1' (I - decay A)^-1 1 for the product graph's A.

The nodes of the product graph are the pairs of nodes with equal labels, and its edges the pairs of edges with equal
labels. Its matrix is never made: a product with it goes through the edges of one graph, and then through those of the
other. The system is positive definite, and conjugate gradients give 1'x as a sum of positive terms, whose error is the
square of that of x (as in Gauss quadrature): half of the digits of x are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.runtime import threads

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
MIN_COMPILED_PAIRS = 1 << 19
"""Pairs of nodes from which on compiled loops are used: below it, loading them takes longer."""
CALL_PAIRS = 1 << 19
"""Pairs of nodes in one call: about a tenth of a second, where it is not one pair of large graphs."""
MAX_MISSING_SHARE = 1e-15
"""The part of a value that may be missing."""
BASE_STEPS = 100
"""Steps for a pair, at least, and as many again as it has pairs of nodes: more are never needed but for rounding."""

ANY_ORDER = frozenset({"reassoc", "contract", "nsz"})
"""Sums may be taken in any order."""

# Nodes of a graph are in the order of their labels: so the partners of node u are low[u] to high[u] of the other
# graph, and the number of the pair (u, v) stands at place[u] + v. A segment is the edges of one label of one graph;
# `rows` says where the neighbours of each of its nodes begin. `sources` and `crossed` hold the same edges in another
# order, in which nodes of one label take turns: so no number is added to twice in a row.


@compiled()
def partners(labels: Whole, a0: int, a1: int, b0: int, b1: int, low: Whole, high: Whole) -> None:
    """Which nodes b0 to b1 of one graph have the labels of nodes a0 to a1 of another."""
    v = b0
    for u in range(a0, a1):
        if u > a0 and labels[u] == labels[u - 1]:
            low[u - a0], high[u - a0] = low[u - a0 - 1], high[u - a0 - 1]
            continue
        while v < b1 and labels[v] < labels[u]:
            v += 1
        low[u - a0] = v - b0
        while v < b1 and labels[v] == labels[u]:
            v += 1
        high[u - a0] = v - b0


@compiled(fastmath=ANY_ORDER)
def through(
    n: int,
    m: int,
    rows: Whole,
    targets: Whole,
    sources: Whole,
    crossed: Whole,
    here: int,
    there: int,
    low: Whole,
    high: Whole,
    place: Whole,
    p: Array,
    y: Array,
    line: Array,
) -> None:
    """Add to y the product of p with the edges of one segment of each graph."""
    for u in range(n):
        first, last = rows[here + u], rows[here + u + 1]
        if first == last or low[u] == high[u]:
            continue
        line[:m] = 0.0
        for a in range(first, last):
            w = targets[a]
            source = place[w]
            for v in range(low[w], high[w]):
                line[v] += p[source + v]
        out = place[u]
        for b in range(rows[there + low[u]], rows[there + high[u]]):
            y[out + sources[b]] += line[crossed[b]]


@compiled(fastmath=ANY_ORDER)
def curved(total: int, decay: float, p: Array, y: Array) -> float:
    """y becomes p - decay y; the inner product of p with it."""
    curve = 0.0
    for k in range(total):
        y[k] = p[k] - decay * y[k]
        curve += p[k] * y[k]
    return curve


@compiled(fastmath=ANY_ORDER)
def stepped(total: int, length: float, r: Array, y: Array) -> float:
    """r becomes r - length y; its squared length."""
    left = 0.0
    for k in range(total):
        r[k] -= length * y[k]
        left += r[k] * r[k]
    return left


@compiled()
def solve(
    n: int,
    m: int,
    total: int,
    segments: Whole,
    kinds: Whole,
    offsets: Whole,
    arcs: tuple[Whole, Whole, Whole, Whole],
    i: int,
    j: int,
    low: Whole,
    high: Whole,
    place: Whole,
    decay: float,
    slack: float,
    most: int,
    p: Array,
    r: Array,
    y: Array,
    line: Array,
) -> tuple[float, int]:
    """The value of graphs i and j by conjugate gradients, and whether (1) it is not as exact as it should be."""
    rows, targets, sources, crossed = arcs
    p[:total] = 1.0
    r[:total] = 1.0
    size, value = float(total), 0.0
    for _ in range(most):
        y[:total] = 0.0
        s, e = segments[i], segments[j]
        while s < segments[i + 1] and e < segments[j + 1]:
            if kinds[s] < kinds[e]:
                s += 1
            elif kinds[s] > kinds[e]:
                e += 1
            else:
                here, there = offsets[s], offsets[e]
                through(n, m, rows, targets, sources, crossed, here, there, low, high, place, p, y, line)
                s += 1
                e += 1
        length = size / curved(total, decay, p, y)
        value += length * size
        left = stepped(total, length, r, y)
        if left <= slack * value:
            return value, 0
        turn = left / size
        for k in range(total):
            p[k] = r[k] + turn * p[k]
        size = left
    return value, 1


@compiled()
def pairs(
    left: Whole,
    right: Whole,
    starts: Whole,
    labels: Whole,
    segments: Whole,
    kinds: Whole,
    offsets: Whole,
    arcs: tuple[Whole, Whole, Whole, Whole],
    radii: Array,
    decay: float,
    exact: float,
    most: int,
    out: Array,
) -> int:
    """The values of pairs of graphs, and how many of them are not as exact as they should be."""
    tall, wide, cells = 1, 1, 1
    for k in range(len(left)):
        n, m = starts[left[k] + 1] - starts[left[k]], starts[right[k] + 1] - starts[right[k]]
        tall, wide, cells = max(tall, n), max(wide, m), max(cells, n * m)
    p, r, y, line = np.empty(cells), np.empty(cells), np.empty(cells), np.empty(wide)
    low, high, place = np.empty(tall, np.int64), np.empty(tall, np.int64), np.empty(tall, np.int64)
    open_ends = 0
    for k in range(len(left)):
        i, j = left[k], right[k]
        n, m = starts[i + 1] - starts[i], starts[j + 1] - starts[j]
        partners(labels, starts[i], starts[i + 1], starts[j], starts[j + 1], low, high)
        total = 0
        for u in range(n):
            place[u] = total - low[u]
            total += high[u] - low[u]
        out[k] = 0.0
        if total > 0:
            slack = exact * (1.0 - decay * radii[i] * radii[j])
            out[k], missed = solve(
                n,
                m,
                total,
                segments,
                kinds,
                offsets,
                arcs,
                i,
                j,
                low,
                high,
                place,
                decay,
                slack,
                most + total,
                p,
                r,
                y,
                line,
            )
            open_ends += missed
    return open_ends


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
    radii : the largest eigenvalue of each graph
    """

    starts: Whole
    labels: Whole
    segments: Whole
    kinds: Whole
    offsets: Whole
    rows: Whole
    targets: Whole
    sources: Whole
    crossed: Whole
    radii: Array

    @property
    def sizes(self) -> Whole:
        """How many nodes each graph has."""
        return np.asarray(np.diff(self.starts))

    def compare(self, left: Whole, right: Whole, decay: float, out: Array) -> int:
        """The values of pairs of graphs, by compiled loops; how many of them are not as exact as they should be."""
        arcs = (self.rows, self.targets, self.sources, self.crossed)
        arrays = (self.starts, self.labels, self.segments, self.kinds, self.offsets, arcs, self.radii)
        return int(pairs(left, right, *arrays, decay, MAX_MISSING_SHARE, BASE_STEPS, out))

    def compare_plainly(self, left: Whole, right: Whole, decay: float, out: Array) -> int:
        """The same with NumPy."""
        slack = MAX_MISSING_SHARE * (1 - decay * self.radii[left] * self.radii[right])
        both = zip(left.tolist(), right.tolist(), slack.tolist(), strict=True)
        found = [self._solve(i, j, decay, enough) for i, j, enough in both]
        out[:] = [value for value, _ in found]
        return sum(missed for _, missed in found)

    def _solve(self, i: int, j: int, decay: float, slack: float) -> tuple[float, int]:
        here, there = (self.labels[self.starts[g] : self.starts[g + 1]] for g in (i, j))
        mask = (here[:, None] == there[None, :]).astype(np.float64)
        mine, others = self._matrices(i), self._matrices(j)
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

    def _matrices(self, g: int) -> dict[int, Array]:
        """The adjacency matrix of each label of edges of a graph."""
        n, found = int(self.starts[g + 1] - self.starts[g]), {}
        for s in range(self.segments[g], self.segments[g + 1]):
            begins = self.rows[self.offsets[s] : self.offsets[s] + n + 1]
            matrix = np.zeros((n, n))
            matrix[np.repeat(np.arange(n), np.diff(begins)), self.targets[begins[0] : begins[-1]]] = 1.0
            found[int(self.kinds[s])] = matrix
        return found


def shared_walks(layers: Layers, left: Whole, right: Whole, decay: float) -> tuple[Array, int]:
    """The values of pairs of graphs, by all cores, and how many of them are not as exact as they should be.

    Cost: for each pair a few times the edges of one graph times the nodes of the other; memory for the largest pair.
    """
    out, sizes = np.empty(len(left)), layers.sizes
    costs = np.cumsum(sizes[left] * sizes[right] + 1)
    total = int(costs[-1:].sum())
    compare = layers.compare if total >= MIN_COMPILED_PAIRS and jit_cache.numba_works() else layers.compare_plainly
    cuts = np.searchsorted(costs, np.arange(CALL_PAIRS, total, CALL_PAIRS))
    pieces: list[Any] = list(pairwise(np.unique([0, *cuts.tolist(), len(left)]).tolist()))
    missed = np.zeros(len(pieces), np.int64)

    def work(worker: int, place: int, stop: threads.Stop) -> None:
        part = slice(*pieces[place])
        missed[place] = compare(left[part], right[part], decay, out[part])
        stop.step(worker, part.stop - part.start)

    workers = threads.available()
    dealt = [list(range(len(pieces)))[worker::workers] for worker in range(max(1, min(workers, len(pieces))))]
    threads.run(work, dealt, len(left))
    return out, int(missed.sum())
