"""Graphs from NetworkX, which is known here by what its graphs can do, and never imported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mercer.errors import InputError, message
from mercer.kernels.graphs.graph import Graph

SUBJECT = "A NetworkX graph"
LABEL = "label"
"""The attribute of nodes and edges that is their label."""


def is_network(thing: Any) -> bool:
    """Whether an object is a graph of NetworkX, or looks like one."""
    return all(hasattr(thing, name) for name in ("is_directed", "number_of_nodes", "nodes", "edges"))


def of_network(network: Any) -> Graph:
    """A graph from NetworkX: its nodes in their order, the attribute "label" of nodes and edges, nothing else.

    Parallel edges of a multigraph count once, and must have one label.
    """
    if network.is_directed():
        got = "got a directed one"
        raise InputError(message("edges without direction", got, "Give graph.to_undirected().", subject=SUBJECT))
    names, attributes = _parted(network.nodes(data=True))
    places = {name: place for place, name in enumerate(names)}
    pairs, kinds = _parted(((places[u], places[v]), about) for u, v, about in network.edges(data=True))
    return Graph(len(names), pairs, _labels("nodes", attributes), _labels("edges", kinds))


def _parted(described: Iterable[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Nodes or edges and their attributes, in two lists."""
    listed = list(described)
    return [thing for thing, _ in listed], [about for _, about in listed]


def _labels(things: str, attributes: list[Any]) -> list[Any] | None:
    """The labels of all nodes or edges; None where none of them has one."""
    found = [about[LABEL] for about in attributes if LABEL in about]
    if found and len(found) < len(attributes):
        got = f"{len(attributes) - len(found)} of {len(attributes)} {things} have none"
        raise InputError(
            message(f"a label for each of its {things}, or for none", got, "Name the others too.", subject=SUBJECT)
        )
    return found or None
