"""Kernels that are a sum or product over coordinates: k(x, z) = f(sum_k t(x_k, z_k)) or f(prod_k t(x_k, z_k))."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points


class Coordinate(Kernel):
    """A term for each coordinate, added or multiplied, and a profile of the total.

    Cost: a term for each of n m d coordinates of n x m pairs, in one pass; memory for the result, or for tiles where
    only products with vectors are needed (`Gram`).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Coordinate
    >>> class Overlap(Coordinate):
    ...     def term(self, x, z):
    ...         return np.minimum(np.abs(x), np.abs(z))
    >>> Overlap()([[1.0, -3.0]], [[2.0, 2.0]])
    array([[3.]])
    """

    dense_only = True
    joined_by: ClassVar[Literal["sum", "product"]] = "sum"

    @abstractmethod
    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        """The contribution of one coordinate.

        Parameters
        ----------
        x, z : array
            Values of one coordinate.

        Returns
        -------
        array
        """

    def profile(self, total: NDArray[Any]) -> NDArray[Any]:
        """k as a function of the joined terms.

        Parameters
        ----------
        total : array
            The joined terms.

        Returns
        -------
        array
        """
        return total

    def total(self, pairs: Pairs) -> Block:
        """The joined terms of all pairs.

        Parameters
        ----------
        pairs : Pairs
            The pairs.

        Returns
        -------
        Block
        """
        return pairs.total(self.term, self.joined_by)

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.block(self.profile(self.total(pairs)))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        join = np.sum if self.joined_by == "sum" else np.prod
        return self.profile(join(self.term(points.values, points.values), axis=1))
