"""Graphs from adjacency matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import InputError, message
from mercer.kernels.graphs.graph import Graph

SUBJECT = "An adjacency matrix"


def of_matrix(matrix: Any, labels: Any = None, edge_labels: Any = None) -> Graph:
    """A graph from a symmetric matrix of zeros and ones, labels of its nodes, and labels of its edges.

    edge_labels : a dict {(u, v): label}, in either direction; or a list in the order of the ones on and above the
        diagonal, row by row
    """
    cells = _cells(matrix)
    edges = _edges(cells)
    if isinstance(edge_labels, Mapping):
        edge_labels = [_label(edge_labels, u, v) for u, v in edges.tolist()]
    return Graph(cells.shape[0], edges, labels, edge_labels)


def _cells(matrix: Any) -> Any:
    """The cells that are not zero; the matrix is square."""
    sparse = is_sparse(matrix)
    raw = matrix if sparse else _array(matrix)
    if raw.ndim != 2 or raw.shape[0] != raw.shape[1]:
        got = f"got an array of shape {raw.shape}"
        raise InputError(
            message("as many rows as columns", got, "Give tuples (matrix, labels) for labels.", subject=SUBJECT)
        )
    if raw.dtype.kind not in "biuf":
        raise InputError(
            message("zeros and ones", f"got dtype {raw.dtype}", "Give numbers or booleans.", subject=SUBJECT)
        )
    cells = coo_array(raw)
    cells.sum_duplicates()
    cells.eliminate_zeros()
    bad = np.flatnonzero(cells.data != 1)
    if len(bad):
        u, v = cells.row[bad[0]], cells.col[bad[0]]
        remedy = "Kernels of graphs know no weights: give matrix != 0 to forget them."
        raise InputError(message("zeros and ones", f"cell ({u}, {v}) is {cells.data[bad[0]]}", remedy, subject=SUBJECT))
    return cells


def _array(matrix: Any) -> Any:
    try:
        return np.asarray(matrix)
    except ValueError as error:  # rows of different lengths
        raise InputError(
            message("rows of equal length", f"NumPy says: {error}", "Give an array.", subject=SUBJECT)
        ) from error


def _edges(cells: Any) -> Any:
    """The cells on and above the diagonal, row by row; an error where those below are others."""
    n, row, column = cells.shape[0], cells.row.astype(np.int64), cells.col.astype(np.int64)
    here, there = np.sort(row * n + column), np.sort(column * n + row)
    if not np.array_equal(here, there):
        u, v = divmod(int(np.setdiff1d(here, there)[0]), n)
        got = f"cell ({u}, {v}) is one and ({v}, {u}) is zero"
        remedy = "Give (matrix + matrix.T) != 0 to forget directions."
        raise InputError(message("symmetry", got, remedy, subject=SUBJECT))
    above = here[here // n <= here % n] if n else here
    return np.column_stack([above // n, above % n]) if n else np.empty((0, 2), np.int64)


def _label(labels: Mapping[Any, Any], u: int, v: int) -> Any:
    for pair in ((u, v), (v, u)):
        if pair in labels:
            return labels[pair]
    got = f"edge ({u}, {v}) has none"
    raise InputError(message("a label for each edge", got, "Give it under (u, v) or (v, u).", subject="Graph"))
