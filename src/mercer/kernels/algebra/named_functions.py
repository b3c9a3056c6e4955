"""Functions that go by a name inside kernels, in texts and in model files too: a closed table."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainError, InputError, KernelError, message
from mercer.guesses.spelling import nearest
from mercer.kernels.algebra.exp import exp
from mercer.kernels.domain import INTEGERS, NATURALS, NONNEGATIVE, REALS, Domain
from mercer.kernels.points import Points, refuse_objects


@dataclass(frozen=True)
class NamedFunction:
    """A function of a number, which takes each number of a table.

    function : NumPy's function, which kernels hold
    also : what else it goes by
    domain : where it is real for sure
    sign : whether its values are never negative: never, or where x is not
    """

    function: np.ufunc
    also: tuple[Callable[..., Any], ...]
    domain: Domain = REALS
    sign: Literal["nonnegative", "that of x", "any"] = "any"

    def image(self, domain: Domain) -> Domain:
        """A domain that surely holds f(x) for every x of the given one."""
        if self.function is np.abs and domain.within(INTEGERS):
            return NATURALS
        keeps = self.sign == "that of x" and domain.within(NONNEGATIVE)
        return NONNEGATIVE if keeps or self.sign == "nonnegative" else REALS


NAMED = {
    "abs": NamedFunction(np.abs, (builtins.abs, math.fabs, np.fabs), sign="nonnegative"),
    "cos": NamedFunction(np.cos, (math.cos,)),
    "exp": NamedFunction(np.exp, (math.exp, exp), sign="nonnegative"),
    "log1p": NamedFunction(np.log1p, (math.log1p,), NONNEGATIVE, "that of x"),
    "sin": NamedFunction(np.sin, (math.sin,)),
    "sqrt": NamedFunction(np.sqrt, (math.sqrt,), NONNEGATIVE, "nonnegative"),
    "tanh": NamedFunction(np.tanh, (math.tanh,), sign="that of x"),
}
"""Every function that has a name. log1p is real from -1 on; proofs take it from 0 on."""


def named(thing: Any) -> NamedFunction | None:
    """What the table says of a function that a kernel holds; None for all others."""
    return next((each for each in NAMED.values() if each.function is thing), None)


def name_in_table(thing: Any) -> str | None:
    """The name of such a function; None for all others."""
    return next((name for name, each in NAMED.items() if each.function is thing), None)


def function_of(owner: str, needs: str, value: Any) -> Any:
    """The one function of a name, or of what goes by it: "exp", np.exp and math.exp are one; all else as it is."""
    if isinstance(value, str):
        if value not in NAMED:
            remedy = f"{unknown(value)} Any other is given as a Python function, not as a text."
            raise KernelError(message(needs, f"got {value!r}", remedy, subject=owner))
        return NAMED[value].function
    return next((each.function for each in NAMED.values() if any(value is other for other in each.also)), value)


def unknown(name: str) -> str:
    """What is said of a name that no function has."""
    typo = nearest(name, NAMED)
    return f"Did you mean {typo!r}?" if typo else f"Named functions: {', '.join(NAMED)}."


def transformed(owner: str, function: np.ufunc, points: Points) -> NDArray[Any]:
    """f of each number of a table, real and finite; an error names the first number of which it is not."""
    name = name_in_table(function)
    with np.errstate(all="ignore"):  # what is not finite is refused, in words
        found: NDArray[Any] = function(points.values.astype(np.float64))
    bad = ~np.isfinite(found)
    if bad.any():
        row, column = map(int, np.argwhere(bad)[0])
        got = f"{name} of {float(points.values[row, column]):g} is not ({points.label(column)}, row {row})"
        remedy = "Scale the columns." if name == "exp" else "Leave such rows out, or shift the column."
        raise DomainError(message(f"numbers of which {name} is real and finite", got, remedy, subject=owner))
    return np.asarray(function(points.values)) if points.values.dtype == object else found


def weights_of(function: np.ufunc, points: Points) -> NDArray[Any]:
    """f of the only number of each row."""
    refuse_objects(points, subject="weighted")
    d = points.shape[1]
    if d != 1:
        name = name_in_table(function)
        needs, remedy = f"rows of one column for {name}", "Choose the column behind it: k.weighted(f).on(0)."
        raise InputError(message(needs, f"the data has {d}", remedy, subject="weighted"))
    return transformed("weighted", function, points)[:, 0]
