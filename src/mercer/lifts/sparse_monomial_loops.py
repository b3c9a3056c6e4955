"""All monomials of a family for the rows of a sparse table, as a sparse table.

A row with l stored numbers has the monomials of l columns, in the same order: their values come about as in a dense
table of l columns, and their places by adding where values are multiplied (`Family.moves`). Nothing has the size of all
monomials, of which there may be billions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.runtime import threads
from mercer.kernels.strings.sequences import spread
from mercer.lifts.monomial_index import Family

Array = NDArray[Any]
Weights = Callable[[int], Array]
"""The weights of the family's monomials in so many columns."""

MIN_COMPILED_NUMBERS = 1 << 18
"""Stored numbers from which on compiled loops are used: NumPy, which writes out all places, is ten times as slow."""
PIECE_NUMBERS = 1 << 18
"""Stored numbers that a worker writes between two looks at the stop flag."""

ONE = np.uintp(1)
"""Integers are unsigned: Numba then asks of no place whether it counts from the end."""


@compiled()
def run(
    x: Any,
    move: Any,
    values: Array,
    places: Array,
    source: np.uintp,
    length: np.uintp,
    out_values: Array,
    out_places: Array,
    target: np.uintp,
) -> None:
    """Monomials times one more column, which moves their places."""
    for k in range(length):
        out_values[target + k] = x * values[source + k]
    for k in range(length):
        out_places[target + k] = places[source + k] + move


@compiled()
def weigh(weights: Array | None, end: np.uintp, values: Array, first: np.uintp, length: np.uintp) -> None:
    """Multiply monomials of a degree by their weights, which end somewhere."""
    if weights is not None:
        start = end - length
        for k in range(length):
            values[first + k] *= weights[start + k]


@compiled()
def expand_loop(
    i0: np.uintp,
    i1: np.uintp,
    starts: Array,
    columns: Array,
    data: Array,
    numbers: Array,
    moves: Array,
    lowest: np.uintp,
    skip: np.uintp,
    weights: Array | None,
    ends: Array,
    begins: Array,
    out_values: Array,
    out_places: Array,
) -> None:
    """The monomials of rows i0 to i1.

    numbers[q, l] are the monomials of degree q in l columns; moves[q, c] is how far column c in front moves a place;
    the weights of l columns are the last ones of each degree, and those of degree q end at ends[q].
    """
    degree, widest = np.uintp(len(numbers) - 1), numbers.shape[1] - 1
    inside = max(degree, ONE + ONE)
    size = ONE + numbers[1:inside, widest].sum()
    values, places = np.empty(size, data.dtype), np.empty(size, np.int64)
    values[0], places[0] = 1, 0
    unit = values[0]
    for i in range(i0, i1):
        first, width, out = starts[i], starts[i + ONE] - starts[i], begins[i]
        for j in range(width):
            values[ONE + j] = data[first + j]
            places[ONE + j] = moves[1, columns[first + j]]
        at = ONE + width
        for q in range(ONE + ONE, degree):
            target = at
            for j in range(width):
                x, move = data[first + j], moves[q, columns[first + j]]
                length = numbers[q - ONE, width - j - skip]
                run(x, move, values, places, at - length, length, values, places, target)
                target += length
            at = target
        source = np.uintp(0)
        for q in range(inside):
            length = numbers[q, width]
            if q >= lowest:
                run(unit, 0, values, places, source, length, out_values, out_places, out)
                weigh(weights, ends[q], out_values, out, length)
                out += length
            source += length
        if degree > ONE:
            target = out
            for j in range(width):
                x, move = data[first + j], moves[degree, columns[first + j]]
                length = numbers[degree - ONE, width - j - skip]
                run(x, move, values, places, at - length, length, out_values, out_places, target)
                target += length
            weigh(weights, ends[degree], out_values, out, target - out)


def expand(X: Any, family: Family, weights: Weights | None = None, workers: int | None = None) -> Any:
    """The monomials of each row of a sparse table of the family's columns, times a weight each; sorted.

    Time and memory are those of the stored numbers of the result. Its indices are of 64 bits where they must be.

    X : compressed rows of float32 or float64, which the result keeps
    weights : gives the weights of all monomials of so many columns; None for all 1
    """
    rows = sorted_rows(X)
    task = _Task(rows, family, weights)
    with np.errstate(all="ignore"):
        if task.stored >= MIN_COMPILED_NUMBERS and jit_cache.numba_works():
            task.by_loops(threads.count(workers))
        else:
            task.by_numpy()
    result = type(X)((task.values, task.places, task.begins.astype(task.index)), shape=(rows.shape[0], family.count))
    result.has_canonical_format = True
    return result


