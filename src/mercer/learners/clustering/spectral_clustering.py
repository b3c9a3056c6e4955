"""Spectral clustering: rows that a walk along the values of a kernel rarely leaves are clusters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClusterMixin
from sklearn.utils import Tags

from mercer.backends.base import Backend
from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, NumericalWarning, caller_level, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.points import Points
from mercer.learners.clustering.laplacian import Embedding, embedded, graph_of
from mercer.learners.clustering.seeds import best_of
from mercer.learners.clustering.settings import SpectralSettings, refuse_few_rows
from mercer.learners.clustering.unique_rows import filled_of
from mercer.learners.data.fitted_rows import FittedRows
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import n_rows
from mercer.learners.data.validation import is_precomputed
from mercer.learners.data.views import LiftView, TableView, View
from mercer.learners.estimator import KernelEstimator
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.lifts.base import Lift
from mercer.lifts.randomness import generator
from mercer.planner.clustering import MEANS, SpectralPlan, SpectralTask
from mercer.solvers.kmeans.cluster_sums import FeatureSums
from mercer.solvers.kmeans.lloyd import Clusters, LloydSettings

MAX_LLOYD_STEPS = 300
"""Steps of k-means on eigenvectors, at most."""


@dataclass(frozen=True, eq=False)
class SpectralProblem:
    """What is to be clustered: the settings, all rows as they were read, and as the kernel sees them."""

    settings: SpectralSettings
    rows: Any
    view: View


@dataclass(frozen=True, eq=False)
class SpectralResult:
    """Eigenvectors, and the clusters of the rows in their coordinates."""

    embedding: Embedding
    clusters: Clusters


class SpectralClustering(
    ClusterMixin,  # type: ignore[misc]  # scikit-learn has no types
    KernelEstimator[SpectralProblem, SpectralPlan, SpectralResult],
):
    """Spectral clustering: clusters of the graph whose edge weights are the values of a kernel.

    A random walk along the edges rarely leaves such a cluster. With the degrees D, the sums of the rows of the kernel
    matrix K, the leading eigenvectors of D^-1 K are nearly constant on clusters (Shi and Malik). They are those of
    D^-1/2 K D^-1/2, times D^-1/2; rows are then clustered by plain k-means in their coordinates. The diagonal of K
    counts: a walk may stay where it is.

    Up to 2,000 rows all eigenvectors are computed. For more, nothing of n^2 numbers is held: the leading ones are found
    by products with K alone, in float32 first and in float64 at the end. `method` asks for one of both.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        For "precomputed" X is a matrix of edge weights, dense or sparse (made dense within memory_limit). No value may
        be negative. A lengthscale that a text leaves out ("rbf") is open.
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the rows. Graphs often want less than the
        median.
    n_components : int or None, default=None
        How many eigenvectors; None for as many as clusters.
    method : {"auto", "exact", "krylov"}, default="auto"
        "exact" finds the eigenvectors of the stored matrix to rounding, "krylov" uses products alone, to `tol`. "auto"
        is "exact" up to 2,000 rows, where that fits.
    n_init : int, default=10
        How many starts of k-means.
    tol : float, default=1e-05
        The residual of eigenvectors at which to end; the largest eigenvalue is one.
    max_iter : int, default=60
        The most products with K.
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
        The source of starts.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        The cluster of each row, from 0.
    eigenvalues_ : array of shape (components,)
        Those of D^-1 K, descending from 1; as many near 1 as there are connected clusters.
    embedding_ : array of shape (n, components)
        The eigenvectors, with a mean square of one where rows count as much as their degrees; the largest number of
        each by size is positive, and the first is one where the graph is connected.
    residuals_ : array of shape (components,)
        Their residuals.
    converged_ : bool
        Whether residuals are within `tol`.
    n_iter_ : int
        Products with K.
    kernel_ : Kernel or None
        The kernel with its numbers; None where there is none.
    lift_ : Lift or None
        The fitted lift; None where there is none.
    plan_ : Plan
        The method, and its predicted time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SpectralClustering
    >>> angle = np.linspace(0, 6.2, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> model = SpectralClustering(2, kernel="gaussian(0.3)", random_state=0).fit(X)
    >>> bool((model.labels_[:50] != model.labels_[50:]).all())
    True
    >>> model.eigenvalues_.round(3)
    array([1., 1.])

    References
    ----------
    Shi and Malik, Normalized cuts and image segmentation, IEEE Trans. Pattern Anal. Mach. Intell. 22 (2000).
    von Luxburg, A tutorial on spectral clustering, Statistics and Computing 17 (2007).
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        lengthscale: float | str = "median",
        n_components: int | None = None,
        method: str = "auto",
        n_init: int = 10,
        tol: float = 1e-5,
        max_iter: int = 60,
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
        self.n_components = n_components
        self.method = method
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.backend = backend
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array, sparse array or table of shape (n, d)
            The rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
        """
        result, who = self._fit(X, y)[1], type(self).__name__
        embedding, count = result.embedding, int(self.n_clusters)
        if not self.converged_:
            reason = result.clusters.reason if embedding.converged else embedding.reason
            text = f"{who}: {reason} The clusters are those that were found so far."
            warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())
        if embedding.parts > count:  # as many parts as clusters are the clusters, and fewer are parted further
            text = f"the graph is not connected: it has {embedding.parts} parts that no tie above rounding connects."
            remedy = f"Which of them share one of {count} clusters means nothing; use a longer lengthscale."
            warnings.warn(f"{who}: {text} {remedy}", NumericalWarning, stacklevel=caller_level())
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> SpectralProblem:
        settings = SpectralSettings.of(self)
        if is_precomputed(self.kernel) and is_sparse(X):  # what is not stored is no tie; all else needs them dense
            needs = f"a matrix of {X.shape[0]} x {X.shape[1]} numbers"
            Budget.of(self.memory_limit).require(8 * math.prod(X.shape), needs, "Raise memory_limit.")
            X = X.toarray()
        rows = self._read(X, reset=True)
        count = n_rows(rows)
        refuse_few_rows(count, settings.clusters)
        if settings.components is not None and settings.components > count:
            got = f"n_components is {settings.components}, and there are {count} rows"
            raise InputError(message("at most as many components as rows", got, "Leave it out."))
        every = np.arange(count)
        view = resolve_view(self.kernel, self.lengthscale, rows, X, every, memory_limit=self.memory_limit)
        return SpectralProblem(settings, rows, view)

    def _plan(self, problem: SpectralProblem, run: Watched | None) -> SpectralPlan:
        settings, view, (columns, filled) = problem.settings, problem.view, filled_of(problem.view)
        task = SpectralTask(
            rows=view.count,
            columns=columns,
            clusters=settings.clusters,
            runs=settings.runs,
            filled=filled,
            components=settings.components or settings.clusters,
            n_features=view.most_features,
            lift_given=isinstance(view, LiftView),
            approximable=isinstance(view, TableView) and view.sure,
            method=settings.method,
        )
        return self._choose(task, view)

    def _solve(self, problem: SpectralProblem, plan: SpectralPlan, run: Watched) -> SpectralResult:
        settings, random, stored = problem.settings, generator(self.random_state), plan.method == "exact"
        graph = graph_of(problem.view, stored, run)
        count = settings.components or settings.clusters
        embedding = embedded(graph, count, settings.tolerance, settings.products, stored, random, run)
        sums = FeatureSums(embedding.vectors, np.ones(problem.view.count), settings.clusters)
        clusters = best_of(settings.runs, sums, LloydSettings(MAX_LLOYD_STEPS), random, run, MEANS)
        return SpectralResult(embedding, clusters)

    X_fit_ = FittedRows()

    _saved: ClassVar[Mapping[str, Any]] = {
        "converged_": bool,
        "X_fit_": NDArray[Any] | csr_array,
        "labels_": NDArray[np.intp],
        "eigenvalues_": NDArray[np.float64],
        "residuals_": NDArray[np.float64],
        "embedding_": NDArray[np.floating[Any]],
        "n_iter_": int,
        "plan_": SpectralPlan,
    }

    def _store(self, problem: SpectralProblem, plan: SpectralPlan, result: SpectralResult) -> None:
        embedding, clusters, rows, view = result.embedding, result.clusters, problem.rows, problem.view
        self.labels_, self.plan_ = clusters.labels, plan
        self.eigenvalues_, self.residuals_ = embedding.values, embedding.residuals
        self.embedding_ = embedding.vectors.astype(rows.dtype, copy=False)
        self.converged_, self.n_iter_ = embedding.converged and clusters.converged, max(embedding.products, 1)
        self.kernel_, self.lift_ = view.kernel, view.lift
        self.X_fit_ = rows.values if isinstance(rows, Points) else rows

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
