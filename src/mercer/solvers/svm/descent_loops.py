"""The loops of coordinate descent over rows of features: one pass, and products of all rows with a vector.

Rows may be narrow, in float32; sums are in float64. Where Numba is missing NumPy does the same, a row at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads
from mercer.solvers.svm.box_qp import Array, BoxQP

Rows = NDArray[np.intp]
MIN_COMPILED_NUMBERS = 1 << 15
"""Numbers of features from which on compiled loops are used: below it, loading them takes longer."""
CALL_NUMBERS = 1 << 22
"""Numbers that one call reads: far below a tenth of a second."""
MAX_SKIPPED_PASSES = 8
"""Passes that a row is left out, at most, where it has stayed again and again."""


@compiled(fastmath={"reassoc", "contract"})
def dot(row: NDArray[Any], w: NDArray[Any]) -> float:
    """An inner product, in any order of its terms."""
    total = 0.0
    for j in range(len(row)):
        total += row[j] * w[j]
    return total


@compiled()
def add(row: NDArray[Any], factor: float, w: Array) -> None:
    """w += factor * row."""
    for j in range(len(row)):
        w[j] += factor * row[j]


@compiled()
def sweep_loop(
    Z: NDArray[Any],
    rows: Rows,
    b: Array,
    w: Array,
    linear: Array,
    lower: Array,
    upper: Array,
    squares: Array,
    kink: float,
    bias: float,
    rho: float,
    off: float,
    calm: NDArray[np.int64],
    most_calm: int,
) -> tuple[float, float, float, float, int]:
    """See `sweep`."""
    high, low, gap, moves = -np.inf, np.inf, 0.0, 0
    for k in range(len(rows)):
        i = rows[k]
        row, old = Z[i], b[i]
        slope = dot(row, w) + linear[i] + bias + rho * off
        if old < upper[i]:
            low = min(low, slope + kink if old >= 0.0 else slope - kink)
        if old > lower[i]:
            high = max(high, slope + kink if old > 0.0 else slope - kink)
        gap += old * slope + kink * abs(old)
        if slope < -kink:
            gap -= upper[i] * (slope + kink)
        elif slope > kink:
            gap -= lower[i] * (slope - kink)
        size = squares[i] + rho
        new = old - slope / size
        if kink > 0.0:
            new = max(new - kink / size, 0.0) + min(new + kink / size, 0.0)
        new = min(max(new, lower[i]), upper[i])
        move = new - old
        if move == 0.0:
            calm[i] = min(calm[i] + 1, most_calm)
            continue
        calm[i] = 0
        add(row, move, w)
        b[i] = new
        off += move
        moves += 1
    return off, high, low, gap, moves


@compiled()
def products_loop(Z: NDArray[Any], w: Array, start: int, stop: int, out: Array) -> None:
    """Z w for some rows."""
    for i in range(start, stop):
        out[i] = dot(Z[i], w)


@compiled()
def sums_loop(Z: NDArray[Any], b: Array, start: int, stop: int, out: Array) -> None:
    """Z'b, as far as some rows go."""
    for i in range(start, stop):
        if b[i] != 0.0:
            add(Z[i], b[i], out)


@compiled()
def squares_loop(Z: NDArray[Any], start: int, stop: int, out: Array) -> None:
    """The squared lengths of some rows."""
    for i in range(start, stop):
        out[i] = dot(Z[i], Z[i])


@dataclass(frozen=True, eq=False)
class Terms:
    """What every step needs, and none changes.

    Z : (n, p), the features, one row after the other in memory
    problem : the problem
    squares : (n,), the squared lengths of the rows
    rho : the penalty of a sum that is off, above 0
    """

    Z: NDArray[Any]
    problem: BoxQP
    squares: Array
    rho: float


@dataclass(eq=False)
class Place:
    """Where a descent is; steps change it.

    b : the coefficients
    w : Z'b
    off : sum(b) - total
    bias : the multiplier of the sum
    calm : (n,), how often in a row it has stayed, up to `MAX_SKIPPED_PASSES`
    """

    b: Array
    w: Array
    off: float
    bias: float
    calm: NDArray[np.int64]


class Met(NamedTuple):
    """What a sweep has met on its way, before it moved a row, and how many coefficients it moved.

    high, low : the steepest slopes of rows that can fall, and that can rise: their difference is the violation
    gap : the duality gap of the rows
    moves : coefficients that were moved
    """

    high: float
    low: float
    gap: float
    moves: int


