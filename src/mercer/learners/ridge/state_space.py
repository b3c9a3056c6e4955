"""Least squares on one column by the states of processes: exact, with time and memory in proportion to the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.kernels.points import Points
from mercer.learners.data.views import EPS, View
from mercer.learners.ridge.posterior import Posterior, mirrored
from mercer.learners.ridge.problem import RidgeProblem, table_of
from mercer.learners.ridge.result import DualFit, RidgeResult, raised
from mercer.learners.ridge.state_form import form_of
from mercer.learners.streaming.predictor import Predictor
from mercer.lifts.base import Lift
from mercer.lifts.exact import exact_lift
from mercer.operators import Centering
from mercer.solvers import Outcome
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, mean_size
from mercer.solvers.state_space.leave_one_out import Members, errors
from mercer.solvers.state_space.products import covariance, largest, product
from mercer.solvers.state_space.series import MERGED, Order, Series
from mercer.solvers.state_space.smoothing import Smoother
from mercer.solvers.state_space.solve import Solution, solve
from mercer.tuning.path import Path, default_alphas

Array = NDArray[np.float64]
ALL_BUT = 0.5
"""The part of y that is left over from which on a leverage is found from the variance of f, not from that part."""

# -- from rows to a series --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows of a problem as a series.

    lift : of what is beside the processes; None where nothing is
    means : (features,), the weighted means of its features, 0 without an intercept
    middle : (outputs,), the weighted mean of y, 0 without an intercept
    """

    problem: RidgeProblem
    series: Series
    order: Order
    lift: Lift | None
    means: Array
    middle: Array

    @classmethod
    def of(cls, problem: RidgeProblem) -> Prepared:
        """From a problem whose kernel has a form."""
        view, center = problem.view, problem.centering
        form, why = form_of(view)
        points = table_of(view).points
        if form is None:
            raise TypeError(why)
        lift = exact_lift(reduce(add, form.space.others), points) if form.space.others else None
        processes = form.space.processes
        times = np.ascontiguousarray(points.values[:, 0])
        order = Order.of(times, MERGED / max(process.rate for process in processes))
        weights, middle = order.sorted(center.weights), center.means(problem.targets)
        sums = order.sums(weights)
        y = order.sorted(problem.targets) - middle
        if order.starts is not None:
            y = order.sums(y * weights[:, None]) / sums[:, None]
        times = order.firsts(order.sorted(times))
        features, means = _features(lift, times), np.zeros(0)
        if lift is not None:
            means = sums @ features / sums.sum() if center.intercept else np.zeros(features.shape[1])
        free = [np.ones((len(times), 1))] if center.intercept else []
        penalties = np.repeat([0.0, 1.0], [len(free), features.shape[1]])
        parts = [(process.size, process.rate, process.variance) for process in processes]
        sizes, rates, variances = (np.array(each) for each in zip(*parts, strict=True))
        columns = np.ascontiguousarray(np.hstack([y, *free, features - means]))
        series = Series(times, sums, columns, y.shape[1], penalties, sizes.astype(np.int64), rates, variances)
        return cls(problem, series, order, lift, means, middle)

    @property
    def members(self) -> Members:
        """The rows of each time."""
        center, order = self.problem.centering, self.order
        y = order.sorted(self.problem.targets) - self.middle
        starts = np.arange(len(y) + 1) if order.starts is None else order.starts
        apart = y - order.spread(self.series.columns[:, : self.series.outputs])
        return Members(starts, order.sorted(center.weights), order.sorted(center.copies), apart)

    @cached_property
    def reach(self) -> float:
        """The largest eigenvalue of the kernel matrix, weighted and centred."""
        center = Centering.of(self.series.count, self.series.weights, self.problem.centering.intercept)
        return largest(self.series, center)

    def duals(self, values: Array, alphas: Array) -> Array:
        """The coefficients of rows from those of times: w_i (y_i - f) / alpha of each."""
        if self.order.starts is None:
            return self.order.back(values)
        weights, members = self.order.sorted(self.problem.centering.weights)[:, None], self.members
        shares = weights / self.order.spread(self.series.weights)[:, None] * self.order.spread(values)
        own = np.divide(weights * members.apart, alphas, out=np.zeros_like(shares), where=alphas > 0)
        return self.order.back(shares + own)

    def rows(self, values: Array) -> Array:
        """From values of times to those of rows, as they were given."""
        return self.order.back(self.order.spread(values))


def _features(lift: Lift | None, times: Array) -> Array:
    return np.zeros((len(times), 0)) if lift is None else np.asarray(lift.features(times[:, None]), dtype=np.float64)


