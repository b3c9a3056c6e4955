"""Several penalties at once, in the basis of the eigenvectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.ridge.spectrum import Directions

Array = NDArray[np.float64]


class Ridges(NamedTuple):
    """What a penalty makes of each eigenvalue.

    alphas : (m,)
    inverses : (width, m), 1 / (eigenvalue + alpha), or 0 where a direction gets no part of a solution
    """

    alphas: Array
    inverses: Array

    @classmethod
    def of(cls, spectrum: Directions, alphas: Array) -> Ridges:
        """For all eigenvalues of a spectrum."""
        return cls(alphas, spectrum.inverses(alphas))

    def fits(self, aims: Array) -> Array:
        """(width, m * outputs): the coefficients of every penalty, for a right side (width, outputs)."""
        return np.asarray((self.inverses[:, :, None] * aims[:, None, :]).reshape(len(aims), -1))
