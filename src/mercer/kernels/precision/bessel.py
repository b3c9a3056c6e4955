"""The Matern correlation of any smoothness, to a few units in the last place."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from mercer.compute.codegen.symbols import Untraceable
from mercer.kernels.precision.double_double import (
    DIGITS,
    Array,
    Pair,
    blockwise,
    exp_of,
    log_of,
    pair,
    polynomial,
    quotient,
    times_moderate,
    two_product,
    two_sum,
)

MAX_EXPONENT = 700.0
"""Up to this z, exp(-z) keeps all of its digits."""


def matern(nu: float, r: Array) -> Array:
    """Evaluate 2^(1-nu) / Gamma(nu) z^nu K_nu(z), z = sqrt(2 nu) r, the Matern correlation at r >= 0.

    For nu > 1e15 the relative error grows to that of exp(-r^2 / 2) in float64, about 1e-13.
    """
    nu = float(nu)
    if not 0 < nu < math.inf:
        raise ValueError(f"nu must be positive and finite, not {nu}")
    near = 0.5 * math.sqrt(max(1 - nu, 0) / (2 * nu))
    far = 40 + 1000 / math.sqrt(2 * nu)  # the correlation is 0 from here on

    def block(r: Array) -> Array:
        r = np.minimum(r, far)
        if nu % 1 == 0.5 and nu < 11:
            return np.minimum(_matern_half_integer(int(nu), r), 1.0)
        out = 1 + 0 * r  # NaN stays NaN
        for formula, inside in ((_matern_near_zero, r < near), (_matern_integral, r >= near)):
            inside &= r > 0
            if inside.any():
                out[inside] = formula(nu, r[inside])
        return np.minimum(out, 1.0)

    return blockwise(block, r)


def matern_written(nu: float, r: Any) -> Any:
    """The same formula for a symbol; only half integers below 11 have one without integrals."""
    if nu % 1 != 0.5 or nu > 11:
        raise Untraceable(f"the Matern correlation of nu = {nu}")
    (root, _), coefficients = _half_integer_constants(int(nu))
    r = np.minimum(r, 40 + 1000 / math.sqrt(2 * nu))  # the correlation is 0 from here on
    polynomial = coefficients[-1]
    for c in coefficients[-2::-1]:
        polynomial = polynomial * r + c
    return np.exp(-root * r) * polynomial


def _matern_half_integer(n: int, r: Array) -> Array:
    """Evaluate, for nu = n + 1/2, exp(-z) n!/(2n)! sum_k (2n-k)! / ((n-k)! k!) (2z)^k, z = sqrt(2n+1) r."""
    root, coefficients = _half_integer_constants(n)
    high, low = times_moderate(root, r)
    if not (r.size and high.max() > MAX_EXPONENT):
        return exp_of(-high, -low) * polynomial(coefficients, r)
    # exp(-z) may underflow where its product with the polynomial does not: the part beyond comes last.
    near = np.minimum(high, MAX_EXPONENT)
    return exp_of(-near, -low) * polynomial(coefficients, r) * np.exp(near - high)


@lru_cache
def _half_integer_constants(n: int) -> tuple[Pair, list[float]]:
    """Return sqrt(2n+1) and the coefficients of the powers of r: those of z would need z beyond float64."""
    f = math.factorial
    c = [Fraction(2**k * f(n) * f(2 * n - k), f(2 * n) * f(n - k) * f(k)) for k in range(n + 1)]
    root = pair(str(DIGITS.sqrt(Decimal(2 * n + 1))))
    return root, [math.sqrt(c[k] ** 2 * (2 * n + 1) ** k) for k in range(n + 1)]


def _matern_near_zero(nu: float, r: Array) -> Array:
    """Sum the power series, arranged in positive terms, for nu < 1 and 0 < z < sqrt(1 - nu) / 2.

    With y = z^2/4 and T = Gamma(1-nu)/Gamma(1+nu) y^nu, M = (1-T) S(-nu) + T (S(-nu) - S(nu)), where
    S(nu) = sum_k y^k / (k! (1+nu)_k).
    """
    z = np.maximum(math.sqrt(2 * nu) * r, 5e-324)
    log_t = 2 * nu * (np.log(z) + _gamma_constant(nu))
    k = np.arange(1.0, 10.0)
    first = np.cumprod(1 / (k * (k - nu)))
    difference = -first * np.expm1(np.cumsum(np.log1p(-2 * nu / (k + nu))))
    y = z * z / 4
    growing = polynomial([0.0, *difference], y) * np.exp(log_t)
    return growing - polynomial([1.0, *first], y) * np.expm1(log_t)


@lru_cache(maxsize=256)
def _gamma_constant(nu: float) -> float:
    """Sum log(Gamma(1-nu)/Gamma(1+nu)) / (2 nu) - log 2 = euler - log 2 + sum_n (atanh(nu/n)/nu - 1/n)."""
    n = np.arange(1.0, 10000.0)
    rest = nu * nu / 6 * (1e-8 + 1e-12)  # of the sum, from n = 10000
    return math.fsum([np.euler_gamma, -math.log(2), rest, *(np.arctanh(nu / n) / nu - 1 / n)])


def _matern_integral(nu: float, r: Array) -> Array:
    """Evaluate exp(-nu (2w - log(1+w))) I(w) / I(0), w (1 + w) = r^2 / (2 nu).

    I(w) = Int exp(-nu (e^v - 1 - v) - 2 nu w (cosh v - 1)) dv is what 1/Gamma(nu) Int s^(nu-1)
    exp(-s - z^2/(4s)) ds becomes by s = nu (1 + w) e^v, which puts the maximum of the integrand at v = 0.
    """
    w, w_low = _root(nu, r)
    high, low = two_sum(1.0, w)
    log_high, log_low = log_of(high, low + w_low)
    decay_high, decay_low = two_product(2 * nu, w)
    growth_high, growth_low = two_product(nu, log_high)
    high, low = two_sum(growth_high, -decay_high)
    scale = exp_of(high, low + (growth_low - decay_low + nu * log_low - 2 * nu * w_low))
    # The nodes depend on the size of 2w, by binades; the tail exp(nu v) sets their range for 2w < 2^lowest.
    lowest = -min(int(58 / nu), 1000)
    binade = np.maximum(np.frexp(np.maximum(2 * w, 1e-300))[1], lowest)
    for j in range(binade.min(), binade.max() + 1):
        inside = np.flatnonzero(binade == j)
        rate, weight = _nodes(nu, 2.0 ** (j - 1) if j > lowest else 0.0, 2.0**j)
        step = max(2**16 // len(rate), 1)
        for i in range(0, len(inside), step):
            part = inside[i : i + step]
            # Row sums, not a BLAS product: each value must be independent of its place in the array.
            scale[part] *= np.sum(weight * np.exp(rate * w[part, None]), axis=1)
    return scale


def _root(nu: float, r: Array) -> tuple[Array, Array]:
    """Return the pair w >= 0 with w (1 + w) = y = r^2 / (2 nu), by one Newton step on the float64 root."""
    square, square_low = two_product(r, r)
    y, y_low = quotient(square, 2 * nu)
    w = 2 * y / (1 + np.sqrt(1 + 4 * y))
    product, product_low = two_product(w, w)
    high, low = two_sum(y, -product)
    return w, ((high - w) + (low - product_low + y_low + square_low / (2 * nu))) / (1 + 2 * w)


@lru_cache(maxsize=1024)
def _nodes(nu: float, least: float, most: float) -> tuple[Array, Array]:
    """Return -2 nu (cosh v - 1) and the weights over I(0), at the nodes v for least <= 2w < most."""
    v, weight = _trapezoid(nu, least, most)
    return -4 * nu * np.sinh(v / 2) ** 2, weight / _at_zero(nu)


@lru_cache(maxsize=256)
def _at_zero(nu: float) -> float:
    """Evaluate I(0) = Gamma(nu) e^nu / nu^nu, by the same rule: nothing cancels for large nu."""
    if nu < 0.001:  # Gamma(nu) = Gamma(1 + nu) / nu avoids a long tail
        return _at_zero(1 + nu) * math.pow(1 + 1 / nu, 1 + nu) / math.e
    return math.fsum(_trapezoid(nu, 0.0, 0.0)[1])


def _trapezoid(nu: float, least: float, most: float) -> tuple[Array, Array]:
    """Return nodes v and weights step exp(-nu (e^v - 1 - v)) of the trapezoid rule for I(w).

    The step serves 2w = most, the narrowest integrand, and the range 2w = least, the widest: it ends where
    the exponent passes -40, by e^v - 1 - v >= cosh v - 1 for v > 0 and >= v^2 / (2 - v) for v < 0.
    """
    step = 0.7 / math.sqrt(nu * (1 + most) + 9)
    slope = 40 / nu
    right = 2 * math.asinh(math.sqrt(slope / 2 / (1 + least)))
    left = (slope + math.sqrt(slope * slope + 8 * slope)) / 2
    if least:
        left = min(left, 2 * math.asinh(math.sqrt(slope / 2 / least)))
    v: Array = step * np.arange(-math.ceil(left / step), math.ceil(right / step) + 1.0)
    near = np.clip(v, -1, 1)
    tail = np.ones_like(v)
    for k in range(20, 2, -1):
        tail = 1 + tail * near / k
    rise = np.where(np.abs(v) < 1, near * near / 2 * tail, np.expm1(v) - v)  # e^v - 1 - v
    return v, np.asarray(step * np.exp(-nu * rise))
