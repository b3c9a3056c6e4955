"""Nodes that are made simple where they are made: sums of sums are one sum, and numbers are computed."""

from __future__ import annotations

import math
from fractions import Fraction

from mercer.kernels.formulas.tree import (
    Add,
    Call,
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
    number,
)

_GATHERED = (Number, Negative, Multiply)
MAX_POWER_BITS = 512
"""Bits of a power of a fraction that is computed."""


def add(terms: tuple[Node, ...]) -> Node:
    """A sum, its numbers added up and put where the first one stood."""
    flat: list[Node] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, Add) else (term,))
    return _gathered(flat, Fraction(0), lambda a, b: a + b, Add)


def multiply(factors: tuple[Node, ...]) -> Node:
    """A product, its number first."""
    if len(factors) == 2 and isinstance(factors[0], Multiply) and not isinstance(factors[1], _GATHERED):
        return Multiply((*factors[0].factors, factors[1]))  # a long product is made one factor after the other
    flat: list[Node] = []
    minus = False
    for factor in factors:
        if isinstance(factor, Negative):
            minus, factor = not minus, factor.of
        flat.extend(factor.factors if isinstance(factor, Multiply) else (factor,))
    if any(isinstance(factor, Number) and factor.value == 0 for factor in flat):
        return number(0)
    flat.sort(key=lambda factor: not isinstance(factor, Number))
    found = _gathered(flat, Fraction(1), lambda a, b: a * b, Multiply)
    if isinstance(found, Multiply) and found.factors[0] == number(-1):
        found, minus = multiply(found.factors[1:]), not minus
    return negative(found) if minus else found


def _gathered(flat: list[Node], neutral: Fraction, join: object, build: type[Add] | type[Multiply]) -> Node:
    together, place = neutral, None
    others: list[Node] = []
    for node in flat:
        if isinstance(node, Number):
            together = join(together, node.value)  # type: ignore[operator]
            place = len(others) if place is None else place
        else:
            others.append(node)
    if together != neutral or not others:
        others.insert(place or 0, Number(together))
    return others[0] if len(others) == 1 else build(tuple(others))


def negative(node: Node) -> Node:
    """Minus a node."""
    if isinstance(node, Negative):
        return node.of
    if isinstance(node, Number):
        return Number(-node.value)
    if isinstance(node, Multiply) and isinstance(node.factors[0], Number):
        return multiply((Number(-node.factors[0].value), *node.factors[1:]))
    return Negative(node)


def divide(above: Node, below: Node) -> Node:
    """A quotient; sin(u) / u is one function, which is 1 at 0."""
    if isinstance(below, Number) and below.value:
        return multiply((Number(1 / below.value), above))
    wave = above.factors[-1] if isinstance(above, Multiply) and len(above.factors) == 2 else above
    if isinstance(wave, Call) and wave.name == "sin":
        (height, _), (inside, u), (over, v) = map(_parted, (above, wave.arguments[0], below))
        if u == v and above in (wave, multiply((Number(height), wave))):
            return multiply((Number(height * inside / over), Call("sinc", wave.arguments)))
    if isinstance(above, Negative):
        return negative(divide(above.of, below))
    return Divide(above, below)


def _parted(node: Node) -> tuple[Fraction, Node]:
    """A node as a number, not zero, times another."""
    if isinstance(node, Negative):
        factor, rest = _parted(node.of)
        return -factor, rest
    if isinstance(node, Multiply) and isinstance(node.factors[0], Number):
        return node.factors[0].value, multiply(node.factors[1:])
    return Fraction(1), node


def power(base: Node, exponent: Node) -> Node:
    """A power; e to a power is exp."""
    if exponent == number(1):
        return base
    if isinstance(base, Constant) and base.name == "e":
        return Call("exp", (exponent,))
    if isinstance(base, Number) and isinstance(exponent, Number) and exponent.value.denominator == 1:
        size = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
        if size * abs(exponent.value) <= MAX_POWER_BITS and (base.value or exponent.value >= 0):
            return Number(base.value ** int(exponent.value))
    if (
        isinstance(base, Call)
        and base.name == "sqrt"
        and isinstance(base.arguments[0], Number)
        and exponent == number(2)
    ):
        return base.arguments[0]
    return Power(base, exponent)


def absolute(node: Node) -> Node:
    """The absolute value of a number."""
    if isinstance(node, Number):
        return Number(abs(node.value))
    return node if isinstance(node, Norm) else Call("abs", (node,))


def root(node: Node) -> Node:
    """A square root; of a square of an integer the integer."""
    if isinstance(node, Number) and node.value >= 0:
        above, below = math.isqrt(node.value.numerator), math.isqrt(node.value.denominator)
        if (above * above, below * below) == (node.value.numerator, node.value.denominator):
            return Number(Fraction(above, below))
    return Call("sqrt", (node,))


def total(join: str, body: Node) -> Node:
    """A sum or product over columns; sums of products of the points are inner products, sums of squares lengths."""
    if join == "prod":
        return Over(join, body)
    if isinstance(body, Negative):
        return negative(total(join, body.of))
    if isinstance(body, Multiply) and isinstance(body.factors[0], Number):
        return multiply((body.factors[0], total(join, multiply(body.factors[1:]))))
    if isinstance(body, Multiply) and len(body.factors) == 2 and all(each in (X, Z) for each in body.factors):
        left, right = body.factors
        return power(Norm(left), number(2)) if left == right else Dot(X, Z)
    if isinstance(body, Power) and body.exponent == number(2) and _is_vector(body.base):
        return power(Norm(body.base), number(2))
    return Over(join, body)


def _is_vector(node: Node) -> bool:
    """Whether it reads as a vector where the running column is left out: a sum of points times numbers."""
    if isinstance(node, Negative):
        return _is_vector(node.of)
    if isinstance(node, Add):
        return all(map(_is_vector, node.terms))
    if isinstance(node, Multiply):
        return len(node.factors) == 2 and isinstance(node.factors[0], Number) and _is_vector(node.factors[1])
    return node in (X, Z)
