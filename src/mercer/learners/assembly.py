"""From settings and data to a solved problem: the kernel's numbers, the view, the plan, the side, the solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from mercer.errors import InputError, sentence
from mercer.kernels import Kernel
from mercer.kernels.evaluate import check_dimension, check_domain, leaves
from mercer.kernels.fields import MEDIAN
from mercer.kernels.points import DOUBLE, Points
from mercer.learners import dual, primal
from mercer.learners.extremes import refuse_extremes, refuse_far
from mercer.learners.held_out import HeldOut, held_out_rows
from mercer.learners.reading import AUTO, Penalty, closed, kernel_of, lengthscale_of, penalty_of, shown
from mercer.learners.request import TRUSTED, Fit, Request
from mercer.learners.views import KernelView, LiftView, MatrixView, View
from mercer.lifts.base import Lift
from mercer.operators import Centering
from mercer.operators.precomputed import read_square
from mercer.planner import Plan, Task, choose
from mercer.solvers import Solver
from mercer.tuning.path import default_alphas

Array = NDArray[np.float64]
STRETCHES = tuple(2.0**k for k in range(-4, 3))
"""The grid of `lengthscale="loo"`: from a sixteenth of the median distance to four times it."""
LOO = "loo"


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of a learner, as they were given, and its name."""

    who: str
    kernel: Any
    alpha: Any
    lengthscale: Any
    fit_intercept: Any
    solver: Any


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
class Solved:
    """A fit, and what is needed to predict with it.

    view : of all rows, also of those of weight zero
    kept : the positions of the others
    """

    fit: Fit
    plan: Plan
    view: View
    kernel: Kernel | None
    lift: Lift | None
    centering: Centering
    kept: NDArray[np.intp]


def solve(settings: Settings, rows: Any, problem: Problem) -> Solved:
    """Choose a plan and follow it; `rows` are points, or a matrix where the kernel is precomputed."""
    solver = _solver(settings)
    kept, held = _parted(settings.who, problem, solver)
    centering = Centering.of(len(kept), _at(problem.weights, kept), _truth(settings), _at(problem.counts, kept))
    penalty = _penalty(settings, problem, len(kept), solver)
    views = list(_views(settings, rows, problem, kept))
    plan = _plan(settings.who, views[0], rows, problem, len(kept), penalty, solver, len(views))
    out = _held_out(rows, problem, kept, held)

    def request(full: View) -> Request:
        view = full if len(kept) == full.count else full.chosen(kept)
        targets, labels = problem.targets[kept], _at(problem.labels, kept)
        refuse_extremes(settings.who, view, targets, centering, penalty, rows.dtype)
        who, trusted = _speaker(settings.who, full), TRUSTED[np.dtype(rows.dtype)]
        return Request(who, view, targets, centering, penalty, plan, labels, full.sure, trusted, out)

    if plan.side == "primal":
        view = views[0].lifted()
        fit = primal.solve(request(view))
    elif len(views) == 1 and not penalty.path:
        view = views[0]
        fit = dual.solve(request(view))
    else:
        tuned, view = _best(views, request)
        fit = dual.finish(tuned)
    return Solved(fit, plan, view, view.kernel, view.lift, centering, kept)


def _best(views: list[View], request: Callable[[View], Request]) -> tuple[dual.Tuned, View]:
    """The view of least leave-one-out error; those that overflow are passed over where others do not."""
    best: tuple[dual.Tuned, View] | None = None
    refused: InputError | None = None
    for view in views:
        try:
            asked = request(view)
        except InputError as error:
            refused = error
            continue
        tuned = dual.tune(asked)
        if best is None or tuned.score < best[0].score:
            best = tuned, view
    if best is None:
        raise refused or InputError(sentence("A search", "something to search", "nothing came", "Give a kernel."))
    return best


def _at(values: NDArray[Any] | None, rows: NDArray[np.intp]) -> Any:
    """Values of some rows, where there are values."""
    return None if values is None else values[rows]


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
    if penalty.path and solver is not None and not solver.whole_path:
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


def _views(settings: Settings, rows: Any, problem: Problem, kept: NDArray[np.intp]) -> Iterator[View]:
    """The rows as each candidate sees them: several where lengthscales are tried."""
    given, scale = kernel_of(settings.who, settings.kernel), lengthscale_of(settings.who, settings.lengthscale)
    if not isinstance(given, Kernel):
        if scale != MEDIAN:
            came = "the kernel is precomputed" if isinstance(given, str) else f"{type(given).__name__} is a lift"
            raise InputError(sentence(settings.who, f"a kernel for lengthscale={scale!r}", came, 'Use "median".'))
        yield _given_view(settings.who, given, rows, problem, kept)
        return
    wide = replace(rows, dtype=DOUBLE)
    for kernel in _kernels(settings.who, given, scale, wide.rows(kept), problem, kept):
        for leaf, points in leaves(kernel, wide):
            check_domain(leaf, points)
            check_dimension(leaf, points)
        yield KernelView(wide, kernel)


def _given_view(who: str, given: Lift | str, rows: Any, problem: Problem, kept: NDArray[np.intp]) -> View:
    if isinstance(given, Lift):
        table = problem.table if len(kept) == len(problem.targets) else _safe_indexing(problem.table, kept)
        return LiftView(replace(rows, dtype=DOUBLE), clone(given).fit(table))
    return MatrixView(who, read_square(who, rows))


def _kernels(
    who: str, kernel: Kernel, scale: str | float, points: Points, problem: Problem, kept: NDArray[np.intp]
) -> list[Kernel]:
    """The kernel with its numbers, or several where its lengthscale is tried."""
    if isinstance(scale, float):
        if not kernel.is_open:
            remedy = "Write lengthscale='median' in the kernel." if kernel.has_lengthscale else 'Use "median".'
            needs = f"an open lengthscale for lengthscale={scale!r}"
            raise InputError(sentence(who, needs, f"{kernel} has none", remedy))
        return [closed(kernel, scale)]
    refuse_far(who, kernel, points)
    weights = _at(problem.weights if problem.counts is None else problem.counts, kept)
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


# -- the plan ---------------------------------------------------------------------------------------------------------


def _plan(
    who: str, view: View, rows: Any, problem: Problem, count: int, penalty: Penalty, solver: Solver | None, tried: int
) -> Plan:
    values = rows.values if isinstance(rows, Points) else rows
    alphas = len(default_alphas(1.0)) if penalty.values is None else len(np.unique(penalty.values))
    features = view.most_features if tried == 1 else None
    task = Task(count, values.shape[1], problem.targets.shape[1], features, alphas, penalty.path or tried > 1, tried)
    return choose(who, task, solver)
