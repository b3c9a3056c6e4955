"""Reading strings: str, bytes, or lists of tokens, and one of these three per column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.errors import InputError, message

NEEDS = "strings (str, bytes, or lists of tokens)"


def items_of(things: Sequence[Any]) -> tuple[Any, ...]:
    """The strings of a column as str, as bytes, or as tuples of tokens; an error names the first bad row."""
    kinds = set(map(type, things))
    if kinds in ({str}, {bytes}):
        return tuple(things)
    items = tuple(_item(row, thing) for row, thing in enumerate(things))
    kind = type_of(items)
    if kind is tuple:
        _check_tokens(items)
    return items


def type_of(items: tuple[Any, ...], kernel: object = None) -> type:
    """The one type that all of them have."""
    kinds = list(map(type, items))
    row = next((row for row, kind in enumerate(kinds) if kind is not kinds[0]), None)
    if row is None:
        return kinds[0]
    got = f"row 0 holds {_called(kinds[0])} and row {row} holds {_called(kinds[row])}"
    raise InputError(message("strings of one type", got, "Convert the column.", subject=kernel))


def _item(row: int, thing: Any) -> str | bytes | tuple[Any, ...]:
    if isinstance(thing, str):
        return str.__str__(thing)  # of NumPy's own strings, say, the plain one
    if isinstance(thing, bytes | bytearray):
        return bytes(thing)
    if isinstance(thing, list | tuple):
        return tuple(thing)
    if isinstance(thing, np.ndarray) and thing.ndim == 1:  # a column of lists, as pandas reads it from Parquet
        return tuple(thing.tolist())
    missing = thing is None or _unequal(thing) or repr(thing) in ("NaT", "<NA>")  # the latter two of pandas
    remedy = "Replace missing strings by ''." if missing else "Convert the column, with str() say."
    raise InputError(message(NEEDS, f"row {row} holds {thing!r}", remedy))


def _check_tokens(items: tuple[Any, ...]) -> None:
    """Tokens are told apart as the keys of a dictionary are: refuse those that cannot be."""
    try:
        tokens = set().union(*items)
    except TypeError:
        tokens = None
    if tokens is None or any(_unequal(token) for token in tokens):
        row, token = next((row, token) for row, item in enumerate(items) for token in item if not _usable(token))
        got = f"row {row} holds the token {token!r}"
        raise InputError(message("tokens that can be compared and hashed", got, "Use words or numbers."))


def _usable(token: Any) -> bool:
    try:
        hash(token)
    except TypeError:
        return False
    return not _unequal(token)


def _unequal(token: Any) -> bool:
    """Whether it is NaN, which no other token equals."""
    return isinstance(token, float) and token != token


def _called(kind: type) -> str:
    return "a list of tokens" if kind is tuple else f"{kind.__name__}"
