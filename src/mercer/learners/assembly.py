"""From settings and data to a problem that can be planned: what was asked, the kernel's numbers, the views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from mercer.compute.budget import Budget
from mercer.errors import InputError, sentence
from mercer.kernels import Kernel
from mercer.kernels.evaluate import check_dimension, check_domain, leaves
from mercer.kernels.fields import MEDIAN
from mercer.kernels.points import DOUBLE, Points
from mercer.learners.extremes import refuse_extremes, refuse_far
from mercer.learners.held_out import HeldOut, held_out_rows
from mercer.learners.reading import AUTO, Penalty, kernel_of, lengthscale_of, penalty_of, shown
from mercer.learners.request import TRUSTED, Request
from mercer.learners.views import KernelView, LiftView, MatrixView, View
from mercer.lifts.base import Lift
from mercer.lifts.nystrom import Nystrom
from mercer.operators import Centering
from mercer.operators.precomputed import read_square
from mercer.planner import Plan
from mercer.solvers import ConjugateGradient, Solver

Array = NDArray[np.float64]
STRETCHES = tuple(2.0**k for k in range(-4, 3))
"""The grid of `lengthscale="loo"`: from a sixteenth of the median distance to four times it."""
LOO = "loo"
MEASURED = 1 << 17
"""Rows among which the median distance is looked for, at most: sorting millions takes longer than it tells."""


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of a learner, as they were given, and its name."""

    who: str
    kernel: Any
    alpha: Any
    lengthscale: Any
    fit_intercept: Any
    solver: Any
    memory_limit: Any = None
    time_limit: Any = None


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learned.

    table : the rows as the user gave them, for lifts, which know names of columns
    targets : (n, outputs)
    weights : (n,), or None where each row counts once
    counts : (n,), how many copies a row stands for, where weights say more than that; None otherwise
    flat : whether y had one dimension
    labels : classes as whole numbers, or None
    """

    table: Any
    targets: Array
    weights: Array | None
    flat: bool
    labels: NDArray[np.intp] | None = None
    counts: Array | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything that is known before a plan is made: settings that were checked, and rows as they are seen.

    rows : points, or a matrix where the kernel is precomputed
    kept : the positions of rows of weight above zero that are fitted
    held_out : the rows that a gradient method is stopped by; None where there are none
    views : of all rows, one a kernel that is tried
    """

    settings: Settings
    rows: Any
    problem: Problem
    solver: Solver | None
    kept: NDArray[np.intp]
    held_out: HeldOut | None
    centering: Centering
    penalty: Penalty
    views: list[View]

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the data and of predictions."""
        found: np.dtype[Any] = np.dtype(self.rows.dtype)
        return found

    @property
    def trusted(self) -> float:
        """The relative error of predictions above which rounding is told."""
        return TRUSTED[self.dtype]

    @property
    def targets(self) -> Array:
        """(n, outputs), of the rows that are fitted; not a copy where these are all rows."""
        return np.ascontiguousarray(self.problem.targets if self.whole else self.problem.targets[self.kept])

    @property
    def whole(self) -> bool:
        """Whether all rows are fitted."""
        return len(self.kept) == len(self.problem.targets)

    def seen(self, full: View) -> View:
        """The view of the rows that are fitted."""
        return full if self.whole else full.chosen(self.kept)

    def request(self, full: View, plan: Plan) -> Request:
        """What a side is asked, for one of the views."""
        view, labels = self.seen(full), _at(self.problem.labels, self.kept)
        who = _speaker(self.settings.who, full)
        refuse_extremes(self.settings.who, view, self.targets, self.centering, self.penalty, self.dtype)
        return Request(
            who, view, self.targets, self.centering, self.penalty, plan, labels, full.sure, self.trusted, self.held_out
        )

    def part(self, positions: NDArray[np.intp]) -> Prepared:
        """The same for some of the rows that are fitted, by their positions among these."""
        kept = self.kept[positions]
        center = self.centering
        counts = None if center.counts is None else center.counts[positions]
        return replace(
            self, kept=kept, centering=Centering(center.weights[positions], center.intercept, counts), held_out=None
        )


def sizes_of(prepared: Prepared) -> tuple[Array, Array]:
    """Of each output |b|, the length of the weighted and centred targets, and the standard deviation of y."""
    center, y = prepared.centering, prepared.targets
    spread = np.sqrt(center.shares @ (y - center.shares @ y) ** 2)
    return np.linalg.norm(center.rows(y), axis=0), np.asarray(spread)


def prepare(settings: Settings, rows: Any, problem: Problem) -> Prepared:
    """Check the settings against the data, and find the kernel's numbers."""
    solver = _solver(settings)
    kept, held = _parted(settings.who, problem, solver)
    centering = Centering.of(len(kept), _at(problem.weights, kept), _truth(settings), _at(problem.counts, kept))
    penalty = _penalty(settings, problem, len(kept), solver)
    views = list(views_of(settings, rows, problem, kept))
    out = _held_out(rows, problem, kept, held)
    return Prepared(settings, rows, problem, solver, kept, out, centering, penalty, views)


