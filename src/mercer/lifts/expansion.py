"""Features that are polynomials in the columns: monomials, and the coefficients that make features of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mercer.compute.consistency import MAX_COLUMNS, within
from mercer.lifts.monomial_index import Family
from mercer.lifts.monomial_loops import evaluate
from mercer.lifts.monomial_plan import Plan, of_factors

BLOCK_MONOMIALS = 1 << 23
"""Monomials that are held at once where features are sums of several."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """D features, each a sum of coefficients times monomials of d columns.

    width : d, how many columns there are
    factors : (M, p) integers: the columns that are multiplied in each monomial, ascending, filled with -1 behind;
        no monomial stands twice, and they are sorted by degree, then by their columns
    coefficients : (D, M), sparse: feature i is sum_m coefficients[i, m] monomial_m

    >>> squares = Expansion(2, np.array([[0, 0], [1, 1]]), csr_array([[1.0, 1.0]]))
    >>> squares.names(["x", "y"]), squares.evaluate(np.array([[3.0, 4.0]]))
    (['x^2 + y^2'], array([[25.]]))
    """

    width: int
    factors: NDArray[np.intp]
    coefficients: csr_array

    def _inconsistency(self) -> str:
        factors = self.factors
        if factors.ndim != 2 or not within(factors, -1, self.width) or not 1 <= self.width < MAX_COLUMNS:
            return f"monomials name columns that are not among {self.width}"
        if factors.shape[1] == 0 or ((factors[:, :-1] < 0) & (factors[:, 1:] >= 0)).any():
            return "monomials have a gap between their columns"
        shape = self.coefficients.shape
        return "" if shape[1] == len(factors) else f"got coefficients of shape {shape} for {len(factors)} monomials"

    @classmethod
    def weighted(cls, width: int, factors: NDArray[np.intp], weights: NDArray[np.float64]) -> Expansion:
        """One feature a monomial, times a weight."""
        return Expansion(width, factors, csr_array(diags_array(np.asarray(weights, dtype=np.float64))))

    @property
    def size(self) -> int:
        """D, the number of features, however many; `len` cannot say more than 2^63."""
        return int(self.coefficients.shape[0])

    def __len__(self) -> int:
        return self.size

    @cached_property
    def degree(self) -> int:
        """The largest number of columns that are multiplied."""
        return int((self.factors >= 0).sum(axis=1).max(initial=0))

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """One weight a monomial, where each feature is one monomial, in order; else None."""
        C = self.coefficients
        diagonal = C.shape[0] == C.shape[1] == C.nnz and bool((C.indices == np.arange(C.nnz)).all())
        return np.asarray(C.data) if diagonal else None

    @cached_property
    def largest(self) -> float:
        """No feature is larger than this times max(1, |x_1|, ..., |x_d|)^degree."""
        sums = abs(self.coefficients).sum(axis=1)
        return float(np.max(sums, initial=0.0))

    def evaluate(self, X: Any) -> Any:
        """The features of each row, in the dtype of X; where numbers do not fit it they are infinite, or NaN."""
        if self.weights is not None:
            return evaluate(X, self._plan, None if (self.weights == 1).all() else self.weights)
        C, step = self.coefficients.astype(X.dtype), max(1, BLOCK_MONOMIALS // max(1, len(self.factors)))
        out = np.empty((len(X), len(self)), X.dtype)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            out[rows] = (C @ evaluate(X[rows], self._plan).T).T
        return out

    @cached_property
    def _plan(self) -> Plan:
        return of_factors(self.factors, self.width)

    def __getstate__(self) -> dict[str, Any]:  # what was kept for later calls is not pickled
        kept = {name for name in self.__dict__ if isinstance(getattr(type(self), name, None), cached_property)}
        return {name: value for name, value in self.__dict__.items() if name not in kept}

    def combined(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coefficient of each monomial in sum_i weights[i] feature_i."""
        return np.asarray(self.coefficients.T @ weights)

    def names(self, inputs: Sequence[str]) -> list[str]:
        """The features as texts: "x1", "sqrt(2) x1 x2", "x2 + x3"."""
        words = [monomial_text(row, inputs) for row in self.factors]
        numbers, places = self.coefficients.data.tolist(), self.coefficients.indices.tolist()
        starts = self.coefficients.indptr.tolist()
        return [sum_text([words[m] for m in places[a:b]], numbers[a:b]) for a, b in pairwise(starts)]


# -- lists of monomials ----------------------------------------------------------------------------------------------


def combinations(width: int, degree: int, lowest: int = 0, repeated: bool = True) -> NDArray[np.intp]:
    """The factors of all monomials of degrees lowest .. degree, sorted by degree, then by columns.

    repeated : whether a column may stand more than once
    """
    family, part = Family(width, max(degree, 1), 0, repeated), np.empty((1, 0), dtype=np.intp)
    parts = []
    for p in range(degree + 1):
        part = part if p == 0 else _prepended(family, p, part)
        if p >= lowest:
            padded = np.full((len(part), max(degree, 1)), -1, dtype=np.intp)
            padded[:, :p] = part
            parts.append(padded)
    return np.concatenate(parts) if parts else np.empty((0, 1), dtype=np.intp)


def _prepended(family: Family, degree: int, below: NDArray[np.intp]) -> NDArray[np.intp]:
    """The factors of one degree, from those of the degree below."""
    rows = np.empty((family.number(degree, family.width), degree), dtype=np.intp)
    for column, (target, source, length) in enumerate(family.runs(degree)):
        rows[target : target + length, 0] = column
        rows[target : target + length, 1:] = below[source : source + length]
    return rows


def count(width: int, degree: int, lowest: int = 0, repeated: bool = True) -> int:
    """How many monomials `combinations` would give."""
    return Family(width, degree, lowest, repeated).count


# -- texts -----------------------------------------------------------------------------------------------------------


def monomial_text(row: NDArray[np.intp], inputs: Sequence[str]) -> str:
    """A monomial as text: "x1^2 x3"; "1" for that of no columns."""
    powers = [(inputs[column], len(list(same))) for column, same in groupby(c for c in row.tolist() if c >= 0)]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers) or "1"


def sum_text(words: Sequence[str], numbers: Sequence[float]) -> str:
    """A weighted sum of monomials as text."""
    text = ""
    for word, number in zip(words, numbers, strict=True):
        sign = "-" if number < 0 else "+"
        size = number_text(abs(number))
        term = size if word == "1" else word if size == "1" else f"{size} {word}"
        text += f" {sign} {term}" if text else term if number >= 0 else f"-{term}"
    return text or "0"


def number_text(number: float) -> str:
    """A positive number: as it is where six digits say all, else as the root of a simple fraction, else rounded."""
    rounded = f"{number:.6g}"
    if float(rounded) == number:
        return f"{number:.0f}" if number < 1e6 and number == round(number) else rounded
    square = number * number
    simple = Fraction(square).limit_denominator(99) if square < 1e6 else Fraction(0)
    rational = all(math.isqrt(part) ** 2 == part for part in simple.as_integer_ratio())
    exact = abs(square - float(simple)) <= 1e-14 * square
    return f"sqrt({simple})" if exact and not rational else rounded
