"""A polynomial about an origin: what a linear model on a polynomial lift is, in the columns of the data."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mercer.geometry.accurate import Vector
from mercer.geometry.quadratic import Quadratic
from mercer.lifts.expansion import Expansion, monomial_text, sum_text

_BLOCK = 2**21
"""How many monomials are held at once when a polynomial is evaluated."""


@dataclass(frozen=True, eq=False)
class Terms:
    """sum_m coefficients[m] monomial_m(u), u = (x - origin) / unit.

    The origin and the unit are those of the scalers before the lift. They are kept, since a polynomial that is
    multiplied out about zero loses its digits where the data lies far away.

    factors : (M, p) integers: the columns that are multiplied in each monomial, ascending, filled with -1 behind;
        no monomial stands twice. They are kept sorted by degree, then by their columns
    coefficients : (M,), sorted with them
    origin : (d,)
    unit : (d,), not zero
    """

    factors: NDArray[np.intp]
    coefficients: Vector
    origin: Vector
    unit: Vector

    def __post_init__(self) -> None:
        order = np.lexsort((*self.factors.T[::-1], (self.factors >= 0).sum(axis=1)))
        object.__setattr__(self, "factors", self.factors[order])
        object.__setattr__(self, "coefficients", self.coefficients[order])

    @classmethod
    def of(cls, quadratic: Quadratic, origin: Vector) -> Terms:
        """A quadratic polynomial of x - origin."""
        i, j = np.triu_indices(len(origin))
        mixed = quadratic.matrix[i, j] * np.where(i == j, 1.0, 2.0)
        single = np.arange(len(origin))
        factors = np.full((1 + len(single) + len(i), 2), -1, dtype=np.intp)
        factors[1 : 1 + len(single), 0] = single
        factors[1 + len(single) :] = np.column_stack([i, j])
        numbers = np.concatenate([[quadratic.constant], quadratic.linear, mixed])
        return cls(factors, numbers, origin, np.ones(len(origin))).nonzero()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Terms):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, but not hashed

    @property
    def width(self) -> int:
        """d, how many columns there are."""
        return len(self.origin)

    @cached_property
    def degrees(self) -> NDArray[np.intp]:
        """The degree of each monomial."""
        return np.asarray((self.factors >= 0).sum(axis=1), dtype=np.intp)

    @cached_property
    def constant(self) -> float:
        """The value at the origin."""
        return float(self.coefficients[self.degrees == 0].sum())

    def value(self, X: NDArray[np.float64]) -> Vector:
        """The value for each row."""
        weighted = Expansion.weighted(self.width, self.factors, self.coefficients)
        step = max(1, _BLOCK // max(1, len(self.factors)))
        parts = [
            weighted.evaluate((X[start : start + step] - self.origin) / self.unit).sum(axis=1)
            for start in range(0, len(X), step)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def quadratic(self) -> Quadratic:
        """The polynomial of u, its terms above the second degree left out."""
        matrix = np.zeros((self.width, self.width))
        linear = np.zeros(self.width)
        single, double = self.degrees == 1, self.degrees == 2
        linear[self.factors[single, 0]] = self.coefficients[single]
        i, j = self.factors[double, :2].T if double.any() else (np.empty(0, dtype=np.intp),) * 2
        np.add.at(matrix, (i, j), self.coefficients[double] / 2)
        np.add.at(matrix, (j, i), self.coefficients[double] / 2)
        return Quadratic(matrix, linear, self.constant)

    def nonzero(self) -> Terms:
        """Without the terms whose coefficient is zero."""
        kept = self.coefficients != 0
        return Terms(self.factors[kept], self.coefficients[kept], self.origin, self.unit)

    def normalised(self) -> Terms:
        """Times a power of two, without rounding, so that the largest coefficient is from 1/2 to 1."""
        _, exponent = math.frexp(float(np.abs(self.coefficients).max(initial=0.0)))
        return Terms(self.factors, np.ldexp(self.coefficients, -exponent), self.origin, self.unit)

    def measured(self) -> Terms:
        """The same polynomial in units of one."""
        units = np.append(self.unit, 1.0)[self.factors].prod(axis=1)
        return Terms(self.factors, self.coefficients / units, self.origin, np.ones(self.width))

    def expanded(self) -> Terms:
        """The same polynomial about zero, in units of one. Cost: 2^p products a monomial of degree p."""
        plain = self.measured()
        if not plain.origin.any():
            return plain
        parts: defaultdict[tuple[int, ...], list[float]] = defaultdict(list)
        for row, coefficient in zip(plain.factors.tolist(), plain.coefficients.tolist(), strict=True):
            columns = [c for c in row if c >= 0]
            for kept in product((True, False), repeat=len(columns)):
                moved = [-plain.origin[c] for c, keep in zip(columns, kept, strict=True) if not keep]
                key = tuple(c for c, keep in zip(columns, kept, strict=True) if keep)
                parts[key].append(coefficient * math.prod(moved))
        return self._collected({key: math.fsum(values) for key, values in parts.items()})

    def _collected(self, numbers: dict[tuple[int, ...], float]) -> Terms:
        keys = sorted(numbers, key=lambda key: (len(key), key))
        factors = np.full((len(keys), self.factors.shape[1]), -1, dtype=np.intp)
        for place, key in enumerate(keys):
            factors[place, : len(key)] = key
        coefficients = np.array([numbers[key] for key in keys])
        return Terms(factors, coefficients, np.zeros(self.width), np.ones(self.width)).nonzero()

    def text(self, names: Sequence[str]) -> str:
        """The polynomial in the names of the columns, the highest degree first: "x1^2 - 2 (x2 - 3) + 0.5"."""
        plain = self.measured()._shown()
        columns = [_from(name, start) for name, start in zip(names, plain.origin.tolist(), strict=True)]
        order = np.lexsort((np.arange(len(plain.degrees)), -plain.degrees))
        words = [monomial_text(row, columns) for row in plain.factors[order]]
        return sum_text(words, [float(f"{number:.6g}") for number in plain.coefficients[order].tolist()])

    def _shown(self) -> Terms:
        """Without the terms that are nothing beside others of the same degree."""
        sizes = np.abs(self.coefficients)
        kept = sizes > 1e-14 * np.array([sizes[self.degrees == degree].max() for degree in self.degrees.tolist()])
        return Terms(self.factors[kept], self.coefficients[kept], self.origin, self.unit)


def _from(name: str, start: float) -> str:
    """A column, measured from a point."""
    if start == 0:
        return name
    return f"({name} {'-' if start > 0 else '+'} {abs(start):.6g})"
