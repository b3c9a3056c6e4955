"""Models with scikit-learn's contract."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.learners.clustering.kernel_kmeans import KernelKMeans as KernelKMeans
    from mercer.learners.clustering.spectral_clustering import SpectralClustering as SpectralClustering
    from mercer.learners.logistic.kernel_logistic_regression import KernelLogisticRegression as KernelLogisticRegression
    from mercer.learners.pca.kernel_pca import KernelPCA as KernelPCA
    from mercer.learners.perceptron.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from mercer.learners.perceptron.perceptron import Perceptron as Perceptron
    from mercer.learners.ridge.kernel_ridge import KernelRidge as KernelRidge
    from mercer.learners.ridge.kernel_ridge_classifier import KernelRidgeClassifier as KernelRidgeClassifier
    from mercer.learners.svm.kernel_svc import KernelSVC as KernelSVC
    from mercer.learners.svm.kernel_svr import KernelSVR as KernelSVR
    from mercer.learners.svm.one_class import KernelOneClassSVM as KernelOneClassSVM
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "KernelKMeans": "clustering.kernel_kmeans",
            "KernelLogisticRegression": "logistic.kernel_logistic_regression",
            "KernelOneClassSVM": "svm.one_class",
            "KernelPCA": "pca.kernel_pca",
            "KernelPerceptron": "perceptron.kernel_perceptron",
            "KernelRidge": "ridge.kernel_ridge",
            "KernelRidgeClassifier": "ridge.kernel_ridge_classifier",
            "KernelSVC": "svm.kernel_svc",
            "KernelSVR": "svm.kernel_svr",
            "Perceptron": "perceptron.perceptron",
            "SpectralClustering": "clustering.spectral_clustering",
        },
    )
