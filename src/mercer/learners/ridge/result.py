"""What a fit of least squares found, on either side or in a basis, and what the learner keeps of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import on_host
from mercer.compute.consistency import shapes, within
from mercer.kernels import Kernel
from mercer.kernels.points import Points
from mercer.learners.data.rows import scatter_rows
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import MatrixView, TableView, View
from mercer.learners.ridge.problem import RidgeProblem, sizes_of
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.predictor import Predictor
from mercer.lifts.base import Lift
from mercer.operators import Centering
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Outcome, Solver
from mercer.solvers.ridge.perturbation import mean_size
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning.path import Path
from mercer.tuning.side import Side

Array = NDArray[np.float64]
Fit = TypeVar("Fit", bound="RidgeFit")
PER_OUTPUT = (
    "alphas", "duals", "weights", "intercepts", "levels", "noise", "variance", "log_determinants", "roundings"
)  # fmt: skip
"""What a fit holds for each output, in the last dimension."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RidgeFit:
    """What every fit has: `DualFit`, `PrimalFit` or `BasisFit`.

    alphas : (outputs,)
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
    intercepts: Array
    levels: Array
    means: Array
    noise: Array
    variance: Array
    log_determinants: Array | None
    roundings: Array
    path: Path | None = None
    leverage: Array | None = None

    @property
    def worst_rounding(self) -> float:
        """The largest of the estimated relative errors."""
        return float(self.roundings.max())


@dataclass(frozen=True, eq=False, kw_only=True)
class DualFit(RidgeFit):
    """One coefficient per row.

    roundings : NaN where a bound said that they are below what is trusted; the condition number of the outcome is then
        NaN, too, where a Cholesky factor was found
    duals : (n, outputs)
    """

    duals: Array

    _nan: ClassVar[tuple[str, ...]] = ("roundings",)
    """Fields that may hold NaN."""

    @property
    def worst_rounding(self) -> float:
        """The largest of those that had to be estimated; 0 where none had."""
        return float(np.fmax.reduce(self.roundings, initial=0.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class PrimalFit(RidgeFit):
    """One weight per feature.

    weights : (features, outputs)
    duals : (n, outputs), the residuals over alpha; None where alpha is 0
    """

    weights: Array
    duals: Array | None


@dataclass(frozen=True, eq=False, kw_only=True)
class BasisFit(RidgeFit):
    """One weight per feature of a basis, from rows in pieces: a prediction is raw(x) . raw + intercept.

    weights : (features, outputs)
    duals : (n, outputs), where all rows are in memory, alpha is above 0 and the residuals are known; else None
    raw : (p, outputs), weights of raw functions
    basis : the functions of which the model is made
    spectrum : of Z'Z of the centred features; None where it was never formed
    """

    weights: Array
    duals: Array | None
    raw: Array
    basis: Basis
    spectrum: Spectrum | None


@dataclass(frozen=True, eq=False, kw_only=True)
class RidgeResult:
    """A fit, the rows that it is of, and what predicts with it: all that a learner keeps.

    kernel : the kernel with its numbers; None where it was precomputed
    lift : the one that was given, or whose features have weights; None where the kernel itself was fitted
    view : of all rows, also of those of weight zero; None where they stayed in their source
    kept, count : the positions of the rows that were fitted, and how many rows there are
    centering, total : the weights of these rows, and their sum
    right, spread : (outputs,), |b|, and the standard deviation of y
    seed : of all draws
    """

    fit: DualFit | PrimalFit | BasisFit
    plan: RidgePlan
    predictor: Predictor
    kernel: Kernel | None
    lift: Lift | None
    view: View | None
    kept: NDArray[np.intp]
    count: int
    centering: Centering
    total: float
    dtype: np.dtype[Any]
    is_flat: bool
    right: Array
    spread: Array
    seed: int = 0

    @classmethod
    def of(
        cls,
        problem: RidgeProblem,
        plan: RidgePlan,
        fit: DualFit | PrimalFit | BasisFit,
        predictor: Predictor,
        kernel: Kernel | None,
        lift: Lift | None,
        view: View | None,
        seed: int,
    ) -> RidgeResult:
        """The result of a problem."""
        right, spread = sizes_of(problem)
        if fit.outcome.decomposition is not None:
            fit = replace(fit, outcome=replace(fit.outcome, decomposition=None))
        if min(fit.noise.min(), fit.variance.min()) < 0.0:  # rounding of zero
            fit = replace(fit, noise=np.maximum(fit.noise, 0.0), variance=np.maximum(fit.variance, 0.0))
        return cls(
            fit=fit,
            plan=plan,
            predictor=predictor,
            kernel=kernel,
            lift=lift,
            view=view,
            kept=problem.kept,
            count=problem.view.count,
            centering=problem.centering,
            total=problem.total,
            dtype=problem.dtype,
            is_flat=problem.is_flat,
            right=right,
            spread=spread,
            seed=seed,
        )

    def _inconsistency(self) -> str:
        """What is wrong with a record from a file; "" where nothing is."""
        fit, kept, outputs = self.fit, self.kept, self.fit.alphas.size
        if not within(kept, 0, self.count) or (kept.size > 1 and not (np.diff(kept) > 0).all()):
            return f"rows that were fitted are not among {self.count}"
        if self.view is not None and self.view.count != self.count:
            return f"got {self.view.count} rows, and {self.count} are due"
        each = fit.alphas, fit.intercepts, fit.levels, fit.noise, fit.variance, fit.roundings, self.right, self.spread
        rows = [array for array in (fit.duals, fit.leverage) if array is not None]
        return shapes(
            (kept, (None,)),
            *((array, (outputs,)) for array in each),
            *((array, (kept.size, outputs)) for array in rows),
            *([] if isinstance(fit, DualFit) else [(fit.weights, (None, outputs))]),
        )

    # -- of all rows ----------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Any:
        """The training rows; an AttributeError where they stayed in their source."""
        if isinstance(self.view, MatrixView):
            return self.view.matrix
        return on_host(self.points.values)

    @property
    def points(self) -> Points:
        """The training rows as points."""
        if not isinstance(self.view, TableView):
            raise AttributeError("the rows stayed in their source")
        return self.view.points

    @property
    def fitted(self) -> View | None:
        """The view of the rows that were fitted."""
        return self.view if self.view is None or len(self.kept) == self.count else self.view.chosen(self.kept)

    @cached_property
    def duals(self) -> Array | None:
        """(count, outputs), zero for rows that were not fitted; None where they are not known."""
        return None if self.fit.duals is None else scatter_rows(self.fit.duals, self.kept, self.count)

    @property
    def weights(self) -> Array | None:
        """(features, outputs); None in the dual."""
        return None if isinstance(self.fit, DualFit) else self.fit.weights

    def known_duals(self) -> Array:
        """The same, or an AttributeError that says why they are not known."""
        if self.duals is None:
            raise AttributeError(f"dual_coef_: {self._why_no_duals()}")
        return self.duals

    def _why_no_duals(self) -> str:
        if self.view is None:
            return "the rows stayed in their source"
        if not (self.fit.alphas > 0).all():
            return 'in the primal with alpha = 0 the residuals do not determine them; side="dual" solves for them'
        if isinstance(self.fit, PrimalFit):
            return 'with an alpha this small the residuals are rounding; side="dual" solves for them'
        return "the fit was stopped before the residuals, which determine them, were known"

    @cached_property
    def lifted_duals(self) -> Array:
        """sum_i a_i phi(x_i), a block of rows at a time."""
        if self.view is None:
            raise AttributeError("coef_: the rows stayed in their source")
        from mercer.learners.streaming.weights import lifted  # few who fit ask

        return lifted(self.view, self.known_duals())

    def __getstate__(self) -> dict[str, Any]:
        """The fields: what was computed from them since is computed again."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


