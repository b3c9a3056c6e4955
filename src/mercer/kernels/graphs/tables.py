"""Whole tables of graphs, one per row."""

from __future__ import annotations

from typing import Any

from mercer.errors import InputError, message
from mercer.kernels.graphs.graph import Graph
from mercer.kernels.graphs.items import of_parts
from mercer.kernels.objects.table import listed

SUBJECT = "graphs_of"


def graphs_of(table: Any) -> list[Graph]:
    """The graphs in the rows of a table of pandas, polars or Arrow.

    Cost: a few operations per edge, and about 20 microseconds per graph.

    Parameters
    ----------
    table : with the columns "nodes" (a list of labels of nodes in each row, or how many nodes there are), "edges"
        (u0, v0, u1, v1, ..., where nodes are numbered from 0) and, where there are some, "edge_labels"

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.kernels.graphs import graphs_of
    >>> table = pd.DataFrame({"nodes": [["C", "O"], ["N"]], "edges": [[0, 1], []], "target": [0, 1]})
    >>> graphs_of(table)
    [Graph(nodes=2, edges=[[0, 1]], labels=('C', 'O')), Graph(nodes=1, edges=[], labels=('N',))]
    """
    names = _names_of(table)
    nodes, edges = (_column(table, names, name) for name in ("nodes", "edges"))
    kinds = _column(table, names, "edge_labels") if "edge_labels" in names else [None] * len(nodes)
    found: list[Graph] = []
    for row, parts in enumerate(zip(nodes, edges, kinds, strict=True)):
        try:
            found.append(of_parts(*parts))
        except InputError as error:
            raise InputError(message("graphs", f"row {row} holds none", str(error), subject=SUBJECT)) from error
    return found


def _names_of(table: Any) -> list[Any]:
    """The names of the columns."""
    names = getattr(table, "column_names", getattr(table, "columns", None))  # of Arrow; of pandas and polars
    if names is None:
        got = f"got {type(table).__name__}"
        raise InputError(
            message("a table of pandas, polars or Arrow", got, "Read it with one of these.", subject=SUBJECT)
        )
    return list(names)


def _column(table: Any, names: list[Any], name: str) -> list[Any]:
    if name not in names:
        got = f"the columns are {', '.join(map(repr, names[:10]))}"
        raise InputError(message(f"a column named {name!r}", got, "Rename it.", subject=SUBJECT))
    return listed(table[name])
