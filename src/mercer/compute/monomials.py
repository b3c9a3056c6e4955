"""Products of columns: every monomial of a list, for every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def monomials(X: NDArray[Any], factors: NDArray[np.intp]) -> NDArray[Any]:
    """The product of the columns that each row of `factors` names, for each row of X; -1 names no column."""
    wide = np.concatenate([np.ones((len(X), 1), X.dtype), X], axis=1)
    result = np.ones((len(X), len(factors)), X.dtype)
    for place in range(factors.shape[1]):
        result *= wide[:, factors[:, place] + 1]
    return result
