"""How often each label stood in a column of the data: numbers that a kernel keeps, prints and reads back."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError, message
from mercer.kernels.categories.features import KIND
from mercer.kernels.categories.items import MISSING, Label
from mercer.kernels.points import Points

Share = tuple[str, float] | tuple[float]
"""A label and its share of the rows; a number alone is the share of missing entries."""
Shares = tuple[tuple[Share, ...], ...]
"""Those of each column."""
MAX_EXCESS = 1e-6
"""By how much shares may exceed one together."""


def check_shares(owner: str, name: str, value: Any) -> Shares:
    """For each column pairs of a label and its share; empty where nothing was counted yet."""
    try:
        columns = tuple(tuple(_share(*pair) for pair in column) for column in value)
    except (TypeError, ValueError) as error:
        needs, remedy = f"pairs of a label and its share for {name}, a list per column", "Leave it to resolve()."
        raise KernelError(message(needs, f"got {value!r:.60}", remedy, subject=owner)) from error
    for column in columns:
        if sum(pair[-1] for pair in column) > 1 + MAX_EXCESS or len({pair[:-1] for pair in column}) < len(column):
            needs = f"different labels for {name}, whose shares add up to one"
            raise KernelError(message(needs, f"got {column!r:.60}", "Leave it to resolve().", subject=owner))
    return columns


def _share(*pair: Any) -> Share:
    *label, share = pair
    if not all(isinstance(text, str) for text in label) or len(label) > 1 or isinstance(share, str | bool):
        raise ValueError(pair)
    if not 0 <= float(share) <= 1 + MAX_EXCESS:
        raise ValueError(pair)
    return (*label, float(share))


def text_of(value: Any) -> str:
    """Nested tuples as nested lists, which texts of kernels can hold."""
    return f"[{', '.join(map(text_of, value))}]" if isinstance(value, tuple) else repr(value)


def by_label(column: tuple[Share, ...]) -> dict[Label, float]:
    """The shares of a column by label; that of missing entries under MISSING."""
    return {(pair[0] if len(pair) > 1 else MISSING): pair[-1] for pair in column}


def counted(kernel: str, points: Points, weights: NDArray[np.float64], with_missing: bool) -> Shares:
    """The shares of the labels in each column, sorted; rows count as their weights say.

    with_missing : whether a missing entry is a label of its own; else shares are those of the entries that are there
    """
    return tuple(_counted(kernel, points, weights, c, with_missing) for c in range(points.values.shape[1]))


def _counted(
    kernel: str, points: Points, weights: NDArray[np.float64], c: int, with_missing: bool
) -> tuple[Share, ...]:
    column = points.things(c, KIND, subject=kernel)
    found: dict[Label, list[float]] = defaultdict(list)
    for code, weight in zip(column.codes.tolist(), weights.tolist(), strict=True):
        found[column.store.items[code]].append(weight)
    if not with_missing:
        found.pop(MISSING, None)
    # Sums without rounding: the order of rows changes no digit.
    whole = math.fsum(weight for each in found.values() for weight in each)
    known = sorted(label for label in found if label is not None)
    shares: list[Share] = [(label, math.fsum(found[label]) / whole) for label in known]
    return (*shares, (math.fsum(found[MISSING]) / whole,)) if MISSING in found else tuple(shares)
