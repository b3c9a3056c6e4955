"""The board of this process: rows of the matrix are kept once they were computed, as many as fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.board import Box
from mercer.operators import Operator
from mercer.solvers.svm.box_qp import Array, BoxQP
from mercer.solvers.svm.kernel_cache import KernelCache
from mercer.solvers.svm.smo import add_rows, square

Rows = NDArray[np.intp]
MAX_NEW_SHARE = 0.5
"""The part of the coefficients that join a working set that may be any; the others have rows that are known."""


class CachedBoard:
    """A `Board` (`mercer.backends.board`) in this process.

    K : the matrix of all rows
    pool : where rows are kept
    """

    def __init__(self, K: Operator, pool: KernelCache) -> None:
        self.whole, self.pool = K, pool

    def begin(self, rows: Rows, box: Box, b: Array, g: Array) -> None:
        self._rows, self._recent = rows, np.zeros(0, np.intp)
        self._box, self._b, self._g = BoxQP(g, box.lower, box.upper, box.kink), b.copy(), g
        self.pool.take(self.whole if len(rows) == self.whole.shape[0] else self.whole.part(rows))

    def ends(self) -> tuple[float, float]:
        self._rises, self._falls = self._box.rises(self._b, self._g), self._box.falls(self._b, self._g)
        self._low, self._high = float(self._rises.min()), float(self._falls.max())
        return self._low, self._high

    def shrink(self, share: float) -> Rows | None:
        kept = np.flatnonzero((self._rises < self._high) | (self._falls > self._low))
        if len(kept) > share * len(self._b):
            return None
        self._rows, self._recent = self._rows[kept], np.zeros(0, np.intp)
        self._box, self._b, self._g = self._box.part(kept), self._b[kept], self._g[kept]
        self.pool.shrink(kept, self.whole.part(self._rows))
        return kept

    def chosen(self, size: int) -> Rows:
        self._recent = _chosen(self._rises, self._falls, self._recent, self.pool.known, size)
        return self._recent

    def square(self, chosen: Rows) -> tuple[NDArray[Any], Array]:
        self._slots = self.pool.fetch(chosen)
        return square(self.pool.values, self._slots, chosen), self._g[chosen]

    def move(self, chosen: Rows, b: Array, moves: Array) -> None:
        self._b[chosen], some = b, np.flatnonzero(moves)
        add_rows(self.pool.values, self._slots[some], moves[some], self._g)

    def gradient(self) -> Array:
        return self._g


def _chosen(rises: Array, falls: Array, recent: Rows, known: NDArray[np.bool_], size: int) -> Rows:
    """The working set: the newest of the last one, the worst on both sides of all, and of those whose rows are known.

    The newest stand last.
    """
    n = len(rises)
    if n <= size:
        return np.arange(n)
    kept = recent[-(size // 2) :]
    left = size - len(kept)
    free = np.ones(n, bool)
    free[kept] = False
    found: list[Rows] = []
    for allowed, count in ((None, int(MAX_NEW_SHARE * left) // 2), (known, (left - int(MAX_NEW_SHARE * left)) // 2)):
        for values in (rises, -falls):
            slopes = np.where(free if allowed is None else free & allowed, values, np.inf)
            worst = np.argpartition(slopes, min(count, n - 1))[:count]
            worst = worst[np.isfinite(slopes[worst])]
            free[worst] = False
            found.append(worst)
    return np.concatenate([kept, np.sort(np.concatenate(found))])
