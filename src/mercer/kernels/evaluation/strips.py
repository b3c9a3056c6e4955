"""Values of a kernel, some rows at a time, by all workers at once: what is made of them stays in their caches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Evaluator
from mercer.compute.codegen.tiles import TILE_ROWS, dealt
from mercer.compute.runtime import threads
from mercer.kernels.evaluation.evaluate import all_finite, evaluator, matrix, warn_of_overflow
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

Array = NDArray[Any]
Strip = Callable[[int, slice, Array], None]
"""strip(worker, rows, values): what a worker does with some rows; the values are its own, to be overwritten."""
WORKER_STRIP_NUMBERS = 1 << 20
"""Numbers in the memory of a worker, about: 8 MB."""
SHARED_STRIP_NUMBERS = 1 << 22
"""Numbers in the memory of a worker that has all cores: 32 MB."""
MIN_STRIP_ROWS = 64
"""Products of fewer rows are slow."""
MAX_STRIP_ROWS = 1 << 12
"""Taller strips keep the other workers waiting at the end."""


def height(width: int, workers: int) -> int:
    """How many rows of so many numbers each of so many workers has at once."""
    if workers == 1:
        return max(TILE_ROWS * threads.available(), SHARED_STRIP_NUMBERS // width)
    rows = max(MIN_STRIP_ROWS, min(WORKER_STRIP_NUMBERS // width, MAX_STRIP_ROWS))
    return rows // TILE_ROWS * TILE_ROWS or rows  # whole tiles


def workspace(width: int, workers: int) -> list[Array]:
    """Memory for each of so many workers, of rows of so many numbers; for one that has all cores, more of it."""
    return [np.empty((height(width, workers), width)) for _ in range(workers)]


def over_strips(
    kernel: Kernel,
    left: Points,
    right: Points,
    strip: Strip,
    memory: Sequence[Array],
    watch: threads.Watch | None = None,
) -> None:
    """Hand all rows of k(x_i, z_j) to workers, strip by strip; the same worker gets the same rows in the same order.

    Where there is one worker, each strip is filled by all cores, and BLAS has all of them too; where there are more,
    each has one. A kernel whose code cannot be followed is evaluated by one thread.

    right : not the same object as `left`
    memory : of each worker, as many rows as a strip has, of as many numbers as `right` has rows
    watch : takes progress, where there are several workers
    """
    n, step = left.values.shape[0], len(memory[0])
    if len(memory) == 1:
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            strip(0, rows, matrix(kernel, left.rows(rows), right, out=memory[0][: rows.stop - start]))
        return
    over_rows(kernel, evaluator(kernel, left, right), strip, memory, watch)


def over_rows(
    kernel: Kernel,
    values: Evaluator,
    strip: Strip,
    memory: Sequence[Array],
    watch: threads.Watch | None = None,
) -> None:
    """The same from an evaluator of the kernel; each worker has one core, and so has BLAS in it."""
    (n, m), step, infinite = values.shape, len(memory[0]), set()

    def work(worker: int, start: int, stop: threads.Stop) -> None:
        rows = slice(start, min(start + step, n))
        found = memory[worker][: rows.stop - start]
        if not values.fill(start, rows.stop, found) and not all_finite(found):
            infinite.add(start)
        strip(worker, rows, found)
        stop.step(worker, found.size)

    pieces = dealt(range(0, n, step), len(memory))
    if values.threaded:
        threads.run(work, pieces, n * m, watch)
    else:
        stop = threads.Stop(len(pieces))
        for worker, start in ((worker, start) for worker, piece in enumerate(pieces) for start in piece):
            work(worker, start, stop)
    if infinite:
        warn_of_overflow(kernel, memory[0].dtype)


def over_table(table: Array, first: int, strip: Strip, memory: Sequence[Array]) -> None:
    """The same for rows that are in memory, of which `first` is the number of the first."""
    step = len(memory[0])

    def work(worker: int, start: int, stop: threads.Stop) -> None:
        found = table[start : start + step]
        strip(worker, slice(first + start, first + start + len(found)), found)
        stop.step(worker, len(found))

    if len(memory) == 1:
        strip(0, slice(first, first + len(table)), table)
    else:
        threads.run(work, dealt(range(0, len(table), step), len(memory)), len(table))
