"""Pairs of coefficients, one after the other: sequential minimal optimization inside of a working set.

Each step takes the coefficient that falls steepest, and the partner that promises most by second order (Fan, Chen and
Lin, Working set selection using second order information, JMLR 6, 2005), and moves both along the line that keeps their
sum to its lowest point, to an end of the box, or to the kink at zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads
from mercer.solvers.svm.box_qp import Array, BoxQP

MIN_COMPILED_COEFFICIENTS = 200
"""Coefficients from which on compiled loops are used: below it, loading them takes longer."""
MAX_NUMPY_STEPS = 2000
"""Steps of few coefficients after which compiled loops go on: loading them takes as long."""
MIN_RELATIVE_CURVATURE = 1e-12
"""Curvature below which a line counts as straight, relative to k(x, x)."""
MIN_CURVATURE = 1e-100
"""The curvature of a line between rows of zeros."""
CALL_NUMBERS = 4096
"""Numbers of a vector that stay in a core's cache while rows are added to them."""

FAST = frozenset({"nnan", "nsz", "reassoc", "contract"})
"""Loops that find a smallest or largest number use all lanes where its order, and the sign of a zero, are free."""

# `rise` and `fall` hold what is added to the gradient for the slopes of growing and falling: the kink with its sign, or
# an infinity where the box ends. Loops over them have no branches, so that they use all lanes.


@compiled(fastmath=FAST)
def steepest(g: Array, rise: Array, up: Array) -> float:
    """The smallest slope of growing; `up` becomes all of them."""
    low = np.inf
    for k in range(len(g)):
        up[k] = g[k] + rise[k]
        low = min(low, up[k])
    return low


@compiled(fastmath=FAST)
def shifted(g: Array, row: NDArray[Any], other: NDArray[Any], move: float, rise: Array, up: Array) -> float:
    """The same after a move along two rows, which `g` follows."""
    low = np.inf
    for k in range(len(g)):
        g[k] += move * (row[k] - other[k])
        up[k] = g[k] + rise[k]
        low = min(low, up[k])
    return low


@compiled(fastmath=FAST)
def promised(
    g: Array,
    fall: Array,
    low: float,
    row: NDArray[Any],
    diagonal: Array,
    own: float,
    flat: float,
    gain: Array,
) -> tuple[float, float]:
    """The largest slope of falling, and the largest drop by second order; `gain` becomes all drops."""
    high, best = -np.inf, 0.0
    for k in range(len(g)):
        slope = g[k] + fall[k]
        high = max(high, slope)
        drop = max(slope - low, 0.0)
        size = own + diagonal[k]
        curve = max(size - 2.0 * row[k], flat * size + MIN_CURVATURE)
        gain[k] = drop * drop / curve
        best = max(best, gain[k])
    return high, best


@compiled()
def position(values: Array, value: float) -> int:
    """Where a value first stands; -1 for nowhere."""
    for k in range(len(values)):
        if values[k] == value:
            return k
    return -1


@compiled()
def offsets(b: float, lower: float, upper: float, kink: float) -> tuple[float, float]:
    """What is added to the gradient for the slopes of growing and falling."""
    rise = np.inf if b >= upper else kink if b >= 0.0 else -kink
    fall = -np.inf if b <= lower else kink if b > 0.0 else -kink
    return rise, fall


@compiled()
def walk_loop(
    K: NDArray[Any],
    diagonal: Array,
    b: Array,
    g: Array,
    lower: Array,
    upper: Array,
    kink: float,
    tolerance: float,
    most: int,
    flat: float,
) -> tuple[int, float]:
    """See `walk`."""
    q = len(b)
    rise, fall, up, gain = np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    for k in range(q):
        rise[k], fall[k] = offsets(b[k], lower[k], upper[k], kink)
    low, high = steepest(g, rise, up), -np.inf
    for step in range(most):
        i = position(up, low)
        if i < 0 or low == np.inf:
            return step, 0.0
        high, best = promised(g, fall, low, K[i], diagonal, diagonal[i], flat, gain)
        if not high - low > tolerance or best <= 0.0:
            return step, max(0.0, high - low)
        j = position(gain, best)
        size = diagonal[i] + diagonal[j]
        curve = max(size - 2.0 * K[i, j], flat * size + MIN_CURVATURE)
        top = 0.0 if kink > 0.0 and b[i] < 0.0 else upper[i]
        bottom = 0.0 if kink > 0.0 and b[j] > 0.0 else lower[j]
        ahead, below = top - b[i], b[j] - bottom
        move = min((g[j] + fall[j] - low) / curve, ahead, below)
        b[i] = top if move == ahead else b[i] + move
        b[j] = bottom if move == below else b[j] - move
        rise[i], fall[i] = offsets(b[i], lower[i], upper[i], kink)
        rise[j], fall[j] = offsets(b[j], lower[j], upper[j], kink)
        low = shifted(g, K[i], K[j], move, rise, up)
    return most, max(0.0, high - low)


