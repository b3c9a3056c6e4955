"""Numbers as unevaluated sums of two floats, high + low, with about 32 digits ("pairs").

exp(-t) turns a relative error of t into one t times as large, and (a + b)^p that of a + b into one p times as large.
Exponents are therefore carried as pairs, made by error-free transformations; float64 suffices for everything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[float, float]

BLOCK_NUMBERS = 2**13  # elements worked on at once: the temporaries of a block stay in the cache
DIGITS = Context(prec=50)
LARGEST = float(np.finfo(np.float64).max)


def pair(value: Any) -> Pair:
    """Split a number (a string of digits, a Fraction or an mpmath number) into floats high + low."""
    if isinstance(value, str | int | float | Fraction):
        exact = Fraction(value)
        return float(exact), float(exact - Fraction(float(exact)))
    return float(value), float(value - float(value))


def two_sum(a: Array | float, b: Array | float) -> tuple[Array, Array]:
    """Write a + b = high + low exactly, high = fl(a + b) (Knuth), for finite a, b and a + b."""
    high = np.add(a, b)
    part = high - a
    return high, (a - (high - part)) + (b - part)


def two_product(a: Array | float, b: Array | float) -> tuple[Array, Array]:
    """Write a b = high + low exactly, high = fl(a b) (Dekker), for finite a b unless low underflows."""
    a, b, high = np.asarray(a), np.asarray(b), np.multiply(a, b)
    # Veltkamp's splitting multiplies by 2^27 + 1: huge factors are scaled down for it.
    scale_a = np.where(np.abs(a) > 2.0**996, 2.0**-28, 1.0)
    scale_b = np.where(np.abs(b) > 2.0**996, 2.0**-28, 1.0)
    a_high, a_low = _split(a * scale_a)
    b_high, b_low = _split(b * scale_b)
    low = a_low * b_low - (((high * scale_a * scale_b - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return high, low / scale_a / scale_b


def quotient(u: Array, d: float) -> tuple[Array, Array]:
    """Write u / d as a pair; low is 0 where high is infinite."""
    with np.errstate(over="ignore", under="ignore"):
        high = np.asarray(u / d)
        finite = np.isfinite(high)
        product, product_low = two_product(np.where(finite, high, 0.0), d)
        return high, ((np.where(finite, u, 0.0) - product) - product_low) / d


def _split(a: Array) -> tuple[Array, Array]:
    """Write a = high + low with at most 26 significant bits each (Veltkamp), for |a| <= 2^996."""
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    return high, a - high


def times(c: Pair, u: Array) -> tuple[Array, Array]:
    """Return the pair c u."""
    high, low = two_product(c[0], u)
    return high, low + c[1] * u


def times_moderate(c: Pair, u: Array) -> tuple[Array, Array]:
    """The same where c and u are far below 2^996, bit for bit: nothing is scaled."""
    high = c[0] * u
    c_high, c_low = _split(np.asarray(c[0]))
    u_high, u_low = _split(u)
    return high, c_low * u_low - (((high - c_high * u_high) - c_low * u_high) - c_high * u_low) + c[1] * u


def exp_of(high: Array, low: Array) -> Array:
    """Evaluate exp(high + low), low being below an ulp or so of high."""
    return np.asarray(np.exp(high) * (1 + low))


def log_of(high: Array, low: Array) -> tuple[Array, Array]:
    """Return the pair log(high + low), high > 0: log(2^k m) = k log 2 - log c + log(1 + t), t = c m - 1.

    c is the multiple of 1/128 nearest to 1/m, so |t| < 0.006: all but t - t^2/2 may be left to float64.
    """
    ln2, ln2_low, table, table_low = _log_table()
    m, k = np.frexp(high)
    k = k - (m < math.sqrt(0.5))
    m = np.ldexp(high, -k)
    j = np.rint(128 / m)
    t, t_low = two_product(j / 128, m)
    t, t_low = two_sum(t - 1, t_low + j / 128 * np.ldexp(low, -k))
    square, square_low = two_product(t, t)
    tail = t * square * polynomial([(-1) ** n / (n + 3) for n in range(8)], t)
    i = j.astype(np.intp) - 90
    total, rest_1 = two_sum(k * ln2, table[i])  # k ln2 is exact
    total, rest_2 = two_sum(total, t)
    total, rest_3 = two_sum(total, -square / 2)
    rest = k * ln2_low + table_low[i] + t_low - square_low / 2 - t * t_low + tail
    return two_sum(total, rest_1 + rest_2 + rest_3 + rest)


@lru_cache
def _log_table() -> tuple[float, float, Array, Array]:
    """Return log 2 as 40 bits and the rest, and -log(j/128) for j = 90, ..., 182 as pairs."""
    ln2 = Fraction(DIGITS.ln(Decimal(2)))
    ln2_high = Fraction(int(ln2 * 2**40), 2**40)
    pairs = np.array([pair(str(-DIGITS.ln(Decimal(j) / 128))) for j in range(90, 183)])
    return float(ln2_high), float(ln2 - ln2_high), pairs[:, 0].copy(), pairs[:, 1].copy()


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Evaluate sum_k coefficients[k] x^k by Horner's rule."""
    value = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * x + c
    return value


def blockwise(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function of 1-d arrays to arrays of one shape, in blocks so that temporaries stay small."""
    flat = [np.ravel(np.asarray(array, dtype=np.float64)) for array in arrays]
    out = np.empty_like(flat[0])
    with np.errstate(under="ignore"):  # low parts, tails of sums, and results that are rightly 0
        for i in range(0, out.size, BLOCK_NUMBERS):
            out[i : i + BLOCK_NUMBERS] = function(*(array[i : i + BLOCK_NUMBERS] for array in flat))
    return out.reshape(np.shape(arrays[0]))
