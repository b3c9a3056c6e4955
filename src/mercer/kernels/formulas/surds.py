"""Exact numbers: fractions, and sums of roots of integers such as 1 + sqrt(2)/3, as coefficients of features are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

MAX_RADICAND = 10**9
"""The largest integer under a root: larger ones are not taken apart into squares."""
MAX_TERMS = 64
"""Roots in one number."""
MAX_BITS = 1 << 14
"""Bits of a numerator or a denominator."""


class TooLargeError(ArithmeticError):
    """An exact number, or a polynomial, that would take too long."""


@dataclass(frozen=True)
class Surd:
    """A sum of fractions times roots of integers without square factors; those are independent, so zero is no terms.

    >>> root = Surd.root(Fraction(1, 2))
    >>> root, root * root, (root - Surd.of(1)).sign, 1 / float(root + Surd.of(1)) - float((root + Surd.of(1)).inverse)
    (1/2 sqrt(2), 1/2, -1, 0.0)
    """

    terms: tuple[tuple[int, Fraction], ...] = ()
    """Pairs of a radicand and its factor, which is not zero; ascending."""

    @classmethod
    def of(cls, number: int | Fraction) -> Surd:
        """A fraction."""
        return cls(((1, Fraction(number)),)) if number else cls()

    @classmethod
    def root(cls, number: Fraction) -> Surd:
        """The square root of a fraction of at least zero."""
        square, rest = _square_part(number.numerator * number.denominator)
        return cls(((rest, Fraction(square, number.denominator)),)) if number else cls()

    @classmethod
    def _summed(cls, terms: Iterable[tuple[int, Fraction]]) -> Surd:
        found: dict[int, Fraction] = {}
        for radicand, factor in terms:
            found[radicand] = found.get(radicand, Fraction(0)) + factor
        kept = tuple(sorted((radicand, factor) for radicand, factor in found.items() if factor))
        if len(kept) > MAX_TERMS or any(_bits(factor) > MAX_BITS for _, factor in kept):
            raise TooLargeError("an exact number of too many digits")
        return cls(kept)

    def __add__(self, other: Surd) -> Surd:
        return self._summed((*self.terms, *other.terms))

    def __neg__(self) -> Surd:
        return Surd(tuple((radicand, -factor) for radicand, factor in self.terms))

    def __sub__(self, other: Surd) -> Surd:
        return self + -other

    def __mul__(self, other: Surd) -> Surd:
        return self._summed(_product(a, b) for a in self.terms for b in other.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __float__(self) -> float:
        if self.fraction is not None:
            return float(self.fraction)
        if len(self.terms) == 1:  # to the last digit: the square is a fraction
            ((radicand, factor),) = self.terms
            return math.copysign(math.sqrt(factor * factor * radicand), factor)
        low, high = self._between(80)
        return float((low + high) / 2)

    def __repr__(self) -> str:
        words = [_word(radicand, factor) for radicand, factor in self.terms]
        return " + ".join(words).replace("+ -", "- ") or "0"

    @property
    def fraction(self) -> Fraction | None:
        """The number, where it is a fraction."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == 1 else None

    @property
    def sign(self) -> int:
        """-1, 0 or 1, exactly: between bounds that close in until zero is outside."""
        digits = 40
        while self.terms:
            low, high = self._between(digits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            digits *= 2
        return 0

    @property
    def inverse(self) -> Surd:
        """1 / it; one root after the other is made to vanish from the denominator."""
        if self.fraction is not None:
            return Surd.of(1 / self.fraction)
        prime = _prime_factor(self.terms[-1][0])
        without = Surd(tuple(term for term in self.terms if term[0] % prime))
        conjugate = without - Surd(tuple(term for term in self.terms if term[0] % prime == 0))
        return conjugate * (self * conjugate).inverse

    def _between(self, bits: int) -> tuple[Fraction, Fraction]:
        low = high = Fraction(0)
        for radicand, factor in self.terms:
            floor = math.isqrt(radicand << (2 * bits))
            exact = floor * floor == radicand << (2 * bits)
            ends = sorted((factor * Fraction(floor, 1 << bits), factor * Fraction(floor + (not exact), 1 << bits)))
            low, high = low + ends[0], high + ends[1]
        return low, high


ZERO, ONE = Surd(), Surd.of(1)


def _product(a: tuple[int, Fraction], b: tuple[int, Fraction]) -> tuple[int, Fraction]:
    common = math.gcd(a[0], b[0])
    return (a[0] // common) * (b[0] // common), a[1] * b[1] * common


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _word(radicand: int, factor: Fraction) -> str:
    if radicand == 1:
        return str(factor)
    size = "" if abs(factor) == 1 else f"{abs(factor)} "
    return f"{'-' if factor < 0 else ''}{size}sqrt({radicand})"


@lru_cache(maxsize=256)
def _square_part(number: int) -> tuple[int, int]:
    """(s, r) with number = s^2 r and no square in r."""
    if number > MAX_RADICAND**2:
        raise TooLargeError("a root of too large a number")
    whole = math.isqrt(number)
    if whole * whole == number:
        return whole, 1
    if number > MAX_RADICAND:
        raise TooLargeError("a root of too large a number")
    square, rest, p = 1, number, 2
    while p * p <= rest:
        while rest % (p * p) == 0:
            rest //= p * p
            square *= p
        p += 1
    return square, rest


@lru_cache(maxsize=256)
def _prime_factor(number: int) -> int:
    p = 2
    while p * p <= number:
        if number % p == 0:
            return p
        p += 1
    return number
