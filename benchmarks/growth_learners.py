"""Who is fitted to more and more rows: every learner, with equal settings for all who know it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from margin_perceptron import sequential
from processes import theirs_given
from tables import Array, Split

import mercer
from mercer.kernels import Gaussian, Graph, WeisfeilerLehman
from mercer.lifts import Nystrom
from mercer.solvers import Cholesky

COLUMNS, LENGTH, ALPHA, C = 10, 10**0.5, 0.1, 10.0
GAMMA = 1 / (2 * LENGTH**2)
LANDMARKS, COUNT, STARTS, STEPS, ROUNDS = 1_000, 10, 3, 50, 5
NODES, LABELS = 20, 7
PATIENCE = 6.0
"""Seconds for which ours plans where it may approximate."""
Fit = Callable[[Any, Any], Any]
"""From rows and targets to whatever; what it returns is dropped."""
Data = tuple[Any, Any]


# -- rows -------------------------------------------------------------------------------------------------------------


def numbers(rows: int) -> tuple[Array, Array]:
    """Normal rows, and a smooth function of three columns with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=rows)


def classes(rows: int) -> tuple[Array, Array]:
    """The same rows; whether the function is positive."""
    X, y = numbers(rows)
    return X, np.where(y > 0, 1, -1)


def molecules(rows: int) -> Data:
    """Random graphs of 20 nodes with 7 labels and some 24 edges, as lists: each side makes its own of them."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(rows):
        pairs = np.sort(rng.integers(0, NODES, (24, 2)), axis=1)
        chain = np.column_stack([np.arange(NODES - 1), np.arange(1, NODES)])
        edges = np.unique(np.vstack([chain[::2], pairs[pairs[:, 0] < pairs[:, 1]]]), axis=0)
        found.append((edges, rng.integers(0, LABELS, NODES).tolist()))
    return found, None


# -- regressions ------------------------------------------------------------------------------------------------------


def ridge_exactly(X: Array, y: Array) -> Any:
    return mercer.KernelRidge(Gaussian(LENGTH), alpha=ALPHA, solver=Cholesky(), verbose=False).fit(X, y)


def ridge_planned(X: Array, y: Array) -> Any:
    model = mercer.KernelRidge(Gaussian(LENGTH), alpha=ALPHA, time_limit=PATIENCE, verbose=False, random_state=0)
    return model.fit(X, y)


def landmarks(X: Array, y: Array) -> Any:
    lift = Nystrom(Gaussian(LENGTH), min(LANDMARKS, len(X)), random_state=0)
    return mercer.KernelRidge(lift, alpha=ALPHA, verbose=False, random_state=0).fit(X, y)


def their_landmarks(X: Array, y: Array) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge

    lift = Nystroem(kernel="rbf", gamma=GAMMA, n_components=min(LANDMARKS, len(X)), random_state=0)
    return Ridge(alpha=ALPHA).fit(lift.fit_transform(X), y)


def scikit_learn_ridge(X: Array, y: Array) -> Any:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(kernel="rbf", gamma=GAMMA, alpha=ALPHA).fit(X, y)


def himalaya_ridge(X: Array, y: Array) -> Any:
    ridge = import_module("himalaya.kernel_ridge").KernelRidge
    return ridge(kernel="rbf", kernel_params={"gamma": GAMMA}, alpha=ALPHA).fit(X, y)


def gpytorch_process(X: Array, y: Array) -> Any:
    return theirs_given(Split(X, y, X[:10], y[:10]), LENGTH, exactly=True)


# -- machines ---------------------------------------------------------------------------------------------------------


def ours_of(name: str, X: Array, y: Array, **settings: Any) -> Any:
    """A learner of ours with the Gaussian."""
    model = getattr(mercer, name)(kernel=Gaussian(LENGTH), verbose=False, **settings)
    return model.fit(X) if y is None else model.fit(X, y)


def machine_of(module: str, name: str, X: Array, y: Array, **settings: Any) -> Any:
    """A class of somebody who has scikit-learn's names."""
    model = getattr(import_module(module), name)(kernel="rbf", gamma=GAMMA, **settings)
    return model.fit(X) if y is None else model.fit(X, y)


def without_targets(fit: Fit) -> Fit:
    """For those that look at rows alone."""
    return partial(_without, fit)


def _without(fit: Fit, X: Array, y: Array) -> Any:
    return fit(X, None)


def laplace_process(X: Array, y: Array) -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF

    return GaussianProcessClassifier(RBF(LENGTH), optimizer=None).fit(X, y)


def loop_over_mistakes(X: Array, y: Array) -> Any:
    return sequential(X, y.astype(float), LENGTH)


# -- rows alone -------------------------------------------------------------------------------------------------------


