"""The Cholesky factor of a large matrix in many short calls: it can be interrupted, and says how far it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.compute.native import CALL, routine
from mercer.compute.run import IDLE, Run

WIDTH = 512
"""Columns of a panel: enough for fast products, few enough that triangles on the diagonal are a small part."""
LARGE = 1500
"""Rows from which on a factor is found panel by panel: below, one call of LAPACK is short, and a little faster."""


def available() -> bool:
    """Whether BLAS and LAPACK can be called in place here."""
    return None not in [routine(name) for name in ("dgemm", "dsyrk", "dtrsm", "dpotrf")]


def factor_in_place(stored: NDArray[np.float64], run: Run = IDLE) -> int:
    """L in the lower triangle of S, with S = L L'; 0, or as dpotrf says the first row where S is not positive.

    Panel after panel: what the panels to its left explain is subtracted, its triangle is factored, and the rows below
    are divided by it. Cost: n^3 / 3 operations, and no memory. Above the diagonal nothing is changed.

    stored : S, columns first
    """
    n = len(stored)
    for start in range(0, n, WIDTH):
        stop = min(start + WIDTH, n)
        info = _corner(stored, start, stop)
        if info:
            return start + info
        for rows in _strips(stop, n, (stop - start) * (2 * start + WIDTH)):
            _below(stored, rows, start, stop)
            run.tell(_share(start, n))
    run.tell(1.0)
    return 0


def _corner(stored: NDArray[np.float64], start: int, stop: int) -> int:
    """The triangle of a panel."""
    syrk, potrf = routine("dsyrk"), routine("dpotrf")
    if syrk is None or potrf is None:
        raise NotImplementedError  # `available` was not asked
    n, width, corner = len(stored), stop - start, stored[start:, start:]
    syrk("L", "N", width, start, -1.0, stored[start:], n, 1.0, corner, n)
    return potrf.checked("L", width, corner, n)


def _below(stored: NDArray[np.float64], rows: slice, start: int, stop: int) -> None:
    """Some rows of a panel below its triangle."""
    gemm, trsm = routine("dgemm"), routine("dtrsm")
    if gemm is None or trsm is None:
        raise NotImplementedError
    n, count, width, part = len(stored), rows.stop - rows.start, stop - start, stored[rows, start:]
    gemm("N", "T", count, width, start, -1.0, stored[rows], n, stored[start:], n, 1.0, part, n)
    trsm("R", "L", "T", "N", count, width, 1.0, stored[start:, start:], n, part, n)


def _strips(start: int, stop: int, operations: int) -> list[slice]:
    """Rows in parts of about `CALL` operations, of which each row takes so many."""
    step = max(1, int(CALL / operations))
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def _share(start: int, n: int) -> float:
    """The share of the work that is done before the panel at this row."""
    part = start / n
    return part * part * (3 - 2 * part)
