"""The words of which profiles are made where plain NumPy would lose digits.

Each takes an array of floats, and is then within a few units in the last place; or an array of numbers of 50 digits,
and then follows the plain formula in mpmath. A profile that uses only these words and NumPy's functions can be
evaluated both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import accurate
from mercer.kernels.precise import apply

Array = NDArray[Any]

PI_LOW = 1.2246467991473532e-16
"""pi - math.pi."""


def _either(values: Array, floats: Callable[[Array], Array], exactly: Callable[[Any, Any], Any]) -> Array:
    """floats(values), or exactly(mp, number) for each number of 50 digits."""
    return apply(exactly, values) if values.dtype == object else floats(values)


def exp(values: Array) -> Array:
    """exp of each number."""
    return _either(values, lambda v: np.asarray(np.exp(v)), lambda mp, v: mp.exp(v))


def decay(rate: Fraction, u: Array) -> Array:
    """exp(-rate u); the rate is exact."""
    return _either(
        u,
        lambda v: accurate.decay(_pair(rate), v),
        lambda mp, v: mp.exp(-mp.mpf(rate.numerator) / rate.denominator * v),
    )


def growth(rate: Fraction, t: Array) -> Array:
    """exp(rate t) for t of any sign; the rate is exact, and above zero."""

    def floats(v: Array) -> Array:
        high, low = _pair(rate)
        # exp is 0 or infinity beyond 800, and a bounded product stays finite.
        bounded = np.clip(v, -min(800 / high, 1e300), min(800 / high, 1e300))
        exponent, rest = accurate.two_product(high, bounded)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(exponent) * (1 + (rest + low * bounded)))

    return _either(t, floats, lambda mp, v: mp.exp(mp.mpf(rate.numerator) / rate.denominator * v))


def power_of_sum(a: float, t: Array, p: int) -> Array:
    """(a + t)^p for a whole p."""
    return _either(t, lambda v: accurate.power_of_sum(a, v, p), lambda mp, v: (a + v) ** p)


def inverse_power(u: Array, shape: float) -> Array:
    """(1 + u / (2 shape))^(-shape) for u >= 0."""

    def floats(v: Array) -> Array:
        finite = np.where(np.isfinite(v), v, 0.0)
        high = finite / (2 * shape)
        back, rest = accurate.two_product(high, 2 * shape)
        low = ((finite - back) - rest) / (2 * shape)
        return np.where(np.isfinite(v), accurate.power_of_sum(1.0, (high, low), -shape), 0.0)

    return _either(u, floats, lambda mp, v: (1 + v / (2 * mp.mpf(shape))) ** -mp.mpf(shape))


def matern(nu: float, r: Array) -> Array:
    """2^(1-nu) / Gamma(nu) t^nu K_nu(t) with t = sqrt(2 nu) r; 1 at r = 0."""

    def exactly(mp: Any, r: Any) -> Any:
        t = mp.sqrt(2 * mp.mpf(nu)) * r
        return mp.mpf(2) ** (1 - mp.mpf(nu)) / mp.gamma(nu) * t**nu * mp.besselk(nu, t) if t else mp.mpf(1)

    return _either(r, lambda v: accurate.matern(nu, v), exactly)


def sin_over(u: Array) -> Array:
    """sin(u) / u; 1 at u = 0."""
    return _either(u, accurate.sin_over, lambda mp, v: mp.sin(v) / v if v else mp.mpf(1))


def sin_half_turns(gap: Array, period: float) -> Array:
    """sin(pi gap / period), exact in the whole periods that are taken off."""

    def floats(v: Array) -> Array:
        rest = np.fmod(v, period) / period
        return np.asarray(np.sin(np.pi * (rest - np.rint(rest))))

    return _either(gap, floats, lambda mp, v: mp.sinpi(v / period))


def tanh_of_line(slope: float, t: Array, offset: float) -> Array:
    """tanh(slope t + offset), accurate near its zero too."""

    def floats(v: Array) -> Array:
        bounded = np.clip(v, -1e300, 1e300)
        product, product_low = accurate.two_product(slope, bounded)
        high, low = accurate.two_sum(product, offset)
        middle = np.tanh(high)
        return np.asarray(middle + (1 - middle * middle) * (low + product_low))

    return _either(t, floats, lambda mp, v: mp.tanh(mp.mpf(slope) * v + offset))


def rest_of_angle(angle: Array) -> Array:
    """1 - angle / pi for an angle from 0 to pi."""
    return _either(
        angle, lambda v: np.asarray(((math.pi - v) + PI_LOW) / math.pi), lambda mp, v: 1 - v / mp.pi
    )


def ramp_of_angle(angle: Array) -> Array:
    """(sin a + (pi - a) cos a) / pi for an angle a from 0 to pi; with b = pi - a it is (sin b - b cos b) / pi."""
    return _either(
        angle,
        lambda v: np.asarray(accurate.sin_minus_cos((math.pi - v) + PI_LOW) / math.pi),
        lambda mp, v: (mp.sin(v) + (mp.pi - v) * mp.cos(v)) / mp.pi,
    )


def _pair(number: Fraction) -> tuple[float, float]:
    """A fraction as the sum of two floats."""
    high = float(number)
    return high, float(number - Fraction(high))
