"""The values of a formula, on arrays of floats or of numbers of 50 digits: one text of it serves both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.kernels.formulas.tree import (
    GAP,
    ONLY,
    RUN,
    Add,
    Call,
    Column,
    Constant,
    Divide,
    Dot,
    Multiply,
    Negative,
    Node,
    Norm,
    Number,
    Over,
    Power,
    X,
    Z,
)
from mercer.kernels.precision.mpmath_arrays import Precise, context

Values = Any
"""A number, or an array of floats, or of numbers of 50 digits."""


def arccos(u: Any) -> Any:
    """The angle of a cosine, which rounding may have moved beyond 1."""
    if not (isinstance(u, Precise) or np.asarray(u).dtype.kind == "O"):
        return np.arccos(np.clip(u, -1.0, 1.0))
    mp = context()
    angles = [Precise(mp.acos(min(max(mp.mpf(each.value), -1), 1))) for each in np.atleast_1d(u).ravel()]
    return np.array(angles, dtype=object).reshape(np.shape(u)) if np.ndim(u) else angles[0]


OF_ONE: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs, "arccos": arccos, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "log": np.log,
    "log1p": np.log1p, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
"""NumPy's functions by their names here."""
FUNCTIONS = frozenset({*OF_ONE, "max", "min", "sinc"})
"""All that have values; others a formula only names."""


def _running(k: int | None) -> int:
    if k is None:  # the reader makes no such tree
        raise InputError(message("a sum over columns", "a running column stands alone", "Use x1.", subject="A formula"))
    return k