# -- the fit ----------------------------------------------------------------------------------------------------------


def fit(problem: RidgeProblem, run: Run) -> tuple[DualFit, ByStates, View]:
    """The model, what predicts with it, and the view of all rows through the kernel that was chosen."""
    tuned = [_tuned(problem, view, run) for view in problem.views]
    prepared, path, chosen, view = min(tuned, key=lambda each: _score(each[0], each[1], each[2]))
    while True:
        alphas = prepared.problem.penalty.given if path is None else path.alphas[chosen]
        with run.stage("solve"):
            found = solve(prepared.series, alphas, _telling(run, 3 * prepared.series.count))
            made = _described(prepared, found, alphas, path)
        larger = None if path is None else raised(problem, made.roundings > problem.trusted, chosen, len(path.alphas))
        if larger is None:
            return made, ByStates(prepared.lift, prepared.means, prepared.middle, found.which, found.smoother), view
        chosen = larger


def _tuned(problem: RidgeProblem, view: View, run: Run) -> tuple[Prepared, Path | None, NDArray[np.intp], View]:
    """The leave-one-out errors of all candidates, with one of the kernels."""
    prepared = Prepared.of(problem.through(view))
    given, outputs = problem.penalty.values, problem.targets.shape[1]
    if not problem.penalty.path and len(problem.views) == 1:
        return prepared, None, np.zeros(outputs, np.intp), view
    with run.stage("tuning"):
        alphas = default_alphas(prepared.reach) if given is None else np.unique(given)
        squares = errors(prepared.series, prepared.members, alphas, run.watch)
    path = Path(alphas, squares / problem.centering.total)
    best = path.best if problem.penalty.path or given is None else np.searchsorted(alphas, given)
    return prepared, path, np.broadcast_to(best, (outputs,)), view


def _score(prepared: Prepared, path: Path | None, chosen: NDArray[np.intp]) -> float:
    """The squared errors relative to those of the mean."""
    if path is None:
        return 0.0
    center, targets = prepared.problem.centering, prepared.problem.targets
    spread = np.square(center.rows(targets)).sum(axis=0) / center.total
    found = path.errors[chosen, np.arange(len(chosen))]
    return float(np.divide(found, spread, out=np.zeros_like(found), where=spread > 0).sum())


def _telling(run: Run, total: int) -> Any:
    done = 0

    def tell(rows: int) -> None:
        nonlocal done
        done += rows
        run.tell(min(1.0, done / total))

    return tell


def _described(prepared: Prepared, found: Solution, alphas: Array, path: Path | None) -> DualFit:
    problem, series, center = prepared.problem, prepared.series, prepared.problem.centering
    whole, y = series.weights[:, None], problem.targets - prepared.middle
    fitted = series.columns[:, : series.outputs] - alphas * found.duals / whole
    duals = prepared.duals(found.duals, alphas)
    variance = np.maximum((y * duals).sum(axis=0), 0.0) / max(center.total - center.intercept, 1.0)
    left_over = alphas * found.inverse / whole  # of y: 1 - w h; where nearly all is left, h is known from its own side
    by_share = np.divide(found.shares, alphas, out=np.ones_like(found.shares), where=alphas > 0)
    leverage = np.where(left_over < ALL_BUT, (1.0 - left_over) / whole, by_share)
    copies = center.total - series.count
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = found.logs + np.log(series.weights).sum() + (copies * np.log(alphas) if copies else 0.0)
    size, shown = mean_size(y), mean_size(fitted + prepared.middle)
    roundings = ERROR_FACTOR * (EPS + found.residual) * np.divide(size, shown, out=np.zeros_like(size), where=shown > 0)
    sums = _row_sums(prepared)
    condition = float(((sums.max() + alphas) * (found.inverse / whole).max(axis=0)).max())
    told = f"the states of {series.count:,} times were swept forth and back"
    torn = prepared.order.starts is not None and not (alphas > 0).all() and bool(prepared.members.apart.any())
    if torn:
        told = "Without a penalty rows of one time that differ cannot all be met: their mean is."
    intercept = found.coefficients[0] if center.intercept else np.zeros(series.outputs)
    # The features of the model are centred, those of the kernel are not.
    shift = prepared.means @ found.coefficients[series.features - len(prepared.means) :]
    intercepts = prepared.middle + intercept - shift
    return DualFit(
        outcome=Outcome(duals / center.roots[:, None], not torn, told, 0, found.residual, max(condition, 1.0)),
        alphas=alphas,
        duals=duals,
        intercepts=intercepts,
        levels=intercepts,
        means=prepared.rows(sums[:, None])[:, 0] / center.total if center.intercept else np.zeros(len(duals)),
        noise=alphas * variance,
        variance=variance,
        log_determinants=logs,
        roundings=roundings,
        path=path,
        leverage=prepared.rows(leverage),
    )


