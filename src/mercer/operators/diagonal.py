"""A diagonal matrix, and the ridge that is made of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message
from mercer.operators.base import Index, Operator, held, read


class Diagonal(Operator):
    """The square matrix with given values on its diagonal and zeros elsewhere. Cost: A @ V takes n c operations.

    Parameters
    ----------
    values : array of shape (n,)
        They are not copied, and must not be changed.

    Examples
    --------
    >>> Diagonal([1.0, 2.0, 3.0]) @ [1.0, 1.0, 2.0]
    array([1., 2., 6.])
    """

    def __init__(self, values: ArrayLike) -> None:
        self.values = held("Diagonal", values, dimensions=1)
        super().__init__((self.values.size, self.values.size), self.values.dtype, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.values[:, None] * V)

    def _transposed(self) -> Diagonal:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        every = np.arange(self.shape[0])
        rows, columns = np.nonzero(np.equal.outer(every[i], every[j]))
        result = np.zeros((every[i].size, every[j].size), dtype=self.dtype)
        result[rows, columns] = self.values[i][rows]
        return result

    def diagonal(self) -> NDArray[Any]:
        return self.values.copy()

    def _peak_dense(self) -> int:
        return 2 * super()._peak_dense()  # where rows and columns meet is another table

    def _plus(self, other: Operator) -> Operator | None:
        return Diagonal(self.values + other.values) if isinstance(other, Diagonal) else None

    def _scaled(self, factor: float) -> Diagonal:
        return Diagonal(factor * self.values)

    def _in(self, dtype: np.dtype[Any]) -> Diagonal:
        """The same with values of another dtype."""
        return self if dtype == self.dtype else Diagonal(self.values.astype(dtype))


def ridge(operator: Operator, alpha: ArrayLike) -> Diagonal:
    """The diagonal of penalties to add to an operator, in its dtype."""
    penalties, n = read(alpha, subject=operator), operator.shape[0]
    if penalties.shape not in ((), (n,)):
        got = f"got an array of shape {penalties.shape}"
        raise InputError(
            message(f"a ridge of one number or of {n}", got, "Give a number, or one per row.", subject=operator)
        )
    wrong = penalties[~((penalties >= 0) & (penalties < np.inf))]
    if wrong.size:
        got = f"got {wrong[0]}"
        raise InputError(
            message("a ridge that is finite and not negative", got, "Use a small number.", subject=operator)
        )
    return Diagonal(np.broadcast_to(np.asarray(penalties, dtype=operator.dtype), (n,)))
