"""Gappy subsequences that pairs of sequences share, summed by dynamic programming, many pairs side by side.

For a pair s, t let M_p(i, j) be the sum over subsequences of p symbols in s[:i] and in t[:j] that spell the same, of
decay to the power of the gaps inside and behind them. A pair of equal symbols s[i], t[j] lengthens those of
M_(p-1)(i, j) by one, so with the sum R over t[:j] at a fixed i

    R_p(i, j + 1) = decay R_p(i, j) + M_(p-1)(i, j) [s_i = t_j],    M_p(i + 1, j) = decay M_p(i, j) + R_p(i, j),

and those of `length` symbols are the M_(length-1)(i, j) at all equal pairs, summed. Nothing is subtracted, so that
nothing cancels. A processor works on `LANES` pairs at once: each step of the recursion is taken for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads
from mercer.compute.runtime.memory import Budget
from mercer.kernels.strings.sequences import Sequences, Whole

Array = NDArray[np.float64]
Places = NDArray[np.intp]

LANES = 32
"""Pairs that compiled loops work on at once."""
NUMPY_PAIRS = 1 << 12
"""Pairs that NumPy works on at once."""
CALL_STEPS = 1 << 18
"""Steps of the recursion (for all lanes) in one call: some milliseconds."""
MIN_COMPILED_STEPS = 1 << 14
"""Steps from which on compiled loops are used: below it, loading them takes longer than NumPy does."""
NO_LEFT, NO_RIGHT = -1, -2
"""What stands behind the end of a shorter sequence: equal to nothing on the other side."""

CONTRACT = frozenset({"contract"})
"""A product and a sum may be rounded once."""

# Of the compiled loops `left` and `right` hold symbols, and `sums` the M_p of the recursion.


@compiled(fastmath=CONTRACT)
def fill(codes: Whole, starts: Whole, who: Places, filler: int, size: int, out: Whole) -> None:
    """Write sequences side by side; what is behind their ends is a filler."""
    for lane in range(LANES):
        first, last = starts[who[lane]], starts[who[lane] + 1]
        for i in range(last - first):
            out[i, lane] = codes[first + i]
        for i in range(last - first, size):
            out[i, lane] = filler


@compiled(fastmath=CONTRACT)
def lengthen(
    symbol: Whole, right: Whole, start: int, wide: int, decay: float, run: Array, shorter: Array, sums: Array
) -> None:
    """M_p of one more symbol on the left, from M_(p-1) before it."""
    run[:] = 0.0
    for j in range(start, wide):
        here, before, line = right[j], shorter[j], sums[j + 1]
        for lane in range(LANES):
            r = decay * run[lane] + (before[lane] if here[lane] == symbol[lane] else 0.0)
            run[lane] = r
            line[lane] = decay * line[lane] + r


@compiled(fastmath=CONTRACT)
def finish(symbol: Whole, right: Whole, start: int, wide: int, shorter: Array, total: Array) -> None:
    """Add M_(length-1) at all symbols on the right that equal one on the left."""
    for j in range(start, wide):
        here, before = right[j], shorter[j]
        for lane in range(LANES):
            total[lane] += before[lane] if here[lane] == symbol[lane] else 0.0


@compiled(fastmath=CONTRACT)
def sweep(
    codes: Whole,
    starts: Whole,
    lefts: Places,
    rights: Places,
    heights: Whole,
    widths: Whole,
    decay: float,
    left: Whole,
    right: Whole,
    sums: Array,
    run: Array,
    total: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Symbols `first` to `last` on the left of chunks of pairs; the others hold what stays between two calls."""
    length = len(sums)
    for c in range(len(heights)):
        high, wide = heights[c], widths[c]
        if first == 0:
            fill(codes, starts, lefts[c], NO_LEFT, high, left)
            fill(codes, starts, rights[c], NO_RIGHT, wide, right)
            for p in range(length):
                sums[p, : wide + 1] = 1.0 if p == 0 else 0.0
            total[:] = 0.0
        for i in range(first, min(last, high)):
            if i + 1 >= length:
                finish(left[i], right, length - 1, wide, sums[length - 1], total)
            # What is shorter than `least` cannot grow long enough any more.
            least = max(1, length - (high - i - 1))
            for p in range(min(length - 1, i + 1), least - 1, -1):
                lengthen(left[i], right, p - 1, wide, decay, run, sums[p - 1], sums[p])
        out[c] = total


@dataclass(frozen=True)
class Gappy:
    """Which subsequences are summed: of how many symbols, and by which factor each gap counts less."""

    length: int
    decay: float


def matrix(sequences: Sequences, rows: Places, columns: Places, gappy: Gappy) -> Array:
    """The sums for all pairs of some sequences with others, (len(rows), len(columns)), by all cores."""
    lengths = sequences.lengths
    order = np.argsort(lengths[columns], kind="stable")  # pairs side by side are then of about the same length
    if len(rows) == len(columns) and np.array_equal(rows, columns):
        return _symmetric(sequences, rows[order], order, gappy)
    left, right = np.repeat(rows, len(columns)), np.tile(columns[order], len(rows))
    found = np.empty((len(rows), len(columns)))
    found[:, order] = pairs(sequences, left, right, gappy).reshape(found.shape)
    return found


