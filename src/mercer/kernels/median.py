"""The median heuristic: a lengthscale from the distances of the data itself.

Weights are frequencies: a row of weight s counts as s rows. Every row is taken once, in an order that the rows
themselves decide, so that neither their order nor what repeats them, the table or its weights, changes a digit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.backends.tensors import is_held, on_host
from mercer.compute.codegen.sparse import canonical, is_sparse
from mercer.errors import InputError, KernelError, NumericalWarning, caller_level, message, speaks
from mercer.kernels.pairs import row_distances
from mercer.kernels.points import Points, points_from

MAX_ROWS = 2_000
"""Above this many different rows a sample with a fixed seed stands for the data."""

BLOCK_ROWS = 1 << 12
"""Sorted rows that are compared with those before them at once."""
MIN_PARTED_ROWS = 1 << 14
"""Rows from which on they are sorted by their first number first."""
SAMPLED_DISTANCES = 1 << 13
"""Distances that say about where the middle is."""
BRACKET_DEVIATIONS = 3.0
"""How far from there it may be, in roots of their number."""

Numbers = NDArray[np.float64]


@speaks
def median_distance(X: Any, weights: ArrayLike | None = None) -> float:
    """The median distance of the rows of a table: the lengthscale that `Gaussian("median")` finds.

    The median over all pairs of rows of `|x_i - x_j|`; where it is 0, over the pairs that differ. Above 2,000 different
    rows, it is that of a sample with a fixed seed. Some texts take the median for sigma of `exp(-|x - z|^2 / sigma^2)`:
    the lengthscale is then the median divided by sqrt(2). Cost: n log n d + m^2 d time with m = min(n, 2,000).

    Parameters
    ----------
    X : array or table of n rows
        The rows.
    weights : array of shape (n,) or None, default=None
        How often each row counts, finite and at least zero; None for once each.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.kernels import Gaussian, median_distance
    >>> median_distance([[0.0], [1.0], [5.0]])
    4.0
    >>> Gaussian("median").resolve([[0.0], [1.0], [5.0]])
    Gaussian(lengthscale=4.0)

    References
    ----------
    Garreau, Jitkrittum and Kanagawa, Large sample analysis of the median heuristic (2017), arXiv:1707.07269.
    """
    points = points_from(X)
    counts = weights_from(weights, points.values.shape[0])
    return median_length("median_distance", *merged(points, counts), row_distances)


def median_length(kernel: str, points: Points, weights: Numbers, distances: Callable[[Any], NDArray[Any]]) -> float:
    """The weighted median of the pairwise distances that `distances` gives for rows, one per pair in SciPy's order.

    Equal rows say nothing about length: where they are so many that the median is zero, the median of the
    positive distances is taken. Where all rows are equal every length gives the same matrix: 1.0, with a warning.
    """
    rows, copies = _sample(*merged(points, weights))
    pairs, within = _frequencies(copies)
    values = rows.values if type(rows.values) is np.ndarray else on_host(rows.values)
    found = _checked(kernel, np.asarray(distances(values)), len(pairs))
    middle = _median(found, pairs, within)
    apart = found > 0
    if middle == 0.0 and apart.any():
        middle = _median(found[apart], pairs[apart], 0.0)
    if middle > 0.0:
        return middle
    warnings.warn(
        f"{kernel} finds no two different rows, so there is no median distance: the lengthscale is set to 1.0. "
        "Check the columns, or give a number.",
        NumericalWarning,
        stacklevel=caller_level(),
    )
    return 1.0


def weights_from(weights: ArrayLike | None, rows: int) -> Numbers:
    """One weight per row, finite and of at least zero, not all zero; ones for None."""
    given = np.ones(rows) if weights is None else np.asarray(weights)
    if given.shape != (rows,):
        needs, got = f"one weight per row, {rows} in all", f"got an array of shape {given.shape}"
        raise InputError(message(needs, got, "Give an array of shape (n,)."))
    if given.dtype.kind not in "fiub":
        raise InputError(message("weights that are numbers", f"got dtype {given.dtype}", "Convert them."))
    numbers = given.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(bad):
        got = f"that of row {bad[0]} is {numbers[bad[0]]:g}"
        raise InputError(message("finite weights of at least zero", got, "Mend them, or drop such rows."))
    with np.errstate(over="ignore"):
        total = numbers.sum()
    if not 0 < total < np.inf:
        got = "all are zero" if total == 0 else "their sum overflows"
        raise InputError(message("weights with a finite positive sum", got, "Give ones, or no weights."))
    return numbers


# -- equal rows ----------------------------------------------------------------------------------------------------


def merged(points: Points, weights: Numbers) -> tuple[Points, Numbers]:
    """Every row once, in an order that only the rows decide, and its weights added up; rows of weight zero are dropped.

    -0.0 is 0.0. A sparse table and the equal dense one get the same order. Cost: n log n d time, and the memory of
    the rows once more.
    """
    kept = np.flatnonzero(weights)
    values, weights = (points.values, weights) if len(kept) == len(weights) else (points.values[kept], weights[kept])
    values = canonical(values) if is_sparse(values) else values
    order, starts = sorted_rows(values)
    alone = values[order[starts]]
    if not is_sparse(alone):
        alone += 0.0
    sorted_weights = weights[order]
    if len(starts) == len(order):  # no row is there twice
        return replace(points, values=alone), sorted_weights
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    sorted_weights = sorted_weights[np.lexsort((sorted_weights, group))]  # fractions add up the same way, too
    return replace(points, values=alone), np.add.reduceat(sorted_weights, starts)


def sorted_rows(values: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order that sorts the rows by their bytes, and where there each different row begins."""
    return values.sorted_rows() if type(values) is not np.ndarray and is_held(values) else groups(keys_of(values))


