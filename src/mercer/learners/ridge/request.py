"""What a fit is asked to do, and what it found: the records that pass between a learner and the two sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import View
from mercer.learners.ridge.validation_rows import HeldOut
from mercer.operators import Centering
from mercer.planner import Plan
from mercer.solvers import Outcome
from mercer.solvers.ridge.perturbation import mean_size
from mercer.tuning.path import Path
from mercer.tuning.side import Side

Array = NDArray[np.float64]
TRUSTED = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""The relative error of predictions above which rounding is told, by the dtype of the data."""


PER_OUTPUT = (
    "alphas", "duals", "weights", "intercepts", "levels", "noise", "variance", "log_determinants", "roundings"
)  # fmt: skip
"""What a fit holds for each output, in the last dimension."""


@dataclass(frozen=True, eq=False)
class Request:
    """Rows of positive weights, what is to be predicted from them, and how.

    who : the name in messages
    targets : (n, outputs)
    labels : (n,) classes as integers, where the targets code them; None for regression
    sure : whether the kernel is known to be positive semi-definite; otherwise its matrix is examined
    trusted : the relative error of predictions above which rounding is told
    held_out : rows to validate a gradient method on; None where there are none
    run : takes progress, and may stop the fit
    """

    who: str
    view: View
    targets: Array
    centering: Centering
    penalty: Penalty
    plan: Plan
    labels: NDArray[np.intp] | None
    sure: bool
    trusted: float
    held_out: HeldOut | None = None
    run: Run = IDLE


@dataclass(frozen=True, eq=False)
class Fit:
    """A solved problem of least squares.

    alphas : (outputs,)
    duals : (n, outputs), the dual coefficients; None in the primal where alpha is 0
    weights : (features, outputs), in the primal; None in the dual
    intercepts : (outputs,)
    levels : (outputs,), what is added to centred features: the mean of y in the primal, the intercept in the dual
    means : of the features, in the primal; of the rows of K, in the dual
    noise : (outputs,), the variance of the noise of the equivalent Gaussian process
    variance : (outputs,), the factor of its kernel
    log_determinants : (outputs,), log det(K + alpha I) on what the intercept leaves, copies counted; None if unknown
    roundings : (outputs,), the estimated relative errors of predictions
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
    roundings: Array
    path: Path | None = None
    leverage: Array | None = None


def relative(errors: Array, sizes: Array) -> Array:
    """Errors in units of the sizes, one per output; a zero error is zero whatever the size."""
    return np.asarray(np.divide(errors, sizes, out=np.where(errors > 0, np.inf, 0.0), where=sizes > 0))


def by_alpha(request: Request, solve: Callable[[Request], Fit]) -> Fit:
    """One fit for each different alpha, joined, where a decomposition serves one alpha alone."""
    alphas, solver = request.penalty.given, request.plan.solver
    if solver.needs != "matrix" or solver.whole_path:
        return solve(request)
    groups = [np.flatnonzero(alphas == alpha) for alpha in np.unique(alphas)]
    fits = [
        solve(replace(request, targets=request.targets[:, group], penalty=Penalty(alphas[group], path=False)))
        for group in groups
    ]
    return fits[0] if len(fits) == 1 else _joined(fits, np.argsort(np.concatenate(groups)))


def _joined(fits: list[Fit], order: NDArray[np.intp]) -> Fit:
    """Fits of some outputs each, as one."""

    def side_by_side(name: str) -> Any:
        parts = [getattr(fit, name) for fit in fits]
        return None if any(part is None for part in parts) else np.concatenate(parts, axis=-1)[..., order]

    outcomes = [fit.outcome for fit in fits]
    worst = min(outcomes, key=lambda outcome: outcome.converged)
    together = replace(
        worst,
        value=np.concatenate([outcome.value for outcome in outcomes], axis=1)[:, order],
        residual=max(outcome.residual for outcome in outcomes),
        condition=max(outcome.condition for outcome in outcomes),
        decomposition=None,
    )
    return replace(fits[0], outcome=together, **{name: side_by_side(name) for name in PER_OUTPUT})


def leverages(side: Side, alphas: Array) -> Array:
    """(n, outputs): of one copy of each row, for the alpha of each output."""
    different, which = np.unique(alphas, return_inverse=True)
    return np.column_stack([side.leverage(alpha) for alpha in different])[:, which]


def raised(
    penalty: Penalty, doubtful: NDArray[np.bool_], chosen: NDArray[np.intp], count: int, coded: bool
) -> NDArray[np.intp] | None:
    """The next larger candidate for outputs that rounding makes doubtful; None where nothing is to be changed.

    Only where nobody named the candidates: "auto" never ends in a warning while a larger alpha helps.

    chosen : (outputs,), positions among so many candidates
    coded : whether outputs are those of classes, which have one alpha
    """
    if penalty.values is not None or not doubtful.any() or chosen.max() + 1 >= count:
        return None
    return chosen + (1 if coded else doubtful.astype(np.intp))


def level_size(request: Request) -> Array:
    """The size of the y whose mean is taken, per output: the rounding of an intercept is relative to it."""
    return mean_size(request.targets) * request.centering.intercept


def missed(outcome: Outcome) -> float:
    """The relative residual that a solver left against its will: 0 where it was stopped by rows that were held out."""
    stopped = outcome.history is not None and outcome.history.validation.size > 0
    return 0.0 if stopped else outcome.residual
