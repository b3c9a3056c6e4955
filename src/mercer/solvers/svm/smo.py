"""Pairs of coefficients, one after the other: sequential minimal optimization inside of a working set.

Each step takes the coefficient that falls steepest, and the partner that promises most by second order (Fan, Chen and
Lin, Working set selection using second order information, JMLR 6, 2005), and moves both along the line that keeps their
sum to its lowest point, to an end of the box, or to the kink at zero.

Few steps are taken by NumPy, as long as no compiled loop has been loaded. Both give the same bits: each number is
computed by the same operations in the same order, and a smallest or largest one is what it is in any order.
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
"""Coefficients from which on compiled loops are used at once."""
MAX_NUMPY_STEPS = 1000
"""Steps of few coefficients in this process after which compiled loops go on: loading them takes some times as long."""
MIN_RELATIVE_CURVATURE = 1e-12
"""Curvature below which a line counts as straight, relative to k(x, x)."""
MIN_CURVATURE = 1e-100
"""The curvature of a line between rows of zeros."""
CALL_NUMBERS = 4096
"""Numbers of a vector that stay in a core's cache while rows are added to them."""
CHUNK = 64
"""Numbers that are compared at once."""
LARGEST = 9223372036854775807
"""Of 64 bits."""

Pieces = tuple[NDArray[Any], NDArray[np.int64], int, NDArray[Any], int, int, NDArray[Any], NDArray[np.bool_]]
"""The first arguments of `walk_loop`: a matrix in pieces."""

# `rise` and `fall` hold what is added to the gradient for the slopes of growing and falling: the kink with its sign, or
# an infinity where the box ends. Loops over them have no branches, so that they use all lanes of a core; a smallest
# number is found among integers in the order of the floats, since LLVM uses all lanes for these alone.


@compiled()
def least(values: Array) -> int:
    """Where the smallest number first stands."""
    keys = values.view(np.int64)
    low = LARGEST
    for k in range(len(keys)):
        key = keys[k] ^ ((keys[k] >> 63) & LARGEST)
        low = key if key < low else low
    return position(keys, low ^ ((low >> 63) & LARGEST))


@compiled()
def largest(values: Array) -> int:
    """Where the largest number first stands."""
    keys = values.view(np.int64)
    high = -LARGEST
    for k in range(len(keys)):
        key = keys[k] ^ ((keys[k] >> 63) & LARGEST)
        high = key if key > high else high
    return position(keys, high ^ ((high >> 63) & LARGEST))


@compiled()
def position(keys: NDArray[np.int64], key: int) -> int:
    """Where a number first stands; it stands somewhere."""
    whole = len(keys) - len(keys) % CHUNK
    for start in range(0, whole, CHUNK):
        part = keys[start : start + CHUNK]
        hits = 0
        for k in range(CHUNK):
            hits += part[k] == key
        if hits > 0:
            for k in range(CHUNK):
                if part[k] == key:
                    return start + k
    for k in range(whole, len(keys)):
        if keys[k] == key:
            return k
    return 0


@compiled()
def slopes(g: Array, offset: Array, out: Array) -> None:
    """out = g + offset, without negative zeros: these are no smaller."""
    for k in range(len(g)):
        out[k] = g[k] + offset[k] + 0.0


@compiled()
def shift(g: Array, row: NDArray[Any], other: NDArray[Any], move: float, rise: Array, up: Array) -> None:
    """A move along two rows, which the gradient follows; `up` becomes all slopes of growing."""
    for k in range(len(g)):
        g[k] += move * (row[k] - other[k])
        up[k] = g[k] + rise[k] + 0.0


@compiled()
def promise(
    g: Array,
    fall: Array,
    low: float,
    row: NDArray[Any],
    diagonal: Array,
    own: float,
    down: Array,
    gain: Array,
) -> None:
    """`down` becomes all slopes of falling, `gain` all drops by second order."""
    for k in range(len(g)):
        slope = g[k] + fall[k] + 0.0
        drop = slope - low
        drop = drop if drop > 0.0 else 0.0
        size = own + diagonal[k]
        curve = size - 2.0 * row[k]
        straight = MIN_RELATIVE_CURVATURE * size + MIN_CURVATURE
        curve = curve if curve > straight else straight
        down[k] = slope
        gain[k] = drop * drop / curve


@compiled()
def offsets(b: float, lower: float, upper: float, kink: float) -> tuple[float, float]:
    """What is added to the gradient for the slopes of growing and falling."""
    rise = np.inf if b >= upper else kink if b >= 0.0 else -kink
    fall = -np.inf if b <= lower else kink if b > 0.0 else -kink
    return rise, fall


