"""The features of all rows as a table of float32: for methods that go over the rows again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.backends.passes import Column, Operations, Pass
from mercer.compute.runtime.threads import Watch
from mercer.kernels.points import Points
from mercer.learners.streaming.basis import Basis, FeatureBasis
from mercer.planner.batches import layout


@dataclass(frozen=True, eq=False)
class Features(Pass):
    """The values themselves, in float32."""

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"Z": Column((width,), "float32")}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        rows["Z"][...] = values


def feature_table(basis: Basis, points: Points, watch: Watch | None = None) -> NDArray[np.float32]:
    """(n, p): the features of all rows. Cost: n p d + n p^2 operations, and n p numbers of 4 bytes."""
    Z = np.empty((points.values.shape[0], basis.width), np.float32)
    sums = current().accumulate(Features(), basis.width, layout())
    (basis if basis.plain else FeatureBasis(basis)).add_to(sums, points, {"Z": Z}, watch)
    return Z
