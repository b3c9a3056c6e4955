"""How many walks two graphs share, each step weighed by a decay: 1' (I - decay A)^-1 1 for the product graph's A.

The nodes of the product graph are the pairs of nodes with equal labels, and its edges the pairs of edges with equal
labels. Its matrix is never made: a product with it goes through the edges of one graph, and then through those of the
other. The system is positive definite, and conjugate gradients give 1'x as a sum of positive terms, whose error is the
square of that of x (as in Gauss quadrature): half of the digits of x are enough.

One graph meets many others at once: a union of graphs, whose parts are not connected, so that loops are long. Lengths
of steps belong to pairs of graphs, and each pair ends when it is exact: its value does not depend on the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Index = NDArray[np.uint32]
"""Places that loops need not compare with zero."""
ANY_ORDER = frozenset({"reassoc", "contract", "nsz"})
"""Sums may be taken in any order."""

# Nodes of a graph, or of a union of graphs, are in the order of their labels: so the partners of node u are low[u] to
# high[u] of the union, and the number of the pair (u, v) stands at u * m + v. A segment is the edges of one label of
# one graph or union; `rows` says where the neighbours of each of its nodes begin. `sources` and `crossed` hold the same
# edges in another order, in which nodes of one label take turns: so no number is added to twice in a row.


@compiled()
def partners(labels: Whole, a0: int, a1: int, others: Whole, b0: int, b1: int, low: Whole, high: Whole) -> None:
    """Which nodes b0 to b1 of others have the labels of nodes a0 to a1."""
    v = b0
    for u in range(a0, a1):
        if u > a0 and labels[u] == labels[u - 1]:
            low[u - a0], high[u - a0] = low[u - a0 - 1], high[u - a0 - 1]
            continue
        while v < b1 and others[v] < labels[u]:
            v += 1
        low[u - a0] = v - b0
        while v < b1 and others[v] == labels[u]:
            v += 1
        high[u - a0] = v - b0


@compiled(fastmath=ANY_ORDER)
def through(
    n: int,
    m: int,
    rows: Whole,
    targets: Whole,
    here: int,
    others: Whole,
    sources: Index,
    crossed: Index,
    there: int,
    low: Whole,
    high: Whole,
    p: Array,
    y: Array,
    line: Array,
) -> None:
    """Add to y the product of p with the edges of a segment of the graph and one of the union; line is zero again."""
    for u in range(n):
        first, last = rows[here + u], rows[here + u + 1]
        if first == last or low[u] == high[u]:
            continue
        for a in range(first, last):
            w = targets[a]
            into, part = line[low[w] : high[w]], p[w * m + low[w] : w * m + high[w]]
            for v in range(len(into)):
                into[v] += part[v]
        begin, end = others[there + low[u]], others[there + high[u]]
        row, nodes, neighbours = y[u * m : u * m + m], sources[begin:end], crossed[begin:end]
        for b in range(len(nodes)):
            row[nodes[b]] += line[neighbours[b]]
        for a in range(first, last):
            line[low[targets[a]] : high[targets[a]]] = 0.0


@compiled(fastmath=ANY_ORDER)
def curved(n: int, m: int, low: Whole, high: Whole, decay: float, p: Array, y: Array, sums: Array) -> None:
    """y becomes p - decay y; add to sums, for each node of the union, the products of its part of p with that."""
    for u in range(n):
        begin, end, into = u * m + low[u], u * m + high[u], sums[low[u] : high[u]]
        mine, other = p[begin:end], y[begin:end]
        for v in range(len(into)):
            other[v] = mine[v] - decay * other[v]
            into[v] += mine[v] * other[v]


@compiled(fastmath=ANY_ORDER)
def stepped(n: int, m: int, low: Whole, high: Whole, each: Array, r: Array, y: Array, sums: Array) -> None:
    """r becomes r - each y; add to sums its squares."""
    for u in range(n):
        begin, end, into = u * m + low[u], u * m + high[u], sums[low[u] : high[u]]
        mine, other, length = r[begin:end], y[begin:end], each[low[u] : high[u]]
        for v in range(len(into)):
            mine[v] -= length[v] * other[v]
            into[v] += mine[v] * mine[v]


@compiled(fastmath=ANY_ORDER)
def turned(n: int, m: int, low: Whole, high: Whole, each: Array, p: Array, r: Array, y: Array) -> None:
    """p becomes r + each p; y zero."""
    for u in range(n):
        begin, end, turn = u * m + low[u], u * m + high[u], each[low[u] : high[u]]
        mine, other, next_y = p[begin:end], r[begin:end], y[begin:end]
        for v in range(len(turn)):
            mine[v] = other[v] + turn[v] * mine[v]
            next_y[v] = 0.0


@compiled()
def gathered(first: int, m: int, owners: Whole, sums: Array, count: int, totals: Array) -> None:
    """Sums of nodes become those of graphs of the union, and zero again."""
    totals[:count] = 0.0
    for v in range(m):
        totals[owners[first + v]] += sums[v]
        sums[v] = 0.0


@compiled()
def solve(
    n: int,
    i: int,
    j: int,
    here: tuple[Whole, ...],
    there: tuple[Whole, ...],
    edges: tuple[Index, Index],
    owners: Whole,
    count: int,
    decay: float,
    slack: Array,
    most: int,
    partners_of: tuple[Whole, Whole],
    cells: tuple[Array, Array, Array],
    lines: tuple[Array, Array, Array],
    size: Array,
    totals: Array,
    value: Array,
) -> int:
    """The values of graph i and those of union j by conjugate gradients; how many are less exact than they should be.

    slack : what may be missing of each, as a part of it
    """
    _, _, segments, kinds, offsets, rows, targets = here
    other_starts, _, other_segments, other_kinds, other_offsets, others, _ = there
    sources, crossed = edges
    low, high = partners_of
    p, r, y = cells
    line, sums, each = lines
    first, m = other_starts[j], other_starts[j + 1] - other_starts[j]
    line[:m] = 0.0
    sums[:m] = 0.0
    for u in range(n):
        begin, end = u * m + low[u], u * m + high[u]
        p[begin:end] = 1.0
        r[begin:end] = 1.0
        y[begin:end] = 0.0
        sums[low[u] : high[u]] += 1.0
    gathered(first, m, owners, sums, count, size)
    open_ends, missed, step = 0, 0, 0
    for g in range(count):
        value[g] = 0.0
        if size[g] > 0 and most + int(size[g]) <= 0:
            missed += 1
            size[g] = 0.0
        open_ends += size[g] > 0
    limits = size[:count] + most
    while open_ends > 0:
        step += 1
        s, e = segments[i], other_segments[j]
        while s < segments[i + 1] and e < other_segments[j + 1]:
            if kinds[s] < other_kinds[e]:
                s += 1
            elif kinds[s] > other_kinds[e]:
                e += 1
            else:
                at, by = offsets[s], other_offsets[e]
                through(n, m, rows, targets, at, others, sources, crossed, by, low, high, p, y, line)
                s += 1
                e += 1
        curved(n, m, low, high, decay, p, y, sums)
        gathered(first, m, owners, sums, count, totals)
        for g in range(count):  # a pair that is done makes steps of no length
            totals[g] = size[g] / totals[g] if size[g] > 0 else 0.0
            value[g] += totals[g] * size[g]
        for v in range(m):
            each[v] = totals[owners[first + v]]
        stepped(n, m, low, high, each, r, y, sums)
        gathered(first, m, owners, sums, count, totals)
        open_ends = 0
        for g in range(count):
            left, turn = totals[g], 0.0
            if size[g] > 0:
                if left <= slack[g] * value[g]:
                    left = 0.0
                elif step >= limits[g]:
                    left = 0.0
                    missed += 1
                else:
                    turn = left / size[g]
                    open_ends += 1
                size[g] = left
            totals[g] = turn
        for v in range(m):
            each[v] = totals[owners[first + v]]
        turned(n, m, low, high, each, p, r, y)
    return missed


@compiled()
def meetings(
    left: Whole,
    right: Whole,
    places: Whole,
    here: tuple[Whole, ...],
    there: tuple[Whole, ...],
    edges: tuple[Index, Index],
    owners: Whole,
    firsts: Whole,
    radii: Array,
    other_radii: Array,
    decay: float,
    exact: float,
    most: int,
    out: Array,
) -> int:
    """The values of graphs and unions of graphs, from some places on; how many are not as exact as they should be."""
    starts, labels, other_starts, other_labels = here[0], here[1], there[0], there[1]
    tall, wide, cells, parts = 1, 1, 1, 1
    for k in range(len(left)):
        n = starts[left[k] + 1] - starts[left[k]]
        m = other_starts[right[k] + 1] - other_starts[right[k]]
        tall, wide, cells = max(tall, n), max(wide, m), max(cells, n * m)
        parts = max(parts, firsts[right[k] + 1] - firsts[right[k]])
    p, r, y = np.empty(cells), np.empty(cells), np.empty(cells)
    line, sums, each = np.empty(wide), np.empty(wide), np.empty(wide)
    low, high = np.empty(tall, np.int64), np.empty(tall, np.int64)
    size, totals, slack = np.empty(parts), np.empty(parts), np.empty(parts)
    missed = 0
    for k in range(len(left)):
        i, j = left[k], right[k]
        n, count = starts[i + 1] - starts[i], firsts[j + 1] - firsts[j]
        partners(labels, starts[i], starts[i + 1], other_labels, other_starts[j], other_starts[j + 1], low, high)
        for g in range(count):
            slack[g] = exact * (1.0 - decay * radii[i] * other_radii[firsts[j] + g])
        missed += solve(
            n,
            i,
            j,
            here,
            there,
            edges,
            owners,
            count,
            decay,
            slack,
            most,
            (low, high),
            (p, r, y),
            (line, sums, each),
            size,
            totals,
            out[places[k] : places[k] + count],
        )
    return missed
