"""Functions of a row, as data: a backend makes their values where the rows are, instead of being sent a wide table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.passes import Movable, Operations

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class RowFunctions(Movable, ABC):
    """p functions of a row of d numbers, in float64; a member is a frozen dataclass of thin arrays and numbers."""

    @property
    @abstractmethod
    def width(self) -> int:
        """p."""

    @abstractmethod
    def values(self, rows: Any, ops: Operations) -> Any:
        """(r, p), to be overwritten, from rows (r, d), which are not: of these arguments and the fields alone."""


@dataclass(frozen=True, eq=False)
class WaveFunctions(RowFunctions):
    """scale cos(w.(x - c) + t), or without offsets t the cosines and then the sines, scaled.

    frequencies : (m, d), one w per row
    center : (d,), c
    offsets : (m,), t; None for pairs
    """

    frequencies: Array
    center: Array
    scale: float
    offsets: Array | None = None

    @property
    def width(self) -> int:
        return len(self.frequencies) * (2 if self.offsets is None else 1)

    def values(self, rows: Any, ops: Operations) -> Any:
        phases = (rows - self.center) @ self.frequencies.T
        if self.offsets is not None:
            phases += self.offsets
            found = ops.cos(phases)
        else:
            found = ops.beside([ops.cos(phases), ops.sin(phases)])
        found *= self.scale
        return found


@dataclass(frozen=True, eq=False)
class MonomialFunctions(RowFunctions):
    """Products of columns, weighted, or sums of such products.

    factors : (degree, M), positions in [1, x] of what each monomial multiplies
    weights : (M,), of monomials that are the functions; or (M, p), of sums of them
    """

    factors: Positions
    weights: Array

    @property
    def width(self) -> int:
        return int(self.weights.shape[-1])

    def values(self, rows: Any, ops: Operations) -> Any:
        known = ops.beside([rows[:, :1] * 0.0 + 1.0, rows])
        first, *others = self.factors
        found = known[:, first]
        for each in others:
            found *= known[:, each]
        if self.weights.ndim == 2:
            return found @ self.weights
        found *= self.weights
        return found
