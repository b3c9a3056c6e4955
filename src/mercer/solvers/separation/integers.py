"""Exact arithmetic on floats: rows as integers times one power of two, and linear systems of integers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.object_]
MANTISSA_BITS = 53


class IntegerRows:
    """The rows of a table of finite floats as integers times 2^exponent, each made when it is first needed.

    >>> rows = IntegerRows(np.array([[0.5, 3.0]]))
    >>> Fraction(rows[0][1], rows[0][0])
    Fraction(6, 1)
    """

    def __init__(self, table: Array) -> None:
        self._table = table
        exponents = np.frexp(table[table != 0])[1]
        self.exponent = int(exponents.min(initial=MANTISSA_BITS)) - MANTISSA_BITS
        self._known: dict[int, Integers] = {}

    def __getitem__(self, row: int) -> Integers:
        if row not in self._known:
            mantissas, exponents = np.frexp(self._table[row])
            whole = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64).tolist()
            shifts = (exponents - MANTISSA_BITS - self.exponent).tolist()
            pairs = zip(whole, shifts, strict=True)
            self._known[row] = np.array([number << shift if number else 0 for number, shift in pairs], dtype=object)
        return self._known[row]

    @property
    def unit(self) -> Fraction:
        """2^exponent."""
        return Fraction(2) ** self.exponent


def solved(gram: Integers, right: Integers) -> tuple[Integers, int] | None:
    """Numerators and the denominator of the solution of a positive definite system; None where it is singular.

    Elimination without fractions: every division is without a rest. Cost: n^3 / 3 products of long integers.

    gram : (n, n), positive semi-definite

    References
    ----------
    Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination (1968).
    """
    n, last = len(gram), 1
    work = np.concatenate([gram, right[:, None]], axis=1)
    for k in range(n):
        pivot = work[k, k]
        if pivot == 0:
            return None
        if k + 1 < n:
            below = work[k + 1 :, k].copy()
            work[k + 1 :] = (work[k + 1 :] * pivot - below[:, None] * work[k][None, :]) // last
        last = pivot
    found = np.zeros(n, dtype=object)
    for k in reversed(range(n)):
        known = work[k, k + 1 : n] @ found[k + 1 :] if k + 1 < n else 0
        found[k] = (last * work[k, n] - known) // work[k, k]
    return found, int(last)


def independent(gram: Integers) -> list[int]:
    """Positions of vectors that do not depend on those before them.

    gram : (n, n), their inner products
    """
    kept, last, work = list[int](), 1, gram.copy()
    for k in range(len(gram)):
        pivot = work[k, k]
        if pivot == 0:  # then its row is zero, too: nothing is left of the vector
            continue
        kept.append(k)
        work[k + 1 :] = (work[k + 1 :] * pivot - work[k + 1 :, k][:, None] * work[k][None, :]) // last
        last = pivot
    return kept


def as_floats(numbers: Iterable[Any], unit: Fraction = Fraction(1)) -> Array:
    """Integers or fractions times a unit, each rounded once."""
    return np.array([float(Fraction(number) * unit) for number in numbers])
