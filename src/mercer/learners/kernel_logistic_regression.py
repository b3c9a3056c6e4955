"""Kernel logistic regression: probabilities of classes from functions of a kernel."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel
from mercer.kernels.function import PythonFunction
from mercer.kernels.points import Points
from mercer.learners.callbacks import CallbackSupport
from mercer.learners.converging import ConvergenceWarning
from mercer.learners.designs import LandmarkDesign
from mercer.learners.draft import draft
from mercer.learners.fitting import all_or_nothing
from mercer.learners.kernel_parameters import KernelParameters
from mercer.learners.kernel_ridge import DEFAULT
from mercer.learners.labels import decided
from mercer.learners.logistic_fit import Asked, Fitted, Posed, follow, pose
from mercer.learners.predictor import ByDuals, ByFeatures
from mercer.learners.reading import PRECOMPUTED, kernel_of, matrix_of, rows_of
from mercer.learners.running import Terms, watched
from mercer.lifts.base import Lift
from mercer.lifts.randomness import generator
from mercer.lifts.shown import ShownEstimator
from mercer.planner.logistic import LogisticPlan
from mercer.solvers.likelihood import log_probabilities

Array = NDArray[np.float64]


class KernelLogisticRegression(
    ShownEstimator,
    KernelParameters,
    CallbackSupport,  # type: ignore[misc]  # scikit-learn has no types
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Probabilities of classes from functions f_t of a kernel: p(t | x) is proportional to exp(f_t(x) + b_t).

    It minimises sum_i -s_i log p(y_i | x_i) + alpha / 2 sum_t |f_t|^2, where |f| is the norm of the kernel's space and
    the intercepts b are free. Two classes have one function, with p = 1 / (1 + exp(-f - b)) for the second. These are
    probabilities of the model itself: nothing is calibrated afterwards.

    Newton's method with a line search, whose steps come from conjugate gradients. The rows are seen through the
    features of a lift where there is one, through the eigenvectors of the kernel matrix up to 3,000 rows, which is
    exact, and through landmarks above; `plan` tells which. Cost for p features: n p^2 + 9 p^3 operations at first, then
    the n p features are read a few hundred times.

    Parameters
    ----------
    kernel : a kernel or its text, a lift, or "precomputed"; a lengthscale that a text leaves out ("rbf") is open
    alpha : the penalty, above zero; 1 / C of scikit-learn's `LogisticRegression`
    lengthscale : a number, or "median", for kernels that leave it open
    class_weight : how much rows of each class weigh, as a dict or "balanced"; None for one
    rank : how many landmarks; None for all rows up to 3,000, else 1,000 or as many as memory and time allow
    tol : the fit has converged when the gradient is at most this part of the one without features
    max_iter : steps of Newton's method, at most
    warm_start : whether a fit begins at the function of the one before, where columns and classes are the same
    memory_limit, time_limit, on_interrupt, verbose, random_state : as in `KernelRidge`

    Attributes
    ----------
    classes_ : the labels, sorted
    intercept_ : one number for two classes, else one a class, with a mean of zero
    dual_coef_, coef_ : of all rows, or of the features of `lift_`, where f is made of these
    converged_, n_iter_ : whether `tol` was reached, and the steps
    objective_ : what is minimised
    duality_gap_ : how far that is above its least value, at most; for the features that were used
    kernel_, lift_ : with their numbers; None where there is none
    landmarks_, landmark_indices_ : where the plan is one of landmarks, and which rows they are
    plan_ : how it was done, and what it was to take

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
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT,
        *,
        alpha: float = 1.0,
        lengthscale: float | str = "median",
        class_weight: dict[Any, float] | str | None = None,
        rank: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        warm_start: bool = False,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.lengthscale = lengthscale
        self.class_weight = class_weight
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model; `sample_weight` says how often each row counts."""
        who, terms, asked = type(self).__name__, self._terms(), Asked.of(self)
        with all_or_nothing(self), watched(who, self, terms) as run:
            before = dict(self.__dict__)
            rows = self._read(X, reset=True)
            posed = pose(self, asked, X, rows, y, sample_weight)
            given = {} if sample_weight is None else {"metadata": {"sample_weight": sample_weight}}
            run.follow(posed.plan, X=X, y=y, **given)
            start = self._start(before, rows, posed) if self.warm_start else None
            self._keep(rows, posed, follow(who, posed, asked, generator(self.random_state), start, run))
            run.ready()
        if not self.converged_:
            told = f"{self._reason} The objective is at most {self.duality_gap_:.1e} above its least value."
            warnings.warn(f"{who}: {told}", ConvergenceWarning, stacklevel=2)
        return self

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticPlan:
        """How `fit` would do it with this data, and what that takes; nothing is fitted."""
        twin = draft(self)
        twin._terms()
        return pose(twin, Asked.of(twin), X, twin._read(X, reset=True), y, sample_weight).plan

    def _terms(self) -> Terms:
        return Terms.of(type(self).__name__, self.time_limit, self.on_interrupt, self.verbose, None)

    def _read(self, X: Any, reset: bool) -> Any:
        if reset:
            kernel = kernel_of(type(self).__name__, self.kernel)
            self._precomputed = kernel == PRECOMPUTED
            self._reader = kernel if isinstance(kernel, Kernel) else None
        return matrix_of(self, X, reset) if self._precomputed else rows_of(self, X, self._reader, reset)

    def _start(self, before: dict[str, Any], rows: Any, posed: Posed) -> Array | None:
        """Scores of the model before, at the rows that are kept; None where it is of other columns or classes."""
        same = before.get("n_features_in_") == self.n_features_in_ and "_predictor" in before
        if not (same and before["_precomputed"] == self._precomputed):
            return None
        if not np.array_equal(before["classes_"], posed.classes):
            return None
        return np.asarray(before["_predictor"].values(rows))[posed.kept]

    def _keep(self, rows: Any, posed: Posed, fitted: Fitted) -> None:
        found, design = fitted.minimum, fitted.design
        for name in ("landmarks_", "landmark_indices_"):
            self.__dict__.pop(name, None)
        if isinstance(design, LandmarkDesign):
            self.landmarks_, self.landmark_indices_ = design.basis.landmarks.values, posed.kept[design.indices]
        self.X_fit_ = rows.values if isinstance(rows, Points) else rows
        self._predictor, self._reason = fitted.predictor, found.reason
        self.classes_, self.plan_ = posed.classes, posed.plan
        self.kernel_, self.lift_ = fitted.view.kernel, fitted.view.lift
        self.converged_, self.n_iter_ = found.converged, max(found.steps, 1)
        self.objective_, self.duality_gap_ = found.objective, found.gap
        b = fitted.intercepts
        self.intercept_ = float(b[0]) if len(b) == 1 else b

    # -- predicting -----------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> tuple[Array, np.dtype[Any]]:
        """(rows, outputs) in float64, and the dtype of X."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return self._predictor.values(rows), np.dtype(rows.dtype)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """f(x) + b: for two classes one a row, positive for the second; else one a row and class."""
        scores, dtype = self._scores(X)
        found = scores.astype(dtype, copy=False)
        return found[:, 0] if found.shape[1] == 1 else found

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """(rows, classes): the logarithms of the probabilities, finite where these vanish, 0 where they round to 1."""
        scores, dtype = self._scores(X)
        found = log_probabilities(scores)
        found[found > -np.finfo(dtype).eps / 4] = 0.0
        return found.astype(dtype, copy=False)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """(rows, classes): the probabilities, in the order of `classes_`."""
        scores, dtype = self._scores(X)
        return np.exp(log_probabilities(scores)).astype(dtype, copy=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        found = decided(self._scores(X)[0])
        return np.asarray(self.classes_[found])

    # -- coefficients ---------------------------------------------------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """One coefficient a row (and class): f(x) = sum_i dual_coef_[i] k(x, x_i), s_i (e_i - p_i) / alpha.

        They sum to zero. An AttributeError where f is not made of all rows: with a lift, or landmarks.
        """
        check_is_fitted(self)
        if not isinstance(self._predictor, ByDuals):
            raise AttributeError(f"dual_coef_: the model was fitted on {self.plan_.way}")
        duals = self._predictor.duals
        return duals[:, 0] if duals.shape[1] == 1 else duals

    @property
    def coef_(self) -> Array:
        """(features,) for two classes, else (classes, features): f(x) = coef_ . phi(x), where `lift_` gives phi."""
        check_is_fitted(self)
        if not isinstance(self._predictor, ByFeatures):
            raise AttributeError(f"coef_: the model was fitted on {self.plan_.way}")
        weights = self._predictor.weights
        return np.asarray(weights[:, 0] if weights.shape[1] == 1 else weights.T)

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not isinstance(self.kernel, str) or self.kernel != PRECOMPUTED
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        return tags
