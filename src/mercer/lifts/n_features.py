"""How many features the exact lift of a kernel has, at most, without building it: a mirror of `reading`.

A plan needs this first: a lift of a few hundred features is worth building, one of 10^30 is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from typing import Any

import numpy as np

from mercer import kernels as k
from mercer.lifts import algebra, reading
from mercer.lifts.base import Features
from mercer.lifts.expansion import count

HIGHEST = 10_000
"""Powers above it are not counted: no memory holds such features, and the number itself would take long to write."""


def most_features(kernel: k.Kernel, d: int) -> int | None:
    """An upper bound on the number of features of `mercer.lift(kernel, d)`; None where no finite lift is known.

    For a single kernel it is the number itself (of `Subsets` a bound, 2^d, where many orders are in and many are not);
    for a sum at most the sum and for a product at most the product, but no more than there are monomials,
    C(d + degree, degree) for a polynomial. None also where it cannot be known without data: after a function. Cost: one
    visit a node, for any d and degree.

    kernel : a kernel
    d : the number of columns, of at least 1

    >>> from mercer.kernels import Gaussian, Linear, Polynomial
    >>> most_features(Polynomial(10), 10_000) == math.comb(10_010, 10)
    True
    >>> most_features(Polynomial(2) * Polynomial(2), 3), most_features(Linear() + Gaussian(1.0), 3)
    (35, None)
    """
    found = _size(kernel, d)
    return None if found is None else found.features


@dataclass(frozen=True)
class Size:
    """What is known of features before they are built.

    features : how many they are, at most
    terms : of how many monomials they consist, at most; None where they are no polynomials
    degree, reach : the highest degree of these, and the number of columns that they hold, at most
    mixed : whether a feature may be a sum of several monomials
    """

    features: int
    terms: int | None = None
    degree: int = 0
    reach: int = 0
    mixed: bool = False


@singledispatch
def _size(kernel: Any, d: int) -> Size | None:
    """What is known of the features of a kernel on d columns; None where it has no finite lift."""
    return None


# -- leaves ------------------------------------------------------------------------------------------------------


@_size.register
def _constant(kernel: k.Constant, d: int) -> Size:
    features = int(kernel.variance > 0)
    return Size(features, features)


@_size.register
def _linear(kernel: k.Linear, d: int) -> Size:
    return _alone(d, 1, d)


@_size.register
def _polynomial(kernel: k.Polynomial, d: int) -> Size:
    return _alone(count(d, kernel.degree, 0 if kernel.offset else kernel.degree), kernel.degree, d)


@_size.register
def _monomials(kernel: k.Monomials, d: int) -> Size:
    return _alone(count(d, kernel.degree, max(1, kernel.min_degree)) + kernel.include_bias, kernel.degree, d)


@_size.register
def _powers(kernel: k.Powers, d: int) -> Size:
    return _alone(d * kernel.degree, kernel.degree, d)


@_size.register
def _parabolic(kernel: k.Parabolic, d: int) -> Size:
    return Size(d + 1, 2 * d, 2, d, mixed=True)


@_size.register
def _subsets(kernel: k.Subsets, d: int) -> Size:
    highest = d if kernel.max_order is None else min(kernel.max_order, d)
    return _alone(_chosen(d, kernel.min_order, highest), highest, d)


def _chosen(d: int, first: int, last: int) -> int:
    """How many subsets of d columns have first to last of them, from the orders that are in, or from those left out."""
    if first > last:
        return 0
    if first > d - last:
        first, last = d - last, d - first  # C(d, q) = C(d, d - q)
    if last <= HIGHEST and last - first < first + d - last:
        return _summed(d, first, last + 1)
    few = first + d - last <= HIGHEST
    return (1 << d) - (_summed(d, 0, first) + _summed(d, 0, d - last) if few else 0)


def _summed(d: int, first: int, end: int) -> int:
    """C(d, first) + ... + C(d, end - 1)."""
    total, subsets = 0, math.comb(d, first)
    for order in range(first, end):  # C(d, order) from the one before: each on its own would take long
        total += subsets
        subsets = subsets * (d - order) // (order + 1)
    return total


@_size.register
def _trigonometric(kernel: k.Trigonometric, d: int) -> Size:
    return Size(2 * kernel.order * d)


@_size.register
def _cosine(kernel: k.Cosine, d: int) -> Size:
    return Size(d)


def _alone(features: int, degree: int, reach: int) -> Size:
    """One monomial a feature."""
    return Size(features, features, degree, reach)


# -- rules -------------------------------------------------------------------------------------------------------


@_size.register
def _sum(kernel: k.Sum, d: int) -> Size | None:
    parts = [_size(part, d) for part in kernel.parts]
    known = [part for part in parts if part is not None]
    return _joined(known, d) if len(known) == len(parts) else None


@_size.register
def _product(kernel: k.Product, d: int) -> Size | None:
    parts = [_size(part, d) for part in kernel.parts]
    known = [part for part in parts if part is not None]
    return reduce(lambda first, second: _multiplied(first, second, d), known) if len(known) == len(parts) else None


@_size.register
def _power(kernel: k.Power, d: int) -> Size | None:
    inside = _size(kernel.kernel, d)
    if inside is None or not kernel.whole or kernel.exponent > HIGHEST:
        return None
    exponent = int(kernel.exponent)
    if inside.terms is None or exponent == 1:
        return replace(inside, features=inside.features**exponent)
    terms = math.comb(inside.terms + exponent - 1, exponent) if inside.terms else 0  # choices with repetition
    return _simplified(Size(inside.features**exponent, terms, inside.degree * exponent, inside.reach, inside.mixed))


@_size.register(k.Normalized)
@_size.register(k.Weighted)
def _reweighted(kernel: k.Normalized | k.Weighted, d: int) -> Size | None:
    inside = _size(kernel.kernel, d)
    return None if inside is None else Size(inside.features)


@_size.register
def _on(kernel: k.On, d: int) -> Size | None:
    inside = _size(kernel.kernel, len(kernel.columns))
    return None if inside is None else replace(inside, reach=min(inside.reach, len(set(kernel.columns))))


@_size.register
def _scaled(kernel: k.Scaled, d: int) -> Size | None:
    inside = _size(kernel.kernel, len(kernel.lengthscales))
    return inside if inside is None or inside.terms is None else _opened(inside, 1, inside.reach)


@_size.register
def _after(kernel: k.After, d: int) -> Size | None:
    matrix = kernel.matrix
    width = _width(kernel.map) if matrix is None else len(matrix)
    inside = None if width is None else _size(kernel.kernel, width)
    if inside is None or matrix is None or inside.terms is None:
        return None if inside is None else Size(inside.features)
    most = max(int(np.count_nonzero(matrix, axis=1).max()), 1)
    return _opened(inside, most, int(np.count_nonzero(matrix.any(axis=0))))


def _width(map: Any) -> int | None:
    """How many columns a lift gives, if it can tell; a function cannot."""
    return getattr(map.lift if isinstance(map, Features) else map, "_n_features_out", None)


def _opened(inside: Size, most: int, reach: int) -> Size:
    """Polynomials of mapped columns, each a sum of at most so many: multiplied out where that is surely done."""
    terms = _terms(inside) * most**inside.degree
    if terms > reading.WIDEST:
        return Size(inside.features)
    mixed = inside.mixed or most > 1
    return _simplified(Size(inside.features, terms, inside.degree, reach, mixed))


# -- sums and products -------------------------------------------------------------------------------------------


def _joined(parts: list[Size], d: int) -> Size:
    """Parts side by side; all polynomials among them become one, simplified as a whole."""
    polynomials = [part for part in parts if part.terms is not None]
    others = [part.features for part in parts if part.terms is None]
    if not polynomials:
        return Size(sum(others))
    together = polynomials[0] if len(polynomials) == 1 else _simplified(_added(polynomials, d))
    return Size(together.features + sum(others)) if others else together


def _added(parts: list[Size], d: int) -> Size:
    features, terms = sum(part.features for part in parts), sum(map(_terms, parts))
    degree, reach = max(part.degree for part in parts), min(sum(part.reach for part in parts), d)
    return Size(features, terms, degree, reach, any(part.mixed for part in parts))


def _multiplied(a: Size, b: Size, d: int) -> Size:
    """All products of two parts; those of polynomials are simplified."""
    if a.terms is None or b.terms is None:
        return Size(a.features * b.features)
    terms, degree = a.terms * b.terms, a.degree + b.degree
    return _simplified(Size(a.features * b.features, terms, degree, min(a.reach + b.reach, d), a.mixed or b.mixed))


def _simplified(size: Size) -> Size:
    """No more features than monomials, where they are made independent: mixed ones only if these are few."""
    terms = _terms(size)
    independent = not size.mixed or terms <= algebra.DENSEST
    return replace(size, features=min(size.features, terms) if independent else size.features, terms=terms)


def _terms(size: Size) -> int:
    """The number of monomials, at most: there are no more than those of this degree in so many columns."""
    if min(size.reach, size.degree) > HIGHEST:  # so many that counting them takes long
        return size.terms or 0
    return min(size.terms or 0, math.comb(size.reach + size.degree, size.degree))
