"""All pairs of classes, each a problem of its own, on one kernel matrix of which no value is computed twice.

The matrix is cut by classes: the square of each class with itself is kept, and of a class against some later ones
there is one strip at a time. The rows of a pair are pieces of these, so nothing is copied; a compiled loop solves one
pair after the other, and threads share the strips. A small matrix is computed at once.

Cost: half of the values of the kernel, and some more; memory for the squares, and a strip for each thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads
from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import number_of
from mercer.operators import Operator
from mercer.solvers.ridge.base import opening
from mercer.solvers.svm.box_qp import Array, BoxQP, QPResult
from mercer.solvers.svm.smo import gradient, gradient_loop, is_compiled, walk, walk_loop

Rows = NDArray[np.intp]
MAX_WHOLE_ROWS = 512
"""Rows up to which the whole matrix is computed at once."""
MIN_THREADED_ROWS = 1024
"""Rows from which on threads share the strips."""
MIN_STRIP_NUMBERS = 1 << 16
"""Numbers of a strip, at most, or an eighth of those of all squares: a strip ends where a class does."""
CALL_NUMBERS = 1 << 26
"""Numbers that a compiled call reads, about, before it returns for a look at the clock."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows in the order of their classes.

    order : positions of the rows, those of the first class first
    starts : (classes + 1,), where each class begins there, and the end
    """

    order: Rows
    starts: Rows

    @classmethod
    def of(cls, codes: Rows, count: int) -> ClassRows:
        """From the class of each row, as a number below a count."""
        ends = np.cumsum(np.bincount(codes, minlength=count))
        return cls(np.argsort(codes, kind="stable"), np.concatenate([[0], ends]).astype(np.intp))

    def members(self, k: int) -> Rows:
        """The rows of a class."""
        return self.order[self.starts[k] : self.starts[k + 1]]

    @property
    def counts(self) -> Rows:
        """How many rows each class has."""
        return np.diff(self.starts)


def solve_pairs(
    K: Operator,
    rows: ClassRows,
    problems: Sequence[BoxQP],
    starts: Sequence[Array | None],
    tolerance: float,
    most: Callable[[int], int],
    run: Run = IDLE,
) -> list[QPResult]:
    """The coefficients of each pair, in the order of combinations; its rows are those of one class, then of the other.

    K : of all rows; its values are taken as they are
    starts : coefficients to start from; None for zeros
    most : steps for a pair of so many rows, at most
    """
    batch = _Batch(problems, starts, tolerance, np.array([most(one.count) for one in problems]))
    reason = ""
    try:
        with threads.one_thread_blas():
            batch.solve(K, rows, run)
    except Stopped as stopped:
        reason = f"{opening(stopped)}."
    return batch.results(reason)


# -- pieces of the matrix ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Squares:
    """The matrix of each class with itself, in flat memory; or the whole matrix, where it is small.

    values : the numbers
    places : where the row of each row of the data, in the order of classes, begins there
    diagonal : of the matrix, in the same order
    bounds : where each class begins in that order, and the end
    whole : whether the rows there are those of the whole matrix
    """

    values: NDArray[Any]
    places: NDArray[np.int64]
    diagonal: Array
    bounds: Rows
    whole: bool

    @classmethod
    def of(cls, K: Operator, rows: ClassRows) -> _Squares:
        """Computed. Cost: the squares of the classes."""
        bounds, n = rows.starts, len(rows.order)
        diagonal = np.asarray(K.diagonal(), dtype=np.float64)[rows.order]
        if n <= MAX_WHOLE_ROWS:
            values = np.empty((n, n), K.dtype)
            K.between(rows.order, rows.order, values)
            np.fill_diagonal(values, diagonal)
            places = np.arange(n) * n + np.repeat(bounds[:-1], rows.counts)
            return cls(values.reshape(-1), places.astype(np.int64), diagonal, bounds, True)
        begins = np.concatenate([[0], np.cumsum(rows.counts.astype(np.int64) ** 2)])
        near, places = np.empty(int(begins[-1]), K.dtype), np.empty(n, np.int64)
        for k, count in enumerate(rows.counts.tolist()):
            own, square = rows.members(k), near[begins[k] : begins[k + 1]].reshape(count, count)
            K.between(own, own, square)
            np.fill_diagonal(square, diagonal[bounds[k] : bounds[k + 1]])
            places[bounds[k] : bounds[k + 1]] = begins[k] + np.arange(count) * count
        return cls(near, places, diagonal, bounds, False)

    def cuts(self) -> list[tuple[int, int, int]]:
        """A class, and the first and the end of later ones that share a strip: as many as fit."""
        found, classes = [], len(self.bounds) - 1
        limit = max(MIN_STRIP_NUMBERS, len(self.values) // 8)
        for a in range(classes - 1):
            first = a + 1
            while first < classes:
                width = limit // int(self.bounds[a + 1] - self.bounds[a])
                last = int(np.searchsorted(self.bounds, self.bounds[first] + width, side="right")) - 1
                last = classes if self.whole else min(max(last, first + 1), classes)
                found.append((a, first, last))
                first = last
        return found

    def strip(self, K: Operator, rows: ClassRows, cut: tuple[int, int, int], workers: int | None) -> _Strip:
        """A class against some later ones. Cost: their values, unless the whole matrix is there."""
        (a, first, last), bounds, n = cut, self.bounds, len(self.places)
        if self.whole:
            beginnings = bounds[a] * n + bounds[first:last]
            return _Strip(self, a, self.values, first, beginnings.astype(np.int64), n)
        own, others = rows.members(a), rows.order[bounds[first] : bounds[last]]
        across = np.empty((len(own), len(others)), K.dtype)
        K.between(own, others, across, workers)
        beginnings = bounds[first:last] - bounds[first]
        return _Strip(self, a, across.reshape(-1), first, beginnings.astype(np.int64), len(others))


@dataclass(frozen=True, eq=False)
class _Strip:
    """What the pairs of one class with some later ones need.

    across : rows of the class, against those of later classes, in flat memory
    first : the first of these classes
    beginnings : where the columns of each begin in the first row of `across`
    width : numbers from one row of `across` to the next
    """

    squares: _Squares
    a: int
    across: NDArray[Any]
    first: int
    beginnings: NDArray[np.int64]
    width: int

    def square(self, k: int) -> NDArray[Any]:
        """The matrix of the class with one of the later ones."""
        near, places, bounds, c = self.squares.values, self.squares.places, self.squares.bounds, self.first + k
        rows = [*range(bounds[self.a], bounds[self.a + 1]), *range(bounds[c], bounds[c + 1])]
        na, nb = int(bounds[self.a + 1] - bounds[self.a]), int(bounds[c + 1] - bounds[c])
        out = np.empty((na + nb, na + nb), near.dtype)
        for i in range(na):
            out[i, :na] = near[places[rows[i]] :][:na]
            out[i, na:] = self.across[self.beginnings[k] + i * self.width :][:nb]
        for i in range(na, na + nb):
            out[i, na:] = near[places[rows[i]] :][:nb]
        out[na:, :na] = out[:na, na:].T
        return out


# -- all problems at once ---------------------------------------------------------------------------------------------


class _Batch:
    """The problems of all pairs, one behind the other in flat memory, with their coefficients and gradients."""

    def __init__(self, problems: Sequence[BoxQP], starts: Sequence[Array | None], tolerance: float, most: Rows) -> None:
        self.problems, self.tolerance, self.most = problems, tolerance, most
        counts = np.array([one.count for one in problems])
        self.at = np.concatenate([[0], np.cumsum(counts)])
        self.all = BoxQP(
            np.concatenate([one.linear for one in problems]),
            np.concatenate([one.lower for one in problems]),
            np.concatenate([one.upper for one in problems]),
        )
        self.b, self.g = np.zeros(self.at[-1]), self.all.linear.copy()
        self.started = np.zeros(len(problems), bool)
        for k, start in enumerate(starts):
            if start is not None:
                self.b[self.part(k)], self.started[k] = problems[k].feasible(start), True
        self.steps = np.zeros(len(problems), np.int64)

    def part(self, k: int) -> slice:
        """The coefficients of a pair."""
        return slice(int(self.at[k]), int(self.at[k + 1]))

    def solve(self, K: Operator, rows: ClassRows, run: Run) -> None:
        """All pairs, strip by strip; threads take strips in turns."""
        compiled_ = is_compiled(int(np.diff(self.at).max()))
        squares = _Squares.of(K, rows)
        cuts, classes = squares.cuts(), len(rows.counts)
        firsts = np.cumsum([0, *(last - first for _, first, last in cuts)]).tolist()
        workers = threads.available() if compiled_ and len(rows.order) >= MIN_THREADED_ROWS else 1

        def work(worker: int, k: int, stop: threads.Stop) -> None:
            strip = squares.strip(K, rows, cuts[k], 1 if workers > 1 else None)
            for pair in range(firsts[k], firsts[k + 1] if not compiled_ else firsts[k]):
                self._plainly(strip, pair - firsts[k], pair)
            start, end = 0, firsts[k + 1] - firsts[k] if compiled_ else 0
            while start < end and not stop.raised:
                start = self._compiled(strip, start, end, firsts[k])
            stop.step(worker, firsts[k + 1] - firsts[k])

        with run.stoppable():
            total = classes * (classes - 1) // 2
            threads.run(work, dealt(range(len(cuts)), workers), total, lambda now: run.tell(float(now.done)))

    def _compiled(self, strip: _Strip, start: int, end: int, first: int) -> int:
        """Pairs from `start` on, as far as a call may go; where to go on."""
        box, squares = self.all, strip.squares
        return int(pairs_loop(
            squares.values, squares.places, squares.diagonal, squares.bounds, strip.a, strip.across, strip.first,
            strip.beginnings, strip.width, start, end, first, self.at, self.b, self.g, box.linear, box.lower, box.upper,
            self.tolerance, self.most, self.steps, self.started, CALL_NUMBERS,
        ))  # fmt: skip

    def _plainly(self, strip: _Strip, k: int, pair: int) -> None:
        """The same for one pair, by NumPy as long as that is faster."""
        K, problem, part = strip.square(k), self.problems[pair], self.part(pair)
        b, most, taken = self.b[part], int(self.most[pair]), 0
        g = gradient(K, problem, b) if self.started[pair] else problem.linear.copy()
        while taken < most:
            more, _ = walk(K, problem, b, g, self.tolerance, most - taken)
            taken += more
            if more == 0:
                break
            g = gradient(K, problem, b)
        self.g[part], self.steps[pair] = g, taken

    def results(self, reason: str) -> list[QPResult]:
        """What was found of each pair."""
        at, b, g, box = self.at[:-1], self.b, self.g, self.all
        rises, falls = box.rises(b, g), box.falls(b, g)
        low, high = np.minimum.reduceat(rises, at), np.maximum.reduceat(falls, at)
        violations = np.maximum(high - low, 0.0)
        free = (b > box.lower) & (b < box.upper)
        counts, sums = np.add.reduceat(free, at), np.add.reduceat(np.where(free, g, 0.0), at)
        biases = -np.where(counts > 0, sums / np.maximum(counts, 1), (low + high) / 2)
        pull = -(g + np.repeat(biases, np.diff(self.at)))
        sums = np.add.reduceat(b * g + np.maximum(np.maximum(box.upper * pull, box.lower * pull), 0.0), at)
        gaps = np.maximum(sums, 0.0)  # what is below is rounding
        found = []
        for k, (bias, violation, gap, steps) in enumerate(
            zip(biases.tolist(), violations.tolist(), gaps.tolist(), self.steps.tolist(), strict=True)
        ):
            part, converged = self.part(k), violation <= self.tolerance
            text = f"The largest violation is {violation:.1e} after {number_of(steps, 'step')}."
            text = text if converged else reason or text
            found.append(QPResult(b[part], g[part], bias, violation, gap, steps, 1, converged, text))
        return found


@compiled()
def pairs_loop(
    near: NDArray[Any],
    places: NDArray[np.int64],
    diagonal: Array,
    bounds: Rows,
    one: int,
    across: NDArray[Any],
    other: int,
    beginnings: NDArray[np.int64],
    width: int,
    start: int,
    end: int,
    first: int,
    at: Rows,
    b: Array,
    g: Array,
    linear: Array,
    lower: Array,
    upper: Array,
    tolerance: float,
    most: Rows,
    steps: NDArray[np.int64],
    started: NDArray[np.bool_],
    numbers: float,
) -> int:
    """Solve the pairs of a strip from `start` to `end`, or until so many numbers were read; where to go on."""
    left, right = bounds[one], bounds[one + 1]
    split, spent, most_rows = right - left, 0.0, 0
    for k in range(start, end):
        most_rows = max(most_rows, bounds[other + k + 1] - bounds[other + k])
    turned, ready = np.empty(most_rows * split, near.dtype), np.empty(most_rows, np.bool_)
    for k in range(start, end):
        low, high = bounds[other + k], bounds[other + k + 1]
        q, pair = split + high - low, first + k
        own, sizes = np.empty(q, np.int64), np.empty(q)
        own[:split], own[split:] = places[left:right], places[low:high]
        sizes[:split], sizes[split:] = diagonal[left:right], diagonal[low:high]
        ready[:] = False
        box = slice(at[pair], at[pair + 1])
        coefficients, slopes = b[box], g[box]
        if started[pair]:
            gradient_loop(near, own, split, across, beginnings[k], width, turned, ready, coefficients, slopes)
        taken = 0
        while taken < most[pair]:
            more, _ = walk_loop(
                near, own, split, across, beginnings[k], width, turned, ready, sizes, coefficients, slopes,
                lower[box], upper[box], 0.0, tolerance, most[pair] - taken,
            )  # fmt: skip
            taken += more
            if more == 0:
                break
            slopes[:] = linear[box]
            gradient_loop(near, own, split, across, beginnings[k], width, turned, ready, coefficients, slopes)
        steps[pair] = taken
        spent += float(q) * float(taken + q)
        if spent > numbers:
            return k + 1
    return end