class Evaluator:
    """Walks a formula.

    columns : what a column of a point holds, as an array
    width : how many columns there are
    places : names of columns
    exactly : whether numbers are of 50 digits
    dot, distance : <x, z> and |x - z|, where they are had in a better way than by their columns
    """

    def __init__(
        self,
        columns: Callable[[int, int], Values],
        width: int,
        places: Sequence[str] = (),
        exactly: bool = False,
        dot: Callable[[], Values] | None = None,
        squared_distance: Callable[[], Values] | None = None,
    ) -> None:
        self.columns, self.width, self.places, self.exactly = columns, width, places, exactly
        self.dot, self.squared_distance = dot, squared_distance

    def value(self, node: Node, k: int | None = None) -> Values:
        """The values of a formula; k is the running column."""
        return _BY_TYPE[type(node)](self, node, k)

    def number(self, node: Number, k: int | None) -> Values:
        if self.exactly:
            return _exactly(node.value)
        try:
            return float(node.value)
        except OverflowError:  # what comes of it is refused, in words
            return math.copysign(math.inf, node.value)

    def constant(self, node: Constant, k: int | None) -> Values:
        return Precise(getattr(context(), node.name)) if self.exactly else getattr(math, node.name)

    def column(self, node: Column, k: int | None) -> Values:
        place = self.place(node, k)
        return self.columns(node.point, place)

    def place(self, node: Column, k: int | None) -> int:
        if isinstance(node.column, str):
            return self.places.index(node.column)
        if node.column == RUN:
            return _running(k)
        if node.column == ONLY:
            if self.width != 1:
                needs, remedy = "rows of one column", "Write x1, x2, ... for the columns, or |x| for the length."
                raise InputError(message(needs, f"the data has {self.width} columns", remedy, subject="The formula"))
            return 0
        if node.column >= self.width:
            got = f"the data has {self.width}"
            raise InputError(
                message(f"data of at least {node.column + 1} columns", got, "Check the columns.", subject="The formula")
            )
        return node.column

    def sum(self, node: Add, k: int | None) -> Values:
        return reduce(add, (self.value(term, k) for term in node.terms))

    def product(self, node: Multiply, k: int | None) -> Values:
        return reduce(mul, (self.value(factor, k) for factor in node.factors))

    def negative(self, node: Negative, k: int | None) -> Values:
        return -self.value(node.of, k)

    def quotient(self, node: Divide, k: int | None) -> Values:
        above, below = self.value(node.above, k), self.value(node.below, k)
        return np.divide(above, below) if not self.exactly else _quotients(above, below)

    def power(self, node: Power, k: int | None) -> Values:
        exponent = node.exponent
        if isinstance(exponent, Number) and exponent.value.denominator == 1:
            whole = int(exponent.value)
            if isinstance(node.base, Norm) and whole % 2 == 0 and whole > 0:
                return self.square(node.base.of) ** (whole // 2)
            base = self.value(node.base, k)
            return base**whole if whole >= 0 else self.quotient_of_one(base, -whole)
        return np.power(self.value(node.base, k), self.value(exponent, k))

    def quotient_of_one(self, base: Values, exponent: int) -> Values:
        below = base**exponent
        return _quotients(Precise(1), below) if self.exactly else np.divide(1.0, below)

    def call(self, node: Call, k: int | None) -> Values:
        if node.name not in FUNCTIONS:
            needs, remedy = "functions that it knows", "Only mercer.prove takes names of functions."
            raise InputError(message(needs, f"{node.name} has no values", remedy, subject="A formula"))
        found = [self.value(each, k) for each in node.arguments]
        if node.name == "min":
            return reduce(np.minimum, found)
        if node.name == "max":
            return reduce(np.maximum, found)
        if node.name == "sinc":
            return self.sinc(found[0])
        return OF_ONE[node.name](found[0])

    def sinc(self, u: Values) -> Values:
        """sin(u) / u, which is 1 at 0."""
        values = np.asarray(u, dtype=object if self.exactly else np.float64)
        zero = np.asarray(values == 0, dtype=bool)
        one: Any = Precise(1) if self.exactly else 1.0
        safe = np.where(zero, one, values)
        return np.where(zero, one, np.sin(safe) / safe)

    def inner(self, node: Dot, k: int | None) -> Values:
        if self.dot is not None and node == Dot(X, Z):
            return self.dot()
        return reduce(add, (self.value(node.left, j) * self.value(node.right, j) for j in range(self.width)))

    def norm(self, node: Norm, k: int | None) -> Values:
        return np.sqrt(self.square(node.of))

    def square(self, vector: Node) -> Values:
        if self.squared_distance is not None and vector == GAP:
            return self.squared_distance()
        entries = (self.value(vector, j) for j in range(self.width))
        return reduce(add, (entry * entry for entry in entries))

    def over(self, node: Over, k: int | None) -> Values:
        return reduce(add if node.join == "sum" else mul, (self.value(node.of, j) for j in range(self.width)))


def _quotients(above: Values, below: Values) -> Values:
    """Quotients of numbers of 50 digits; NaN where the divisor is zero."""
    one, each = np.asarray(below, dtype=object), np.asarray(above, dtype=object)
    zero, unit, none = np.asarray(one == 0, dtype=bool), _exactly(Fraction(1)), np.asarray(Precise(math.nan))
    found = each / np.where(zero, unit, one)
    return np.where(zero, none, found)[()]


def _exactly(value: Fraction) -> Any:
    """A fraction with 50 digits."""
    above: Any = Precise(value.numerator)
    return above / value.denominator


_BY_TYPE: dict[type, Callable[[Evaluator, Any, int | None], Values]] = {
    Number: Evaluator.number,
    Constant: Evaluator.constant,
    Column: Evaluator.column,
    Add: Evaluator.sum,
    Multiply: Evaluator.product,
    Negative: Evaluator.negative,
    Divide: Evaluator.quotient,
    Power: Evaluator.power,
    Call: Evaluator.call,
    Dot: Evaluator.inner,
    Norm: Evaluator.norm,
    Over: Evaluator.over,
}


def is_assumed(node: Node) -> bool:
    """Whether it is, or holds, a function that a formula only names."""
    return (isinstance(node, Call) and node.name not in FUNCTIONS) or any(map(is_assumed, node.children))


def values_of_rows(root: Node, rows: NDArray[Any], places: Sequence[str] = ()) -> NDArray[Any]:
    """The values of a formula of one point, one per row."""
    exactly = rows.dtype == object
    found = Evaluator(lambda _, column: rows[:, column], rows.shape[1], places, exactly).value(root)
    return np.broadcast_to(np.asarray(found), (len(rows),)).copy()


def values_of_pairs(root: Node, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """The values of a formula of two points, for all pairs of rows."""
    sides = (left.T[:, :, None], right.T[:, None, :])
    exactly = left.dtype == object
    found = Evaluator(lambda point, column: sides[point][column], left.shape[1], exactly=exactly).value(root)
    return np.broadcast_to(np.asarray(found), (len(left), len(right))).copy()
