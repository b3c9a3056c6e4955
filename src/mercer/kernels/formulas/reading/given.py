"""What the caller gives by name: numbers, vectors and matrices, exactly."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

from mercer.errors import KernelError
from mercer.kernels.formulas.reading.vectors import MAX_ENTRIES, Matrix, Value, Vector
from mercer.kernels.formulas.tree import Number


def value_of(name: str, given: Any) -> Value:
    """A number, a vector or a matrix that was given by name."""
    if isinstance(given, numbers.Real) and not isinstance(given, bool):
        return _number(name, given)
    rows = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(rows, numbers.Real):
        return _number(name, rows)
    if isinstance(rows, list | tuple) and 1 <= len(rows) <= MAX_ENTRIES:
        if all(isinstance(row, numbers.Real) for row in rows):
            return Vector(entries=tuple(_number(name, each) for each in rows))
        if all(isinstance(row, list | tuple) and 1 <= len(row) == len(rows[0]) <= MAX_ENTRIES for row in rows):
            return Matrix(tuple(tuple(_number(name, each) for each in row) for row in rows))
    raise KernelError(
        f"A formula needs a number, a vector or a matrix of at most {MAX_ENTRIES} rows for {name!r}; got {given!r:.60}."
    )


def _number(name: str, given: Any) -> Number:
    if isinstance(given, numbers.Rational):
        return Number(Fraction(given))
    if isinstance(given, numbers.Real) and math.isfinite(given):
        return Number(Fraction(float(given)))
    raise KernelError(f"A formula needs finite numbers for {name!r}; got {given!r:.60}.")
