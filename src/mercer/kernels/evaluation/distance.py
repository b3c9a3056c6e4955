"""The kernel distance: from values where points are far from each other, without cancellation where they are near."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import is_tensor, like
from mercer.kernels.evaluation.evaluate import ready, values_of, warn_where_infinite
from mercer.kernels.near_pairs import TAKES_NO_DIGITS, NearPairs
from mercer.kernels.points import DOUBLE, Points
from mercer.kernels.precision.pairs import PrecisePairs

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

NEAR = 1 / 16
"""Points are near where their squared distance is below this part of k(x, x) + k(z, z)."""
MAX_CANCELLED = 1e-3
"""A sum below this part of its terms has lost too many digits: 50 digits are taken instead."""
MAX_NUMBERS = 1 << 20
"""Coordinates of near pairs that are held at once; several arrays have as many numbers."""
UNRESOLVED = 1e-45
"""A squared distance below this part of k(x, x) + k(z, z) is not told from zero with 50 digits."""

Array = NDArray[Any]


def distance(kernel: Kernel, X: Any, Z: Any = None) -> Array:
    """The kernel distance of all pairs; a negative square, of no kernel, counts as zero, overflow as infinity."""
    left, right = ready(kernel, X, Z)
    wide = replace(left, dtype=DOUBLE)
    with np.errstate(all="ignore"):
        here, there = kernel.evaluate_diagonal(left), kernel.evaluate_diagonal(right)
        squared, _ = values_of(kernel, wide, wide if right is left else replace(right, dtype=DOUBLE))
        squared *= -2
        squared += here[:, None] + there[None, :]
        _repair(kernel, left, right, squared, NEAR * np.abs(here), NEAR * np.abs(there))
        squared[np.isnan(squared)] = np.inf
        result: Array = np.sqrt(np.maximum(squared, 0.0)).astype(np.result_type(left.dtype, right.dtype), copy=False)
    if left is right:
        np.fill_diagonal(result, 0.0)
    warn_where_infinite(kernel, result)
    return like(result, X) if is_tensor(X) else result


def _repair(kernel: Kernel, left: Points, right: Points, squared: Array, here: Array, there: Array) -> None:
    """Compute squared distances below the sum of two limits again, in place."""
    n, m = squared.shape
    most = max(1, MAX_NUMBERS // _numbers(left))
    for start in range(0, n, max(1, MAX_NUMBERS // m)):
        rows = slice(start, start + max(1, MAX_NUMBERS // m))
        near = squared[rows] < here[rows, None] + there
        if left is right:
            near &= np.arange(m) > np.arange(n)[rows, None]
        i, j = np.nonzero(near)
        i += start
        for first in range(0, len(i), most):
            some = slice(first, first + most)
            found = squares(kernel, left, right, i[some], j[some])
            if found is None:
                return
            found = np.where(np.isnan(found), squared[i[some], j[some]], found)
            squared[i[some], j[some]] = found
            if left is right:
                squared[j[some], i[some]] = found


def _numbers(points: Points) -> int:
    """Numbers that a row stores, on average."""
    values: Any = points.values
    return 1 + int(values.nnz // values.shape[0] if points.sparse else values.shape[1])


def squares(kernel: Kernel, left: Points, right: Points, i: NDArray[np.intp], j: NDArray[np.intp]) -> Array | None:
    """The squared distances of pairs of rows, sorted by i; None or NaN where nothing better than k itself is known."""
    pairs = NearPairs.of(left, right, i, j)
    gap = kernel.evaluate_gap(pairs)
    if gap is None:
        return None if kernel.kinds else _with_50_digits(kernel, pairs)
    found: Array = 2 * gap.half
    lost = np.flatnonzero(~(gap.half >= MAX_CANCELLED * gap.size))
    if len(lost) and not kernel.kinds:
        exact = _with_50_digits(kernel, NearPairs.of(left, right, i[lost], j[lost]))
        if exact is not None:
            found[lost] = exact
    return found


def _with_50_digits(kernel: Kernel, pairs: NearPairs) -> Array | None:
    """The squared distances; None where a function inside insists on floats."""
    try:
        left, right = pairs.exact
        here, there = _diagonal(kernel, left)[pairs.i], _diagonal(kernel, right)[pairs.j]
        values = np.empty(len(pairs.i), dtype=object)
        for at, row, rows in pairs.by_row(left, right):
            block = kernel.evaluate(PrecisePairs(row, rows))
            if block.dtype != object:
                return None
            values[at] = block[0]
    except TAKES_NO_DIGITS:
        return None
    total = here + there
    found = (total - 2 * values).astype(np.float64)
    return np.where(np.abs(found) < UNRESOLVED * np.abs(total.astype(np.float64)), 0.0, found)


def _diagonal(kernel: Kernel, points: Points) -> Array:
    """k(x, x) as `evaluate` has it, which rounds no constant."""
    rows = [points.rows(slice(i, i + 1)) for i in range(len(points.values))]
    return np.array([kernel.evaluate(PrecisePairs(row, row))[0, 0] for row in rows], dtype=object)