def sweep(terms: Terms, rows: Rows, place: Place) -> Met:
    """Move the coefficients of some rows in order, each to its lowest point. Cost: 4 p operations per row."""
    if not worth_compiling(terms.Z):
        return _sweep_numpy(terms, rows, place)
    problem = terms.problem
    place.off, high, low, gap, moves = sweep_loop(
        *(terms.Z, rows, place.b, place.w),
        *(problem.linear, problem.lower, problem.upper, terms.squares),
        *(problem.kink, place.bias, terms.rho, place.off),
        *(place.calm, MAX_SKIPPED_PASSES),
    )
    return Met(high, low, gap, moves)


def worth_compiling(Z: NDArray[Any]) -> bool:
    """Whether compiled loops run over these features."""
    return Z.size >= MIN_COMPILED_NUMBERS and jit_cache.numba_works()


def _sweep_numpy(terms: Terms, rows: Rows, place: Place) -> Met:
    """The same with NumPy."""
    Z, problem, squares, b, w, calm = terms.Z, terms.problem, terms.squares, place.b, place.w, place.calm
    linear, lower, upper = problem.linear, problem.lower, problem.upper
    kink, bias, rho, off = problem.kink, place.bias, terms.rho, place.off
    high, low, gap, moves = -np.inf, np.inf, 0.0, 0
    for i in rows.tolist():
        row, old, least, most = Z[i].astype(np.float64), float(b[i]), float(lower[i]), float(upper[i])
        slope = float(row @ w) + float(linear[i]) + bias + rho * off
        if old < most:
            low = min(low, slope + (kink if old >= 0 else -kink))
        if old > least:
            high = max(high, slope + (kink if old > 0 else -kink))
        gap += old * slope + kink * abs(old)
        gap += max(most * max(-slope - kink, 0.0), least * min(kink - slope, 0.0))
        size = float(squares[i]) + rho
        new = old - slope / size
        new = max(new - kink / size, 0.0) + min(new + kink / size, 0.0)
        new = min(max(new, least), most)
        calm[i] = min(calm[i] + 1, MAX_SKIPPED_PASSES) if new == old else 0
        if new != old:
            w += (new - old) * row
            b[i] = new
            off += new - old
            moves += 1
    place.off = off
    return Met(high, low, gap, moves)


def products(Z: NDArray[Any], w: Array) -> Array:
    """Z w in float64, by all cores."""
    out = np.zeros(len(Z))
    if not w.any():
        return out
    if not worth_compiling(Z):
        for rows in _slices(Z):
            out[rows] = Z[rows].astype(np.float64) @ w
        return out
    _spread(Z, lambda worker, rows: products_loop(Z, w, rows.start, rows.stop, out))
    return out


def sums(Z: NDArray[Any], b: Array) -> Array:
    """Z'b in float64, by all cores: each sums its own rows."""
    if not worth_compiling(Z):
        return np.asarray(np.sum([b[rows] @ Z[rows].astype(np.float64) for rows in _slices(Z)], axis=0))
    out = np.zeros((threads.available(), Z.shape[1]))
    _spread(Z, lambda worker, rows: sums_loop(Z, b, rows.start, rows.stop, out[worker]))
    return np.asarray(out.sum(axis=0))


def squares(Z: NDArray[Any]) -> Array:
    """The squared length of each row, to the precision of the features."""
    out = np.empty(len(Z))
    if not worth_compiling(Z):
        for rows in _slices(Z):
            out[rows] = np.square(Z[rows], dtype=np.float64).sum(axis=1)
        return out
    _spread(Z, lambda worker, rows: squares_loop(Z, rows.start, rows.stop, out))
    return out


def _slices(Z: NDArray[Any]) -> list[slice]:
    """Pieces of rows, one after the other."""
    step = max(1, CALL_NUMBERS // max(1, Z.shape[1]))
    return [slice(start, min(start + step, len(Z))) for start in range(0, len(Z), step)]


def _spread(Z: NDArray[Any], loop: Callable[[int, slice], None]) -> None:
    """Pieces of rows, distributed to all cores."""
    pieces = _slices(Z)

    def work(worker: int, place: int, stop: threads.Stop) -> None:
        loop(worker, pieces[place])
        stop.step(worker, 1)

    threads.run(work, dealt(range(len(pieces)), threads.available()), len(pieces))
