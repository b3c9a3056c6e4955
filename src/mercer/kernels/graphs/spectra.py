"""The largest eigenvalue of each graph: how fast the number of its walks grows with their length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from mercer.compute.runtime.threads import one_thread_blas
from mercer.kernels.graphs.joined import Joined

MAX_DENSE_NODES = 200
"""Nodes up to which all eigenvalues are computed, of many graphs at once."""
STACK_NUMBERS = 1 << 20
"""Numbers of matrices that are held at once."""


def largest_eigenvalues(graphs: Joined) -> NDArray[np.float64]:
    """Of the adjacency matrix of each graph; 0 where it has no edge. No entry is negative: so none is larger in size.

    Cost: nodes cubed for small graphs; some products with the matrix for large ones.
    """
    found = np.zeros(graphs.count)
    sizes = graphs.sizes
    edged = np.bincount(graphs.owners[graphs.edges[:, 0]], minlength=graphs.count) > 0
    with one_thread_blas():  # more than one only gets in the way of small matrices
        for n in np.unique(sizes[edged & (sizes <= MAX_DENSE_NODES)]).tolist():
            same = np.flatnonzero(edged & (sizes == n))
            step = max(1, STACK_NUMBERS // (n * n))
            for start in range(0, len(same), step):
                part = same[start : start + step]
                found[part] = np.linalg.eigvalsh(_stack(graphs, part, n))[:, -1]
    for g in np.flatnonzero(edged & (sizes > MAX_DENSE_NODES)).tolist():
        found[g] = _large(graphs.matrix(loops=True)[_nodes(graphs, g)][:, _nodes(graphs, g)].astype(np.float64))
    return found


def _nodes(graphs: Joined, g: int) -> slice:
    return slice(int(graphs.starts[g]), int(graphs.starts[g + 1]))


def _stack(graphs: Joined, some: NDArray[np.intp], n: int) -> NDArray[np.float64]:
    """The matrices of some graphs of n nodes."""
    places = np.full(graphs.count, -1)
    places[some] = np.arange(len(some))
    owners = graphs.owners[graphs.edges[:, 0]]
    chosen = places[owners] >= 0
    u, v = (graphs.edges[chosen] - graphs.starts[owners[chosen], None]).T
    stack = np.zeros((len(some), n, n))
    stack[places[owners[chosen]], u, v] = stack[places[owners[chosen]], v, u] = 1.0
    return stack


def _large(matrix: Any) -> float:
    """By Lanczos' method, from a vector that no eigenvector is at right angles to but by chance."""
    try:
        return float(eigsh(matrix, k=1, which="LA", v0=np.linspace(1.0, 2.0, matrix.shape[0]))[0][0])
    except ArpackNoConvergence:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
