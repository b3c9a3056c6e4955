"""The support vectors of an SVM, and its weights of features where the kernel has finitely many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.kernels import Linear
from mercer.learners.data.views import KernelView, TableView, View, blocks
from mercer.learners.streaming.basis import FeatureBasis, LandmarkBasis, LiftBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
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
    return values.copy()


def weights(model: Model, kernel: Any, columns: int) -> Array:
    """(functions, features): f(x) = weights . phi(x) with the finite lift of the kernel; an AttributeError without."""
    predictor = model.predictor
    if predictor is None:
        if not isinstance(kernel, Linear):
            raise AttributeError("coef_: there are no support vectors")
        return np.zeros((len(model.biases), columns))
    if isinstance(predictor, ByFeatures):
        return np.asarray(predictor.weights.T)
    if isinstance(predictor, ByDuals):
        return _lifted(predictor.view, predictor.duals)
    if isinstance(predictor, ByBasis):
        return _of_basis(predictor)
    raise AttributeError("coef_: the functions are not linear in features")


def _of_basis(predictor: ByBasis) -> Array:
    basis, found = predictor.basis, predictor.weights
    if isinstance(basis, FeatureBasis):  # features as raw functions
        found = basis.inner.to_raw(found)
        basis = basis.inner
    if isinstance(basis, LiftBasis):
        return np.asarray(found.T)
    if isinstance(basis, LandmarkBasis):
        return _lifted(KernelView(basis.landmarks, basis.kernel), found)
    raise AttributeError("coef_: the functions are not linear in features")


def _lifted(view: View, duals: Array) -> Array:
    """sum_j a_j phi(x_j), a block of rows at a time."""
    if isinstance(view, KernelView) and isinstance(view.kernel, Linear):  # of sparse rows, too
        values: Any = view.points.values
        found = values.T @ duals
        return np.asarray(found.toarray() if is_sparse(found) else found).T
    lifted = view.lifted()
    parts = blocks(lifted.count, lifted.most_features or 1)
    return np.asarray(np.sum([lifted.chosen(part).features().T @ duals[part] for part in parts], axis=0)).T
