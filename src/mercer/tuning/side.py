"""What least squares answers for a whole path of penalties, from one decomposition, whichever side it is seen from.

Row i counts s_i times, D = diag(sqrt(s)), and u is the direction of an intercept that has no penalty (u = 0 without
one). b = P D y are the targets and G = P (A + alpha I)^-1 P, so that c = G b, and D (y - prediction) = alpha c. Leaving
one copy of row i out, or the whole row where s_i is below one, takes the part m_i = min(1, 1 / s_i) of its weight away,
and its error becomes

    e_i = (alpha c_i / D_i) / (1 - m_i + m_i alpha G_ii),        which is c_i / (D_i G_ii) for m_i = 1.

Leaving a fold F of whole rows out gives e_F = D_F^-1 G_FF^-1 c_F. Nothing is fitted again.

Allen, The relationship between variable selection and data augmentation and a method for prediction, Technometrics 16
(1974); Rifkin, Lippert, Notes on regularized least squares, MIT (2007); An, Liu, Venkatesh, Fast cross-validation
algorithms for least squares support vector machine and kernel ridge regression, Pattern Recognition 40 (2007).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.compute.runtime import threads
from mercer.operators import Centering
from mercer.operators.dense import TILE_NUMBERS
from mercer.solvers.ridge.spectrum import Directions
from mercer.tuning.fold import Fold
from mercer.tuning.path import Path
from mercer.tuning.ridges import Ridges

Array = NDArray[np.float64]
Rows = slice | NDArray[np.intp]

MAX_RIGHT_SIDES = 1024
"""Right sides in one product, about: more penalties times outputs go through in groups of penalties."""
MIN_TILE_ROWS = 64
"""The least rows of a tile: thinner products are slow."""

Keep = Callable[[int, NDArray[np.intp], Array], None]
"""What becomes of the errors of a fold: which penalty, which rows, and (rows, outputs) errors."""


class Side(ABC):
    """Least squares seen from one side, decomposed: every penalty costs products alone.

    A row of which the others say nothing, to rounding, has no leave-one-out prediction, and its error is inf.

    spectrum : of A, without alpha
    centering : the weights, and whether there is an intercept
    targets : b = P D y, (n, outputs)
    """

    spectrum: Directions
    centering: Centering
    targets: Array

    # -- what a side states ---------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def aims(self) -> Array:
        """(width, outputs): the right side of the system, in the basis of the eigenvectors."""

    @abstractmethod
    def _rows(self, rows: Rows) -> Array:
        """(rows, width): T, whose squares make up the leverages: rows of eigenvectors, or of features along them."""

    @abstractmethod
    def _terms(self, rows: Rows, ridges: Ridges, fits: Array) -> tuple[Array, Array]:
        """D_i e_i as a fraction: (rows, m, outputs) above, (rows, m) below, 0 where that is nothing but rounding."""

    @abstractmethod
    def _fold(self, rows: NDArray[np.intp], ridges: Ridges) -> Fold:
        """These rows, to be left out together."""

    @abstractmethod
    def slack(self, alpha: float) -> Array:
        """(n,): alpha G_ii, the part of y_i that the model leaves over: 1 - s_i h_i."""

    @abstractmethod
    def leverage(self, alpha: float) -> Array:
        """(n,): h_i, how far the prediction at row i moves where y of one copy of it moves by one.

        Their sum, copies counted, is the effective number of degrees of freedom. Cost: 2 n operations an eigenvector.
        """

    # -- answers --------------------------------------------------------------------------------------------------

    def coefficients(self, alphas: ArrayLike) -> Array:
        """(width, outputs): the solution with one penalty per output, (outputs,)."""
        return np.asarray(self.spectrum.vectors @ (self.spectrum.inverses(np.asarray(alphas)) * self.aims))

    def left_out(self, alphas: ArrayLike) -> Array:
        """(m, n, outputs): y_i less its prediction by a model without one copy of row i, for m penalties.

        Cost: 2 n (m outputs + m) operations an eigenvector, and in the primal 2 n p^2 more; the result, and some tiles.
        """
        found = np.empty((np.size(alphas), *self.targets.shape))
        for group, rows, errors in self.pieces(alphas):
            found[group, rows] = errors.transpose(1, 0, 2)
        return found

    def path(self, alphas: ArrayLike, labels: NDArray[np.intp] | None = None) -> Path:
        """The leave-one-out path of penalties of at least 0.

        Cost: 4 n operations per penalty and eigenvector for one output; some tiles of numbers.

        labels : (n,), classes from 0 on, where the targets code them by +1 and -1: in one column for two classes, in
            one per class otherwise; None for regression
        """
        given = np.asarray(alphas, dtype=np.float64).ravel()
        if labels is None:
            return Path(given, self.errors(given))
        errors, wrong = np.zeros((len(given), self.targets.shape[1])), np.zeros(len(given))
        for group, rows, left in self.pieces(given):
            errors[group] += self.squares(rows, left)
            wrong[group] += self.centering.weights[rows] @ mistaken(labels[rows], left)
        return Path(given, errors / self.centering.total, wrong / self.centering.total)

    def errors(self, alphas: ArrayLike) -> Array:
        """(m, outputs): sum_i s_i e_i^2 / N. The residuals are never held together."""
        found = np.zeros((np.size(alphas), self.targets.shape[1]))
        for group, rows, errors in self.pieces(alphas):
            found[group] += self.squares(rows, errors)
        return found / self.centering.total

    def squares(self, rows: Rows, errors: Array) -> Array:
        """The sum of s_i e_i^2 over the first axis, that of some rows."""
        with np.errstate(over="ignore"):  # what overflows is as bad as no prediction
            return np.asarray(np.tensordot(self.centering.weights[rows], errors**2, axes=1))

    def pieces(self, alphas: ArrayLike) -> Iterator[tuple[slice, slice, Array]]:
        """Leave-one-out errors, tile by tile: which penalties, which rows, (rows, penalties, outputs) errors."""
        given, roots = np.asarray(alphas, dtype=np.float64).ravel(), self.centering.roots
        for group in steps(len(given), max(1, MAX_RIGHT_SIDES // self.targets.shape[1])):
            ridges = Ridges.of(self.spectrum, given[group])
            fits = ridges.fits(self.aims)
            for rows in steps(len(roots), max(MIN_TILE_ROWS, TILE_NUMBERS // max(fits.shape))):
                above, below = self._terms(rows, ridges, fits)
                yield group, rows, quotients(above / roots[rows, None, None], below[:, :, None])

    # -- folds ----------------------------------------------------------------------------------------------------

    def left_out_folds(self, alphas: ArrayLike, folds: NDArray[Any]) -> Array:
        """(m, n, outputs): y_i less its prediction by a model without all rows of its fold.

        folds : (n,), the number of each row's fold
        """
        found = np.empty((np.size(alphas), *self.targets.shape))

        def keep(i: int, rows: NDArray[np.intp], errors: Array) -> None:
            found[i, rows] = errors

        self._over_folds(alphas, folds, keep)
        return found

    def fold_errors(self, alphas: ArrayLike, folds: NDArray[Any]) -> Array:
        """(m, outputs): sum_i s_i e_i^2 / N of rows that were left out with their folds."""
        found = np.zeros((np.size(alphas), self.targets.shape[1]))

        def keep(i: int, rows: NDArray[np.intp], errors: Array) -> None:
            found[i] += self.squares(rows, errors)

        self._over_folds(alphas, folds, keep)
        return found / self.centering.total

    def _over_folds(self, alphas: ArrayLike, folds: NDArray[Any], keep: Keep) -> None:
        """One fold after the other, its penalties shared out among threads: BLAS's own are slow at small systems."""
        ridges = Ridges.of(self.spectrum, np.asarray(alphas, dtype=np.float64).ravel())
        count = len(ridges.alphas)
        for number in np.unique(folds):
            rows = np.flatnonzero(folds == number)
            workers = min(count, threads.available(), max(1, len(folds) // len(rows)))  # each holds a copy of the fold
            work = _share(self._fold(rows, ridges), rows, self.centering.roots[rows, None], keep)
            threads.run(work, [range(worker, count, workers) for worker in range(workers)], count)

    # -- what both share ------------------------------------------------------------------------------------------

    @property
    def _unit(self) -> float:
        """What is lost to rounding in a sum of parts of one."""
        return float(len(self.spectrum.values) * np.finfo(np.float64).eps)

    def _taken(self, rows: Rows) -> Array:
        """m_i, the part of its weight that a row loses, as a column."""
        return 1.0 / np.maximum(1.0, self.centering.copies[rows, None])

    def _sum_of_squares(self, weights: Array) -> Array:
        """sum_k T_ik^2 weights_k for each row."""
        parts = steps(len(self.targets), max(MIN_TILE_ROWS, TILE_NUMBERS // len(weights)))
        return np.concatenate([np.square(self._rows(rows)) @ weights for rows in parts])


def steps(count: int, step: int) -> list[slice]:
    """Slices of a length that cover so many rows."""
    return [slice(start, start + step) for start in range(0, count, step)]


def quotients(above: Array, below: Array) -> Array:
    """above / below, and inf where below is 0."""
    return np.divide(above, below, out=np.full_like(above, np.inf), where=below > 0)


def _share(fold: Fold, rows: NDArray[np.intp], roots: Array, keep: Keep) -> threads.Work:
    def work(worker: int, i: int, stop: threads.Stop) -> None:
        keep(i, rows, fold.errors(i) / roots)
        stop.step(worker, 1)

    return work


def mistaken(labels: NDArray[np.intp], errors: Array) -> NDArray[np.bool_]:
    """(rows, m): which labels a leave-one-out decision, y - e, does not give; no decision is a mistake."""
    outputs = errors.shape[2]
    if outputs == 1:
        decided = (2.0 * labels[:, None] - 1.0 - errors[:, :, 0] > 0).astype(np.intp)
    else:
        signs = np.where(labels[:, None] == np.arange(outputs), 1.0, -1.0)
        decided = np.argmax(signs[:, None, :] - errors, axis=2)
    return np.asarray((decided != labels[:, None]) | ~np.isfinite(errors).all(axis=2))