@compiled()
def gather(pool: NDArray[Any], slots: NDArray[np.intp], columns: NDArray[np.intp], out: NDArray[Any]) -> None:
    """out[i, j] = pool[slots[i], columns[j]]."""
    for i in range(len(slots)):
        row = pool[slots[i]]
        for j in range(len(columns)):
            out[i, j] = row[columns[j]]


@compiled()
def add(pool: NDArray[Any], slots: NDArray[np.intp], factors: Array, start: int, stop: int, out: Array) -> None:
    """out += sum_i factors_i pool[slots_i], between two places."""
    part = out[start:stop]
    for i in range(len(slots)):
        row, factor = pool[slots[i], start:stop], factors[i]
        for k in range(len(part)):
            part[k] += factor * row[k]


def walk(K: NDArray[Any], problem: BoxQP, b: Array, g: Array, tolerance: float, most: int) -> tuple[int, float]:
    """Steps inside of a working set until its violation is within a tolerance; how many, and the violation before them.

    K : (q, q), of the working set; both its halves are read
    b, g : coefficients and K b + c of the whole problem at the set, which are changed
    """
    rows, diagonal = np.ascontiguousarray(K), np.ascontiguousarray(K.diagonal(), dtype=np.float64)
    few = min(most, MAX_NUMPY_STEPS) if len(b) < MIN_COMPILED_COEFFICIENTS else 0
    plain = few if jit_cache.numba_works() else most
    steps, left = _walk_numpy(rows, diagonal, problem, b, g, tolerance, plain) if plain else (0, np.inf)
    if steps == plain < most:
        box = problem.lower, problem.upper, problem.kink
        more, left = walk_loop(rows, diagonal, b, g, *box, tolerance, most - plain, MIN_RELATIVE_CURVATURE)
        steps += more
    return int(steps), float(left)


def _walk_numpy(
    K: NDArray[Any], diagonal: Array, problem: BoxQP, b: Array, g: Array, tolerance: float, most: int
) -> tuple[int, float]:
    """The same with NumPy."""
    left = 0.0
    for step in range(most):
        rises, falls = problem.rises(b, g), problem.falls(b, g)
        i = int(rises.argmin())
        left = float(falls.max() - rises[i])
        if not left > tolerance:
            return step, max(0.0, left)
        drops = np.maximum(falls - rises[i], 0.0)
        sizes = diagonal[i] + diagonal
        curves = np.maximum(sizes - 2.0 * K[i], MIN_RELATIVE_CURVATURE * sizes + MIN_CURVATURE)
        j = int((drops * drops / curves).argmax())
        top = 0.0 if problem.kink > 0 and b[i] < 0 else problem.upper[i]
        bottom = 0.0 if problem.kink > 0 and b[j] > 0 else problem.lower[j]
        up, down = top - b[i], b[j] - bottom
        move = min(drops[j] / curves[j], up, down)
        b[i] = top if move == up else b[i] + move
        b[j] = bottom if move == down else b[j] - move
        g += move * (K[i] - K[j])
    return most, max(0.0, left)


def square(pool: NDArray[Any], slots: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[Any]:
    """Some columns of some rows."""
    out = np.empty((len(slots), len(columns)), pool.dtype)
    if len(columns) >= MIN_COMPILED_COEFFICIENTS and jit_cache.numba_works():
        gather(pool, slots, columns, out)
    else:
        out[:] = pool[np.ix_(slots, columns)]
    return out


def add_rows(pool: NDArray[Any], slots: NDArray[np.intp], factors: Array, out: Array) -> None:
    """out += sum_i factors_i pool[slots_i], in float64, by all cores."""
    if len(out) < MIN_COMPILED_COEFFICIENTS or not jit_cache.numba_works():
        out += factors @ pool[slots]
        return

    def work(worker: int, start: int, stop: threads.Stop) -> None:
        add(pool, slots, factors, start, min(start + CALL_NUMBERS, len(out)), out)
        stop.step(worker, 1)

    starts = range(0, len(out), CALL_NUMBERS)
    if len(starts) == 1:
        work(0, 0, threads.Stop(1))
    else:
        threads.run(work, dealt(starts, threads.available()), len(starts))
