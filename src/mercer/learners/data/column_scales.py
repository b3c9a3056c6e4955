"""Warn about badly scaled columns, which dominate the kernel and slow convergence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import NumericalWarning, caller_level, speaker
from mercer.kernels import Constant, Kernel
from mercer.kernels.evaluation.evaluate import leaves
from mercer.kernels.points import Points

MAX_RELATIVE_WIDTH = 1e4
"""A column that is so many times wider than the median column hides the others."""
MAX_NAMED_COLUMNS = 5
"""Columns that a warning names."""


def warn_of_scales(kernel: Kernel, points: Points) -> None:
    """Warn of columns that hide the others from the kernel; nothing where its own lengths make up for that.

    Cost: two passes over the data for each leaf of the kernel.
    """
    for leaf, inner in leaves(kernel, points):
        if isinstance(leaf, Constant) or len(wide := wild_columns(inner.values)) == 0:
            continue
        names = ", ".join(inner.label(int(i)) for i in wide[:MAX_NAMED_COLUMNS])
        names += ", ..." * (len(wide) > MAX_NAMED_COLUMNS)
        wider = f"more than {MAX_RELATIVE_WIDTH:g} times that of most columns"
        told = f"the spread of {names} is {wider}, and hides these from {leaf}."
        remedy = "Scale the columns first, with sklearn.preprocessing.StandardScaler, say."
        warnings.warn(f"{speaker()}: {told} {remedy}", NumericalWarning, stacklevel=caller_level())
        return


def wild_columns(values: Any) -> NDArray[np.intp]:
    """Columns whose spread, the largest number less the smallest, is above `MAX_RELATIVE_WIDTH` times the middle one.

    Constant columns do not count: no kernel of differences sees them. Of an even number the narrower middle one counts.

    >>> wild_columns(np.array([[1.0, 3.0, 7.0, 0.0], [2.0, 3.0, 1e6, 1.0]]))
    array([2])
    """
    highest, lowest = values.max(axis=0), values.min(axis=0)
    if hasattr(highest, "toarray"):
        highest, lowest = highest.toarray().ravel(), lowest.toarray().ravel()
    with np.errstate(over="ignore"):
        spread = np.asarray(highest, dtype=np.float64) - np.asarray(lowest, dtype=np.float64)
    moving = spread[spread > 0]
    moving.sort()
    if len(moving) < 2 or moving[-1] / MAX_RELATIVE_WIDTH <= moving[0]:
        return np.zeros(0, np.intp)
    middle = moving[(len(moving) - 1) // 2]
    return np.flatnonzero(spread / MAX_RELATIVE_WIDTH > middle)
