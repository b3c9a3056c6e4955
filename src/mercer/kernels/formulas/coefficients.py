"""Whether a polynomial of two points is a kernel, decided exactly: k(x, z) = m(x)' C m(z) with monomials m.

Different monomials are independent functions on the reals, and already on the natural numbers. So the vectors
sum_i c_i m(x_i) are all vectors, and k is a kernel there exactly where C is positive semidefinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mercer.kernels.formulas import build
from mercer.kernels.formulas.polynomials import Monomial, Polynomial, degree, of_points
from mercer.kernels.formulas.surds import ONE, ZERO, Surd
from mercer.kernels.formulas.tree import Column, Node, Number, number

MAX_MIXED = 64
"""Monomials that are mixed with one another, at most: above it exact elimination takes long."""
Row = dict[int, Surd]
"""Coefficients by the places of monomials; none is zero."""


@dataclass(frozen=True)
class Feature:
    """Of the sum over k of weight_k f_k(x) f_k(z) one term: a positive weight, and a polynomial."""

    weight: Surd
    row: tuple[tuple[Monomial, Surd], ...]

    @property
    def polynomial(self) -> Node:
        """f, as a formula of one point."""
        return build.add(tuple(build.multiply((of_surd(factor), of_monomial(m))) for m, factor in self.row))

    @property
    def scaled(self) -> Node:
        """sqrt(weight) f, a feature of the lift."""
        return build.multiply((build.root(of_surd(self.weight)), self.polynomial))


@dataclass(frozen=True)
class Decision:
    """What the coefficients say.

    monomials : those of the formula, by degree
    features : where C is positive semidefinite, the terms of its factorisation
    direction : where it is not, a vector v with v' C v < 0, by the places of monomials; empty otherwise
    """

    monomials: tuple[Monomial, ...]
    features: tuple[Feature, ...] = ()
    direction: Mapping[int, Surd] | None = None


class Coefficients:
    """C, as a sparse matrix over the monomials of a polynomial of two points.

    >>> from mercer.kernels.formulas import read_kernel
    >>> found = Coefficients(read_kernel("x1 z1 + x2 z2 + x2 z3 + x3 z2 + x3 z3").polynomial(3)).decided()
    >>> len(found.features), found.direction
    (2, None)
    """

    def __init__(self, polynomial: Polynomial) -> None:
        sides = {monomial: of_points(monomial) for monomial in polynomial}
        together = {side for pair in sides.values() for side in pair}
        self.monomials: tuple[Monomial, ...] = tuple(sorted(together, key=_order))
        place = {monomial: i for i, monomial in enumerate(self.monomials)}
        self.rows: list[Row] = [{} for _ in self.monomials]
        for monomial, factor in polynomial.items():
            left, right = sides[monomial]
            self.rows[place[left]][place[right]] = factor

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x)."""
        return all(self.rows[j].get(i) == factor for i, row in enumerate(self.rows) for j, factor in row.items())

    def decided(self) -> Decision | None:
        """The decision for a symmetric C; None where it would take too long. A `TooLargeError` for long numbers."""
        features: list[tuple[int, Feature]] = []
        for members in self._components():
            if len(members) > MAX_MIXED:
                return None
            found, direction = eliminated({i: dict(self.rows[i]) for i in members})
            if direction is not None:
                return Decision(self.monomials, direction=direction)
            for weight, row in found:
                terms = tuple((self.monomials[j], factor) for j, factor in sorted(row.items()))
                features.append((min(row), _folded(weight, terms)))
        return Decision(self.monomials, tuple(feature for _, feature in sorted(features, key=lambda each: each[0])))

    def _components(self) -> list[list[int]]:
        """Places of monomials that C ties to one another."""
        seen: set[int] = set()
        found: list[list[int]] = []
        for start in range(len(self.rows)):
            if start in seen:
                continue
            seen.add(start)
            members = [start]
            for i in members:
                members.extend(new := [j for j in self.rows[i] if j not in seen])
                seen.update(new)
            found.append(sorted(members))
        return found


def eliminated(rows: dict[int, Row]) -> tuple[list[tuple[Surd, Row]], Row | None]:
    """A symmetric matrix as the sum of weights times rows' rows; or a direction in which its form is negative."""
    done: list[tuple[int, Surd, Row]] = []
    while rows:
        direction = _downward(rows)
        if direction is not None:
            return [], _back(done, direction)
        pivot = next((i for i in sorted(rows) if rows[i]), None)
        if pivot is None:
            break
        own = rows.pop(pivot)
        weight = own[pivot]
        inverse = weight.inverse
        row = {j: factor * inverse for j, factor in own.items()}
        for i in own.keys() - {pivot}:
            rows[i].pop(pivot)
            for j, factor in own.items():
                if j != pivot:
                    left = rows[i].get(j, ZERO) - row[i] * factor
                    rows[i].pop(j, None)
                    rows[i] |= {j: left} if left else {}
        done.append((pivot, weight, row))
    return [(weight, row) for _, weight, row in done], None


def _downward(rows: dict[int, Row]) -> Row | None:
    """A direction in which the form is negative, by one entry of the diagonal, or by two."""
    for i, row in rows.items():
        own = row.get(i, ZERO)
        if own.sign < 0:
            return {i: ONE}
        if not own and row:  # 2 t b + c = -1 with t = -(c + 1) / (2 b)
            j, b = next(iter(row.items()))
            c = rows[j].get(j, ZERO)
            return {i: -(c + ONE) * (b + b).inverse, j: ONE}
    return None


def _back(done: Sequence[tuple[int, Surd, Row]], direction: Row) -> Row:
    """The direction with entries for what was eliminated, so that those squares vanish."""
    found = dict(direction)
    for pivot, _, row in reversed(done):
        total = ZERO
        for j, factor in row.items():
            if j != pivot and j in found:
                total = total - factor * found[j]
        if total:
            found[pivot] = total
    return found


def _folded(weight: Surd, terms: tuple[tuple[Monomial, Surd], ...]) -> Feature:
    """A weight that is a square goes into the polynomial: 4 (x1)(z1) is (2 x1)(2 z1) where several are added."""
    fraction = weight.fraction
    if fraction is None or len(terms) < 2:
        return Feature(weight, terms)
    above, below = math.isqrt(fraction.numerator), math.isqrt(fraction.denominator)
    if above * above != fraction.numerator or below * below != fraction.denominator:
        return Feature(weight, terms)
    root = Surd.of(Fraction(above, below))
    return Feature(ONE, tuple((monomial, root * factor) for monomial, factor in terms))


def of_surd(value: Surd) -> Node:
    """An exact number as a formula."""
    return build.add(
        tuple(build.multiply((Number(factor), build.root(number(root)))) for root, factor in value.terms)
        or (number(0),)
    )


def of_monomial(monomial: Monomial) -> Node:
    """A monomial of the first point as a formula."""
    powers = [build.power(Column(0, column), number(power)) for (_, column), power in monomial]
    return build.multiply(tuple(powers)) if powers else number(1)


def _order(monomial: Monomial) -> tuple[int, list[int]]:
    """By degree, then as words: x1^2, x1 x2, x2^2."""
    return degree(monomial), [column for (_, column), power in monomial for _ in range(power)]
