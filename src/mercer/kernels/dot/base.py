"""Kernels of the inner product: k(x, z) = f(<x, z>)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points


class Dot(Kernel):
    """A function of the inner product alone.

    Cost: n m d operations for n x m pairs of d columns, by products of matrices, and one formula per pair in the same
    pass; memory for the result, or for tiles where only products with vectors are needed (`Gram`).

    Examples
    --------
    >>> from mercer.kernels import Dot
    >>> class Doubled(Dot):
    ...     def profile(self, t):
    ...         return 2 * t
    >>> Doubled()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[22.]])
    """

    @abstractmethod
    def profile(self, t: NDArray[Any]) -> NDArray[Any]:
        """k as a function of the inner product.

        Parameters
        ----------
        t : array
            <x, z>.

        Returns
        -------
        array
        """

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.block(self.profile(pairs.dot()))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return self.profile((points.values * points.values).sum(axis=1))
