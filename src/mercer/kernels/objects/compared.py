"""Kernels that compare two objects directly, since their features are too many to be written down."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.objects.store import places
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points

Places = NDArray[np.intp]


class Compared(ObjectKernel):
    """A kernel that is computed pair by pair: `encode`, `values` and `own`."""

    @abstractmethod
    def encode(self, items: tuple[Any, ...]) -> Any:
        """The objects in a form that `values` can compare quickly."""

    @abstractmethod
    def values(self, encoded: Any, rows: Places, columns: Places) -> NDArray[np.float64]:
        """k of the encoded objects at some places with those at others: (len(rows), len(columns))."""

    @abstractmethod
    def own(self, encoded: Any, rows: Places) -> NDArray[np.float64]:
        """k of each encoded object at some places with itself."""

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.compared(self, self._values)

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        column = self.column(points)
        return self.own(column.alone(self, self.encode), column.codes)

    def _values(self, left: Points, right: Points) -> NDArray[np.float64]:
        here, there = self.column(left), self.column(right)
        encoded = here.store.beside(there.store, self, self.encode)
        return self.values(encoded, *places(here, there))
