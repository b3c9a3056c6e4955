"""Models with scikit-learn's contract."""

import typing as _typing

from mercer.learners.clustering.kernel_kmeans import KernelKMeans
from mercer.learners.clustering.spectral_clustering import SpectralClustering
from mercer.learners.logistic.kernel_logistic_regression import KernelLogisticRegression
from mercer.learners.pca.kernel_pca import KernelPCA
from mercer.learners.perceptron.kernel_perceptron import KernelPerceptron
from mercer.learners.perceptron.perceptron import Perceptron
from mercer.learners.ridge.kernel_ridge import KernelRidge
from mercer.learners.ridge.kernel_ridge_classifier import KernelRidgeClassifier
from mercer.learners.svm.kernel_svc import KernelSVC
from mercer.learners.svm.kernel_svr import KernelSVR
from mercer.learners.svm.one_class import KernelOneClassSVM

__all__ = [
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelOneClassSVM",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "Perceptron",
    "SpectralClustering",
]

if not _typing.TYPE_CHECKING:  # type checkers know the names above, and refuse others themselves

    def __getattr__(name: str) -> object:
        from mercer.guesses.names import refuse

        return refuse("mercer.learners", name)
