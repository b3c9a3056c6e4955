"""Formulas that are polynomials, as monomials and coefficients."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from mercer.kernels.algebra.feature_map import FeatureMap
from mercer.kernels.formulas.polynomials import Monomial
from mercer.lifts.expansion import Expansion


@lru_cache(maxsize=64)
def expansion_of(phi: FeatureMap, d: int) -> Expansion | None:
    """The expansion of the formulas in d columns; None where one is no polynomial, or too long a one.

    Coefficients are exact before they become floats.

    >>> expansion_of(FeatureMap.read(["x1", "(x1 - x2)^2"]), 2).names(["a", "b"])
    ['a', 'a^2 - 2 a b + b^2']
    """
    rows = []
    for formula in phi.formulas:
        row = formula.polynomial(d)
        if row is None:
            return None
        try:
            rows.append({_factors(monomial): float(number) for monomial, number in row.items()})
        except OverflowError:
            return None
    monomials = sorted({key for row in rows for key in row}, key=lambda key: (len(key), key)) or [()]
    width = max(1, max(map(len, monomials)))
    factors = np.array([[*key, *[-1] * (width - len(key))] for key in monomials], dtype=np.intp)
    places = {key: place for place, key in enumerate(monomials)}
    entries = [sorted((places[key], number) for key, number in row.items()) for row in rows]
    starts = np.cumsum([0, *map(len, entries)])
    columns = np.array([place for row in entries for place, _ in row], dtype=np.intp)
    numbers = np.array([number for row in entries for _, number in row], dtype=np.float64)
    return Expansion(d, factors, csr_array((numbers, columns, starts), shape=(len(rows), len(monomials))))


def _factors(monomial: Monomial) -> tuple[int, ...]:
    """The columns that are multiplied, ascending."""
    return tuple(column for (_, column), power in monomial for _ in range(power))
