"""How many features the exact lift of a kernel has, at most: the builder that counts them, and makes none.

A plan needs this first: a lift of a few hundred features is worth building, one of 10^30 is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer.kernels import After, Kernel, Weighted
from mercer.kernels.algebra.feature_map import FeatureMap
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.lift_builder import LiftBuilder, NotFiniteError, OwnFeatures
from mercer.kernels.points import Column
from mercer.lifts import algebra, part_builder
from mercer.lifts.base import Features
from mercer.lifts.expansion import count

MAX_COUNTED_POWER = 10_000
"""Powers above it are not counted: no memory holds such features, and the number itself would take long to write."""


def most_features(kernel: Kernel, d: int) -> int | None:
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
    try:
        return SizeBuilder(d).of(kernel).features
    except (NotFiniteError, UncountedError):
        return None


def needs_data(kernel: Kernel, d: int) -> bool:
    """Whether features are not counted because a function gives so many columns as it likes.

    >>> from mercer.kernels import Gaussian, Linear
    >>> needs_data(Linear().after(lambda X: X), 2), needs_data(Gaussian(), 2)
    (True, False)
    """
    try:
        SizeBuilder(d).of(kernel)
    except UnknownWidthError:
        return True
    except (NotFiniteError, UncountedError):
        pass
    return False


class UncountedError(Exception):
    """A finite lift whose features are too many to be counted, or cannot be counted without data."""


class UnknownWidthError(UncountedError):
    """A function of rows, of which only data show how many columns it gives."""


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


class SizeBuilder(LiftBuilder[Size]):
    """Counts the features of kernels on rows of so many columns."""

    def __init__(self, n_columns: int) -> None:
        self._n_columns = n_columns

    @property
    def n_columns(self) -> int:
        return self._n_columns

    # -- leaves ---------------------------------------------------------------------------------------------------

    def constant(self, value: float) -> Size:
        features = int(value > 0)
        return Size(features, features)

    def linear(self) -> Size:
        return self._alone(self.n_columns, 1)

    def squared_length(self) -> Size:
        return Size(1, self.n_columns, 2, self.n_columns, mixed=True)

    def polynomial(self, degree: int, offset: float) -> Size:
        return self._alone(count(self.n_columns, degree, 0 if offset else degree), degree)

    def monomials(self, lowest: int, highest: int, repeated: bool = True, bias: bool = False) -> Size:
        number = count if repeated else _subsets
        return self._alone(number(self.n_columns, highest, lowest) + (bias and lowest > 0), highest)

    def powers(self, degree: int) -> Size:
        return self._alone(self.n_columns * degree, degree)

    def functions(self, kernel: OwnFeatures, count: int) -> Size:
        return Size(count)

    def _alone(self, features: int, degree: int) -> Size:
        """One monomial a feature."""
        return Size(features, features, degree, self.n_columns)

    # -- rules ----------------------------------------------------------------------------------------------------

    def of(self, kernel: Kernel) -> Size:
        return kernel.finite_lift(self)

    def added(self, parts: Sequence[Size]) -> Size:
        """Parts side by side; all polynomials among them become one, simplified as a whole."""
        polynomials = [part for part in parts if part.terms is not None]
        others = [part.features for part in parts if part.terms is None]
        if not polynomials:
            return Size(sum(others))
        together = polynomials[0] if len(polynomials) == 1 else _simplified(_added(polynomials, self.n_columns))
        return Size(together.features + sum(others)) if others else together

    def multiplied(self, first: Size, second: Size) -> Size:
        """All products of two parts; those of polynomials are simplified."""
        features = first.features * second.features
        if first.terms is None or second.terms is None:
            return Size(features)
        terms, degree = first.terms * second.terms, first.degree + second.degree
        reach = min(first.reach + second.reach, self.n_columns)
        return _simplified(Size(features, terms, degree, reach, first.mixed or second.mixed))

    def raised(self, part: Size, exponent: int) -> Size:
        if exponent > MAX_COUNTED_POWER:
            raise UncountedError
        if part.terms is None or exponent == 1:
            return replace(part, features=part.features**exponent)
        terms = math.comb(part.terms + exponent - 1, exponent) if part.terms else 0  # choices with repetition
        return _simplified(Size(part.features**exponent, terms, part.degree * exponent, part.reach, part.mixed))

    def unit(self, part: Size) -> Size:
        return Size(part.features)

    def weighted(self, kernel: Weighted) -> Size:
        return Size(self.of(kernel.kernel).features)

    def chosen(self, kernel: Kernel, columns: Sequence[Column]) -> Size:
        inside = SizeBuilder(len(columns)).of(kernel)
        return replace(inside, reach=min(inside.reach, len(set(columns))))

    def mapped(self, kernel: Mapped) -> Size:
        matrix = kernel.linear_map
        width = _width(kernel, self.n_columns) if matrix is None else matrix.shape[0]
        if width is None:
            raise UnknownWidthError
        inside = SizeBuilder(width).of(kernel.kernel)
        if matrix is None or inside.terms is None:
            return Size(inside.features)
        most = max(int(np.diff(matrix.indptr).max()), 1)
        return _opened(inside, most, min(inside.reach * most, len(np.unique(matrix.indices))))


def _subsets(d: int, last: int, first: int) -> int:
    """How many subsets of d columns have first to last of them, from the orders that are in, or from those left out."""
    if first > last:
        return 0
    if first > d - last:
        first, last = d - last, d - first  # C(d, q) = C(d, d - q)
    if last <= MAX_COUNTED_POWER and last - first < first + d - last:
        return _summed(d, first, last + 1)
    few = first + d - last <= MAX_COUNTED_POWER
    return (1 << d) - (_summed(d, 0, first) + _summed(d, 0, d - last) if few else 0)


def _summed(d: int, first: int, end: int) -> int:
    """C(d, first) + ... + C(d, end - 1)."""
    total, subsets = 0, math.comb(d, first)
    for order in range(first, end):  # C(d, order) from the one before: each on its own would take long
        total += subsets
        subsets = subsets * (d - order) // (order + 1)
    return total


def _width(kernel: Mapped, d: int) -> int | None:
    """How many columns a map gives of d, if it can tell: a function that has no name cannot."""
    if isinstance(kernel, After) and kernel.named is not None:
        return d
    given = getattr(kernel, "map", None)
    if isinstance(given, FeatureMap):
        return len(given)
    return getattr(given.lift if isinstance(given, Features) else given, "_n_features_out", None)


def _opened(inside: Size, most: int, reach: int) -> Size:
    """Polynomials of mapped columns, each a sum of at most so many: multiplied out where that is surely done."""
    terms = _terms(inside) * most**inside.degree
    if terms > part_builder.MAX_MAPPED_NUMBERS:
        return Size(inside.features)
    mixed = inside.mixed or most > 1
    return _simplified(Size(inside.features, terms, inside.degree, reach, mixed))


def _added(parts: list[Size], d: int) -> Size:
    features, terms = sum(part.features for part in parts), sum(map(_terms, parts))
    degree, reach = max(part.degree for part in parts), min(sum(part.reach for part in parts), d)
    return Size(features, terms, degree, reach, any(part.mixed for part in parts))


def _simplified(size: Size) -> Size:
    """No more features than monomials, where they are made independent: mixed ones only if these are few."""
    terms = _terms(size)
    independent = not size.mixed or terms <= algebra.MAX_MIXED_MONOMIALS
    return replace(size, features=min(size.features, terms) if independent else size.features, terms=terms)


def _terms(size: Size) -> int:
    """The number of monomials, at most: there are no more than those of this degree in so many columns."""
    if min(size.reach, size.degree) > MAX_COUNTED_POWER:  # so many that counting them takes long
        return size.terms or 0
    return min(size.terms or 0, math.comb(size.reach + size.degree, size.degree))
