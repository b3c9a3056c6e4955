"""Whether a value is of the type that a field was declared with."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from mercer.planner import Plan

NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (int, float, np.integer, np.floating),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}
"""What stands for a number of Python: NumPy's own may come."""


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type as annotations write it; arrays by their dtype, containers member by member.

    >>> fits((1, 2.5), tuple[float, ...]), fits(True, int), fits(np.zeros(2), np.ndarray[Any, np.dtype[np.float64]])
    (True, False, True)
    """
    if hint is Any:
        return True
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and (hint is bool or not isinstance(value, bool))
    if value_of := getattr(get_origin(hint), "__value__", None):  # NumPy's NDArray is an alias of the newer kind
        return fits(value, value_of[get_args(hint)])
    rule = RULES.get(get_origin(hint))
    return isinstance(value, NoneType if hint is None else hint) if rule is None else rule(value, get_args(hint))


def _union(value: Any, choices: tuple[Any, ...]) -> bool:
    return any(fits(value, choice) for choice in choices)


def _literal(value: Any, choices: tuple[Any, ...]) -> bool:
    return any(type(value) is type(choice) and value == choice for choice in choices)


def _tuple(value: Any, members: tuple[Any, ...]) -> bool:
    if not isinstance(value, tuple):
        return False
    if len(members) == 2 and members[1] is Ellipsis:
        return all(fits(one, members[0]) for one in value)
    return len(value) == len(members) and all(map(fits, value, members))


def _list(value: Any, members: tuple[Any, ...]) -> bool:
    return isinstance(value, list) and all(fits(one, members[0]) for one in value)


def _dict(value: Any, members: tuple[Any, ...]) -> bool:
    return isinstance(value, dict) and all(
        fits(key, members[0]) and fits(one, members[1]) for key, one in value.items()
    )


def _array(value: Any, members: tuple[Any, ...]) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    scalar = get_args(members[1])[0]
    return scalar is Any or np.issubdtype(value.dtype, get_origin(scalar) or scalar)


def _dtype(value: Any, members: tuple[Any, ...]) -> bool:
    return isinstance(value, np.dtype)


def _type(value: Any, members: tuple[Any, ...]) -> bool:
    return isinstance(value, type) and issubclass(value, members[0])


def _plan(value: Any, members: tuple[Any, ...]) -> bool:
    return isinstance(value, Plan) and isinstance(value.details, members[0])


RULES: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    Union: _union,
    UnionType: _union,
    Literal: _literal,
    tuple: _tuple,
    list: _list,
    dict: _dict,
    np.ndarray: _array,
    np.dtype: _dtype,
    type: _type,
    Plan: _plan,
}
