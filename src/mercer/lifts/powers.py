"""The powers of every column, without interactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from mercer import kernels
from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.consistency import MAX_COLUMNS
from mercer.kernels import Kernel
from mercer.kernels.fields import check_integer
from mercer.lifts.deferred import Deferred
from mercer.lifts.expanded import Expanded
from mercer.lifts.sparse_monomial_loops import sorted_rows


class Powers(Expanded):
    """The powers of every column: all x_k, then all x_k^2, ... up to x_k^degree.

    The least-squares fit of a polynomial in one column, or of a sum of one polynomial per column, is linear in these.
    The kernel is sum_k sum_b (x_k z_k)^b. Time and memory O(n d degree); sparse rows stay sparse.

    Parameters
    ----------
    degree : int, default=3
        At least 1.

    Attributes
    ----------
    expansion_ : Expansion
        The monomials.

    Examples
    --------
    >>> from mercer.lifts import Powers
    >>> lift = Powers(degree=3)
    >>> lift.fit_transform([[2.0, 3.0]])
    array([[ 2.,  3.,  4.,  9.,  8., 27.]])
    >>> lift.get_feature_names_out().tolist()
    ['x1', 'x2', 'x1^2', 'x2^2', 'x1^3', 'x2^3']

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning (2009), section 5.1.
    """

    takes_sparse = True

    def __init__(self, degree: int = 3) -> None:
        self.degree = degree

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        return kernels.Powers(self.degree)

    def _expansion(self, width: int) -> Rising:
        return Rising(width, check_integer("Powers", "degree", self.degree, 1, None))


class Rising(Deferred):
    """The powers 1 to degree of some columns, sorted by the power.

    >>> Rising(2, 2).factors.tolist()
    [[0, -1], [1, -1], [0, 0], [1, 1]]
    """

    largest = 1.0

    _saved: ClassVar[Mapping[str, Any]] = {"width": int, "degree": int}

    def __init__(self, width: int, degree: int) -> None:
        self._shape = width, degree

    def _inconsistency(self) -> str:
        few = 1 <= self.width < MAX_COLUMNS and 1 <= self.degree < MAX_COLUMNS
        return "" if few else f"got {self.degree} powers of {self.width} columns"

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self._shape[0]

    @property
    def degree(self) -> int:
        """The highest power."""
        return self._shape[1]

    @property
    def size(self) -> int:
        """The number of features."""
        return self.width * self.degree

    @property
    def weights(self) -> NDArray[np.float64]:
        """One weight a monomial."""
        return np.ones(self.size)

    def evaluate(self, X: Any) -> Any:
        if is_sparse(X):
            return self._sparse(sorted_rows(X))
        out = np.empty((len(X), self.degree, self.width), X.dtype)
        out[:, 0] = X
        for q in range(1, self.degree):
            np.multiply(out[:, q - 1], X, out=out[:, q])
        return out.reshape(len(X), self.size)

    def _sparse(self, rows: Any) -> Any:
        powers = [rows]
        for _ in range(self.degree - 1):
            powers.append(type(rows)((powers[-1].data * rows.data, rows.indices, rows.indptr), shape=rows.shape))
        return hstack(powers, format="csr")

    def stored(self, X: Any) -> int:
        return int(X.nnz) * self.degree

    def _factors(self) -> NDArray[np.intp]:
        column, place = np.arange(self.width)[None, :, None], np.arange(self.degree)
        table = np.where(place <= place[:, None, None], column, -1)
        return np.asarray(table.reshape(-1, self.degree))
