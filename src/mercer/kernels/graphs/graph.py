"""A graph: numbered nodes, undirected edges, and labels where there are some."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message

Labels = tuple[Hashable, ...]
Edges = NDArray[np.int64]
SUBJECT = "Graph"


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph that never changes. Memory: 16 bytes per edge, and a reference per label.

    An edge that is given twice, in either direction, counts once; given twice with different labels it is refused. An
    edge may lead from a node to itself, nodes may have no edge, and a graph may have no node. Two graphs are equal
    where nodes, edges and labels are; the same graph under other numbers is not equal, and kernels take both alike.

    Parameters
    ----------
    nodes : int
        How many nodes there are; they are numbered from 0.
    edges : array of shape (m, 2)
        Pairs of nodes; stored as a read-only array, the smaller node first, in order.
    labels : sequence or None, default=None
        One hashable label per node; None where all nodes are alike. Labels are equal where Python says so.
    edge_labels : sequence or None, default=None
        One label per edge, in the order of the edges; None where all are alike.

    Examples
    --------
    >>> from mercer.kernels.graphs import Graph
    >>> Graph(3, [(2, 1), (0, 1)], labels=["C", "C", "O"])
    Graph(nodes=3, edges=[[0, 1], [1, 2]], labels=('C', 'C', 'O'))
    """

    nodes: int
    edges: Any
    labels: Any = None
    edge_labels: Any = None

    def __post_init__(self) -> None:
        nodes = _count(self.nodes)
        edges = _pairs(self.edges, nodes)
        kinds = labels_of("edge_labels", self.edge_labels, len(edges), "edges")
        edges, kinds = _each_once(edges, kinds, nodes)
        edges.flags.writeable = False
        found = (nodes, edges, labels_of("labels", self.labels, nodes, "nodes"), kinds)
        for name, value in zip(("nodes", "edges", "labels", "edge_labels"), found, strict=True):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (self._about == other._about and np.array_equal(self.edges, other.edges))

    def __hash__(self) -> int:
        return hash((self._about, self.edges.tobytes()))

    def __repr__(self) -> str:
        shown = {"nodes": self.nodes, "edges": self.edges.tolist()}
        shown |= {name: value for name in ("labels", "edge_labels") if (value := getattr(self, name)) is not None}
        return f"Graph({', '.join(f'{name}={reprlib.repr(value)}' for name, value in shown.items())})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        state["edges"].flags.writeable = False  # a copy that comes from a file could be written to
        self.__dict__.update(state)

    @property
    def _about(self) -> tuple[Any, ...]:
        return self.nodes, self.labels, self.edge_labels


def of_checked(nodes: int, edges: Edges, labels: Labels | None, edge_labels: Labels | None) -> Graph:
    """A graph of parts as they are stored: ordered edges, each once, read-only; tuples of labels that are equal."""
    graph = object.__new__(Graph)
    graph.__dict__.update(nodes=nodes, edges=edges, labels=labels, edge_labels=edge_labels)
    return graph


def labels_of(name: str, labels: Any, count: int, things: str) -> Labels | None:
    """Labels as a tuple, one for each of so many nodes or edges; None stays None."""
    if labels is None:
        return None
    if not isinstance(labels, Iterable):
        raise InputError(
            message(f"a list for {name}", f"got {labels!r:.60}", f"Give one of the {things} each.", subject=SUBJECT)
        )
    found = tuple(labels.tolist() if hasattr(labels, "tolist") else labels)
    if len(found) != count:
        got = f"got {len(found)} for {count} {things}"
        raise InputError(
            message(f"as many {name} as {things}", got, "Give one each, or None for none.", subject=SUBJECT)
        )
    try:
        distinct = set(found)
    except TypeError as error:
        got = f"{name} hold a label that is not: {error}"
        raise InputError(message("hashable labels", got, "Use texts, integers or tuples.", subject=SUBJECT)) from error
    if any(label != label for label in distinct):
        got = f"{name} hold NaN, which does not equal itself"
        raise InputError(message("labels that equal themselves", got, "Give missing labels a name.", subject=SUBJECT))
    return found


def _count(nodes: Any) -> int:
    if isinstance(nodes, bool) or not isinstance(nodes, numbers.Integral) or nodes < 0:
        needs = "the number of its nodes, an integer of at least 0"
        raise InputError(
            message(needs, f"got {nodes!r:.60}", "Give labels=[...] for labels of nodes.", subject=SUBJECT)
        )
    return int(nodes)


def _pairs(edges: Any, nodes: int) -> Edges:
    """Edges as (m, 2), the smaller node first."""
    try:
        raw = np.asarray(edges if hasattr(edges, "__array__") or isinstance(edges, list) else list(edges))
    except (TypeError, ValueError) as error:
        raise InputError(
            message("pairs of nodes for edges", f"NumPy says: {error}", "Give pairs.", subject=SUBJECT)
        ) from error
    if raw.size == 0:
        return np.empty((0, 2), np.int64)
    if raw.dtype.kind not in "iu" or raw.ndim != 2 or raw.shape[1] != 2:
        got = f"got an array of shape {raw.shape} and dtype {raw.dtype}"
        raise InputError(message("pairs of integers for edges", got, "Number nodes from 0.", subject=SUBJECT))
    pairs: Edges = np.sort(raw.astype(np.int64), axis=1)
    bad = np.flatnonzero((pairs[:, 0] < 0) | (pairs[:, 1] >= nodes))
    if len(bad):
        edge = tuple(raw[bad[0]].tolist())
        got = f"edge {bad[0]} is {edge}, and there are {nodes} nodes"
        raise InputError(message("edges between nodes that exist", got, "Number nodes from 0.", subject=SUBJECT))
    return pairs


def _each_once(pairs: Edges, kinds: Labels | None, nodes: int) -> tuple[Edges, Labels | None]:
    """Edges in order, and each once."""
    keys = pairs[:, 0] * nodes + pairs[:, 1]
    if (keys[1:] > keys[:-1]).all():
        return pairs, kinds
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    if kinds is None:
        return pairs[first], None
    kept = tuple(kinds[i] for i in first.tolist())
    bad = next((i for i, place in enumerate(places.tolist()) if kinds[i] != kept[place]), None)
    if bad is not None:
        got = f"got edge {tuple(pairs[bad].tolist())} with {kept[places[bad]]!r} and with {kinds[bad]!r}"
        raise InputError(
            message("one label per edge", got, "Keep one of them, or join both into one label.", subject=SUBJECT)
        )
    return pairs[first], kept
