"""All pairs of classes, each a problem of its own, on one kernel matrix of which no value is computed twice.

The matrix is cut by classes: squares of each class with itself are kept, and of each class against all later ones there
is one strip at a time. The rows of a pair are pieces of these, so nothing is copied; a compiled loop solves one pair
after the other, and threads share the pairs of a strip.

Cost: half of the kernel matrix, or of its values in float32 where they take long; memory for the squares and a strip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
MIN_THREADED_NUMBERS = 1 << 22
"""Numbers of the matrices of a strip's pairs from which on several threads share these."""
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
    reason, done = "", 0
    try:
        for strip in _strips(K, rows):
            count = len(strip.seconds)
            batch.solve(strip, done, run)
            done += count
    except Stopped as stopped:
        reason = f"{opening(stopped)}."
    return batch.results(reason)


# -- pieces of the matrix ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Strip:
    """What the pairs of one class with all later ones need.

    near : squares of classes, in flat memory
    places : where the row of each row of the data, in the order of classes, begins there
    across : rows of the class, against those of later classes, in flat memory
    seconds : the later classes
    beginnings : where their columns begin in the first row of `across`
    width : numbers from one row of `across` to the next
    """

    near: NDArray[Any]
    places: NDArray[np.int64]
    diagonal: Array
    bounds: Rows
    first: int
    across: NDArray[Any]
    seconds: Rows
    beginnings: NDArray[np.int64]
    width: int

    def members(self, k: int) -> slice:
        """The rows of a class, in the order of classes."""
        return slice(int(self.bounds[k]), int(self.bounds[k + 1]))

    def square(self, k: int) -> NDArray[Any]:
        """The matrix of the class with one of the later ones."""
        a, b = self.members(self.first), self.members(int(self.seconds[k]))
        na, nb = a.stop - a.start, b.stop - b.start
        out = np.empty((na + nb, na + nb), self.near.dtype)
        for i in range(na):
            out[i, :na] = self.near[self.places[a.start + i] :][:na]
            out[i, na:] = self.across[self.beginnings[k] + i * self.width :][:nb]
        for i in range(nb):
            out[na + i, na:] = self.near[self.places[b.start + i] :][:nb]
        out[na:, :na] = out[:na, na:].T
        return out


def _strips(K: Operator, rows: ClassRows) -> Iterator[_Strip]:
    """One strip after the other; each is done with before the next is made."""
    counts, bounds, classes = rows.counts, rows.starts, len(rows.counts)
    diagonal = np.asarray(K.diagonal(), dtype=np.float64)[rows.order]
    sizes = counts.astype(np.int64) ** 2
    begins = np.concatenate([[0], np.cumsum(sizes)])
    near = np.empty(int(begins[-1]), K.dtype)
    places = np.empty(len(rows.order), np.int64)
    for k in range(classes):
        own = rows.members(k)
        K.between(own, own, near[begins[k] : begins[k + 1]].reshape(len(own), len(own)))
        places[bounds[k] : bounds[k + 1]] = begins[k] + np.arange(len(own)) * len(own)
    memory = np.empty(max(int(n * (bounds[-1] - end)) for n, end in zip(counts, bounds[1:], strict=True)), K.dtype)
    for a in range(classes - 1):
        own, others = rows.members(a), rows.order[bounds[a + 1] :]
        across = memory[: len(own) * len(others)]
        K.between(own, others, across.reshape(len(own), len(others)))
        beginnings = (bounds[a + 1 : -1] - bounds[a + 1]).astype(np.int64)
        seconds = np.arange(a + 1, classes)
        yield _Strip(near, places, diagonal, bounds, a, across, seconds, beginnings, len(others))


# -- all problems at once ---------------------------------------------------------------------------------------------


class _Batch:
    """The problems of all pairs, one behind the other in flat memory, with their coefficients and gradients."""

    def __init__(
        self, problems: Sequence[BoxQP], starts: Sequence[Array | None], tolerance: float, most: Rows
    ) -> None:
        self.problems, self.tolerance, self.most = problems, tolerance, most
        counts = np.array([one.count for one in problems])
        self.at = np.concatenate([[0], np.cumsum(counts)])
        self.all = BoxQP(*(np.concatenate([getattr(one, name) for one in problems]) for name in BOX))
        self.b, self.g = np.zeros(self.at[-1]), self.all.linear.copy()
        self.started = np.zeros(len(problems), bool)
        for k, start in enumerate(starts):
            if start is not None:
                self.b[self.part(k)], self.started[k] = problems[k].feasible(start), True
        self.steps = np.zeros(len(problems), np.int64)

    def part(self, k: int) -> slice:
        """The coefficients of a pair."""
        return slice(int(self.at[k]), int(self.at[k + 1]))

    def solve(self, strip: _Strip, first: int, run: Run) -> None:
        """The pairs of a strip, which stand together from `first` on."""
        count = len(strip.seconds)
        largest = int(np.diff(self.at[first : first + count + 1]).max())
        if not is_compiled(largest):
            for k in range(count):
                self._plainly(strip, k, first + k)
                with run.stoppable():
                    run.tell(float(first + k + 1))
            return
        numbers = float((np.diff(self.at[first : first + count + 1]).astype(float) ** 2).sum())
        workers = threads.available() if numbers >= MIN_THREADED_NUMBERS else 1

        def work(worker: int, start: int, stop: threads.Stop) -> None:
            end = min(start + step, count)
            while start < end:
                start = self._compiled(strip, start, end, first)
                if not stop.step(worker, 1):
                    return

        step = max(1, -(-count // (4 * workers))) if workers > 1 else count
        with run.stoppable():
            threads.run(work, dealt(range(0, count, step), workers), count, lambda _: run.tell(float(first)))
            run.tell(float(first + count))

    def _compiled(self, strip: _Strip, start: int, end: int, first: int) -> int:
        """Pairs from `start` on, as far as a call may go; where to go on."""
        box = self.all
        return int(pairs_loop(
            strip.near, strip.places, strip.diagonal, strip.bounds, strip.first, strip.across, strip.seconds,
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
        gaps = np.add.reduceat(b * g + np.maximum(np.maximum(box.upper * pull, box.lower * pull), 0.0), at)
        found = []
        for k, (bias, violation, gap, steps) in enumerate(
            zip(biases.tolist(), violations.tolist(), gaps.tolist(), self.steps.tolist(), strict=True)
        ):
            part, converged = self.part(k), violation <= self.tolerance
            text = f"The largest violation is {violation:.1e} after {number_of(steps, 'step')}."
            text = text if converged else reason or text
            found.append(QPResult(b[part], g[part], bias, violation, gap, steps, 1, converged, text))
        return found


BOX = ("linear", "lower", "upper")


@compiled()
def pairs_loop(
    near: NDArray[Any],
    places: NDArray[np.int64],
    diagonal: Array,
    bounds: Rows,
    one: int,
    across: NDArray[Any],
    seconds: Rows,
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
    split, spent = right - left, 0.0
    for k in range(start, end):
        low, high = bounds[seconds[k]], bounds[seconds[k] + 1]
        q, pair = split + high - low, first + k
        own, sizes = np.empty(q, np.int64), np.empty(q)
        own[:split], own[split:] = places[left:right], places[low:high]
        sizes[:split], sizes[split:] = diagonal[left:right], diagonal[low:high]
        turned, ready = np.empty((high - low) * split, near.dtype), np.zeros(high - low, np.bool_)
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
