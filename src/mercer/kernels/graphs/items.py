"""Reading graphs: whatever describes a graph becomes a `Graph`, or one clear error names its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import InputError, message
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.matrices import of_matrix
from mercer.kernels.graphs.networks import is_network, of_networks

REMEDY = "Give a Graph, a NetworkX graph, an adjacency matrix, (matrix, labels), or a dict with nodes and edges."


def items_of(things: Sequence[Any]) -> tuple[Graph, ...]:
    """Each object as a graph. Cost: a few operations per edge, and 10 to 20 microseconds per graph.

    An object may be a `Graph`; a NetworkX graph, whose labels are the attributes "label" of its nodes and edges; a
    symmetric matrix of zeros and ones, dense or sparse; a tuple of such a matrix, labels of nodes, and labels of edges
    (a dict of pairs of nodes, or a list in the order of the upper triangle, row by row); or a dict with "nodes" (their
    labels, or how many), "edges" (u0, v0, u1, v1, ..., or pairs) and, where there are some, "edge_labels".

    """
    read = _networks(things)
    return tuple(
        thing if type(thing) is Graph else read[row] if row in read else _read(row, thing)
        for row, thing in enumerate(things)
    )


def _networks(things: Sequence[Any]) -> dict[int, Graph]:
    """The graphs of NetworkX by their rows, read together; none where one of them is refused: which one, rows say."""
    rows = [row for row, thing in enumerate(things) if is_network(thing)]
    try:
        return dict(zip(rows, of_networks([things[row] for row in rows]), strict=True)) if rows else {}
    except InputError:
        return {}


def _read(row: int, thing: Any) -> Graph:
    """One object as a graph; an error names its row."""
    reader = _reader(thing)
    if reader is None:
        raise InputError(message("graphs", f"row {row} holds {thing!r:.60}", REMEDY))
    try:
        return reader(thing)
    except InputError as error:
        raise InputError(message("graphs", f"row {row} holds none", str(error))) from error


def _reader(thing: Any) -> Callable[[Any], Graph] | None:
    """The reader of such an object."""
    if hasattr(thing, "get") and hasattr(thing, "keys") and "nodes" in thing and "edges" in thing:
        return of_columns
    if is_network(thing):
        return lambda network: of_networks([network])[0]
    if isinstance(thing, np.ndarray | list) or is_sparse(thing):
        return of_matrix
    if isinstance(thing, tuple) and 2 <= len(thing) <= 3:
        return lambda parts: of_matrix(*parts)
    return None


def of_columns(row: Any) -> Graph:
    """A graph from a row of a table with the columns nodes, edges and, where there are some, edge_labels."""
    return of_parts(row["nodes"], row["edges"], row.get("edge_labels"))


def of_parts(nodes: Any, edges: Any, edge_labels: Any = None) -> Graph:
    """A graph from labels of nodes, or how many there are, and edges that stand one after the other or in pairs."""
    pairs = np.asarray([] if edges is None else edges)
    if pairs.ndim == 1:
        if len(pairs) % 2:
            got = f"got {len(pairs)} numbers for edges"
            raise InputError(message("two nodes an edge", got, "Give u0, v0, u1, v1, ...", subject="Graph"))
        pairs = pairs.reshape(-1, 2)
    if nodes is None or not hasattr(nodes, "__len__"):
        return Graph(nodes, pairs, None, edge_labels)
    return Graph(len(nodes), pairs, nodes, edge_labels)
