"""The sign of a component: the entry of its eigenvector that is largest in size is positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.operators.dense import tiles

Array = NDArray[np.float64]
TIE_TOLERANCE = 1e-5
"""Entries that differ in size by less than this part count as equal, and the first of them decides."""


class Signs:
    """1 or -1 for each of some columns, of rows that come in pieces."""

    def __init__(self, columns: int) -> None:
        self._largest = np.zeros(columns)
        self._deciding = np.zeros(columns)

    def add(self, rows: Array) -> None:
        """Rows that come after those before: their entries, or any multiples of these that are positive."""
        for part in tiles(len(rows), max(1, rows.shape[1])):
            self._add(rows[part])

    def _add(self, rows: Array) -> None:
        sizes = np.abs(rows)
        largest = sizes.max(axis=0)
        first = np.argmax(sizes >= (1 - TIE_TOLERANCE) * largest, axis=0)
        self._largest = np.maximum(self._largest, largest)
        later = np.abs(self._deciding) < (1 - TIE_TOLERANCE) * self._largest
        self._deciding = np.where(later, rows[first, np.arange(rows.shape[1])], self._deciding)

    @property
    def signs(self) -> Array:
        """Of all rows so far; 1 for columns of zeros."""
        return np.where(self._deciding < 0, -1.0, 1.0)


def signs_of(vectors: Array) -> Array:
    """The signs that make the largest entry of each column positive.

    >>> signs_of(np.array([[0.6, 0.7], [-0.8, -0.7]]))
    array([-1.,  1.])
    """
    signs = Signs(vectors.shape[1])
    signs.add(vectors)
    return signs.signs
