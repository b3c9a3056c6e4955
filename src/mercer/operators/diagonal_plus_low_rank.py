"""A diagonal and a low-rank matrix together: the sum that can be inverted cheaply."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import get_lapack_funcs

from mercer.errors import InputError, NumericalWarning, caller_level, message
from mercer.operators.base import Index, Operator
from mercer.operators.dense import product, tiles
from mercer.operators.diagonal import Diagonal
from mercer.operators.low_rank import LowRank


class Capacitance(NamedTuple):
    """The LU factors of C = I + R' D^-1 L, and its condition number in the 1-norm."""

    lu: NDArray[np.float64]
    pivots: NDArray[np.intc]
    condition: float


class DiagonalPlusLowRank(Operator):
    """The matrix D + L R', which `LowRank` + `Diagonal` gives. Cost: A @ V takes that of both.

    The first `solve` or `logdet` takes n r^2 + r^3 operations in float64 and keeps r^2 numbers.

    Where one of the two has a narrower dtype than the other, it is copied.

    Parameters
    ----------
    diagonal_part : Diagonal
        D.
    low_rank_part : LowRank
        L R'.

    Examples
    --------
    >>> import numpy as np
    >>> A = LowRank([[1.0], [2.0], [3.0]]).ridge(0.5)
    >>> np.allclose(A @ A.solve([1.0, 0.0, 1.0]), [1.0, 0.0, 1.0])
    True
    >>> round(A.logdet(), 4)  # log(0.5 * 0.5 * 14.5)
    1.2879

    References
    ----------
    Golub, Van Loan (2013). Matrix Computations, 4th edition, section 2.1.4.
    """

    def __init__(self, diagonal_part: Diagonal, low_rank_part: LowRank) -> None:
        if diagonal_part.shape != low_rank_part.shape:
            got = f"got {diagonal_part!r} and {low_rank_part!r}"
            raise InputError(message("two parts of one shape", got, "Check the shapes.", subject="DiagonalPlusLowRank"))
        dtype = np.result_type(diagonal_part.dtype, low_rank_part.dtype)
        self.diagonal_part, self.low_rank_part = diagonal_part._in(dtype), low_rank_part._in(dtype)
        super().__init__(diagonal_part.shape, dtype, low_rank_part.symmetric)

    @property
    def rank(self) -> int:
        """The rank of the low-rank part."""
        return self.low_rank_part.rank

    def solve(self, b: ArrayLike) -> NDArray[Any]:
        """A^-1 b by Woodbury's identity D^-1 - D^-1 L C^-1 R' D^-1, refined.

        Cost: 8 n r c operations in float64, and as many for each of the few refinements. A capacitance matrix
        C = I + R' D^-1 L that is singular to rounding gives a NumericalWarning; nothing is added to it.

        Parameters
        ----------
        b : array of shape (n,) or (n, c)
            The right sides.

        Returns
        -------
        array of the shape of b
        """
        columns = self._columns(b)
        B = columns.reshape(self.shape[0], -1).astype(np.float64)
        with np.errstate(all="ignore"):  # what goes wrong is said by the condition number
            X = self._refined(self._woodbury(B), B)
        self._warn_if_singular()
        return X.reshape(columns.shape).astype(columns.dtype)

    def logdet(self) -> float:
        """The logarithm of the absolute determinant: `sum log |d_i| + log |det C|`, with C as in `solve`.

        Returns
        -------
        float
        """
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(self._checked_diagonal())).sum() + np.log(np.abs(np.diag(self._capacitance.lu))).sum()
        self._warn_if_singular()
        return float(logs)

    def _refined(self, X: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
        """Solutions whose residuals b - A x were solved for again while that halved them, column by column.

        Where D is small, the terms of the identity cancel, and a few such steps win back the digits.
        """
        residuals = B - self._multiply(X)
        while True:
            better = X + self._woodbury(residuals)
            left = B - self._multiply(better)
            halved = np.linalg.norm(left, axis=0) < np.linalg.norm(residuals, axis=0) / 2
            if not halved.any():
                return X
            X, residuals = np.where(halved, better, X), np.where(halved, left, residuals)

    def _woodbury(self, B: NDArray[np.float64]) -> NDArray[np.float64]:
        d = self._checked_diagonal()[:, None]
        scaled = B / d
        lu, pivots, _ = self._capacitance
        (getrs,) = get_lapack_funcs(("getrs",), (lu,))
        inner, _ = getrs(lu, pivots, product(self.low_rank_part.right.T, scaled))
        return np.asarray(scaled - product(self.low_rank_part.left, inner) / d)

    def _checked_diagonal(self) -> NDArray[np.float64]:
        d = self.diagonal_part.values.astype(np.float64)
        if not d.all():
            got = f"entry {int(np.argmin(d != 0))} is 0"
            raise InputError(message("a diagonal without zeros", got, "Add a ridge: A.ridge(alpha).", subject=self))
        return d

    @cached_property
    def _capacitance(self) -> Capacitance:
        L, R, d = self.low_rank_part.left, self.low_rank_part.right, self._checked_diagonal()
        C = np.eye(self.rank)
        for part in tiles(self.shape[0], self.rank):
            C += R[part].T.astype(np.float64) @ (L[part] / d[part, None])
        getrf, gecon = get_lapack_funcs(("getrf", "gecon"), (C,))
        lu, pivots, _ = getrf(C)
        inverse = gecon(lu, np.abs(C).sum(axis=0).max())[0] if np.isfinite(C).all() else 0.0
        return Capacitance(lu, pivots, 1 / inverse if inverse > 0 else np.inf)

    def _warn_if_singular(self) -> None:
        condition = self._capacitance.condition
        if condition >= 1 / np.finfo(np.float64).eps:
            got = f"its condition number is about {condition:.1g}, so that no digit of the result may be right"
            needs = "a capacitance matrix I + R' D^-1 L that is not singular to rounding"
            remedy = "Enlarge the diagonal: A.ridge(alpha)."
            warnings.warn(message(needs, got, remedy, subject=self), NumericalWarning, stacklevel=caller_level())

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        result = self.low_rank_part._multiply(V)
        result += self.diagonal_part._multiply(V)
        return result

    def _transposed(self) -> DiagonalPlusLowRank:
        return DiagonalPlusLowRank(self.diagonal_part, self.low_rank_part._transposed())

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        return np.asarray(self.low_rank_part._block(i, j) + self.diagonal_part._block(i, j))

    def diagonal(self) -> NDArray[Any]:
        return np.asarray(self.low_rank_part.diagonal() + self.diagonal_part.values)

    def peak(self, columns: int = 1) -> int:
        return max(self.low_rank_part.peak(columns), 2 * super().peak(columns))

    def _peak_dense(self) -> int:
        return 3 * super()._peak_dense()

    def _plus(self, other: Operator) -> Operator | None:
        if not isinstance(other, Diagonal):
            return None
        return DiagonalPlusLowRank(Diagonal(self.diagonal_part.values + other.values), self.low_rank_part)

    def _scaled(self, factor: float) -> Operator:
        return self.low_rank_part._scaled(factor) + self.diagonal_part._scaled(factor)

    def _detail(self) -> str:
        return f"rank {self.rank}"
