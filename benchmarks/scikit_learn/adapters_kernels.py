"""scikit-learn's functions of two tables on Mercer's kernels."""

from __future__ import annotations

from typing import Any

from adapter import REACHED, gamma_of, kernel_of


def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Any:
    return _matrix("rbf", X, Y, gamma)


def laplacian_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Any:
    return _matrix("laplacian", X, Y, gamma)


def linear_kernel(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    return _matrix("linear", X, Y, 1.0)


def polynomial_kernel(X: Any, Y: Any = None, degree: float = 3, gamma: float | None = None, coef0: float = 1) -> Any:
    return _matrix("poly", X, Y, gamma, degree, coef0)


def sigmoid_kernel(X: Any, Y: Any = None, gamma: float | None = None, coef0: float = 1) -> Any:
    return _matrix("sigmoid", X, Y, gamma, 3, coef0)


def chi2_kernel(X: Any, Y: Any = None, gamma: float = 1.0) -> Any:
    return _matrix("chi2", X, Y, gamma)


def _matrix(name: str, X: Any, Y: Any, gamma: float | None, degree: float = 3, coef0: float = 1) -> Any:
    REACHED.add(name)
    return kernel_of(name, gamma_of(gamma, X), degree, coef0)(X, Y)


FUNCTIONS = (rbf_kernel, laplacian_kernel, linear_kernel, polynomial_kernel, sigmoid_kernel, chi2_kernel)
FILES = {
    "sklearn.metrics.tests.test_pairwise": {f"sklearn.metrics.pairwise:{each.__name__}": each for each in FUNCTIONS}
}
