"""The support vectors of an SVM, and its weights of features where the kernel has finitely many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import on_host
from mercer.kernels import Linear
from mercer.learners.data.views import TableView
from mercer.learners.streaming.basis import LandmarkBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.learners.streaming.weights import NO_DIGITS, feature_weights
from mercer.learners.svm.model import Model

Array = NDArray[np.float64]


def vectors(model: Model, columns: int) -> Any:
    """(support, columns): the rows of the support, sparse where they are; (0, 0) where the kernel is precomputed."""
    if model.predictor is None:
        return np.empty((0, columns))
    view = getattr(model.predictor, "view", None)
    if view is None:
        raise AttributeError("support_vectors_: an SVM on landmarks keeps no rows; X[model.support_] has them")
    if not isinstance(view, TableView):
        return np.empty((0, 0))
    if view.kernel is not None and view.kernel.kinds:
        raise AttributeError("support_vectors_: rows of strings, graphs or categories; X[model.support_] has them")
    values: Any = view.points.values
    return on_host(values).copy()


def weights(model: Model, kernel: Any, columns: int) -> Array:
    """(functions, features): f(x) = weights . phi(x) with the finite lift of the kernel; an AttributeError without."""
    if model.predictor is not None:
        return feature_weights(model.predictor).T
    if not isinstance(kernel, Linear):
        raise AttributeError("coef_: there are no support vectors")
    return np.zeros((len(model.biases), columns))


def squared_lengths(model: Model) -> Array:
    """(functions,): |f|^2, which is a'Ka in the coefficients of rows and |w|^2 in weights of features."""
    predictor = model.predictor
    if predictor is None:
        return np.zeros(len(model.biases))
    if isinstance(predictor, ByDuals):
        a, view = predictor.duals, predictor.view
        squares = (a * view.times(a)).sum(axis=0)
        sizes = np.sqrt(np.maximum(view.operator().diagonal(), 0.0)) @ np.abs(a)
        return np.where(squares <= NO_DIGITS * sizes**2, 0.0, squares)
    if isinstance(predictor, ByBasis) and isinstance(predictor.basis, LandmarkBasis):
        return np.asarray(((predictor.basis.factor @ predictor.weights) ** 2).sum(axis=0))  # k(L, L) = R'R
    if isinstance(predictor, ByBasis | ByFeatures):
        return np.asarray((predictor.weights**2).sum(axis=0))
    raise AttributeError("margin_: the length of the functions is not known")
