"""What a kernel's numbers may be: one declaration per field, checked when the kernel is built."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import field
from typing import Any

from mercer.errors import KernelError, message

Check = Callable[[str, str, Any], Any]
"""Takes the owner's name, the field's name and the value; gives the value to keep or raises."""

MEDIAN = "median"
"""The one open number: to be found from data by `kernel.resolve(X)`."""


def length(*, default: float | str) -> Any:
    """Declare a field that holds a lengthscale: a positive number, or "median".

    Parameters
    ----------
    default : float or "median"
        The value where none is given; "median" is replaced by the median distance of the data (`kernel.resolve`).

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian("median").resolve([[0.0], [3.0]])  # its field is length(default=1.0)
    Gaussian(lengthscale=3.0)
    """
    return field(default=default, metadata={"check": check_length})


def positive(*, default: float) -> Any:
    """Declare a field that holds a positive number.

    Parameters
    ----------
    default : float
        The value where none is given.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from mercer.kernels import Periodic
    >>> Periodic(period=7)  # its field is positive(default=1.0)
    Periodic(period=7.0, lengthscale=1.0)
    """
    return field(default=default, metadata={"check": check_positive})


def nonnegative(*, default: float) -> Any:
    """Declare a field that holds a number of at least zero.

    Parameters
    ----------
    default : float
        The value where none is given.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(2, offset=0)  # its field is nonnegative(default=1.0)
    Polynomial(degree=2, offset=0.0)
    """
    return field(default=default, metadata={"check": check_nonnegative})


def number(*, default: float) -> Any:
    """Declare a field that holds any finite number.

    Parameters
    ----------
    default : float
        The value where none is given.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid(offset=-1)  # its field is number(default=0.0)
    Sigmoid(slope=1.0, offset=-1.0)
    """
    return field(default=default, metadata={"check": check_number})


def integer(*, default: int, minimum: int = 0, maximum: int | None = None) -> Any:
    """Declare a field that holds an integer.

    Parameters
    ----------
    default : int
        The value where none is given.
    minimum : int, default=0
        The smallest value.
    maximum : int or None, default=None
        The largest value; None for no bound.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from mercer.kernels import Powers
    >>> Powers(degree=4.0)  # its field is integer(default=3, minimum=1, maximum=10_000)
    Powers(degree=4)
    """

    def check(owner: str, name: str, value: Any) -> int:
        return check_integer(owner, name, value, minimum, maximum)

    return field(default=default, metadata={"check": check})


def check_number(owner: str, name: str, value: Any) -> float:
    """The value as a finite float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise KernelError(message(f"a number for {name}", f"got {value!r}", "Give a finite number.", subject=owner))
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise KernelError(
            message(f"a finite number for {name}", f"got {value!r}", "Give a finite number.", subject=owner)
        )
    return number


def check_positive(owner: str, name: str, value: Any) -> float:
    """The value as a positive float."""
    checked = check_number(owner, name, value)
    if checked <= 0:
        raise KernelError(message(f"a positive {name}", f"got {value!r}", "Give a positive number.", subject=owner))
    return checked


def check_nonnegative(owner: str, name: str, value: Any) -> float:
    """The value as a float of at least zero."""
    checked = check_number(owner, name, value)
    if checked < 0:
        raise KernelError(
            message(f"{name} of at least zero", f"got {value!r}", "Give zero or a number above it.", subject=owner)
        )
    return abs(checked)  # -0.0 would be written with its sign, which texts refuse


def check_length(owner: str, name: str, value: Any) -> float | str:
    """The value as a positive float, or the word "median"."""
    if isinstance(value, str):
        if value != MEDIAN:
            raise KernelError(
                message(f'a positive {name} or "median"', f"got {value!r}", 'Write "median".', subject=owner)
            )
        return MEDIAN
    return check_positive(owner, name, value)


def check_one_of(owner: str, name: str, value: Any, words: tuple[str, ...]) -> str:
    """One of some words, as it stands there."""
    if not isinstance(value, str) or value not in words:
        needs = f"one of {', '.join(map(repr, words))} for {name}"
        raise KernelError(message(needs, f"got {value!r}", f"Use {words[0]!r}, say.", subject=owner))
    return words[words.index(value)]


def check_choice(owner: str, name: str, value: Any) -> bool:
    """True or False; texts write 1 or 0."""
    if isinstance(value, str) or value not in (0, 1):
        raise KernelError(message(f"True or False for {name}", f"got {value!r}", "Texts write 1 or 0.", subject=owner))
    return bool(value)


def check_undeclared(owner: str, name: str, value: Any) -> Any:
    """The rule for a field that a user-made kernel declares plainly, as in ``lengthscale: float = 1.0``."""
    if name == "lengthscale":
        return check_length(owner, name, value)
    return check_number(owner, name, value) if isinstance(value, float) else value


def check_integer(owner: str, name: str, value: Any, minimum: int, maximum: int | None) -> int:
    """The value as an int within its bounds."""
    checked = check_number(owner, name, value)
    bounds = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    if checked != int(checked) or checked < minimum or (maximum is not None and checked > maximum):
        raise KernelError(
            message(f"an integer {bounds} for {name}", f"got {value!r}", "Give such a number.", subject=owner)
        )
    return int(checked)