# -- what both sides need ---------------------------------------------------------------------------------------------


def relative(errors: Array, sizes: Array) -> Array:
    """Errors in units of the sizes, one per output; a zero error is zero whatever the size."""
    return np.asarray(np.divide(errors, sizes, out=np.where(errors > 0, np.inf, 0.0), where=sizes > 0))


def by_alpha(problem: RidgeProblem, solver: Solver, solve: Callable[[RidgeProblem], Fit]) -> Fit:
    """One fit for each different alpha, joined, where a decomposition serves one alpha alone."""
    alphas = problem.penalty.given
    if solver.needs != "matrix" or solver.whole_path or (alphas == alphas[0]).all():
        return solve(problem)
    groups = [np.flatnonzero(alphas == alpha) for alpha in np.unique(alphas)]
    fits = [
        solve(replace(problem, targets=problem.targets[:, group], penalty=Penalty(alphas[group], path=False)))
        for group in groups
    ]
    return _joined(fits, np.argsort(np.concatenate(groups)))


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
        condition=float(np.max([outcome.condition for outcome in outcomes])),
        decomposition=None,
    )
    names = [name for name in PER_OUTPUT if hasattr(fits[0], name)]
    return replace(fits[0], outcome=together, **{name: side_by_side(name) for name in names})


def leverages(side: Side, alphas: Array) -> Array:
    """(n, outputs): of one copy of each row, for the alpha of each output."""
    different, which = np.unique(alphas, return_inverse=True)
    return np.column_stack([side.leverage(alpha) for alpha in different])[:, which]


def raised(
    problem: RidgeProblem, doubtful: NDArray[np.bool_], chosen: NDArray[np.intp], count: int
) -> NDArray[np.intp] | None:
    """The next larger candidate for outputs that rounding makes doubtful; None where nothing is to be changed.

    Only where nobody named the candidates: "auto" never ends in a warning while a larger alpha helps. Outputs that code
    classes have one alpha.

    chosen : (outputs,), positions among so many candidates
    """
    if problem.penalty.values is not None or not doubtful.any() or chosen.max() + 1 >= count:
        return None
    return chosen + (1 if problem.is_coded else doubtful.astype(np.intp))


def level_size(problem: RidgeProblem) -> Array:
    """The size of the y whose mean is taken, one number per output: the rounding of an intercept is relative to it."""
    return mean_size(problem.targets) * problem.centering.intercept


def missed(outcome: Outcome) -> float:
    """The relative residual that a solver left against its will: 0 where it was stopped by rows that were held out."""
    stopped = outcome.history is not None and outcome.history.validation.size > 0
    return 0.0 if stopped else outcome.residual
