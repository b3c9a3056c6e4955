"""A kernel with a finite lift of polynomials as an exact polynomial of both points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.algebra.weighted import Weighted
from mercer.kernels.base import Kernel
from mercer.kernels.formulas.polynomials import MAX_TERMS, Expander, NotPolynomialError, Polynomial, of_second
from mercer.kernels.formulas.surds import ONE, Surd, TooLargeError
from mercer.kernels.lift_builder import LiftBuilder, NotFiniteError, OwnFeatures
from mercer.kernels.points import Column

MAX_DENOMINATOR = 1000
"""The largest denominator that a float is taken to mean, beside what its decimal digits say."""
SHORT_DIGITS = 12
"""Digits up to which a float is what its decimal digits say."""


def polynomial_of(kernel: Kernel, d: int) -> Polynomial | None:
    """The polynomial k(x, z) in d columns, exactly; None where it is none, or too long a one.

    A number of the kernel is taken as `meant` takes it.

    >>> from mercer.kernels import Linear
    >>> polynomial_of(0.1 * Linear() ** 2, 1)
    {(((0, 0), 2), ((1, 0), 2)): 1/10}
    """
    try:
        return _OfKernel(d).of(kernel)
    except (NotFiniteError, NotPolynomialError, TooLargeError, OverflowError):
        return None


def meant(value: float) -> Surd:
    """The simplest exact number that a float is next to: 0.1 is 1/10, 0.333... is 1/3, 1.414... is sqrt(2).

    >>> meant(0.1), meant(1 / 3), meant(-(2**0.5)), meant((2 / 3) ** 0.5)
    (1/10, 1/3, -sqrt(2), 1/3 sqrt(6))
    """
    value = float(value)
    if not math.isfinite(value):
        raise OverflowError(value)
    decimal = Fraction(repr(value))
    if len(str(abs(decimal.numerator)).rstrip("0")) <= SHORT_DIGITS:
        return Surd.of(decimal)
    simple = decimal.limit_denominator(MAX_DENOMINATOR)
    if abs(float(simple) - value) <= math.ulp(value):
        return Surd.of(simple)
    square = (decimal * decimal).limit_denominator(MAX_DENOMINATOR)
    root = Surd.root(square)
    if abs(float(root) - abs(value)) <= math.ulp(value):
        return root if value > 0 else -root
    return Surd.of(Fraction(value))


class _OfKernel(LiftBuilder[Polynomial]):
    """Builds sum_i phi_i(x) phi_i(z) where other builders build the features phi."""

    def __init__(self, d: int) -> None:
        self.d, self.expander = d, Expander(d)

    @property
    def n_columns(self) -> int:
        return self.d

    # -- leaves -----------------------------------------------------------------------------------------------------

    def constant(self, value: float) -> Polynomial:
        return {(): meant(value)} if value else {}

    def linear(self) -> Polynomial:
        return self.expander.added([self._product(k) for k in range(self.d)])

    def squared_length(self) -> Polynomial:
        square: Polynomial = {(((0, k), 2),): ONE for k in range(self.d)}
        return self.expander.multiplied(square, of_second(square))

    def polynomial(self, degree: int, offset: float) -> Polynomial:
        return self.expander.raised(self.expander.added([self.constant(offset), self.linear()]), degree)

    def monomials(self, lowest: int, highest: int, repeated: bool = True, bias: bool = False) -> Polynomial:
        chosen = combinations_with_replacement if repeated else combinations
        degrees = range(lowest, min(highest, highest if repeated else self.d) + 1)
        count = sum(math.comb(self.d + p - 1, p) if repeated else math.comb(self.d, p) for p in degrees)
        if count > MAX_TERMS:
            raise TooLargeError(f"{count} monomials")
        sets = [columns for p in degrees for columns in chosen(range(self.d), p)]
        parts = [self.expander.all_multiplied(map(self._product, columns)) for columns in sets]
        return self.expander.added([*parts, self.constant(1.0)] if bias and lowest > 0 else parts)

    def powers(self, degree: int) -> Polynomial:
        one = [self._product(k) for k in range(self.d)]
        return self.expander.added([self.expander.raised(each, p) for each in one for p in range(1, degree + 1)])

    def functions(self, kernel: OwnFeatures, count: int) -> Polynomial:
        raise NotPolynomialError(f"{kernel} is no polynomial")

    def _product(self, column: int) -> Polynomial:
        return {(((0, column), 1), ((1, column), 1)): ONE}

    # -- rules ------------------------------------------------------------------------------------------------------

    def of(self, kernel: Kernel) -> Polynomial:
        return kernel.finite_lift(self)

    def added(self, parts: Sequence[Polynomial]) -> Polynomial:
        return self.expander.added(list(parts))

    def multiplied(self, first: Polynomial, second: Polynomial) -> Polynomial:
        return self.expander.multiplied(first, second)

    def raised(self, part: Polynomial, exponent: int) -> Polynomial:
        return self.expander.raised(part, exponent)

    def unit(self, part: Polynomial) -> Polynomial:
        raise NotPolynomialError("a normalized kernel is no polynomial")

    def weighted(self, kernel: Weighted) -> Polynomial:
        formula = kernel.function
        weight = formula.polynomial(self.d) if hasattr(formula, "polynomial") else None
        if weight is None:
            raise NotPolynomialError(f"{formula} is no polynomial")
        both = self.expander.multiplied(weight, of_second(weight))
        return self.expander.multiplied(both, self.of(kernel.kernel))

    def chosen(self, kernel: Kernel, columns: Sequence[Column]) -> Polynomial:
        if not all(isinstance(column, int) and column < self.d for column in columns):
            raise NotPolynomialError(f"columns {columns} have no positions")
        forms: list[Polynomial] = [{(((0, int(column)), 1),): ONE} for column in columns]
        return self._after(kernel, forms)

    def mapped(self, kernel: Mapped) -> Polynomial:
        return self._after(kernel.kernel, self._forms(kernel))

    def _forms(self, kernel: Mapped) -> list[Polynomial]:
        """The columns of g(x)."""
        phi = getattr(kernel, "formulas", None)
        if phi is not None:
            found = [formula.polynomial(self.d) for formula in phi.formulas]
            if any(each is None for each in found):
                raise NotPolynomialError("formulas that are no polynomials")
            return [each for each in found if each is not None]
        if kernel.linear_map is None or kernel.linear_map.shape[1] != self.d:
            raise NotPolynomialError("a map that is no polynomial")
        rows = kernel.linear_map.toarray().tolist()
        return [{(((0, k), 1),): meant(number) for k, number in enumerate(row) if number} for row in rows]

    def _after(self, kernel: Kernel, forms: list[Polynomial]) -> Polynomial:
        """k(g(x), g(z)), multiplied out."""
        known: list[list[Polynomial]] = [forms, [of_second(form) for form in forms]]
        parts = []
        for monomial, factor in _OfKernel(len(forms)).of(kernel).items():
            powers = [self.expander.raised(known[point][column], power) for (point, column), power in monomial]
            parts.append(self.expander.all_multiplied(powers, factor))
        return self.expander.added(parts)
