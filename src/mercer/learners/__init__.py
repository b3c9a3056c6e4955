"""Models with scikit-learn's contract."""

from mercer.learners.kernel_ridge import KernelRidge
from mercer.learners.kernel_ridge_classifier import KernelRidgeClassifier

__all__ = ["KernelRidge", "KernelRidgeClassifier"]
