"""What the search for a witness sees: a matrix for any set of points, and a way to verify a find."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainError, InputError
from mercer.kernels.algebra import On
from mercer.kernels.base import Kernel
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import precisely
from mercer.kernels.precision.pairs import PrecisePairs
from mercer.kernels.proof.examiner import Map
from mercer.kernels.proof.limit import Limit
from mercer.kernels.proof.rounding import noise
from mercer.kernels.proof.verify import FLOAT_DIGITS, Check, check_kernel, check_matrix

Matrix = NDArray[np.float64]

BLOCK_NUMBERS = 256
"""Numbers of 50 digits between two looks at the clock."""


class DefinedPairs(Pairs):
    """Pairs as a search sees them: where a term of coordinates has a pole, the kernel is not defined, and NaN."""

    def total(self, term: Callable[[Any, Any], Any], joined_by: Literal["sum", "product"]) -> Block:
        found = super().total(term, joined_by)
        return np.where(np.isinf(found), np.nan, found)


class Subject(ABC):
    """A symmetric function under suspicion."""

    @abstractmethod
    def matrix(self, points: Matrix) -> Matrix:
        """k on all pairs; NaN where it is not defined."""

    @abstractmethod
    def raw(self, points: Matrix) -> Matrix:
        """The same, each order of the arguments by itself."""

    @abstractmethod
    def form(self, points: Matrix, weights: Matrix) -> Check:
        """The quadratic form, as precisely as it can be had."""

    def check(self, points: Matrix, weights: Matrix, place: Map = np.asarray) -> Check:
        """The quadratic form; where a function gives floats, with what the rounding inside of it may contribute."""
        found = self.form(points, weights)
        if found.digits > FLOAT_DIGITS or not found.negative:
            return found
        return replace(found, noise=noise(self.raw, points, weights, place))

    @property
    def scale(self) -> float:
        """A typical length."""
        return 1.0

    @property
    def effort(self) -> float:
        """How many point sets to examine, as a multiple of the usual number."""
        return 1.0


@dataclass(frozen=True)
class KernelSubject(Subject):
    """A kernel; its open numbers count as 1, no loss for a leaf: validity does not depend on a unit of length."""

    kernel: Kernel
    names: tuple[str, ...] | None
    limit: Limit = field(default_factory=Limit)

    @classmethod
    def of(cls, kernel: Kernel, limit: Limit | None = None) -> KernelSubject:
        """The kernel, closed, with the column names that it asks for."""
        return cls(kernel.closed(1.0), _names_in(kernel), limit or Limit())

    def columns(self, d: int | None) -> tuple[int, ...]:
        """The numbers of columns to try: the given one, or small ones."""
        named = None if self.names is None else len(self.names)
        if d is not None:
            return (d,)
        return (named,) if named is not None else (1, 2, 3, 4)

    def fits(self, d: int) -> bool:
        """Whether the kernel can be evaluated on d columns."""
        try:
            replace(self, limit=Limit()).matrix(np.ones((2, d)))
        except (IndexError, ValueError):  # what a user's map of rows raises where it expects other columns
            return False
        return True

    def matrix(self, points: Matrix) -> Matrix:
        block = self.raw(points)
        return np.asarray((block + block.T) / 2)

    def raw(self, points: Matrix) -> Matrix:
        self.limit.check()
        data = self._points(points)
        with np.errstate(all="ignore"):
            try:
                return np.asarray(self.kernel.evaluate(DefinedPairs(data, data)))
            except DomainError:  # such as a normalized function with k(x, x) < 0
                return np.full((len(points), len(points)), np.nan)

    def form(self, points: Matrix, weights: Matrix) -> Check:
        return check_kernel(self.kernel, self._points(points), weights)

    def profile(self, r: Matrix) -> Matrix:
        """k as a function of the distance, for radial kernels."""
        self.limit.check()
        origin, line = Points(np.zeros((1, 1))), Points(np.reshape(r, (-1, 1)))
        with np.errstate(all="ignore"):
            return np.asarray(self.kernel.evaluate(Pairs(origin, line))).reshape(np.shape(r))

    def precise_profile(self, r: NDArray[Any]) -> NDArray[Any] | None:
        """The same for distances of 50 digits; None where a function inside cannot take such numbers."""
        origin = Points(precisely(np.zeros((1, 1))))
        found = []
        for start in range(0, r.size, BLOCK_NUMBERS):
            self.limit.check()
            line = Points(r.reshape(-1, 1)[start : start + BLOCK_NUMBERS])
            try:
                found.append(precisely(self.kernel.evaluate(PrecisePairs(origin, line))).ravel())
            except (TypeError, AttributeError):
                return None
        return np.concatenate(found)

    @property
    def scale(self) -> float:
        found = _lengths_in(self.kernel)
        return float(np.median(found)) if found else 1.0

    def _points(self, values: Matrix) -> Points:
        fits = self.names is not None and len(self.names) == values.shape[1]
        return Points(values, self.names if fits else None)


@dataclass(frozen=True)
class FunctionSubject(Subject):
    """A Python function of two points, each an array of d numbers."""

    function: Callable[[Matrix, Matrix], Any]
    limit: Limit = field(default_factory=Limit)

    @property
    def effort(self) -> float:
        """Half of the usual: each pair is a call of Python."""
        return 0.5

    def value(self, x: Matrix, z: Matrix) -> float:
        """k(x, z) as a float."""
        self.limit.check()
        with np.errstate(all="ignore"):
            result = np.asarray(self.function(x, z))
        if result.size != 1 or result.dtype.kind not in "fiub":
            raise InputError(
                f"prove needs a function that gives one real number for two points; got {result!r} for points of "
                f"{len(x)} coordinates. Return a float."
            )
        return float(result.reshape(()))

    def matrix(self, points: Matrix) -> Matrix:
        size = len(points)
        block = np.empty((size, size))
        for i in range(size):
            for j in range(i + 1):
                block[i, j] = block[j, i] = self.value(points[i], points[j])
        return block

    def raw(self, points: Matrix) -> Matrix:
        return np.array([[self.value(x, z) for z in points] for x in points])

    def form(self, points: Matrix, weights: Matrix) -> Check:
        return check_matrix(self.matrix(points), weights, FLOAT_DIGITS)


def _names_in(kernel: Kernel) -> tuple[str, ...] | None:
    """The column names of which the kernel speaks, in order; None where it speaks of none."""
    own = [c for c in kernel.columns if isinstance(c, str)] if isinstance(kernel, On) else []
    below = [name for child in kernel.children for name in _names_in(child) or ()]
    return tuple(dict.fromkeys(own + below)) or None


def _lengths_in(kernel: Kernel) -> list[float]:
    """The lengthscales of the leaves."""
    own = getattr(kernel, "lengthscale", None)
    below = [length for child in kernel.children for length in _lengths_in(child)]
    return [*below, own] if isinstance(own, float) else below
