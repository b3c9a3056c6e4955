"""How large the eigenvalues of a symmetric matrix are, from a few products with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import norm

from mercer.errors import InputError, message
from mercer.solvers.ridge.base import Matrix

MAX_STEPS = 20
"""Enough to find more than half of the largest eigenvalue, for any spectrum: the expected error over random starts is
at most 0.103 (log(n (k - 1)^4) / (k - 1))^2 of it after k steps, which is less than a half up to n = 10^12."""
RELATIVE_TOLERANCE = 1e-8
"""The error, relative to the estimate, at which to stop sooner: a start that nearly misses the largest eigenvector
makes an error of some percent of a smaller one look like the end, but not so small a one."""


class Edges(NamedTuple):
    """Where the eigenvalues lie.

    low : at least the smallest of them
    high : at most the largest of them
    error : how much larger that may be, estimated
    """

    low: float
    high: float
    error: float

    @property
    def top(self) -> float:
        """The largest eigenvalue, rather too large than too small; 0 where all are negative."""
        return max(self.high + self.error, 0.0)


def edges(matrix: Matrix) -> Edges:
    """The ends of the spectrum of A by the method of Lanczos, from a fixed start vector: the same bits each time.

    Cost: at most 20 products with A, and 20 n numbers. SciPy's `eigsh` asks for at least two rows and for a matrix that
    is not zero, and draws random vectors where it starts again; neither is so here.

    matrix : A, symmetric

    >>> import numpy as np
    >>> from mercer.solvers.eigenvalues.lanczos import edges
    >>> ends = edges(np.diag([1.0, 2.0, 5.0]))
    >>> round(ends.low, 6), round(ends.high, 6), ends.error < 1e-6
    (1.0, 5.0, True)

    Kuczynski and Wozniakowski (1992), Estimating the largest eigenvalue by the power and Lanczos algorithms with a
    random start.
    """
    start = np.random.default_rng(0).normal(size=(1, matrix.shape[0]))
    basis = start / np.linalg.norm(start)
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        following = _product(matrix, basis[-1])
        diagonal.append(float(basis[-1] @ following))
        for _ in range(2):  # once leaves what rounding left
            following = following - (basis @ following) @ basis
        size = float(norm(following))  # this one squares without overflow
        values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, -1))
        error = size * abs(float(vectors[-1, -1]))
        if error <= RELATIVE_TOLERANCE * np.abs(values).max() or len(basis) >= min(MAX_STEPS, start.size):
            return Edges(float(values[0]), float(values[-1]), error)
        beside.append(size)
        basis = np.vstack([basis, following / size])


def _product(matrix: Matrix, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A v, if it is finite."""
    product = np.asarray(matrix @ vector, dtype=np.float64)
    if not np.isfinite(product).all():
        got = "a product with it holds infinities or NaN"
        raise InputError(
            message("a matrix of finite numbers", got, "Check the data and the kernel.", subject="A system")
        )
    return product
