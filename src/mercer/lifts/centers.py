"""Where the bumps of a radial basis stand: given points, random rows, means of clusters, or a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message, speaker, speaking
from mercer.kernels.fields import check_integer
from mercer.kernels.points import points_from

DEFAULT_CENTERS = 100
"""How many centers are chosen where their number is not given."""
WAYS = ("kmeans", "random", "grid")
MAX_LLOYD_STEPS = 20
"""Of Lloyd's algorithm, at most: bumps need no means that are exact."""


def choose(centers: Any, X: NDArray[Any], count: int | None, rng: np.random.Generator) -> NDArray[Any]:
    """The centers that `centers` asks for, on the rows of X: a table, or one of "kmeans", "random" and "grid".

    count : how many; None for as many as are given, or else 100, or all distinct rows where these are fewer
    """
    wanted = None if count is None else check_integer(speaker(), "n_components", count, 1, None)
    if isinstance(centers, int | np.integer):
        got, remedy = f"got the number {centers}", f'Give RadialBasis("random", {centers}) or n_components={centers}.'
        raise InputError(message('centers, or how they are chosen, "kmeans", "random" or "grid"', got, remedy))
    if not isinstance(centers, str):
        return given(centers, X.shape[1], wanted)
    if centers not in WAYS:
        needs = 'a table of centers, "kmeans", "random" or "grid"'
        raise InputError(message(needs, f"got centers={centers!r}", "Check the spelling."))
    if centers == "grid":
        return grid(X, wanted)
    rows = distinct(X[rng.permutation(len(X))], wanted or DEFAULT_CENTERS)
    if wanted is not None and len(rows) < wanted:
        got = f"got n_components={wanted}, and {len(rows)} of the {len(X)} rows are distinct"
        raise InputError(message("as many distinct rows as centers", got, "Ask for fewer, or give centers."))
    return rows if centers == "random" else means(X, rows, rng)


def given(centers: Any, width: int, count: int | None) -> NDArray[np.float64]:
    """A table of centers, checked: as wide as the data, and no two of them equal."""
    with speaking(f"{speaker()} (centers)"):
        table = points_from(centers).values
    if not isinstance(table, np.ndarray):
        raise InputError(message("a dense table of centers", "got a sparse one", "Use centers.toarray()."))
    if table.shape[1] != width:
        got = f"the centers have {table.shape[1]} and the data has {width}"
        raise InputError(message("centers with the columns of the data", got, "Give one coordinate per column."))
    if count not in (None, len(table)):
        got = f"got n_components={count} with {len(table)} centers"
        raise InputError(message("no n_components where centers are given", got, "Leave it out."))
    _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[place.ravel()] != np.arange(len(table)))
    if len(again):
        got = f"row {first[place.ravel()[again[0]]]} and row {again[0]} are equal"
        raise InputError(message("distinct centers", got, "Drop one: two equal features tell no more than one."))
    return table.copy()


def distinct(X: NDArray[Any], most: int) -> NDArray[Any]:
    """The first rows of a table, without those that stood before; at most so many."""
    size = most
    while True:
        _, first = np.unique(X[:size], axis=0, return_index=True)
        if len(first) >= most or size >= len(X):
            return X[np.sort(first)[:most]]
        size *= 2


def means(X: NDArray[Any], rows: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """The means of as many clusters as there are given rows, which are distinct: k-means++, then steps of Lloyd."""
    if len(distinct(X, len(rows) + 1)) == len(rows):  # each distinct row is a cluster
        return rows
    from sklearn.cluster import KMeans  # loads much, for those alone who need it

    found = KMeans(len(rows), n_init=1, max_iter=MAX_LLOYD_STEPS, random_state=int(rng.integers(2**31))).fit(X)
    return np.asarray(found.cluster_centers_)


def grid(X: NDArray[Any], count: int | None) -> NDArray[Any]:
    """A regular grid over the range of every column, with the most points per column that give at most `count`.

    Columns that do not vary get one point; and so do all where one center is asked for: the middle of the ranges.
    """
    low, high = (edge.astype(np.float64) for edge in (X.min(axis=0), X.max(axis=0)))
    free = low < high
    most, varied = count or DEFAULT_CENTERS, int(free.sum())
    each = side(most, varied)
    if varied and each < 2 <= most:
        got = f"two points for each of {varied} columns are {2**varied} centers, and n_components is {most}"
        remedy = f'Use centers="kmeans", fewer columns, or n_components={2**varied}.'
        raise InputError(message("room for a grid", got, remedy))
    middle = low / 2 + high / 2
    axes = [np.linspace(low[k], high[k], each) if free[k] and each > 1 else middle[k : k + 1] for k in range(len(low))]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1).astype(X.dtype)


def side(count: int, width: int) -> int:
    """The largest whole m with m^width <= count.

    >>> side(1000, 3), side(999, 3), side(100, 0)
    (10, 9, 1)
    """
    if width == 0:
        return 1
    found: int = round(float(count) ** (1 / width))  # a root of floats is not exact; integers are
    while found**width > count:
        found -= 1
    while (found + 1) ** width <= count:
        found += 1
    return found
