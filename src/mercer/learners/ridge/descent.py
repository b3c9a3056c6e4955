"""The path of a gradient descent in the terms of the model: its losses, and the coefficients after each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.learners.ridge.features import CenteredFeatures
from mercer.learners.ridge.result import DualFit, RidgeResult

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Descent:
    """The path of w <- w - step * gradient, from w = 0: on the sum of squares, without a half.

    Where y has several columns all arrays but `step` have one more dimension.

    losses : (steps + 1,), sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2 before the first step and after each; b is the
        best intercept there, or 0
    alphas : (steps + 1, n), f(x) = sum_i alphas[t, i] k(x_i, x) after t steps; None in the primal, and where the solver
        was not to keep them
    weights : (steps + 1, p), f(x) = weights[t] . phi(x); None in the dual, and likewise
    step : the size of a step, the smallest where outputs have different ones
    validation : (steps + 1,), the mean squared error on rows that were held out; None where none were
    """

    losses: Array
    alphas: Array | None
    weights: Array | None
    step: float
    validation: Array | None


def descent_of(result: RidgeResult) -> Descent:
    """The path of a fit; an AttributeError where it was no descent."""
    history, fit = result.fit.outcome.history, result.fit
    if history is None:
        raise AttributeError("history_: the solver takes no steps; use solver=GradientDescent()")
    kept = history.coefficients if len(history.coefficients) else None
    in_dual = isinstance(fit, DualFit)
    alphas = None if kept is None or not in_dual else _of_rows(result, kept)
    weights = None if kept is None or in_dual else _of_features(result, kept)
    validation = history.validation if len(history.validation) else None
    found = (None if part is None else _shaped(result, part) for part in (alphas, weights, validation))
    alphas, weights, validation = found
    return Descent(_shaped(result, history.losses), alphas, weights, history.step, validation)


def _shaped(result: RidgeResult, values: Array) -> Array:
    return values[..., 0] if result.is_flat else values


def _of_rows(result: RidgeResult, x: Array) -> Array:
    """Coefficients of the weighted system as those of all rows, 0 where they were not fitted."""
    duals = result.centering.roots[:, None] * x
    if duals.shape[1] == result.count:
        return np.asarray(duals)
    found = np.zeros((len(x), result.count, x.shape[2]))
    found[:, result.kept] = duals
    return found


def _of_features(result: RidgeResult, x: Array) -> Array:
    """Weights of the columns that were left as those of all features: a constant one is what the intercept is."""
    if result.weights is None or result.fitted is None or x.shape[1] == len(result.weights):
        return x
    found = np.zeros((len(x), *result.weights.shape))
    found[:, CenteredFeatures.of(result.fitted, result.centering).kept] = x
    return found