def _at(values: NDArray[Any] | None, rows: NDArray[np.intp]) -> Any:
    """Values of some rows, where there are values; not a copy where these are all rows."""
    return values if values is None or len(values) == len(rows) else values[rows]


# -- settings ---------------------------------------------------------------------------------------------------------


def _solver(settings: Settings) -> Solver | None:
    if isinstance(settings.solver, str) and settings.solver == AUTO:
        return None
    if not isinstance(settings.solver, Solver):
        needs = 'solver="auto" or a solver of mercer.solvers'
        raise InputError(sentence(settings.who, needs, f"{shown(settings.solver)} came", "Use Cholesky(), say."))
    return settings.solver


def _truth(settings: Settings) -> bool:
    if not isinstance(settings.fit_intercept, bool | np.bool_):
        came = f"{shown(settings.fit_intercept)} came"
        raise InputError(sentence(settings.who, "True or False for fit_intercept", came, "Use True."))
    return bool(settings.fit_intercept)


def _penalty(settings: Settings, problem: Problem, count: int, solver: Solver | None) -> Penalty:
    per_output = not problem.flat and problem.labels is None
    penalty = penalty_of(settings.who, settings.alpha, problem.targets.shape[1], per_output)
    chosen = "alpha" if penalty.path else "the lengthscale"
    if count < 2 and (penalty.path or (isinstance(settings.lengthscale, str) and settings.lengthscale == LOO)):
        came = f"n_samples = {count}"
        raise InputError(sentence(settings.who, f"two rows or more to choose {chosen}", came, "Give a number for it."))
    if penalty.path and solver is not None and not (solver.whole_path or isinstance(solver, ConjugateGradient)):
        many = 'alpha="auto"' if penalty.values is None else f"{len(penalty.values)} candidates"
        came = f"{many} came, and {type(solver).__name__} solves for one"
        raise InputError(sentence(settings.who, "one number for alpha", came, "Give it, or use solver=Eigen()."))
    return penalty


