"""A symmetric matrix that lives at a backend."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Square
from mercer.operators.base import Index, Operator


class AtBackend(Operator):
    """The face of an operator for a square at a backend: vectors go there and come back. Cost: as there.

    square : the matrix
    """

    def __init__(self, square: Square) -> None:
        self.square = square
        super().__init__(square.shape, np.float64, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return self.square.times(V)

    def _transposed(self) -> Operator:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        rows = np.arange(self.shape[0])
        return self.square.block(rows[i], rows[j])

    def diagonal(self) -> NDArray[Any]:
        return self.square.diagonal()

    def to_dense(self) -> NDArray[Any]:
        return self.square.whole()

    def at_backend(self) -> Square:
        return self.square
