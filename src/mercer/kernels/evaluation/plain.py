"""Evaluation with NumPy alone, block by block: the reference, and what serves where code cannot be generated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Chosen
from mercer.compute.codegen.tiles import mirror
from mercer.compute.runtime import threads
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

BLOCK_PAIRS = 1 << 14
"""Pairs a block: each leaf holds a few arrays of this many numbers while it works, 128 KiB each. Larger ones cost more
than the formula: the system takes their memory back after each use, and clears it before the next."""


class Plain:
    """A kernel on the rows of two tables, evaluated by its own code; one thread, in float64.

    An `Evaluator` (`mercer.backends.base`).
    """

    threaded = False

    def __init__(self, kernel: Kernel, left: Points, right: Points) -> None:
        self.kernel = kernel
        self.left = left if type(left.values) is np.ndarray else left.here()
        self.right = self.left if right is left else right if type(right.values) is np.ndarray else right.here()
        self.shape = (left.values.shape[0], right.values.shape[0])
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        self.symmetric = left is right

    def at(self, rows: NDArray[np.intp]) -> Plain:
        """Some rows of the left side against all of the right."""
        return Plain(self.kernel, self.left.rows(rows), self.right)

    def within(self, rows: Chosen, columns: Chosen) -> Plain:
        """Some rows against some columns."""
        left = self.left if rows is None else self.left.rows(rows)
        if self.symmetric and columns is rows:
            return Plain(self.kernel, left, left)
        return Plain(self.kernel, left, self.right if columns is None else self.right.rows(columns))

    def matrix(
        self,
        dtype: np.dtype[Any],
        workers: int,
        watch: threads.Watch | None = None,
        out: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], bool]:
        """All values as an array, a symmetric one exactly symmetric, and whether all are surely finite."""
        out = np.empty(self.shape, dtype) if out is None else out
        for rows, columns, block in self._blocks(watch, half=self.symmetric):
            out[rows, columns] = block
        if self.symmetric:
            mirror(out)
        return out, False

    def fill(self, i0: int, i1: int, out: NDArray[Any]) -> bool:
        """The values of rows i0 to i1, and whether all are surely finite."""
        step = max(1, BLOCK_PAIRS // self.shape[1])
        with np.errstate(all="ignore"):
            for start in range(i0, i1, step):
                rows = slice(start, min(start + step, i1))
                out[start - i0 : rows.stop - i0] = self.kernel.evaluate(Pairs(self.left.rows(rows), self.right))
        return False

    def times(self, V: NDArray[Any], workers: int, watch: threads.Watch | None = None) -> NDArray[Any]:
        """The product with a matrix of m rows."""
        out = np.empty((self.shape[0], V.shape[1]))
        for rows, _, block in self._blocks(watch):
            out[rows] = block @ V
        return out

    def peak(self, columns: int, workers: int) -> int:
        """Bytes that `times` holds at its peak, beside its result: a few blocks."""
        return 8 * 8 * max(BLOCK_PAIRS, int(self.shape[1]))

    def _blocks(self, watch: threads.Watch | None, half: bool = False) -> Iterator[tuple[slice, slice, Block]]:
        """Rows, columns, and the values there; of a symmetric matrix the lower half will do."""
        n, m = self.shape
        step = max(1, BLOCK_PAIRS // m)
        clock = threads.Clock(n * m, watch)
        with np.errstate(all="ignore"):
            for start in range(0, n, step):
                rows, columns = slice(start, start + step), slice(0, min(start + step, n) if half else m)
                right = self.right.rows(columns) if half else self.right
                yield rows, columns, self.kernel.evaluate(Pairs(self.left.rows(rows), right))
                clock.tell(min(start + step, n) * m)
