"""Products of columns: every monomial of a list, for every row of a dense table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads
from mercer.lifts.monomial_index import Whole
from mercer.lifts.monomial_plan import Plan

Array = NDArray[Any]

MIN_COMPILED_VALUES = 1 << 22
"""Values from which on compiled loops are used: below it, NumPy takes less time than loading them."""
PIECE_VALUES = 1 << 20
"""Values that a worker writes between two looks at the stop flag."""
BLOCK_NUMBERS = 1 << 19
"""Numbers that the NumPy path holds at once, where a row needs no more."""
MAX_COLUMNWISE_MONOMIALS = 512
"""Monomials up to which it holds them by columns."""

ONE = np.uintp(1)
"""Places are unsigned: Numba then asks of none whether it counts from the end, and short runs take half as long."""

# Rows of monomials are computed by runs: target, source, length, and the place of the number that multiplies.


@compiled()
def fill(buffer: Array, row: Array, inner: NDArray[np.uintp]) -> None:
    """The monomials of a row of all degrees but the last."""
    buffer[0] = 1
    for k in range(np.uintp(len(row))):
        buffer[ONE + k] = row[k]
    for r in range(np.uintp(len(inner))):
        target, source, length, x = inner[r, 0], inner[r, 1], inner[r, 2], buffer[inner[r, 3]]
        for k in range(length):
            buffer[target + k] = x * buffer[source + k]


@compiled()
def unweighted(X: Array, inner: NDArray[np.uintp], outer: NDArray[np.uintp], size: int, out: Array) -> None:
    """All monomials of some rows."""
    buffer = np.empty(size, X.dtype)
    for i in range(np.uintp(len(X))):
        fill(buffer, X[i], inner)
        for r in range(np.uintp(len(outer))):
            target, source, length, x = outer[r, 0], outer[r, 1], outer[r, 2], buffer[outer[r, 3]]
            for k in range(length):
                out[i, target + k] = x * buffer[source + k]


@compiled()
def weighted(
    X: Array, inner: NDArray[np.uintp], outer: NDArray[np.uintp], size: int, out: Array, weights: Array
) -> None:
    """The same, times a weight each."""
    buffer = np.empty(size, X.dtype)
    for i in range(np.uintp(len(X))):
        fill(buffer, X[i], inner)
        for r in range(np.uintp(len(outer))):
            target, source, length, x = outer[r, 0], outer[r, 1], outer[r, 2], buffer[outer[r, 3]]
            for k in range(length):
                out[i, target + k] = x * buffer[source + k] * weights[target + k]


def evaluate(X: Array, plan: Plan, weights: Array | None = None, workers: int | None = None) -> Array:
    """The monomials of a plan for each row, times a weight each; the same bits for any number of threads.

    A product of p columns is off by p - 1 roundings, and one more for its weight. Time O(n M) for M of them.

    X : n rows, float32 or float64, which the result keeps

    >>> from mercer.lifts.monomial_plan import of_factors
    >>> evaluate(np.array([[2.0, 3.0]]), of_factors(np.array([[-1, -1], [1, -1], [0, 1]]), 2))
    array([[1., 3., 6.]])
    """
    X = np.ascontiguousarray(X)
    out = np.empty((len(X), plan.count), X.dtype)
    with np.errstate(all="ignore"):
        own = None if weights is None else weights.astype(X.dtype)
        loops = out.size >= MIN_COMPILED_VALUES and out.dtype.kind == "f" and jit_cache.numba_works()
        (_by_loops if loops else _by_numpy)(X, plan, own, out, threads.count(workers))
    return out


def _by_loops(X: Array, plan: Plan, weights: Array | None, out: Array, workers: int) -> None:
    step = max(1, PIECE_VALUES // max(1, plan.count))
    inner, outer = plan.joined.astype(np.uintp), plan.outer.astype(np.uintp)

    def work(worker: int, start: int, stop: threads.Stop) -> None:
        rows = slice(start, start + step)
        if weights is None:
            unweighted(X[rows], inner, outer, plan.size, out[rows])
        else:
            weighted(X[rows], inner, outer, plan.size, out[rows], weights)
        stop.step(worker, len(X[rows]))

    threads.run(work, dealt(range(0, len(X), step), workers), len(X))


def _by_numpy(X: Array, plan: Plan, weights: Array | None, out: Array, workers: int) -> None:
    """The same with NumPy, in one thread: blocks of rows that stay in the cache.

    Where there are few monomials a block is held by columns, over which NumPy loops faster than over short rows.
    """
    order: Literal["C", "F"] = "F" if plan.count <= MAX_COLUMNWISE_MONOMIALS else "C"
    step = max(1, min(len(X), BLOCK_NUMBERS // max(1, plan.count)))
    held = None if plan.direct else np.empty((step, plan.size), X.dtype, order)
    scratch = None if order == "C" else np.empty((step, plan.count), X.dtype, order)
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        block = out[rows] if scratch is None else scratch[: len(X[rows])]
        _fill(X[rows], plan, block if held is None else held[: len(block)], block)
        if weights is not None:
            block *= weights
        if scratch is not None:
            out[rows] = block


def _fill(X: Array, plan: Plan, buffer: Array, out: Array) -> None:
    buffer[:, 0] = 1
    buffer[:, 1 : 1 + X.shape[1]] = X
    for runs in plan.inner:
        _multiply(runs, buffer, buffer)
    _multiply(plan.outer[1:] if plan.direct else plan.outer, buffer, out)


def _multiply(runs: Whole, buffer: Array, out: Array) -> None:
    """All runs of a degree: one by one where they are few or long, else by two lists of places."""
    lengths = runs[:, 2]
    if len(runs) <= 64 or int(lengths.sum()) >= 8 * len(runs):
        for target, source, length, place in runs.tolist():
            chosen = buffer[:, source : source + length]
            np.multiply(chosen, buffer[:, place : place + 1], out=out[:, target : target + length])
        return
    inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    sources, places = inside + np.repeat(runs[:, 1], lengths), np.repeat(runs[:, 3], lengths)
    first = runs[0, 0]
    np.multiply(buffer[:, sources], buffer[:, places], out=out[:, first : first + len(sources)])
