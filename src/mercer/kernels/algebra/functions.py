"""Functions of Python inside kernels: what they are called with, and what may come back."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainError, InputError, message
from mercer.kernels.algebra.named_functions import name_in_table, named
from mercer.kernels.domain import Domain
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import Precise

Function = Callable[[Any], Any]


class Formula(ABC):
    """A function of rows that is written as a formula: its text reads back to an equal one."""

    @abstractmethod
    def __call__(self, X: NDArray[Any]) -> NDArray[Any]:
        """One number per row."""

    @abstractmethod
    def text(self, columns: Sequence[str]) -> str:
        """The formula with names for the columns."""

    @abstractmethod
    def latex(self, x: str = "x") -> str:
        """The formula in LaTeX."""

    @abstractmethod
    def gap(self, domain: Domain, d: int | None) -> str | None:
        """A point of the domain, as a text, at which the formula is no real number; None where none is seen."""

    @property
    @abstractmethod
    def width(self) -> int | None:
        """The number of columns that it insists on."""

    @property
    @abstractmethod
    def least_width(self) -> int:
        """The least number of columns that it can take."""


def name_of(thing: Any) -> str:
    """How a text calls a function or a lift: by its name, letters only; a formula as it is written."""
    if isinstance(thing, Formula):
        return str(thing)
    if (known := name_in_table(thing)) is not None:
        return known
    if getattr(thing, "__name__", "") == "__call__":  # of an object that is called
        thing = thing.__self__
    name = getattr(thing, "__name__", type(thing).__name__)
    return "".join(letter for letter in name if letter.isalnum() or letter == "_")


def written(thing: Any, python: bool) -> str:
    """A function or a lift in the text of a kernel; a formula, and in Python a named one too, stands in quotes."""
    name = name_of(thing)
    return repr(name) if isinstance(thing, Formula) or (python and named(thing)) else name


def real(owner: str, name: str, values: Any) -> NDArray[Any]:
    """What a function gave, as an array of finite real numbers; an error names the function where it is none.

    Numbers of 50 digits, which only proofs hand to a function, come back as they are.
    """
    array = np.asarray(values)
    needs = f"real, finite numbers from {name}"
    if array.dtype.kind == "c":
        at = np.flatnonzero(array.imag)
        if at.size:
            got = f"{name} gave {array.flat[at[0]]}"
            raise DomainError(message(needs, got, "Return real numbers on all rows.", subject=owner))
        array = array.real
    if array.dtype.kind not in "fiubO" or (array.dtype == object and not _are_numbers(array)):
        first = array.flat[0] if array.size else array
        got = f"{name} gave {first!r:.60} of type {type(first).__name__}"
        raise InputError(message(needs, got, "Return numbers.", subject=owner))
    finite = np.isfinite(array.astype(np.float64))
    if not finite.all():
        got = f"{name} gave {array[~finite].flat[0]}"
        raise DomainError(
            message(needs, got, f"Leave out rows on which {name} is not defined, or change it.", subject=owner)
        )
    return array


def of_each(owner: str, function: Function, points: Points, known: dict[int, float]) -> NDArray[np.float64]:
    """One number per row of structured data: f of the object in the only column, or of the row as a tuple of cells.

    known : what f gave for the objects of the store, by their positions; what is new is added
    """
    store = points.stores[0] if points.shape[1] == 1 else None
    if store is None:
        return np.array([_one(owner, function, row) for row in points.cells()], dtype=np.float64)
    codes = points.values[:, 0].astype(np.intp)
    for code in np.unique(codes).tolist():
        if code not in known:
            known[code] = _one(owner, function, store.items[code])
    return np.array([known[code] for code in codes.tolist()], dtype=np.float64)


def _one(owner: str, function: Function, thing: Any) -> float:
    value = real(owner, name_of(function), function(thing))
    if value.shape != ():
        got = f"{name_of(function)} gave an array of shape {value.shape} for {thing!r:.60}"
        remedy = "On strings, graphs and labels it gets one of them at a time; return a float."
        raise InputError(message(f"one number from {name_of(function)}", got, remedy, subject=owner))
    return float(value)


def _are_numbers(array: NDArray[Any]) -> bool:
    return all(isinstance(item, Precise | numbers.Real) for item in array.flat)
