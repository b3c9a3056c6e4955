"""The Cholesky factor of a large matrix in many short calls: it can be interrupted, and says how far it is."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS, Routine, patiently, routine
from mercer.compute.runtime.run import IDLE, Run

PANEL_COLUMNS = 512
"""Columns of a panel: enough for fast products, few enough that triangles on the diagonal are a small part."""
MIN_BLOCKED_ROWS = 1500
"""Rows from which on a factor is found panel by panel: below, one call of LAPACK is short, and a little faster."""


def available(letter: str = "d") -> bool:
    """Whether BLAS and LAPACK can be called in place here, for float64 ("d") or float32 ("s")."""
    return None not in [routine(letter + name) for name in ("gemm", "syrk", "trsm", "potrf", "potrs", "pocon")]


def factor_in_place(stored: NDArray[Any], run: Run = IDLE) -> int:
    """L in the lower triangle of S, with S = L L'; 0, or as dpotrf says the first row where S is not positive.

    Panel after panel: what the panels to its left explain is subtracted, its triangle is factored, and the rows below
    are divided by it. Cost: n^3 / 3 operations, and no memory. Above the diagonal nothing is read or changed.

    stored : S, columns first, of float64 or float32; columns may be apart
    """
    n = len(stored)
    for start in range(0, n, PANEL_COLUMNS):
        stop = min(start + PANEL_COLUMNS, n)
        info = _corner(stored, start, stop)
        if info:
            return start + info
        for rows in _strips(stop, n, (stop - start) * (2 * start + PANEL_COLUMNS)):
            _below(stored, rows, start, stop)
            run.tell(_share(start, n))
    run.tell(1.0)
    return 0


def reciprocal_condition(stored: NDArray[Any], norm: float) -> float:
    """One over the condition number of S in the 1-norm, estimated from L in some 10 n^2 operations.

    norm : of S, the largest sum of |S| along a row
    """
    pocon, n, kind = native("pocon", stored), len(stored), stored.dtype
    found, work, whole = np.zeros(1, kind), np.empty(3 * n, kind), np.empty(n, dtype=pocon.integer)
    patiently(partial(pocon.checked, "L", n, stored, apart(stored), norm, found, work, whole))
    return float(found[0])


def _corner(stored: NDArray[Any], start: int, stop: int) -> int:
    """The triangle of a panel."""
    syrk, potrf = native("syrk", stored), native("potrf", stored)
    step, width, corner = apart(stored), stop - start, stored[start:, start:]
    syrk("L", "N", width, start, -1.0, stored[start:], step, 1.0, corner, step)
    return potrf.checked("L", width, corner, step)


def _below(stored: NDArray[Any], rows: slice, start: int, stop: int) -> None:
    """Some rows of a panel below its triangle."""
    gemm, trsm = native("gemm", stored), native("trsm", stored)
    step, count, width, part = apart(stored), rows.stop - rows.start, stop - start, stored[rows, start:]
    gemm("N", "T", count, width, start, -1.0, stored[rows], step, stored[start:], step, 1.0, part, step)
    trsm("R", "L", "T", "N", count, width, 1.0, stored[start:, start:], step, part, step)


def apart(stored: NDArray[Any]) -> int:
    """The distance between columns, in numbers."""
    return int(stored.strides[1]) // stored.itemsize


def native(name: str, stored: NDArray[Any]) -> Routine:
    """The routine of a name without its letter, for the numbers of a matrix."""
    found = routine(("d" if stored.dtype == np.float64 else "s") + name)
    if found is None:
        raise NotImplementedError  # `available` was not asked
    return found


def _strips(start: int, stop: int, operations: int) -> list[slice]:
    """Rows in parts of about `MAX_CALL_OPERATIONS` operations, of which each row takes so many."""
    step = max(1, int(MAX_CALL_OPERATIONS / operations))
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def _share(start: int, n: int) -> float:
    """The share of the work that is done before the panel at this row."""
    part = start / n
    return part * part * (3 - 2 * part)
