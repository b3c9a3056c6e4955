"""Features of rows, centred and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.views import View
from mercer.operators import Centering

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CenteredFeatures:
    """Z = D (Phi - means), the features as a system in the primal sees them.

    values : Z, (n, p)
    means : what was taken off each column
    rest : what was taken off after that: the mean of numbers near 1e9 is off by 1e-7, that of differences is not
    sizes : (p,), the lengths of columns to which rounding is relative: before centring, unless features are exact
    """

    values: Array
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
        return cls(Z, means, rest, np.linalg.norm(Z, axis=0) if view.exact_features else lengths)

    def of_new(self, view: View, rows: Any) -> Array:
        """The features of new rows, centred likewise."""
        return (view.features_of(rows) - self.means) - self.rest
