"""Reading columns of strings, graphs and categories in estimators: scikit-learn reads numbers only."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import points_of_kernel
from mercer.kernels.points import Points
from mercer.lifts.inputs import plain


class HasColumns(Protocol):
    """An estimator that notes the columns of its fit, as scikit-learn does."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]


def noted(estimator: HasColumns, X: Any, kernel: Kernel, reset: bool) -> Points:
    """Columns of structured data as points; their number and names are noted, or compared with those that were."""
    points = points_of_kernel(plain("X", X), kernel)
    width = points.values.shape[1]
    if reset:
        estimator.n_features_in_ = width
        estimator.__dict__.pop("feature_names_in_", None)
        if points.names is not None:
            estimator.feature_names_in_ = np.asarray(points.names, dtype=object)
        return points
    known = tuple(getattr(estimator, "feature_names_in_", ()))
    if width != estimator.n_features_in_ or (known and points.names is not None and known != points.names):
        got = f"got {width}" if width != estimator.n_features_in_ else f"got {list(points.names or ())}"
        expected = list(known) if known else estimator.n_features_in_
        raise InputError(message(f"the columns of the fit, {expected}", got, "Select the same columns."))
    return points
