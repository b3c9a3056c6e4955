"""Spectral clustering: rows that a walk along the values of a kernel rarely leaves are clusters."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags

from mercer.compute.budget import Budget
from mercer.compute.sparse import is_sparse
from mercer.errors import InputError, NumericalWarning, sentence
from mercer.kernels import Kernel
from mercer.kernels.function import PythonFunction
from mercer.kernels.points import Points
from mercer.learners.callbacks import CallbackSupport
from mercer.learners.cluster_graph import Embedding, embedded, graph_of
from mercer.learners.cluster_rows import task_of, viewed
from mercer.learners.cluster_seeds import best_of
from mercer.learners.cluster_settings import SpectralSettings, refuse_few_rows
from mercer.learners.converging import ConvergenceWarning
from mercer.learners.course import count_of
from mercer.learners.draft import draft
from mercer.learners.fitting import all_or_nothing
from mercer.learners.kernel_parameters import KernelParameters
from mercer.learners.kernel_ridge import DEFAULT
from mercer.learners.reading import PRECOMPUTED, kernel_of, matrix_of, rows_of
from mercer.learners.running import Terms, watched
from mercer.learners.views import View
from mercer.lifts.base import Lift
from mercer.lifts.randomness import generator
from mercer.lifts.shown import ShownEstimator
from mercer.planner.clusters import MEANS, ClusterPlan, spectral
from mercer.solvers.lloyd import Clusters, Settings
from mercer.solvers.partition_sums import FeatureSums

STEPS = 300
"""Steps of k-means on eigenvectors, at most."""


class SpectralClustering(
    ShownEstimator,
    KernelParameters,
    CallbackSupport,  # type: ignore[misc]  # scikit-learn has no types
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Clusters of the graph whose ties are the values of a kernel: rows that a walk along the ties rarely leaves.

    With the degrees D, the sums of the rows of the kernel matrix K, the leading eigenvectors of D^-1 K are nearly
    constant on such sets (Shi and Malik). They come from those of D^-1/2 K D^-1/2, times D^-1/2; rows are then
    clustered by plain k-means in their coordinates. The diagonal of K counts: a walk may stay where it is.

    Up to 2,000 rows all eigenvectors are computed. For more, nothing of n^2 numbers is held: the leading ones come from
    products with K alone, in float32 first and in float64 at the end.

    Parameters
    ----------
    n_clusters : how many clusters
    kernel : a kernel, its text, a Python function, a lift, or "precomputed": a matrix of ties, dense or sparse (made
        dense within memory_limit); no value may be negative.
        A lengthscale that a text leaves out ("rbf") is open
    lengthscale : a number, or "median", for kernels that leave it open; graphs often want less than the median
    n_components : how many eigenvectors; None for as many as clusters
    n_init : how many starts of k-means
    tol : the residual of eigenvectors at which to end; the largest eigenvalue is one
    max_iter : products with K, at most
    memory_limit, time_limit, on_interrupt, verbose, random_state : as in `KernelRidge`

    Attributes
    ----------
    labels_ : (rows,), the cluster of each row, from 0
    eigenvalues_ : (components,) of D^-1 K, falling, from 1 on; as many near 1 as there are clusters that hang together
    embedding_ : (rows, components), the eigenvectors, with a mean square of one where rows count as much as their
        degrees; the largest number of each by size is positive, and the first is one where the graph hangs together
    residuals_ : (components,), how far these are from eigenvectors
    converged_, n_iter_ : whether residuals are within `tol`, and products with K
    kernel_, lift_ : with their numbers; None where there is none
    plan_ : how it was done, and what it was to take

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SpectralClustering
    >>> angle = np.linspace(0, 6.2, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> model = SpectralClustering(2, "gaussian(0.3)", random_state=0).fit(X)
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
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT,
        *,
        lengthscale: float | str = "median",
        n_components: int | None = None,
        n_init: int = 10,
        tol: float = 1e-5,
        max_iter: int = 60,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.n_components = n_components
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters; y is ignored."""
        who, terms, asked = type(self).__name__, self._terms(), SpectralSettings.of(self)
        with all_or_nothing(self), watched(who, self, terms) as run:
            rows, view, plan = self._posed(X, asked)
            random, stored = generator(self.random_state), plan.way == "kernel matrix"
            run.follow(plan, X=X, y=y)
            graph = graph_of(who, view, stored, run)
            count = asked.components or asked.clusters
            found = embedded(graph, count, asked.tolerance, asked.products, stored, random, run)
            sums, settings = FeatureSums(found.vectors, np.ones(len(found.vectors)), asked.clusters), Settings(STEPS)
            means = best_of(asked.runs, sums, settings, random, run, MEANS)
            self._keep(rows, view, plan, found, means)
            run.ready()
        if not self.converged_:
            told = "The clusters are those that were found so far."
            reason = means.reason if found.converged else found.reason
            warnings.warn(f"{who}: {reason} {told}", ConvergenceWarning, stacklevel=2)
        if found.parts > asked.clusters:  # as many parts as clusters are the clusters, and fewer are parted further
            told = f"{who}: the graph is not connected: it has {found.parts} parts that no tie above rounding connects."
            remedy = f"Which of them share one of {asked.clusters} clusters means nothing; use a longer lengthscale."
            warnings.warn(f"{told} {remedy}", NumericalWarning, stacklevel=2)
        return self

    def plan(self, X: Any, y: Any = None) -> ClusterPlan:
        """How `fit` would do it with this data, and what that takes, about; nothing is fitted."""
        twin = draft(self)
        twin._terms()
        plan: ClusterPlan = twin._posed(X, SpectralSettings.of(twin))[2]
        return plan

    def _terms(self) -> Terms:
        return Terms.of(type(self).__name__, self.time_limit, self.on_interrupt, self.verbose, None)

    def _posed(self, X: Any, asked: SpectralSettings) -> tuple[Any, View, ClusterPlan]:
        """The rows as they were read, and as the kernel sees them; and the plan."""
        who, kernel = type(self).__name__, kernel_of(type(self).__name__, self.kernel)
        reader = kernel if isinstance(kernel, Kernel) else None
        if kernel == PRECOMPUTED and is_sparse(X):  # what is not stored is no tie; all else needs them side by side
            needs = f"a matrix of {X.shape[0]} x {X.shape[1]} numbers"
            Budget.of(self.memory_limit).require(who, 8 * math.prod(X.shape), needs, "Raise memory_limit.")
            X = X.toarray()
        rows = matrix_of(self, X, True) if kernel == PRECOMPUTED else rows_of(self, X, reader, True)
        count = count_of(rows)
        refuse_few_rows(who, count, asked.clusters)
        if asked.components is not None and asked.components > count:
            came = f"n_components is {asked.components}, and there are {count} rows"
            raise InputError(sentence(who, "at most as many components as rows", came, "Leave it out."))
        view = viewed(self, X, rows, None, np.arange(count))
        task, budget = task_of(view, asked.clusters, asked.runs), Budget.of(self.memory_limit)
        return rows, view, spectral(who, task, asked.components or asked.clusters, budget, self.time_limit)

    def _keep(self, rows: Any, view: View, plan: ClusterPlan, found: Embedding, means: Clusters) -> None:
        self.labels_, self.plan_ = means.labels, plan
        self.eigenvalues_, self.residuals_ = found.values, found.residuals
        self.embedding_ = found.vectors.astype(rows.dtype, copy=False)
        self.converged_, self.n_iter_ = found.converged and means.converged, max(found.products, 1)
        self.kernel_, self.lift_ = view.kernel, view.lift
        self.X_fit_ = rows.values if isinstance(rows, Points) else rows

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = precomputed
        return tags
