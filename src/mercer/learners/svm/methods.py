"""The methods of SVMs: the exact kernel, or features in its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime import threads
from mercer.compute.runtime.run import IDLE, Run
from mercer.kernels.evaluation.strips import workspace
from mercer.kernels.points import Points
from mercer.learners.data.views import KernelView, View, definite
from mercer.learners.streaming.basis import Basis, FeatureBasis
from mercer.learners.svm.active_set import free_of, gained, polished
from mercer.operators import Dense, Operator
from mercer.solvers.svm import coordinate_descent, working_sets
from mercer.solvers.svm.box_qp import Boxed, Rested
from mercer.solvers.svm.descent_loops import products
from mercer.solvers.svm.kernel_cache import Memory
from mercer.solvers.svm.working_sets import Settings

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
SMALL = 512
"""Rows up to which coefficients are found to rounding: the cost is negligible."""
FINE = 1e-13
"""The violation that is left then, relative to the largest number of f."""
TRIES, SHARPER = 4, 0.03
"""Turns that may sharpen what is good enough, and how much less violation each is asked for."""
STUCK, FALLEN, LED = 12, 0.9, 1e-3
"""Turns for what is not good enough; counted anew after one that lets violation or objective fall by such parts."""
TURN, EACH, TURNS = 1000, 20, 40
"""Steps of a turn, and for each row; and turns in all, where nobody says how many steps there may be."""
FEW = 50
"""Free coefficients up to which a polish is tried far from rest after one that was in vain."""
BRIEF, BRIEF_EACH = 10_000, 100
"""Steps of a brief solution, and for each row."""


class Way(ABC):
    """A method that finds coefficients of some rows."""

    @abstractmethod
    def solve(self, problem: Boxed, start: Array | None = None, run: Run = IDLE) -> Rested:
        """The coefficients; `start` has those to start from."""

    @abstractmethod
    def values(self, b: Array) -> Array:
        """sum_j b_j k(x_i, x_j) of each row."""

    @abstractmethod
    def sizes(self) -> Array:
        """k(x_i, x_i) of each row."""

    def brief(self) -> Way:
        """The same with fewer steps, for what need not be exact."""
        return self

    @abstractmethod
    def part(self, rows: Rows) -> Way:
        """The same for some of the rows."""


@dataclass(frozen=True, eq=False)
class Exactly(Way):
    """By the kernel matrix, of which rows are computed as they are needed.

    patient : whether all steps may be made for few rows, too
    tries : turns for few rows, once they are good enough
    memory : where rows of the matrix are kept, of one function after the other
    """

    K: Operator
    settings: Settings
    patient: bool = False
    tries: int = TRIES
    memory: Memory = field(default_factory=Memory)

    def solve(self, problem: Boxed, start: Array | None = None, run: Run = IDLE) -> Rested:
        if problem.count > SMALL:
            return working_sets.solve(problem, self.K, self.settings, start, run, self.memory)
        return self._to_rounding(problem, start, run)

    def _to_rounding(self, problem: Boxed, start: Array | None, run: Run) -> Rested:
        """Steps and polish in turn: weights and copies of rows are one model then, and a huge C converges."""
        usual = min(self.settings.max_steps, TURNS * (TURN + EACH * problem.count))
        turns, most = _Turns(self, problem), self.settings.max_steps if self.patient else usual
        best, idle, tolerance = turns.go(start, self.settings.tolerance, most, run), 0, self.settings.tolerance
        least = best.violation
        while best.violation > _fine(problem, best) and best.steps < most and not _stopped(run):
            good = best.violation <= tolerance
            if idle >= (self.tries if good else STUCK):
                break
            goal = max(SHARPER * best.violation, _fine(problem, best)) if good else tolerance
            found = turns.go(best.b, goal, most - best.steps, run)
            led = found.violation < FALLEN * least or gained(problem, turns.K, best, found) > LED
            idle = idle + 1 if good or not led else 0
            least = min(least, found.violation)
            kept = best if good and not found.violation < best.violation else found
            best = replace(kept, steps=best.steps + found.steps, rounds=best.rounds + found.rounds)
        return _told(best, tolerance, most, _stopped(run))

    def values(self, b: Array) -> Array:
        support = np.flatnonzero(b)
        return np.asarray(self.K.combine(support, b[support])) if len(support) else np.zeros(len(b))

    def sizes(self) -> Array:
        return np.asarray(self.K.diagonal(), dtype=np.float64)

    def brief(self) -> Exactly:
        most = min(self.settings.max_steps, BRIEF + BRIEF_EACH * self.K.shape[0])
        return replace(self, settings=replace(self.settings, max_steps=most), tries=0)

    def part(self, rows: Rows) -> Exactly:
        return self if len(rows) == self.K.shape[0] else replace(self, K=self.K.part(rows))


class _Turns:
    """Some steps and a polish, again and again."""

    def __init__(self, way: Exactly, problem: Boxed) -> None:
        self.way, self.problem = way, problem
        self.K = np.asarray(way.K.rows(slice(None)), dtype=np.float64)
        self.most = problem.count  # free coefficients with which a polish is tried far from rest

    def go(self, start: Array | None, goal: float, left: int, run: Run) -> Rested:
        """One turn, of so many steps at most."""
        problem, settings = self.problem, self.way.settings
        settings = replace(settings, tolerance=goal, max_steps=min(left, TURN + EACH * problem.count))
        rested = working_sets.solve(problem, self.way.K, settings, start, run)
        if not rested.converged and len(free_of(problem, rested.b)) > self.most:
            return rested
        found = polished(problem, self.K, rested)
        self.most = min(self.most, FEW) if found is rested else self.most
        return found


def _fine(problem: Boxed, rested: Rested) -> float:
    """The violation that rounding leaves."""
    return FINE * max(float(np.abs(rested.g).max()), float(np.abs(problem.linear).max()))


def _stopped(run: Run) -> bool:
    return bool(getattr(run, "stopped", False))


def _told(rested: Rested, tolerance: float, most: int, stopped: bool) -> Rested:
    """With the truth about it, in words."""
    converged = rested.violation <= tolerance
    if stopped and not converged:
        return replace(rested, converged=False)
    if converged:
        reason = f"The largest violation is {rested.violation:.1e} after {rested.steps} steps."
    elif rested.steps >= most:
        reason = f"{most:,} steps are over."
    else:
        reason = f"The violation hardly falls any more after {rested.steps:,} steps."
    return replace(rested, converged=converged, reason=reason)


@dataclass(frozen=True, eq=False)
class Featured(Way):
    """By features in float32, whose inner products are the kernel, or stand for it."""

    Z: NDArray[np.float32]
    settings: coordinate_descent.Settings

    def solve(self, problem: Boxed, start: Array | None = None, run: Run = IDLE) -> Rested:
        return coordinate_descent.descend(problem, self.Z, self.settings, start, run)

    def values(self, b: Array) -> Array:
        return products(self.Z, self.weights(b))

    def weights(self, b: Array) -> Array:
        """sum_i b_i phi(x_i): (features,), or (features, functions), in float64."""
        support = np.flatnonzero(b if b.ndim == 1 else b.any(axis=1))
        parts = np.array_split(support, 1 + len(support) * self.Z.shape[1] // (1 << 22))
        return np.asarray(np.sum([self.Z[part].astype(np.float64).T @ b[part] for part in parts], axis=0))

    def sizes(self) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.Z, self.Z), dtype=np.float64)

    def part(self, rows: Rows) -> Featured:
        return self if len(rows) == len(self.Z) else replace(self, Z=self.Z[rows])


# -- from rows to a method --------------------------------------------------------------------------------------------


def exactly(who: str, view: View, several: bool, whole: bool, settings: Settings, patient: bool) -> Exactly:
    """The exact method; what is not known to be a kernel is looked through first, which takes n^3 / 3 operations.

    several : whether the matrix is used for several functions
    whole : whether it is computed once for them
    patient : whether the number of steps was asked for
    """
    if view.sure and not (whole and isinstance(view, KernelView)):
        K = view.operator()
        if several:
            K.narrowed().rough().prepare()  # each function has a part of the rows
        return Exactly(K, settings, patient)
    matrix = view.dense()
    definite(who, view, matrix)
    return Exactly(Dense(matrix, symmetric=True), settings, patient)


def featured(basis: Basis, points: Points, settings: coordinate_descent.Settings, run: Run) -> Featured:
    """The features of all rows, in float32. Cost: n k d + n k^2 operations, and n k numbers of 4 bytes."""
    Z = np.empty((points.values.shape[0], basis.width), np.float32)

    def strip(worker: int, rows: slice, values: Array) -> None:
        Z[rows] = values

    memory = workspace(basis.width, threads.available())
    (basis if basis.plain else FeatureBasis(basis)).over_strips(points, strip, memory, run.watch)
    return Featured(Z, settings)
