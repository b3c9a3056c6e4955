"""What regression and classification by kernel ridge share: reading, planning, fitting, and the truth about the fit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, NumericalWarning, caller_level, sentence, speaks
from mercer.kernels.points import Points
from mercer.learners.certificates.bounds import Distance
from mercer.learners.certificates.certificate import certificate
from mercer.learners.data.rows import scatter_rows
from mercer.learners.data.validation import is_precomputed
from mercer.learners.data.views import TableView, View, blocks
from mercer.learners.estimator import KernelEstimator
from mercer.learners.ridge.methods import Solved, follow
from mercer.learners.ridge.planning import Shape, foreseen, plan_of, planned
from mercer.learners.ridge.posing import Posed, from_rows, from_stream
from mercer.learners.ridge.posterior import Posterior, StreamedPosterior, posterior, streamed_posterior
from mercer.learners.ridge.problem import Problem, Settings, sizes_of
from mercer.learners.ridge.request import TRUSTED
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fingerprint import fingerprint
from mercer.learners.run.fit_run import Watched
from mercer.learners.streaming.predictor import Predictor
from mercer.learners.streaming.source_stream import SourceStream, new_rows, note_columns
from mercer.lifts.randomness import generator
from mercer.operators import Centering
from mercer.planner import Plan
from mercer.solvers.ridge.outcome import Outcome
from mercer.sources import Arrays, Source, source_of
from mercer.tuning.path import Path

Array = NDArray[np.float64]


class LeastSquares(KernelEstimator[Posed, Plan, Solved]):
    """A model f(x) + b that minimises sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2."""

    kernel: Any
    alpha: Any
    lengthscale: Any
    fit_intercept: Any
    solver: Any
    memory_limit: Any
    time_limit: Any
    checkpoint: Any
    on_interrupt: Any
    verbose: Any
    random_state: Any

    # -- fitting --------------------------------------------------------------------------------------------------

    @abstractmethod
    def _targets(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """What is to be learned: targets of two dimensions, and weights."""

    @abstractmethod
    def _streamed_rows(self, source: Source) -> SourceStream:
        """The rows of a source, with their targets as numbers."""

    @abstractmethod
    def _answers(self, values: Array) -> NDArray[Any]:
        """What `predict` gives, from f(x) + b of each row and output."""

    @speaks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model; `sample_weight` says how often each row counts.

        X may also be a path to Parquet (a file or a folder), a memory map, or a source of `mercer.sources`; with a path
        y and `sample_weight` are names of columns. What does not fit the memory is read in pieces.
        """
        self._fit(X, y, sample_weight)
        self._say_what_is_wrong()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> Posed:
        who, precomputed = type(self).__name__, is_precomputed(self.kernel)
        names = ("kernel", "alpha", "lengthscale", "fit_intercept", "solver", "memory_limit", "time_limit")
        settings = Settings(who, *(getattr(self, name) for name in names))
        source = source_of(X, y, sample_weight, matrix=precomputed)
        if source is None:
            rows = self._read(X, reset=True)
            problem = self._targets(X, y, sample_weight)
            self._foresee(run, (len(problem.targets), int(self.n_features_in_), problem.targets.shape[1]))
            return from_rows(settings, rows, problem)
        if precomputed:
            needs, got = "a kernel or a lift for rows from a source", "similarities come as one matrix"
            raise InputError(sentence(who, needs, got, "Load the matrix with np.load."))
        stream = self._streamed_rows(source)
        note_columns(self, stream.head)
        self._precomputed, self._reader = False, None
        self._foresee(run, (stream.count, stream.columns, stream.outputs))
        return from_stream(settings, stream)

    def _foresee(self, run: Watched | None, shape: Shape) -> None:
        """Show how long it may take as soon as the numbers of rows, columns and outputs are known."""
        if run is not None:
            run.foresee(lambda: foreseen(self, shape))

    def _in_memory(self, problem: Posed) -> bool:
        return problem.stream is None

    def _plan(self, problem: Posed, run: Watched | None) -> Plan:
        if run is None:
            return planned(problem, resumable=self.checkpoint is not None)
        if self.checkpoint is not None:
            run.resume(fingerprint(self.get_params(deep=False), *problem.data))
        return plan_of(run, problem)

    def _solve(self, problem: Posed, plan: Plan, run: Watched) -> Solved:
        seed = run.recall("seed", lambda: int(generator(self.random_state).integers(2**62)))
        return follow(problem, plan, run, seed)

    _saved: ClassVar[Mapping[str, Any]] = {
        "converged_": bool,
        "plan_": Plan,
        "outcome_": Outcome,
        "loo_": Path | None,
        "residual_": float,
        "condition_": float,
        "rounding_": float,
        "intercept_": float | Array,
        "_rows_kept": tuple[NDArray[np.intp], int],
        "_centering": Centering,
        "_total": float,
        "_dtype": np.dtype[Any],
        "_view": View | None,
        "_flat": bool,
        "_predictor": Predictor,
        "_pieces": StreamedPosterior | None,
        "_weights": Array | None,
        "_kernel_means": Array | None,
        "_seed": int | None,
        "_right": Array,
        "_spread": Array,
        "_certificate": Distance | None,
        "_duals": Array | None,
        "_leverage": Array | None,
        "_log_determinants": Array | None,
        "_lifted": Array | None,
        "_alphas": Array,
        "_variances": Array,
        "_noises": Array,
    }
    _saved_if_set: ClassVar[Mapping[str, Any]] = {"X_fit_": NDArray[Any] | csr_array}
    _renewed: ClassVar[Mapping[str, Callable[[], Any]]] = {"_posteriors": dict}

    def _store(self, posed: Posed, plan: Plan, solved: Solved) -> None:
        fit, prepared = solved.fit, posed.prepared
        self.__dict__.pop("X_fit_", None)
        if posed.stream is None:
            self.X_fit_ = prepared.rows.values if isinstance(prepared.rows, Points) else prepared.rows
        self._rows_kept = prepared.kept, len(prepared.problem.targets)
        self._centering, self._total, self._dtype = prepared.centering, posed.total, prepared.dtype
        self._view, self._flat = solved.view, prepared.problem.flat
        self._predictor, self._pieces = solved.predictor, streamed_posterior(posed, solved)
        self._weights, self._kernel_means, self._seed = fit.weights, fit.means, solved.seed
        self._right, self._spread = sizes_of(prepared)
        self._certificate: Distance | None = None
        self._duals = None if fit.duals is None else scatter_rows(fit.duals, *self._rows_kept)
        self._leverage = None if fit.leverage is None else scatter_rows(fit.leverage, *self._rows_kept)
        self._log_determinants = fit.log_determinants
        self._posteriors: dict[float, Posterior] = {}
        self._lifted: Array | None = None
        self._alphas = fit.alphas
        self._variances, self._noises = np.maximum(fit.variance, 0.0), np.maximum(fit.noise, 0.0)  # rounding of zero
        self.kernel_, self.lift_ = solved.kernel, solved.lift
        self.plan_ = solved.plan
        self.outcome_ = replace(fit.outcome, decomposition=None)
        self.loo_ = fit.path
        self.converged_ = fit.outcome.converged
        self.residual_ = fit.outcome.residual
        self.condition_ = fit.outcome.condition
        self.rounding_ = float(fit.roundings.max())
        self.intercept_ = self._shaped(fit.intercepts)

    def _say_what_is_wrong(self) -> None:
        who, told = type(self).__name__, f"the condition number is {self.condition_:.1e}"
        if not self.converged_:
            warnings.warn(f"{who}: {self.outcome_.reason} ({told})", ConvergenceWarning, stacklevel=caller_level())
        elif not self.rounding_ <= TRUSTED[self._dtype]:
            cause, remedy = self._doubt()
            moved = f"{cause} may have moved predictions by {self.rounding_:.0e} of their size. {remedy}"
            warnings.warn(f"{who}: {told}, and {moved}", NumericalWarning, stacklevel=caller_level())

    def _doubt(self) -> tuple[str, str]:
        """What may have moved predictions, and what to do."""
        if self.outcome_.iterations:
            return f"the residual of {self.residual_:.1e}", "Use a smaller tolerance, or solver=Cholesky()."
        return "rounding", 'Use a larger alpha, or alpha="auto"; scale the columns; drop rows that are nearly equal.'

    def _shaped(self, values: Array) -> Any:
        """One number an output: a float where y had one dimension."""
        return float(values[0]) if self._flat else values

    # -- predicting -----------------------------------------------------------------------------------------------

    def _predict(self, X: Any) -> tuple[Array, Any]:
        """f(x) + b of each row and output, in the dtype of X, and the rows as they were read."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return self._values(rows), rows

    def _values(self, rows: Any) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told
            found = self._predictor.values(rows).astype(rows.dtype, copy=False)
        if not np.isfinite(found).all():
            told = f"{type(self).__name__}: predictions overflow {rows.dtype} on this data. Scale the data down."
            warnings.warn(told, NumericalWarning, stacklevel=caller_level())
        return found

    def _source_of(self, X: Any) -> Source | None:
        """The source that X is or names, with the columns that were fitted; None for a table."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return source_of(X, columns=None if names is None else list(names))

    @speaks
    def predict_batches(self, X: Any, size: int = 1 << 16) -> Iterator[NDArray[Any]]:
        """What `predict` gives, a batch of at most `size` rows at a time: for a path, a memory map or a source."""
        source = self._source_of(X)
        if source is None:
            source = Arrays(X)
        for rows in self._new_rows(source, size):
            yield self._answers(self._values(rows))

    def _new_rows(self, source: Source, size: int = 1 << 16) -> Iterator[Any]:
        return new_rows(self, source, size)

    @property
    @speaks
    def certificate_(self) -> Distance:
        """How far predictions are from those of the exact solution, at most: `rms` over the rows, `at` new ones.

        Cost: computed when it is first asked for. Nothing where the kernel was exact; where it was approximated one
        product with its matrix, up to 93,000 rows, or with a sample of its rows, and a probability.
        """
        check_is_fitted(self)
        if self._certificate is None:
            self._certificate = certificate(self)
        return self._certificate

    # -- coefficients of both sides -------------------------------------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """One coefficient a row (and output): f(x) = sum_i dual_coef_[i] k(x, x_i). They sum to 0 with an intercept."""
        check_is_fitted(self)
        if self._duals is None:
            raise AttributeError(f"dual_coef_: {self._why_no_duals()}")
        return self._duals[:, 0] if self._flat else self._duals

    def _why_no_duals(self) -> str:
        if not hasattr(self, "X_fit_"):
            return "the rows stayed in their source"
        if not (self._alphas > 0).all():
            return "in the primal with alpha = 0 the residuals do not determine them"
        return "the fit was stopped before the residuals, which determine them, were known"

    @property
    @speaks
    def coef_(self) -> Array:
        """One weight a feature (and output) of `lift_`, or of `mercer.lift(kernel_, columns)`: f(x) = coef_ . phi(x).

        An AttributeError where no finite lift is known. In the dual the weights are sum_i dual_coef_[i] phi(x_i).
        """
        check_is_fitted(self)
        weights = self._lifted_duals() if self._weights is None else self._weights
        return np.asarray(weights[:, 0] if self._flat else weights.T)

    def _lifted_duals(self) -> Array:
        """sum_i a_i phi(x_i), a block of rows at a time."""
        if self._view is None:
            raise AttributeError("coef_: the rows stayed in their source")
        if self._lifted is None:
            view, duals = self._view.lifted(), self.dual_coef_.reshape(len(self.dual_coef_), -1)
            parts = blocks(view.count, view.most_features or 1)
            self._lifted = np.sum([view.chosen(part).features().T @ duals[part] for part in parts], axis=0)
        return self._lifted

    # -- the equal Gaussian process -------------------------------------------------------------------------------

    @property
    def alpha_(self) -> Any:
        """The penalty: one number, or one an output where y has several columns."""
        check_is_fitted(self)
        return self._shaped(self._alphas)

    def _posterior(self, alpha: float) -> Posterior:
        """The decomposition for an alpha; the latest one is kept, and never saved with the model."""
        if self._view is None:
            got = "the rows stayed in their source, and conjugate gradients leave none"
            raise InputError(sentence(type(self).__name__, "a decomposition", got, "Use fewer landmarks."))
        if alpha not in self._posteriors:
            kept, count = self._rows_kept
            view = self._view if len(kept) == count else self._view.chosen(kept)
            self._posteriors = {alpha: posterior(view, self._centering, alpha, self.plan_.side)}
        return self._posteriors[alpha]

    @property
    @speaks
    def leverage_(self) -> Array:
        """How much the prediction at each row follows (one copy of) its own y; 0 for rows of weight zero.

        Cost: n^3 / 3 operations and 2 n^2 numbers, once, where alpha was given; nothing where it was chosen.
        """
        check_is_fitted(self)
        if self._leverage is None and self._pieces is not None:
            columns = {alpha: self._pieces.shares(self._training_rows(), alpha) for alpha in np.unique(self._alphas)}
            self._leverage = np.column_stack([columns[alpha] for alpha in self._alphas])
            self._leverage[np.setdiff1d(np.arange(len(self._leverage)), self._rows_kept[0])] = 0.0
        if self._leverage is None:
            if self._view is None:
                raise AttributeError("leverage_: the rows stayed in their source, and there is no decomposition")
            columns = {alpha: self._posterior(alpha).leverage for alpha in np.unique(self._alphas)}
            found = np.column_stack([columns[alpha] for alpha in self._alphas])
            self._leverage = scatter_rows(found, *self._rows_kept)
        return self._leverage[:, 0] if self._flat else self._leverage

    def _training_rows(self) -> Points:
        if not isinstance(self._view, TableView):
            raise AttributeError("leverage_: the rows stayed in their source")
        return self._view.points

    @property
    @speaks
    def degrees_of_freedom_(self) -> Any:
        """How many free parameters the model uses, in effect: the sum of the leverages of all copies."""
        check_is_fitted(self)
        if self._pieces is not None:
            return self._shaped(np.array([self._pieces.degrees(alpha) for alpha in self._alphas]))
        leverage = self.leverage_.reshape(len(self.leverage_), -1)
        return self._shaped(self._centering.weights @ leverage[self._rows_kept[0]])

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_posteriors": {}} if "_posteriors" in state else state
