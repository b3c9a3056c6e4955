"""Differences of Gaussian, Laplace and Matern kernels, by Bochner's theorem: one transform is above the other.

Their Fourier transforms are Normal and Student densities of the frequency. The ratio of two of them has one stationary
point in |w|^2 at most, so its least value is there, at zero or at infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS
from mercer.kernels.formulas.signed import Signed, plain_fraction
from mercer.kernels.precision.mpmath_arrays import context
from mercer.kernels.proof.judgement import Judgement, Situation
from mercer.kernels.radial.gaussian import Gaussian
from mercer.kernels.radial.laplace import Laplace
from mercer.kernels.radial.matern import Matern

MAX_DIMENSION = 20
"""The largest number of columns that is tried where none is given."""
CLEAR = 1e-30
"""Logarithms of ratios below this are compared as fractions, or not at all."""


@dataclass(frozen=True)
class Density:
    """The transform of a kernel with value 1 at distance 0, as a probability density of w in R^d.

    nu : half of the degrees of freedom of Student's law; None for the normal one
    """

    length: Fraction
    nu: Fraction | None

    def logarithm(self, mp: Any, d: int, u: Any) -> Any:
        """The logarithm of the density at |w|^2 = u, without what depends on d alone."""
        length = mp.mpf(self.length.numerator) / self.length.denominator
        if self.nu is None:
            return d * mp.log(length) - length**2 * u / 2
        nu, half = mp.mpf(self.nu.numerator) / self.nu.denominator, mp.mpf(d) / 2
        head = mp.loggamma(nu + half) - mp.loggamma(nu) - half * mp.log(nu) + d * mp.log(length)
        return head - (nu + half) * mp.log1p(length**2 * u / (2 * nu))


def density_of(kernel: Kernel) -> Density | None:
    """The density of a Gaussian, Laplace or Matern kernel."""
    length = getattr(kernel, "lengthscale", None)
    if not isinstance(length, float):
        return None
    if isinstance(kernel, Gaussian):
        return Density(plain_fraction(length), None)
    if isinstance(kernel, Laplace):
        return Density(plain_fraction(length), Fraction(1, 2))
    if isinstance(kernel, Matern) and math.isfinite(kernel.nu):
        return Density(plain_fraction(length), plain_fraction(kernel.nu))
    return None


def by_densities(text: str, terms: Signed, situation: Situation) -> Judgement | None:
    """That a k1 - b k2 is a kernel, where the transform of a k1 is nowhere below that of b k2; None otherwise."""
    if len(terms) != 2 or not situation.domain.within(REALS):
        return None
    (a, first), (b, second) = sorted(terms, key=lambda term: -term[0])
    one, other = density_of(first), density_of(second)
    if one is None or other is None or not a > 0 > b:
        return None
    ratio = Fraction(a) / Fraction(-b)
    if situation.d is not None:
        most = situation.d if not situation.every and is_above(ratio, one, other, situation.d) else 0
    else:
        below = (d for d in range(1, MAX_DIMENSION + 1) if not is_above(ratio, one, other, d))
        most = next(below, MAX_DIMENSION + 1) - 1
    if not most or not situation.allows(most):
        return None
    reason = (
        f"the Fourier transform of {_times(a, first)} is nowhere below that of {_times(-b, second)}, so their "
        "difference is nowhere negative (Bochner's theorem)"
    )
    return Judgement(f"{text} is a kernel on the reals, for d <= {most}: {reason}", max_dimension=most)


def _times(factor: Any, kernel: Kernel) -> str:
    return str(kernel) if factor == 1 else f"{float(factor)}*{kernel}"


def is_above(ratio: Fraction, one: Density, other: Density, d: int) -> bool:
    """Whether ratio times one density is nowhere below the other, on R^d.

    >>> long, short = Density(Fraction(1), None), Density(Fraction(1, 2), None)
    >>> is_above(Fraction(2), short, long, 1), is_above(Fraction(2), short, long, 2)
    (True, False)
    >>> is_above(Fraction(9), long, short, 1)
    False
    """
    mp = context()
    if not _holds_far_away(ratio, one, other, d):
        return False
    places = [mp.mpf(0), *_stationary(mp, one, other, d)]
    return all(_at_least(mp, ratio, one, other, d, u) for u in places)


def _holds_far_away(ratio: Fraction, one: Density, other: Density, d: int) -> bool:
    """Whether it holds for all large frequencies, or in the limit."""
    if one.nu is None:
        return other.nu is None and one.length < other.length
    if other.nu is None or one.nu < other.nu:
        return True
    # Equal tails |w|^-(2 nu + d), times length^(-2 nu) each.
    doubled = 2 * one.nu
    if one.nu > other.nu or doubled.denominator != 1:
        return False
    return ratio * (other.length / one.length) ** int(doubled) >= 1


def _stationary(mp: Any, one: Density, other: Density, d: int) -> list[Any]:
    """Where the ratio of the densities has a stationary point in u > 0."""
    first, second = (_tail(each, d) for each in (one, other))
    # The derivative of the logarithm is -n / (q + u) of Student's law and -length^2 / 2 of the normal one.
    if first is not None and second is not None:
        (n1, q1), (n2, q2) = first, second
        found = (n1 * q2 - n2 * q1) / (n2 - n1) if n1 != n2 else Fraction(-1)
    elif first is not None:
        found = 2 * first[0] / other.length**2 - first[1]
    else:
        found = Fraction(-1)
    return [mp.mpf(found.numerator) / found.denominator] if found > 0 else []


def _tail(density: Density, d: int) -> tuple[Fraction, Fraction] | None:
    """(n, q) of a density that is a multiple of (q + u)^-n."""
    return None if density.nu is None else (density.nu + Fraction(d, 2), 2 * density.nu / density.length**2)


def _at_least(mp: Any, ratio: Fraction, one: Density, other: Density, d: int, u: Any) -> bool:
    gap = mp.log(mp.mpf(ratio.numerator) / ratio.denominator) + one.logarithm(mp, d, u) - other.logarithm(mp, d, u)
    if abs(gap) > CLEAR:
        return bool(gap > 0)
    return one.nu == other.nu and u == 0 and ratio * (one.length / other.length) ** d >= 1
