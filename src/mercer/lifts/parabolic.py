"""The lift to a paraboloid, under which balls become halfspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer import kernels
from mercer.kernels import Kernel
from mercer.lifts.expanded import Expanded
from mercer.lifts.expansion import Expansion


class Parabolic(Expanded):
    """The columns and their sum of squares, a point on a paraboloid.

    `phi(x) = [x_1, ..., x_d, |x|^2]`

    The ball `|x - c|^2 <= r^2` is the halfspace `<(2c, -1), phi(x)> >= |c|^2 - r^2` there. The kernel is `<x, z> +
    |x|^2 |z|^2`. Time and memory O(n d).

    Attributes
    ----------
    expansion_ : Expansion
        The monomials and coefficients.

    Examples
    --------
    >>> from mercer.lifts import Parabolic
    >>> lift = Parabolic()
    >>> lift.fit_transform([[3.0, 4.0]])
    array([[ 3.,  4., 25.]])
    >>> lift.get_feature_names_out().tolist()
    ['x1', 'x2', 'x1^2 + x2^2']

    References
    ----------
    Edelsbrunner and Seidel, Voronoi diagrams and arrangements (1986).
    """

    remedy = "Use fewer columns."

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        return kernels.Parabolic()

    def _expansion(self, width: int) -> Expansion:
        column = np.arange(width, dtype=np.intp)
        factors = np.concatenate([np.stack([column, np.full(width, -1)], axis=1), np.stack([column, column], axis=1)])
        places, starts = np.arange(2 * width), [*range(width + 1), 2 * width]
        return Expansion(width, factors, csr_array((np.ones(2 * width), places, starts), shape=(width + 1, 2 * width)))

    def _values(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([X, np.square(X).sum(axis=1, keepdims=True)], axis=1)
