"""The words of which profiles are made where plain NumPy would lose digits.

Each takes an array of floats, and is then within a few units in the last place; or an array of numbers of 50 digits,
and then follows the plain formula in mpmath; or a symbol, and then writes that formula down for the fused pass. A
profile that uses only these words and NumPy's functions can be evaluated in all three ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import symbols
from mercer.compute.codegen.symbols import Symbol
from mercer.kernels.precision import bessel, double_double, scalar
from mercer.kernels.precision.mpmath_arrays import apply

Array = NDArray[Any]

PI_LOW = 1.2246467991473532e-16
"""pi - math.pi."""
_STEEP = Fraction(2**1000)
"""The largest rate that is worked with: what is larger counts as so many times as much of the other factor."""


def _either(
    values: Array,
    floats: Callable[[Array], Array],
    exactly: Callable[[Any, Any], Any],
    written: Callable[[Any], Any],
) -> Array:
    """floats(values), exactly(mp, number) for each number of 50 digits, or written(symbol)."""
    if isinstance(values, Symbol):
        return written(values)
    if values.dtype != object:
        return floats(values)
    if values.ndim == 0 and isinstance(values.item(), Symbol):  # np.asarray(symbol)
        return written(values.item())  # type: ignore[no-any-return]
    return apply(exactly, values)


def exp(values: Array) -> Array:
    """Exp of each number."""
    return _either(values, lambda v: np.asarray(np.exp(v)), lambda mp, v: mp.exp(v), np.exp)


def decay(rate: Fraction, u: Array) -> Array:
    """exp(-rate u) for u of any sign; the rate is exact."""
    while rate > _STEEP:  # of a lengthscale near 5e-324 no float holds it: u is multiplied instead, and may be infinite
        with np.errstate(over="ignore"):
            rate, u = rate / _STEEP, u * float(_STEEP)
    return _either(
        u,
        lambda v: scalar.decay(double_double.pair(rate), v),
        lambda mp, v: mp.exp(-mp.mpf(rate.numerator) / rate.denominator * v),
        lambda v: np.exp(-float(rate) * v),
    )


def power_of_sum(a: float, t: Array, p: int) -> Array:
    """(a + t)^p for a whole p."""
    return _either(t, lambda v: scalar.power_of_sum(a, v, p), lambda mp, v: (a + v) ** p, lambda v: (a + v) ** p)


def inverse_power(u: Array, shape: float) -> Array:
    """(1 + u / (2 shape))^(-shape) for u >= 0."""

    def floats(v: Array) -> Array:
        return scalar.power_of_sum(1.0, double_double.quotient(v, 2 * shape), -shape)

    return _either(
        u,
        floats,
        lambda mp, v: (1 + v / (2 * mp.mpf(shape))) ** -mp.mpf(shape),
        lambda v: (1 + v / (2 * shape)) ** -shape,
    )


def matern(nu: float, r: Array) -> Array:
    """2^(1-nu) / Gamma(nu) t^nu K_nu(t) with t = sqrt(2 nu) r; 1 at r = 0."""

    def exactly(mp: Any, r: Any) -> Any:
        t = mp.sqrt(2 * mp.mpf(nu)) * r
        return mp.mpf(2) ** (1 - mp.mpf(nu)) / mp.gamma(nu) * t**nu * mp.besselk(nu, t) if t else mp.mpf(1)

    return _either(r, lambda v: bessel.matern(nu, v), exactly, lambda v: bessel.matern_written(nu, v))


def sin_over(u: Array) -> Array:
    """sin(u) / u; 1 at u = 0."""

    def written(v: Any) -> Any:
        inside = np.where((v > 0) & (v < 1e15), v, 1.0)
        return np.where(v > 0, np.where(v < 1e15, np.sin(inside) / inside, 0.0), 1.0)

    return _either(
        u,
        scalar.sin_over,
        lambda mp, v: mp.sin(v) / v if v else mp.mpf(1),
        written,
    )


def sin_half_turns(gap: Array, period: float) -> Array:
    """sin(pi gap / period) up to sign, exact in the whole periods that are taken off."""

    def floats(v: Array) -> Array:
        rest = np.fmod(v, period) / period
        return np.asarray(np.sin(np.pi * (rest - np.rint(rest))))

    def written(v: Any) -> Any:
        rest = v - period * np.rint(v / period)
        return symbols.apply("sin_pi", rest / period)

    return _either(gap, floats, lambda mp, v: mp.sinpi(v / period), written)


def tanh_of_line(slope: float, t: Array, offset: float) -> Array:
    """tanh(slope t + offset), accurate near its zero too."""

    def floats(v: Array) -> Array:
        bounded = np.clip(v, -1e300, 1e300)
        product, product_low = double_double.two_product(slope, bounded)
        high, low = double_double.two_sum(product, offset)
        middle = np.tanh(high)
        return np.asarray(middle + (1 - middle * middle) * (low + product_low))

    return _either(t, floats, lambda mp, v: mp.tanh(mp.mpf(slope) * v + offset), lambda v: np.tanh(slope * v + offset))


def rest_of_angle(angle: Array) -> Array:
    """1 - angle / pi for an angle from 0 to pi."""
    return _either(
        angle,
        lambda v: np.asarray(((math.pi - v) + PI_LOW) / math.pi),
        lambda mp, v: 1 - v / mp.pi,
        lambda v: 1 - v / math.pi,
    )


def ramp_of_angle(angle: Array) -> Array:
    """(sin a + (pi - a) cos a) / pi for an angle a from 0 to pi; with b = pi - a it is (sin b - b cos b) / pi."""
    return _either(
        angle,
        lambda v: np.asarray(scalar.sin_minus_cos((math.pi - v) + PI_LOW) / math.pi),
        lambda mp, v: (mp.sin(v) + (mp.pi - v) * mp.cos(v)) / mp.pi,
        lambda v: (np.sin(v) + (math.pi - v) * np.cos(v)) / math.pi,
    )
