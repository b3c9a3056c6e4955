"""What a fit is asked to do, and what it found: the records that pass between a learner and the two sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.learners.held_out import HeldOut
from mercer.learners.reading import Penalty
from mercer.learners.views import View
from mercer.operators import Centering
from mercer.planner import Plan
from mercer.solvers import Outcome
from mercer.tuning.path import Path

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Request:
    """Rows of weights above zero, what is to be predicted from them, and how.

    who : in whose name messages speak
    targets : (n, outputs)
    labels : (n,) classes as whole numbers, where the targets code them; None for regression
    sure : whether the kernel is known to be one; otherwise its matrix is examined
    held_out : rows to validate a gradient method on; None where there are none
    """

    who: str
    view: View
    targets: Array
    centering: Centering
    penalty: Penalty
    plan: Plan
    labels: NDArray[np.intp] | None
    sure: bool
    held_out: HeldOut | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """A solved problem of least squares.

    alphas : (outputs,)
    duals : (n, outputs), the dual coefficients; None in the primal where alpha is 0
    weights : (features, outputs), in the primal; None in the dual
    intercepts : (outputs,)
    levels : (outputs,), what is added to centred features: the mean of y in the primal, the intercept in the dual
    means : of the features, in the primal; of the rows of K, in the dual
    noise : (outputs,), the variance of the noise of the equal Gaussian process
    variance : (outputs,), the factor of its kernel
    log_determinants : (outputs,), log det(K + alpha I) on what the intercept leaves, copies counted; None if unknown
    rounding : the estimated relative error of predictions
    path : how alpha was chosen; None where it was given
    leverage : (n, outputs), of one copy of each row; None where it would take another decomposition
    """

    outcome: Outcome
    alphas: Array
    duals: Array | None
    weights: Array | None
    intercepts: Array
    levels: Array
    means: Array
    noise: Array
    variance: Array
    log_determinants: Array | None
    rounding: float
    path: Path | None = None
    leverage: Array | None = None


def relative(errors: Array, sizes: Array) -> float:
    """The largest error in units of the size, over the outputs; a zero error is zero whatever the size."""
    ratios = np.divide(errors, sizes, out=np.where(errors > 0, np.inf, 0.0), where=sizes > 0)
    return float(ratios.max(initial=0.0))


def blind(outcome: Outcome) -> float:
    """What is known without a decomposition: the residual, and what may amplify it; inf where a solver gave up."""
    if not outcome.converged:
        return np.inf
    return outcome.residual * (outcome.condition if np.isfinite(outcome.condition) else 1.0)
