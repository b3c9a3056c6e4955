"""What rounding does to a fit in the dual: a bound that costs nothing, and an estimate that is tried on the system.

Most systems are so well conditioned that the bound says all that matters: rounding cannot be seen. The estimate, and
the condition number, are then found when somebody asks for them, from the rows, which a model holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import EPS, KernelView, View
from mercer.learners.ridge.result import RidgeResult, missed, relative
from mercer.operators import Centered, Centering
from mercer.solvers import Cholesky, Outcome, System
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, Predict, mean_size, perturbations

if TYPE_CHECKING:
    from mercer.operators.at_backend import AtBackend

Array = NDArray[np.float64]
MARGIN = 5.0
"""By how much the longest of some random vectors may exceed its length in the mean: a bound counts that in."""


@dataclass(frozen=True, eq=False)
class DualMatrix:
    """The centred kernel matrix of rows, and how far its entries are off.

    view, centering, targets : the rows that are fitted, their weights, and y
    right : P D y, the right side of the system
    centered : P D K D P + tau u u'
    sizes : sqrt(k(x_i, x_i))
    unit : how far entries of K are off, relative to these
    """

    view: View
    centering: Centering
    targets: Array
    right: Array
    centered: Centered
    sizes: Array
    unit: float

    @classmethod
    def of(cls, view: View, centering: Centering, targets: Array, K: Array | AtBackend) -> Self:
        """From the kernel matrix, which is overwritten where this process holds it."""
        sizes = np.sqrt(np.maximum(K.diagonal(), 0.0))
        unit = view.unit(K, sizes)
        return cls(view, centering, targets, centering.rows(targets), centering.matrix(K), sizes, unit)

    def is_clear(self, outcome: Outcome, alphas: Array, limit: float) -> bool:
        """Whether rounding surely moves predictions by less than a limit, relative to their size at the rows.

        Where the right side is off by e, (A + alpha I)^-1 makes of it predictions of at most |e| at the rows, and of
        |e| sqrt(k(x, x)) / (2 sqrt(alpha)) elsewhere.

        outcome : of a direct solver
        """
        if not (outcome.converged and self.view.sure and alphas.min() > 0):
            return False
        x, roots = outcome.value, self.centering.roots[:, None]
        scale, fitted = roots * self.sizes[:, None], self.targets - alphas * x / roots
        lengths = _lengths(scale * x)
        errors = self.unit * _lengths(scale) * lengths + missed(outcome) * _lengths(self.right)
        here = 1 / (float(roots.min()) * len(x) ** 0.5)
        beyond = (float(self.sizes.max()) + self._farthest()) / (2 * np.sqrt(alphas))
        moved = MARGIN * errors * np.maximum(beyond, here) + self._summed(lengths)
        return bool((ERROR_FACTOR * moved <= limit * _lengths(fitted) / len(x) ** 0.5).all())

    def moved(self, outcome: Outcome, alphas: Array) -> Array:
        """The estimated relative errors of predictions, at the rows and at new ones like them."""
        if not outcome.converged:
            return np.full(len(alphas), np.inf)
        center, x, known = self.centering, outcome.value, outcome.decomposition
        targets, scale = self.right, (center.roots * self.sizes)[:, None]
        lengths = np.linalg.norm(scale * x, axis=0)
        errors = self.unit * scale * lengths + missed(outcome) * np.linalg.norm(targets, axis=0) / np.sqrt(len(x))
        summed = ERROR_FACTOR * self._summed(lengths)
        if known is None:  # A (A + alpha)^-1 makes nothing longer
            size = mean_size(self.targets - alphas * x / center.roots[:, None])
            return relative(ERROR_FACTOR * mean_size(errors / center.roots[:, None]) + summed, size)
        new = self.view.between()
        cross = None if new is None else self.view.dense_cross(new)
        predict = self._prediction(alphas, cross)
        moved = perturbations(known, predict, alphas, lambda random: errors * random.standard_normal(errors.shape))
        means = center.means(self.targets)
        sizes = [mean_size(table + means) for table in predict(x, targets)]
        if cross is None:
            sizes[1] = sizes[0]  # what bounds an error from above would do the same for a size
        return np.asarray(relative(moved + summed, np.array(sizes)).max(axis=0))

    def _summed(self, lengths: Array) -> Array:
        """What sums over rows may be off by, and the mean of y where there is an intercept."""
        found = self.unit * float(self.sizes.max()) * lengths
        return found + EPS * _lengths(self.targets) / len(self.targets) ** 0.5 if self.centering.intercept else found

    def _farthest(self) -> float:
        """The largest sqrt(k(x, x)) of new rows like these."""
        view = self.view
        if isinstance(view, KernelView) and view.kernel.radial:
            return float(self.sizes[0])
        return float(np.sqrt(np.maximum(view.diagonal(view.between()), 0.0).max()))

    def _prediction(self, alphas: Array, cross: Array | None) -> Predict:
        """From solutions to predictions less the mean of y: at the rows, and at new ones, or a bound for these."""
        roots, means = self.centering.roots[:, None], self.centered.means
        u, pull = self.centering.direction[:, None], self.centered.pull

        def predict(x: Array, right: Array) -> tuple[Array, Array]:
            along = u * (u.T @ x)
            products = right - np.tile(alphas, x.shape[1] // len(alphas)) * x - pull * along  # A x, and A u is pull u
            x = x - along
            duals = roots * x
            if cross is None:  # |f(x)| <= |f| sqrt(k(x, x))
                beyond = self.sizes.max() * np.sqrt(np.maximum((x * products).sum(axis=0, keepdims=True), 0.0))
            else:
                beyond = cross @ duals - means @ duals
            return products / roots, beyond

        return predict


def _lengths(columns: Array) -> Array:
    """|x| of each column; 0 or infinite where a square leaves the range of floats, which decides nothing."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", columns, columns)))


def balanced(centering: Centering, outcome: Outcome) -> Outcome:
    """Without the part along u, of which a solution has none: rounding of K brings it in, and K is large along u."""
    if not centering.intercept:
        return outcome
    x, u = outcome.value, centering.direction[:, None]
    return replace(outcome, value=np.asarray(x - u * (u.T @ x)))


def examined(result: RidgeResult) -> tuple[float, Array]:
    """The condition number of a direct fit, and the relative errors of its predictions: `moved`, from the rows.

    Cost: the kernel matrix once more, and n^3 / 3 operations.
    """
    view, center, fit = result.fitted, result.centering, result.fit
    if view is None or fit.duals is None:
        raise AttributeError("the rows stayed in their source, and there is no kernel matrix")
    x, means = fit.duals / center.roots[:, None], fit.intercepts + fit.means @ fit.duals
    condition, roundings = 1.0, np.empty(len(fit.alphas))
    for alpha in np.unique(fit.alphas):
        group = np.flatnonzero(fit.alphas == alpha)
        K, alphas = view.square(), fit.alphas[group]
        found = DualMatrix.of(view, center, np.empty((len(x), 0)), K)
        b = found.centered.stored @ x[:, group] + alpha * x[:, group]
        found = replace(found, targets=b / center.roots[:, None] + means[group], right=b)
        outcome = Cholesky().solve(System(found.centered.stored, b, alphas))
        condition = max(condition, outcome.condition)
        outcome = replace(balanced(center, outcome), residual=fit.outcome.residual)  # that of the model, of any solver
        roundings[group] = found.moved(outcome, alphas)
    return condition, roundings