def _row_sums(prepared: Prepared) -> Array:
    """The weighted sum of each row of the kernel matrix: of positive rows the largest bounds all eigenvalues."""
    series = prepared.series
    features = series.columns[:, series.outputs :][:, series.penalties > 0] + prepared.means
    V = series.weights[:, None]
    return np.asarray(product(series, V) + features @ (features.T @ V))[:, 0]


# -- predictions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ByStates(Predictor):
    """From the states between which new rows lie.

    lift, means : of what is beside the processes, and the means of its features
    levels : (outputs,), the means of y
    which : (outputs,), the position of the alpha of each output
    """

    lift: Lift | None
    means: Array
    levels: Array
    which: NDArray[np.intp]
    smoother: Smoother

    def _inconsistency(self) -> str:
        if self.which.shape != self.levels.shape or self.levels.shape != (self.smoother.series.outputs,):
            return "outputs do not agree"
        if self.which.size and not 0 <= self.which.min() <= self.which.max() < len(self.smoother.alphas):
            return "an output has no alpha"
        free = self.smoother.series.features - len(self.means)
        width = 0 if self.lift is None else self.lift.n_features()
        return "" if free in (0, 1) and width == len(self.means) else "features do not agree"

    def found(self, rows: Points) -> tuple[Array, Array]:
        """f(x) + b of each row and output, and its variance in units of k, for each alpha of the smoother."""
        times = np.ascontiguousarray(rows.values[:, 0], dtype=np.float64)
        functions = self.functions(times)
        values, shares = self.smoother.at(times, functions)
        each = np.arange(len(self.levels))
        return values[:, each, self.which] + self.levels, shares

    def functions(self, times: Array) -> Array:
        """(times, features), the functions of the series."""
        free = self.smoother.series.features - len(self.means)
        return np.hstack([np.ones((len(times), free)), _features(self.lift, times) - self.means])

    def values(self, rows: Points) -> Array:
        return self.found(rows)[0]


@dataclass(frozen=True, eq=False)
class StatePosterior(Posterior):
    """From the states between which new rows lie. Cost: that of a prediction; of a covariance two sweeps a column."""

    predictor: ByStates

    @property
    def _place(self) -> int:
        return int(np.searchsorted(self.predictor.smoother.alphas, self.alpha))

    def variances(self, new: Any, count: int, variance: float, noise: float) -> Array:
        shares = self.predictor.found(new)[1][:, self._place]
        return np.asarray(variance * shares)

    def covariance(self, new: Any, count: int, variance: float, noise: float) -> Array:
        times = np.ascontiguousarray(new.values[:, 0], dtype=np.float64)
        series, functions = self.predictor.smoother.series, self.predictor.functions(times)
        cross = covariance(series, series.times, times)
        columns = np.hstack([cross, series.columns[:, series.outputs :]])
        found = solve(replace(series, columns=columns, outputs=count), np.full(count, self.alpha))
        # With c = cross, M = K + alpha / w, S = G'M^-1 G + penalties and beta = S^-1 G'M^-1 c:
        # k - c'M^-1 c + (g - S beta)'S^-1 (g - S beta), and M^-1 c = duals + M^-1 G beta.
        roots, aside = found.smoother.beside.roots[:, :, 0], functions @ found.coefficients
        scores = functions @ roots.T
        both = covariance(series, times, times) - cross.T @ found.duals + scores @ scores.T - aside - aside.T
        return np.asarray(variance * mirrored(both))

    @property
    def leverage(self) -> Array:
        raise AssertionError("the fit knows its leverage")

    def log_determinant(self) -> float:
        raise AssertionError("the fit knows its determinants")


def by_states(result: RidgeResult) -> ByStates:
    """The predictor of a fit by states."""
    if not isinstance(result.predictor, ByStates):
        raise TypeError(f"a fit by states is needed, got {type(result.predictor).__name__}")
    return result.predictor


def posterior_of(result: RidgeResult, alpha: float) -> StatePosterior:
    """The posterior of a fit by states, at one of its alphas."""
    if result.fitted is None:
        raise TypeError("a fit of rows in memory is needed")
    return StatePosterior(result.fitted, result.centering, alpha, by_states(result))
