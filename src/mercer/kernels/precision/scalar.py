"""Scalar formulas to a few units in the last place of the exact value at their float64 arguments. NaN gives NaN."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.precision.double_double import (
    LARGEST,
    Array,
    Pair,
    blockwise,
    exp_of,
    log_of,
    polynomial,
    times,
    two_product,
    two_sum,
)


def decay(coefficient: Pair, u: Array) -> Array:
    """Evaluate exp(-c u) for c = high + low >= 0: 0 at u = inf; u < 0 gives growth, up to inf."""
    # exp(-800) is 0 and exp(800) inf, and a bounded u keeps the product finite.
    cap = min(800 / coefficient[0], LARGEST) if coefficient[0] else LARGEST

    def block(u: Array) -> Array:
        high, low = times(coefficient, np.clip(u, -cap, cap))
        with np.errstate(over="ignore"):
            return exp_of(-high, -low)

    return blockwise(block, u)


def power_of_sum(a: float, b: Array | tuple[Array, Array], p: float) -> Array:
    """Evaluate (a + b)^p, b possibly a pair, where a + b >= 0 or p is an integer; limits at infinity."""

    def block(b: Array, b_low: Array) -> Array:
        finite = np.isfinite(b)
        high, low = two_sum(a, np.where(finite, b, 0.0))
        high, low = two_sum(high, low + np.where(finite, b_low, 0.0))
        base, plain = np.where(finite, high, b), finite & (high != 0)
        with np.errstate(over="ignore", divide="ignore"):  # where the power itself is out of range
            value = _small_power(high, low, p, plain) if p in range(1, 6) else _power(high, low, p, plain)
            return np.power(base, p, where=~plain, out=value)

    return blockwise(block, *(b if isinstance(b, tuple) else (b, np.zeros_like(b))))


def _small_power(high: Array, low: Array, p: float, plain: NDArray[np.bool_]) -> Array:
    """(high + low)^p by multiplication: few enough roundings for a small p, and fast."""
    value = high.copy()
    for _ in range(int(p) - 1):
        value *= high
    # A low part that matters is below high; where high is tiny, low is zero and so is the correction.
    correction = np.divide(low, high, out=np.zeros_like(high), where=plain)
    return np.asarray(value * (1 + p * correction))


def _power(high: Array, low: Array, p: float, plain: NDArray[np.bool_]) -> Array:
    """(high + low)^p through a logarithm of 32 digits."""
    sign = np.where(plain, np.sign(high), 1.0)
    log, log_low = log_of(np.where(plain, high * sign, 1.0), low * sign)
    exponent, rest = two_product(p, log)
    return exp_of(exponent, rest + p * log_low) * (sign if p % 2 == 1 else 1.0)


def sin_over(u: Array) -> Array:
    """Evaluate sin(u) / u for u >= 0: 1 at u = 0 and 0 at u = inf."""

    def block(u: Array) -> Array:
        inside = (u > 0) & (u < math.inf)
        safe = np.where(inside, u, 1.0)
        return np.where(inside, np.sin(safe) / safe, 1 / (1 + u))

    return blockwise(block, u)


def sin_minus_cos(b: Array) -> Array:
    """Evaluate sin(b) - b cos(b), 0 <= b <= pi; b^3 sum_k 2(k+1) (-b^2)^k / (2k+3)! where it cancels."""
    coefficients = [(-1) ** k * 2 * (k + 1) / math.factorial(2 * k + 3) for k in range(13)]

    def block(b: Array) -> Array:
        near = np.minimum(b, math.pi / 2)
        series = near * near * near * polynomial(coefficients, near * near)
        return np.where(b < math.pi / 2, series, np.sin(b) - b * np.cos(b))

    return blockwise(block, b)
