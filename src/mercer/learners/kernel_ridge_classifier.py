"""Classification by kernel ridge regression on labels of -1 and +1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from mercer.errors import InputError, sentence
from mercer.kernels import Kernel
from mercer.learners.assembly import Problem
from mercer.learners.kernel_ridge import DEFAULT
from mercer.learners.least_squares import LeastSquares
from mercer.learners.reading import weights_of
from mercer.lifts.base import Lift
from mercer.solvers import Solver


class KernelRidgeClassifier(ClassifierMixin, LeastSquares):  # type: ignore[misc]  # scikit-learn has no types
    """Least squares on labels: kernel ridge regression of +1 for a class and -1 for the others, and the largest wins.

    Two classes take one regression, more classes take one each; all share one decomposition. Where alpha or the
    lengthscale is chosen, it is by the labels that leave-one-out gets wrong, weighted, and among equals by the squared
    error. For costs, parameters and attributes see `KernelRidge`; further ones are

    Parameters
    ----------
    kernel, alpha, lengthscale, fit_intercept, solver : as in `KernelRidge`; an array of alphas holds candidates
    class_weight : how much rows of each class weigh, as a dict or "balanced" (n / (classes * rows of the class)); None
        for one

    Attributes
    ----------
    classes_ : the labels, sorted

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeClassifier
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), np.repeat(["inner", "outer"], 50)
    >>> KernelRidgeClassifier().fit(X, y).predict([[0.5, 0.0], [0.0, -2.8]])
    array(['inner', 'outer'], dtype='<U5')

    References
    ----------
    Rifkin, Yeo and Poggio, Regularized least-squares classification (2003).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | str = DEFAULT,
        *,
        alpha: float | ArrayLike | str = "auto",
        lengthscale: float | str = "median",
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        solver: Solver | str = "auto",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.lengthscale = lengthscale
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model; `sample_weight` says how often each row counts."""
        who = type(self).__name__
        rows = self._read(X, reset=True)
        labels = self._labels(X, y)
        weights = weights_of(who, sample_weight, len(labels))
        counted = labels if weights is None else labels[weights > 0]
        self.classes_ = np.unique(counted)
        if len(self.classes_) < 2:
            came = f"there is one class, {self.classes_[0]!r}"
            raise InputError(sentence(who, "two classes or more", came, "Check y, or how the rows were selected."))
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, labels)
            weights = by_class if weights is None else weights * by_class
        classes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        self._learn(rows, Problem(X, self._coded(classes), weights, flat=False, labels=classes))
        return self

    def _labels(self, X: Any, y: Any) -> NDArray[Any]:
        if y is None:
            name = type(self).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        return np.asarray(labels)

    def _coded(self, classes: NDArray[np.intp]) -> NDArray[np.float64]:
        """+1 for a class and -1 for the others: one column for two classes, else one a class."""
        if len(self.classes_) == 2:
            return np.where(classes == 1, 1.0, -1.0)[:, None]
        return np.where(classes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """The regression's value: for two classes one a row, positive for the second; else one a row and class."""
        values, _ = self._predict(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each row."""
        values, _ = self._predict(X)
        found = (values[:, 0] > 0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[found])
