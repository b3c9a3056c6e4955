"""Permutations of rows: random ways to part them in two, a bit per row and way, and random orders, some at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads

Array = NDArray[np.float64]
Order = NDArray[np.intp]

BITS_PER_BYTE = 8
"""Bits."""
HELD_NUMBERS = 1 << 21
"""Numbers of orders that are drawn at once (16 MiB)."""
MIN_SHARED_OPERATIONS = 1 << 16
"""What a statistic of one order must cost, in operations, for threads to share them: to start these takes longer."""


@dataclass(frozen=True, eq=False)
class Splits:
    """Ways to part N rows into two samples: first the given one, then random ones, all equally likely.

    Memory: N count / 8 bytes.

    bits : (bytes, N), eight ways a byte; a bit is set where a row belongs to the first sample
    count : how many ways there are
    """

    bits: NDArray[np.uint8]
    count: int

    @classmethod
    def drawn(cls, sizes: tuple[int, int], permutations: int, random: np.random.Generator) -> Splits:
        """The first m rows against the others, and so many random choices of m rows."""
        first, total = sizes[0], sum(sizes)
        few = min(sizes)  # to choose the smaller sample is to choose the larger one
        bits = np.empty((-(-(1 + permutations) // BITS_PER_BYTE), total), np.uint8)
        for i in range(len(bits)):
            rows = np.zeros((BITS_PER_BYTE, total), np.bool_)
            for j in range(BITS_PER_BYTE):
                if i == j == 0:
                    rows[j, :first] = True
                elif BITS_PER_BYTE * i + j <= permutations:
                    rows[j, random.choice(total, few, replace=False, shuffle=False)] = True
                    rows[j] ^= few != first
            bits[i] = np.packbits(rows, axis=0)[0]
        return cls(bits, 1 + permutations)

    def of_rows(self, rows: slice) -> Array:
        """(count, rows): 1 where a row belongs to the first sample, else 0."""
        return np.unpackbits(self.bits[:, rows], axis=0, count=self.count).astype(np.float64)

    def some(self, first: int, last: int) -> Array:
        """(last - first, N): the same for all rows and some ways; `first` is a multiple of eight."""
        part = self.bits[first // BITS_PER_BYTE : -(-last // BITS_PER_BYTE)]
        return np.unpackbits(part, axis=0, count=last - first).astype(np.float64)


def over_orders(
    rows: int, permutations: int, random: np.random.Generator, cost: float, statistic: Callable[[Order], float]
) -> Array:
    """(1 + permutations,): a statistic of the rows in their own order, and in random ones.

    Threads share the orders, which are drawn before: the result does not depend on timing. Memory: some orders.

    cost : operations of one statistic, about
    """
    found, step = np.empty(1 + permutations), max(1, HELD_NUMBERS // rows)
    for start in range(0, len(found), step):
        numbers = range(start, min(start + step, len(found)))
        orders = [random.permutation(rows) if number else np.arange(rows) for number in numbers]
        _share(numbers, orders, found, statistic, threads.available() if cost >= MIN_SHARED_OPERATIONS else 1)
    return found


def _share(
    numbers: range, orders: list[Order], found: Array, statistic: Callable[[Order], float], workers: int
) -> None:
    def work(worker: int, number: int, stop: threads.Stop) -> None:
        found[number] = statistic(orders[number - numbers.start])
        stop.step(worker, 1)

    if workers == 1:
        for number in numbers:
            work(0, number, threads.Stop(1))
    else:
        threads.run(work, dealt(numbers, workers), len(numbers))
