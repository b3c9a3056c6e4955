"""Formulas taken apart: signed terms, factors of one point, what depends on x - z alone, and numbers inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from mercer.kernels.formulas import build
from mercer.kernels.formulas.evaluation import Evaluator
from mercer.kernels.formulas.tree import (
    RUN,
    Add,
    Call,
    Column,
    Divide,
    Dot,
    Multiply,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    X,
    Z,
    number,
    points_in,
    rebuilt,
    swapped,
)
from mercer.kernels.precision.mpmath_arrays import Precise

MIN_NUMBER = 1e-40
"""A number that is smaller than this, and not zero exactly, may be rounding of 50 digits: its sign is not known."""
Value = Fraction | float
Term = tuple[Value, Node]
"""A number times a formula."""


class UndecidedError(ArithmeticError):
    """A number inside of a formula that is not finite, or whose sign 50 digits do not show."""


def value_of(node: Node) -> Value:
    """The number that a formula without points is: a fraction as such, others rounded from 50 digits."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Negative):
        return -value_of(node.of)
    found: Any = Evaluator(lambda point, column: None, 0, exactly=True).value(node)
    value = float(found) if isinstance(found, Precise) else float("nan")
    if not MIN_NUMBER < abs(value) < 1 / MIN_NUMBER:
        raise UndecidedError(node)
    return value


def is_number(node: Node) -> bool:
    """Whether it has no points."""
    return not points_in(node)


def terms_of(node: Node, factor: Value = Fraction(1)) -> Iterator[Term]:
    """A sum as numbers times formulas: signs, numbers in front and divisors that are numbers are taken out."""
    if is_number(node):
        yield factor * value_of(node), number(1)
    elif isinstance(node, Add):
        for term in node.terms:
            yield from terms_of(term, factor)
    elif isinstance(node, Negative):
        yield from terms_of(node.of, -factor)
    elif isinstance(node, Divide) and is_number(node.below):
        yield from terms_of(node.above, factor / value_of(node.below))
    elif isinstance(node, Multiply) and any(map(is_number, node.factors)):
        others = [each for each in node.factors if not is_number(each)]
        for each in node.factors:
            factor = factor * value_of(each) if is_number(each) else factor
        yield from terms_of(build.multiply(tuple(others)), factor)
    else:
        yield factor, node


def factors_of(node: Node) -> Iterator[Node]:
    """A product as its factors; divisors are powers of -1."""
    if isinstance(node, Multiply):
        for factor in node.factors:
            yield from factors_of(factor)
    elif isinstance(node, Divide):
        yield from factors_of(node.above)
        for factor in factors_of(node.below):
            yield build.power(factor, number(-1))
    else:
        yield node


def mirrored(left: Iterable[Node], right: Iterable[Node]) -> bool:
    """Whether the formulas of z are those of x."""
    return Counter(map(ordered, left)) == Counter(ordered(swapped(each)) for each in right)


def ordered(node: Node) -> Node:
    """The node with the parts of its sums and products in an order, so that 1 + x and x + 1 are equal."""
    node = rebuilt(node, tuple(map(ordered, node.children)))
    if isinstance(node, Add | Multiply):
        return type(node)(tuple(sorted(node.children, key=repr)))
    return node


def gap_in(node: Node) -> tuple[float, int | str] | None:
    """(c, column) where a formula is c (x - z) or c (z - x), c > 0: RUN for vectors, else of one column."""
    if isinstance(node, Call) and node.name == "abs":
        return gap_in(node.arguments[0])
    try:
        found = list(terms_of(node))
    except UndecidedError:
        return None
    if len(found) == 1 and isinstance(found[0][1], Add):
        inside = gap_in(found[0][1])
        return None if inside is None else (abs(float(found[0][0])) * inside[0], inside[1])
    if len(found) != 2 or found[0][0] != -found[1][0]:
        return None
    first, second = found[0][1], found[1][1]
    if not isinstance(first, Column) or second != swapped(first):
        return None
    return abs(float(found[0][0])), first.column


def squared_gap(node: Node) -> tuple[float, int | str] | None:
    """(c, column) where a formula is c |x - z|^2, c > 0, or the square of one column's difference."""
    if isinstance(node, Power) and node.exponent == number(2):
        inside = distance_in(node.base) or scalar_gap(node.base)
        return None if inside is None else (inside[0] ** 2, inside[1])
    return None


def distance_in(node: Node) -> tuple[float, int | str] | None:
    """(c, column) where a formula is c |x - z|, c > 0: RUN for the Euclidean distance, else of one column."""
    if isinstance(node, Multiply) and len(node.factors) == 2 and isinstance(node.factors[0], Number):
        inside = distance_in(node.factors[1])
        return None if inside is None else (abs(float(node.factors[0].value)) * inside[0], inside[1])
    if isinstance(node, Norm):
        return gap_in(node.of)
    if isinstance(node, Call) and node.name == "abs":
        return scalar_gap(node.arguments[0])
    return None


def is_angle(node: Node) -> bool:
    """Whether a formula is the angle of x and z."""
    if not isinstance(node, Call) or node.name != "arccos" or not isinstance(node.arguments[0], Divide):
        return False
    above, below = node.arguments[0].above, node.arguments[0].below
    lengths = set(below.factors) if isinstance(below, Multiply) else set()
    return above == Dot(X, Z) and lengths == {Norm(X), Norm(Z)}


def scalar_gap(node: Node) -> tuple[float, int | str] | None:
    """The same for the difference of one column, without its absolute value."""
    found = gap_in(node)
    return found if found is not None and found[1] != RUN else None
