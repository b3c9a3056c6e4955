"""All monomials of some degrees in d columns: how many they are, where each one stands, and which powers it holds.

Monomials are sorted by degree, then by their columns, which ascend: x1 x1, x1 x2, x2 x2. Those of degree q that start
with column c are x_c times a contiguous run of those of degree q - 1: the last ones, whose columns are c or later. All
that follows here, and the fast loops, rest on that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import MAX_COLUMNS

Whole = NDArray[np.int64]
Pattern = tuple[int, ...]
"""The exponents of a monomial, that of its first column in front, the others sorted."""

MAX_NUMBER_BITS = 62
"""A family of monomials has at least 2^min(columns, degree) members, and no more than 2^62 can be numbered."""
MAX_MONOMIALS = 2**62
"""Numbers of monomials stay below this, so that sums of places fit 64 bits."""


@dataclass(frozen=True)
class Family:
    """The monomials of degrees lowest .. degree in some columns.

    width : d, the number of columns, of at least 1
    degree : integer of at least 1
    lowest : integer from 0 to the degree
    repeated : whether a column may stand more than once in a monomial

    >>> family = Family(3, 2)
    >>> family.count, Family(3, 2, repeated=False).count
    (10, 7)
    >>> family.runs(2)
    [(0, 0, 3), (3, 1, 2), (5, 2, 1)]
    """

    width: int
    degree: int
    lowest: int = 0
    repeated: bool = True

    def _inconsistency(self) -> str:
        if not (1 <= self.width < MAX_COLUMNS and 1 <= self.degree < MAX_COLUMNS and 0 <= self.lowest <= self.degree):
            return f"got degrees {self.lowest} to {self.degree} of {self.width} columns"
        few = min(self.width, self.degree) <= MAX_NUMBER_BITS and (self.repeated or self.degree <= self.width)
        return "" if few else "there are too many monomials"

    def number(self, degree: int, width: int) -> int:
        """How many monomials of one degree there are in so many columns."""
        if degree == 0:
            return 1
        return math.comb(width + degree - 1, degree) if self.repeated else math.comb(width, degree)

    @property
    def count(self) -> int:
        """How many monomials there are in all; exact, however many."""
        if self.repeated:  # those up to a degree are those of this degree in one column more
            below = math.comb(self.width + self.lowest - 1, self.width) if self.lowest else 0
            return math.comb(self.width + self.degree, self.width) - below
        if self.degree >= self.width and not self.lowest:
            return 1 << self.width
        return sum(math.comb(self.width, q) for q in range(self.lowest, self.degree + 1))

    def rest(self, degree: int, width: int) -> int:
        """How many monomials of a degree start with the first of so many columns."""
        return self.number(degree - 1, width if self.repeated else width - 1) if width else 0

    def runs(self, degree: int) -> list[tuple[int, int, int]]:
        """For each column c: where the monomials that start with it begin, where their rests begin, how many they are.

        Places count from the first monomial of the degree, and of the degree below.
        """
        lengths = [self.rest(degree, self.width - c) for c in range(self.width)]
        starts = accumulate(lengths, initial=0)
        below = self.number(degree - 1, self.width)
        return [(start, below - length, length) for start, length in zip(starts, lengths, strict=False)]

    def numbers(self, widest: int) -> Whole:
        """A table: how many monomials of degree q (a row) there are in w = 0 .. widest columns.

        Each row is the cumulated one before it, by the rule of Pascal's triangle.
        """
        rows = [np.ones(widest + 1, dtype=np.int64)]
        for _ in range(self.degree):
            rows.append(np.concatenate([[0], np.cumsum(rows[-1][1:] if self.repeated else rows[-1][:-1])]))
        return np.stack(rows)

    def moves(self) -> Whole:
        """A table: how far a monomial of degree q (a row) that starts with column c stands behind its rest.

        The place of a monomial c_1 .. c_q among those of its degree is N_q(d) - 1 - sum_k N_{q-k+1}(d - c_k - 1), with
        N_q(w) monomials of degree q in w columns: what comes behind it is counted by the first column that differs. One
        more column in front adds one term, so that places are found by adding, as values by multiplying.
        """
        table = self.numbers(self.width)
        last = np.zeros(self.degree + 1, dtype=np.int64)
        for q in range(self.degree + 1):
            before = last[q - 1] if q > self.lowest else 0  # the places of degrees that are left out do not count
            last[q] = before + table[q, -1]
        steps = np.diff(last, prepend=0)
        return np.asarray(steps[:, None] - table[:, self.width - 1 :: -1])

    def patterns(self) -> Iterator[tuple[NDArray[np.intp], list[Pattern]]]:
        """For the degrees 0, 1, ..., degree: a number for each monomial, into a list of the exponents that it holds.

        A column in front raises the first exponent where the rest starts with the same column; elsewhere it adds a 1.
        """
        below: NDArray[np.intp] = np.zeros(1, dtype=np.intp)
        known: list[Pattern] = [()]
        yield below, known
        for q in range(1, self.degree + 1):
            raised, added = [(p[0] + 1, *p[1:]) if p else (1,) for p in known], [(1, *sorted(p)) for p in known]
            known = sorted({p for p in (*raised, *added) if len(p) <= self.width})
            place = {pattern: k for k, pattern in enumerate(known)}
            below = self._prepended(q, below, [place.get(p, 0) for p in raised], [place.get(p, 0) for p in added])
            yield below, known

    def _prepended(self, degree: int, below: NDArray[np.intp], raised: list[int], added: list[int]) -> NDArray[np.intp]:
        as_raised, as_added = np.array(raised, dtype=np.intp), np.array(added, dtype=np.intp)
        parts = [below[:0]]
        for c, (_, start, length) in enumerate(self.runs(degree)):
            same = self.rest(degree - 1, self.width - c) if self.repeated and degree > 1 else 0
            rests = below[start : start + length]
            parts += [as_raised[rests[:same]], as_added[rests[same:]]]
        return np.concatenate(parts)
