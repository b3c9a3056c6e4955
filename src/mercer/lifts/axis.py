"""One direction of the data, split off: a row is a number along it, and a rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.consistency import shapes

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Axis:
    """A unit vector u = (head, tail) for rows y = (sqrt(offset), x): a = <u, y>, and a rest r.

    A reflection takes u to the first coordinate. The other coordinates of the reflected y are the rest, in as many
    columns as x has, so that offset + <x, z> = a a' + <r, r'>:

        r = x - g tail,  g = (a + sqrt(offset)) / (1 + head).

    head : the coordinate of u that belongs to the constant, from 0 to 1
    tail : the others
    offset : number of at least zero

    >>> axis = Axis(0.6, np.array([0.8, 0.0]), 1.0)
    >>> X = np.array([[2.0, 1.0]])
    >>> a = axis.along(X)
    >>> a, axis.rest(X, axis.pull(a)).round(12)
    (array([2.2]), array([[0.4, 1. ]]))
    """

    head: float
    tail: NDArray[np.float64]
    offset: float

    def _inconsistency(self) -> str:
        return shapes((self.tail, (None,)))

    @classmethod
    def of_constant(cls, columns: int, offset: float) -> Axis:
        """The direction of the constant: a = g = sqrt(offset), r = x."""
        return cls(1.0, np.zeros(columns), offset)

    def along(self, X: Any) -> Array:
        """The number a of each row, in its dtype."""
        own = np.asarray(X @ self.tail.astype(X.dtype))
        return np.asarray(own + own.dtype.type(self.head * math.sqrt(self.offset)))

    def pull(self, along: Array) -> Array:
        """The number g of each row, from a."""
        return np.asarray((along + along.dtype.type(math.sqrt(self.offset))) / along.dtype.type(1 + self.head))

    def rest(self, X: Any, pull: Array) -> Array:
        """The rest r of each row, dense, from g."""
        dense = X.toarray() if is_sparse(X) else X
        return np.asarray(dense - np.multiply.outer(pull, self.tail.astype(X.dtype)))