def tslearn_clusters(X: Array, y: Array) -> Any:
    means = import_module("tslearn.clustering").KernelKMeans
    settings = {"n_clusters": COUNT, "n_init": STARTS, "max_iter": STEPS, "random_state": 0}
    return means(kernel="rbf", kernel_params={"gamma": GAMMA}, **settings).fit(X[..., None])


def scikit_learn_spectral(X: Array, y: Array) -> Any:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(COUNT, gamma=GAMMA, random_state=0).fit(X)


# -- graphs -----------------------------------------------------------------------------------------------------------


def our_graphs(given: list[Any], y: None) -> Any:
    return WeisfeilerLehman(ROUNDS)([Graph(NODES, edges, labels) for edges, labels in given])


def grakel_graphs(given: list[Any], y: None) -> Any:
    make, kernel = import_module("grakel").Graph, import_module("grakel.kernels").WeisfeilerLehman
    return kernel(n_iter=ROUNDS).fit_transform([make(*_grakel(*each), graph_format="dictionary") for each in given])


def _grakel(edges: Array, labels: list[int]) -> tuple[dict[int, dict[int, float]], dict[int, int]]:
    found: dict[int, dict[int, float]] = {u: {} for u in range(NODES)}
    for u, v in edges.tolist():
        found[u][v] = found[v][u] = 1.0
    return found, dict(enumerate(labels))


MACHINES = {"scikit-learn": "sklearn.svm", "scikit-learn-intelex": "sklearnex.svm"}
SVM: dict[str, Any] = {"C": C, "tol": 1e-3, "cache_size": 2_000}
CLUSTERS: dict[str, Any] = {"n_clusters": COUNT, "n_init": STARTS, "max_iter": STEPS, "random_state": 0}
PCA: dict[str, Any] = {"n_components": COUNT, "eigen_solver": "arpack", "random_state": 0}
LEARNERS: dict[str, tuple[Callable[[int], Data], dict[str, Fit]]] = {
    "ridge regression": (numbers, {
        "ours": ridge_planned, "ours, Cholesky": ridge_exactly, "scikit-learn": scikit_learn_ridge,
        "himalaya": himalaya_ridge, "GPyTorch": gpytorch_process,
    }),
    "ridge, 1,000 landmarks": (numbers, {"ours": landmarks, "scikit-learn": their_landmarks}),
    "SVC": (classes, {
        "ours": partial(ours_of, "KernelSVC", C=C, tol=1e-3),
        **{who: partial(machine_of, module, "SVC", **SVM) for who, module in MACHINES.items()},
        "LIBSVM": partial(machine_of, "libsvm_machine", "SVC", **SVM),
        "thundersvm": partial(machine_of, "thundersvm", "SVC", **SVM),
    }),
    "SVR": (numbers, {
        "ours": partial(ours_of, "KernelSVR", C=C, tol=1e-3),
        **{who: partial(machine_of, module, "SVR", **SVM) for who, module in MACHINES.items()},
    }),
    "one class": (numbers, {
        "ours": without_targets(partial(ours_of, "KernelOneClassSVM", nu=0.1)),
        "scikit-learn": without_targets(partial(machine_of, "sklearn.svm", "OneClassSVM", nu=0.1, cache_size=2_000)),
    }),
    "logistic regression": (classes, {
        "ours": partial(ours_of, "KernelLogisticRegression", alpha=1.0),
        "scikit-learn, Laplace": laplace_process,
    }),
    "perceptron, 3 passes": (classes, {
        "ours": partial(ours_of, "KernelPerceptron", max_iter=3), "NumPy loop": loop_over_mistakes,
    }),
    "PCA, 10 components": (numbers, {
        "ours": without_targets(partial(ours_of, "KernelPCA", n_components=COUNT, random_state=0)),
        "scikit-learn": without_targets(partial(machine_of, "sklearn.decomposition", "KernelPCA", **PCA)),
    }),
    "k-means, 10 clusters": (numbers, {
        "ours": without_targets(partial(ours_of, "KernelKMeans", **CLUSTERS)), "tslearn": tslearn_clusters,
    }),
    "spectral, 10 clusters": (numbers, {
        "ours": without_targets(partial(ours_of, "SpectralClustering", n_clusters=COUNT, random_state=0)),
        "scikit-learn": scikit_learn_spectral,
    }),
    "graphs, Weisfeiler-Lehman": (molecules, {"ours": our_graphs, "GraKeL": grakel_graphs}),
}  # fmt: skip
"""Of each learner: how its rows are made, and who fits it."""
QUICK = ("ridge regression", "SVC", "k-means, 10 clusters", "graphs, Weisfeiler-Lehman")
"""These meet every peer but KeOps, which has no learner."""
