"""The kernel that `kernel="auto"` stands for where there are many rows in few columns: the likeliest Matern kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel, Matern
from mercer.kernels.points import Points
from mercer.learners.data.validation import AUTO
from mercer.learners.ridge.problem import RidgeParameters
from mercer.tuning.nearest import Conditionals

Array = NDArray[np.float64]
MAX_COLUMNS, MEDIAN_ROWS = 3, 20_000
"""Columns, at most; rows among which the median distance is looked for."""
SMOOTHNESSES = 0.5, 1.5, 2.5
"""Those of the kernels that are compared."""


def likely_kernel(
    model: RidgeParameters,
    rows: Any,
    kept: NDArray[np.intp],
    targets: Array,
    weights: Array | None,
    labels: NDArray[np.intp] | None,
) -> Kernel | None:
    """The kernel of largest likelihood, from a sample of rows given those nearest to them; None where nobody looks.

    kept : the positions of rows that count
    targets, weights : of these
    """
    if not isinstance(rows, Points) or rows.sparse or rows.stores or labels is not None:
        return None
    if rows.values.shape[1] > MAX_COLUMNS:
        return None
    given = model.lengthscale, model.solver, model.side
    words = "median", AUTO, AUTO
    if any(not isinstance(one, str) or one != word for one, word in zip(given, words, strict=True)):
        return None
    if model.method not in (AUTO, "fourier_grid"):
        return None
    values = np.asarray(rows.values, dtype=np.float64)
    X = values if len(kept) == len(values) else values[kept]
    random = np.random.default_rng(0)
    sample = Points(X[np.sort(random.choice(len(X), min(len(X), MEDIAN_ROWS), replace=False))])
    counted = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    spread = targets.std(axis=0)
    if not (spread > 0).all() or not np.ptp(sample.values, axis=0).any():
        return None
    known = Conditionals.of(X, targets / spread, counted, bool(model.fit_intercept), random)
    found = [known.stretched(Matern(nu, "median").resolve_points(sample)) for nu in SMOOTHNESSES]
    value, kernel, _ = min(found, key=lambda one: one[0])
    return kernel if np.isfinite(value) else None
