"""Rows that gradient descent does not see, to stop where the error on them is least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import View
from mercer.operators import Centering

Array = NDArray[np.float64]
Validation = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows and targets that were held out, with their weights.

    rows : as the view takes new rows
    """

    rows: Any
    targets: Array
    weights: Array

    def of_duals(self, view: View, centering: Centering, targets: Array, means: Array) -> Validation:
        """The mean squared error on these rows, from coefficients of the dual."""
        cross = view.cross(self.rows)

        def loss(x: Array) -> Array:
            duals = centering.roots[:, None] * x
            return self._loss(cross @ duals + centering.intercepts(targets, duals, means))

        return loss

    def of_weights(self, features: Array, level: Array) -> Validation:
        """The mean squared error on these rows, from weights of the primal; `features` are those of these rows."""

        def loss(w: Array) -> Array:
            return self._loss(features @ w + level)

        return loss

    def _loss(self, predictions: Array) -> Array:
        return np.asarray(self.weights @ (self.targets - predictions) ** 2 / self.weights.sum())


def held_out_rows(count: int, share: float) -> NDArray[np.intp]:
    """Which rows are held out: evenly spaced ones, so that the same data gives the same model."""
    many = round(share * count)
    return (
        np.unique(np.linspace(0, count - 1, many + 2)[1:-1].round().astype(np.intp)) if many else np.empty(0, np.intp)
    )
