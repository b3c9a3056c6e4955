"""A matrix that is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS
from mercer.operators.base import Index, Operator, held

TILE_NUMBERS = 2**17
"""The numbers in a part of a matrix that is worked on alone: 1 MB of float64."""
DIVIDE_AND_CONQUER_SIZES = range(2, 32_767)
"""Sizes for divide and conquer: beyond them its 2 n^2 + 6 n + 1 numbers of work space overflow LAPACK's 32 bits, which
nothing reports, and SciPy before 1.14 refuses a single row."""


class Dense(Operator):
    """A stored matrix, as an operator. Cost: A @ V takes 2 n m c operations and holds the result alone.

    Parameters
    ----------
    matrix : array of shape (n, m)
        It is not copied, and must not be changed.
    symmetric : bool or None, default=None
        Whether it is; where None, it is compared with its transpose, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> A = Dense([[2.0, 1.0], [1.0, 3.0]])
    >>> A
    Dense(2 x 2, symmetric, float64)
    >>> A.ridge(0.5) @ np.array([1.0, 0.0])
    array([2.5, 1. ])
    """

    def __init__(self, matrix: ArrayLike, symmetric: bool | None = None) -> None:
        self.matrix = held("Dense", matrix, dimensions=2)
        is_symmetric = equals_transpose(self.matrix) if symmetric is None else symmetric
        super().__init__(self.matrix.shape, self.matrix.dtype, is_symmetric)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return product(self.matrix, V)

    def _transposed(self) -> Dense:
        return Dense(self.matrix.T, symmetric=False)

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        if not isinstance(i, slice) and not isinstance(j, slice):
            return self.matrix[np.ix_(i, j)]
        return np.array(self.matrix[i, j], order="C")

    def fill(self, rows: NDArray[np.intp], out: NDArray[Any]) -> None:
        np.take(self.matrix, rows, axis=0, out=out, mode="clip")  # "raise" would buffer it

    def narrowed(self) -> Dense:
        return self if self.dtype == np.float32 else Dense(self.matrix.astype(np.float32), self.symmetric)

    def diagonal(self) -> NDArray[Any]:
        return self.matrix.diagonal().copy()

    def _detail(self) -> str:
        return "symmetric" * self.symmetric


def product(M: NDArray[Any], V: NDArray[Any]) -> NDArray[Any]:
    """M V in the dtype of V, which is that of M or wider; a narrow M is widened tile by tile, never as a whole.

    A long product is made of short ones, so that it can be interrupted.
    """
    (n, m), columns = M.shape, V.shape[1]
    if M.dtype == V.dtype and 2.0 * n * m * columns <= MAX_CALL_OPERATIONS:
        return np.asarray(M @ V)
    result = np.zeros((n, columns), dtype=V.dtype)
    if M.dtype == V.dtype:
        step = max(1, int(MAX_CALL_OPERATIONS / (2.0 * m * columns)))
        for start in range(0, n, step):
            np.matmul(M[start : start + step], V, out=result[start : start + step])
        return result
    for part in tiles(max(n, m), min(n, m)):
        if n >= m:
            result[part] = M[part].astype(V.dtype) @ V
        else:
            result += M[:, part].astype(V.dtype) @ V[part]
    return result


def tiles(length: int, width: int) -> list[slice]:
    """Slices that cover a length, so that each part of a table of that width holds about `TILE_NUMBERS` numbers."""
    step = max(1, TILE_NUMBERS // width)
    return [slice(start, start + step) for start in range(0, length, step)]


def equals_transpose(matrix: NDArray[Any]) -> bool:
    """Whether a matrix is exactly symmetric. Cost: n^2 comparisons, no copy."""
    n, m = matrix.shape
    return n == m and all(np.array_equal(matrix[part], matrix[:, part].T) for part in tiles(n, n))


def driver_for(n: int) -> str:
    """Which of LAPACK's ways to all eigenvectors a matrix of n rows can take: divide and conquer where it works."""
    return "evd" if n in DIVIDE_AND_CONQUER_SIZES else "evr"
