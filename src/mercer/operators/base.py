"""The operator: a real matrix that need not be stored, and what can be asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mercer.backends.board import Board
from mercer.backends.squares import Square
from mercer.backends.tensors import brought, is_tensor, like
from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message

if TYPE_CHECKING:

    class LinearOperator:
        """SciPy's, which states no types; a base of unknown type would make `2 * A` a float."""

        def __init__(self, dtype: DTypeLike, shape: tuple[int, int]) -> None: ...

else:
    from scipy.sparse.linalg import LinearOperator

Index = slice | NDArray[np.intp]
"""Positions as a family gets them: a slice, or integers that are in range and not negative."""
EVERYTHING = slice(None)


class Operator(LinearOperator, ABC):
    """A real matrix A of n rows and m columns that need not be stored, and is never changed.

    SciPy's methods (`cg`, `eigsh`, `svds`, `lobpcg`) take it as it is. A family calls `Operator.__init__`, sets its own
    attributes once, and states four hooks: `_multiply`, `_transposed`, `_block` and `diagonal`. What `_multiply`,
    `_block` and `diagonal` return is a new array, for the caller to change.

    Cost: that of the family; nothing is computed before a product, a block or the diagonal is needed.

    Parameters
    ----------
    shape : (int, int)
        n and m.
    dtype : dtype
        float32 or float64.
    symmetric : bool
        Whether A equals its transpose, known from its structure.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import Dense, Diagonal
    >>> A = Dense(np.ones((2, 2))) + Diagonal(np.array([1.0, 2.0]))
    >>> A @ np.ones(2), A.diagonal(), A.symmetric
    (array([3., 4.]), array([2., 3.]), True)
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    symmetric: bool

    def __init__(self, shape: tuple[int, int], dtype: DTypeLike, symmetric: bool) -> None:
        super().__init__(np.dtype(dtype), (int(shape[0]), int(shape[1])))  # newer versions keep more than these two
        self.symmetric = bool(symmetric)
        if self.dtype not in (np.float32, np.float64):
            raise InputError(
                message("float32 or float64", f"got {self.dtype}", "Convert the numbers.", subject=type(self).__name__)
            )
        if self.symmetric:
            self._need_square("as many rows as columns to be symmetric")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise FrozenInstanceError(f"{type(self).__name__} is frozen; {name} is set already. Build another one.")
        super().__setattr__(name, value)

    # -- what a family states -----------------------------------------------------------------------------------

    @abstractmethod
    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        """A V, for V of shape (m, c) and of the dtype that the result must have: float64 or that of A."""

    @abstractmethod
    def _transposed(self) -> Operator:
        """The transpose; asked only where A is not symmetric."""

    @abstractmethod
    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        """The entries in rows i and columns j, in A's dtype; both indices were checked."""

    @abstractmethod
    def diagonal(self) -> NDArray[Any]:
        """The min(n, m) entries of the main diagonal.

        Returns
        -------
        array of shape (min(n, m),)
        """

    def peak(self, columns: int = 1) -> int:
        """The bytes that A @ V holds at its peak beyond A and V, its result included, for V in A's dtype.

        Parameters
        ----------
        columns : int, default=1
            The columns of V.

        Returns
        -------
        int
        """
        return self.shape[0] * columns * self.dtype.itemsize

    def _peak_dense(self) -> int:
        """The bytes that `to_dense` holds at its peak, its result included."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def _plus(self, other: Operator) -> Operator | None:
        """A + B where that is more than a sum of two terms, None otherwise; the shapes agree."""
        return None

    def _scaled(self, factor: float) -> Operator:
        """A times a finite number."""
        return sums.Sum((self,), (factor,))

    def _detail(self) -> str:
        """What the repr says between shape and dtype."""
        return ""

    # -- products -------------------------------------------------------------------------------------------------

    def __matmul__(self, V: ArrayLike) -> NDArray[Any]:
        """A v for a vector (m,), A V for a matrix (m, c), in NumPy's dtype for A and V; NaN is passed through.

        Of a tensor the product is a tensor on the same device.
        """
        if type(V) is not np.ndarray and is_tensor(V):
            there: NDArray[Any] = self._tensor_product(V)
            return there
        columns = self._columns(V)
        return self._multiply(columns[:, None])[:, 0] if columns.ndim == 1 else self._multiply(columns)

    def _tensor_product(self, V: Any) -> Any:
        """A V for a tensor, as a tensor."""
        own = brought(V)
        return like(self @ (own if isinstance(own, np.ndarray) else np.asarray(own)), V)

    def __rmatmul__(self, V: ArrayLike) -> NDArray[Any]:
        """v A for a vector (n,), V A for a matrix (c, n)."""
        rows, n = read(V, subject=self), self.shape[0]
        if rows.ndim not in (1, 2) or rows.shape[-1] != n:
            needs, got = f"a vector of {n} numbers, or rows of so many, from the left", f"got shape {rows.shape}"
            raise InputError(message(needs, got, "V @ A takes rows, A @ V takes columns.", subject=self))
        return (self.T @ rows.T).T

    def dot(self, V: ArrayLike) -> NDArray[Any]:
        """The same as A @ V."""
        return self @ V

    __call__ = dot  # SciPy's own multiplies with *, which here is for numbers

    def _columns(self, values: ArrayLike) -> NDArray[Any]:
        """A vector or matrix to multiply, in the dtype of the product."""
        V, m = read(values, subject=self), self.shape[1]
        if V.ndim not in (1, 2) or V.shape[0] != m:
            needs, got = f"a vector of {m} numbers, or columns of so many", f"got shape {V.shape}"
            raise InputError(message(needs, got, "A @ V takes columns, V @ A takes rows.", subject=self))
        narrow = np.result_type(self.dtype, V.dtype) == np.float32
        return np.asarray(V, dtype=np.float32 if narrow else np.float64)

    # -- parts ----------------------------------------------------------------------------------------------------

    @property
    def T(self) -> Operator:  # noqa: N802
        """The transpose; A itself where it is symmetric."""
        return self if self.symmetric else self._transposed()

    def rows(self, indices: ArrayLike | slice) -> NDArray[Any]:
        """Some rows as a matrix.

        Parameters
        ----------
        indices : array or slice
            Positions, a mask or a slice, as in NumPy.

        Returns
        -------
        array of shape (len(indices), m)
        """
        return self.block(indices, EVERYTHING)

    def block(self, i: ArrayLike | slice, j: ArrayLike | slice) -> NDArray[Any]:
        """The matrix of the entries in rows i and columns j.

        Parameters
        ----------
        i, j : array or slice
            Positions, a mask or a slice, as in NumPy.

        Returns
        -------
        array
        """
        return self._block(positions(self, "row", i, self.shape[0]), positions(self, "column", j, self.shape[1]))

    def fill(self, rows: NDArray[np.intp], out: NDArray[Any]) -> None:
        """Some rows, written to given memory.

        Parameters
        ----------
        rows : array of int
            Positions that exist.
        out : array of shape (len(rows), m)
            Of A's dtype, in C order.
        """
        out[:] = self._block(rows, EVERYTHING)

    def between(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], out: NDArray[Any], threads: int | None = None
    ) -> None:
        """The entries in some rows and columns, written to given memory: for many parts of one matrix.

        Parameters
        ----------
        rows, columns : array of int
            Positions that exist; the same array where both sides are the same.
        out : array of shape (len(rows), len(columns))
            Of A's dtype, in C order.
        threads : int or None, default=None
            How many threads work, at most; None for as many as the operator has.
        """
        out[:] = self._block(rows, columns)

    def combine(
        self, columns: NDArray[np.intp], values: NDArray[Any], rows: NDArray[np.intp] | None = None
    ) -> NDArray[Any]:
        """A v, or some rows of it, for a v that is zero outside some columns.

        Parameters
        ----------
        columns : array of int
            The columns; they exist.
        values : array
            v there.
        rows : array of int or None, default=None
            The rows; None for all.

        Returns
        -------
        array
        """
        v = np.zeros((self.shape[1], *values.shape[1:]), values.dtype)
        v[columns] = values
        return self @ v if rows is None else (self @ v)[rows]

    def part(self, rows: NDArray[np.intp]) -> Operator:
        """The entries in some rows and the same columns of a symmetric A, as an operator.

        Parameters
        ----------
        rows : array of int
            The rows; they exist.

        Returns
        -------
        Operator
        """
        return dense.Dense(self._block(rows, rows), symmetric=True)

    def at_backend(self) -> Square | None:
        """A symmetric A at the backend at hand, where it lives there; None where this process computes it.

        Returns
        -------
        Square or None
        """
        return None

    def board(self) -> Board | None:
        """Where the backend at hand chooses working sets of a symmetric A; None where this process does so.

        Returns
        -------
        Board or None
        """
        return None

    def prepare(self) -> None:
        """Do now what rows, parts and products with some columns would do each for itself, where the family can."""

    def narrowed(self) -> Operator:
        """The same in float32, where the family can; A itself elsewhere.

        Returns
        -------
        Operator
        """
        return self

    def rough(self) -> Operator:
        """The same, faster: entries may be off by more than their own rounding, where the family can; else A.

        Returns
        -------
        Operator
        """
        return self

    def to_dense(self) -> NDArray[Any]:
        """The whole matrix, if the memory budget allows it. Cost: n m numbers.

        Returns
        -------
        array of shape (n, m)
        """
        remedy = "Use products A @ V, rows or blocks, which need less."
        Budget.of(None).require(self._peak_dense(), "its dense matrix", remedy, subject=repr(self))
        return self._block(EVERYTHING, EVERYTHING)

    # -- arithmetic -----------------------------------------------------------------------------------------------

    def ridge(self, alpha: ArrayLike) -> Operator:
        """A + alpha I.

        Parameters
        ----------
        alpha : float or array of shape (n,)
            At least 0; one number, or one per row.

        Returns
        -------
        Operator
        """
        self._need_square("as many rows as columns for a ridge")
        return self + diagonals.ridge(self, alpha)

    def __add__(self, other: object) -> Operator:
        return sums.add(self, other)

    def __radd__(self, other: object) -> Operator:
        is_zero = isinstance(other, int) and other == 0  # the built-in sum starts from 0
        return self if is_zero else sums.add(self, other)

    def __sub__(self, other: object) -> Operator:
        return sums.add(self, -other if isinstance(other, Operator) else other)

    def __mul__(self, factor: object) -> Operator:
        return self._scaled(sums.number(self, factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Operator:
        return self._scaled(sums.number(self, 1.0 / sums.number(self, divisor)))

    def __neg__(self) -> Operator:
        return self._scaled(-1.0)

    __pow__ = None  # SciPy has one; powers of matrices have no place here

    def __repr__(self) -> str:
        detail = self._detail()
        return f"{type(self).__name__}({self.shape[0]} x {self.shape[1]}, {detail}{', ' * bool(detail)}{self.dtype})"

    def _need_square(self, needs: str) -> None:
        if self.shape[0] != self.shape[1]:
            got = f"there are {self.shape[0]} rows and {self.shape[1]} columns"
            raise InputError(message(needs, got, "Check the shape.", subject=type(self).__name__))

    # -- what SciPy asks ------------------------------------------------------------------------------------------

    def _matmat(self, V: NDArray[Any]) -> NDArray[Any]:
        return self @ V

    def _adjoint(self) -> Operator:
        return self.T

    _transpose = _adjoint


def read(values: Any, subject: object = None) -> NDArray[Any]:
    """An array of real numbers, or an error that says why it is none."""
    if isinstance(values, LinearOperator):
        remedy = "Multiply one after the other, A @ (B @ v), or use B.to_dense()."
        raise InputError(message("an array", f"got {values!r}", remedy, subject=subject))
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        got = f"got a sparse {type(values).__name__}"
        raise InputError(message("a dense array", got, "Use V.toarray().", subject=subject))
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InputError(
            message("rows of equal length", f"NumPy says: {error}", "Give an array.", subject=subject)
        ) from error
    if array.dtype.kind not in "fiub":
        got = f"got an array of {array.dtype}"
        raise InputError(message("real numbers", got, "Convert them; take .real and .imag apart.", subject=subject))
    return array


def held(operator: str, values: ArrayLike, dimensions: int, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """A read-only view of float32 or float64, a copy only where the dtype must change: for operators to hold."""
    array = read(values, subject=operator)
    if array.ndim != dimensions or array.size == 0:
        needs = f"an array of {dimensions} dimension{'s' * (dimensions != 1)} that is not empty"
        raise InputError(
            message(needs, f"got one of shape {array.shape}", "Use reshape, or check the data.", subject=operator)
        )
    narrow = array.dtype in (np.float16, np.float32)
    view = np.asarray(array, dtype=dtype or (np.float32 if narrow else np.float64)).view()
    view.flags.writeable = False
    return view


def positions(operator: object, what: str, indices: Any, length: int) -> Index:
    """Rows or columns as a slice or as positions from 0, if they exist."""
    if isinstance(indices, slice):
        return indices
    array = np.asarray(indices)
    if array.shape == (0,):
        return np.empty(0, dtype=np.intp)
    if array.dtype == bool and array.shape == (length,):
        return np.flatnonzero(array)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        needs = f"{what}s as a slice, a list of integers, or a mask of {length}"
        got = f"got an array of shape {array.shape} and dtype {array.dtype}"
        raise InputError(message(needs, got, f"Write [3] for {what} 3 alone.", subject=operator))
    outside = array[(array < -length) | (array >= length)]
    if outside.size:
        needs = f"{what}s from {-length} to {length - 1}"
        raise InputError(message(needs, f"got {what} {outside[0]}", "Positions count from 0.", subject=operator))
    return np.where(array < 0, array + length, array).astype(np.intp)


# The members are operators, so they can only be imported once Operator exists.
from mercer.operators import dense  # noqa: E402
from mercer.operators import diagonal as diagonals  # noqa: E402
from mercer.operators import sum as sums  # noqa: E402
