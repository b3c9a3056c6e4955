"""What pairs of structured data cost, in the planner's unit: columns of numbers that take as long."""

from __future__ import annotations

import time

import numpy as np

from mercer.kernels.evaluation.evaluate import matrix
from mercer.learners.data.views import KernelView, View
from mercer.planner.machine import Machine

MIN_TIMED_ROWS = 64
"""Rows whose pairs are timed at first: then more and more, until that takes long enough to tell."""
MAX_TIMED_ROWS = 1024
"""Rows whose pairs are timed, at most."""
TELLING_SECONDS = 0.25
"""Seconds that tell; from 1,024 rows on, kernels that count are computed as they are for many."""


def columns_of(view: View, columns: int) -> int:
    """How many columns of numbers take as long as those of a view: its own, or for structured data what was timed."""
    pair = pair_of(view)
    if pair is None:
        return columns
    machine = Machine.here()
    return max(columns, round((pair - machine.pair) / machine.pair_column))


def pair_of(view: View) -> float | None:
    """Seconds per pair of a kernel of structured data; None for others, which are known. Cost: less than a second."""
    return _pair(view) if isinstance(view, KernelView) and view.kernel.kinds else None


def _pair(view: KernelView) -> float:
    """Seconds for a pair of rows."""
    random, rows = np.random.default_rng(0), min(MIN_TIMED_ROWS, view.count)
    while True:
        chosen = np.sort(random.choice(view.count, rows, replace=False))
        left, right = view.points.rows(chosen), view.points.rows(chosen[::-1])
        matrix(view.kernel, left, right)  # objects are counted once for all pairs
        start = time.perf_counter()
        matrix(view.kernel, left, right)
        took = time.perf_counter() - start
        if took > TELLING_SECONDS or rows >= min(MAX_TIMED_ROWS, view.count):
            return took / rows**2
        rows = min(4 * rows, MAX_TIMED_ROWS, view.count)
