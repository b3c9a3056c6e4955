"""How the coefficients of an SVM are found: with the exact kernel, or with features in its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import number_of
from mercer.kernels.evaluation.evaluate import is_few, values_of
from mercer.kernels.points import Points
from mercer.learners.data.views import KernelView, LiftView, View, definite, with_landmarks
from mercer.learners.streaming.basis import Basis, LiftBasis, landmark_basis, steady
from mercer.learners.streaming.feature_pass import feature_table
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures, Predictor
from mercer.learners.svm.active_set import decrease, free_coefficients, polished
from mercer.learners.svm.settings import SVMSettings
from mercer.lifts.nystrom import nystrom_of
from mercer.lifts.randomness import generator
from mercer.operators import Dense, Operator
from mercer.operators.base import EVERYTHING
from mercer.planner.svm import SVMPlan, is_narrow
from mercer.solvers.svm import coordinate_descent, working_sets
from mercer.solvers.svm.box_qp import BoxQP, QPResult
from mercer.solvers.svm.descent_loops import products
from mercer.solvers.svm.kernel_cache import Buffer
from mercer.solvers.svm.state import State
from mercer.solvers.svm.stored import result_of, solve_stored
from mercer.solvers.svm.working_sets import SMOSettings

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
MAX_STORED_ROWS = 650
"""Rows up to which the whole matrix is computed, once and in float64."""
RELATIVE_ROUNDING = 1e-13
"""The KKT violation that rounding leaves, relative to the largest number of f."""
SHARPENING_TURNS = 4
"""Turns that may sharpen what is within the tolerance."""
SHARPENED_SHARE = 0.03
"""The part of the violation that such a turn aims at."""
IDLE_TURNS = 12
"""Turns without progress after which the solver gives up what is not within the tolerance."""
VIOLATION_PROGRESS = 0.9
"""A turn is progress if the violation falls below this part of the least."""
OBJECTIVE_PROGRESS = 1e-3
"""A turn is progress, too, if the objective falls by this part."""
TURN_STEPS = 10_000
"""Steps of a turn, beside those for each row: about as long as a polish takes."""
TURN_STEPS_PER_ROW = 20
"""Steps of a turn for each row."""
MAX_TURNS = 40
"""Turns in all, where max_iter is None."""
FEW_FREE = 50
"""Free coefficients up to which a polish is tried far from the optimum, after one that did not help."""
BRIEF_STEPS = 10_000
"""Steps of a brief solution, beside those for each row."""
BRIEF_STEPS_PER_ROW = 100
"""Steps of a brief solution for each row."""


class Method(ABC):
    """Finds coefficients of some rows."""

    rounding: ClassVar[float]
    """How far rounding moves a value of the kernel, in units of sqrt(k(x, x) k(z, z))."""

    @abstractmethod
    def solve(self, problem: BoxQP, start: Array | None = None, run: Run = IDLE) -> QPResult:
        """The coefficients; `start` has those to start from."""

    @abstractmethod
    def values(self, b: Array) -> Array:
        """sum_j b_j k(x_i, x_j) of each row."""

    @abstractmethod
    def sizes(self) -> Array:
        """k(x_i, x_i) of each row."""

    def brief(self) -> Method:
        """The same with fewer steps, for what need not be exact."""
        return self

    def sharpened(self) -> Method:
        """The same as near to the solution as rounding allows, for few rows, where that is possible."""
        return self

    @abstractmethod
    def part(self, rows: Rows) -> Method:
        """The same for some of the rows."""

    @abstractmethod
    def predictor(self, view: View, support: Rows, b: Array, biases: Array) -> Predictor:
        """What predicts with the coefficients of all rows, (n, functions), that are zero outside of the support."""


@dataclass(frozen=True, eq=False)
class ExactMethod(Method):
    """By the kernel matrix, of which rows are computed as they are needed.

    matrix : an operator, or all numbers in float64
    patient : whether all steps may be made for few rows, too
    sharp : whether coefficients of few rows are found to rounding
    tries : turns for these, once they are within the tolerance
    narrow : whether values that all functions share are in float32
    buffer : where rows of the matrix are kept, of one function after the other
    """

    rounding = 1e-12

    matrix: Operator | Array
    settings: SMOSettings
    patient: bool = False
    sharp: bool = False
    tries: int = SHARPENING_TURNS
    narrow: bool = False
    buffer: Buffer = field(default_factory=Buffer)

    @cached_property
    def K(self) -> Operator:  # noqa: N802
        """The matrix as an operator."""
        return Dense(self.matrix, symmetric=True) if isinstance(self.matrix, np.ndarray) else self.matrix

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.matrix.shape[0])

    def solve(self, problem: BoxQP, start: Array | None = None, run: Run = IDLE) -> QPResult:
        if problem.count > MAX_STORED_ROWS:
            return working_sets.solve(problem, self.K, self.settings, start, run, self.buffer)
        usual = MAX_TURNS * _turn_steps(problem.count)
        most = self.settings.max_steps if self.patient else min(self.settings.max_steps, usual)
        first = replace(self.settings, max_steps=self.first_steps(problem.count))
        best = solve_stored(problem, self.stored, first, start, run)
        if (best.converged and not self.sharp) or best.steps >= most or _stopped(run):
            return best
        return self._in_turns(problem, best, most, run)

    def _in_turns(self, problem: BoxQP, best: QPResult, most: int, run: Run) -> QPResult:
        """Steps and polish in turn, where steps alone hardly lead on, as for a huge C, or not to rounding."""
        turns, idle, tolerance = _Turns(self, problem), 0, self.settings.tolerance
        best = turns.better(best)
        least = best.violation
        while best.violation > self._goal(problem, best) and best.steps < most and not _stopped(run):
            good = best.violation <= tolerance
            if idle >= (self.tries if good else IDLE_TURNS):
                break
            goal = max(SHARPENED_SHARE * best.violation, _rounding(problem, best)) if good else tolerance
            new = turns.go(best.b, goal, most - best.steps, run)
            fell = new.violation < VIOLATION_PROGRESS * least
            progress = fell or decrease(problem, self.stored, best, new) > OBJECTIVE_PROGRESS
            idle = idle + 1 if good or not progress else 0
            least = min(least, new.violation)
            kept = best if good and not new.violation < best.violation else new
            best = replace(kept, steps=best.steps + new.steps, rounds=best.rounds + new.rounds)
        return _explained(best, tolerance, most, _stopped(run))

    def _goal(self, problem: BoxQP, result: QPResult) -> float:
        """The violation that turns lead to."""
        return _rounding(problem, result) if self.sharp else self.settings.tolerance

    def first_steps(self, count: int) -> int:
        """Steps for so many rows before anything else is tried."""
        return min(self.settings.max_steps, _turn_steps(count))

    @property
    def shared(self) -> Operator:
        """The matrix as it is good enough for all functions of many rows."""
        if self.narrow:
            return self.K.narrowed().rough()
        return self.K if self.count <= MAX_STORED_ROWS else self.K.rough()

    def checked(self, problem: BoxQP, rows: Rows, result: QPResult) -> QPResult:
        """What was found on the shared matrix, by the gradient in float64 where that was float32."""
        if not self.narrow:
            return result
        state = State(problem, result.b, self.K.part(rows).rough(), result.g)
        state.check()
        found, tolerance = (state.b, state.g, state.violation), self.settings.tolerance
        return result_of(problem, *found, result.steps, result.rounds, tolerance)

    @cached_property
    def stored(self) -> Array:
        """The whole matrix."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix
        K = self.K if self.sharp else self.K.rough()
        return np.asarray(K.block(EVERYTHING, EVERYTHING), dtype=np.float64)

    def values(self, b: Array) -> Array:
        support = np.flatnonzero(b)
        return np.asarray(self.K.combine(support, b[support])) if len(support) else np.zeros(len(b))

    def sizes(self) -> Array:
        return np.asarray(self.K.diagonal(), dtype=np.float64)

    def brief(self) -> ExactMethod:
        most = min(self.settings.max_steps, BRIEF_STEPS + BRIEF_STEPS_PER_ROW * self.count)
        return replace(self, settings=replace(self.settings, max_steps=most), tries=0)

    def sharpened(self) -> ExactMethod:
        return replace(self, sharp=True)

    def part(self, rows: Rows) -> ExactMethod:
        return self if len(rows) == self.count else replace(self, matrix=self.K.part(rows))

    def predictor(self, view: View, support: Rows, b: Array, biases: Array) -> Predictor:
        """By the rows of the support; where these have features, by one weight per feature."""
        chosen = view.chosen(support)
        if isinstance(chosen, LiftView):
            weights = chosen.features().T @ b[support]
            return ByFeatures(chosen, weights, np.zeros(len(weights)), biases)
        return ByDuals(chosen, b[support], biases)


