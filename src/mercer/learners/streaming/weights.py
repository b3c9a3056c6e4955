"""From coefficients of rows to weights of features: w = sum_j a_j phi(x_j), where the kernel has a finite lift."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.kernels import Linear
from mercer.learners.data.views import EPS, KernelView, View, blocks
from mercer.learners.streaming.basis import FeatureBasis, LandmarkBasis, LiftBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures, Predictor

Array = NDArray[np.float64]
NO_DIGITS = 4 * EPS
"""The part of the sizes of its terms that rounding alone makes of a sum."""


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
    """sum_j a_j phi(x_j), a block of rows at a time: (features, functions).

    A sum of which rounding leaves no digit is zero: a line that separates nothing has no direction.
    """
    if isinstance(view, KernelView) and isinstance(view.kernel, Linear):  # of sparse rows, too
        values: Any = view.points.values
        return _sums([(values, duals)])
    seen: Any = view.lifted()
    parts = blocks(seen.count, seen.lift.n_features())
    return _sums((seen.chosen(part).features(), duals[part]) for part in parts)


def _sums(parts: Iterable[tuple[Any, Array]]) -> Array:
    found, sizes = (np.sum(terms, axis=0) for terms in zip(*map(_products, parts), strict=True))
    return np.where(np.abs(found) <= NO_DIGITS * sizes, 0.0, found)


def _products(part: tuple[Any, Array]) -> tuple[Array, Array]:
    """Features' coefficients, and the same of their sizes."""
    features, duals = part
    found, sizes = features.T @ duals, abs(features).T @ np.abs(duals)
    return (found.toarray(), sizes.toarray()) if is_sparse(found) else (found, sizes)
