"""All monomials of some degrees as features, with weights that depend on the exponents alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse import hstack as sparse_stack

from mercer.compute.codegen.sparse import is_sparse
from mercer.lifts import sparse_monomial_loops
from mercer.lifts.deferred import Deferred
from mercer.lifts.expansion import combinations
from mercer.lifts.monomial_index import Family
from mercer.lifts.monomial_loops import evaluate
from mercer.lifts.monomial_plan import Plan, of_family

MAX_DEGREE = 1 << 16
"""The highest power of an inner product that a model file may hold: its weights are exact numbers of any length."""


@dataclass(frozen=True)
class OfPower:
    """What a monomial of each degree weighs in (offset + <x, z>)^degree, times the factorials of its exponents.

    >>> OfPower(2, 3.0)(1)
    Fraction(6, 1)
    """

    degree: int
    offset: float

    def __call__(self, order: int) -> Fraction:
        """degree! / (degree - order)! offset^(degree - order), exactly."""
        return math.perm(self.degree, order) * Fraction(self.offset) ** (self.degree - order)

    def _inconsistency(self) -> str:
        known = 1 <= self.degree <= MAX_DEGREE and 0 <= self.offset < math.inf
        return "" if known else f"got (offset + <x, z>)^degree with degree {self.degree} and offset {self.offset}"


class Graded(Deferred):
    """The monomials of a family, the one with exponents a times the root of square(|a|) / (a_1! ... a_d!).

    Time O(n D) for n dense rows; sparse rows cost what they have stored, and nothing of the size of D is held.

    family : the monomials
    square : gives an exact number for each degree; None for monomials without weights

    >>> Graded(Family(2, 2), OfPower(2, 1.0)).names(["x", "y"])
    ['1', 'sqrt(2) x', 'sqrt(2) y', 'x^2', 'sqrt(2) x y', 'y^2']
    """

    _saved: ClassVar[Mapping[str, Any]] = {"family": Family, "square": OfPower | None}

    def __init__(self, family: Family, square: Callable[[int], Fraction] | None = None) -> None:
        self.family = family
        self.square = square

    def _inconsistency(self) -> str:
        square, highest = self.square, self.family.degree
        known = not isinstance(square, OfPower) or highest <= square.degree
        return "" if known else f"got monomials of degree {highest} for a power of a lower one"

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.family.width

    @property
    def size(self) -> int:
        """D, the number of features, however many."""
        return self.family.count

    @property
    def degree(self) -> int:
        """The largest number of columns that are multiplied."""
        return self.family.degree

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """One weight a monomial."""
        return self._weights(self.width)

    @cached_property
    def largest(self) -> float:
        return max(map(self._largest, range(self.family.lowest, self.degree + 1)))

    def _largest(self, degree: int) -> float:
        """The largest weight of a degree: that of the most even exponents, whose factorials are the smallest."""
        least, more = divmod(degree, self.width)
        shared = math.factorial(least) ** (self.width - more) * math.factorial(least + 1) ** more
        return 1.0 if self.square is None else root(self.square(degree) / shared)

    def evaluate(self, X: Any) -> Any:
        if is_sparse(X):
            return sparse_monomial_loops.expand(X, self.family, None if self.square is None else self._weights)
        return evaluate(X, self._plan, None if self.square is None else self.weights)

    def stored(self, X: Any) -> int:
        return sparse_monomial_loops.stored(X, self.family)

    @cached_property
    def _plan(self) -> Plan:
        return of_family(self.family)

    def _factors(self) -> NDArray[np.intp]:
        family = self.family
        return combinations(family.width, family.degree, family.lowest, family.repeated)

    def _weights(self, width: int) -> NDArray[np.float64]:
        """The weights of the family's monomials in so many columns."""
        family = replace(self.family, width=width)
        if self.square is None:
            return np.ones(family.count)
        parts = []
        for q, (found, known) in enumerate(family.patterns()):
            if q >= family.lowest:
                table = [root(self.square(q) / math.prod(map(math.factorial, pattern))) for pattern in known]
                parts.append(np.array(table)[found])
        return np.concatenate(parts)


class Biased(Graded):
    """The monomial 1, and those of a family that begins at a higher degree, without weights.

    >>> Biased(Family(2, 2, 2)).names(["x", "y"])
    ['1', 'x^2', 'x y', 'y^2']
    """

    _saved: ClassVar[Mapping[str, Any]] = {"square": None}

    @property
    def size(self) -> int:
        return self.family.count + 1

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        return np.ones(self.size)

    def evaluate(self, X: Any) -> Any:
        found = super().evaluate(X)
        if is_sparse(found):
            return sparse_stack([csr_array(np.ones((found.shape[0], 1), found.dtype)), found], format="csr")
        return np.hstack([np.ones((len(found), 1), found.dtype), found])

    def stored(self, X: Any) -> int:
        return super().stored(X) + int(X.shape[0])

    def _factors(self) -> NDArray[np.intp]:
        found = super()._factors()
        return np.vstack([np.full((1, found.shape[1]), -1, dtype=np.intp), found])


def root(square: Fraction) -> float:
    """The square root, to less than a unit in the last place, also where the square fits no float.

    >>> root(Fraction(2)), root(Fraction(10) ** 400)
    (1.4142135623730951, 1e+200)
    """
    if square == 0:
        return 0.0
    exponent = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(square / Fraction(4) ** exponent), exponent)
    except OverflowError:
        return math.inf
