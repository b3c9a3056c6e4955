"""Graphs as random walks see them: sums of walks where all nodes are alike, and edges parted by labels where not."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.graphs.counting import ranked
from mercer.kernels.graphs.joined import Joined, ends_of
from mercer.kernels.graphs.walk_loops import Layers

Array = NDArray[np.float64]
MAX_MISSING_SHARE = 1e-17
"""The part of a value that terms may lack that are left out."""


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


def layers(graphs: Joined, radii: Array) -> Layers:
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
        sources=(sources - graphs.starts[owners])[crossed],
        crossed=(targets - graphs.starts[owners])[crossed],
        radii=radii,
    )


def _firsts(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of the numbers 0, 1, 2, ... first stands among ascending ones."""
    return np.asarray(np.searchsorted(ranks, np.arange(int(ranks.max(initial=-1)) + 1)))