class _Turns:
    """Some steps and a polish, again and again."""

    def __init__(self, method: ExactMethod, problem: BoxQP) -> None:
        self.method, self.problem = method, problem
        self.most = problem.count  # free coefficients with which a polish is tried far from the optimum

    def go(self, start: Array, goal: float, left: int, run: Run) -> QPResult:
        """One turn, of so many steps at most."""
        steps = min(left, _turn_steps(self.problem.count))
        settings = replace(self.method.settings, tolerance=goal, max_steps=steps)
        return self.better(solve_stored(self.problem, self.method.stored, settings, start, run))

    def better(self, result: QPResult) -> QPResult:
        """The same, or a polish of it."""
        if not result.converged and len(free_coefficients(self.problem, result.b)) > self.most:
            return result
        better = polished(self.problem, self.method.stored, result)
        self.most = min(self.most, FEW_FREE) if better is result else self.most
        return better


def _turn_steps(count: int) -> int:
    return TURN_STEPS + TURN_STEPS_PER_ROW * count


def _rounding(problem: BoxQP, result: QPResult) -> float:
    """The violation that rounding leaves."""
    return RELATIVE_ROUNDING * max(float(np.abs(result.g).max()), float(np.abs(problem.linear).max()))


def _stopped(run: Run) -> bool:
    return bool(getattr(run, "stopped", False))


