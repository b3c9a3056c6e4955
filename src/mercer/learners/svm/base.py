"""What machines of margins share: reading, planning, solving, the truth about it, and how they predict."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.compute.runtime.memory import Budget
from mercer.errors import NumericalWarning, caller_level
from mercer.learners.data.column_scales import warn_of_scales
from mercer.learners.data.range_checks import refuse_range, refuse_targets
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import n_rows
from mercer.learners.data.views import KernelView, View
from mercer.learners.estimator import KernelEstimator
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.learners.run.stage_share import StageShare
from mercer.learners.svm.attributes import vectors, weights
from mercer.learners.svm.landmark_polish import on_the_margin
from mercer.learners.svm.methods import Method
from mercer.learners.svm.model import Audit, Model, exact_way, modelled, posed_way
from mercer.learners.svm.settings import SVMSettings
from mercer.learners.svm.subproblem import Subproblem, SubproblemResult
from mercer.learners.svm.warm_start import Previous
from mercer.lifts.randomness import generator
from mercer.planner.svm import POLISHING, SOLVING, MarginPlan, margins
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be learned.

    sought : one function or more; their rows are positions in `kept`
    count : how many rows came
    kept : those of a weight above zero
    targets : (kept, 1), numbers whose size matters
    weights, counts : (count,), of rows, and how many copies each is, where that is not the same; None for ones
    """

    sought: list[Subproblem]
    count: int
    kept: Rows
    targets: Array
    weights: Array | None
    counts: Array | None = None


@dataclass(frozen=True, eq=False)
class SVMProblem:
    """Functions that are sought, and the rows that are fitted, as they were read and as the kernel sees them."""

    settings: SVMSettings
    asked: Asked
    rows: Any
    view: View


@dataclass(frozen=True, eq=False)
class SVMResult:
    """What was learned.

    solved : the problem of each function, and its coefficients
    model : what predicts
    audit : what the gap by the exact kernel takes; None where the fit was exact
    """

    sought: list[Subproblem]
    solved: list[tuple[BoxQP, QPResult]]
    model: Model
    audit: Audit | None