def _symmetric(sequences: Sequences, rows: Places, order: Places, gappy: Gappy) -> Array:
    """The same, each pair computed once; rows come by their lengths, and stood at `order` before."""
    i, j = np.tril_indices(len(rows))
    found = np.empty((len(rows), len(rows)))
    values = pairs(sequences, rows[i], rows[j], gappy)
    found[order[i], order[j]] = found[order[j], order[i]] = values
    return found


def pairs(sequences: Sequences, left: Places, right: Places, gappy: Gappy) -> Array:
    """The sum for each pair of a left and a right sequence. Cost: `length` |s| |t| steps per pair."""
    chunks = _Chunks(sequences, left, right, gappy)
    with np.errstate(over="ignore"):  # infinities tell
        if int(chunks.steps.sum()) >= MIN_COMPILED_STEPS and jit_cache.numba_works():
            return chunks.by_loops()
        return by_numpy(sequences, left, right, gappy)


class _Chunks:
    """Pairs in chunks of `LANES`; the last is filled up with its last pair."""

    def __init__(self, sequences: Sequences, left: Places, right: Places, gappy: Gappy) -> None:
        self.sequences, self.gappy, self.count = sequences, gappy, len(left)
        self.left, self.right = _chunked(left), _chunked(right)
        lengths = sequences.lengths
        self.heights, self.widths = lengths[self.left].max(axis=1), lengths[self.right].max(axis=1)
        self.steps = gappy.length * self.heights * self.widths + 1

    def by_loops(self) -> Array:
        """By compiled loops."""
        gappy = self.gappy
        out = np.empty(self.left.shape)
        cuts = self._pieces()
        self._require(threads.available())

        def work(worker: int, piece: int, stop: threads.Stop) -> None:
            part = slice(cuts[piece], cuts[piece + 1])
            high, wide = int(self.heights[part].max()), int(self.widths[part].max())
            left, right = np.empty((high, LANES), np.int64), np.empty((wide, LANES), np.int64)
            sums, run, total = np.empty((gappy.length, wide + 1, LANES)), np.empty(LANES), np.empty(LANES)
            chunks = (self.left[part], self.right[part], self.heights[part], self.widths[part])
            given = (self.sequences.codes, self.sequences.starts, *chunks, gappy.decay)
            for first, last in self._strips(part, high):
                sweep(*given, left, right, sums, run, total, first, last, out[part])
                if not stop.step(worker, 0):
                    return
            stop.step(worker, part.stop - part.start)

        threads.run(work, dealt(range(len(cuts) - 1), threads.available()), len(self.left))
        return out.reshape(-1)[: self.count]

    def _pieces(self) -> list[int]:
        """Where pieces of work begin and end: chunks of about `CALL_STEPS` steps together, a longer chunk alone."""
        ends, long = np.cumsum(self.steps), np.flatnonzero(self.steps > CALL_STEPS)
        cuts = np.searchsorted(ends, np.arange(CALL_STEPS, ends[-1], CALL_STEPS))
        return [int(cut) for cut in np.unique(np.concatenate([[0], cuts, long, long + 1, [len(ends)]]))]

    def _strips(self, part: slice, high: int) -> Iterator[tuple[int, int]]:
        """Symbols of the left side that one call takes: all, but of one very long pair only some."""
        steps = int(self.steps[part].sum())
        step = high if part.stop - part.start > 1 else max(1, int(high * CALL_STEPS / max(CALL_STEPS, steps)))
        return ((first, first + step) for first in range(0, max(1, high), max(1, step)))

    def _require(self, workers: int) -> None:
        numbers = LANES * int(self.heights.max() + (self.gappy.length + 1) * (self.widths.max() + 1))
        purpose = f"{LANES} pairs of strings of up to {max(self.heights.max(), self.widths.max())} symbols a thread"
        Budget.of(None).require(8 * workers * numbers, purpose, "Use shorter strings.", subject="GappySubsequence")


def _chunked(places: Places) -> Places:
    missing = -len(places) % LANES
    return np.concatenate([places, np.repeat(places[-1:], missing)]).reshape(-1, LANES)


def by_numpy(sequences: Sequences, left: Places, right: Places, gappy: Gappy) -> Array:
    """The same with NumPy: some thousand pairs at once."""
    found = np.empty(len(left))
    for start in range(0, len(left), NUMPY_PAIRS):
        batch = slice(start, start + NUMPY_PAIRS)
        S, T = sequences.beside(left[batch], NO_LEFT), sequences.beside(right[batch], NO_RIGHT)
        found[batch] = _swept(S, T, gappy)
    return found


def _swept(S: Whole, T: Whole, gappy: Gappy) -> Array:
    """Tables of M_0 = 1, M_1, ... up to M_(length - 1), which the symbols of S advance one by one."""
    total = np.zeros(T.shape[1])
    sums = np.zeros((gappy.length, *T.shape))
    before = np.zeros((gappy.length, *T.shape))  # what stands before each place
    before[0] = 1.0
    for symbol in S:
        before[1:, 1:] = sums[1:, :-1]
        lengthened = np.where(symbol == T, before, 0.0)
        total += lengthened[-1].sum(axis=0)
        sums[1:] *= gappy.decay
        sums[1:] += _gathered(lengthened[:-1], gappy.decay)
    return total


def _gathered(values: Array, decay: float) -> Array:
    """Each value, and those before it, each less by a factor for each step from there; in place."""
    for j in range(1, values.shape[1]):
        values[:, j] += decay * values[:, j - 1]
    return values
