"""Models with scikit-learn's contract."""

from mercer.learners.kernel_perceptron import KernelPerceptron
from mercer.learners.kernel_ridge import KernelRidge
from mercer.learners.kernel_ridge_classifier import KernelRidgeClassifier
from mercer.learners.perceptron import Perceptron

__all__ = ["KernelPerceptron", "KernelRidge", "KernelRidgeClassifier", "Perceptron"]
