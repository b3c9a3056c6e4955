"""Formulas that are polynomials, multiplied out exactly: monomials with coefficients that are fractions and roots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mercer.kernels.formulas.surds import ONE, ZERO, Surd, TooLargeError
from mercer.kernels.formulas.tree import (
    ONLY,
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
    Over,
    Power,
)

Variable = tuple[int, int]
"""A point, 0 or 1, and a column."""
Monomial = tuple[tuple[Variable, int], ...]
"""Variables with their powers, ascending; empty for 1."""
Polynomial = dict[Monomial, Surd]
"""No coefficient is zero."""

MAX_TERMS = 5_000
"""Monomials of a polynomial."""
MAX_PRODUCTS = 500_000
"""Products of two numbers, altogether: some seconds."""
MAX_DEGREE = 64
"""The largest power that is multiplied out, and half of the largest degree in both points together."""


class NotPolynomialError(ArithmeticError):
    """A formula that is no polynomial."""


def expanded(root: Node, d: int, places: Sequence[str] = ()) -> Polynomial:
    """The polynomial of a formula in d columns.

    A `NotPolynomialError` where it is none, a `TooLargeError` where it would be too long.
    """
    return Expander(d, places).of(root, None)


class Expander:
    """Multiplies out, and counts what it does.

    d : the number of columns
    places : names of columns
    """

    def __init__(self, d: int, places: Sequence[str] = ()) -> None:
        self.d, self.places, self.products = d, places, 0

    def of(self, node: Node, k: int | None) -> Polynomial:
        handler = _BY_TYPE.get(type(node))
        if handler is None:
            raise NotPolynomialError(f"{node} is no polynomial")
        return handler(self, node, k)

    def number(self, node: Number, k: int | None) -> Polynomial:
        return {(): Surd.of(node.value)} if node.value else {}

    def column(self, node: Column, k: int | None) -> Polynomial:
        if isinstance(node.column, str):
            place = self.places.index(node.column)
        elif node.column == RUN:
            if k is None:  # the reader makes no such tree
                raise NotPolynomialError("a running column outside of sums")
            place = k
        else:
            place = 0 if node.column == ONLY else node.column
            if place >= self.d or (node.column == ONLY and self.d != 1):
                raise NotPolynomialError(f"a formula of another number of columns than {self.d}")
        return {(((node.point, place), 1),): ONE}

    def sum(self, node: Add, k: int | None) -> Polynomial:
        return self.added([self.of(term, k) for term in node.terms])

    def added(self, parts: list[Polynomial]) -> Polynomial:
        """The sum."""
        found: Polynomial = {}
        for part in parts:
            for monomial, factor in part.items():
                found[monomial] = found.get(monomial, ZERO) + factor
        return self.measured({monomial: factor for monomial, factor in found.items() if factor})

    def measured(self, found: Polynomial) -> Polynomial:
        if len(found) > MAX_TERMS:
            raise TooLargeError(f"a polynomial of more than {MAX_TERMS} terms")
        return found

    def product(self, node: Multiply, k: int | None) -> Polynomial:
        return self.all_multiplied(self.of(factor, k) for factor in node.factors)

    def multiplied(self, first: Polynomial, second: Polynomial) -> Polynomial:
        """The product."""
        self.products += _numbers(first) * _numbers(second)
        if self.products > MAX_PRODUCTS:
            raise TooLargeError("a polynomial of too many products")
        if max(map(degree, first), default=0) + max(map(degree, second), default=0) > 2 * MAX_DEGREE:
            raise TooLargeError(f"a polynomial of degree above {2 * MAX_DEGREE}")
        found: Polynomial = {}
        for a, left in first.items():
            for b, right in second.items():
                monomial = _joined(a, b)
                found[monomial] = found.get(monomial, ZERO) + left * right
        return self.measured({monomial: factor for monomial, factor in found.items() if factor})

    def all_multiplied(self, parts: Iterable[Polynomial], factor: Surd = ONE) -> Polynomial:
        """The product of several, times a number that is not zero."""
        found: Polynomial = {(): factor}
        for part in parts:
            found = self.multiplied(found, part)
        return found

    def negative(self, node: Negative, k: int | None) -> Polynomial:
        return {monomial: -factor for monomial, factor in self.of(node.of, k).items()}

    def quotient(self, node: Divide, k: int | None) -> Polynomial:
        below = self.of(node.below, k)
        if set(below) != {()}:
            raise NotPolynomialError("a quotient of polynomials")
        return self.multiplied(self.of(node.above, k), {(): below[()].inverse})

    def power(self, node: Power, k: int | None) -> Polynomial:
        exponent = node.exponent.value if isinstance(node.exponent, Number) else None
        if exponent is None or exponent.denominator != 1 or exponent < 0:
            raise NotPolynomialError("a power that is no natural number")
        if exponent > MAX_DEGREE:
            raise TooLargeError(f"a power above {MAX_DEGREE}")
        if isinstance(node.base, Norm):
            if exponent % 2:
                raise NotPolynomialError("an odd power of a length")
            return self.raised(self.square(node.base.of), int(exponent) // 2)
        return self.raised(self.of(node.base, k), int(exponent))

    def raised(self, base: Polynomial, exponent: int) -> Polynomial:
        """The power."""
        return self.all_multiplied([base] * exponent)

    def call(self, node: Call, k: int | None) -> Polynomial:
        if node.name not in ("sqrt", "abs"):  # and those that are only named
            raise NotPolynomialError(f"{node.name} is no polynomial")
        inside = self.of(node.arguments[0], k)
        constant = inside.get((), ZERO)
        if set(inside) - {()}:
            raise NotPolynomialError(f"{node.name} is no polynomial")
        if node.name == "abs":
            return {(): constant if constant.sign > 0 else -constant} if constant else {}
        fraction = constant.fraction
        if fraction is None or fraction < 0:
            raise NotPolynomialError("a root of a root, or of a negative number")
        return {(): Surd.root(fraction)} if fraction else {}

    def inner(self, node: Dot, k: int | None) -> Polynomial:
        return self.added([self.multiplied(self.of(node.left, j), self.of(node.right, j)) for j in range(self.d)])

    def norm(self, node: Norm, k: int | None) -> Polynomial:
        raise NotPolynomialError("a length is no polynomial; its square is one")

    def square(self, vector: Node) -> Polynomial:
        return self.added([self.raised(self.of(vector, j), 2) for j in range(self.d)])

    def over(self, node: Over, k: int | None) -> Polynomial:
        parts = [self.of(node.of, j) for j in range(self.d)]
        return self.added(parts) if node.join == "sum" else self.all_multiplied(parts)


_BY_TYPE: dict[type, Callable[[Expander, Any, int | None], Polynomial]] = {
    Number: Expander.number,
    Column: Expander.column,
    Add: Expander.sum,
    Multiply: Expander.product,
    Negative: Expander.negative,
    Divide: Expander.quotient,
    Power: Expander.power,
    Call: Expander.call,
    Dot: Expander.inner,
    Norm: Expander.norm,
    Over: Expander.over,
}


def _numbers(polynomial: Polynomial) -> int:
    """How many fractions its coefficients are made of."""
    return sum(len(factor.terms) for factor in polynomial.values())


def _joined(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for variable, power in b:
        powers[variable] = powers.get(variable, 0) + power
    return tuple(sorted(powers.items()))


def of_second(found: Polynomial) -> Polynomial:
    """A polynomial of x as one of z."""
    return {
        tuple(((1, column), power) for (_, column), power in monomial): factor for monomial, factor in found.items()
    }


def of_points(monomial: Monomial) -> tuple[Monomial, Monomial]:
    """A monomial of two points as one of x and one of z, both with variables of point 0."""
    left = tuple((variable, power) for variable, power in monomial if variable[0] == 0)
    right = tuple(((0, variable[1]), power) for variable, power in monomial if variable[0] == 1)
    return left, right


def degree(monomial: Monomial) -> int:
    """The sum of the powers."""
    return sum(power for _, power in monomial)
