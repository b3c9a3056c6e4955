"""How the landmarks of a Nystrom lift are chosen: by random pivoting, uniformly, by k-means, or by the user."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import matrix
from mercer.kernels.fields import check_integer
from mercer.kernels.points import Points
from mercer.lifts.pivoting import BLOCK_NUMBERS, Array, Factor, RandomPivots, cholesky, pivots_one_by_one, whitened

DEFAULT_LANDMARKS = 100
"""How many landmarks there are where their number is not given."""
HELD = 1 << 25
"""Numbers that are held while pivots are drawn (256 MiB): up to so many features, all rows can be drawn."""
MAX_STORED_ROWS_PER_LANDMARK = 3
"""Rows a landmark up to which the values of all pairs are no more work than those of landmarks and candidates."""
ONE_BY_ONE = 1 << 16
"""Numbers of the features up to which pivots are drawn one by one from a stored matrix: blocks are for more."""
MIN_ROWS_PER_LANDMARK = 4
"""Rows a landmark that pivots are drawn from, at least, however many landmarks there are."""
MAX_KMEANS_ROWS_PER_LANDMARK = 20
"""Rows a landmark that k-means sees, at most: more move the means by less than they differ from seed to seed."""
KMEANS_STEPS = 10
"""Steps of k-means: the kernel's error hardly changes afterwards."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Landmarks, in the order of a pivoted Cholesky factor.

    points : the landmarks
    upper : upper triangular R, with k(L, L) = R'R
    indices : which rows of the data they are; None where they are none
    features : those of all rows of the data, where they were found on the way
    """

    points: Points
    upper: Array
    indices: NDArray[np.intp] | None
    features: Array | None = None


Way = Callable[[Kernel, Points, int, np.random.Generator], Choice]


def pivoted(kernel: Kernel, points: Points, count: int, rng: np.random.Generator) -> Choice:
    """Rows drawn in proportion to what the landmarks so far leave unexplained; above `HELD` numbers from a sample."""
    n = points.values.shape[0]
    if n <= MAX_STORED_ROWS_PER_LANDMARK * count and n * count <= ONE_BY_ONE:
        found = pivots_one_by_one(matrix(kernel, points, points), count, rng)
        return Choice(points.rows(found.pivots), found.upper, found.pivots, found.features)
    size = min(n, max(HELD // count, MIN_ROWS_PER_LANDMARK * count))
    sample = None if size == n else np.sort(rng.choice(n, size, replace=False))
    _afford(size, count)
    factor = RandomPivots.of(kernel, points if sample is None else points.rows(sample), count).run(rng)
    indices = factor.pivots if sample is None else sample[factor.pivots]
    return Choice(points.rows(indices), factor.upper, indices, factor.features if sample is None else None)


def uniform(kernel: Kernel, points: Points, count: int, rng: np.random.Generator) -> Choice:
    """Rows drawn uniformly, without replacement."""
    rows = rng.choice(points.values.shape[0], count, replace=False)
    kept, upper = factorised(kernel, points.rows(rows))
    return Choice(points.rows(rows[kept]), upper, rows[kept])


def kmeans(kernel: Kernel, points: Points, count: int, rng: np.random.Generator) -> Choice:
    """The means of clusters of a sample of the rows."""
    _refuse_things(points)
    from sklearn.cluster import KMeans  # loads much, for those alone who need it
    from sklearn.exceptions import ConvergenceWarning

    n = points.values.shape[0]
    rows = points.values[np.sort(rng.choice(n, min(n, MAX_KMEANS_ROWS_PER_LANDMARK * count), replace=False))]
    clusters = KMeans(count, n_init=1, max_iter=KMEANS_STEPS, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of equal rows; what is dropped is said below
        means = clusters.fit(rows).cluster_centers_
    return given(kernel, Points(means, points.names, points.dtype))


def _refuse_things(points: Points) -> None:
    """Refuse columns of which there is no mean."""
    column = points.first_object
    if column is not None:
        got = f"{points.label(column)} holds objects, which have no mean"
        needs, remedy = "columns of numbers for landmarks='kmeans'", "Use landmarks='pivoted'."
        raise InputError(message(needs, got, remedy))


def given(kernel: Kernel, points: Points) -> Choice:
    """These points."""
    kept, upper = factorised(kernel, points)
    return Choice(points.rows(kept), upper, None)


WAYS: dict[str, Way] = {"pivoted": pivoted, "uniform": uniform, "kmeans": kmeans}
"""The methods by the names of the parameter `landmarks`."""


def way(landmarks: str) -> Way:
    """The method of a name."""
    if landmarks not in WAYS:
        needs = f"landmarks to be one of {', '.join(map(repr, WAYS))}, or a table"
        raise InputError(message(needs, f"got {landmarks!r}", "Leave it out if in doubt."))
    return WAYS[landmarks]


# -- of a matrix that somebody else computed ------------------------------------------------------------------------

MatrixWay = Callable[[NDArray[Any], int, np.random.Generator], Factor]


def pivoted_rows(K: NDArray[Any], count: int, rng: np.random.Generator) -> Factor:
    """Rows of a matrix by random pivoting, from all of them: the matrix takes more memory than the features."""
    if len(K) * count <= ONE_BY_ONE:
        return pivots_one_by_one(K, count, rng)
    return RandomPivots(K.diagonal(), lambda i, j: K[i][:, j], count).run(rng)


def uniform_rows(K: NDArray[Any], count: int, rng: np.random.Generator) -> Factor:
    """Rows of a matrix, uniformly and without replacement."""
    rows = rng.choice(len(K), count, replace=False)
    kept, upper = cholesky(np.asarray(K[np.ix_(rows, rows)], dtype=np.float64))
    chosen = rows[kept]
    return Factor(chosen, upper, whitened(upper, np.ascontiguousarray(K[:, chosen], dtype=np.float64)))


MATRIX_WAYS: dict[str, MatrixWay] = {"pivoted": pivoted_rows, "uniform": uniform_rows}


def matrix_way(landmarks: Any) -> MatrixWay:
    """The method of a name, for a kernel that is "precomputed"."""
    if not (isinstance(landmarks, str) and landmarks in MATRIX_WAYS):
        needs = "landmarks that are 'pivoted' or 'uniform' where the kernel is precomputed"
        shown = repr(landmarks) if isinstance(landmarks, str) else "a table"
        raise InputError(message(needs, f"got {shown}", "Leave it out if in doubt."))
    return MATRIX_WAYS[landmarks]


def square(K: NDArray[Any]) -> NDArray[Any]:
    """A matrix of all pairs of rows: with as many rows as columns, and symmetric to rounding."""
    if K.shape[0] != K.shape[1]:
        needs, shape = "the similarities of all pairs of rows", f"got {K.shape[0]} rows and {K.shape[1]} columns"
        raise InputError(message(needs, shape, "Only a kernel 'precomputed' takes K instead of X."))
    step = max(1, BLOCK_NUMBERS // len(K))
    for start in range(0, len(K), step):
        part = slice(start, start + step)
        off = np.abs(K[part] - K[:, part].T)
        if off.max() > 100 * np.finfo(K.dtype).eps * np.abs(K[part]).max():
            i, j = np.unravel_index(int(off.argmax()), off.shape)
            given = f"K[{start + i}, {j}] is {K[start + i, j]!s} and K[{j}, {start + i}] is {K[j, start + i]!s}"
            raise InputError(message("a symmetric matrix", given, "Use (K + K.T) / 2 if either is right."))
    return K


def number(n_components: Any, rows: int) -> int:
    """How many landmarks are requested; at most as many as there are rows."""
    if n_components is None:
        return min(DEFAULT_LANDMARKS, rows)
    count = check_integer("Nystrom", "n_components", n_components, 1, None)
    if count > rows:
        got = f"n_components is {count}, a rank above n"
        remedy = "Ask for fewer, or leave it out."
        raise InputError(message(f"at most as many landmarks as rows, {rows}", got, remedy))
    return count


def check_table(landmarks: Points, n_components: Any, data: Points) -> None:
    """Refuse a table of landmarks that does not fit the data or `n_components`, or that holds a row twice."""
    count, columns = landmarks.values.shape
    needs, remedy = "landmarks with the columns of the data", "Select the same columns."
    if columns != data.values.shape[1]:
        got = f"the landmarks have {columns} and the data has {data.values.shape[1]}"
        raise InputError(message(needs, got, remedy))
    if None not in (landmarks.names, data.names) and landmarks.names != data.names:
        got = f"the landmarks have {landmarks.names} and the data has {data.names}"
        raise InputError(message(needs, got, remedy))
    if n_components not in (None, count):
        got = f"got n_components={n_components!r} with {count} landmarks"
        raise InputError(message("no n_components where landmarks are given", got, "Leave it out."))
    twins = equal_rows(landmarks.values)
    if twins is not None:
        got = f"row {twins[0]} and row {twins[1]} are equal"
        raise InputError(message("distinct landmarks", got, "Drop one: it adds nothing."))


def equal_rows(values: Any) -> tuple[int, int] | None:
    """The first row that stood before, after the one that it equals; None where all differ."""
    seen: dict[bytes, int] = {}
    for i in range(values.shape[0]):
        key = _bytes(values, i)
        if key in seen:
            return seen[key], i
        seen[key] = i
    return None


def _bytes(values: Any, i: int) -> bytes:
    if isinstance(values, np.ndarray):
        return bytes((values[i] + 0.0).tobytes())  # -0.0 + 0.0 is 0.0
    part = slice(values.indptr[i], values.indptr[i + 1])
    return bytes(values.indices[part].tobytes() + values.data[part].tobytes())


def factorised(kernel: Kernel, points: Points) -> tuple[NDArray[np.intp], Array]:
    """Which of these landmarks are kept, in which order, and their factor."""
    return cholesky(matrix(kernel, points, points))


def factor_of(kernel: Kernel, points: Points) -> Array:
    """R of landmarks that are kept, in their order. Cost: k^3 / 3 operations, and 2 k^2 numbers."""
    count = points.values.shape[0]
    Budget.of(None).require(16 * count**2, f"the factor of {count} landmarks", "Use fewer landmarks.")
    try:
        lower = np.linalg.cholesky(matrix(kernel, points, points))
    except np.linalg.LinAlgError:
        got = "rounding hides what one of them adds to the others"
        raise InputError(message("landmarks with a Cholesky factor", got, "Use fewer landmarks.")) from None
    return np.asfortranarray(lower.T)


def _afford(rows: int, count: int) -> None:
    needed = 8 * rows * count
    if needed > MAX_UNASKED_BYTES:
        remedy = "Ask for fewer, or use landmarks='uniform'."
        Budget.of(None).require(needed, f"choosing {count} landmarks from {rows} rows", remedy)
