"""The features of all rows as a table: for methods that go over the rows again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.backends.passes import Column, Operations, Pass
from mercer.backends.tables import Table
from mercer.compute.runtime.threads import Watch
from mercer.kernels.points import Points
from mercer.learners.data.views import TableView
from mercer.learners.streaming.basis import Basis, FeatureBasis, basis_of
from mercer.planner.batches import layout


@dataclass(frozen=True, eq=False)
class Features(Pass):
    """The values themselves.

    dtype : in which they are left
    """

    dtype: str = "float32"

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"Z": Column((width,), self.dtype, wide=True)}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        rows["Z"][...] = values


def feature_table(basis: Basis, points: Points, watch: Watch | None = None) -> NDArray[np.float32]:
    """(n, p): the features of all rows, in this process. Cost: n p d + n p^2 operations, n p numbers of 4 bytes."""
    Z = np.empty((points.values.shape[0], basis.width), np.float32)
    _fill(Z, basis, points, "float32", watch)
    return Z


def held_table(basis: Basis, points: Points, watch: Watch | None = None) -> NDArray[np.float64] | Table:
    """The same in float64, where wide tables live. Cost: n p d + n p^2 operations, and n p numbers there."""
    Z = current().table((points.values.shape[0], basis.width), "float64")
    _fill(Z, basis, points, "float64", watch)
    return Z


def held_features(view: TableView, watch: Watch | None = None) -> NDArray[np.float64] | Table:
    """The features of the rows of a view with a lift, where wide tables live; to be overwritten."""
    if view.lift is None or view.points.sparse or not current().holds_tables:
        return view.features()
    return held_table(basis_of(view.lift, view.points), view.points, watch)


def _fill(Z: Any, basis: Basis, points: Points, dtype: str, watch: Watch | None) -> None:
    sums = current().accumulate(Features(dtype), basis.width, layout())
    (basis if basis.plain else FeatureBasis(basis)).add_to(sums, points, {"Z": Z}, watch)
