"""What is looked through before the rows of a source are read: its labels, and which rows have a weight."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.learners.data.validation import class_weights_of, weights_of
from mercer.learners.streaming.validate_batch import Head, answers
from mercer.sources.base import Source

Array = NDArray[np.float64]
BLOCK_ROWS = 1 << 16
"""Rows whose targets and weights are looked through at once."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes of a source.

    every : all labels, sorted
    factors : how much a row of each counts, beside its own weight
    classes : those of positive weight
    """

    every: NDArray[Any]
    factors: Array
    classes: NDArray[Any]

    def weights(self, labels: NDArray[Any]) -> Array:
        """The factor of each row."""
        found = np.minimum(np.searchsorted(self.every, labels), len(self.every) - 1)
        strange = np.flatnonzero(self.every[found] != labels)
        if strange.size:
            got = f"{labels[strange[0]]!r} was not there in the first pass"
            raise InputError(message("the same labels in every pass", got, "Give the same rows.", subject="A source"))
        return np.asarray(self.factors[found])

    def coded(self, labels: NDArray[Any]) -> Array:
        """+1 for a class and -1 for the others: one column for two classes, else one per class."""
        found = np.searchsorted(self.classes, labels)
        if len(self.classes) == 2:
            return np.where(found == 1, 1.0, -1.0)[:, None]
        return np.where(found[:, None] == np.arange(len(self.classes)), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Kept:
    """Where rows of positive weight stand.

    before : how many there are before each block of `BLOCK_ROWS` rows, and in all
    total : the sum of all weights
    """

    before: NDArray[np.intp]
    total: float

    def place(self, position: int) -> tuple[int, int]:
        """The row at which to start reading for a position among the kept, and how many kept ones to pass over."""
        block = int(np.searchsorted(self.before[:-1], position, side="right")) - 1
        return block * BLOCK_ROWS, position - int(self.before[block])


def labels_of(source: Source, head: Head, class_weight: Any) -> Labels:
    """All labels, and how much each counts."""
    sums: dict[Any, float] = {}
    dtypes, start = [], 0
    for batch in source.batches(BLOCK_ROWS, what="targets"):
        labels, copies = answers(head, batch, start, coded=True)
        found, inside = np.unique(labels, return_inverse=True)
        for label, weight in zip(found.tolist(), np.bincount(inside, copies).tolist(), strict=True):
            sums[label] = sums.get(label, 0.0) + weight
        dtypes.append(found.dtype)
        start += batch.count
    every = np.array(sorted(sums), dtype=np.result_type(*set(dtypes)))
    return _weighed(every, np.array([sums[label] for label in every.tolist()]), class_weight)


def _weighed(every: NDArray[Any], sums: Array, class_weight: Any) -> Labels:
    factors = np.ones(len(every))
    if class_weight is not None:
        weights = class_weights_of(class_weight, every, sums)
        factors = np.divide(weights, sums, out=np.zeros(len(sums)), where=sums > 0)
    classes = every[sums * factors > 0]
    if len(classes) < 2:
        got = f"there is one class, {classes.tolist()[0]!r}" if len(classes) else "all rows have weight zero"
        raise InputError(message("two classes or more", got, "Check y, or how the rows were selected."))
    return Labels(every, factors, classes)


def kept_of(source: Source, head: Head, labels: Labels | None) -> Kept:
    """Count the rows of positive weight, a block at a time."""
    counts, total, start = [0], 0.0, 0
    for batch in source.batches(BLOCK_ROWS, what="targets"):
        targets, weights = answers(head, batch, start, coded=labels is not None)
        if labels is not None:
            weights = weights * labels.weights(targets)
        counts.append(int(np.count_nonzero(weights)))
        total += float(weights.sum())
        start += batch.count
    weights_of([min(total, sys.float_info.max)], 1)  # complains of a sum that is zero, or not to be squared
    return Kept(np.cumsum(counts), total)