class BaseSVM(KernelEstimator[SVMProblem, MarginPlan, SVMResult]):
    """A function, or several, of which only the rows at their margins are remembered."""

    kernel: Any
    lengthscale: Any
    tol: Any
    max_iter: Any
    method: Any
    n_landmarks: Any
    polish: Any
    warm_start: Any
    memory_limit: Any
    time_limit: Any
    on_interrupt: Any
    verbose: Any
    random_state: Any
    _before: Previous

    # -- what a member states -------------------------------------------------------------------------------------

    @abstractmethod
    def _settled(self) -> None:
        """Complain of a member's own settings, before anything is read."""

    @abstractmethod
    def _asked(self, X: Any, y: Any, sample_weight: Any, count: int) -> Asked:
        """The functions that are sought, from so many rows."""

    def _solved(self, way: Method, sought: Subproblem, start: Array | None, run: StageShare) -> tuple[BoxQP, QPResult]:
        """The coefficients of one function, and the problem that they solve."""
        return sought.problem, way.solve(sought.problem, start, run)

    # -- fitting --------------------------------------------------------------------------------------------------

    def _known_columns(self, rows: Any) -> Any:
        return rows[:, self.support_]

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._fit(X, y, sample_weight)
        self._say_what_is_wrong()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> SVMProblem:
        self._settled()
        names = ("tol", "max_iter", "method", "n_landmarks", "warm_start", "polish", "lengthscale")
        settings = SVMSettings.of(type(self).__name__, *(getattr(self, name) for name in names))
        rows = self._read(X, reset=True)
        asked = self._asked(X, y, sample_weight, n_rows(rows))
        return SVMProblem(settings, asked, rows, self._viewed(X, rows, asked))

    def _viewed(self, X: Any, rows: Any, asked: Asked) -> View:
        """The rows that are fitted, through the kernel with its numbers."""
        who = type(self).__name__
        copies = asked.weights if asked.counts is None else asked.counts
        view = resolve_view(who, self.kernel, self.lengthscale, rows, X, asked.kept, copies, self.memory_limit)
        view = view if len(asked.kept) == asked.count else view.chosen(asked.kept)
        size = refuse_targets(who, asked.targets, np.ones(view.count), np.dtype(rows.dtype))
        refuse_range(who, view, float(view.count), size)
        return view

    def _plan(self, problem: SVMProblem, run: Watched | None) -> MarginPlan:
        settings, view, asked = problem.settings, problem.view, problem.asked
        if run is not None and isinstance(view, KernelView):
            warn_of_scales(type(self).__name__, view.kernel, view.points)
        task = settings.task(view, tuple(len(one.rows) for one in asked.sought))
        budget = Budget.of(self.memory_limit)
        return margins(type(self).__name__, task, settings.method, settings.n_landmarks, budget, self.time_limit)

    def _solve(self, problem: SVMProblem, plan: MarginPlan, run: Watched) -> SVMResult:
        settings, asked, view = problem.settings, problem.asked, problem.view
        who, random = type(self).__name__, generator(self.random_state)
        way, basis = posed_way(who, view, plan, settings, random, run)
        before = self._before if settings.warm_start and hasattr(self, "_before") else None
        starts = [None] * len(asked.sought) if before is None else before.starts(_data(problem), asked.sought)
        solved: list[tuple[BoxQP, QPResult]] = []
        with run.stage(SOLVING, len(asked.sought)), run.stoppable():
            for k, (one, start) in enumerate(zip(asked.sought, starts, strict=True)):
                solved.append(self._solved(way.part(one.rows), one, start, StageShare(run, k)))
        sought = [replace(one, problem=boxed) for one, (boxed, _) in zip(asked.sought, solved, strict=True)]
        if settings.polish and isinstance(view, KernelView) and basis is not None:
            way, basis = exact_way(who, view, plan, replace(settings, max_iter=None)), None
            with run.stage(POLISHING, len(sought)), run.stoppable():
                for k, (one, (boxed, rested)) in enumerate(zip(sought, solved, strict=True)):
                    solved[k] = boxed, on_the_margin(way.part(one.rows), boxed, rested, StageShare(run, k))
        audit = Audit(view, sought, [rested.b for _, rested in solved]) if basis is not None else None
        return SVMResult(sought, solved, modelled(view, way, basis, sought, [rested for _, rested in solved]), audit)

    def _store(self, problem: SVMProblem, plan: MarginPlan, result: SVMResult) -> None:
        self.plan_, self._model, self._audit = plan, result.model, result.audit
        self.kernel_, self.lift_ = problem.view.kernel, problem.view.lift
        self.support_ = problem.asked.kept[result.model.support]
        self.outcomes_ = tuple(SubproblemResult.of(one, rested) for one, rested in result.solved)
        self._gap: float | None = None if self._audit is not None else sum(found.gap for found in self.outcomes_)
        self.__dict__.pop("_before", None)
        if problem.settings.warm_start:
            self._before = Previous(_data(problem), problem.asked.sought, [rested.b for _, rested in result.solved])

    def _say_what_is_wrong(self) -> None:
        bad = next((found for found in self.outcomes_ if not found.converged), None)
        if bad is None:
            return
        left = f"A violation of {bad.violation:.1e} is left, where tol is {self.tol:g}: what was learned is kept."
        remedy = "Scale the columns, use a smaller C, or allow more max_iter or time_limit."
        told = f"{type(self).__name__}: {bad.reason} {left} {remedy}"
        warnings.warn(told, ConvergenceWarning, stacklevel=caller_level())

    # -- what was found -------------------------------------------------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """f(x) = sum_j dual_coef_[j] k(x, x_j) over the support: (support,), or (support, functions)."""
        check_is_fitted(self)
        found = self._sign * self._model.coefficients
        return found[:, 0] if found.shape[1] == 1 else found

    @property
    def support_vectors_(self) -> Any:
        """The rows of the support, in float64, sparse where X was; (0, 0) where the kernel is precomputed.

        An AttributeError on landmarks, where rows are not kept: X[support_] has them.
        """
        check_is_fitted(self)
        return vectors(self._model, 0 if self._precomputed else self.n_features_in_)

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many rows the support has: one number; of a classifier one per class."""
        check_is_fitted(self)
        return np.array([len(self.support_)], np.int32)

    @property
    def coef_(self) -> Array:
        """(functions, features): w of f(x) = w . phi(x), where phi is the finite lift of the kernel: x where linear.

        An AttributeError where no finite lift is known. It is read-only. Cost: the features of the support.
        """
        check_is_fitted(self)
        found = self._sign * weights(self._model, self.kernel_, self.n_features_in_)
        found.flags.writeable = False
        return found

    @property
    def _sign(self) -> float:
        """What functions are multiplied by for scikit-learn's signs."""
        return 1.0

    @property
    def intercept_(self) -> Any:
        """What is added to f: a number, or one a function."""
        check_is_fitted(self)
        found = self._sign * self._model.biases
        return float(found[0]) if len(found) == 1 else found

    @property
    def n_iter_(self) -> Any:
        """Steps: pairs of coefficients that were moved, or single ones on features; of a classifier per function."""
        check_is_fitted(self)
        return sum(found.steps for found in self.outcomes_)

    @property
    def converged_(self) -> bool:
        """Whether all functions are at rest, to `tol`."""
        check_is_fitted(self)
        return all(found.converged for found in self.outcomes_)

    @property
    def duality_gap_(self) -> float:
        """How far the objective is from its best value, at most, by the exact kernel: the sum over all functions.

        Cost: nothing where the fit was exact; on landmarks pairs of all rows with the support, when it is first asked
        for. It is not saved with the model: ask before.
        """
        check_is_fitted(self)
        if self._gap is None:
            if self._audit is None:
                raise AttributeError("duality_gap_: the rows were not saved with the model")
            self._gap = self._audit.gap()
        return self._gap

    @property
    def relative_gap_(self) -> float:
        """`duality_gap_`, in units of the dual objective."""
        gap, size = self.duality_gap_, abs(sum(found.objective for found in self.outcomes_))
        return gap / size if size > 0 else (0.0 if gap == 0 else np.inf)

    # -- predicting -----------------------------------------------------------------------------------------------

    def _values(self, X: Any) -> Array:
        """(rows, functions): f + bias, in the dtype of X. Cost: pairs of all rows with the support, in blocks."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told
            found = self._model.values(rows).astype(rows.dtype, copy=False)
        if not np.isfinite(found).all():
            told = f"{type(self).__name__}: predictions overflow {rows.dtype} on this data. Scale the data down."
            warnings.warn(told, NumericalWarning, stacklevel=caller_level())
        return found

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_audit": None} if "_audit" in state else state


def _data(problem: SVMProblem) -> Any:
    """The rows as an array: a later fit compares its own with them."""
    return getattr(problem.rows, "values", problem.rows)
