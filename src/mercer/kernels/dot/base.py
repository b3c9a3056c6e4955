"""Kernels of the inner product: k(x, z) = f(<x, z>)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points


class Dot(Kernel):
    """A function of the inner product alone."""

    @abstractmethod
    def profile(self, t: NDArray[Any]) -> NDArray[Any]:
        """k as a function of t = <x, z>."""

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.block(self.profile(pairs.dot()))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return self.profile((points.values * points.values).sum(axis=1))