@compiled()
def walk_loop(
    near: NDArray[Any],
    places: NDArray[np.int64],
    split: int,
    across: NDArray[Any],
    start: int,
    width: int,
    turned: NDArray[Any],
    ready: NDArray[np.bool_],
    diagonal: Array,
    b: Array,
    g: Array,
    lower: Array,
    upper: Array,
    kink: float,
    tolerance: float,
    most: int,
) -> tuple[int, float]:
    """Steps until the violation is within a tolerance; how many, and the violation before the last look.

    The matrix comes in pieces of flat memory, so that parts of a larger one need not be copied. The first `split`
    coefficients have rows of that many numbers in `near`, at their places, and go on in `across`, at `start` and then
    every `width` numbers. The others have the rest of their rows in `near`, and the beginning in columns of `across`,
    which are turned into rows of `turned` when they are first needed, and `ready` then. Where a place is negative the
    row is not known, and the coefficient stays.
    """
    q, beyond = len(b), len(b) - split
    rise, fall, up, down, gain = np.empty(q), np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    for k in range(q):
        rise[k], fall[k] = np.inf, -np.inf
        if places[k] >= 0:
            rise[k], fall[k] = offsets(b[k], lower[k], upper[k], kink)
    slopes(g, rise, up)
    # Both ends of each vector, once: a slice takes as long as some hundred numbers.
    g1, rise1, fall1, up1, down1, gain1 = g[:split], rise[:split], fall[:split], up[:split], down[:split], gain[:split]
    g2, rise2, fall2, up2, down2, gain2 = g[split:], rise[split:], fall[split:], up[split:], down[split:], gain[split:]
    diagonal1, diagonal2 = diagonal[:split], diagonal[split:]
    rest = remainder = across[:0]
    left = 0.0
    for step in range(most):
        i = least(up)
        low, own = up[i], diagonal[i]
        if not low < np.inf:
            return step, 0.0
        if i < split:
            one = near[places[i] : places[i] + split]
            if beyond > 0:
                rest = across[start + i * width : start + i * width + beyond]
        else:
            turn(across, start + i - split, width, split, turned, ready, i - split)
            one = turned[(i - split) * split : (i - split + 1) * split]
            rest = near[places[i] : places[i] + beyond]
        promise(g1, fall1, low, one, diagonal1, own, down1, gain1)
        if beyond > 0:
            promise(g2, fall2, low, rest, diagonal2, own, down2, gain2)
        left = down[largest(down)] - low
        j = largest(gain)
        if not left > tolerance or not gain[j] > 0.0:
            return step, max(0.0, left)
        if j < split:
            value = one[j]
            other = near[places[j] : places[j] + split]
            if beyond > 0:
                remainder = across[start + j * width : start + j * width + beyond]
        else:
            value = rest[j - split]
            turn(across, start + j - split, width, split, turned, ready, j - split)
            other = turned[(j - split) * split : (j - split + 1) * split]
            remainder = near[places[j] : places[j] + beyond]
        size = own + diagonal[j]
        curve = max(size - 2.0 * value, MIN_RELATIVE_CURVATURE * size + MIN_CURVATURE)
        top = 0.0 if kink > 0.0 and b[i] < 0.0 else upper[i]
        bottom = 0.0 if kink > 0.0 and b[j] > 0.0 else lower[j]
        ahead, below = top - b[i], b[j] - bottom
        move = min((down[j] - low) / curve, ahead, below)
        b[i] = top if move == ahead else b[i] + move
        b[j] = bottom if move == below else b[j] - move
        rise[i], fall[i] = offsets(b[i], lower[i], upper[i], kink)
        rise[j], fall[j] = offsets(b[j], lower[j], upper[j], kink)
        shift(g1, one, other, move, rise1, up1)
        if beyond > 0:
            shift(g2, rest, remainder, move, rise2, up2)
    return most, max(0.0, left)


@compiled()
def turn(
    across: NDArray[Any], start: int, width: int, split: int, turned: NDArray[Any], ready: NDArray[np.bool_], k: int
) -> None:
    """One column of `across` as a row of `turned`, unless it is there."""
    if not ready[k]:
        out = turned[k * split : (k + 1) * split]
        for i in range(split):
            out[i] = across[start + i * width]
        ready[k] = True


@compiled()
def gradient_loop(
    near: NDArray[Any],
    places: NDArray[np.int64],
    split: int,
    across: NDArray[Any],
    start: int,
    width: int,
    turned: NDArray[Any],
    ready: NDArray[np.bool_],
    b: Array,
    g: Array,
) -> None:
    """g += K b, for a matrix in pieces, of which all rows are known where b is not zero; see `walk_loop`."""
    beyond = len(b) - split
    for i in range(len(b)):
        if b[i] != 0.0:
            if i < split:
                add_row(near[places[i] : places[i] + split], b[i], g[:split])
                add_row(across[start + i * width : start + i * width + beyond], b[i], g[split:])
            else:
                turn(across, start + i - split, width, split, turned, ready, i - split)
                add_row(turned[(i - split) * split : (i - split + 1) * split], b[i], g[:split])
                add_row(near[places[i] : places[i] + beyond], b[i], g[split:])


