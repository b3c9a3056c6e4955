"""What regression and classification by kernel ridge share: reading, planning, fitting, and the truth about the fit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.backends.choosing import computing
from mercer.errors import InputError, NumericalWarning, caller_level, message, speaker, speaks
from mercer.learners.certificates.bounds import Distance
from mercer.learners.data.rows import scatter_rows
from mercer.learners.data.validation import is_precomputed, targets_of, weights_of
from mercer.learners.estimator import KernelEstimator
from mercer.learners.ridge.dual_rounding import examined
from mercer.learners.ridge.methods import solve
from mercer.learners.ridge.planning import foreseen, plan_of, planned
from mercer.learners.ridge.problem import TRUSTED, RidgeProblem, Targets, from_rows, from_source
from mercer.learners.ridge.result import BasisFit, DualFit, RidgeFit, RidgeResult
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fingerprint import fingerprint
from mercer.learners.run.fit_run import Watched
from mercer.learners.streaming.source_stream import SourceStream, new_rows, note_columns
from mercer.lifts.randomness import generator
from mercer.planner.ridge import RidgePlan
from mercer.planner.ridge.details import GRID
from mercer.solvers import Outcome, Solver
from mercer.sources import Arrays, Source, source_of
from mercer.tuning.path import Path

if TYPE_CHECKING:
    from mercer.learners.ridge.descent import Descent
    from mercer.learners.ridge.posterior import NearestPosterior, Posterior, StreamedPosterior

Array = NDArray[np.float64]


class LeastSquares(KernelEstimator[RidgeProblem, RidgePlan, RidgeResult]):
    """A model f(x) + b that minimises sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2.

    A fit leaves one record, `_result`; public attributes are properties of it.
    """

    kernel: Any
    alpha: Any
    lengthscale: Any
    fit_intercept: Any
    solver: Any
    side: Any
    method: Any
    n_landmarks: Any
    memory_limit: Any
    backend: Any
    time_limit: Any
    checkpoint: Any
    on_interrupt: Any
    verbose: Any
    random_state: Any
    _result: RidgeResult
    _latest: Posterior | None
    _examined: tuple[float, Array] | None
    """The condition number and the relative errors, where they were asked for after the fit."""

    # -- fitting --------------------------------------------------------------------------------------------------

    def _targets(self, X: Any, y: Any, sample_weight: Any) -> Targets:
        """What is to be learned: numbers, unless a learner of labels says otherwise."""
        targets = targets_of(self, X, y)
        weights = weights_of(sample_weight, len(targets))
        return Targets(targets.reshape(len(targets), -1), targets.ndim == 1, weights)

    @abstractmethod
    def _streamed_rows(self, source: Source) -> SourceStream:
        """The rows of a source, with their targets as numbers."""

    @abstractmethod
    def _answers(self, values: Array) -> NDArray[Any]:
        """What `predict` gives, from f(x) + b of each row and output."""

    @speaks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model; `sample_weight` says how often each row counts.

        X may also be a source of `mercer.sources`, such as `Parquet("folder", target="price")`, or a memory map. With
        a path of Parquet files y and `sample_weight` are names of columns. What does not fit the memory is read in
        pieces.
        """
        self._fit(X, y, sample_weight)
        self._say_what_is_wrong()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> RidgeProblem:
        precomputed = is_precomputed(self.kernel)
        source = None if type(X) is np.ndarray else source_of(X, y, sample_weight, matrix=precomputed)
        if source is None:
            rows = self._read(X, reset=True)
            targets = self._targets(X, y, sample_weight)
            if run is not None:
                shape = len(targets.values), int(self.n_features_in_), targets.values.shape[1]
                run.foresee(lambda: foreseen(self, shape))
            return from_rows(self, self._reader or self.kernel, rows, X, targets)
        if precomputed:
            needs, got = "a kernel or a lift for rows from a source", "similarities come as one matrix"
            raise InputError(message(needs, got, "Load the matrix with np.load."))
        stream = self._streamed_rows(source)
        note_columns(self, stream.head)
        self._precomputed, self._reader = False, None
        if run is not None:
            run.foresee(lambda: foreseen(self, (stream.count, stream.columns, stream.outputs)))
        return from_source(self, stream)

    def _in_memory(self, problem: RidgeProblem) -> bool:
        return problem.source is None

    def _plan(self, problem: RidgeProblem, run: Watched | None) -> RidgePlan:
        if run is None:
            return planned(problem, resumable=self.checkpoint is not None)
        if self.checkpoint is not None:
            run.resume(fingerprint(self.get_params(deep=False), *problem.data))
        return plan_of(run, problem)

    def _solve(self, problem: RidgeProblem, plan: RidgePlan, run: Watched) -> RidgeResult:
        seed = 0
        if plan.method != "direct" or problem.view.lift is not None or self.random_state is not None:
            seed = run.recall("seed", lambda: int(generator(self.random_state).integers(2**62)))
        return solve(problem, plan, run, seed)  # a direct fit of a kernel draws nothing

    _saved: ClassVar[Mapping[str, Any]] = {"_result": RidgeResult}
    _saved_if_set: ClassVar[Mapping[str, Any]] = {"_certificate": Distance, "_leverage": Array, "_determinants": Array}
    """What is computed from the result when it is first asked for."""
    _renewed: ClassVar[Mapping[str, Callable[[], Any]]] = {"_latest": lambda: None, "_examined": lambda: None}

    def _store(self, problem: RidgeProblem, plan: RidgePlan, result: RidgeResult) -> None:
        self._result, self._latest, self._examined = result, None, None
        for name in LeastSquares._saved_if_set:
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_result")

    def _say_what_is_wrong(self) -> None:
        fit = self._result.fit
        if fit.outcome.converged and fit.worst_rounding <= TRUSTED[self._result.dtype]:
            return
        condition = self.condition_
        reported = "" if isnan(condition) else f"the condition number is {condition:.1e}"
        if not fit.outcome.converged:
            told = f"{fit.outcome.reason} ({reported})" if reported else fit.outcome.reason
            warnings.warn(f"{speaker()}: {told}", ConvergenceWarning, stacklevel=caller_level())
        else:
            cause, remedy = self._doubt()
            moved = f"{cause} may have moved predictions by {fit.worst_rounding:.0e} of their size. {remedy}"
            told = f"{reported}, and {moved}" if reported else moved
            warnings.warn(f"{speaker()}: {told}", NumericalWarning, stacklevel=caller_level())

    def _doubt(self) -> tuple[str, str]:
        """What may have moved predictions, and what to do."""
        if self.outcome_.iterations:
            return f"the residual of {self.residual_:.1e}", "Use a smaller tol of the solver, or solver=Cholesky()."
        if isinstance(self.solver, Solver) and self.plan_.details.side == "primal":
            return "rounding", 'Use solver="auto", which makes no squares of the features where that costs digits.'
        return "rounding", 'Use a larger alpha, or alpha="auto"; scale the columns; drop rows that are nearly equal.'

    # -- what a fit found -----------------------------------------------------------------------------------------

    def _found(self) -> RidgeResult:
        """The result of the fit; before it a NotFittedError, which is an AttributeError."""
        if "_result" not in self.__dict__:
            check_is_fitted(self)
        return self._result

    def _shaped(self, values: Array) -> Any:
        """One number per output: a float where y had one dimension."""
        return float(values[0]) if self._result.is_flat else values

    @property
    def X_fit_(self) -> Any:  # noqa: N802
        """The training rows."""
        return self._found().rows

    @property
    def kernel_(self) -> Any:
        """The kernel with its numbers; None where it was precomputed."""
        return self._found().kernel

    @property
    def lift_(self) -> Any:
        """The finite lift, where one was used or given."""
        return self._found().lift

    @property
    def plan_(self) -> RidgePlan:
        """How it was solved, and what it was to cost."""
        return self._found().plan

    @property
    def outcome_(self) -> Outcome:
        """What the solver says; its condition number is NaN where nobody has asked for `condition_` yet."""
        outcome = self._found().fit.outcome
        known = self.__dict__.get("_examined")
        return replace(outcome, condition=known[0]) if known is not None and isnan(outcome.condition) else outcome

    @property
    def history_(self) -> Descent:
        """The path of `GradientDescent`: `losses`, `alphas` (in the dual) or `weights` (in the primal), `step`.

        An AttributeError for other solvers. Cost: none, but a copy where rows have weights.
        """
        from mercer.learners.ridge.descent import descent_of  # few who fit ask

        return descent_of(self._found())

    @property
    def loo_(self) -> Path | None:
        """The leave-one-out errors of all candidates, where alpha was chosen."""
        return self._found().fit.path

    @property
    def converged_(self) -> bool:
        """Whether the solver did what was asked."""
        return self._found().fit.outcome.converged

    @property
    def residual_(self) -> float:
        """The relative residual `|b - A x| / |b|`."""
        return self._found().fit.outcome.residual

    @property
    def condition_(self) -> float:
        """The condition number, estimated.

        Cost: n^3 / 3 operations, when it is first asked for, where a bound said that neither it nor rounding matters.
        """
        fit = self._found().fit
        known = not isnan(fit.outcome.condition) or not self._is_unexamined(fit)
        return fit.outcome.condition if known else self._examination[0]

    @property
    def rounding_(self) -> float:
        """The relative error that rounding may have brought into predictions, estimated. Cost: that of `condition_`."""
        fit = self._found().fit
        return float((self._examination[1] if self._is_unexamined(fit) else fit.roundings).max())

    def _is_unexamined(self, fit: RidgeFit) -> bool:
        """Whether a bound said that rounding does not matter, so that nothing was estimated."""
        return isinstance(fit, DualFit) and bool(np.isnan(fit.roundings).any())

    @property
    def _examination(self) -> tuple[float, Array]:
        found: tuple[float, Array] = self._kept("_examined", lambda: examined(self._found()))
        return found

    @property
    def intercept_(self) -> Any:
        """The constant b: a number, or one per output."""
        return self._shaped(self._found().fit.intercepts)

    @property
    def alpha_(self) -> Any:
        """The penalty: one number, or one per output where y has several columns."""
        return self._shaped(self._found().fit.alphas)

    @property
    def dual_coef_(self) -> Array:
        """One coefficient per row (and output): f(x) = `sum_i dual_coef_[i] k(x, x_i)`; 0 in sum with an intercept."""
        duals = self._found().known_duals()
        return duals[:, 0] if self._result.is_flat else duals

    @property
    def coef_(self) -> Array:
        """The weights w of the features of `lift_`, or of `mercer.lift(kernel_, columns)`: f(x) = w . phi(x).

        An AttributeError where no finite lift is known. In the dual the weights are `sum_i dual_coef_[i] phi(x_i)`.
        """
        result = self._found()
        weights = result.lifted_duals if result.weights is None else result.weights
        return np.asarray(weights[:, 0] if result.is_flat else weights.T)

    @property
    @speaks
    def certificate_(self) -> Distance:
        """How far predictions are from those of the exact solution, at most: `rms` over the rows, `at` new ones.

        Cost: computed when it is first asked for. Nothing where the kernel was exact; where it was approximated one
        product with its matrix, up to 93,000 rows, or with a sample of its rows, and a probability.
        """
        from mercer.learners.certificates.certificate import certificate  # it is computed when it is asked for

        with self._computing():
            found: Distance = self._kept("_certificate", lambda: certificate(self._found()))
        return found

    # -- predicting -----------------------------------------------------------------------------------------------

    def _predict(self, X: Any) -> tuple[Array, Any]:
        """f(x) + b of each row and output, in the dtype of X, and the rows as they were read."""
        rows = self._read(X, reset=False)
        return self._values(rows), rows

    def _values(self, rows: Any) -> Array:
        with np.errstate(over="ignore", invalid="ignore"), self._computing(rows, self._result.predictor):
            found = self._result.predictor.values(rows)  # what overflows is reported
        return self._within(found, rows)

    def _within(self, found: Array, rows: Any) -> Array:
        """Predictions in the dtype of the rows; a warning says where that cannot hold them."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = found.astype(rows.dtype, copy=False)
        if not np.isfinite(found).all():
            reported = f"{speaker()}: predictions overflow {rows.dtype} on this data. Scale the data down."
            warnings.warn(reported, NumericalWarning, stacklevel=caller_level())
        return found

    def _source_of(self, X: Any) -> Source | None:
        """The source that X is or names, with the columns that were fitted; None for a table."""
        check_is_fitted(self)
        if type(X) is np.ndarray:
            return None
        names = getattr(self, "feature_names_in_", None)
        return source_of(X, columns=None if names is None else list(names))

    @speaks
    def predict_batches(self, X: Any, size: int = 1 << 16) -> Iterator[NDArray[Any]]:
        """What `predict` gives, a batch of at most `size` rows at a time: for a path, a memory map or a source."""
        source = self._source_of(X)
        return self._batches(Arrays(X) if source is None else source, size)

    def _batches(self, source: Source, size: int = 1 << 16) -> Iterator[NDArray[Any]]:
        for rows in self._new_rows(source, size):
            yield self._answers(self._values(rows))

    def _new_rows(self, source: Source, size: int = 1 << 16) -> Iterator[Any]:
        return new_rows(self, source, size)

    # -- the equivalent Gaussian process --------------------------------------------------------------------------

    def _kept(self, name: str, compute: Callable[[], Any]) -> Any:
        """What was computed from the result when it was first asked for."""
        if self.__dict__.get(name) is None:
            with self._as_fitted():
                self.__dict__[name] = compute()
        return self.__dict__[name]

    def _as_fitted(self) -> AbstractContextManager[object]:
        """Inside, the backend of the fit computes, if there is such a card: for what takes as long as a fit."""
        return computing(self.backend if isinstance(self.backend, Backend) else self.plan_.backend)

    @property
    def _pieces(self) -> StreamedPosterior | NearestPosterior | None:
        from mercer.learners.ridge.posterior import streamed_posterior  # predictions need none

        return streamed_posterior(self._found())

    def _posterior(self, alpha: float) -> Posterior:
        """The decomposition for an alpha; the latest one is kept, and never saved with the model."""
        from mercer.learners.ridge.posterior import posterior

        if self.plan_.method == "state space":
            from mercer.learners.ridge.state_space import posterior_of  # of this method alone

            return posterior_of(self._result, alpha)
        view = self._result.fitted
        if view is None:
            got = "the rows stayed in their source, and conjugate gradients leave none"
            raise InputError(message("a decomposition", got, "Use fewer landmarks."))
        if self._latest is None or self._latest.alpha != alpha:
            self._latest = posterior(view, self._result.centering, alpha, self.plan_.details.side)
        return self._latest

    @property
    @speaks
    def leverage_(self) -> Array:
        """How much the prediction at each row follows (one copy of) its own y; 0 for rows of weight zero.

        Cost: n^3 / 3 operations and 2 n^2 numbers, once, where alpha was given; nothing where it was chosen.
        """
        self._found()
        leverage: Array = self._kept("_leverage", self._leverages)
        return leverage[:, 0] if self._result.is_flat else leverage

    def _leverages(self) -> Array:
        result, pieces = self._result, self._pieces
        found = result.fit.leverage
        if found is None and pieces is not None:
            if self.plan_.method == GRID and isinstance(result.fit, BasisFit) and result.fit.spectrum is None:
                raise AttributeError("leverage_: this grid was solved by steps, and leverages are only bounded")
            shares = {alpha: pieces.shares(result.points, alpha) for alpha in np.unique(result.fit.alphas)}
            whole = np.column_stack([shares[alpha] for alpha in result.fit.alphas])
            whole[np.setdiff1d(np.arange(len(whole)), result.kept)] = 0.0
            return whole
        if found is None:
            if result.view is None:
                raise AttributeError("leverage_: the rows stayed in their source, and there is no decomposition")
            columns = {alpha: self._posterior(alpha).leverage for alpha in np.unique(result.fit.alphas)}
            found = np.column_stack([columns[alpha] for alpha in result.fit.alphas])
        return scatter_rows(found, result.kept, result.count)

    @property
    @speaks
    def degrees_of_freedom_(self) -> Any:
        """How many free parameters the model uses, in effect: the sum of the leverages of all copies."""
        result, pieces = self._found(), self._pieces
        if pieces is not None:
            return self._shaped(np.array([pieces.degrees(alpha) for alpha in result.fit.alphas]))
        leverage = self.leverage_.reshape(result.count, -1)
        return self._shaped(result.centering.weights @ leverage[result.kept])

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_latest": None} if "_latest" in state else state
