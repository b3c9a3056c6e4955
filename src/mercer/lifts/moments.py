"""What a sample of rows says about pairs: the numbers of which the variances of sketches are made."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csc_array

from mercer.compute.codegen.sparse import is_sparse
from mercer.lifts.axis import Axis

Array = NDArray[np.float64]

BLOCK_COLUMNS = 1 << 13
"""Columns of a sample that are held as a dense table at once."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Numbers of all pairs of two rows; of a row with itself, where there is only one.

    dots : <r, r'>
    squares : |r|^2 |r'|^2
    fourths : sum_j r_j^2 r'_j^2
    along : a a'
    """

    dots: Array
    squares: Array
    fourths: Array
    along: Array

    @classmethod
    def of(cls, gram: Array, fourths: Array, along: Array) -> Pairs:
        """From the matrices of <r, r'> and of the fourths, and the number a of each row."""
        i, j = np.triu_indices(len(gram), 1 if len(gram) > 1 else 0)
        lengths = np.diag(gram)
        return cls(gram[i, j], lengths[i] * lengths[j], fourths[i, j], along[i] * along[j])


class Sample:
    """Rows in units in which the longest (sqrt(offset), x) is about 1, so that no power overflows.

    Sparse tables are read in dense blocks of columns, and so give the same bits as dense ones. Units are powers of two,
    since SciPy multiplies by a reciprocal where NumPy divides.

    rows : the scaled table
    offset : the scaled offset
    gram : <x, x'> of all pairs
    """

    def __init__(self, rows: Any, offset: float) -> None:
        own = csc_array(rows, dtype=np.float64) if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
        entry = _unit(max(float(abs(own).max()), math.sqrt(offset)))
        self.rows, self.offset = own / entry, offset / entry / entry  # the square may overflow
        gram = self._summed(lambda columns, block: block @ block.T)
        length = _unit(math.sqrt(float(np.diag(gram).max()) + self.offset))
        self.rows, self.offset, self.gram = self.rows / length, self.offset / length**2, gram / length**2

    def whole(self) -> Pairs:
        """Of the rows (sqrt(offset), x), with nothing split off."""
        fourths = self._summed(lambda columns, block: _of_squares(block))
        return Pairs.of(self.gram + self.offset, fourths + self.offset**2, np.ones(len(self.gram)))

    def split(self, axis: Axis) -> Pairs:
        """Of what an axis leaves."""
        along = axis.head * math.sqrt(self.offset) + self._summed(lambda columns, block: block @ axis.tail[columns])
        pull = axis.pull(along)
        fourths = self._summed(lambda columns, block: _of_squares(block - np.outer(pull, axis.tail[columns])))
        return Pairs.of(self.gram + self.offset - np.outer(along, along), fourths, along)

    def longest(self) -> Axis:
        """The direction in which the rows (sqrt(offset), x) are longest, in the mean of squares."""
        weights = eigh(self.gram + self.offset, subset_by_index=[len(self.gram) - 1] * 2)[1][:, 0]
        tail = np.concatenate([weights @ block for _, block in self._blocks()])
        head = math.sqrt(self.offset) * float(weights.sum())
        length = math.hypot(head, float(np.linalg.norm(tail)))
        if length == 0:
            return Axis.of_constant(len(tail), self.offset)
        return Axis(abs(head) / length, tail / math.copysign(length, head), self.offset)

    def _summed(self, term: Callable[[slice, Array], Array]) -> Array:
        """The sum of a term over blocks of columns."""
        return reduce(np.add, (term(columns, block) for columns, block in self._blocks()))

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """Slices of columns, and the dense numbers in them."""
        for start in range(0, self.rows.shape[1], BLOCK_COLUMNS):
            columns = slice(start, start + BLOCK_COLUMNS)
            block: Any = self.rows[:, columns]
            yield columns, np.ascontiguousarray(block.toarray() if is_sparse(block) else block)


def _unit(size: float) -> float:
    """The power of two above a size; 1 for zero, and the largest power where none is above."""
    return math.ldexp(1.0, min(math.frexp(size)[1], sys.float_info.max_exp - 1))


def _of_squares(rows: Array) -> Array:
    """sum_j x_j^2 x'_j^2 of all pairs."""
    squares = rows * rows
    return np.asarray(squares @ squares.T)
