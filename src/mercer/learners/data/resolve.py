"""A kernel, a lift or a matrix as it was given, and rows: the rows as they are seen, with all numbers of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import check_dimension, check_domain, leaves
from mercer.kernels.fields import MEDIAN
from mercer.kernels.points import DOUBLE, Points
from mercer.learners.data.range_checks import refuse_far
from mercer.learners.data.rows import at_rows, n_rows
from mercer.learners.data.validation import kernel_of, lengthscale_of
from mercer.learners.data.views import KernelView, LiftView, MatrixView, View
from mercer.learners.parameters import LOO
from mercer.lifts.base import Lift
from mercer.operators.precomputed import read_square

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
STRETCHES = tuple(2.0**k for k in range(-4, 3))
"""The grid of `lengthscale="loo"`: from a sixteenth of the median distance to four times it."""
MAX_MEDIAN_ROWS = 1 << 17
"""Rows among which the median distance is looked for, at most: sorting millions takes longer than it tells."""


def resolve_view(
    kernel: Any,
    lengthscale: Any,
    rows: Any,
    table: Any,
    kept: Rows,
    copies: Array | None = None,
    memory_limit: Any = None,
) -> View:
    """All rows, through the kernel with its numbers; `lengthscale` is no choice among several.

    rows : points, or a matrix where the kernel is precomputed
    table : the same as the user gave it, for lifts, which know names of columns
    kept : the positions of the rows that count, from which numbers are found
    copies : how often each row counts; None for once
    """
    return next(candidate_views(kernel, lengthscale, rows, table, kept, copies, memory_limit))


def candidate_views(
    kernel: Any, lengthscale: Any, rows: Any, table: Any, kept: Rows, copies: Array | None, memory_limit: Any
) -> Iterator[View]:
    """The rows as each candidate sees them: several where lengthscales are tried."""
    given, scale = kernel_of(kernel), lengthscale_of(lengthscale)
    if not isinstance(given, Kernel):
        if scale != MEDIAN:
            got = "the kernel is precomputed" if isinstance(given, str) else f"{type(given).__name__} is a lift"
            raise InputError(message(f"a kernel for lengthscale={scale!r}", got, 'Use "median".'))
        yield _given_view(given, rows, table, kept, memory_limit)
        return
    wide = rows if rows.dtype == DOUBLE else replace(rows, dtype=DOUBLE)
    whole = len(kept) == wide.values.shape[0]
    fitted = wide if whole else wide.rows(kept)
    for found in _kernels(given, scale, fitted, copies if whole else at_rows(copies, kept)):
        for leaf, points in leaves(found, wide):
            check_domain(leaf, points)
            check_dimension(leaf, points)
        yield KernelView(wide, found)


def _given_view(given: Lift | str, rows: Any, table: Any, kept: Rows, limit: Any) -> View:
    if isinstance(given, Lift):
        seen = _learnt_from(given, kept, limit)
        part = table if len(seen) == n_rows(rows) else _safe_indexing(table, seen)
        return LiftView(replace(rows, dtype=DOUBLE), clone(given).fit(part))
    return MatrixView(read_square(rows))


def _learnt_from(lift: Lift, kept: Rows, limit: Any) -> Rows:
    """The rows that a lift learns from: all, or as many as leave room where it holds its features of all of them."""
    from mercer.lifts.nystrom import Nystrom  # where a lift was given

    if not isinstance(lift, Nystrom) or not isinstance(lift.n_components, int) or limit is None:
        return kept
    most = max(2 * lift.n_components, Budget.of(limit).bytes // 32 // lift.n_components)
    return kept if len(kept) <= most else kept[np.sort(np.random.default_rng(0).choice(len(kept), most, replace=False))]


def _kernels(kernel: Kernel, scale: str | float, points: Points, copies: Array | None) -> list[Kernel]:
    """The kernel with its numbers, or several where its lengthscale is tried."""
    if isinstance(scale, float):
        if not kernel.is_open:
            remedy = "Write lengthscale='median' in the kernel." if kernel.has_lengthscale else 'Use "median".'
            needs = f"an open lengthscale for lengthscale={scale!r}"
            raise InputError(message(needs, f"{kernel} has none", remedy))
        return [kernel.closed(scale).resolve_points(points, copies)]  # what else is open is found
    if scale != LOO and not kernel.is_open:
        return [kernel]
    refuse_far(kernel, points)
    count = points.values.shape[0]
    if count > MAX_MEDIAN_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(count, MAX_MEDIAN_ROWS, replace=False))
        points, copies = points.rows(rows), at_rows(copies, rows)
    if scale != LOO:
        return [kernel.resolve_points(points, copies)]
    if not kernel.has_lengthscale:
        raise InputError(message('a lengthscale for lengthscale="loo"', f"{kernel} has none", 'Use "median".'))
    if kernel.is_open:
        return [kernel.resolve_points(points, copies, stretch) for stretch in STRETCHES]
    return [kernel.stretched(stretch) for stretch in STRETCHES]
