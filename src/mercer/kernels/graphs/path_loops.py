"""Shortest paths between all nodes of many graphs, counted by group of the first node, group of the last, and length.

A breadth-first search starts at each node, and its visits are counted as they come: nothing of the size of all pairs of
nodes is ever held. Groups belong to one graph each, and their nodes stand side by side.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads

Whole = NDArray[np.int64]
MIN_COMPILED_PAIRS = 1 << 18
"""Pairs of nodes from which on compiled loops are used: below it, loading them takes longer."""
CALL_VISITS = 1 << 21
"""Visits of one call: far below a tenth of a second."""
NO_PATHS = np.empty((0, 4), np.int64)


@compiled()
def longer(old: Whole, size: int) -> Whole:
    """A longer array with the same numbers in front."""
    new = np.empty(size, old.dtype)
    new[: len(old)] = old
    return new


@compiled()
def visit(source: int, offset: int, begins: Whole, targets: Whole, distance: Whole, queue: Whole) -> int:
    """Search from a node; how many nodes `queue` has then, whose distances are set."""
    head, tail = 0, 1
    queue[0] = source
    distance[source - offset] = 0
    while head < tail:
        v = queue[head]
        head += 1
        d = distance[v - offset] + 1
        for a in range(begins[v], begins[v + 1]):
            w = targets[a]
            if distance[w - offset] < 0:
                distance[w - offset] = d
                queue[tail] = w
                tail += 1
    return tail


@compiled()
def paths(first: int, last: int, starts: Whole, owners: Whole, groups: Whole, begins: Whole, targets: Whole) -> Whole:
    """Searches from nodes first to last, and how often each group is met at each distance."""
    largest, widest = 0, 0
    for g in range(owners[first], owners[last - 1] + 1):
        n = starts[g + 1] - starts[g]
        if n > 0:
            largest = max(largest, n)
            widest = max(widest, n * (groups[starts[g + 1] - 1] - groups[starts[g]] + 1))
    distance, queue = np.full(largest, -1, np.int64), np.empty(largest, np.int64)
    counts, met = np.zeros(widest, np.int64), np.empty(min(widest, 1 << 10), np.int64)
    out, found, seen = np.empty((1 << 10, 4), np.int64), 0, 0
    for source in range(first, last):
        g = owners[source]
        offset, n = starts[g], starts[g + 1] - starts[g]
        base = groups[offset]
        tail = visit(source, offset, begins, targets, distance, queue)
        for q in range(tail):
            w = queue[q]
            if q > 0:
                at = (groups[w] - base) * n + distance[w - offset]
                if counts[at] == 0:
                    if seen == len(met):
                        met = longer(met, min(widest, 2 * len(met)))
                    met[seen] = at
                    seen += 1
                counts[at] += 1
            distance[w - offset] = -1
        if source + 1 == last or groups[source + 1] != groups[source]:
            while found + seen > len(out):
                grown = np.empty((2 * len(out), 4), np.int64)
                grown[: len(out)] = out
                out = grown
            for k in range(seen):
                at = met[k]
                out[found, 0] = groups[source]
                out[found, 1] = base + at // n
                out[found, 2] = at % n
                out[found, 3] = counts[at]
                counts[at] = 0
                found += 1
            seen = 0
    return out[:found].copy()


class Grouped(NamedTuple):
    """Graphs one after the other, whose nodes are in the order of their groups.

    starts : (n + 1,), the first node of each graph, and the number of all
    groups : of each node, ascending; no group has nodes of two graphs
    begins : (nodes + 1,), where the neighbours of each node begin
    targets : neighbours of nodes; each edge is seen from both of its nodes
    """

    starts: Whole
    groups: Whole
    begins: Whole
    targets: Whole


def path_counts(graphs: Grouped, workers: int | None = None) -> Whole:
    """(p, 4): group, group, distance above 0, and how many pairs of nodes there are; pairs without a path are none.

    Pairs have an order. The same first three numbers may come more than once: then the pairs are to be added. Cost: the
    nodes times the edges of each graph; memory for nodes times groups of the largest graph, and for the result.
    """
    sizes = np.diff(graphs.starts)
    if int((sizes * sizes).sum()) >= MIN_COMPILED_PAIRS and jit_cache.numba_works():
        return _by_loops(graphs, threads.count(workers))
    found = [_by_scipy(graphs, g) for g in range(len(sizes))]
    return np.concatenate([NO_PATHS, *found])


def _by_loops(graphs: Grouped, workers: int) -> Whole:
    pieces = _pieces(graphs)
    owners = np.repeat(np.arange(len(graphs.starts) - 1), np.diff(graphs.starts))
    found: list[Any] = [NO_PATHS] * len(pieces)

    def work(worker: int, place: int, stop: threads.Stop) -> None:
        first, last = pieces[place]
        found[place] = paths(first, last, graphs.starts, owners, graphs.groups, graphs.begins, graphs.targets)
        stop.step(worker, last - first)

    threads.run(work, dealt(range(len(pieces)), workers), len(owners))
    return np.concatenate([NO_PATHS, *found])


def _pieces(graphs: Grouped) -> list[tuple[int, int]]:
    """First and last nodes from which searches start, in calls of about the same length."""
    sizes = np.diff(graphs.starts)
    visits = np.cumsum(np.repeat(sizes, sizes))
    cuts = np.searchsorted(visits, np.arange(CALL_VISITS, visits[-1:].sum(), CALL_VISITS))
    return list(pairwise(np.unique([0, *cuts.tolist(), len(visits)]).tolist()))


def _by_scipy(graphs: Grouped, g: int) -> Whole:
    """The paths of one graph by SciPy, each pair of nodes for itself."""
    from scipy.sparse.csgraph import dijkstra  # seldom needed, and slow to import

    first, last = graphs.starts[g : g + 2].tolist()
    if last - first < 2:
        return NO_PATHS
    begins = graphs.begins[first : last + 1]
    near = graphs.targets[begins[0] : begins[-1]] - first
    matrix = csr_array((np.ones(len(near)), near, begins - begins[0]), shape=(last - first, last - first))
    distances = dijkstra(matrix, unweighted=True)
    i, j = np.nonzero(np.isfinite(distances) & (distances > 0))
    groups = graphs.groups[first:last]
    return np.column_stack([groups[i], groups[j], distances[i, j].astype(np.int64), np.ones(len(i), np.int64)])
