"""Features that are polynomials in the columns: monomials, and the coefficients that make features of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mercer.compute.monomials import monomials


@dataclass(frozen=True, eq=False)
class Expansion:
    """D features, each a sum of coefficients times monomials of d columns.

    width : d, how many columns there are
    factors : (M, p) whole numbers: the columns that are multiplied in each monomial, ascending, filled with -1 behind;
        no monomial stands twice, and they are sorted by degree, then by their columns
    coefficients : (D, M), sparse: feature i is sum_m coefficients[i, m] monomial_m
    """

    width: int
    factors: NDArray[np.intp]
    coefficients: csr_array

    @classmethod
    def weighted(cls, width: int, factors: NDArray[np.intp], weights: NDArray[np.float64]) -> Expansion:
        """One feature a monomial, times a weight."""
        return cls(width, factors, csr_array(diags_array(np.asarray(weights, dtype=np.float64))))

    def __len__(self) -> int:
        return int(self.coefficients.shape[0])

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

    def evaluate(self, X: NDArray[Any]) -> NDArray[Any]:
        """The features of each row, in the dtype of X."""
        values = monomials(X, self.factors)
        if self.weights is not None:
            values *= self.weights.astype(X.dtype)
            return values
        return np.ascontiguousarray((self.coefficients.astype(X.dtype) @ values.T).T)

    def combined(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coefficient of each monomial in sum_i weights[i] feature_i."""
        return np.asarray(self.coefficients.T @ weights)

    def names(self, inputs: Sequence[str]) -> list[str]:
        """The features as texts: "x1", "sqrt(2) x1 x2", "x2 + x3"."""
        words = [monomial_text(row, inputs) for row in self.factors]
        starts = self.coefficients.indptr
        return [
            sum_text([words[m] for m in self.coefficients.indices[a:b]], self.coefficients.data[a:b].tolist())
            for a, b in zip(starts[:-1], starts[1:], strict=True)
        ]


def monomial_text(row: NDArray[np.intp], inputs: Sequence[str]) -> str:
    """A monomial as text: "x1^2 x3"; "1" for that of no columns."""
    columns, counts = np.unique(row[row >= 0], return_counts=True)
    parts = [inputs[c] if p == 1 else f"{inputs[c]}^{p}" for c, p in zip(columns, counts, strict=True)]
    return " ".join(parts) or "1"


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
    """A positive number: as a root where its square is whole or a simple part, else with six digits."""
    if number == round(number):
        return f"{number:.0f}" if number < 1e6 else f"{number:g}"
    square = number * number
    if abs(square - round(square)) <= 1e-12 * square and round(square) < 1e6:
        return f"sqrt({round(square)})"
    return f"{number:.6g}"


def combinations(width: int, degree: int, lowest: int = 0, repeated: bool = True) -> NDArray[np.intp]:
    """The factors of all monomials of degrees lowest .. degree, sorted by degree, then by columns.

    repeated : whether a column may stand more than once
    """
    parts = []
    for p in range(lowest, degree + 1):
        part = _of_degree(width, p, repeated)
        padded = np.full((len(part), max(degree, 1)), -1, dtype=np.intp)
        padded[:, :p] = part
        parts.append(padded)
    return np.concatenate(parts) if parts else np.empty((0, 1), dtype=np.intp)


def _of_degree(width: int, degree: int, repeated: bool) -> NDArray[np.intp]:
    rows = np.empty((1, 0), dtype=np.intp)
    for _ in range(degree):
        first = rows[:, -1] + (not repeated) if rows.shape[1] else np.zeros(1, dtype=np.intp)
        room = np.maximum(width - first, 0)
        repeats = np.repeat(np.arange(len(rows)), room)
        starts = np.repeat(np.cumsum(room) - room, room)
        column = np.arange(len(repeats)) - starts + np.repeat(first, room)
        rows = np.concatenate([rows[repeats], column[:, None]], axis=1)
    return rows


def count(width: int, degree: int, lowest: int = 0, repeated: bool = True) -> int:
    """How many monomials `combinations` would give."""
    if repeated:
        return sum(math.comb(width + p - 1, p) for p in range(lowest, degree + 1))
    return sum(math.comb(width, p) for p in range(lowest, min(degree, width) + 1))
