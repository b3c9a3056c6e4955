"""Values that did not fit their type: how they are found, and what is said."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import NumericalWarning, caller_level


def warn_of_overflow(subject: object, dtype: np.dtype[Any]) -> None:
    """Say that some values are infinite."""
    warnings.warn(
        f"{subject} overflows {dtype} on this data: the result holds infinities. "
        "Scale the data down, or normalize the kernel.",
        NumericalWarning,
        stacklevel=caller_level(),
    )


def all_finite(values: NDArray[Any]) -> bool:
    """Whether no number is infinite or NaN, without an array of booleans: a sum that is finite has finite terms."""
    rows = max(1, (1 << 20) // max(1, values[:1].size))
    for start in range(0, len(values), rows):
        block = values[start : start + rows]
        if not np.isfinite(block.sum()) and not np.isfinite(block).all():
            return False
    return True
