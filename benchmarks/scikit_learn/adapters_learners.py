"""scikit-learn's KernelRidge, KernelPCA, Perceptron and SpectralClustering on Mercer's learners."""

from __future__ import annotations

from typing import Any, Self

from adapter import Adapter, gamma_of, kernel_of
from sklearn.base import ClassifierMixin, ClusterMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

import mercer


def _kernel(adapter: Any, name: Any, X: Any) -> Any:
    """Mercer's kernel for the parameters of an adapter; "precomputed" and functions stay as they are."""
    if callable(name) or name == "precomputed":
        return name
    gamma = 1.0 if name == "chi2" and adapter.gamma is None else gamma_of(adapter.gamma, X)
    return kernel_of(name, gamma, adapter.degree, adapter.coef0)


class KernelRidge(RegressorMixin, Adapter):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.reached()
        model = mercer.KernelRidge(_kernel(self, self.kernel, X), alpha=self.alpha, fit_intercept=False)
        self.model_ = model.fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.predict(X)


class KernelPCA(TransformerMixin, Adapter):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        n_components: Any = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: Any = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        self.reached()
        settings = {"fit_inverse_transform": self.fit_inverse_transform, "random_state": self.random_state}
        X = X if hasattr(X, "shape") else [list(row) for row in X]
        width = X if hasattr(X, "shape") else [X[0]]
        kernel = _kernel(self, self.kernel, width)
        self.model_ = mercer.KernelPCA(kernel, n_components=self.n_components, **settings).fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.transform(X)

    def inverse_transform(self, X: Any) -> Any:
        return self.model_.inverse_transform(X)

    @property
    def eigenvectors_(self) -> Any:
        return self.model_.dual_coef_

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return self.model_.get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class Perceptron(ClassifierMixin, Adapter):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        *,
        penalty: Any = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: Any = 1e-3,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        self.reached()
        names = ("fit_intercept", "max_iter", "shuffle", "random_state")
        self.model_ = mercer.Perceptron(**{name: getattr(self, name) for name in names}).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


class SpectralClustering(ClusterMixin, Adapter):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: Any = None,
        n_components: Any = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        n_jobs: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        self.reached()
        if self.assign_labels != "kmeans":
            raise NotImplementedError(f"assign_labels={self.assign_labels!r}")
        if isinstance(self.affinity, str) and "neighbors" in self.affinity:
            raise NotImplementedError(f"affinity={self.affinity!r}")
        names = ("n_components", "n_init", "random_state")
        settings = {name: getattr(self, name) for name in names}
        self.model_ = mercer.SpectralClustering(
            self.n_clusters, kernel=_kernel(self, self.affinity, X), **settings
        ).fit(X)
        return self


FILES = {
    "sklearn.tests.test_kernel_ridge": {"sklearn.kernel_ridge:KernelRidge": KernelRidge},
    "sklearn.decomposition.tests.test_kernel_pca": {"sklearn.decomposition:KernelPCA": KernelPCA},
    "sklearn.linear_model.tests.test_perceptron": {"sklearn.linear_model:Perceptron": Perceptron},
    "sklearn.cluster.tests.test_spectral": {"sklearn.cluster:SpectralClustering": SpectralClustering},
}
