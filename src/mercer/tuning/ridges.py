"""Several penalties at once, in the basis of the eigenvectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.ridge.spectrum import Directions
from mercer.solvers.ridge.torn import Tears, Torn

Array = NDArray[np.float64]


class Ridges(NamedTuple):
    """What a penalty makes of each eigenvalue.

    alphas : (m,)
    inverses : (width, m), 1 / (eigenvalue + alpha), or 0 where a direction gets no part of a solution
    tears : what joins the blocks of a torn matrix, whose values are no eigenvalues; None for eigenvalues
    """

    alphas: Array
    inverses: Array
    tears: Tears | None = None

    @classmethod
    def of(cls, spectrum: Directions | Torn, alphas: Array) -> Ridges:
        """For all eigenvalues of a spectrum, or all values of a torn matrix."""
        tears = Tears.of(spectrum, alphas) if isinstance(spectrum, Torn) else None
        return cls(alphas, spectrum.inverses(alphas) if tears is None else tears.inverses, tears)

    def diagonal(self, rows: Array) -> Array:
        """(rows, m): t'(A + alpha I)^-1 t of rows t in the basis of the vectors."""
        return np.asarray((rows * rows) @ self.inverses) if self.tears is None else self.tears.diagonal(rows)

    def fits(self, aims: Array) -> Array:
        """(width, m * outputs): the coefficients of every penalty, for a right side (width, outputs)."""
        if self.tears is not None:
            return self.tears.fits(aims)
        return np.asarray((self.inverses[:, :, None] * aims[:, None, :]).reshape(len(aims), -1))