def stored(X: Any, family: Family) -> int:
    """How many numbers `expand` will store; exact, however many."""
    widths, rows = np.unique(np.diff(X.indptr), return_counts=True)
    return sum(m * replace(family, width=w).count for w, m in zip(widths.tolist(), rows.tolist(), strict=True))


def sorted_rows(X: Any) -> Any:
    """Compressed rows whose columns ascend, none stored twice; the given table stays as it is."""
    if X.has_canonical_format:
        return X
    own = X.copy()
    own.sum_duplicates()
    return own


class _Task:
    """A table, a family, and the arrays of the result."""

    def __init__(self, rows: Any, family: Family, weights: Weights | None) -> None:
        self.rows, self.family = rows, family
        self.widths = np.diff(rows.indptr).astype(np.int64)
        widest = int(self.widths.max(initial=0))
        self.numbers, self.moves = family.numbers(widest), family.moves()
        self.skip = int(not family.repeated)
        # The monomials of fewer columns are the last ones of each degree, and so are their weights.
        self.weights = None if weights is None else weights(widest).astype(rows.dtype)
        self.ends = np.cumsum(np.where(np.arange(len(self.numbers)) < family.lowest, 0, self.numbers[:, -1]))
        per_row = self.numbers[family.lowest :].sum(axis=0)[self.widths]
        self.begins = np.concatenate([[0], np.cumsum(per_row)])
        self.stored = int(self.begins[-1])
        self.index = np.int32 if max(self.stored, family.count) <= np.iinfo(np.int32).max else np.int64
        self.values = np.empty(self.stored, rows.dtype)
        self.places = np.empty(self.stored, self.index)

    def pieces(self) -> list[tuple[int, int]]:
        """First and last rows of pieces of work."""
        cuts = np.searchsorted(self.begins, np.arange(0, self.stored, PIECE_NUMBERS))
        return list(pairwise(np.unique(np.append(cuts, [0, self.rows.shape[0]])).tolist()))

    def by_loops(self, workers: int) -> None:
        """By compiled loops."""
        pieces = self.pieces()
        whole = (self.rows.indptr, self.rows.indices, self.numbers, self.ends, self.begins)
        starts, columns, numbers, ends, begins = (part.astype(np.uintp) for part in whole)
        lowest, skip = np.uintp(self.family.lowest), np.uintp(self.skip)

        def work(worker: int, piece: tuple[int, int], stop: threads.Stop) -> None:
            first, last = np.uintp(piece[0]), np.uintp(piece[1])
            given = (starts, columns, self.rows.data, numbers, self.moves, lowest, skip)
            expand_loop(first, last, *given, self.weights, ends, begins, self.values, self.places)
            stop.step(worker, piece[1] - piece[0])

        dealt = [pieces[worker::workers] for worker in range(max(1, min(workers, len(pieces))))]
        threads.run(work, dealt, self.rows.shape[0])

    def by_numpy(self) -> None:
        """With NumPy, in one thread."""
        for first, last in self.pieces():
            self._block(first, last)

    def _block(self, first: int, last: int) -> None:
        """The rows of a piece: the same runs, written out as lists of places."""
        widths, targets = self.widths[first:last], self.begins[first:last]
        for q, (values, places) in enumerate(self._degrees(first, last)):
            if q >= self.family.lowest:
                many = self.numbers[q, widths]
                here = spread(targets, many)
                self.values[here], self.places[here] = values, places
                if self.weights is not None:
                    self.values[here] *= self.weights[spread(self.ends[q] - many, many)]
                targets = targets + many

    def _degrees(self, first: int, last: int) -> Iterator[tuple[Array, Array]]:
        """Values and places of all monomials of degree 0, 1, ..., row after row."""
        starts, widths = self.rows.indptr[first : last + 1].astype(np.int64), self.widths[first:last]
        columns, data = (part[starts[0] : starts[-1]] for part in (self.rows.indices, self.rows.data))
        rest = np.repeat(starts[1:] - starts[0], widths) - np.arange(len(data))  # the stored numbers from each one on
        values, places = np.ones(len(widths), data.dtype), np.zeros(len(widths), np.int64)
        yield values, places
        for q in range(1, self.family.degree + 1):
            ends, lengths = np.cumsum(self.numbers[q - 1, widths]), self.numbers[q - 1, rest - self.skip]
            sources = spread(np.repeat(ends, widths) - lengths, lengths)
            values = np.repeat(data, lengths) * values[sources]
            places = np.repeat(self.moves[q][columns], lengths) + places[sources]
            yield values, places
