"""What must hold between the fields of an object, beyond their types: shapes that agree, positions that exist.

Compiled loops and sparse products of SciPy do not look whether a position exists. So each class whose objects model
files hold answers `_inconsistency`: what is wrong with one that was made of the fields of a file, "" where nothing is.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

MAX_COLUMNS = 1 << 31


def shapes(*pairs: tuple[NDArray[Any], tuple[int | None, ...]]) -> str:
    """Whether arrays have the shapes that they are to have; None stands for any size.

    >>> import numpy as np
    >>> shapes((np.eye(2), (2, None)), (np.ones(3), (2,)))
    'an array of shape (3,) stands where (2,) is due'
    """
    for array, shape in pairs:
        sizes = zip(array.shape, shape, strict=False)
        if array.ndim != len(shape) or any(due is not None and size != due for size, due in sizes):
            return f"an array of shape {array.shape} stands where {shape} is due"
    return ""


def within(array: NDArray[Any], low: int, high: int) -> bool:
    """Whether all numbers lie from `low` to below `high`."""
    return not array.size or bool(low <= array.min() and array.max() < high)
