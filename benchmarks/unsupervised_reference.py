"""Eigenvectors of a centred kernel matrix by block subspace iteration in float64, for comparison; not timed."""

from __future__ import annotations

import numpy as np
from alone import Found, alone
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from tables import Array
from unsupervised_rows import Rows

from mercer.kernels import Gaussian
from mercer.operators import Gram

RESIDUAL = 1e-8
"""|K v - value v| over the largest value, at which it ends."""
MOST = 60
"""Products, at most."""
BLOCK = 40
"""Vectors that are iterated: the more beyond those that count, the fewer products."""
SAMPLE = 3_000
"""Rows whose eigenvectors, extended to all rows, are the start."""
LOOKED = 100
"""Rows of a product that are computed again from the definition."""


def computed(rows: Rows, count: int, seconds: float) -> Found:
    """The reference of some rows; what was computed before is read from beside them."""
    file = rows.file.with_name(f"reference-{rows.count}-{count}.npz")
    if not file.exists():
        found = alone(iterated, rows, count, seconds=seconds)
        if found["residual"] <= RESIDUAL:
            np.savez(file, **found)
        return found
    with np.load(file) as kept:
        return {name: kept[name] if kept[name].ndim else kept[name].item() for name in kept.files}


def iterated(rows: Rows, count: int) -> Found:
    """V <- orthonormal columns of P K P V, turned by Rayleigh and Ritz, until the first residuals are small."""
    X, length = rows.values().astype(np.float64), rows.length
    K = Gram(Gaussian(length), X)
    V = _start(X, length)
    for step in range(1, MOST + 1):
        W = _centred(K @ V)
        values, turn = eigh(V.T @ W)
        values, turn = values[::-1], turn[:, ::-1]
        V, W = V @ turn, W @ turn
        left = np.linalg.norm(W[:, :count] - V[:, :count] * values[:count], axis=0)
        residual = float(left.max() / values[0])
        print(f"    reference: product {step}, residual {residual:.1e}", flush=True)
        if residual <= RESIDUAL:
            break
        V = np.linalg.qr(W)[0]
    near = ", ".join(f"{values[place]:.6g}" for place in (0, count - 1, count))
    found = {"basis": V[:, :count], "values": values[:count], "steps": step, "residual": residual, "near": near}
    return found | {"off": _checked(K, X, length, V)}


def _start(X: Array, length: float) -> Array:
    some = X[: min(SAMPLE, len(X) // 2)]
    vectors = eigh(_kernel(some, some, length))[1][:, -BLOCK:]
    return np.linalg.qr(_centred(Gram(Gaussian(length), X, some) @ vectors))[0]


def _centred(V: Array) -> Array:
    return np.asarray(V - V.mean(axis=0))


def _kernel(X: Array, Z: Array, length: float) -> Array:
    return np.asarray(np.exp(cdist(X, Z, "sqeuclidean") / (-2 * length**2)))


def _checked(K: Gram, X: Array, length: float, V: Array) -> float:
    """How far products are from the definition, in some rows, relative to their size."""
    some = np.linspace(0, len(X) - 1, LOOKED).astype(int)
    V = V[:, :2]
    true = _kernel(X[some], X, length) @ V
    return float(np.abs((K @ V)[some] - true).max() / np.abs(true).max())
