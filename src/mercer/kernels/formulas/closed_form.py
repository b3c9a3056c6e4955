"""From features to their kernel: [x1, x2, x1^2, sqrt(2) x1 x2, x2^2] is linear + linear**2.

The polynomial sum_i phi_i(x) phi_i(z) is multiplied out exactly, and looked at: a polynomial of x.z, one of the
families of monomials, a product or a sum over the columns, or a linear map. Where it is none of them, the kernel is the
inner product of the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from operator import add, mul

from mercer.kernels import Constant, Kernel, Linear, Monomials, Parabolic, Polynomial, Powers, Subsets
from mercer.kernels.algebra.feature_map import FeatureMap
from mercer.kernels.formulas.polynomials import MAX_PRODUCTS, Expander, of_points, of_second
from mercer.kernels.formulas.polynomials import Polynomial as Exact
from mercer.kernels.formulas.surds import ONE, ZERO, Surd, TooLargeError

MAX_COLUMNS = 8
"""Columns up to which a sum or a product with a term for each is written out."""
Exponents = tuple[int, ...]
"""One for each column."""
Weights = dict[Exponents, Surd]
"""The kernel sum_a w_a (x z)^a: its coefficients by the exponents."""


@lru_cache(maxsize=64)
def closed_form(phi: FeatureMap, d: int) -> Kernel:
    """The kernel sum_i phi_i(x) phi_i(z) on rows of d columns, as short a text as is found.

    >>> print(closed_form(FeatureMap.read(["1", "sqrt(2)*x1", "sqrt(2)*x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"]), 2))
    polynomial(degree=2, offset=1.0)
    >>> print(closed_form(FeatureMap.read(["x1", "x2 + x3"]), 3))
    linear.after([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    >>> print(closed_form(FeatureMap.read(["exp(x1)", "x2"]), 2))
    linear.after(['exp(x1)', 'x2'])
    """
    features = polynomials_of(phi, d)
    found = None if features is None else inner_product(features, d)
    if features is None or found is None:
        return Linear().after(phi)
    try:
        return recognised(found, d) or _linear_map(features, d) or Linear().after(phi)
    except OverflowError:  # a coefficient beyond all floats
        return Linear().after(phi)


def polynomials_of(phi: FeatureMap, d: int) -> list[Exact] | None:
    """The formulas as exact polynomials; None where one is none."""
    found = [each.polynomial(d) for each in phi.formulas]
    return None if any(each is None for each in found) else [each for each in found if each is not None]


def inner_product(features: list[Exact], d: int) -> Exact | None:
    """sum_i phi_i(x) phi_i(z), multiplied out; None where that is too long."""
    if sum(len(each) ** 2 for each in features) > MAX_PRODUCTS // 8:
        return None
    expander = Expander(d)
    try:
        return expander.added([expander.multiplied(each, of_second(each)) for each in features])
    except TooLargeError:
        return None


def recognised(found: Exact, d: int) -> Kernel | None:
    """The kernel of a polynomial of both points; None where it is none that is known."""
    used = sorted({column for monomial in found for (_, column), _ in monomial})
    if not used:
        return Constant(float(found.get((), ZERO)))
    place = {column: k for k, column in enumerate(used)}
    narrow = {
        tuple(((point, place[column]), power) for (point, column), power in monomial): factor
        for monomial, factor in found.items()
    }
    kernel = _parabolic(narrow, len(used)) if len(used) > 1 else None
    weights = None if kernel is not None else _weights(narrow, len(used))
    if weights is not None:
        kernel = next((kernel for rule in RULES if (kernel := rule(weights, len(used))) is not None), None)
    return kernel if kernel is None or len(used) == d else kernel.on(tuple(used))


def _weights(found: Exact, d: int) -> Weights | None:
    """The coefficients, where every monomial of x meets only itself in z."""
    weights: Weights = {}
    for monomial, factor in found.items():
        left, right = of_points(monomial)
        if left != right:
            return None
        powers = {column: power for (_, column), power in left}
        weights[tuple(powers.get(k, 0) for k in range(d))] = factor
    return weights


# -- rules: a kernel, or None ----------------------------------------------------------------------------------------


def _parabolic(found: Exact, d: int) -> Kernel | None:
    """x.z + |x|^2 |z|^2, with a constant perhaps."""
    rest = {monomial: factor for monomial, factor in found.items() if monomial}
    own = {(((0, k), 1), ((1, k), 1)): ONE for k in range(d)}
    squares = {(((0, j), 2), ((1, k), 2)): ONE for j in range(d) for k in range(d)}
    return _with_constant(found.get((), ZERO), Parabolic()) if rest == own | squares else None


def _of_dot(weights: Weights, d: int) -> Kernel | None:
    """A polynomial of x.z, whose term (x.z)^p is the sum of p! / (a_1! ... a_d!) (x z)^a over all a of degree p."""
    counts: dict[int, int] = {}
    for powers in weights:
        counts[sum(powers)] = counts.get(sum(powers), 0) + 1
    if any(math.comb(d + p - 1, p) != count for p, count in counts.items()):
        return None
    factors = {p: weights[(p, *[0] * (d - 1))] for p in counts}
    if any(factor != factors[sum(a)] * Surd.of(_multinomial(a)) for a, factor in weights.items()):
        return None
    return _in_powers(factors, Linear())


def _family(weights: Weights, d: int) -> Kernel | None:
    """Monomials of one weight: all of some degrees, those that repeat no column, or the powers of single columns."""
    size = next(iter(weights.values()))
    constant = weights.get((0,) * d, ZERO)
    degrees = sorted({sum(a) for a in weights} - {0})
    others = [a for a in weights if any(a)]
    if any(weights[a] != size for a in others) or any(b - a != 1 for a, b in pairwise(degrees)):
        return None
    found = _of_degrees(others, degrees[0], degrees[-1], constant == size, d)
    if found is None:
        return None
    kernel, with_constant = found
    return _with_constant(ZERO if with_constant else constant, _times(size, kernel))


def _of_degrees(others: list[Exponents], lowest: int, highest: int, bias: bool, d: int) -> tuple[Kernel, bool] | None:
    """The family, and whether it holds the constant."""
    degrees = range(lowest, highest + 1)
    if len(others) == sum(math.comb(d + p - 1, p) for p in degrees):
        return Monomials(highest, bias, 0 if lowest == 1 else lowest), bias
    if all(max(a) == 1 for a in others) and len(others) == sum(math.comb(d, p) for p in degrees):
        if lowest > 1:
            return Subsets(lowest, highest), False
        return Subsets(0, None if highest == d else highest, bias), bias
    if all(sum(map(bool, a)) == 1 for a in others) and len(others) == d * highest and lowest == 1:
        return Powers(highest), False
    return None


def _over_columns(weights: Weights, d: int) -> Kernel | None:
    """A constant and a polynomial of each column: c + f_1(x_1 z_1) + ... + f_d(x_d z_d)."""
    if d > MAX_COLUMNS or any(sum(map(bool, a)) > 1 for a in weights):
        return None
    constant = weights.get((0,) * d, ZERO)
    return _with_constant(constant, reduce(add, [_of_column(weights, k, ONE) for k in range(d)]))


def _product(weights: Weights, d: int) -> Kernel | None:
    """A product over columns, c (1 + f_1(x_1 z_1)) ... (1 + f_d(x_d z_d))."""
    constant = weights.get((0,) * d, ZERO)
    if d > MAX_COLUMNS or not constant:
        return None
    inverse = constant.inverse
    sizes = [1 + sum(1 for a in weights if a[k] == sum(a) > 0) for k in range(d)]
    if math.prod(sizes) != len(weights):
        return None
    for powers, factor in weights.items():
        parts = [weights.get(_only(k, p, d), ZERO) * inverse for k, p in enumerate(powers) if p]
        if factor != reduce(mul, parts, constant):
            return None
    return _times(constant, reduce(mul, [Constant(1.0) + _of_column(weights, k, inverse) for k in range(d)]))


RULES: tuple[Callable[[Weights, int], Kernel | None], ...] = (_of_dot, _family, _over_columns, _product)
"""The most telling first."""


def _linear_map(features: list[Exact], d: int) -> Kernel | None:
    """phi(x) = A x."""
    rows = []
    for feature in features:
        if any(len(monomial) != 1 or monomial[0][1] != 1 for monomial in feature):
            return None
        rows.append([float(feature.get((((0, k), 1),), ZERO)) for k in range(d)])
    return Linear().after(rows)


# -- pieces ----------------------------------------------------------------------------------------------------------


def _in_powers(factors: dict[int, Surd], t: Kernel) -> Kernel:
    """sum_p factors[p] t^p, as a power of a sum where it is one."""
    top = max(factors)
    if top >= 2 and t == Linear() and (before := factors.get(top - 1)) is not None:
        offset = before * (factors[top] * Surd.of(top)).inverse
        if all(factors.get(p, ZERO) == factors[top] * _binomial(top, p, offset) for p in range(top + 1)):
            return _times(factors[top], Polynomial(top, float(offset)))
    terms = [_times(factors[p], t if p == 1 else t**p) for p in sorted(factors) if p]
    return _with_constant(factors.get(0, ZERO), reduce(add, terms)) if terms else Constant(float(factors[0]))


def _binomial(top: int, p: int, offset: Surd) -> Surd:
    return reduce(mul, [offset] * (top - p), Surd.of(math.comb(top, p)))


def _of_column(weights: Weights, k: int, factor: Surd) -> Kernel:
    """What the weights have of one column alone, times a number."""
    own = {a[k]: weight * factor for a, weight in weights.items() if a[k] == sum(a) > 0}
    return _in_powers(own, Linear().on(k))


def _only(k: int, power: int, d: int) -> Exponents:
    return tuple(power if j == k else 0 for j in range(d))


def _times(factor: Surd, kernel: Kernel) -> Kernel:
    return kernel if factor == ONE else Constant(float(factor)) * kernel


def _with_constant(constant: Surd, kernel: Kernel) -> Kernel:
    return Constant(float(constant)) + kernel if constant else kernel


def _multinomial(powers: Exponents) -> Fraction:
    return Fraction(math.factorial(sum(powers)), math.prod(map(math.factorial, powers)))
