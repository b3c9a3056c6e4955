"""Numbers that are finite and still too large or too small: what is computed from them overflows or vanishes.

Without this the choice of alpha fails first, and does not tell: all leave-one-out errors are 0 or infinite then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import leaves
from mercer.kernels.points import SINGLE, Points
from mercer.learners.data.views import KernelView, LiftView, MatrixView, TableView, View
from mercer.operators import Centering

Array = NDArray[np.float64]
DIGITS = np.finfo(np.float64)
LEAST, MOST = float(DIGITS.tiny / DIGITS.eps), float(DIGITS.max * DIGITS.eps)
"""Between these a sum keeps all of its digits, and some factors more leave it finite."""
MIN_TRACE = 1e-140
"""The least trace of a kernel matrix for penalties from its spectrum: the squares of 1 / alpha must be finite."""
FAR_ROWS = 64
"""Rows far from the origin at which the features of a lift are looked at."""


def refuse_extremes(
    view: View, targets: Array, centering: Centering, from_spectrum: bool, dtype: np.dtype[Any]
) -> None:
    """Refuse targets and values of a kernel with squares or sums that overflow or vanish. Cost: a pass over the data.

    targets : (n, outputs), finite
    from_spectrum : whether penalties are to be found from the spectrum of the kernel
    dtype : that of predictions
    """
    sizes = refuse_targets(targets, centering.weights, dtype)
    trace = refuse_range(view, centering.total, sizes)
    if from_spectrum and (0 < trace < MIN_TRACE or (trace == 0 and _vanishes(view))):
        got, remedy = f"those of {_source(view)} add up to {trace:.2g}", "Scale the data up, or normalize the kernel."
        raise InputError(message("values of the kernel that do not vanish, to choose alpha", got, remedy))


def refuse_range(view: View, total: float, size: float | None = None) -> float:
    """Refuse values of a kernel with sums that overflow; the sum of k(x, x) over all rows, at most.

    total : the sum of the weights of the rows
    size : that of their squared targets; None where there are none, for one each
    """
    with np.errstate(all="ignore"):
        trace = total * _largest(view)
        products = (total if size is None else size) * trace
    if not (trace <= MOST and products <= MOST):
        got, remedy = f"{_source(view)} overflows on this data", "Scale the data down, or normalize the kernel."
        raise InputError(message("values of the kernel with finite sums", got, remedy))
    return trace


def refuse_far(kernel: Kernel, points: Points) -> None:
    """Refuse rows whose distances overflow, where a lengthscale is to be found from them."""
    for leaf, inner in leaves(kernel, points):
        largest = farthest(inner)
        if leaf.is_open and 4 * inner.values.shape[1] * largest > MOST / max(largest, 1.0):
            got = f"got numbers up to {largest:.2g}"
            raise InputError(message("rows with finite squared distances", got, "Scale the columns down."))


def farthest(points: Points) -> float:
    """The largest number by size, without a copy of the table."""
    return max(float(points.values.max()), -float(points.values.min()))


def refuse_targets(targets: Array, weights: Array, dtype: np.dtype[Any]) -> float:
    """Refuse targets whose squares overflow or vanish, or that predictions cannot hold; the largest sum of squares."""
    with np.errstate(all="ignore"):
        sizes = weights @ targets**2
    largest = np.abs(targets).max(axis=0)
    bad = np.flatnonzero((sizes > MOST) | ((sizes < LEAST) & (largest > 0)))
    if bad.size:
        needs, got = "targets with squares that float64 can hold", f"got numbers up to {largest[bad[0]]:.2g}"
        raise InputError(message(needs, got, "Scale y."))
    if dtype == SINGLE and largest.max() > np.finfo(SINGLE).max:
        needs, got = "targets that float32 can hold, as X is float32", f"got numbers up to {largest.max():.2g}"
        raise InputError(message(needs, got, "Scale y, or give X in float64."))
    return float(sizes.max())


def _largest(view: View) -> float:
    """The largest k(x, x), which no other value exceeds; for a lift among the rows farthest from the origin."""
    if isinstance(view, MatrixView):
        return float(np.diagonal(view.matrix).max())
    if isinstance(view, LiftView):
        view = view.chosen(np.argsort(row_norms(view.points.values, squared=True))[-FAR_ROWS:])
    if not isinstance(view, TableView):
        raise TypeError(f"rows of a {type(view).__name__} have no values of a kernel")
    return float(view.diagonal(view.points).max())


def _vanishes(view: View) -> bool:
    """Whether the kernel is zero on these rows, and is not on larger ones: what is zero by its formula stays so."""
    if not isinstance(view, KernelView):
        return False
    largest = farthest(view.points)
    if largest == 0:
        return False
    with np.errstate(over="ignore"):
        larger = replace(view, points=replace(view.points, values=view.points.values / largest))
    return _largest(larger) > 0


def _source(view: View) -> str:
    """Where the values of a kernel come from."""
    if isinstance(view, LiftView):
        return type(view.lift).__name__
    return "the precomputed matrix" if view.kernel is None else str(view.kernel)
