"""What SVMs share: their view of the rows, planning, solving, fitted attributes, and how they predict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.errors import NumericalWarning, caller_level
from mercer.learners.data.column_scales import warn_of_scales
from mercer.learners.data.range_checks import refuse_range, refuse_targets
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.views import KernelView, View
from mercer.learners.estimator import KernelEstimator
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.learners.run.stage_share import StageShare
from mercer.learners.svm.attributes import vectors, weights
from mercer.learners.svm.landmark_polish import on_the_margin
from mercer.learners.svm.methods import ExactMethod, FeatureMethod, Method, exact_method, method_of
from mercer.learners.svm.model import Audit, Model, SVMResult
from mercer.learners.svm.problem import SVMProblem
from mercer.learners.svm.subproblem import SubproblemResult
from mercer.learners.svm.warm_start import Previous
from mercer.planner.svm import POLISHING, SOLVING, SVMPlan
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
AnyProblem = TypeVar("AnyProblem", bound=SVMProblem)


class BaseSVM(KernelEstimator[AnyProblem, SVMPlan, SVMResult], Generic[AnyProblem]):
    """A function, or several, of which only the rows at their margins are remembered.

    A member answers `_problem`, and `fit`.
    """

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
    _previous: Previous

    # -- fitting --------------------------------------------------------------------------------------------------

    def _known_columns(self, rows: Any) -> Any:
        return rows[:, self.support_]

    def _viewed(self, X: Any, rows: Any, kept: Rows, copies: Array | None, targets: Array | None = None) -> View:
        """The rows that are fitted, through the kernel with its numbers.

        copies : how many copies each of all rows is; None for one
        targets : (kept, 1), numbers whose size matters; None where all are of size one
        """
        view = resolve_view(self.kernel, self.lengthscale, rows, X, kept, copies, self.memory_limit)
        view = view if len(kept) == view.count else view.chosen(kept)
        size = None if targets is None else refuse_targets(targets, np.ones(view.count), np.dtype(rows.dtype))
        refuse_range(view, float(view.count), size)
        return view

    def _plan(self, problem: AnyProblem, run: Watched | None) -> SVMPlan:
        settings, view = problem.settings, problem.view
        if run is not None and isinstance(view, KernelView):
            warn_of_scales(view.kernel, view.points)
        task = settings.task(view, tuple(len(one.rows) for one in problem.subproblems))
        return self._choose(task, view)

    def _solve(self, problem: AnyProblem, plan: SVMPlan, run: Watched) -> SVMResult:
        settings, view, subproblems = problem.settings, problem.view, problem.subproblems
        method: ExactMethod | FeatureMethod = method_of(view, plan, settings, self.random_state, run)
        before = self._previous if settings.warm_start and hasattr(self, "_previous") else None
        starts: Sequence[Array | None] = [None] * len(subproblems)
        if before is not None:
            starts = before.starts(problem.data, subproblems)
        with run.stage(SOLVING, len(subproblems)), run.stoppable():
            solved = self._solve_all(problem, plan, method, starts, run)
        if settings.polish and isinstance(view, KernelView) and isinstance(method, FeatureMethod):
            method = exact_method(view, plan, replace(settings, max_iter=None))
            with run.stage(POLISHING, len(subproblems)), run.stoppable():
                for k, (one, (qp, rough)) in enumerate(zip(subproblems, solved, strict=True)):
                    if rough.plane is not None:
                        continue
                    solved[k] = qp, on_the_margin(method.part(one.rows), qp, rough, StageShare(run, k))
        pairs = zip(subproblems, solved, strict=True)
        approximate = isinstance(method, FeatureMethod) and any(result.plane is None for _, result in solved)
        audit = Audit(view, [(one.rows, qp, result.b) for one, (qp, result) in pairs]) if approximate else None
        return SVMResult(solved, Model.of(view, method, subproblems, solved), audit)

    def _solve_all(
        self, problem: AnyProblem, plan: SVMPlan, method: Method, starts: Sequence[Array | None], run: Watched
    ) -> list[tuple[BoxQP, QPResult]]:
        """The problem in its box, and the coefficients, of each function."""
        pairs = enumerate(zip(problem.subproblems, starts, strict=True))
        return [one.solve(method.part(one.rows), start, StageShare(run, k)) for k, (one, start) in pairs]

    _saved: ClassVar[Mapping[str, Any]] = {
        "plan_": SVMPlan,
        "outcomes_": tuple[SubproblemResult, ...],
        "support_": NDArray[np.intp],
        "_model": Model,
        "_gap": float | None,
    }
    _renewed: ClassVar[Mapping[str, Callable[[], Any]]] = {"_audit": lambda: None}

    def _store(self, problem: AnyProblem, plan: SVMPlan, result: SVMResult) -> None:
        self.plan_, self._model, self._audit = plan, result.model, result.audit
        self.kernel_, self.lift_ = problem.view.kernel, problem.view.lift
        self.support_ = problem.kept[result.model.support]
        self.outcomes_ = tuple(SubproblemResult.of(qp, found) for qp, found in result.solved)
        self._gap: float | None = None if self._audit is not None else sum(found.gap for found in self.outcomes_)
        self.__dict__.pop("_previous", None)
        if problem.settings.warm_start:
            self._previous = Previous(problem.data, problem.subproblems, [found.b for _, found in result.solved])

    def _warn_if_not_converged(self) -> None:
        bad = next((found for found in self.outcomes_ if not found.converged), None)
        if bad is None:
            return
        left = f"A violation of {bad.violation:.1e} is left, where tol is {self.tol:g}: what was learned is kept."
        remedy = "Scale the columns, use a smaller C, or allow more max_iter or time_limit."
        text = f"{type(self).__name__}: {bad.reason} {left} {remedy}"
        warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())

    # -- fitted attributes ----------------------------------------------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """`f(x) = sum_j dual_coef_[j] k(x, x_j)` over the support: (support,), or (support, functions)."""
        check_is_fitted(self)
        found = self._sign * self._model.coefficients
        return found[:, 0] if found.shape[1] == 1 else found

    @property
    def support_vectors_(self) -> Any:
        """The rows of the support, in float64, sparse where X was; (0, 0) where the kernel is precomputed.

        An AttributeError on landmarks, where rows are not kept: X[`support_`] has them.
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
        """What is added to f: a number, or one per function."""
        check_is_fitted(self)
        found = self._sign * self._model.biases
        return float(found[0]) if len(found) == 1 else found

    @property
    def n_iter_(self) -> Any:
        """Steps: pairs of coefficients that were moved, or single ones on features; of a classifier per function.

        1 where the start was optimal, as scikit-learn counts.
        """
        check_is_fitted(self)
        return max(1, sum(found.steps for found in self.outcomes_))

    @property
    def converged_(self) -> bool:
        """Whether all functions are optimal, to `tol`."""
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
        with np.errstate(over="ignore", invalid="ignore"), self._computing(rows, self._model):  # a warning follows
            found = self._model.values(rows).astype(rows.dtype, copy=False)
        if not np.isfinite(found).all():
            text = f"{type(self).__name__}: predictions overflow {rows.dtype} on this data. Scale the data down."
            warnings.warn(text, NumericalWarning, stacklevel=caller_level())
        return found

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_audit": None} if "_audit" in state else state