def _parted(who: str, problem: Problem, solver: Solver | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows to fit, and those that a gradient method is stopped by."""
    n = len(problem.targets)
    counted = np.arange(n) if problem.weights is None else np.flatnonzero(problem.weights)
    held = counted[held_out_rows(len(counted), getattr(solver, "validation", 0.0))]
    kept = np.setdiff1d(counted, held)
    if len(kept) == 0:
        raise InputError(sentence(who, "rows to fit", "all are held out", "Give more rows, or validation=0."))
    return kept, held


# -- views ------------------------------------------------------------------------------------------------------------


def views_of(settings: Settings, rows: Any, problem: Problem, kept: NDArray[np.intp]) -> Iterator[View]:
    """The rows as each candidate sees them: several where lengthscales are tried."""
    given, scale = kernel_of(settings.who, settings.kernel), lengthscale_of(settings.who, settings.lengthscale)
    if not isinstance(given, Kernel):
        if scale != MEDIAN:
            came = "the kernel is precomputed" if isinstance(given, str) else f"{type(given).__name__} is a lift"
            raise InputError(sentence(settings.who, f"a kernel for lengthscale={scale!r}", came, 'Use "median".'))
        yield _given_view(settings.who, given, rows, problem, kept, settings.memory_limit)
        return
    wide = replace(rows, dtype=DOUBLE)
    fitted = wide if len(kept) == len(problem.targets) else wide.rows(kept)
    for kernel in _kernels(settings.who, given, scale, fitted, problem, kept):
        for leaf, points in leaves(kernel, wide):
            check_domain(leaf, points)
            check_dimension(leaf, points)
        yield KernelView(wide, kernel)


def _given_view(who: str, given: Lift | str, rows: Any, problem: Problem, kept: NDArray[np.intp], limit: Any) -> View:
    if isinstance(given, Lift):
        rows_seen = _learnt_from(given, kept, limit)
        table = problem.table if len(rows_seen) == len(problem.targets) else _safe_indexing(problem.table, rows_seen)
        return LiftView(replace(rows, dtype=DOUBLE), clone(given).fit(table))
    return MatrixView(who, read_square(who, rows))


def _learnt_from(lift: Lift, kept: NDArray[np.intp], limit: Any) -> NDArray[np.intp]:
    """The rows that a lift learns from: all, or as many as leave room where it holds its features of all of them."""
    if not isinstance(lift, Nystrom) or not isinstance(lift.n_components, int) or limit is None:
        return kept
    most = max(2 * lift.n_components, Budget.of(limit).bytes // 32 // lift.n_components)
    return kept if len(kept) <= most else kept[np.sort(np.random.default_rng(0).choice(len(kept), most, replace=False))]


def _kernels(
    who: str, kernel: Kernel, scale: str | float, points: Points, problem: Problem, kept: NDArray[np.intp]
) -> list[Kernel]:
    """The kernel with its numbers, or several where its lengthscale is tried."""
    if isinstance(scale, float):
        if not kernel.is_open:
            remedy = "Write lengthscale='median' in the kernel." if kernel.has_lengthscale else 'Use "median".'
            needs = f"an open lengthscale for lengthscale={scale!r}"
            raise InputError(sentence(who, needs, f"{kernel} has none", remedy))
        weights = _at(problem.weights if problem.counts is None else problem.counts, kept)
        return [kernel.closed(scale).resolve_points(points, weights)]  # what else is open is found
    refuse_far(who, kernel, points)
    weights = _at(problem.weights if problem.counts is None else problem.counts, kept)
    if len(kept) > MEASURED:
        rows = np.sort(np.random.default_rng(0).choice(len(kept), MEASURED, replace=False))
        points, weights = points.rows(rows), _at(weights, rows)
    if scale != LOO:
        return [kernel.resolve_points(points, weights)]
    if not kernel.has_lengthscale:
        raise InputError(sentence(who, 'a lengthscale for lengthscale="loo"', f"{kernel} has none", 'Use "median".'))
    if kernel.is_open:
        return [kernel.resolve_points(points, weights, stretch) for stretch in STRETCHES]
    return [kernel.stretched(stretch) for stretch in STRETCHES]


def _held_out(rows: Any, problem: Problem, kept: NDArray[np.intp], held: NDArray[np.intp]) -> HeldOut | None:
    if len(held) == 0:
        return None
    found = rows.rows(held) if isinstance(rows, Points) else rows[np.ix_(held, kept)]
    weights = np.ones(len(held)) if problem.weights is None else problem.weights[held]
    return HeldOut(found, problem.targets[held], weights)


def _speaker(who: str, view: View) -> str:
    """In whose name an indefinite matrix is refused: with the function that is no kernel, where there is one."""
    return f"{who} with {view.kernel}" if isinstance(view, KernelView) and not view.sure else who
