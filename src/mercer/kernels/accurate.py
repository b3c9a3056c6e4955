"""Scalar formulas evaluated to a few units in the last place of the exact value at their float64 arguments.

exp(-t) turns a relative error of t into one t times as large, and (a + b)^p that of a + b into one p times
as large.  Exponents are therefore carried as unevaluated sums high + low ("pairs", about 32 digits), made
by error-free transformations; float64 suffices for everything else.  NaN gives NaN.
"""

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

_BLOCK = 2**14  # elements worked on at once: the temporaries of a block stay in the cache
_DIGITS = Context(prec=50)
_LARGEST = float(np.finfo(np.float64).max)


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


def decay(coefficient: Pair, u: Array) -> Array:
    """Evaluate exp(-c u) for c = high + low >= 0: 0 at u = inf; u < 0 gives growth, up to inf."""
    # exp(-800) is 0 and exp(800) inf, and a bounded u keeps the product finite.
    cap = min(800 / coefficient[0], _LARGEST) if coefficient[0] else _LARGEST

    def block(u: Array) -> Array:
        high, low = _scaled(coefficient, np.clip(u, -cap, cap))
        with np.errstate(over="ignore"):
            return _exp(-high, -low)

    return _blockwise(block, u)


def power_of_sum(a: float, b: Array | tuple[Array, Array], p: float) -> Array:
    """Evaluate (a + b)^p, b possibly a pair, where a + b >= 0 or p is an integer; limits at infinity."""

    def block(b: Array, b_low: Array) -> Array:
        finite = np.isfinite(b)
        high, low = two_sum(a, np.where(finite, b, 0.0))
        high, low = two_sum(high, low + np.where(finite, b_low, 0.0))
        base, plain = np.where(finite, high, b), finite & (high != 0)
        sign = np.where(plain, np.sign(high), 1.0)
        log, log_low = _log(np.where(plain, high * sign, 1.0), low * sign)
        high, low = two_product(p, log)
        with np.errstate(over="ignore", divide="ignore"):  # where the power itself is out of range
            value = _exp(high, low + p * log_low) * (sign if p % 2 == 1 else 1.0)
            return np.power(base, p, where=~plain, out=value)

    return _blockwise(block, *(b if isinstance(b, tuple) else (b, np.zeros_like(b))))


def sin_over(u: Array) -> Array:
    """Evaluate sin(u) / u for u >= 0: 1 at u = 0 and 0 at u = inf."""

    def block(u: Array) -> Array:
        inside = (u > 0) & (u < math.inf)
        safe = np.where(inside, u, 1.0)
        return np.where(inside, np.sin(safe) / safe, 1 / (1 + u))

    return _blockwise(block, u)


def sin_minus_cos(b: Array) -> Array:
    """Evaluate sin(b) - b cos(b), 0 <= b <= pi; b^3 sum_k 2(k+1) (-b^2)^k / (2k+3)! where it cancels."""
    coefficients = [(-1) ** k * 2 * (k + 1) / math.factorial(2 * k + 3) for k in range(13)]

    def block(b: Array) -> Array:
        near = np.minimum(b, math.pi / 2)
        series = near * near * near * _polynomial(coefficients, near * near)
        return np.where(b < math.pi / 2, series, np.sin(b) - b * np.cos(b))

    return _blockwise(block, b)


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

    return _blockwise(block, r)


def _matern_half_integer(n: int, r: Array) -> Array:
    """Evaluate, for nu = n + 1/2, exp(-z) n!/(2n)! sum_k (2n-k)! / ((n-k)! k!) (2z)^k, z = sqrt(2n+1) r."""
    root, coefficients = _half_integer_constants(n)
    high, low = _scaled(root, r)
    # exp(-z) may underflow where its product with the polynomial does not: the part beyond 700 comes last.
    near = np.minimum(high, 700.0)
    return _exp(-near, -low) * _polynomial(coefficients, r) * np.exp(near - high)


@lru_cache
def _half_integer_constants(n: int) -> tuple[Pair, list[float]]:
    """Return sqrt(2n+1) and the coefficients of the powers of r: those of z would need z beyond float64."""
    f = math.factorial
    c = [Fraction(2**k * f(n) * f(2 * n - k), f(2 * n) * f(n - k) * f(k)) for k in range(n + 1)]
    root = pair(str(_DIGITS.sqrt(Decimal(2 * n + 1))))
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
    growing = _polynomial([0.0, *difference], y) * np.exp(log_t)
    return growing - _polynomial([1.0, *first], y) * np.expm1(log_t)


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
    log_high, log_low = _log(high, low + w_low)
    decay_high, decay_low = two_product(2 * nu, w)
    growth_high, growth_low = two_product(nu, log_high)
    high, low = two_sum(growth_high, -decay_high)
    scale = _exp(high, low + (growth_low - decay_low + nu * log_low - 2 * nu * w_low))
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


def _blockwise(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function of 1-d arrays to arrays of one shape, in blocks so that temporaries stay small."""
    flat = [np.ravel(np.asarray(array, dtype=np.float64)) for array in arrays]
    out = np.empty_like(flat[0])
    with np.errstate(under="ignore"):  # low parts, tails of sums, and results that are rightly 0
        for i in range(0, out.size, _BLOCK):
            out[i : i + _BLOCK] = function(*(array[i : i + _BLOCK] for array in flat))
    return out.reshape(np.shape(arrays[0]))


def _split(a: Array) -> tuple[Array, Array]:
    """Write a = high + low with at most 26 significant bits each (Veltkamp), for |a| <= 2^996."""
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    return high, a - high


def _scaled(c: Pair, u: Array) -> tuple[Array, Array]:
    """Return the pair c u."""
    high, low = two_product(c[0], u)
    return high, low + c[1] * u


def _exp(high: Array, low: Array) -> Array:
    """Evaluate exp(high + low), low being below an ulp or so of high."""
    return np.asarray(np.exp(high) * (1 + low))


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Evaluate sum_k coefficients[k] x^k by Horner's rule."""
    value = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * x + c
    return value


def _log(high: Array, low: Array) -> tuple[Array, Array]:
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
    tail = t * square * _polynomial([(-1) ** n / (n + 3) for n in range(8)], t)
    i = j.astype(np.intp) - 90
    total, rest_1 = two_sum(k * ln2, table[i])  # k ln2 is exact
    total, rest_2 = two_sum(total, t)
    total, rest_3 = two_sum(total, -square / 2)
    rest = k * ln2_low + table_low[i] + t_low - square_low / 2 - t * t_low + tail
    return two_sum(total, rest_1 + rest_2 + rest_3 + rest)


@lru_cache
def _log_table() -> tuple[float, float, Array, Array]:
    """Return log 2 as 40 bits and the rest, and -log(j/128) for j = 90, ..., 182 as pairs."""
    ln2 = Fraction(_DIGITS.ln(Decimal(2)))
    ln2_high = Fraction(int(ln2 * 2**40), 2**40)
    pairs = np.array([pair(str(-_DIGITS.ln(Decimal(j) / 128))) for j in range(90, 183)])
    return float(ln2_high), float(ln2 - ln2_high), pairs[:, 0].copy(), pairs[:, 1].copy()
