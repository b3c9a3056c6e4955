"""Kernel principal component analysis."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.backends.base import Backend
from mercer.errors import InputError, NumericalWarning, caller_level, message, speaker, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.points import Points
from mercer.learners.data.fitted_rows import FittedRows
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.range_checks import refuse_range
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import n_rows
from mercer.learners.data.validation import is_precomputed
from mercer.learners.data.views import TableView
from mercer.learners.estimator import KernelEstimator
from mercer.learners.pca.exact import by_matrix, by_products
from mercer.learners.pca.features import by_features
from mercer.learners.pca.preimage import Preimages, learn_preimages
from mercer.learners.pca.problem import PCAProblem, StreamedProblem, TableProblem, Untargeted, check_rows
from mercer.learners.pca.result import PCAResult, warn_equal
from mercer.learners.pca.settings import PCASettings
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.learners.streaming.predictor import Predictor
from mercer.learners.streaming.source_stream import (
    SourceStream,
    fits_memory,
    loaded,
    new_rows,
    note_columns,
    regression_stream,
    sampled,
)
from mercer.lifts.base import Lift
from mercer.lifts.inputs import DTYPES
from mercer.lifts.randomness import generator
from mercer.planner.pca import PCAPlan
from mercer.sources import Source, source_of

Array = NDArray[np.float64]
BATCH_ROWS = 1 << 16
"""Rows of a source that are scored at once."""
MIN_INVERSE_SECONDS = 1.0
"""Seconds that learning the inverse transform has, at least, when a time limit has passed."""


class KernelPCA(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    KernelEstimator[PCAProblem, PCAPlan, PCAResult],
):
    """Kernel principal component analysis: the directions in the kernel's space in which centred rows vary most.

    With the kernel matrix K of n rows and P = I - 1 1' / n, these are the largest eigenvalues l and eigenvectors v of P
    K P. The score of a row x is sum_i v_i k(x, x_i) / sqrt(l), centred; those of the training rows are sqrt(l) v. The
    sign of a component makes the entry of v that is largest in size (the first of equal ones) positive.

    Nothing is approximated as long as that is possible. Of some thousand rows K is stored, and of few components the
    leading eigenvectors of P K P are found by products with it, to 1e-12 and such that none is missed; of more than
    2,000 rows of float32 by products in float32, to `tol`, and their eigenvalues in float64. Of more rows
    they are found by a few products with blocks of vectors, and no matrix is stored; a lift, or a kernel with few
    features, takes one pass over the rows. Only what takes more than ten minutes, or rows that stay in their source, is
    approximated by landmarks, and `unexplained_` then includes all that these miss. `plan(X)` says which.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    n_components : int or None, default=None
        How many; None for all above rounding.
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the rows.
    method : {"auto", "exact", "krylov", "landmarks"}, default="auto"
        "exact" stores P K P and finds its eigenvectors to rounding, "krylov" uses products alone, to `tol`.
    n_landmarks : int or None, default=None
        How many landmarks; None for 1,000, or as many as memory and time allow.
    tol : float, default=1e-06
        Products end when `|P K P v - l v|` is at most this part of the largest eigenvalue. Below 1e-7 products with a
        stored matrix are in float64 whatever the rows are.
    max_iter : int, default=60
        The most products.
    fit_inverse_transform : bool, default=False
        Whether the map from scores to rows is learned.
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
        The source of landmarks, and of starts.

    Attributes
    ----------
    eigenvalues_ : array of shape (k,)
        Those of P K P, descending.
    eigenvectors_ : array of shape (n, k)
        Where they were computed: not with features or landmarks.
    explained_variance_ : array of shape (k,)
        The eigenvalues / n.
    explained_variance_ratio_ : array of shape (k,)
        Their part of the trace of P K P.
    unexplained_ : float
        The rest of the trace; with landmarks an upper bound.
    residuals_ : array of shape (k,)
        `|P K P v - l v|`, relative to the largest eigenvalue; with landmarks for their features.
    n_components_ : int
        k; fewer than requested where the others are rounding, and 0, with a warning, where all rows are the same to the
        kernel.
    converged_ : bool
        Whether `tol` was reached, and all rows were seen.
    preimage_error_ : float
        The leave-one-out error of `inverse_transform`, in units of the spread of the rows.
    kernel_ : Kernel or None
        The kernel with its numbers; None where there is none.
    lift_ : Lift or None
        The fitted lift; None where there is none.
    plan_ : Plan
        The method, and its predicted time and memory.
    X_fit_ : array or table
        The training rows, where they are in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> model = KernelPCA("gaussian(1)", n_components=3).fit(X)
    >>> first = model.transform(X)[:, 0]
    >>> bool((first[:50] > 0.3).all()), bool((first[50:] < -0.3).all())
    (True, True)
    >>> model.explained_variance_ratio_.round(2), round(model.unexplained_, 2)
    (array([0.16, 0.13, 0.13]), 0.58)

    References
    ----------
    Schoelkopf, Smola and Mueller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Comp. 10 (1998).
    Bakir, Weston and Schoelkopf, Learning to find pre-images, NIPS 2003.
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        n_components: int | None = None,
        lengthscale: float | str = "median",
        method: str = "auto",
        n_landmarks: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 60,
        fit_inverse_transform: bool = False,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        backend: Backend | str = "auto",
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.lengthscale = lengthscale
        self.method = method
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.fit_inverse_transform = fit_inverse_transform
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.backend = backend
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of the rows.

        X may also be a path to Parquet (a file or a folder), a memory map, or a source of `mercer.sources`. What does
        not fit the memory is read in pieces.

        Parameters
        ----------
        X : array, sparse array, table, path or Source
            The rows. A path to Parquet (a file or a folder), a memory map or a source of `mercer.sources` is read in
            pieces where it does not fit the memory.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
        """
        self._learn(X)
        return self

    @speaks
    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """The scores of the training rows, as `transform` gives them, to rounding; y is ignored."""
        problem, result = self._learn(X)
        return self._scores(X) if result.scores is None else result.scores.astype(problem.dtype, copy=False)

    def _learn(self, X: Any) -> tuple[PCAProblem, PCAResult]:
        problem, result = self._fit(X)
        if self.n_components_ == 0:
            warn_equal()
        if not self.converged_:
            text = f"{type(self).__name__}: {result.reason}"
            warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())
        return problem, result

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> PCAProblem:
        began = time.perf_counter()
        settings = PCASettings.of(self)
        source, stream, table = source_of(X, matrix=is_precomputed(self.kernel)), None, X
        if source is None:
            rows = self._read(X, reset=True)
        else:
            stream = self._streamed(source)
            stored = fits_memory(stream, self.memory_limit)
            rows = loaded(stream).points if stored else sampled(stream).points
            stream, table = None if stored else stream, rows.values
        seen, columns = n_rows(rows), int(self.n_features_in_)
        check_rows(settings, rows, seen if stream is None else stream.count)
        every = np.arange(seen)
        view = resolve_view(self.kernel, self.lengthscale, rows, table, every, memory_limit=self.memory_limit)
        settings.check(view, stream is None)
        refuse_range(view, float(seen))
        if not isinstance(view, TableView):
            return PCAProblem(settings, rows, view, columns, began)
        if stream is None:
            return TableProblem(settings, rows, view, columns, began)
        return StreamedProblem(settings, rows, view, columns, began, stream)

    def _streamed(self, source: Source) -> SourceStream:
        """The rows of a source, which have no similarities."""
        if is_precomputed(self.kernel):
            needs, got = "a kernel or a lift for rows from a source", "similarities come as one matrix"
            raise InputError(message(needs, got, "Load the matrix with np.load."))
        stream = regression_stream(Untargeted(source))
        note_columns(self, stream.head)
        self._precomputed, self._reader = False, None
        return stream

    def _plan(self, problem: PCAProblem, run: Watched | None) -> PCAPlan:
        return self._choose(problem.task, problem.view)

    def _in_memory(self, problem: PCAProblem) -> bool:
        return problem.in_memory

    def _solve(self, problem: PCAProblem, plan: PCAPlan, run: Watched) -> PCAResult:
        random = generator(self.random_state)
        if plan.method == "exact":
            return by_matrix(problem, plan, run)
        if plan.method == "krylov" or not isinstance(problem, TableProblem):  # a matrix has no features
            return by_products(problem, plan, random, run)
        return by_features(problem, plan, random, run)

    X_fit_ = FittedRows()

    _saved: ClassVar[Mapping[str, Any]] = {
        "converged_": bool,
        "eigenvalues_": NDArray[np.float64],
        "residuals_": NDArray[np.float64],
        "explained_variance_": NDArray[np.float64],
        "explained_variance_ratio_": NDArray[np.float64],
        "unexplained_": float,
        "n_components_": int,
        "plan_": PCAPlan,
        "_predictor": Predictor,
    }
    _saved_if_set: ClassVar[Mapping[str, Any]] = {
        "X_fit_": NDArray[Any] | csr_array,
        "eigenvectors_": NDArray[np.float64],
        "_preimages": Preimages,
        "preimage_error_": float,
    }

    def _store(self, problem: PCAProblem, plan: PCAPlan, result: PCAResult) -> None:
        for name in ("X_fit_", "eigenvectors_", "preimage_error_", "_preimages"):
            self.__dict__.pop(name, None)
        if problem.in_memory:
            self.X_fit_ = problem.rows.values if isinstance(problem.rows, Points) else problem.rows
        if result.vectors is not None:
            self.eigenvectors_ = result.vectors
        self.eigenvalues_, self.residuals_ = result.values, result.residuals
        self.explained_variance_ = result.values / result.rows
        self.explained_variance_ratio_ = result.values / max(result.total, float(result.values.sum()))
        self.unexplained_ = max(0.0, 1.0 - float(self.explained_variance_ratio_.sum())) if len(result.values) else 0.0
        self.n_components_ = len(result.values)
        self.converged_, self.plan_ = result.converged, plan
        self.kernel_, self.lift_ = problem.view.kernel, result.lift
        self._predictor = result.predictor
        if problem.settings.preimages:
            self._learn_preimages(problem, result)

    def _learn_preimages(self, problem: PCAProblem, result: PCAResult) -> None:
        if self.n_components_ == 0:
            needs = "rows that the kernel tells apart, to learn an inverse transform"
            remedy = "Check the columns, or use fit_inverse_transform=False."
            raise InputError(message(needs, "all are the same to it, to rounding", remedy))
        limit = self.time_limit
        left = None if limit is None else max(MIN_INVERSE_SECONDS, limit - (time.perf_counter() - problem.began))
        scores = self._predictor.values(problem.rows) if result.scores is None else result.scores
        self._preimages: Preimages = learn_preimages(self, scores, problem.rows.values, left)
        self.preimage_error_ = self._preimages.error

    # -- scores ---------------------------------------------------------------------------------------------------

    @speaks
    def transform(self, X: Any) -> NDArray[Any]:
        """The scores of each row.

        Cost: n d + 2 n k operations per row, or 2 p k for p features; nothing of the size rows times n is stored.

        Parameters
        ----------
        X : array, sparse array, table, path or Source
            The rows. A path to Parquet (a file or a folder), a memory map or a source of `mercer.sources` is read in
            pieces where it does not fit the memory.

        Returns
        -------
        array of shape (m, k)
            In the dtype of X.
        """
        check_is_fitted(self)
        return self._scores(X)

    def _scores(self, X: Any) -> NDArray[Any]:
        names = getattr(self, "feature_names_in_", None)
        source = source_of(X, columns=None if names is None else list(names))
        if source is None:
            return self._scored(self._read(X, reset=False))
        return np.concatenate([self._scored(rows) for rows in new_rows(self, source, BATCH_ROWS)])

    def _scored(self, rows: Any) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore"), self._computing(rows, self._predictor):  # a warning follows
            scores = self._predictor.values(rows).astype(rows.dtype, copy=False)
        if not np.isfinite(scores).all():
            text = f"{type(self).__name__}: scores overflow {rows.dtype} on this data. Scale the data down."
            warnings.warn(text, NumericalWarning, stacklevel=caller_level())
        return scores

    @speaks
    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Rows with about these scores, by kernel ridge regression from scores to training rows.

        It needs `fit_inverse_transform=True`; `preimage_error_` is its leave-one-out error.

        Parameters
        ----------
        X : array of shape (m, k)
            The scores.

        Returns
        -------
        array of shape (m, d)
        """
        check_is_fitted(self)
        if "_preimages" not in self.__dict__:
            raise NotFittedError(f"{speaker()}: there is no inverse transform. Fit with fit_inverse_transform=True.")
        scores = check_array(X, dtype=DTYPES, input_name="X", estimator=self)
        if scores.shape[1] != self.n_components_:
            got, remedy = f"got {scores.shape[1]}", "Give what transform gave."
            raise InputError(message(f"scores of {self.n_components_} components", got, remedy))
        return self._preimages.rows(scores)

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:  # scikit-learn's name
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
