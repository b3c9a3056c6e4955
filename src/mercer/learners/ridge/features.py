"""Features of rows, centred and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import EPS, View, blocks
from mercer.operators import Centering

Array = NDArray[np.float64]
SMALLER = 16
"""Times that a block is smaller here than one of new rows: 2 MB."""


@dataclass(frozen=True, eq=False)
class CenteredFeatures:
    """Z = D (Phi - means), the features as a system in the primal sees them.

    values : Z, (n, p), without the columns that vanish: a constant feature is what the intercept is
    kept : (features,), which columns are left
    means : what was taken off each column
    rest : what was taken off after that: the mean of numbers near 1e9 is off by 1e-7, that of differences is not
    sizes : (p,), the lengths of columns to which rounding is relative: before centring, unless features are exact
    """

    values: Array
    kept: NDArray[np.bool_]
    means: Array
    rest: Array
    sizes: Array

    @classmethod
    def of(cls, view: View, centering: Centering) -> CenteredFeatures:
        """Of the rows of a view."""
        Z = view.features()
        lengths = _lengths(Z, centering.weights)
        means = centering.means(Z)
        for part in _parts(Z):  # between blocks Ctrl-C comes through, and none takes memory
            Z[part] -= means
        rest = centering.means(Z)
        for part in _parts(Z):
            Z[part] -= rest
            Z[part] *= centering.roots[part, None]
        norms = _lengths(Z, np.ones(len(Z)))
        kept = norms > len(Z) * EPS * lengths if centering.intercept else np.ones(Z.shape[1], dtype=bool)
        if not kept.any():
            kept[:1] = True  # there is no system without unknowns
        sizes = (norms if view.exact_features else lengths)[kept]
        return cls(_compacted(Z, kept), kept, means[kept], rest[kept], sizes)

    def of_new(self, view: View, rows: Any) -> Array:
        """The features of new rows, centred likewise."""
        return (view.features_of(rows)[:, self.kept] - self.means) - self.rest

    def spread(self, values: Array) -> Array:
        """Values of the columns that are left as values of all columns: 0 for the others."""
        full = np.zeros((len(self.kept), *values.shape[1:]))
        full[self.kept] = values
        return full


def _parts(Z: Array) -> list[slice]:
    """Blocks of rows that stay in the caches while they are worked on."""
    return blocks(len(Z), SMALLER * Z.shape[1])


def _compacted(Z: Array, kept: NDArray[np.bool_]) -> Array:
    """Some columns of a table, in its memory: what is left of a block never reaches those that are still to come."""
    if kept.all():
        return Z
    width = int(kept.sum())
    flat = Z.reshape(-1)
    for part in _parts(Z):
        flat[part.start * width : part.stop * width] = Z[part][:, kept].reshape(-1)
    return flat[: len(Z) * width].reshape(len(Z), width)


def _lengths(Z: Array, weights: Array) -> Array:
    """The lengths of columns, with the weights of rows."""
    squares = np.zeros(Z.shape[1])
    for part in _parts(Z):
        squares += weights[part] @ np.square(Z[part])
    return np.sqrt(squares)
