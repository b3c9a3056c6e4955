"""Rows of a kernel matrix that are kept once they were computed, as many as fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.operators import Operator

Rows = NDArray[np.intp]
MIN_WORKING_SETS = 4
"""Working sets that the cache holds, at least."""


class Buffer:
    """A buffer reused across kernel caches: allocating a new one takes longer than filling it."""

    def __init__(self) -> None:
        self._kept: NDArray[Any] = np.empty(0)

    def take(self, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """So many numbers of any value, until the next call."""
        if self._kept.dtype != dtype or len(self._kept) < count:
            self._kept = np.empty(0)  # freed before more is allocated
            self._kept = np.empty(count, dtype)
        return self._kept[:count]


class KernelCache:
    """Rows of a symmetric operator: computed when they are first needed, and kept; the oldest make room.

    numbers : how many numbers it may hold; it takes more where that is too few to work with
    most : rows that are fetched at once, at most
    buffer : where its numbers are; None for one of its own
    """

    def __init__(self, K: Operator, numbers: float, most: int, buffer: Buffer | None = None) -> None:
        n = K.shape[0]
        self._most = most
        count = int(max(min(n, MIN_WORKING_SETS * most) * n, min(n * n, numbers)))
        self._memory = (buffer or Buffer()).take(count, K.dtype)
        self.computed = 0
        self.take(K)

    def take(self, K: Operator) -> None:
        """Go over to an operator of as many rows at most; nothing is known of it."""
        n = K.shape[0]
        size = min(n, len(self._memory) // n)
        self.K, self.values = K, self._memory[: size * n].reshape(size, n)
        self._slots, self._holds, self._hand = np.full(n, -1, np.intp), np.full(size, -1, np.intp), 0

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows are there."""
        return self._slots >= 0

    @property
    def slots(self) -> Rows:
        """Where each row stands in `values`, -1 for those that are not there."""
        return self._slots

    def fetch(self, rows: Rows) -> Rows:
        """Where these rows stand in `values`, after computing those that are missing."""
        missing = rows[self._slots[rows] < 0]
        if len(missing) == 0:
            return self._slots[rows]
        start = self._room(rows, len(missing))
        if start is None:
            self.take(self.K)
            return self.fetch(rows)
        part = slice(start, start + len(missing))
        gone = self._holds[part]
        self._slots[gone[gone >= 0]] = -1
        self.K.fill(missing, self.values[part])
        self._holds[part], self._slots[missing] = missing, np.arange(part.start, part.stop)
        self._hand, self.computed = part.stop, self.computed + len(missing)
        return self._slots[rows]

    def _room(self, wanted: Rows, count: int) -> int | None:
        """Where so many slots stand side by side that hold none of the wanted rows: the oldest. None where none do."""
        taken = np.zeros(len(self.values) + 1, np.intp)
        here = self._slots[wanted]
        taken[1 + here[here >= 0]] = 1
        sums = np.cumsum(taken)
        clear = np.flatnonzero(sums[count:] == sums[: len(sums) - count])
        later = clear[clear >= self._hand]
        return int(later[0]) if len(later) else int(clear[0]) if len(clear) else None

    def shrink(self, rows: Rows, K: Operator) -> None:
        """Keep some rows and columns, in order; K is the operator of these alone. What was computed of them stays."""
        old, holds = self.values, self._holds
        kept = np.full(old.shape[1], -1, np.intp)
        kept[rows] = np.arange(len(rows))
        self.take(K)
        at = 0
        for slot in np.flatnonzero(holds >= 0):  # upwards: what is written has been read
            place = kept[holds[slot]]
            if place >= 0 and at < len(self.values):
                self.values[at] = old[slot][rows]
                self._holds[at], self._slots[place] = place, at
                at += 1
        self._hand = at
