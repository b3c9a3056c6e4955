"""Both sides of the Woodbury identity: the dual with a coefficient per row, and the primal with one per feature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.operators import Centering
from mercer.solvers.ridge.spectrum import Directions, Spectrum
from mercer.tuning.fold import DualFold, Fold, PrimalFold
from mercer.tuning.ridges import Ridges
from mercer.tuning.side import Array, Rows, Side


@dataclass(frozen=True, eq=False)
class DualSide(Side):
    """The dual: the spectrum of A = P D K D P + tau u u', complete, (n, n).

    G_ii is a sum of positive terms, less u_i^2 / (tau + alpha), which tau keeps small: no digits cancel. Directions
    that get no part of a solution, where alpha is (nearly) 0, count as what the model leaves over whole; a row that has
    no part in them is predicted by the limit alpha -> 0.

    pull : tau

    >>> import numpy as np
    >>> from mercer.operators import Centering
    >>> from mercer.solvers import Eigen
    >>> centering = Centering.of(3, None, intercept=True)
    >>> A = centering.matrix(np.eye(3))
    >>> side = DualSide(Eigen().decompose(A.values), centering, A.pull, centering.rows(np.array([[0.0], [3.0], [6.0]])))
    >>> side.left_out(1.0)[0, :, 0].round(12)  # each less the mean of the others
    array([-4.5,  0. ,  4.5])
    """

    spectrum: Spectrum
    centering: Centering
    pull: float
    targets: Array

    @cached_property
    def aims(self) -> Array:
        return np.asarray(self.spectrum.vectors.T @ self.targets)

    def _rows(self, rows: Rows) -> Array:
        return self.spectrum.vectors[rows]

    def _terms(self, rows: Rows, ridges: Ridges, fits: Array) -> tuple[Array, Array]:
        T, taken = self._rows(rows), self._taken(rows)
        c = (T @ fits).reshape(*T.shape[:1], len(ridges.alphas), -1)
        G = self._inverse_diagonal(T, rows, ridges)
        null, beyond = self._null(T, ridges)
        alone = (taken == 1.0) & (null <= self._unit)
        below = np.where(alone, G, 1.0 - taken + taken * (ridges.alphas * G + null))
        return np.where(alone[:, :, None], c, ridges.alphas[:, None] * c + beyond), below

    def _inverse_diagonal(self, T: Array, rows: Rows, ridges: Ridges) -> Array:
        """(rows, m): G_ii; 0 where u took all of it."""
        whole = (T * T) @ ridges.inverses
        rest = whole - self.centering.direction[rows, None] ** 2 * self._along(ridges.alphas)
        return np.where(rest > self._unit * whole, rest, 0.0)

    def _null(self, T: Array, ridges: Ridges) -> tuple[Array, Array]:
        """The diagonal of N, which projects on directions that get no part of a solution, and N b."""
        lost = ridges.inverses == 0.0
        if not lost.any():
            return np.zeros((1, 1)), np.zeros((1, 1, 1))
        aims = lost[:, :, None] * self.aims[:, None, :]
        beyond = (T @ aims.reshape(len(lost), -1)).reshape(len(T), lost.shape[1], -1)
        return np.asarray((T * T) @ lost), beyond

    def _along(self, alphas: Array) -> Array:
        """1 / (tau + alpha); 0 where there is no intercept."""
        return 1.0 / (self.pull + alphas) if self.centering.intercept else np.zeros(len(alphas))

    def slack(self, alpha: float) -> Array:
        inverses = self.spectrum.inverses(np.array([alpha]))[:, 0]
        kept = self._sum_of_squares(np.where(inverses > 0, alpha * inverses, 1.0))
        return np.asarray(kept - alpha * self._along(np.array([alpha])) * self.centering.direction**2)

    def leverage(self, alpha: float) -> Array:
        fitted = self._sum_of_squares(self.spectrum.kept * self.spectrum.inverses(np.array([alpha]))[:, 0])
        rest = alpha * self._along(np.array([alpha])) * self.centering.direction**2
        return np.asarray((fitted + rest) / self.centering.weights)

    def _fold(self, rows: NDArray[np.intp], ridges: Ridges) -> Fold:
        u, along = self.centering.direction[rows], self._along(ridges.alphas)
        return DualFold(ridges, self._rows(rows), u, along, self.aims, self._unit)


@dataclass(frozen=True, eq=False)
class PrimalSide(Side):
    """The primal: the spectrum of Z'Z for features Z, (p, p), or for one alpha an orthogonal factor of Z.

    alpha G_ii = 1 - u_i^2 - z_i'(Z'Z + alpha I)^-1 z_i. What is left of one is known to rounding of one: a row that is
    fitted exactly whatever its y, to rounding, has no leave-one-out prediction here.

    features : Z, (n, p), each column less its weighted mean where there is an intercept, each row times D_i

    >>> import numpy as np
    >>> from mercer.operators import Centering
    >>> from mercer.solvers import Eigen
    >>> centering = Centering.of(3, None, intercept=False)
    >>> Z, y = np.array([[1.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [3.0]])
    >>> side = PrimalSide(Eigen().decompose(Z.T @ Z), Z, centering, y)
    >>> side.left_out(1.0)[0, :, 0].round(12)  # 3 - 2 * (1 + 2) / (1 + 1 + 1), for the last
    array([-0.33333333,  0.83333333,  1.        ])
    """

    spectrum: Directions
    features: Array
    centering: Centering
    targets: Array

    @cached_property
    def aims(self) -> Array:
        return np.asarray(self.spectrum.vectors.T @ (self.features.T @ self.targets))

    def _rows(self, rows: Rows) -> Array:
        return np.asarray(self.features[rows] @ self.spectrum.vectors)

    def _terms(self, rows: Rows, ridges: Ridges, fits: Array) -> tuple[Array, Array]:
        T, taken = self._rows(rows), self._taken(rows)
        fitted = (T @ fits).reshape(*T.shape[:1], len(ridges.alphas), -1)
        squares = T * T
        below = 1.0 - taken * (self.centering.direction[rows, None] ** 2 + squares @ ridges.inverses)
        doubt = np.maximum(self._unit, self.spectrum.off(squares, ridges.inverses))
        return self.targets[rows, None, :] - fitted, np.where(below > doubt, below, 0.0)

    def slack(self, alpha: float) -> Array:
        return np.asarray(1.0 - self.centering.weights * self.leverage(alpha))

    def leverage(self, alpha: float) -> Array:
        fitted = self._sum_of_squares(self.spectrum.inverses(np.array([alpha]))[:, 0])
        return np.asarray((fitted + self.centering.direction**2) / self.centering.weights)

    def _fold(self, rows: NDArray[np.intp], ridges: Ridges) -> Fold:
        table = np.column_stack([self._rows(rows), self.centering.direction[rows]])
        return PrimalFold(ridges, table, self.aims, self.targets[rows], self.spectrum.floor, self._unit)
