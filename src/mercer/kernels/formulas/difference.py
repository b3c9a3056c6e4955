"""Two polynomials of two points: equal, or a pair of small points where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add, mul

from mercer.kernels.formulas.polynomials import Monomial, Polynomial, degree
from mercer.kernels.formulas.surds import ZERO, Surd


@dataclass(frozen=True)
class Difference:
    """A pair of points where two polynomials differ, and a monomial whose coefficients do.

    x, z : the points
    values : of both polynomials there
    monomial : of both points
    coefficients : its coefficients in both
    """

    x: tuple[int, ...]
    z: tuple[int, ...]
    values: tuple[Surd, Surd]
    monomial: Monomial
    coefficients: tuple[Surd, Surd]


def difference(first: Polynomial, second: Polynomial, d: int) -> Difference | None:
    """Where two polynomials in d columns differ; None where they are equal.

    Of the monomials that differ, one with the fewest variables is chosen, and all other variables are 0: every
    monomial that is left then has the same variables. A polynomial of degree p in a variable that is not zero is so for
    one of any p + 1 values, so the search over small integers ends.

    >>> from mercer.kernels.formulas import read_kernel
    >>> found = difference(read_kernel("x.z").polynomial(2), read_kernel("(x.z)^2").polynomial(2), 2)
    >>> found.x, found.z, found.values
    ((1, 0), (2, 0), (2, 4))
    """
    gap = {m: first.get(m, ZERO) - second.get(m, ZERO) for m in first.keys() | second.keys()}
    gap = {monomial: factor for monomial, factor in gap.items() if factor}
    if not gap:
        return None
    chosen = min(gap, key=lambda m: (len(m), degree(m), m))
    variables = [variable for variable, _ in chosen]
    left = {m: factor for m, factor in gap.items() if {variable for variable, _ in m} <= set(variables)}
    values = _integers(1 + max(power for m in left for _, power in m) if chosen else 1)
    tried = sorted(product(range(len(values)), repeat=len(variables)), key=lambda places: (sum(places), places))
    for places in tried:
        at = {variable: values[place] for variable, place in zip(variables, places, strict=True)}
        if value_at(left, at):
            x, z = (tuple(at.get((point, k), 0) for k in range(d)) for point in (0, 1))
            both = value_at(first, at), value_at(second, at)
            return Difference(x, z, both, chosen, (first.get(chosen, ZERO), second.get(chosen, ZERO)))
    raise AssertionError("a polynomial that is not zero vanishes on a grid that is larger than its degrees")


def value_at(found: Polynomial, at: dict[tuple[int, int], int]) -> Surd:
    """The value of a polynomial; variables that have none are 0."""
    terms = (
        factor * reduce(mul, [Surd.of(at.get(variable, 0) ** power) for variable, power in monomial], Surd.of(1))
        for monomial, factor in found.items()
    )
    return reduce(add, terms, ZERO)


def _integers(count: int) -> list[int]:
    """1, 2, -1, 3, -2, 4, ..."""
    found = [1, 2]
    while len(found) < count:
        found.append(1 - found[-1] if found[-1] > 0 else 2 - found[-1])
    return found[:count]
