"""Kernels that count: k(x, z) = <phi(x), phi(z)> with few of many features in each object."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import canonical
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.objects.store import places
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import DOUBLE, Points


class Counted(ObjectKernel):
    """A kernel with a sparse lift that is computed: one method, `count`."""

    @abstractmethod
    def count(self, items: tuple[Any, ...]) -> Any:
        """phi of each object: a csr_array of float64 with len(items) rows and a column per feature that occurs.

        The columns of features that the first objects have stand in the same order whatever objects come after them
        (columns of others may stand between): that is how new objects meet those that were learnt from.
        """

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.jointly((type(self), self), self.features).dot()

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        column = self.column(points)
        rows = column.alone(self, self._counted)
        squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(squares[column.codes])

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return pairs.jointly(self.features).inner

    def features(self, left: Points, right: Points) -> tuple[Points, Points]:
        """phi of the objects on both sides, over the same columns; the same object where the sides are."""
        here, there = self.column(left), self.column(right)
        rows = here.store.beside(there.store, self, self._counted)
        i, j = places(here, there)
        one = _rows(rows, i)
        return one, one if right is left else _rows(rows, j)

    def _counted(self, items: tuple[Any, ...]) -> Any:
        return canonical(self.count(items))


def _rows(rows: Any, places: NDArray[np.intp]) -> Points:
    whole = len(places) == rows.shape[0] and bool((places == np.arange(len(places))).all())
    return Points(rows if whole else canonical(rows[places]), None, DOUBLE)
