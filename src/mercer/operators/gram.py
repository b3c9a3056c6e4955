"""The matrix of a kernel on data, which need not exist."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.backends.base import Evaluator
from mercer.backends.board import Board
from mercer.backends.context import current
from mercer.backends.squares import Square
from mercer.backends.tensors import is_finite, readable
from mercer.compute.overflow import all_finite
from mercer.compute.runtime import threads as workers
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import KernelError, NumericalWarning, caller_level, message, number_of, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.evaluation.evaluate import evaluator, is_few, matrix, name_of, ready, values_of
from mercer.kernels.points import SINGLE, Points
from mercer.operators.base import EVERYTHING, Index, Operator

DIAGONAL_ROWS = 64
"""Rows at once on the diagonal of a matrix with two sides."""


@dataclass(frozen=True, eq=False)
class Source:
    """Which rows and columns of a larger matrix a smaller one has; None for all."""

    whole: Gram
    rows: NDArray[np.intp] | None
    columns: NDArray[np.intp] | None

    def of(self, whole: Gram) -> Source:
        """The same of another matrix."""
        return replace(self, whole=whole)


class Gram(Operator):
    """The matrix K of k(x_i, z_j), or of k(x_i, x_j): products, rows and blocks are computed on request.

    K @ V costs n m (d + c) time for c columns, half of it where Z is left out, and memory for a few tiles; nothing of
    the size n m is stored. The data is not copied where it is an array of float64: do not change it.

    Parameters
    ----------
    kernel : Kernel or str
        Its numbers must be known (`kernel.resolve(X)`).
    X : array or table of n rows
        The left points.
    Z : array or table of m rows, or None, default=None
        The right points; None stands for X, and makes K symmetric.
    threads : int or None, default=None
        How many threads work; None for all cores.
    watch : callable or None, default=None
        Called with the progress of a product (`compute.runtime.threads.Progress`) about ten times a second; an error
        that it raises stops the product.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import Gram
    >>> K = Gram("gaussian", np.array([[0.0], [1.0], [2.0]]))
    >>> K
    Gram(3 x 3, gaussian(lengthscale=1.0), float64)
    >>> (K @ np.ones(3)).round(4)
    array([1.7419, 2.2131, 1.7419])
    """

    @speaks
    def __init__(
        self,
        kernel: Kernel | PythonFunction | str,
        X: ArrayLike,
        Z: ArrayLike | None = None,
        *,
        threads: int | None = None,
        watch: workers.Watch | None = None,
    ) -> None:
        if isinstance(kernel, str):
            from mercer.kernels.text import parse  # learners give kernels

            kernel = parse(kernel)
        elif not isinstance(kernel, Kernel):
            from mercer.kernels.function import kernel_from

            kernel = kernel_from(kernel)
        if not isinstance(kernel, Kernel):
            raise KernelError(message("a kernel or its text", f"got {kernel!r}", "Use Gaussian(), say."))
        left, right = ready(kernel, X, Z)
        self._hold(kernel, left, right, threads, watch)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        left: Points,
        right: Points | None = None,
        watch: workers.Watch | None = None,
        hasty: bool = False,
        source: Source | None = None,
        threads: int | None = None,
    ) -> Gram:
        """The matrix of a resolved kernel on points that were read and checked already.

        Parameters
        ----------
        kernel : Kernel
            Resolved.
        left : Points
            Read and checked.
        right : Points or None, default=None
            None for the left points.
        watch : callable or None, default=None
            As in the class.
        hasty : bool, default=False
            As in `rough`.
        source : Source or None, default=None
            The larger matrix of which it is a part.
        threads : int or None, default=None
            As in the class.

        Returns
        -------
        Gram
        """
        self = object.__new__(cls)
        self._hold(kernel, left, left if right is None else right, threads, watch, hasty, source)
        return self

    def _hold(
        self,
        kernel: Kernel,
        left: Points,
        right: Points,
        threads: int | None,
        watch: workers.Watch | None,
        hasty: bool = False,
        source: Source | None = None,
    ) -> None:
        self.kernel = kernel
        self.left = left
        self.right = right
        self.threads = workers.count(threads)
        self.watch = watch
        self.hasty = hasty
        self._source = source
        shape = (left.values.shape[0], right.values.shape[0])
        super().__init__(shape, np.result_type(left.dtype, right.dtype), symmetric=left is right)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The evaluator of products: the fused pass, or plain NumPy for few pairs and code that cannot be followed."""
        if self._source is not None and (whole := self._source.whole.prepared) is not None:
            return whole.within(self._source.rows, self._source.columns)
        return evaluator(self.kernel, self.left, self.right, self.hasty)

    def _tensor_product(self, V: Any) -> Any:
        values, m = self.evaluator, self.shape[1]
        shape = tuple(V.shape)
        if (
            not hasattr(values, "times_there")
            or len(shape) not in (1, 2)
            or shape[0] != m
            or 0 in shape
            or not readable(V)
        ):
            return super()._tensor_product(V)
        found = values.times_there(V, self.dtype, self.watch)
        if found is None:
            return super()._tensor_product(V)
        self._warn_of_infinity(is_finite(found), lambda: is_finite(V))
        return found

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        if V.shape[1] == 0:
            return np.zeros((self.shape[0], 0), V.dtype)
        return self._product(self.evaluator, V)

    def _product(self, values: Evaluator, V: NDArray[Any]) -> NDArray[Any]:
        """The product of this matrix, or of some of its rows and columns."""
        needed = self._peak(values, V.shape[1])
        if needed > MAX_UNASKED_BYTES:
            remedy = "Multiply fewer columns at once."
            Budget.of(None).require(needed, f"a product with {number_of(V.shape[1], 'column')}", remedy, subject="Gram")
        with np.errstate(all="ignore"):
            if values.dtype == V.dtype:
                result = values.times(V, self.threads, self.watch)
            else:
                sizes = _sizes(V)
                result = values.times(V / sizes, self.threads, self.watch) * sizes
            result = result.astype(V.dtype, copy=False)
        self._warn_of_infinity(all_finite(result), lambda: all_finite(V))
        return result

    def _warn_of_infinity(self, finite: bool, given: Callable[[], bool]) -> None:
        """Say so where a product is infinite, and what was multiplied is not."""
        if finite or not given():
            return
        warnings.warn(
            f"{name_of(self.kernel)} overflows on this data: the product holds infinities or NaN. "
            "Scale the data down, or normalize the kernel.",
            NumericalWarning,
            stacklevel=caller_level(),
        )

    def _transposed(self) -> Gram:
        other = object.__new__(type(self))
        other._hold(self.kernel, self.right, self.left, self.threads, self.watch, self.hasty)
        return other

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        if self.hasty and _all(i) and _all(j):
            return self._whole()
        left = self.left if _all(i) else self.left.rows(i)
        right = left if self.symmetric and _same(i, j) else self.right if _all(j) else self.right.rows(j)
        if 0 in (left.values.shape[0], right.values.shape[0]):
            return np.zeros((left.values.shape[0], right.values.shape[0]), self.dtype)
        return matrix(self.kernel, left, right, self.threads, self.watch)

    def _whole(self) -> NDArray[Any]:
        """All entries, as far off as those of products are; of a symmetric matrix half of them are computed."""
        with np.errstate(all="ignore"):
            values, _ = self.evaluator.matrix(self.dtype, self.threads, self.watch)
        if self.symmetric:
            np.fill_diagonal(values, self._known)
        return values

    def fill(self, rows: NDArray[np.intp], out: NDArray[Any]) -> None:
        with np.errstate(all="ignore"):
            self.evaluator.at(rows).matrix(self.dtype, self.threads, self.watch, out)
        if self.symmetric:  # where products of rows round, the diagonal is known
            out[np.arange(len(rows)), rows] = self._known[rows]

    def between(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], out: NDArray[Any], threads: int | None = None
    ) -> None:
        left = self.left.rows(rows)
        if rows is columns and self.symmetric:
            if is_few(self.left, self.right):
                out[:] = values_of(self.kernel, left, left)[0]
                return
            columns = columns.copy()  # a mirror image takes longer than values
        right, source = self.right.rows(columns), Source(self, rows, columns)
        part = Gram.of(self.kernel, left, right, self.watch, self.hasty, source, self.threads)
        with np.errstate(all="ignore"):
            part.evaluator.matrix(self.dtype, threads or self.threads, self.watch, out)

    @cached_property
    def _known(self) -> NDArray[Any]:
        return self.diagonal()

    def combine(
        self, columns: NDArray[np.intp], values: NDArray[Any], rows: NDArray[np.intp] | None = None
    ) -> NDArray[Any]:
        both = self.symmetric and rows is not None and rows is columns
        asked = self.shape[0] if rows is None else len(rows)
        work = self.shape[0] * self.shape[1] / (2 if self.symmetric else 1)  # a symmetric product is half the work
        if not both and asked * len(columns) > work:
            return super().combine(columns, values, rows)
        if self.prepared is not None and asked and values.size:  # rows need not be copied
            V = np.asarray(values, dtype=np.result_type(self.dtype, values.dtype)).reshape(len(columns), -1)
            return self._product(self.prepared.within(rows, columns), V).reshape(asked, *values.shape[1:])
        if both:
            return self.part(columns) @ values
        left = self.left if rows is None else self.left.rows(rows)
        right, source = self.right.rows(columns), Source(self, rows, columns)
        return Gram.of(self.kernel, left, right, self.watch, self.hasty, source, self.threads) @ values

    def part(self, rows: NDArray[np.intp]) -> Gram:
        source = Source(self, rows, rows)
        return Gram.of(self.kernel, self.left.rows(rows), None, self.watch, self.hasty, source, self.threads)

    def at_backend(self) -> Square | None:
        backend = current()
        if not (backend.holds_squares and self.symmetric):
            return None
        return backend.square(self.evaluator, self.diagonal())

    def board(self) -> Board | None:
        backend = current()
        if not (backend.holds_squares and self.symmetric):
            return None
        return backend.board(self.evaluator, self._known)

    def prepare(self) -> None:
        _ = self.evaluator

    @property
    def prepared(self) -> Evaluator | None:
        """The evaluator, where it is known already."""
        return self.__dict__.get("evaluator")

    def narrowed(self) -> Gram:
        return self._narrowed

    @cached_property
    def _narrowed(self) -> Gram:
        left = replace(self.left, dtype=SINGLE)
        right = None if self.symmetric else replace(self.right, dtype=SINGLE)
        source = self._source and self._source.of(self._source.whole.narrowed())
        return Gram.of(self.kernel, left, right, self.watch, self.hasty, source, self.threads)

    def rough(self) -> Gram:
        """The same by products, off by the rounding of `|x|^2` instead of that of `|x - z|^2`."""
        return self._rough

    @cached_property
    def _rough(self) -> Gram:
        source = self._source and self._source.of(self._source.whole.rough())
        right = None if self.symmetric else self.right
        return Gram.of(self.kernel, self.left, right, self.watch, True, source, self.threads)

    def diagonal(self) -> NDArray[Any]:
        if self.symmetric:
            with np.errstate(all="ignore"):
                return np.asarray(self.kernel.evaluate_diagonal(self.left), dtype=self.dtype)
        n = min(self.shape)
        steps = (slice(start, min(start + DIAGONAL_ROWS, n)) for start in range(0, n, DIAGONAL_ROWS))
        return np.concatenate([np.diagonal(self._block(step, step)) for step in steps])

    def peak(self, columns: int = 1) -> int:
        return self._peak(self.evaluator, columns)

    def _peak(self, values: Evaluator, columns: int) -> int:
        n, m = values.shape
        return 8 * (2 * n + m) * columns + values.peak(columns, self.threads)

    def _detail(self) -> str:
        text = str(self.kernel)
        return text if len(text) <= 60 else f"{text[:57]}..."


def _all(index: Index) -> bool:
    return isinstance(index, slice) and index == EVERYTHING


def _same(i: Index, j: Index) -> bool:
    """Whether two indices surely choose the same rows."""
    return i == j if isinstance(i, slice) and isinstance(j, slice) else i is j


def _sizes(V: NDArray[Any]) -> NDArray[Any]:
    """The largest entry of each column: what is divided by it fits a narrower dtype."""
    sizes = np.abs(V).max(axis=0)
    return np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)
