"""Numbers of 50 digits that NumPy's functions accept, so that one formula serves both precisions.

NumPy applies `np.exp` and its like to an array of objects by calling a method of that name on each of them. `Precise`
has these methods, so a profile that is written with NumPy can be evaluated in high precision too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGITS = 50


@cache
def context() -> Any:
    """Mpmath with a precision of its own: the user's mpmath is left alone, and loading waits for the first use."""
    from mpmath import MPContext

    mp = MPContext()
    mp.dps = DIGITS
    return mp


class Precise:
    """A number of 50 digits; NaN where NumPy gives it, as the root of a negative number, and mpmath a complex one."""

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        mp = context()
        given = value.value if isinstance(value, Precise) else value
        self.value = mp.nan if isinstance(given, mp.mpc) else mp.mpf(given)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"Precise({context().nstr(self.value, 20)})"

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __neg__(self) -> Precise:
        return Precise(-self.value)

    def __abs__(self) -> Precise:
        return Precise(abs(self.value))


def _number(other: Any) -> Any:
    """The other operand as mpmath's number, or None where it is no number."""
    if isinstance(other, Precise):
        return other.value
    if isinstance(other, bool | int | float | np.integer | np.floating):
        return context().mpf(other.item() if isinstance(other, np.generic) else other)
    return None


def _operator(name: str, swapped: bool, wrap: Callable[[Any], Any]) -> Callable[[Precise, Any], Any]:
    def operate(self: Precise, other: Any) -> Any:
        number = _number(other)
        if number is None:
            return NotImplemented
        left, right = (number, self.value) if swapped else (self.value, number)
        if name == "pow" and right and context().isfinite(right) and context().mag(right) > MAX_GROWING:
            return Precise(context().nan)
        return wrap(getattr(left, name)(right))

    return operate


for _name in ("add", "sub", "mul", "truediv", "pow", "mod"):
    setattr(Precise, f"__{_name}__", _operator(f"__{_name}__", False, Precise))
    setattr(Precise, f"__r{_name}__", _operator(f"__{_name}__", True, Precise))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Precise, f"__{_name}__", _operator(f"__{_name}__", False, bool))

FUNCTIONS = {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "sin": "sin", "cos": "cos",
    "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "rint": "nint",
}  # fmt: skip
"""The methods that NumPy's functions look for, and what mpmath calls them."""


PERIODIC = ("cos", "sin", "tan")
GROWING = ("cosh", "exp", "expm1", "sinh")
MAX_PERIODIC, MAX_GROWING = 1100, 40
"""Binary digits before the point up to which sines and exponentials are computed: of more, mpmath takes forever."""


def _function(name: str) -> Callable[[Precise], Precise]:
    def apply_to(self: Precise) -> Precise:
        mp, value = context(), self.value
        if name in PERIODIC and value and mp.isfinite(value) and mp.mag(value) > MAX_PERIODIC:
            return Precise(mp.nan)
        if name in GROWING and value and mp.isfinite(value) and mp.mag(value) > MAX_GROWING:
            value = mp.sign(value) * mp.inf
        return Precise(getattr(mp, name)(value))

    return apply_to


for _name, _theirs in FUNCTIONS.items():
    setattr(Precise, _name, _function(_theirs))
for _name in ("floor", "ceil"):  # NumPy asks Python's math module for these
    setattr(Precise, f"__{_name}__", _function(_name))


def precisely(values: NDArray[Any]) -> NDArray[Any]:
    """An array of floats as an array of exactly equal numbers of 50 digits."""
    with np.errstate(all="ignore"):  # NumPy 1.26 warns of flags that Python code inside raises
        lifted: NDArray[Any] = np.frompyfunc(Precise, 1, 1)(values)
    return np.asarray(lifted, dtype=object)


def apply(formula: Callable[[Any, Any], Any], values: NDArray[Any]) -> NDArray[Any]:
    """formula(mp, number) for each number of an array, mp being mpmath at 50 digits."""
    mp = context()
    # Where NumPy chose between numbers, as np.maximum(u, 0.0) does, some of them may be plain floats.
    each = np.frompyfunc(lambda number: Precise(formula(mp, Precise(number).value)), 1, 1)
    with np.errstate(all="ignore"):  # as above
        return np.asarray(each(values), dtype=object)
