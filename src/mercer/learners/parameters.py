"""Checks of parameters that several learners share: the value as Python has it, or one clear error."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import InputError, message
from mercer.lifts.inputs import shown

LOO = "loo"
"""The word for a lengthscale that is chosen by leave-one-out errors."""


def positive_float(name: str, given: Any, remedy: str, infinite: bool = False) -> float:
    """A positive number; finite, unless it may be infinite."""
    if is_number(given) and given > 0 and (given < np.inf or infinite):
        return float(given)
    needs = f"a positive {'' if infinite else 'finite '}number for {name}"
    raise InputError(message(needs, f"got {shown(given)}", remedy))


def non_negative_float(name: str, given: Any, remedy: str) -> float:
    """A finite number that is not negative."""
    if is_number(given) and 0 <= given < np.inf:
        return float(given)
    raise InputError(message(f"a finite number of at least 0 for {name}", f"got {shown(given)}", remedy))


def positive_int(name: str, given: Any, remedy: str) -> int:
    """A positive integer."""
    if _is_positive_int(given):
        return int(given)
    raise InputError(message(f"a positive integer for {name}", f"got {shown(given)}", remedy))


def positive_int_or_none(name: str, given: Any, remedy: str = "Use None, the default.") -> int | None:
    """A positive integer, or None."""
    if given is None or _is_positive_int(given):
        return None if given is None else int(given)
    raise InputError(message(f"a positive integer, or None, for {name}", f"got {shown(given)}", remedy))


def boolean(name: str, given: Any, remedy: str) -> bool:
    """True or False."""
    if isinstance(given, bool | np.bool_):
        return bool(given)
    raise InputError(message(f"True or False for {name}", f"got {shown(given)}", remedy))


def method_of(given: Any, *methods: str) -> str:
    """One of the methods of a learner, by its name."""
    if isinstance(given, str) and given in methods:
        return given
    first, last = ", ".join(f'"{name}"' for name in methods[:-1]), f'"{methods[-1]}"'
    raise InputError(message(f"method that is {first} or {last}", f"got {shown(given)}", 'Use "auto", the default.'))


def refuse_loo(lengthscale: Any, got: str, remedy: str) -> None:
    """Only least squares has leave-one-out errors of all lengthscales."""
    if isinstance(lengthscale, str) and lengthscale == LOO:
        raise InputError(message('a lengthscale that is "median" or a number', got, remedy))


def is_number(given: Any) -> bool:
    """Whether it is an integer or a float, of Python or NumPy; True and False are none."""
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)


def _is_positive_int(given: Any) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool) and bool(given >= 1)
