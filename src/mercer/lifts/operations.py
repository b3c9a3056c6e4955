"""What Python's operators do with lifts, and what they refuse."""

from __future__ import annotations

import numbers

from mercer.errors import InputError, message
from mercer.lifts.base import Lift
from mercer.lifts.concatenation import Concatenation
from mercer.lifts.product import Product
from mercer.lifts.scaled import Scaled


def add(left: Lift, right: object) -> Lift:
    """The features of both, side by side."""
    if not isinstance(right, Lift):
        raise InputError(message("another lift in a sum", f"got {right!r}", "Give a lift.", subject="A lift"))
    return Concatenation(left, right)


def multiply(left: Lift, right: object) -> Lift:
    """All products of features of both; a number scales the features."""
    if isinstance(right, Lift):
        return Product(left, right)
    if isinstance(right, numbers.Real) and not isinstance(right, bool):
        return Scaled(left, right)  # type: ignore[arg-type]  # a real number, which fit will check
    raise InputError(
        message("a lift or a number in a product", f"got {right!r}", "Give one of these.", subject="A lift")
    )
