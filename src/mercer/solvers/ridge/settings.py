"""What settings of solvers may be."""

from __future__ import annotations

import math
import numbers
from typing import Any


def finite(value: Any) -> bool:
    """Whether it is a real number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def whole(value: Any) -> bool:
    """Whether it is an integer."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
