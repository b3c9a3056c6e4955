"""What a kernel's numbers may be: one declaration a field, checked when the kernel is built."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import field
from typing import Any

from mercer.errors import KernelError, sentence

Check = Callable[[str, str, Any], Any]
"""Takes the owner's name, the field's name and the value; gives the value to keep or raises."""

MEDIAN = "median"
"""The one open number: to be found from data by `kernel.resolve(X)`."""


def length(*, default: float | str) -> Any:
    """A positive number, or "median": the median distance of the data, found by `resolve`."""
    return field(default=default, metadata={"check": check_length})


def positive(*, default: float) -> Any:
    """A number above zero."""
    return field(default=default, metadata={"check": check_positive})


def nonnegative(*, default: float) -> Any:
    """A number of at least zero."""
    return field(default=default, metadata={"check": check_nonnegative})


def number(*, default: float) -> Any:
    """Any finite number."""
    return field(default=default, metadata={"check": check_number})


def whole(*, default: int, least: int = 0, most: int | None = None) -> Any:
    """A whole number from `least` to `most`."""

    def check(owner: str, name: str, value: Any) -> int:
        return check_whole(owner, name, value, least, most)

    return field(default=default, metadata={"check": check})


def check_number(owner: str, name: str, value: Any) -> float:
    """The value as a finite float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise KernelError(sentence(owner, f"a number for {name}", f"got {value!r}", "Give a finite number."))
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise KernelError(sentence(owner, f"a finite number for {name}", f"got {value!r}", "Give a finite number."))
    return number


def check_positive(owner: str, name: str, value: Any) -> float:
    """The value as a float above zero."""
    checked = check_number(owner, name, value)
    if checked <= 0:
        raise KernelError(sentence(owner, f"{name} above zero", f"got {value!r}", "Give a number above zero."))
    return checked


def check_nonnegative(owner: str, name: str, value: Any) -> float:
    """The value as a float of at least zero."""
    checked = check_number(owner, name, value)
    if checked < 0:
        raise KernelError(
            sentence(owner, f"{name} of at least zero", f"got {value!r}", "Give zero or a number above it.")
        )
    return abs(checked)  # -0.0 would be written with its sign, which texts refuse


def check_length(owner: str, name: str, value: Any) -> float | str:
    """The value as a float above zero, or the word "median"."""
    if isinstance(value, str):
        if value != MEDIAN:
            raise KernelError(sentence(owner, f'{name} above zero or "median"', f"got {value!r}", 'Write "median".'))
        return MEDIAN
    return check_positive(owner, name, value)


def check_one_of(owner: str, name: str, value: Any, words: tuple[str, ...]) -> str:
    """One of some words, as it stands there."""
    if not isinstance(value, str) or value not in words:
        needs = f"one of {', '.join(map(repr, words))} for {name}"
        raise KernelError(sentence(owner, needs, f"got {value!r}", f"Use {words[0]!r}, say."))
    return words[words.index(value)]


def check_undeclared(owner: str, name: str, value: Any) -> Any:
    """The rule for a field that a user-made kernel declares plainly, as in ``lengthscale: float = 1.0``."""
    if name == "lengthscale":
        return check_length(owner, name, value)
    return check_number(owner, name, value) if isinstance(value, float) else value


def check_whole(owner: str, name: str, value: Any, least: int, most: int | None) -> int:
    """The value as an int within its bounds."""
    checked = check_number(owner, name, value)
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    if checked != int(checked) or checked < least or (most is not None and checked > most):
        raise KernelError(
            sentence(owner, f"a whole number {bounds} for {name}", f"got {value!r}", "Give such a number.")
        )
    return int(checked)
