"""Graphs from NetworkX, which is known here by what its graphs can do, and never imported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, compress, pairwise, repeat
from operator import contains, itemgetter, methodcaller
from typing import Any

import numpy as np

from mercer.errors import InputError, message
from mercer.kernels.graphs.graph import Graph, Labels, labels_of, of_checked
from mercer.kernels.graphs.joined import Whole, ends_of

SUBJECT = "A NetworkX graph"
LABEL = "label"
"""The attribute of nodes and edges that is their label."""
_VALUES = methodcaller("values")


def is_network(thing: Any) -> bool:
    """Whether an object is a graph of NetworkX, or looks like one."""
    kind = type(thing)
    return all(hasattr(kind, name) for name in ("is_directed", "is_multigraph", "nodes", "adjacency"))


def of_networks(networks: Sequence[Any]) -> list[Graph]:
    """Graphs from NetworkX: their nodes in their order, the attribute "label" of nodes and edges, nothing else.

    Parallel edges of a multigraph count once, and must have one label. Many graphs are read together, as one graph
    whose parts are not connected, so that Python runs no statement per node or edge; an error does not say which graph
    it is of.
    """
    if any(network.is_directed() for network in networks):
        got = "got a directed one"
        raise InputError(message("edges without direction", got, "Give graph.to_undirected().", subject=SUBJECT))
    parallel = [bool(network.is_multigraph()) for network in networks]
    simple = iter(_read([network for network, many in zip(networks, parallel, strict=True) if not many], False))
    others = iter(_read([network for network, many in zip(networks, parallel, strict=True) if many], True))
    return [next(others if many else simple) for many in parallel]


def _read(networks: list[Any], parallel: bool) -> list[Graph]:
    """Graphs all of which have parallel edges, or none of which has."""
    nodes = [dict(network.nodes(data=True)) for network in networks]
    starts = ends_of([len(named) for named in nodes])
    edges, attributes = _edges(networks, nodes, starts, parallel)
    ends = np.searchsorted(edges[:, 0], starts)
    owners = np.repeat(np.arange(len(networks)), np.diff(ends))
    twice = {*owners[1:][(edges[1:] == edges[:-1]).all(axis=1)].tolist()}
    edges -= starts[owners, None]
    edges.flags.writeable = False
    labels, kinds = _labels("nodes", _flat(map(_VALUES, nodes)), starts), _labels("edges", attributes, ends)
    parts = zip(map(len, nodes), pairwise(ends.tolist()), labels, kinds, strict=True)
    return [
        (Graph if g in twice else of_checked)(count, edges[start:stop], named, kind)
        for g, (count, (start, stop), named, kind) in enumerate(parts)
    ]


def _edges(networks: list[Any], nodes: list[dict[Any, Any]], starts: Whole, parallel: bool) -> tuple[Whole, list[Any]]:
    """The edges between the nodes of all graphs in order, the smaller node first; and their attributes."""
    near = [dict(network.adjacency()) for network in networks]
    places = [
        dict(zip(named, range(start, start + len(named)), strict=True)).__getitem__
        for named, start in zip(nodes, starts.tolist(), strict=False)
    ]
    neighbours = _flat(map(_VALUES, near))
    sources = np.repeat(_whole(chain.from_iterable(map(map, places, near))), _whole(map(len, neighbours)))
    targets = _whole(chain.from_iterable(map(map, places, map(chain.from_iterable, map(_VALUES, near)))))
    about = _flat(map(_VALUES, neighbours))
    if parallel:  # there is a dict of edges for each pair of nodes
        counts = _whole(map(len, about))
        sources, targets, about = np.repeat(sources, counts), np.repeat(targets, counts), _flat(map(_VALUES, about))
    once = sources <= targets  # edges are seen from both sides, those from a node to itself from one
    edges = np.column_stack([sources[once], targets[once]])
    order = np.argsort(edges[:, 0] * starts[-1] + edges[:, 1], kind="stable")
    return edges[order], np.fromiter(about, object, len(about))[once][order].tolist()


def _flat(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(parts))


def _whole(numbers: Iterable[int]) -> Whole:
    return np.fromiter(numbers, np.int64)


def _labels(things: str, attributes: list[Any], starts: Whole) -> list[Labels | None]:
    """The labels of the nodes or edges of each graph, which begin at some places; None where none of them has one."""
    has = np.fromiter(map(contains, attributes, repeat(LABEL)), np.bool_, len(attributes))
    places = ends_of(has)[starts]
    counts, sizes = np.diff(places), np.diff(starts)
    some = np.flatnonzero((counts > 0) & (counts < sizes))
    if len(some):
        count, size = counts[some[0]], sizes[some[0]]
        needs, got = f"a label for each of its {things}, or for none", f"{size - count} of {size} {things} have none"
        raise InputError(message(needs, got, "Name the others too.", subject=SUBJECT))
    listed = list(map(itemgetter(LABEL), compress(attributes, has.tolist())))
    found = labels_of("labels" if things == "nodes" else "edge_labels", listed, len(listed), things) or ()
    return [found[start:stop] or None for start, stop in pairwise(places.tolist())]
