"""f(0) - f(u) of profiles f, to full digits where u is small; each takes an array of floats.

The rise of exp and of powers comes from expm1 and log1p; other profiles have a series, or an integral of expm1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mercer.kernels.precision import bessel, scalar
from mercer.kernels.precision.double_double import BLOCK_NUMBERS, Array, polynomial
from mercer.kernels.precision.mpmath_arrays import precisely

SMALL = 0.1
"""Below this part of f(0) a difference of floats is not accurate enough."""
NEGLIGIBLE = 40.0
"""An integrand below exp(-40) of the result does not count."""


def of_profile(profile: Callable[[Array], Array], u: Array) -> Array:
    """That of any profile: where it cancels, from numbers of 50 digits if the profile takes them."""
    top = profile(np.zeros(1))
    found = np.asarray(top - profile(u), dtype=np.float64)
    near = (np.abs(found) < SMALL * np.abs(top)) & (u > 0)
    if not near.any():
        return found
    arguments, places = np.unique(u[near], return_inverse=True)
    try:
        exact = profile(precisely(np.zeros(1))) - profile(precisely(arguments))
    except (TypeError, AttributeError):  # a profile that insists on floats
        return found
    found[near] = exact.astype(np.float64)[places]
    return found


def decay(u: Array) -> Array:
    """1 - exp(-u)."""
    return np.asarray(-np.expm1(-u))


def inverse_power(u: Array, shape: float) -> Array:
    """1 - (1 + u / (2 shape))^(-shape)."""
    return np.asarray(-np.expm1(-shape * np.log1p(u / (2 * shape))))


def sin_over(u: Array) -> Array:
    """1 - sin(u) / u."""
    inside = np.minimum(u, 1.5)
    square, series = inside * inside, np.ones_like(inside)
    for k in range(12, 1, -1):
        series = 1 - series * square / (2 * k * (2 * k + 1))
    return np.where(u < 1.5, series * square / 6, 1 - scalar.sin_over(u))


def ramp_of_angle(angle: Array) -> Array:
    """1 - (sin a + (pi - a) cos a) / pi: both terms are positive."""
    sine = np.sin(angle / 2)
    return np.asarray(2 * sine * sine - scalar.sin_minus_cos(angle) / math.pi)


def truncated_power(u: Array, order: int, coefficients: Sequence[float]) -> Array:
    """1 - (1 - u)^order p(u) for u <= 1, else 1."""
    inside = np.minimum(u, 1.0)
    direct = 1 - (1 - inside) ** order * polynomial(coefficients, inside)
    near = np.minimum(inside, 0.5)
    return np.where(direct < SMALL, -polynomial(_expanded(order, tuple(coefficients)), near), direct)


@lru_cache
def _expanded(order: int, coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """The coefficients of (1 - u)^order p(u) - 1."""
    whole = [Fraction(0)] * (order + len(coefficients))
    for i, c in enumerate(coefficients):
        for j in range(order + 1):
            whole[i + j] += (-1) ** j * math.comb(order, j) * Fraction(c)
    return (0.0, *map(float, whole[1:]))


def matern(nu: float, r: Array) -> Array:
    """1 - the Matern correlation of smoothness nu."""
    found = np.asarray(1 - bessel.matern(nu, r))
    near = (found < SMALL) & (r > 0)
    if near.any():
        half_integer = nu % 1 == 0.5 and nu < 11
        found[near] = _half_integer(int(nu), r[near]) if half_integer else _integral(nu, r[near])
    return found


def _half_integer(n: int, r: Array) -> Array:
    """Taylor's series of 1 - exp(-z) p(z), z = sqrt(2n + 1) r."""
    return -polynomial(_series(n), math.sqrt(2 * n + 1) * r)


@lru_cache
def _series(n: int) -> tuple[float, ...]:
    """The coefficients of exp(-z) p(z) - 1, those below exp(-40) of the first left out for z <= 3."""
    f = math.factorial
    p = [Fraction(2**k * f(n) * f(2 * n - k), f(2 * n) * f(n - k) * f(k)) for k in range(n + 1)]
    terms = range(1, 60)
    return (0.0, *(float(sum(p[k] * (-1) ** (j - k) / f(j - k) for k in range(min(j, n) + 1))) for j in terms))


def _integral(nu: float, r: Array) -> Array:
    """The mean of 1 - exp(-z^2 / (4 s)) over the Gamma law of s, z = sqrt(2 nu) r, where s = nu e^v.

    The trapezoid rule over v has the step of `bessel`. It ends on the right where the law does, and on the left where
    what is left out is below exp(-40) of the result: the result is at least about min(1, q^nu, q) with q = r^2 / 2.
    """
    q = r * r / 2  # z^2 / (4 nu)
    step = 0.7 / math.sqrt(nu + 9)
    slope = NEGLIGIBLE / nu
    left = min(math.log(max(float(q.min()), 1e-300)), 0.0) - slope - 1
    if nu > 1:
        steeper = NEGLIGIBLE / (nu - 1)
        left = max(left, -(steeper + math.sqrt(steeper * steeper + 8 * steeper)) / 2)
    right = 2 * math.asinh(math.sqrt(slope / 2))
    v = step * np.arange(math.floor(left / step), math.ceil(right / step) + 1.0)
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(-nu * np.where(np.abs(v) < 0.01, _exp_minus_line(v), np.expm1(v) - v))
        shrunk = np.exp(np.minimum(-v, 700.0))
        rows = max(1, BLOCK_NUMBERS * 8 // len(v))
        total = [-np.sum(weight * np.expm1(-q[i : i + rows, None] * shrunk), axis=1) for i in range(0, len(q), rows)]
    return np.asarray(np.concatenate(total) / math.fsum(weight))


def _exp_minus_line(v: Array) -> Array:
    """exp(v) - 1 - v for |v| < 0.01."""
    near = np.clip(v, -0.01, 0.01)
    return near * near / 2 * (1 + near / 3 * (1 + near / 4 * (1 + near / 5 * (1 + near / 6))))