def _explained(result: QPResult, tolerance: float, most: int, stopped: bool) -> QPResult:
    """With the reason why it ended."""
    converged = result.violation <= tolerance
    if stopped and not converged:
        return replace(result, converged=False)
    if converged:
        reason = f"The largest violation is {result.violation:.1e} after {number_of(result.steps, 'step')}."
    elif result.steps >= most:
        reason = f"{number_of(most, 'step', ('is', 'are'))} over."
    else:
        reason = f"The violation hardly falls any more after {number_of(result.steps, 'step')}."
    return replace(result, converged=converged, reason=reason)


@dataclass(frozen=True, eq=False)
class FeatureMethod(Method):
    """By features in float32, whose inner products are the kernel, or stand for it.

    basis : the functions of which the features are made
    Z : (n, features)
    """

    rounding = 1e-6

    basis: Basis
    Z: NDArray[np.float32]
    settings: coordinate_descent.DescentSettings

    def solve(self, problem: BoxQP, start: Array | None = None, run: Run = IDLE) -> QPResult:
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

    def part(self, rows: Rows) -> FeatureMethod:
        return self if len(rows) == len(self.Z) else replace(self, Z=self.Z[rows])

    def predictor(self, view: View, support: Rows, b: Array, biases: Array) -> Predictor:
        return ByBasis(self.basis, self.basis.to_raw(self.weights(b)), biases)


# -- from a plan to a method ------------------------------------------------------------------------------------------


def method_of(
    view: View, plan: SVMPlan, settings: SVMSettings, random_state: Any, run: Run
) -> ExactMethod | FeatureMethod:
    """The method of the plan."""
    if plan.method == "exact":
        return exact_method(view, plan, settings)
    seen, random = with_landmarks(view), generator(random_state)
    with run.stage(plan.method):
        basis = _basis(seen, plan.n_landmarks, random)
        return feature_method(basis, seen.points, settings.descent(int(random.integers(2**31))), run)


def exact_method(view: View, plan: SVMPlan, settings: SVMSettings) -> ExactMethod:
    """The kernel itself; where k is not proven to be a kernel, the matrix is checked first, with n^3 / 3 operations."""
    patient, smo = settings.max_iter is not None, settings.smo(view.count, plan.details.pool)
    if not view.sure:
        matrix = view.dense()
        definite(view, matrix)
        return ExactMethod(matrix, smo, patient)
    if isinstance(view, KernelView) and not plan.details.whole and is_few(view.points, view.points):
        matrix, _ = values_of(view.kernel, view.points, view.points)  # finite: so is the diagonal, and none is larger
        return ExactMethod(matrix, smo, patient)
    K = view.operator()
    if not plan.details.whole and (plan.outputs > 1 or len(plan.stages) > 1):
        K.narrowed().rough().prepare()  # each function has a part of the rows
    return ExactMethod(K, smo, patient, narrow=is_narrow(view.count, plan.columns))


def _basis(view: KernelView | LiftView, count: int, random: np.random.Generator) -> Basis:
    if isinstance(view, LiftView):
        return LiftBasis(view.lift)
    return steady(landmark_basis(nystrom_of(view.kernel, view.points, count, random), view.points))


def feature_method(
    basis: Basis, points: Points, settings: coordinate_descent.DescentSettings, run: Run
) -> FeatureMethod:
    """The features of all rows, in float32. Cost: n k d + n k^2 operations, and n k numbers of 4 bytes."""
    return FeatureMethod(basis, feature_table(basis, points, run.watch), settings)
