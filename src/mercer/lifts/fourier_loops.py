"""Waves at speed: cos(w.(x - c)) and sin(w.(x - c)) for every row x and every frequency w.

Tiles of phases w.(x - c) come from BLAS and stay in the second-level cache; a generated loop takes their cosines and
sines, with one reduction by multiples of pi for both, and writes them to the result, scaled. The origin c lies among
the rows, so that rows far from zero keep their phases.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.intrinsics import SIN_LIMIT, prelude
from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.codegen.tiles import dealt
from mercer.compute.runtime import threads
from mercer.errors import NumericalWarning, caller_level

Array = NDArray[Any]

MIN_COMPILED_NUMBERS = 1 << 20
"""Numbers in the result from which on compiled code is used: below it, NumPy takes less time than loading the code."""
TILE_BYTES = 1 << 19
"""Bytes per tile of phases, at most: about the second-level cache of a core."""
MAX_TILE_FREQUENCIES = 1024
"""Frequencies per tile, at most."""
MAX_FLOAT32_PHASE = 16.0
"""The largest |w| |x - c| for which float32 rows are multiplied in float32.

There a rounding, 2^-24, moves a phase by 1e-6 at most: at the very limit 3e-6 in all, by those of w, x and the product,
and errors of both signs cancel in the inner products of many waves. Longer phases come from products in float64, where
they lose whole turns, and only the rest goes on in float32.
"""


@dataclass(frozen=True, eq=False)
class Waves:
    """The features scale cos(w.(x - c) + t), or, without offsets t, scale cos(w.(x - c)) and scale sin(w.(x - c)).

    Cost: n m d operations for the phases and about 30 for each of n m of them; memory: the result, a tile per thread.

    frequencies : (m, d), one w per row
    center : (d,), the origin c
    scale : by what every wave is multiplied
    offsets : (m,), the t; None for pairs: then the first m features are the cosines, the next m the sines

    >>> waves = Waves(np.array([[np.pi]]), np.zeros(1), 2.0)
    >>> waves.of(np.array([[0.0], [1.0], [0.5]])).round(12) + 0.0
    array([[ 2.,  0.],
           [-2.,  0.],
           [ 0.,  2.]])
    """

    frequencies: NDArray[np.float64]
    center: NDArray[np.float64]
    scale: float
    offsets: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """How many features there are."""
        return len(self.frequencies) * (2 if self.offsets is None else 1)

    def of(self, X: Any, workers: int | None = None, watch: threads.Watch | None = None) -> Array:
        """The features of rows, float32 or float64, dense or compressed sparse, in their dtype."""
        out = np.empty((X.shape[0], self.count), X.dtype)
        large = out.size >= MIN_COMPILED_NUMBERS
        fill = _compiled if large and jit_cache.numba_works() else _plain
        step = max(16, TILE_BYTES // 8 // min(MAX_TILE_FREQUENCIES, len(self.frequencies)))
        pieces = dealt(range(0, X.shape[0], step), threads.count(workers) if large else 1)
        lost = [0] * len(pieces)

        def work(worker: int, i0: int, stop: threads.Stop) -> None:
            tiles = Tiles(self, X[i0 : i0 + step])
            for j0 in range(0, len(self.frequencies), MAX_TILE_FREQUENCIES):
                lost[worker] += fill(tiles, out, i0, j0)
                if not stop.step(worker, tiles.share(j0) * self.count // len(self.frequencies)):
                    return

        if large:
            threads.run(work, pieces, out.size, watch)
        else:
            _run_here(work, pieces[0])
        _warn_of_overflow(sum(lost))
        return out

    @cached_property
    def longest(self) -> float:
        """The largest |w|."""
        return float(np.sqrt(_largest_square(self.frequencies)))

    @cached_property
    def packed(self) -> dict[str, Array]:
        """The frequencies as columns, in both types."""
        wide = np.ascontiguousarray(self.frequencies.T)
        with np.errstate(over="ignore"):  # what overflows is not short
            return {"float64": wide, "float32": wide.astype(np.float32)}

    @cached_property
    def shifts(self) -> dict[bool, NDArray[np.float64]]:
        """What is added to the phases: the offsets; for sparse rows (True), which are not moved, less w.c."""
        offsets = np.zeros(len(self.frequencies)) if self.offsets is None else self.offsets
        return {False: offsets, True: offsets - self.frequencies @ self.center}


class Tiles:
    """The phases of some rows, a panel of frequencies at a time.

    precision : "float64"; for float32 rows "float32" or "mixed", by their lengths
    """

    def __init__(self, waves: Waves, rows: Any) -> None:
        self.waves = waves
        sparse = is_sparse(rows)
        moved = rows.astype(np.float64) if sparse else rows - waves.center
        self.precision = "float64" if rows.dtype == np.float64 else "mixed"
        if (
            self.precision == "mixed"
            and not sparse
            and waves.longest * np.sqrt(_largest_square(moved)) <= MAX_FLOAT32_PHASE
        ):
            self.precision = "float32"
        self.type = "float32" if self.precision == "float32" else "float64"
        self.rows = moved.astype(self.type, copy=False)
        self.shifts = waves.shifts[sparse].astype(self.type, copy=False)

    def phases(self, j0: int) -> Array:
        """(rows, up to MAX_TILE_FREQUENCIES): w.(x - c), before shifts."""
        return np.ascontiguousarray(self.rows @ self.waves.packed[self.type][:, j0 : j0 + MAX_TILE_FREQUENCIES])

    def share(self, j0: int) -> int:
        """How many phases a panel has."""
        return int(self.rows.shape[0]) * min(MAX_TILE_FREQUENCIES, len(self.waves.frequencies) - j0)


def _run_here(work: threads.Work, starts: list[int]) -> None:
    """The work of one worker, without a pool."""
    stop = threads.Stop(1)
    with np.errstate(all="ignore"):
        for i0 in starts:
            work(0, i0, stop)


def _plain(tiles: Tiles, out: Array, i0: int, j0: int) -> int:
    """Waves by NumPy; how many phases overflow."""
    waves, m = tiles.waves, len(tiles.waves.frequencies)
    phases = tiles.phases(j0) + tiles.shifts[j0 : j0 + MAX_TILE_FREQUENCIES]
    i1, width = i0 + phases.shape[0], phases.shape[1]
    out[i0:i1, j0 : j0 + width] = waves.scale * np.cos(phases)
    if waves.offsets is None:
        out[i0:i1, m + j0 : m + j0 + width] = waves.scale * np.sin(phases)
    return int(phases.size - np.isfinite(phases).sum())


def _compiled(tiles: Tiles, out: Array, i0: int, j0: int) -> int:
    """Waves by a generated loop; how many phases overflow."""
    waves, m = tiles.waves, len(tiles.waves.frequencies)
    fill = _loop(tiles.precision, pairs=waves.offsets is None)
    return int(fill(tiles.phases(j0), tiles.shifts[j0 : j0 + MAX_TILE_FREQUENCIES], waves.scale, out, i0, j0, m + j0))


def _largest_square(rows: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.einsum("ij,ij->i", rows, rows).max())


def _warn_of_overflow(lost: int) -> None:
    if lost:
        warnings.warn(
            f"{lost} phases w.x overflow, and their waves are NaN. Scale the data down, or use a longer lengthscale.",
            NumericalWarning,
            stacklevel=caller_level(),
        )


# -- the generated loop --------------------------------------------------------------------------------------------

# Both waves of a phase share their reduction once they are inlined. A phase beyond what the words reduce is rare (the
# tail of a Cauchy law), so that those of a row are counted, and done again by the mathematics library.
_LOOP = """
S, LIMIT = np.{wide}, np.{wide}({limit})
TURNS, TURN_1, TURN_2 = 0.5 / math.pi, 6.2831853069365025, 2.4308402025215864e-10


