"""Labels in one spelling, and numbers that stand for a missing entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_LETTERS = 3
"""Shorter labels may differ by case alone and mean it: genotypes Aa and AA, units m and M."""
MAX_LABELS = 200
"""Columns of more different labels are not looked at."""
NEGATIVE, POSITIVE = (-99.0, -999.0, -9999.0, -99999.0), (999.0, 9999.0, 99999.0, 999999.0)
"""Numbers that often stand for a missing one."""
CLEARLY = {-1: 1.0, 1: 5.0}
"""How far below or above all others, in their range, such a number clearly stands for a missing one."""
MIN_TOLD_DISTANCE = 0.5
"""How far it must be away to be told."""
MIN_OTHER_VALUES = 5
"""How many different others there must be."""
MIN_MARKED_ROWS = 2
"""How many rows must have such a number."""


def trimmed(column: Any) -> tuple[Any, int]:
    """A column of texts or labels without blanks around entries, empty ones missing; and how many entries changed."""
    from pyarrow import compute, types

    coded = types.is_dictionary(column.type)
    texts = column.cast(column.type.value_type) if coded else column
    bare = compute.utf8_trim_whitespace(texts)
    changed = int(compute.sum(compute.not_equal(bare, texts)).as_py() or 0)
    if not changed:
        return column, 0
    bare = compute.if_else(compute.equal(bare, ""), None, bare)
    return (bare.dictionary_encode() if coded else bare), changed


def spellings_of(column: Any) -> tuple[str, ...]:
    """The most frequent spelling of each label, where some differ by case alone; () where none do.

    Labels must repeat: two rows each, on average, and at most so many different ones.
    """
    from pyarrow import compute

    counts = compute.value_counts(column.drop_null())
    if not 1 < len(counts) <= min(MAX_LABELS, len(column) // 2):
        return ()
    labels = {entry["values"].as_py(): entry["counts"].as_py() for entry in counts}
    groups: dict[str, list[str]] = {}
    for label in sorted(labels, key=lambda label: (-labels[label], label)):
        groups.setdefault(label.casefold() if len(label) >= MIN_LETTERS else label, []).append(label)
    return tuple(group[0] for group in groups.values()) if 1 < len(groups) < len(labels) else ()


def spelt(column: Any, spellings: Sequence[str]) -> Any:
    """A column whose labels are written as in the spellings, where they differ from one of them by case alone."""
    import pyarrow
    from pyarrow import compute, types

    known = {label.casefold(): label for label in spellings if len(label) >= MIN_LETTERS}
    labels = column.unique().drop_null().to_pylist()
    wrong = [label for label in labels if known.get(label.casefold(), label) != label and label not in spellings]
    if not wrong:
        return column
    coded = types.is_dictionary(column.type)
    texts = column.cast(column.type.value_type) if coded else column
    at = compute.index_in(texts, pyarrow.array(wrong, texts.type))
    right = pyarrow.array([known[label.casefold()] for label in wrong], texts.type)
    texts = compute.if_else(compute.is_valid(at), right.take(at.combine_chunks()), texts)
    return texts.dictionary_encode() if coded else texts


def sentinel_of(values: NDArray[np.float64]) -> tuple[float, bool] | None:
    """A number such as -999 that may stand for a missing entry, and whether it clearly does; else None.

    >>> years = np.array([1900.0, 1950, 1980, 1990, 2010, -999, -999])
    >>> sentinel_of(years), sentinel_of(years[:-1]), sentinel_of(np.arange(-999.0, 0))
    ((-999.0, True), None, None)
    """
    known = values[np.isfinite(values)]
    if len(known) <= MIN_OTHER_VALUES:
        return None
    for end, sign, codes in ((known.min(), -1, NEGATIVE), (known.max(), 1, POSITIVE)):
        others = known[known != end]
        if end not in codes or len(known) - len(others) < MIN_MARKED_ROWS or len(others) < len(known) / 2:
            continue
        low, high = others.min(), others.max()
        if len(np.unique(others)) < MIN_OTHER_VALUES or not high > low:
            continue
        away = ((low - end) if sign < 0 else (end - high)) / (high - low)
        if away >= MIN_TOLD_DISTANCE:
            return float(end), bool(away >= CLEARLY[sign])
    return None
