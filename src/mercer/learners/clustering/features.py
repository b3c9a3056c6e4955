"""Features of landmarks of all rows, measured from the middle of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import RowValues
from mercer.backends.context import current
from mercer.backends.passes import Column, Operations, Pass
from mercer.backends.tables import Table
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.data.views import KernelView
from mercer.learners.streaming.basis import Basis, FeatureBasis, LandmarkBasis, steady
from mercer.lifts.landmarks import pivoted
from mercer.planner.batches import layout

Array = NDArray[np.float64]
ORIGIN_SAMPLE_ROWS = 4096
"""Rows whose mean is the origin: any point will do, and one in their middle keeps the digits of float32."""
MIN_FLOAT32_SQUARE = 1e-20
"""Between this and its inverse squares of features are numbers of float32."""


@dataclass(frozen=True, eq=False)
class LandmarkFeatures:
    """Rows seen through landmarks.

    basis : the landmarks; its features are those of `Z` before the origin is subtracted
    Z : (n, p), where wide tables live; in float32, or in float64 where k(x, x) is so large or small that squares would
        not fit
    origin : (p,)
    sizes : (n,), |z|^2 and what the landmarks leave of k(x, x)
    """

    basis: Basis
    Z: NDArray[Any] | Table
    origin: Array
    sizes: Array


@dataclass(frozen=True, eq=False)
class FromOrigin(Pass):
    """Features less an origin, and the squared distances of rows from it, with what the features leave of k(x, x).

    origin : (p,)
    dtype : of the features that are left
    """

    reads: ClassVar[tuple[str, ...]] = ("diagonal",)

    origin: Array
    dtype: str

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"Z": Column((width,), self.dtype, wide=True), "sizes": Column()}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        left = (rows["diagonal"] - ops.row_squares(values)).clip(min=0.0)
        values -= self.origin
        rows["Z"][...] = values
        rows["sizes"][...] = left + ops.row_squares(values)


def landmarked(view: KernelView, rank: int, random: np.random.Generator, run: Run) -> LandmarkFeatures:
    """Draw landmarks, and compute the features of all rows. Cost: n p d + 3 n p^2 operations, and n p numbers."""
    choice = pivoted(view.kernel, view.points, min(rank, view.count), random)
    if len(choice.upper) == 0:
        got, remedy = "k(x, x) is 0 in every row", "Check the kernel."
        raise InputError(message("a kernel that is not zero on the data", got, remedy))
    basis = LandmarkBasis(view.kernel, choice.points, choice.upper)
    sample = np.unique(np.linspace(0, view.count - 1, min(ORIGIN_SAMPLE_ROWS, view.count)).astype(np.intp))
    origin = basis.features(view.points.rows(sample)).mean(axis=0)
    sizes = view.diagonal(view.points)
    fair = MIN_FLOAT32_SQUARE < float(sizes.max()) < 1 / MIN_FLOAT32_SQUARE
    work = FromOrigin(origin, "float32" if fair else "float64")
    sums = current().accumulate(work, basis.width, layout())
    rows: dict[str, Any] = {"diagonal": sizes, "Z": current().table((view.count, basis.width), work.dtype)}
    if choice.features is None or current().holds_tables:  # they are made there sooner than they are sent
        left = FeatureBasis(basis).add_to(sums, view.points, rows, run.watch)
    else:
        left = sums.add(RowValues(table=choice.features), rows, run.watch)
    return LandmarkFeatures(steady(basis), left["Z"], origin, left["sizes"])
