"""From settings and data to a problem that can be planned: what was asked, the kernel's numbers, the views."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, sentence
from mercer.kernels.points import Points
from mercer.learners.data.range_checks import refuse_extremes
from mercer.learners.data.resolve import candidate_views
from mercer.learners.data.rows import at_rows
from mercer.learners.data.validation import AUTO, Penalty, penalty_of, shown
from mercer.learners.data.views import KernelView, View
from mercer.learners.parameters import LOO, boolean
from mercer.learners.ridge.request import TRUSTED, Request
from mercer.learners.ridge.validation_rows import HeldOut, held_out_rows
from mercer.operators import Centering
from mercer.planner import Plan
from mercer.solvers import ConjugateGradient, Solver

Array = NDArray[np.float64]


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
        view, labels = self.seen(full), at_rows(self.problem.labels, self.kept)
        who = _speaker(self.settings.who, full)
        refuse_extremes(view, self.targets, self.centering, self.penalty.values is None, self.dtype)
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
    centering = Centering.of(len(kept), at_rows(problem.weights, kept), _truth(settings), at_rows(problem.counts, kept))
    penalty = _penalty(settings, problem, len(kept), solver)
    copies = problem.weights if problem.counts is None else problem.counts
    views = list(
        candidate_views(
            settings.kernel,
            settings.lengthscale,
            rows,
            problem.table,
            kept,
            copies,
            settings.memory_limit,
        )
    )
    out = _held_out(rows, problem, kept, held)
    return Prepared(settings, rows, problem, solver, kept, out, centering, penalty, views)


# -- settings ---------------------------------------------------------------------------------------------------------


def _solver(settings: Settings) -> Solver | None:
    if isinstance(settings.solver, str) and settings.solver == AUTO:
        return None
    if not isinstance(settings.solver, Solver):
        needs = 'solver="auto" or a solver of mercer.solvers'
        raise InputError(sentence(settings.who, needs, f"got {shown(settings.solver)}", "Use Cholesky(), say."))
    return settings.solver


def _truth(settings: Settings) -> bool:
    return boolean("fit_intercept", settings.fit_intercept, "Use True.")


def _penalty(settings: Settings, problem: Problem, count: int, solver: Solver | None) -> Penalty:
    per_output = not problem.flat and problem.labels is None
    penalty = penalty_of(settings.alpha, problem.targets.shape[1], per_output)
    chosen = "alpha" if penalty.path else "the lengthscale"
    if count < 2 and (penalty.path or (isinstance(settings.lengthscale, str) and settings.lengthscale == LOO)):
        got = f"n_samples = {count}"
        raise InputError(sentence(settings.who, f"two rows or more to choose {chosen}", got, "Give a number for it."))
    if penalty.path and solver is not None and not (solver.whole_path or isinstance(solver, ConjugateGradient)):
        many = 'alpha="auto"' if penalty.values is None else f"{len(penalty.values)} candidates"
        got = f"got {many}, and {type(solver).__name__} solves for one"
        raise InputError(sentence(settings.who, "one number for alpha", got, "Give it, or use solver=Eigen()."))
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


def _held_out(rows: Any, problem: Problem, kept: NDArray[np.intp], held: NDArray[np.intp]) -> HeldOut | None:
    if len(held) == 0:
        return None
    found = rows.rows(held) if isinstance(rows, Points) else rows[np.ix_(held, kept)]
    weights = np.ones(len(held)) if problem.weights is None else problem.weights[held]
    return HeldOut(found, problem.targets[held], weights)


def _speaker(who: str, view: View) -> str:
    """In whose name an indefinite matrix is refused: with the function that is no kernel, where there is one."""
    return f"{who} with {view.kernel}" if isinstance(view, KernelView) and not view.sure else who
