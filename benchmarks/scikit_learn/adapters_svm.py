"""scikit-learn's SVC, SVR and OneClassSVM on Mercer's SVMs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from adapter import Adapter, gamma_of, kernel_of
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

import mercer

TIGHTER = 1e-9
"""Of tol: coefficients of two solvers agree to tol alone, and the tests compare them to more digits."""


class _SVM(Adapter):
    """What the three share: kernels by name, and shapes of coefficients."""

    kernel: Any
    degree: Any
    gamma: Any
    coef0: Any
    tol: Any
    max_iter: Any

    def _fitted(self, model: Any, X: Any, *rest: Any) -> Self:
        self.reached()
        X = X if sp.issparse(X) or hasattr(X, "iloc") else np.asarray(X)
        self._sparse = sp.issparse(X)
        if self.kernel == "precomputed" or callable(self.kernel):
            kernel = self.kernel
        else:
            kernel = kernel_of(self.kernel, gamma_of(self.gamma, X), self.degree, self.coef0)
        steps = None if self.max_iter == -1 else self.max_iter
        self.model_ = model.set_params(kernel=kernel, tol=TIGHTER * self.tol, max_iter=steps).fit(X, *rest)
        return self

    @property
    def dual_coef_(self) -> Any:
        """(functions, support) for one function; (classes - 1, support) for pairs, as LIBSVM packs them."""
        found = self._packed(np.atleast_2d(np.asarray(self.model_.dual_coef_).T))
        return sp.csr_array(found) if self._sparse else found

    def _packed(self, coefficients: Any) -> Any:
        return coefficients

    @property
    def intercept_(self) -> Any:
        """An array, also of one function."""
        return np.atleast_1d(self.model_.intercept_)

    @property
    def support_vectors_(self) -> Any:
        """Sparse where the rows were, also where there are none."""
        found = self.model_.support_vectors_
        return sp.csr_array(found) if self._sparse else found

    @property
    def coef_(self) -> Any:
        """Sparse where the rows were, as scikit-learn has it."""
        found = self.model_.coef_
        return sp.csr_array(found) if self._sparse else found

    def predict(self, X: Any) -> Any:
        self.reached()
        check_is_fitted(self)
        return self.model_.predict(X)


class SVC(ClassifierMixin, _SVM):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        names = ("C", "class_weight", "decision_function_shape", "break_ties", "random_state")
        settings = {name: getattr(self, name) for name in names}
        return self._fitted(mercer.KernelSVC(**settings), X, y, sample_weight)

    def _packed(self, coefficients: Any) -> Any:
        count = len(self.classes_)
        if count == 2:
            return coefficients
        order = self._order
        own = np.repeat(np.arange(count), self.model_.n_support_)  # the class of each support vector, in LIBSVM's order
        found, pairs = np.zeros((count - 1, len(order))), iter(range(len(coefficients)))
        for a in range(count):
            for b in range(a + 1, count):
                pair = coefficients[next(pairs)][order]
                found[b - 1, own == a] = pair[own == a]
                found[a, own == b] = pair[own == b]
        return found

    @property
    def _order(self) -> Any:
        """Support vectors class by class, as LIBSVM has them: documented."""
        return np.argsort(self.model_._support_codes, kind="stable")

    def decision_function(self, X: Any) -> Any:
        self.reached()
        return self.model_.decision_function(X)


class SVR(RegressorMixin, _SVM):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        return self._fitted(mercer.KernelSVR(C=self.C, epsilon=self.epsilon), X, y, sample_weight)


class OneClassSVM(OutlierMixin, _SVM):  # type: ignore[misc]  # scikit-learn has no types
    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        return self._fitted(mercer.KernelOneClassSVM(nu=self.nu), X, None, sample_weight)

    def decision_function(self, X: Any) -> Any:
        self.reached()
        return self.model_.decision_function(X)

    def score_samples(self, X: Any) -> Any:
        self.reached()
        return self.model_.score_samples(X)


CLASSES = {"sklearn.svm:SVC": SVC, "sklearn.svm:SVR": SVR, "sklearn.svm:OneClassSVM": OneClassSVM}
FILES = {"sklearn.svm.tests.test_svm": CLASSES, "sklearn.svm.tests.test_sparse": CLASSES}
