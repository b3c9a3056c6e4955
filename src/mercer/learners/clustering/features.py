"""Features of landmarks of all rows, measured from the middle of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime import threads
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.kernels.evaluation.strips import height, over_table
from mercer.learners.data.views import KernelView
from mercer.learners.streaming.basis import Basis, FeatureBasis, LandmarkBasis, steady
from mercer.lifts.landmarks import pivoted

Array = NDArray[np.float64]
ORIGIN_SAMPLE_ROWS = 4096
"""Rows whose mean is the origin: any point will do, and one in their middle keeps the digits of float32."""
MIN_FLOAT32_SQUARE = 1e-20
"""Between this and its inverse squares of features are numbers of float32."""


@dataclass(frozen=True, eq=False)
class LandmarkFeatures:
    """Rows seen through landmarks.

    basis : the landmarks; its features are those of `Z` before the origin is subtracted
    Z : (n, p), in float32, or in float64 where k(x, x) is so large or small that squares would not fit
    origin : (p,)
    sizes : (n,), |z|^2 and what the landmarks leave of k(x, x)
    """

    basis: Basis
    Z: NDArray[Any]
    origin: Array
    sizes: Array


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
    Z = np.empty((view.count, basis.width), np.float32 if fair else np.float64)

    def strip(worker: int, rows: slice, values: Array) -> None:
        left = np.maximum(sizes[rows] - np.einsum("ij,ij->i", values, values), 0.0)
        values -= origin
        Z[rows] = values
        sizes[rows] = left + np.einsum("ij,ij->i", values, values)

    workers = threads.available()
    memory = [np.empty((min(height(basis.width, workers), view.count), basis.width)) for _ in range(workers)]
    if choice.features is None:
        FeatureBasis(basis).over_strips(view.points, strip, memory, run.watch)
    else:
        over_table(choice.features, 0, strip, memory)
    return LandmarkFeatures(steady(basis), Z, origin, sizes)
