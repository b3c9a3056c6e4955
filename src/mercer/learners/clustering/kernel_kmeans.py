"""Kernel k-means: clusters around means in the space of a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.errors import NumericalWarning, caller_level, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.points import Points
from mercer.learners.clustering.fit import KMeansResult, solve
from mercer.learners.clustering.model import ByRows, Model
from mercer.learners.clustering.settings import LANDMARKS, KMeansSettings, refuse_few_rows
from mercer.learners.clustering.unique_rows import KMeansProblem, filled_of, without_copies
from mercer.learners.data.fitted_rows import FittedRows
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import n_rows, rows_that_count
from mercer.learners.data.validation import sees_rows, weights_of
from mercer.learners.data.views import LiftView, TableView, with_landmarks
from mercer.learners.estimator import KernelEstimator
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.lifts.base import Lift
from mercer.lifts.in_kind import in_kind
from mercer.lifts.randomness import generator
from mercer.planner.clustering import KMeansPlan, KMeansTask

Array = NDArray[np.float64]


class KernelKMeans(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    KernelEstimator[KMeansProblem, KMeansPlan, KMeansResult],
):
    """Kernel k-means: clusters around means in the space of a kernel.

    It minimises `sum_i s_i |phi(x_i) - mean of the cluster of x_i|^2`; with the linear kernel it is plain k-means. The
    means are not points, but known by their inner products with rows: `|phi(x) - mean_c|^2 = k(x, x) - 2 sum_j s_j k(x,
    x_j) / S_c + sum_jl s_j s_l k(x_j, x_l) / S_c^2`, over the rows j, l of the cluster c and their weight S_c together.

    The solver is Lloyd's algorithm from several starts by k-means++, the best of which is kept. A step decreases the
    inertia, or is the last: no other partition is nearer to its means. Another start may lead to a better one.

    Up to 2,000 rows the kernel matrix is stored, and a lift, or a kernel with few features, has these: every start is
    iterated to its end. For more rows nothing of n^2 numbers is held. The starts are those of features of 128
    landmarks, in float32, and the best partition goes on with the kernel itself, in float64, by the pairs of all rows
    with those that move; that takes about n^2 pairs. Where this is too long, the kernel is approximated by landmarks.
    `plan` says which method is chosen.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the rows.
    method : {"auto", "exact", "landmarks"}, default="auto"
        The kernel itself, or landmarks in its place.
    n_landmarks : int or None, default=None
        How many landmarks; None for 128 before exact steps, else for 500 or as many as memory and time allow.
    n_init : int, default=10
        How many starts.
    max_iter : int, default=300
        The most steps of each; of exact steps after landmarks as many again.
    tol : float, default=0.0
        A step that decreases the inertia by this part of it, or less, is the last; 0 for one that moves no row.
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
        The source of starts and landmarks.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        The cluster of each row, from 0; the first of those whose means are equally near.
    inertia_ : float
        The sum of weights times squared distances from the means; with landmarks at least that of the labels.
    n_iter_ : int
        Steps of the best start.
    history_ : array
        The inertia after each step, which never rises beyond rounding: that of float64, or of float32 in steps on
        landmarks.
    converged_ : bool
        Whether the last step changed nothing.
    kernel_ : Kernel or None
        The kernel with its numbers; None where there is none.
    lift_ : Lift or None
        The fitted lift; None where there is none.
    plan_ : Plan
        The method, and its predicted time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelKMeans
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> model = KernelKMeans(2, kernel="parabolic", random_state=0).fit(X)
    >>> bool((model.labels_[:50] != model.labels_[50:]).all())
    True
    >>> bool(model.predict([[0.5, 0.0]])[0] == model.labels_[0])
    True

    References
    ----------
    Scholkopf, Smola and Muller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation 10
    (1998), appendix. Dhillon, Guan and Kulis, Kernel k-means, spectral clustering and normalized cuts, KDD 2004.
    Chitta, Jin, Havens and Jain, Approximate kernel k-means, KDD 2011.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        lengthscale: float | str = "median",
        method: str = "auto",
        n_landmarks: int | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 0.0,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        backend: Backend | str = "auto",
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.method = method
        self.n_landmarks = n_landmarks
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.backend = backend
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array, sparse array or table of shape (n, d)
            The rows.
        y : object, default=None
            Ignored.
        sample_weight : array of shape (n,) or None, default=None
            How often each row counts; None for once.

        Returns
        -------
        Self
        """
        result = self._fit(X, y, sample_weight)[1]
        if not self.converged_:
            advice = "The partition is kept; another step would change it. Allow more max_iter or time_limit."
            text = f"{type(self).__name__}: {result.clusters.reason} {advice}"
            warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> KMeansProblem:
        settings, rows = KMeansSettings.of(self), self._read(X, reset=True)
        weights = weights_of(sample_weight, n_rows(rows))
        kept, own = rows_that_count(weights, n_rows(rows))
        refuse_few_rows(len(kept), settings.clusters)
        full = resolve_view(self.kernel, self.lengthscale, rows, X, kept, weights, self.memory_limit)
        return without_copies(settings, rows, full, kept, own)

    def _plan(self, problem: KMeansProblem, run: Watched | None) -> KMeansPlan:
        settings = problem.settings
        if settings.method == LANDMARKS:
            with_landmarks(problem.view)
        view, (columns, filled) = problem.view, filled_of(problem.view)
        task = KMeansTask(
            rows=view.count,
            columns=columns,
            clusters=settings.clusters,
            runs=settings.runs,
            filled=filled,
            n_features=view.most_features,
            lift_given=isinstance(view, LiftView),
            approximable=isinstance(view, TableView) and view.sure,
            method=settings.method,
            n_landmarks=settings.n_landmarks,
        )
        return self._choose(task, view)

    def _solve(self, problem: KMeansProblem, plan: KMeansPlan, run: Watched) -> KMeansResult:
        return solve(problem, plan, generator(self.random_state), run)

    X_fit_ = FittedRows()

    _saved: ClassVar[Mapping[str, Any]] = {
        "converged_": bool,
        "X_fit_": NDArray[Any] | csr_array,
        "labels_": NDArray[np.intp],
        "history_": NDArray[np.float64],
        "inertia_": float,
        "n_iter_": int,
        "plan_": KMeansPlan,
        "_model": Model,
        "_n_features_out": int,
    }

    def _store(self, problem: KMeansProblem, plan: KMeansPlan, result: KMeansResult) -> None:
        clusters, rows = result.clusters, problem.read
        self._model = result.model
        self._n_features_out = len(result.model.lengths)
        self.labels_ = np.empty(problem.count, np.intp)
        self.labels_[problem.kept] = clusters.labels[problem.group]
        left_out = np.ones(problem.count, bool)
        left_out[problem.kept] = False
        others = np.flatnonzero(left_out)
        if len(others):
            self.labels_[others] = result.model.labels(rows.rows(others) if isinstance(rows, Points) else rows[others])
        self.history_ = problem.unit * np.asarray(clusters.history)
        self.inertia_, self.n_iter_ = float(self.history_[-1]), len(self.history_)
        self.converged_, self.plan_ = clusters.converged, plan
        self.kernel_, self.lift_ = result.view.kernel, result.view.lift
        self.X_fit_ = rows.values if isinstance(rows, Points) else rows

    # -- predicting -----------------------------------------------------------------------------------------------

    @speaks
    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict the cluster with the nearest mean. Cost: pairs of these rows with all training rows.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of int of shape (m,)
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        with self._computing(rows, self._model):
            return self._model.labels(rows)

    @speaks
    def transform(self, X: Any) -> NDArray[Any]:
        """(rows, clusters): the distances from the means in the kernel's space; infinite from one without rows.

        Means that are those of landmarks are points of that space, too.
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        with self._computing(rows, self._model):
            return self._distances(self._model.squares(rows), rows.dtype)

    @speaks
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """The distances of the rows themselves; with "precomputed" alone of all that `transform` could be asked for."""
        self.fit(X, y, sample_weight)
        if not (self._precomputed and isinstance(self._model, ByRows)):
            return self.transform(X)
        return self._distances(self._model.own(self.X_fit_), self.X_fit_.dtype)

    def _distances(self, squares: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The roots of squared distances in the dtype of rows, with a warning where one does not fit."""
        with np.errstate(over="ignore"):
            found = np.sqrt(squares).astype(dtype, copy=False)
        if not np.array_equal(np.isfinite(found), np.isfinite(squares)):
            text = f"{type(self).__name__}: distances overflow {dtype} on this data. Scale the data down."
            warnings.warn(text, NumericalWarning, stacklevel=caller_level())
        return found

    @available_if(sees_rows)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_kind
    @speaks
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of rows, by their nearest means: the larger, the better. y is ignored."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        weights = weights_of(sample_weight, n_rows(rows))
        with self._computing(rows, self._model):
            squares = self._model.nearest(rows)[1]
        return -float(squares.sum() if weights is None else weights @ squares)

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# After the class: scikit-learn wraps its transform for set_output, and would take the descriptor for a function.
KernelKMeans.transform = available_if(sees_rows)(KernelKMeans.transform)  # type: ignore[method-assign]
