"""scikit-learn's Nystroem, RBFSampler, PolynomialCountSketch and PolynomialFeatures on Mercer's lifts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from adapter import Adapter, gamma_of, kernel_of
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.lifts import Monomials, Nystrom, RandomFourier, Sketch, Subsets


class _Lift(TransformerMixin, Adapter):  # type: ignore[misc]  # scikit-learn has no types
    """What all share: fit, transform, and the names of features."""

    def _lift(self, X: Any) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Self:
        self.reached()
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=float)
        self.model_ = self._lift(X).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return self.model_.get_feature_names_out(input_features)


class Nystroem(_Lift):
    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = None,
        coef0: Any = None,
        degree: Any = None,
        kernel_params: Any = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _lift(self, X: Any) -> Any:
        kernel = self.kernel
        if kernel == "cosine":
            kernel = "cosine()"
        elif not callable(kernel) and kernel != "precomputed":
            gamma = 1.0 if kernel == "chi2" and self.gamma is None else gamma_of(self.gamma, X)
            degree, coef0 = (3 if self.degree is None else self.degree), (1 if self.coef0 is None else self.coef0)
            kernel = kernel_of(kernel, gamma, degree, coef0)
        elif callable(kernel) and self.kernel_params:
            function, params = kernel, self.kernel_params
            return Nystrom(lambda x, z: function(x, z, **params), self.n_components, random_state=self.random_state)
        return Nystrom(kernel, self.n_components, random_state=self.random_state)

    @property
    def components_(self) -> Any:
        return self.model_.landmarks_

    @property
    def component_indices_(self) -> Any:
        return self.model_.landmark_indices_


class RBFSampler(_Lift):
    def __init__(self, *, gamma: Any = 1.0, n_components: int = 100, random_state: Any = None) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def _lift(self, X: Any) -> Any:
        kernel = kernel_of("rbf", gamma_of(self.gamma, X))
        return RandomFourier(kernel, self.n_components, form="offset", random_state=self.random_state)

    @property
    def random_offset_(self) -> Any:
        return self.model_.offsets_

    @property
    def random_weights_(self) -> Any:
        return self.model_.frequencies_


class PolynomialCountSketch(_Lift):
    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0,
        n_components: int = 100,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state

    def _lift(self, X: Any) -> Any:
        kernel = kernel_of("poly", self.gamma, self.degree, self.coef0)
        return Sketch(kernel, self.n_components, random_state=self.random_state)


class PolynomialFeatures(_Lift):
    def __init__(
        self, degree: Any = 2, *, interaction_only: bool = False, include_bias: bool = True, order: str = "C"
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order

    def _lift(self, X: Any) -> Any:
        if not self.interaction_only:
            return Monomials(self.degree, self.include_bias)
        least, most = self.degree if isinstance(self.degree, tuple) else (0, self.degree)
        if not self.include_bias:
            least = max(least, 1)
        elif least == 1:
            least = 0
        elif least > 1:
            raise NotImplementedError("a bias beside products of at least so many columns")
        return Subsets(most, least)

    @property
    def n_output_features_(self) -> int:
        return int(self.model_._n_features_out)


APPROXIMATIONS = (Nystroem, RBFSampler, PolynomialCountSketch)
FILES = {
    "sklearn.tests.test_kernel_approximation": {
        f"sklearn.kernel_approximation:{each.__name__}": each for each in APPROXIMATIONS
    },
    "sklearn.preprocessing.tests.test_polynomial": {"sklearn.preprocessing:PolynomialFeatures": PolynomialFeatures},
}
