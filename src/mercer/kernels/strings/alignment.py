"""Edit distances and longest common subsequences of pairs of strings, by dynamic programming, many pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.strings.sequences import Sequences, Whole

Places = NDArray[np.intp]
Lines = Callable[[Whole, Whole], Iterator[Whole]]
"""From strings S[:, p] and T[:, p] to lines: the i-th holds the values of S[:i, p] with all beginnings of T[:, p]."""

BATCH_PAIRS = 1 << 12
"""Pairs at once."""
NO_LEFT, NO_RIGHT = -1, -2
"""What stands behind the end of a shorter string: equal to nothing on the other side."""


def edit_distances(sequences: Sequences, left: Places, right: Places) -> Whole:
    """How many symbols must be put in, taken out or replaced, at least, for each pair. Cost: |x| |z| steps per pair."""
    return _batched(sequences, left, right, _edited)


def common_lengths(sequences: Sequences, left: Places, right: Places) -> Whole:
    """How long the longest common subsequence of each pair is. Cost: |x| |z| steps per pair."""
    return _batched(sequences, left, right, _shared)


def _batched(sequences: Sequences, left: Places, right: Places, lines: Lines) -> Whole:
    """The value of each pair: where its two strings end, since those of a batch have different lengths."""
    found = np.empty(len(left), dtype=np.int64)
    for start in range(0, len(left), BATCH_PAIRS):
        i, j = left[start : start + BATCH_PAIRS], right[start : start + BATCH_PAIRS]
        heights, widths = sequences.lengths[i], sequences.lengths[j]
        for row, line in enumerate(lines(sequences.beside(i, NO_LEFT), sequences.beside(j, NO_RIGHT))):
            ended = np.flatnonzero(heights == row)
            found[start + ended] = line[widths[ended], ended]
    return found


def _edited(S: Whole, T: Whole) -> Iterator[Whole]:
    places = np.arange(len(T) + 1)[:, None]
    line = np.tile(places, T.shape[1])
    yield line
    for i, symbol in enumerate(S):
        best = np.minimum(line[:-1] + (symbol != T), line[1:] + 1)
        best = np.concatenate([np.full((1, T.shape[1]), i + 1), best])
        line = np.minimum.accumulate(best - places, axis=0) + places  # a symbol more of T costs 1
        yield line


def _shared(S: Whole, T: Whole) -> Iterator[Whole]:
    line = np.zeros((len(T) + 1, T.shape[1]), dtype=np.int64)
    yield line
    for symbol in S:
        best = np.maximum(line[:-1] + (symbol == T), line[1:])
        line = np.concatenate([line[:1], np.maximum.accumulate(best, axis=0)])
        yield line
