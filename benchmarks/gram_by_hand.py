"""A Gaussian's matrix times a vector as one would write it for float32 alone: a tile from BLAS, then one compiled loop.

It has no tail: exponents are rounded like all numbers of float32, so that values near exp(-20) are off by some 1e-6 of
themselves. There are no other formulas, no centring and no second column.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mercer.compute.runtime.threads import available, one_thread_blas

Array = NDArray[Any]
ROWS, COLUMNS = 128, 512
COEFFICIENTS = tuple(
    map(np.float32, (1.0, 0.6931472, 0.24022649, 0.055503573, 0.009618238, 0.0013390735, 0.00015403517))
)
ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN = COEFFICIENTS
LOWEST, BIAS, MANTISSA = np.float32(-126), np.int32(127), np.int32(23)


@njit(fastmath=True, nogil=True, boundscheck=False, error_model="numpy")
def sums(tile: Array, v: Array, out: Array) -> None:
    """2^t summed against a vector, by rows; below 2^-126 it is that."""
    for i in range(tile.shape[0]):
        row, total = tile[i], np.float32(0)
        for j in range(row.shape[0]):
            t = max(row[j], LOWEST)
            n = np.rint(t)
            f = t - n
            p = (((((SEVEN * f + SIX) * f + FIVE) * f + FOUR) * f + THREE) * f + TWO) * f + ONE
            total += p * np.int32((np.int32(n) + BIAS) << MANTISSA).view(np.float32) * v[j]
        out[i] += total


def by_hand(X: Array, Z: Array, v: Array, gamma: float) -> Callable[[], Array]:
    """exp(-gamma |x - z|^2) times a vector; norms are columns of the product, and both sides are ready before."""
    scale = gamma / np.log(2)  # of a base of 2
    x, z = X.astype(float), Z.astype(float)
    sizes = [-scale * (side**2).sum(axis=1, keepdims=True) for side in (x, z)]
    rows = np.hstack([2 * scale * x, sizes[0], np.ones_like(sizes[0])]).astype(np.float32)
    columns = np.ascontiguousarray(np.hstack([z, np.ones_like(sizes[1]), sizes[1]]).T, dtype=np.float32)
    pool = ThreadPoolExecutor(available())

    def product() -> Array:
        out = np.zeros(len(rows), np.float32)

        def stripe(i: int) -> None:
            part = rows[i : i + ROWS]
            buffer = np.empty(len(part) * COLUMNS, np.float32)
            for j in range(0, columns.shape[1], COLUMNS):
                panel = columns[:, j : j + COLUMNS]
                tile = buffer[: len(part) * panel.shape[1]].reshape(len(part), -1)
                np.matmul(part, panel, out=tile)
                sums(tile, v[j : j + COLUMNS], out[i : i + ROWS])

        with one_thread_blas():
            list(pool.map(stripe, range(0, len(rows), ROWS)))
        return out

    return product
