"""Lifts as functions that a backend can make of rows where these are, where a lift is of such a kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.row_functions import MonomialFunctions, RowFunctions, WaveFunctions
from mercer.lifts.base import Lift
from mercer.lifts.concatenation import Concatenation
from mercer.lifts.exact import Exact
from mercer.lifts.expanded import Expanded
from mercer.lifts.expansion import Expansion
from mercer.lifts.fourier import RandomFourier
from mercer.lifts.product import Product
from mercer.lifts.scaled import Scaled

Array = NDArray[np.float64]
MAX_FACTORS = 1 << 22
"""Numbers in a list of monomials: longer ones are walked through by loops."""
MAX_SUMMED = 4
"""Monomials for each feature, at most."""
MAX_VALUE = 1e280
"""Values below it have neither infinities on their way nor a warning of them."""


def row_functions(lift: Lift | None, X: Any) -> RowFunctions | None:
    """The features of a fitted lift on finite float64 rows X; None where the lift computes them itself.

    That is where it is of another kind, and where features might overflow, of which lifts warn.
    """
    if not isinstance(X, np.ndarray) or not len(X) or lift is None or lift.n_features() > MAX_FACTORS:
        return None
    largest = max(float(X.max()), -float(X.min()))
    if isinstance(lift, RandomFourier):
        return _waves(lift, largest)
    if isinstance(lift, Expanded | Exact | Scaled | Concatenation | Product):
        expansion = getattr(lift, "expansion_", None)
        return None if expansion is None else _monomials(expansion, max(1.0, largest))
    return None


def _waves(lift: RandomFourier, largest: float) -> WaveFunctions | None:
    far = (largest + float(np.abs(lift.center_).max())) * lift.n_features_in_
    with np.errstate(over="ignore"):
        longest = float(np.abs(lift.frequencies_).max()) * far
    waves = lift.waves
    return WaveFunctions(waves.frequencies, waves.center, waves.scale, waves.offsets) if longest < MAX_VALUE else None


def _monomials(expansion: Expansion, largest: float) -> MonomialFunctions | None:
    if expansion.size * max(1, expansion.degree) > MAX_FACTORS or expansion.degree == 0:
        return None
    with np.errstate(over="ignore"):
        if not np.float64(largest) ** expansion.degree * max(1.0, expansion.largest) < MAX_VALUE:
            return None
    factors = np.ascontiguousarray(expansion.factors.T[: expansion.degree] + 1, dtype=np.int64)
    weights = expansion.weights
    if weights is not None:
        return MonomialFunctions(factors, np.asarray(weights, dtype=np.float64))
    sums = expansion.coefficients
    if sums.shape[1] > MAX_SUMMED * sums.shape[0] or sums.shape[0] * sums.shape[1] > MAX_FACTORS:
        return None
    return MonomialFunctions(factors, np.ascontiguousarray(sums.toarray().T, dtype=np.float64))
