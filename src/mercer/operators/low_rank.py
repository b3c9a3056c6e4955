"""A product of two thin matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message
from mercer.operators.base import Index, Operator, held
from mercer.operators.dense import product
from mercer.operators.diagonal import Diagonal


class LowRank(Operator):
    """The matrix L R' of rank r, or L L'. Cost: A @ V takes 2 (n + m) r c operations and holds (n + r) c numbers.

    Neither is copied, and neither must be changed. With a `Diagonal` or a ridge it becomes `DiagonalPlusLowRank`.

    Parameters
    ----------
    left : array of shape (n, r)
        L.
    right : array of shape (m, r) or None, default=None
        R; L where None, which makes the matrix symmetric and positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> A = LowRank(np.ones((20000, 100)))
    >>> A
    LowRank(20000 x 20000, rank 100, float64)
    >>> A.ridge(0.1)
    DiagonalPlusLowRank(20000 x 20000, rank 100, float64)
    """

    def __init__(self, left: ArrayLike, right: ArrayLike | None = None) -> None:
        L = held("LowRank", left, dimensions=2)
        R = L if right is None else held("LowRank", right, dimensions=2)
        if L.shape[1] != R.shape[1]:
            got = f"L has {L.shape[1]} and R has {R.shape[1]}"
            raise InputError(
                message("L and R with the same number of columns", got, "It is L @ R.T.", subject="LowRank")
            )
        dtype = np.result_type(L, R)
        self.left = held("LowRank", L, dimensions=2, dtype=dtype)
        self.right = self.left if right is None else held("LowRank", R, dimensions=2, dtype=dtype)
        super().__init__((L.shape[0], R.shape[0]), dtype, symmetric=right is None)

    @property
    def rank(self) -> int:
        """The number of columns of L and R; the rank of the matrix is at most that."""
        return int(self.left.shape[1])

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return product(self.left, product(self.right.T, V))

    def _transposed(self) -> LowRank:
        return LowRank(self.right, self.left)

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        return np.asarray(self.left[i] @ self.right[j].T)

    def fill(self, rows: NDArray[np.intp], out: NDArray[Any]) -> None:
        np.matmul(self.left[rows], self.right.T, out=out)

    def part(self, rows: NDArray[np.intp]) -> LowRank:
        return LowRank(self.left[rows])

    def narrowed(self) -> LowRank:
        return self._in(np.dtype(np.float32))

    def diagonal(self) -> NDArray[Any]:
        size = min(self.shape)
        return np.asarray(np.einsum("ik,ik->i", self.left[:size], self.right[:size]))

    def peak(self, columns: int = 1) -> int:
        return (self.shape[0] + self.rank) * columns * self.dtype.itemsize

    def _plus(self, other: Operator) -> Operator | None:
        from mercer.operators.diagonal_plus_low_rank import DiagonalPlusLowRank  # which is made of this class

        return DiagonalPlusLowRank(other, self) if isinstance(other, Diagonal) else None

    def _scaled(self, factor: float) -> Operator:
        if not self.symmetric:
            return LowRank(factor * self.left, self.right)
        return LowRank(math.sqrt(factor) * self.left) if factor >= 0 else super()._scaled(factor)

    def _in(self, dtype: np.dtype[Any]) -> LowRank:
        """The same with factors of another dtype."""
        if dtype == self.dtype:
            return self
        return LowRank(self.left.astype(dtype), None if self.symmetric else self.right.astype(dtype))

    def _detail(self) -> str:
        return f"rank {self.rank}"