@njit(**WORD)
def rest(u):  # less whole turns: the first part of a turn has few digits, so that its multiples are exact
    n = np.rint(u * TURNS)
    return FLOAT((u - n * TURN_1) - n * TURN_2)


@njit(cache=True, nogil=True, fastmath=FLAGS, boundscheck=False, error_model='numpy')
def fill(tile, shifts, scale, out, i0, j0, k0):
    height, width = tile.shape
    scale, lost = FLOAT(scale), 0
    rests = np.empty(width, FLOAT)
    for i in range(height):
        phases = tile[i]
        cosines = out[i0 + i, j0 : j0 + width]
        sines = out[i0 + i, k0 : k0 + {pairs} * width]
        far = S(0)
        for j in range(width):
            u = phases[j] + shifts[j]
            far += S(1) if abs(u) > LIMIT else S(0)
            {reduced}
            cosines[j] = scale * cos(v)
            {sine}
        if far > S(0):
            for j in range(width):
                u = np.float64(phases[j] + shifts[j])
                if abs(u) > LIMIT:
                    lost += 0 if abs(u) < np.inf else 1
                    cosines[j] = scale * math.cos(u)
                    {far_sine}
    return lost
"""
# In two types at once a loop would not use all lanes: the rests of a row go through a buffer.
_PARTED = """rests[j] = rest(u)
        for j in range(width):
            v = rests[j]"""


@cache
def _loop(precision: str, pairs: bool) -> Any:
    return jit_cache.load(text(precision, pairs)).fill


def text(precision: str, pairs: bool) -> str:
    """The loop for a precision, as a module; it writes pairs, or cosines alone."""
    values, wide = ("float32", "float64") if precision == "mixed" else (precision, precision)
    return prelude(values, ["cos", "sin"] if pairs else ["cos"]) + _LOOP.format(
        wide=wide,
        limit=SIN_LIMIT[wide],
        pairs=int(pairs),
        reduced=_PARTED if precision == "mixed" else "v = u",
        sine="sines[j] = scale * sin(v)" if pairs else "",
        far_sine="sines[j] = scale * math.sin(u)" if pairs else "",
    )
