"""Reading labels: texts, numbers and booleans become texts, and all forms of missing become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from mercer.errors import InputError, message

Label = str | None
"""A label as its text; None where the entry is missing."""
MISSING: Label = None
NOTHING = ("NoneType", "NAType", "NaTType")
"""How the types are called whose entries are missing: that of None, and those of pandas."""
DAY = np.timedelta64(1, "D")
MAX_EXACT_FLOAT = 2.0**53
"""Up to here each integer is a float of its own."""

Reader = tuple[str, Callable[[Any], Label]]
"""What values of a type are, and how one becomes a text."""


def items_of(things: Sequence[Any]) -> tuple[Label, ...]:
    """The text of each label; MISSING for None, NaN, NaT and pandas' NA. Cost: one pass.

    An integer has the same text whatever its type, since a table with missing entries keeps its integers as
    floats. Labels of one column must be of one kind: texts, numbers or booleans.

    >>> items_of(["a", None, "b"]), items_of([1, 2.0, float("nan"), 0.5])
    (('a', None, 'b'), ('1', '2', None, '0.5'))
    """
    types = set(map(type, things))
    if types == {str}:
        return tuple(things)
    readers = {kind: reader for kind in types if (reader := _reader(kind)) is not None}
    if len(readers) < len(types):
        row = next(i for i, thing in enumerate(things) if type(thing) not in readers)
        got = f"row {row} holds {things[row]!r:.60} of type {type(things[row]).__name__}"
        raise InputError(message("labels", got, "Give texts, integers or booleans, or convert with str()."))
    labels = tuple(readers[type(thing)][1](thing) for thing in things)
    if len({name for name, _ in readers.values()} - {"missing"}) > 1:
        _refuse_mixed(things, labels, readers)
    return labels


def _reader(kind: type) -> Reader | None:
    """How values of a type are read; None where they are not labels."""
    if kind.__name__ in NOTHING:
        return "missing", lambda _: MISSING
    if issubclass(kind, str):
        return "texts", str
    if issubclass(kind, bool | np.bool_):
        return "booleans", lambda thing: str(bool(thing))
    if issubclass(kind, timedelta | np.timedelta64):  # a duration is its days, as for kernels of numbers
        return "numbers", lambda thing: _text_of_float(thing / DAY)
    if issubclass(kind, int | np.integer):
        return "numbers", lambda thing: str(int(thing))
    return ("numbers", _text_of_float) if issubclass(kind, float | np.floating) else None


def _text_of_float(thing: Any) -> Label:
    value = float(thing)
    if math.isnan(value):
        return MISSING
    return str(int(value)) if value.is_integer() and abs(value) <= MAX_EXACT_FLOAT else repr(value)


def _refuse_mixed(things: Sequence[Any], labels: Sequence[Label], readers: dict[type, Reader]) -> None:
    """Refuse a column whose labels are of several kinds; what is missing is of none."""
    first: dict[str, int] = {}
    for row, (thing, label) in enumerate(zip(things, labels, strict=True)):
        if label is not MISSING:
            first.setdefault(readers[type(thing)][0], row)
    if len(first) > 1:
        (one, i), (other, j), *_ = first.items()
        got = f"there are {one} and {other}: row {i} holds {things[i]!r:.60}, and row {j} holds {things[j]!r:.60}"
        raise InputError(message("labels of one kind per column", got, "Convert the whole column with str()."))
