"""Models with scikit-learn's contract."""

from mercer.learners.kernel_kmeans import KernelKMeans
from mercer.learners.kernel_logistic_regression import KernelLogisticRegression
from mercer.learners.kernel_pca import KernelPCA
from mercer.learners.kernel_perceptron import KernelPerceptron
from mercer.learners.kernel_ridge import KernelRidge
from mercer.learners.kernel_ridge_classifier import KernelRidgeClassifier
from mercer.learners.kernel_svc import KernelSVC
from mercer.learners.kernel_svr import KernelSVR
from mercer.learners.one_class import OneClass
from mercer.learners.perceptron import Perceptron
from mercer.learners.spectral_clustering import SpectralClustering

__all__ = [
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "OneClass",
    "Perceptron",
    "SpectralClustering",
]