@compiled()
def add_row(row: NDArray[Any], factor: float, out: Array) -> None:
    """out += factor row."""
    for k in range(len(out)):
        out[k] += factor * row[k]


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
    for i in range(len(slots)):
        add_row(pool[slots[i], start:stop], factors[i], out[start:stop])


def walk(
    K: NDArray[Any],
    problem: BoxQP,
    b: Array,
    g: Array,
    tolerance: float,
    most: int,
    diagonal: Array | None = None,
    slots: NDArray[np.intp] | None = None,
) -> tuple[int, float]:
    """Steps inside of a working set until its violation is within a tolerance; how many, and the violation before them.

    K : (q, q), of the working set; or some of its rows, in C order
    b, g : coefficients and K b + c of the whole problem at the set, which are changed
    diagonal : of the matrix; None where K has all rows
    slots : which row of K belongs to each coefficient, -1 for none: it stays as it is; None where K has all rows
    """
    rows = np.ascontiguousarray(K)
    diagonal = np.ascontiguousarray(rows.diagonal(), dtype=np.float64) if diagonal is None else diagonal
    steps, left = 0, np.inf
    if slots is None and not is_compiled(len(b)):
        plain = min(most, max(0, MAX_NUMPY_STEPS - Taken.steps))
        steps, left = walk_numpy(rows, diagonal, problem, b, g, tolerance, plain)
        Taken.steps += steps
        if steps < plain or steps == most:
            return steps, left
    if slots is None and not jit_cache.numba_works():
        more, left = walk_numpy(rows, diagonal, problem, b, g, tolerance, most - steps)
        return steps + more, left
    box = problem.lower, problem.upper, problem.kink
    more, left = walk_loop(*in_one_piece(rows, slots), diagonal, b, g, *box, tolerance, most - steps)
    return int(steps + more), float(left)


def in_one_piece(rows: NDArray[Any], slots: NDArray[np.intp] | None) -> Pieces:
    """How compiled loops take rows of a matrix that are all in one table, which is in C order; slots as in `walk`."""
    n, none = rows.shape[1], np.empty(0, rows.dtype)
    places = np.arange(0, n * n, n, dtype=np.int64) if slots is None else slots.astype(np.int64) * n
    return rows.reshape(-1), places, n, none, 0, 0, none, np.empty(0, bool)


class Taken:
    """Steps that NumPy has taken in this process: few are done before compiled loops are loaded, many are not."""

    steps = 0


def is_compiled(count: int) -> bool:
    """Whether compiled loops are used at once for so many coefficients; Numba is imported where they are."""
    wanted = count >= MIN_COMPILED_COEFFICIENTS or walk_loop.is_loaded or Taken.steps >= MAX_NUMPY_STEPS
    return wanted and jit_cache.numba_works()


def gradient(K: NDArray[Any], problem: BoxQP, b: Array) -> Array:
    """K b + c, row by row of the support, in the order of these: the same bits in compiled code and in NumPy."""
    g, support = problem.linear.copy(), b.nonzero()[0]
    if len(support) == 0:
        return g
    if walk_loop.is_loaded:
        add(K, support, b[support], 0, len(g), g)
    else:
        for i in support:
            g += b[i] * K[i]
    return g


def walk_numpy(
    K: NDArray[Any], diagonal: Array, problem: BoxQP, b: Array, g: Array, tolerance: float, most: int
) -> tuple[int, float]:
    """The steps of `walk_loop` by NumPy, to the same bits where K is in float64."""
    left = 0.0
    for step in range(most):
        rises, falls = problem.rises(b, g), problem.falls(b, g)
        i = int(rises.argmin())
        low = rises[i]
        if not low < np.inf:
            return step, 0.0
        left = float(falls.max() - low)
        drops = np.maximum(falls - low, 0.0)
        sizes = diagonal[i] + diagonal
        curves = np.maximum(sizes - 2.0 * K[i], MIN_RELATIVE_CURVATURE * sizes + MIN_CURVATURE)
        gains = drops * drops / curves
        j = int(gains.argmax())
        if not left > tolerance or not gains[j] > 0.0:
            return step, max(0.0, left)
        top = 0.0 if problem.kink > 0 and b[i] < 0 else problem.upper[i]
        bottom = 0.0 if problem.kink > 0 and b[j] > 0 else problem.lower[j]
        ahead, below = top - b[i], b[j] - bottom
        move = min(drops[j] / curves[j], ahead, below)
        b[i] = top if move == ahead else b[i] + move
        b[j] = bottom if move == below else b[j] - move
        g += np.float64(move) * (K[i] - K[j])
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
