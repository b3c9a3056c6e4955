"""Whom Gram matrices meet, each called as its own documentation advises: scikit-learn, KeOps, NumPy by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from alone import Failed, Found, alone, measured
from numpy.typing import NDArray
from peers import tried
from sklearn.metrics import pairwise
from threadpoolctl import threadpool_limits

from mercer.kernels import Gaussian, Kernel, Min, ProductLaplace, Subsets
from mercer.operators import Gram

Array = NDArray[Any]
Action = Callable[[], Array]

TILE = (16, 1024)
"""Rows and columns of a tile in NumPy by hand: it and its buffer, 256 kB, stay in the second-level cache."""
WARM = 1_100
"""Rows of a first product, which loads and compiles."""


@cache
def keops_trouble() -> str:
    """Why KeOps cannot be used here; nothing where it can."""
    return tried("pykeops")


def scikit_learn_product(X: Any, Z: Any, v: Array, gamma: float) -> Action:
    """exp(-gamma |x - z|^2) times a vector: the matrix is made, multiplied and dropped."""
    return lambda: np.asarray(pairwise.rbf_kernel(X, Z, gamma=gamma) @ v)


def scikit_learn_matrix(name: str, X: Array, Z: Array, gamma: float) -> Action:
    """A kernel of scikit-learn's; Z is left out where it is X."""
    return lambda: np.asarray(getattr(pairwise, name)(X, None if Z is X else Z, gamma=gamma))


def keops_product(X: Array, Z: Array, v: Array, gamma: float) -> Action:
    """exp(-gamma |x - z|^2) times a vector, on a formula that is built once, from data that is scaled once."""
    LazyTensor = import_module("pykeops.numpy").LazyTensor
    scale = X.dtype.type(gamma**0.5)
    x, z = LazyTensor(scale * X[:, None, :]), LazyTensor(scale * Z[None, :, :])
    K = (-x.sqdist(z)).exp()
    return lambda: np.asarray(K.__matmul__(v[:, None], backend="CPU"))


def coordinate_matrices(kernel: Kernel, X: Array, Z: Array) -> dict[str, Action]:
    """Several ways to write a kernel of the coordinates."""
    tiled, cores = TILED[type(kernel)], os.cpu_count() or 1
    ways: dict[str, Action] = {
        "NumPy, tiles, 1 thread": lambda: tiled.matrix(X, Z, 1),
        "NumPy, tiles, all threads": lambda: tiled.matrix(X, Z, cores),
    }
    if isinstance(kernel, Subsets):
        ways["NumPy, products of lifts"] = lambda: lifted_subsets(X, Z, cores)
    if isinstance(kernel, ProductLaplace):
        ways["scikit-learn"] = scikit_learn_matrix("laplacian_kernel", X, Z, 1 / float(kernel.lengthscale))
    return ways


@dataclass(frozen=True)
class Tiled:
    """A kernel of the coordinates in NumPy, tile by tile, in place, without a temporary."""

    term: Callable[[Array, Array, Array], object]
    join: np.ufunc
    finish: Callable[[Array], object] = lambda total: None

    def matrix(self, X: Array, Z: Array, threads: int) -> Array:
        out = np.empty((len(X), len(Z)))
        columns = np.ascontiguousarray(Z.T)

        def stripe(i: int) -> None:
            total, part = np.empty((2, *TILE))
            for j in range(0, len(Z), TILE[1]):
                place = out[i : i + TILE[0], j : j + TILE[1]]
                inside = np.s_[: place.shape[0], : place.shape[1]]
                place[:] = self._tile(X[i : i + TILE[0]], columns[:, j : j + TILE[1]], total[inside], part[inside])

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(stripe, range(0, len(X), TILE[0])))
        return out

    def _tile(self, x: Array, z: Array, total: Array, part: Array) -> Array:
        self.term(x[:, :1], z[0], total)
        for k in range(1, len(z)):
            self.term(x[:, k : k + 1], z[k], part)
            self.join(total, part, out=total)
        self.finish(total)
        return total


def _one_plus_product(x: Array, z: Array, out: Array) -> None:
    np.multiply(x, z, out=out)
    np.add(out, 1.0, out=out)


def _absolute_difference(x: Array, z: Array, out: Array) -> None:
    np.subtract(x, z, out=out)
    np.abs(out, out=out)


def _decay(total: Array) -> None:
    np.divide(total, -3.0, out=total)
    np.exp(total, out=total)


TILED: dict[type[Kernel], Tiled] = {
    Subsets: Tiled(_one_plus_product, np.multiply),
    Min: Tiled(lambda x, z, out: np.minimum(x, z, out=out), np.add),
    ProductLaplace: Tiled(_absolute_difference, np.add, _decay),
}


def lifted_subsets(X: Array, Z: Array, threads: int, groups: int = 2, rows: int = 64) -> Array:
    """The all-subsets kernel as a product of a few inner products: BLAS does most of the work.

    The product over a group of g coordinates is the inner product of their 2^g subsets.
    """
    parts = np.array_split(np.arange(X.shape[1]), groups)
    left, right = [_lift(X[:, part]) for part in parts], [_lift(Z[:, part]).T.copy() for part in parts]
    out = np.empty((len(X), len(Z)))

    def stripe(i: int) -> None:
        place = out[i : i + rows]
        np.matmul(left[0][i : i + rows], right[0], out=place)
        for phi, psi in zip(left[1:], right[1:], strict=True):
            np.multiply(place, phi[i : i + rows] @ psi, out=place)

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(stripe, range(0, len(X), rows)))
    return out


def _lift(X: Array) -> Array:
    """The products of the coordinates of every subset."""
    features = np.ones((len(X), 1))
    for column in X.T:
        features = np.hstack([features, features * column[:, None]])
    return features


# -- memory, each in a process of its own --------------------------------------------------------------------------


def product_of(who: str, X: Array, Z: Array, v: Array) -> Action:
    """The Gaussian's matrix times a vector, by somebody, with all that has to be built for it."""
    gamma = 1 / (2 * X.shape[1])
    if who == "ours":
        return lambda: Gram(Gaussian(X.shape[1] ** 0.5), X, Z) @ v
    return scikit_learn_product(X, Z, v, gamma) if who == "scikit-learn" else keops_product(X, Z, v, gamma)


def matrix_of(who: str, X: Array, Z: Array, v: Array) -> Action:
    """The Gaussian's matrix itself."""
    if who == "ours":
        return lambda: Gaussian(X.shape[1] ** 0.5)(X, Z)
    return scikit_learn_matrix("rbf_kernel", X, Z, 1 / (2 * X.shape[1]))


def peak(make: Callable[[str, Array, Array, Array], Action], who: str, n: int, d: int, dtype: str) -> Found:
    rng = np.random.default_rng(0)
    X, Z, v = (rng.standard_normal((n, columns)).astype(dtype) for columns in (d, d, 1))
    make(who, X[:WARM], Z[:WARM], v[:WARM, 0])()
    return measured(make(who, X, Z, v[:, 0]))[1]


def peaks(make: Callable[..., Action], peer: str, n: int, d: int, dtype: str) -> tuple[float, float] | None:
    """Megabytes of ours and of a peer; None where a process failed."""
    try:
        return added(make, "ours", n, d, dtype), added(make, peer, n, d, dtype)
    except Failed:
        return None


@cache
def added(make: Callable[..., Action], who: str, n: int, d: int, dtype: str) -> float:
    """Megabytes of one side, once for all whom it meets."""
    return float(alone(peak, make, who, n, d, dtype)["megabytes"])
