"""What all adapters share: a sign that a test reached one, and kernels by scikit-learn's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.kernels import (
    Constant,
    ExponentialChiSquared,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    ProductLaplace,
    Sigmoid,
)

REACHED: set[str] = set()
"""Adapters that the test now running called."""


class Adapter(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator with scikit-learn's name; `model_` is the fitted one of Mercer.

    What it was fitted with that Mercer's model has under the same name is an attribute of the adapter, too.
    """

    model_: Any

    def reached(self) -> None:
        """Note that the test that is running has something to say of Mercer."""
        REACHED.add(type(self).__name__)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and name != "model_" and "model_" in vars(self):
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def gamma_of(gamma: Any, X: Any) -> float:
    """The number that scikit-learn's gamma means for these rows: "scale", "auto", None or a number."""
    if isinstance(gamma, str) and gamma == "scale":
        square = X.multiply(X).mean() - X.mean() ** 2 if hasattr(X, "multiply") else np.var(np.asarray(X, dtype=float))
        return float(1.0 / (X.shape[1] * square)) if square else 1.0
    if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
        return 1.0 / int(np.shape(X)[1])
    return float(gamma)


def kernel_of(name: Any, gamma: float, degree: float = 3, coef0: float = 0.0) -> Kernel | Any:
    """Mercer's kernel for a name of scikit-learn's; what is no such name stays as it is."""
    if not isinstance(name, str):
        return name
    if name == "rbf":
        return Gaussian(1 / np.sqrt(2 * gamma))
    if name == "linear":
        return Linear()
    if name in ("poly", "polynomial"):
        found = Polynomial(int(degree), offset=coef0 / gamma)
        return found if gamma == 1 else Constant(gamma**degree) * found
    if name == "sigmoid":
        return Sigmoid(slope=gamma, offset=coef0)
    if name == "laplacian":
        return ProductLaplace(1 / gamma)
    if name == "chi2":
        return ExponentialChiSquared(1 / gamma)
    return name
