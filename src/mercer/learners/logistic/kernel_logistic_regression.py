"""Kernel logistic regression: probabilities of classes from functions of a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.backends.tensors import on_host
from mercer.errors import caller_level, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.points import Points
from mercer.learners.data.fitted_rows import FittedRows
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.labels import classes_of, decided, labels_of
from mercer.learners.data.range_checks import refuse_range
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import rows_that_count
from mercer.learners.data.validation import class_weights_of, weights_of
from mercer.learners.data.views import with_landmarks
from mercer.learners.estimator import KernelEstimator
from mercer.learners.logistic.design import LandmarkDesign
from mercer.learners.logistic.fit import LogisticResult, solve
from mercer.learners.logistic.problem import LANDMARKS, LogisticProblem, LogisticSettings
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.learners.streaming.predictor import ByDuals, Predictor
from mercer.learners.streaming.weights import feature_weights
from mercer.lifts.base import Lift
from mercer.lifts.randomness import generator
from mercer.operators import Centering
from mercer.planner.logistic import LogisticPlan
from mercer.solvers.logistic.likelihood import log_probabilities

Array = NDArray[np.float64]


class KernelLogisticRegression(
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    KernelEstimator[LogisticProblem, LogisticPlan, LogisticResult],
):
    """Kernel logistic regression: probabilities of classes from functions f_t of a kernel.

    p(t given x) is proportional to exp(f_t(x) + b_t). It minimises `sum_i -s_i log p(y_i | x_i) + alpha / 2 sum_t
    |f_t|^2`, where `|f|` is the norm of the kernel's space and the intercepts b are free. Two classes have one
    function, with p = 1 / (1 + exp(-f - b)) for the second. These are probabilities of the model itself: nothing is
    calibrated afterwards.

    The solver is Newton's method with a line search and conjugate gradients. It works on the features of a lift where
    there is one, on a factor of the kernel matrix up to 3,000 rows, which is exact, and on landmarks above;
    `plan` says which, and `method` asks for one. Cost for p features: n p^2 + 9 p^3 operations at first, then the n p
    features are read a few hundred times.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    alpha : float, default=1.0
        The penalty, positive; 1 / C of scikit-learn's `LogisticRegression`.
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the rows.
    class_weight : dict, "balanced" or None, default=None
        The weight of each class; "balanced" is n / (classes * rows of the class). None for one.
    method : {"auto", "exact", "landmarks"}, default="auto"
        "exact" uses the whole kernel matrix, "landmarks" approximates it; both use the features of a given lift.
        "auto" takes the features of a kernel that has few, else "exact" up to 3,000 rows, where that fits, and
        "landmarks" above; with `n_landmarks` it is "landmarks" for more rows than these.
    n_landmarks : int or None, default=None
        How many landmarks, not used by "exact"; None for 1,000, or as many as memory and time allow.
    tol : float, default=1e-06
        The fit has converged when the gradient is at most this part of that of the constant model.
    max_iter : int, default=100
        The most Newton steps.
    warm_start : bool, default=False
        Whether a fit starts from the last function, where columns and classes are the same.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "4 GB", that the fit may hold beyond the data; None for 80 % of the free memory.
    time_limit : float or None, default=None
        Seconds. A fit that cannot keep to it stops with the model so far.
    backend : str or Backend, default="auto"
        What computes: "cpu", "cuda" (or "cuda:1"), a graphics card, or a member of `mercer.backends`. "auto" takes the
        card where there is one and it is clearly faster.
    on_interrupt : {"raise", "keep"}, default="raise"
        With "keep", Ctrl-C ends the fit with the model so far.
    verbose : bool or "auto", default=False
        True shows a bar on a terminal, lines elsewhere; "auto" a bar on a terminal, for fits of more than two seconds.
    random_state : int, Generator or None, default=None
        The source of landmarks.

    Attributes
    ----------
    classes_ : array of shape (classes,)
        The labels, sorted.
    intercept_ : float or array of shape (classes,)
        For more than two classes with a mean of zero.
    dual_coef_ : array
        The coefficients of all rows, where f is made of these.
    coef_ : array
        The weights of the features of `lift_`, or of `mercer.lift(kernel_, columns)` where the kernel has a finite
        lift.
    converged_ : bool
        Whether `tol` was reached.
    n_iter_ : int
        The steps.
    objective_ : float
        The objective.
    duality_gap_ : float
        An upper bound of its distance from the minimum, for the features that were used.
    kernel_ : Kernel or None
        The kernel with its numbers; None where there is none.
    lift_ : Lift or None
        The fitted lift; None where there is none.
    landmarks_ : array or table
        The landmarks, where the plan has some.
    landmark_indices_ : array of int
        Which rows they are.
    plan_ : Plan
        The method, and its predicted time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelLogisticRegression
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), np.repeat(["inner", "outer"], 50)
    >>> model = KernelLogisticRegression("gaussian(1)", alpha=0.01).fit(X, y)
    >>> model.predict([[0.5, 0.0], [0.0, -2.8]])
    array(['inner', 'outer'], dtype='<U5')
    >>> model.predict_proba([[0.5, 0.0], [2.0, 0.0]]).round(2)
    array([[1.  , 0.  ],
           [0.17, 0.83]])

    References
    ----------
    Zhu and Hastie, Kernel logistic regression and the import vector machine, J. Comp. Graph. Stat. 14 (2005).
    Lin, Weng and Keerthi, Trust region Newton method for large-scale logistic regression, JMLR 9 (2008).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        alpha: float = 1.0,
        lengthscale: float | str = "median",
        class_weight: dict[Any, float] | str | None = None,
        method: str = "auto",
        n_landmarks: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        warm_start: bool = False,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        backend: Backend | str = "auto",
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.lengthscale = lengthscale
        self.class_weight = class_weight
        self.method = method
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.backend = backend
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse array or table of shape (n, d)
            The rows.
        y : array of shape (n,)
            The labels.
        sample_weight : array of shape (n,) or None, default=None
            How often each row counts; None for once.

        Returns
        -------
        Self
        """
        self._fit(X, y, sample_weight)
        if not self.converged_:
            text = f"{self._reason} The objective is at most {self.duality_gap_:.1e} above its least value."
            warnings.warn(f"{type(self).__name__}: {text}", ConvergenceWarning, stacklevel=caller_level())
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> LogisticProblem:
        before = dict(self.__dict__)
        settings, rows = LogisticSettings.of(self), self._read(X, reset=True)
        labels = labels_of(X, y)
        copies = weights_of(sample_weight, len(labels))
        weights = copies
        if self.class_weight is not None:
            copies = np.ones(len(labels)) if copies is None else copies
            weights = class_weights_of(self.class_weight, labels, copies)
        kept, own = rows_that_count(weights, len(labels))
        classes = classes_of(labels[kept])
        view = resolve_view(self.kernel, self.lengthscale, rows, X, kept, copies, self.memory_limit)
        centering = Centering.of(len(kept), None if weights is None else own, intercept=True)
        seen = view if len(kept) == len(labels) else view.chosen(kept)
        refuse_range(seen, centering.total)
        codes = np.searchsorted(classes, labels[kept]).astype(np.intp)
        start = self._start(before, rows, kept, classes) if self.warm_start else None
        return LogisticProblem(settings, rows, view, seen, kept, classes, codes, centering, start)

    def _start(self, before: dict[str, Any], rows: Any, kept: NDArray[np.intp], classes: NDArray[Any]) -> Array | None:
        """Scores of the model before, at the rows that are kept; None where it is of other columns or classes."""
        same = before.get("n_features_in_") == self.n_features_in_ and "_predictor" in before
        if not (same and before["_precomputed"] == self._precomputed):
            return None
        if not np.array_equal(before["classes_"], classes):
            return None
        return np.asarray(before["_predictor"].values(rows))[kept]

    def _plan(self, problem: LogisticProblem, run: Watched | None) -> LogisticPlan:
        if problem.settings.method == LANDMARKS:
            with_landmarks(problem.view)
        return self._choose(problem.task, problem.view)

    def _solve(self, problem: LogisticProblem, plan: LogisticPlan, run: Watched) -> LogisticResult:
        return solve(problem, plan, generator(self.random_state), run)

    X_fit_ = FittedRows()

    _saved: ClassVar[Mapping[str, Any]] = {
        "converged_": bool,
        "X_fit_": NDArray[Any] | csr_array,
        "classes_": NDArray[Any],
        "plan_": LogisticPlan,
        "n_iter_": int,
        "objective_": float,
        "duality_gap_": float,
        "intercept_": float | Array,
        "_predictor": Predictor,
        "_reason": str,
    }
    _saved_if_set: ClassVar[Mapping[str, Any]] = {
        "landmarks_": NDArray[Any] | csr_array,
        "landmark_indices_": NDArray[np.intp],
    }

    def _store(self, problem: LogisticProblem, plan: LogisticPlan, result: LogisticResult) -> None:
        minimum, design, rows, b = result.minimum, result.design, problem.rows, result.intercepts
        for name in ("landmarks_", "landmark_indices_"):
            self.__dict__.pop(name, None)
        if isinstance(design, LandmarkDesign):
            self.landmarks_, self.landmark_indices_ = (
                on_host(design.basis.landmarks.values),
                problem.kept[design.indices],
            )
        self.X_fit_ = rows.values if isinstance(rows, Points) else rows
        self._predictor, self._reason = result.predictor, minimum.reason
        self.classes_, self.plan_ = problem.classes, plan
        self.kernel_, self.lift_ = result.view.kernel, result.view.lift
        self.converged_, self.n_iter_ = minimum.converged, max(minimum.steps, 1)
        self.objective_, self.duality_gap_ = minimum.objective, minimum.gap
        self.intercept_ = float(b[0]) if len(b) == 1 else b

    # -- predicting -----------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> tuple[Array, np.dtype[Any]]:
        """(rows, outputs) in float64, and the dtype of X."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        with self._computing(rows, self._predictor):
            return self._predictor.values(rows), np.dtype(rows.dtype)

    @speaks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """f(x) + b.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,) or (m, classes)
            For two classes one value per row, positive for the second class.
        """
        scores, dtype = self._scores(X)
        found = scores.astype(dtype, copy=False)
        return found[:, 0] if found.shape[1] == 1 else found

    @speaks
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """The logarithms of the probabilities, finite where these vanish, 0 where they round to 1.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m, classes)
        """
        scores, dtype = self._scores(X)
        found = log_probabilities(scores)
        found[found > -np.finfo(dtype).eps / 4] = 0.0
        return found.astype(dtype, copy=False)

    @speaks
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probabilities, in the order of `classes_`.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m, classes)
        """
        scores, dtype = self._scores(X)
        return np.exp(log_probabilities(scores)).astype(dtype, copy=False)

    @speaks
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,)
        """
        found = decided(self._scores(X)[0])
        return np.asarray(self.classes_[found])

    # -- coefficients ---------------------------------------------------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """One coefficient per row (and class), s_i (e_i - p_i) / alpha: `f(x) = sum_i dual_coef_[i] k(x, x_i)`.

        They sum to zero. An AttributeError where f is not made of all rows: with a lift, or landmarks.
        """
        check_is_fitted(self)
        if not isinstance(self._predictor, ByDuals):
            raise AttributeError(f"dual_coef_: the model was fitted on {self.plan_.method}")
        duals = self._predictor.duals
        return duals[:, 0] if duals.shape[1] == 1 else duals

    @property
    def coef_(self) -> Array:
        """(features,) for two classes, else (classes, features): f(x) = `coef_` . phi(x).

        phi is `lift_`, or `mercer.lift(kernel_, columns)` where f is made of rows or landmarks: an AttributeError where
        the kernel has no finite lift.
        """
        check_is_fitted(self)
        weights = feature_weights(self._predictor)
        return np.asarray(weights[:, 0] if weights.shape[1] == 1 else weights.T)
