"""Exact numbers for tuples of numbers, and tables of how often each occurs in each graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Whole = NDArray[np.int64]
MAX_CODE = 1 << 62
"""What a number that stands for a tuple stays below."""


def ranked(*parts: Whole) -> Whole:
    """The place of each tuple of non-negative integers among all different ones, in the order of the dictionary.

    It depends on the order of the numbers alone, and not on how large they are. So what keeps the order of the parts
    keeps that of the ranks: tuples that come later put new ranks between, and swap none. Exact: nothing is hashed.
    """
    key = parts[0]
    for part in parts[1:]:
        if _size(key) * _size(part) > MAX_CODE:
            key, part = _dense(key), _dense(part)  # ranks stay below the number of tuples
        key = key * np.int64(_size(part)) + part
    return _dense(key)


def _dense(key: Whole) -> Whole:
    """The rank of each number among all different ones."""
    bits = len(key).bit_length()
    if _size(key) > MAX_CODE >> bits:
        return np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64)
    packed = key << bits | np.arange(len(key))  # numbers with their places: sorting these is faster than by places
    packed.sort()
    ordered, found = packed >> bits, np.empty(len(key), np.int64)
    found[packed & ((1 << bits) - 1)] = np.cumsum(np.concatenate([[False], ordered[1:] != ordered[:-1]])[: len(key)])
    return found


def _size(part: Whole) -> int:
    return int(part.max(initial=-1)) + 1


def table(rows: Whole, columns: Whole, shape: tuple[int, int], counts: NDArray[Any] | None = None) -> Any:
    """How often each column occurs in each row, or the sum of counts that come beside them: a csr_array of float64."""
    width = max(1, shape[1])
    keys = rows * np.int64(width) + columns
    if counts is None:
        found, sums = np.unique(keys, return_counts=True)
    else:
        found, places = np.unique(keys, return_inverse=True)
        sums = np.bincount(places, counts, len(found))
    begins = np.searchsorted(found, np.arange(shape[0] + 1) * np.int64(width))
    return csr_array((sums.astype(np.float64), found % width, begins), shape=shape)
