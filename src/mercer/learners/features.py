"""Features of rows, centred and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.views import EPS, View
from mercer.operators import Centering

Array = NDArray[np.float64]


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
        lengths = np.sqrt(np.einsum("i,ij,ij->j", centering.weights, Z, Z))
        means = centering.means(Z)
        Z -= means
        rest = centering.means(Z)
        Z -= rest
        Z *= centering.roots[:, None]
        norms = np.linalg.norm(Z, axis=0)
        kept = norms > len(Z) * EPS * lengths if centering.intercept else np.ones(Z.shape[1], dtype=bool)
        if not kept.any():
            kept[:1] = True  # there is no system without unknowns
        sizes = (norms if view.exact_features else lengths)[kept]
        return cls(Z if kept.all() else np.ascontiguousarray(Z[:, kept]), kept, means[kept], rest[kept], sizes)

    def of_new(self, view: View, rows: Any) -> Array:
        """The features of new rows, centred likewise."""
        return (view.features_of(rows)[:, self.kept] - self.means) - self.rest

    def spread(self, values: Array) -> Array:
        """Values of the columns that are left as values of all columns: 0 for the others."""
        full = np.zeros((len(self.kept), *values.shape[1:]))
        full[self.kept] = values
        return full
