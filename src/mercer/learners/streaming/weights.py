"""From coefficients of rows to weights of features: w = sum_j a_j phi(x_j), where the kernel has a finite lift."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.kernels import Linear
from mercer.learners.data.views import KernelView, View, blocks
from mercer.learners.streaming.basis import FeatureBasis, LandmarkBasis, LiftBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures, Predictor

Array = NDArray[np.float64]


def feature_weights(predictor: Predictor) -> Array:
    """(features, functions): those of the lift that was used or given, else of the finite lift of the kernel.

    An AttributeError where no finite lift is known. Cost: the features of the rows of which f is made.
    """
    if isinstance(predictor, ByFeatures):
        return predictor.weights
    if isinstance(predictor, ByDuals):
        return lifted(predictor.view, predictor.duals)
    if isinstance(predictor, ByBasis):
        return _of_basis(predictor)
    raise AttributeError("coef_: the functions are not linear in features")


def _of_basis(predictor: ByBasis) -> Array:
    basis, found = predictor.basis, predictor.weights
    if isinstance(basis, FeatureBasis):  # features as raw functions
        found = basis.inner.to_raw(found)
        basis = basis.inner
    if isinstance(basis, LiftBasis):
        return found
    if isinstance(basis, LandmarkBasis):
        return lifted(KernelView(basis.landmarks, basis.kernel), found)
    raise AttributeError("coef_: the functions are not linear in features")


def lifted(view: View, duals: Array) -> Array:
    """sum_j a_j phi(x_j), a block of rows at a time: (features, functions)."""
    if isinstance(view, KernelView) and isinstance(view.kernel, Linear):  # of sparse rows, too
        values: Any = view.points.values
        found = values.T @ duals
        return np.asarray(found.toarray() if is_sparse(found) else found)
    seen = view.lifted()
    parts = blocks(seen.count, seen.most_features or 1)
    return np.asarray(np.sum([seen.chosen(part).features().T @ duals[part] for part in parts], axis=0))