def groups(keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order that sorts the keys, and where there each new key begins."""
    order = np.argsort(keys, kind="stable") if len(keys) < MIN_PARTED_ROWS or keys.dtype == object else _order(keys)
    starts = [np.zeros(1, dtype=np.intp)]
    for first in range(1, len(order), BLOCK_ROWS):
        near = keys[order[first - 1 : first + BLOCK_ROWS]]
        starts.append(first + np.flatnonzero(near[1:] != near[:-1]))
    return order, np.concatenate(starts)


def _order(keys: NDArray[Any]) -> NDArray[np.intp]:
    """The same order, ten times sooner for most tables: by the first number of each row, then by all where it ties."""
    heads = keys.view(">u8").reshape(len(keys), -1)[:, 0].astype(np.uint64)
    order = np.argsort(heads)
    heads = heads[order]
    tied = np.zeros(len(keys), bool)
    tied[1:] = heads[1:] == heads[:-1]
    tied[:-1] |= tied[1:]
    some = np.sort(order[tied])
    order[tied] = some[np.argsort(keys[some], kind="stable")]
    return order


def keys_of(values: Any) -> NDArray[Any]:
    """The bytes of each row, the highest first: equal for equal rows, and sorted alike on every machine."""
    if is_sparse(values):
        return _sparse_keys(values)
    numbers = np.empty(values.shape, ">f8")
    np.add(values, 0.0, out=numbers)  # -0.0 becomes 0.0
    return np.asarray(numbers.view(f"V{8 * values.shape[1]}")[:, 0])


def _sparse_keys(values: Any) -> NDArray[Any]:
    """The same order from stored numbers alone.

    The bytes of a zero come first, so that a row that stores an earlier column than another stands behind it: that is
    why columns are counted from the right.
    """
    stored = np.empty((values.nnz, 2), ">u8")
    stored[:, 0] = values.shape[1] - values.indices
    stored[:, 1] = values.data.view(np.uint64)
    text, ends = stored.tobytes(), (16 * values.indptr.astype(np.int64)).tolist()
    keys = np.empty(values.shape[0], dtype=object)
    keys[:] = [text[start:end] for start, end in pairwise(ends)]
    return keys


def _sample(points: Points, weights: Numbers) -> tuple[Points, Numbers]:
    """The rows and weights themselves, or copies of rows drawn evenly along the weights, and how many of each."""
    if len(weights) <= MAX_ROWS:
        return points, weights
    ends = np.cumsum(weights)
    shares = (np.arange(MAX_ROWS) + np.random.default_rng(0).random(MAX_ROWS)) / MAX_ROWS
    drawn = np.minimum(np.searchsorted(ends, shares * ends[-1], side="right"), len(ends) - 1)
    chosen, copies = np.unique(drawn, return_counts=True)
    return points.rows(chosen), copies.astype(np.float64)


# -- the median of pairs -------------------------------------------------------------------------------------------


def _frequencies(copies: Numbers) -> tuple[Numbers, float]:
    """How often each pair of different rows occurs, in SciPy's order, and how many pairs are copies of one row.

    All in units of a power of two, which rounds nothing and lets nothing overflow.
    """
    exponent = int(np.frexp(copies.max())[1])
    scaled, others = np.ldexp(copies, -exponent), np.ldexp(np.maximum(copies - 1, 0.0), -exponent)
    if (scaled == scaled[0]).all():  # one number says it for millions of pairs
        alike = np.broadcast_to(scaled[0] ** 2, len(scaled) * (len(scaled) - 1) // 2)
        return alike, float((scaled * others).sum() / 2)
    pairs = np.concatenate([scaled[:0], *(scaled[i] * scaled[i + 1 :] for i in range(len(scaled) - 1))])
    return pairs, float((scaled * others).sum() / 2)


def _median(found: NDArray[Any], pairs: Numbers, zeros: float) -> float:
    """NumPy's median of numbers that occur so often, and of so many zeros.

    Half of all numbers are at most the first one at which the count reaches a half, and at least the first one at which
    it exceeds a half; between these two lies the median.
    """
    if not len(found):
        return 0.0
    if zeros == 0.0 and (pairs.strides == (0,) or (pairs == pairs[0]).all()):
        return _plain_median(found)
    half = (zeros + float(pairs.sum())) / 2
    for least, most in (_about(found, pairs, zeros / half), (-np.inf, np.inf)):
        below = zeros + float(pairs.sum(where=found < least))
        near = np.flatnonzero(~((found < least) | (found > most)))
        near = near[np.argsort(found[near])]
        counts = np.cumsum(np.append(below, pairs[near]))
        if below < half < counts[-1]:
            break
    ends = [int(np.searchsorted(counts, half, side=side)) for side in ("left", "right")]
    return float(np.mean([found[near[min(end, len(near)) - 1]] if end else 0.0 for end in ends]))


def _plain_median(found: NDArray[Any]) -> float:
    """NumPy's median: of many numbers only those near the middle of a sample are put in order."""
    if len(found) <= 2 * SAMPLED_DISTANCES:
        return float(np.median(found))
    some = found[:: -(-len(found) // SAMPLED_DISTANCES)]
    far = int(BRACKET_DEVIATIONS * len(some) ** 0.5)
    ends = np.array([len(some) // 2 - far, len(some) // 2 + far])
    least, most = np.partition(some, ends)[ends]
    near, below = found[(found >= least) & (found <= most)], np.count_nonzero(found < least)
    middle = np.array([(len(found) - 1) // 2, len(found) // 2]) - below
    is_whole = below + len(near) + np.count_nonzero(found > most) == len(found)  # there is no NaN
    if not (is_whole and middle[0] >= 0 and middle[1] < len(near)):
        return float(np.median(found))
    return float(np.mean(np.partition(near, middle)[middle]))


def _about(found: NDArray[Any], pairs: Numbers, zeros: float) -> tuple[float, float]:
    """Two numbers between which the median lies, mostly: to sort all is slow, and takes twice the memory of the rest.

    zeros : how many there are, as a part of a half
    """
    step = -(-len(found) // SAMPLED_DISTANCES)
    some = found[::step]
    order = np.argsort(some)
    counts = np.cumsum(pairs[::step][order])
    middle = np.searchsorted(counts, counts[-1] * max(0.0, 1.0 - zeros) / max(1.0, 2.0 - zeros))
    far = int(BRACKET_DEVIATIONS * len(some) ** 0.5)
    first, last = int(middle) - far, int(middle) + far
    least = some[order[first]] if first >= 0 else -np.inf
    return float(least), float(some[order[last]] if last < len(some) else np.inf)


def _checked(kernel: str, found: NDArray[Any], pairs: int) -> NDArray[Any]:
    if found.shape == (pairs,):
        return found
    got = f"its method distances gave an array of shape {found.shape}"
    remedy = "Return those of rows i < j, as scipy.spatial.distance.pdist does."
    raise KernelError(message(f"one distance a pair of rows, {pairs} in all", got, remedy, subject=kernel))
