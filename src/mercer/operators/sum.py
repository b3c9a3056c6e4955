"""A weighted sum of operators, and the arithmetic that makes one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.operators.base import Index, Operator


class Sum(Operator):
    """The matrix w_1 A_1 + ... + w_k A_k. Cost: that of its terms one after the other, and one more result.

    Terms of different dtypes give the wider one, with the accuracy of the narrower. Write A + B, A - B and 2 * A, which
    also find the cases that have a better form than a sum.

    Parameters
    ----------
    terms : sequence of Operator
        Of one shape; a term that is a Sum is replaced by its own terms.
    weights : sequence of float or None, default=None
        One finite number per term; 1 each where None.

    Examples
    --------
    >>> from mercer.operators import Dense
    >>> A = Dense([[2.0, 1.0], [0.0, 3.0]])
    >>> 2 * A + A.T.ridge(0.5)
    Sum(2 x 2, 2 Dense + Dense + Diagonal, float64)
    """

    def __init__(self, terms: Sequence[Operator], weights: Sequence[float] | None = None) -> None:
        factors = [1.0] * len(terms) if weights is None else [number("Sum", weight) for weight in weights]
        if len(factors) != len(terms):
            got = f"got {len(terms)} terms and {len(factors)} weights"
            raise InputError(message("one weight per term", got, "Leave the weights out if they are 1.", subject="Sum"))
        flat = [item for term, factor in zip(terms, factors, strict=True) for item in _flattened(term, factor)]
        if not flat or any(term.shape != flat[0][0].shape for term, _ in flat):
            got = f"got {', '.join(repr(term) for term, _ in flat[:3]) or 'none'}"
            raise InputError(message("terms of one shape", got, "Check the terms.", subject="Sum"))
        self.terms = tuple(term for term, _ in flat)
        self.weights = tuple(weight for _, weight in flat)
        dtype = np.result_type(*(term.dtype for term in self.terms))
        super().__init__(self.terms[0].shape, dtype, all(term.symmetric for term in self.terms))

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return self._total(lambda term: term._multiply(V))

    def _transposed(self) -> Sum:
        return Sum([term.T for term in self.terms], self.weights)

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        return self._total(lambda term: term._block(i, j).astype(self.dtype, copy=False))

    def diagonal(self) -> NDArray[Any]:
        return self._total(lambda term: term.diagonal().astype(self.dtype, copy=False))

    def _total(self, part: Callable[[Operator], NDArray[Any]]) -> NDArray[Any]:
        """The weighted sum of what each term answers, added up in place."""
        total: NDArray[Any] | None = None
        for term, weight in zip(self.terms, self.weights, strict=True):
            answer = part(term)
            if weight != 1:
                answer *= weight
            total = answer if total is None else np.add(total, answer, out=total)
        return np.asarray(total)

    def peak(self, columns: int = 1) -> int:
        first, *others = (term.peak(columns) for term in self.terms)
        return max(first, super().peak(columns) + max(others, default=0))

    def _peak_dense(self) -> int:
        first, *others = (term._peak_dense() for term in self.terms)
        return max(first, super()._peak_dense() + max(others, default=0))

    def _plus(self, other: Operator) -> Operator | None:
        if isinstance(other, Sum):
            return None
        for at, (term, weight) in enumerate(zip(self.terms, self.weights, strict=True)):
            joined = join(term, other) if weight == 1 else None
            if joined is not None:
                return Sum([*self.terms[:at], joined, *self.terms[at + 1 :]], self.weights)
        return None

    def _scaled(self, factor: float) -> Sum:
        return Sum(self.terms, [factor * weight for weight in self.weights])

    def _detail(self) -> str:
        names = [type(term).__name__ for term in self.terms]
        return " + ".join(name if w == 1 else f"{w:g} {name}" for name, w in zip(names, self.weights, strict=True))


def add(left: Operator, right: object) -> Operator:
    """The sum of two operators, in the best form that is known for it."""
    if not isinstance(right, Operator):
        remedy = "Wrap an array as Dense(array); for A + alpha I write A.ridge(alpha)."
        raise InputError(message("an operator to add", f"got {type(right).__name__}", remedy, subject=left))
    if left.shape != right.shape:
        raise InputError(
            message("an operator of its own shape to add", f"got {right!r}", "Check the shapes.", subject=left)
        )
    return join(left, right) or Sum((left, right))


def join(left: Operator, right: Operator) -> Operator | None:
    """The sum where it is more than a sum of two terms."""
    joined = left._plus(right)
    return right._plus(left) if joined is None else joined


def number(operator: object, factor: object) -> float:
    """A finite number by which an operator can be multiplied."""
    if not isinstance(factor, numbers.Real) or isinstance(factor, bool) or not math.isfinite(factor):
        got = f"got {factor!r}" if isinstance(factor, numbers.Number) else f"got {type(factor).__name__}"
        raise InputError(
            message(
                "a finite number to be multiplied or divided by",
                got,
                "For a vector or matrix V write A @ V.",
                subject=operator,
            )
        )
    return float(factor)


def _flattened(term: Operator, weight: float) -> list[tuple[Operator, float]]:
    if isinstance(term, Sum):
        return [(inner, weight * w) for inner, w in zip(term.terms, term.weights, strict=True)]
    return [(term, weight)]
