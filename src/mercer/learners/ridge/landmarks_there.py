"""Landmarks of Falkon that a backend draws: the same pivots as in this process, and a factor that stays there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.backends.squares import Triangle
from mercer.compute.runtime.run import Run
from mercer.kernels import Kernel
from mercer.kernels.points import DOUBLE, Points
from mercer.lifts.nystrom import Nystrom, nystrom_at, nystrom_of
from mercer.operators import Gram
from mercer.solvers.ridge.at_backend import PivotsAtBackend


def drawn(
    kernel: Kernel, points: Points, count: int, random: np.random.Generator, run: Run
) -> tuple[Nystrom, Triangle | None]:
    """The lift of at most so many landmarks, and their triangle where a backend computes it; None in this process.

    Cost: 2 n k^2 operations for k landmarks of n rows, and n k numbers while they are drawn, k^2 afterwards.
    """
    whole = replace(points, dtype=DOUBLE)
    square = Gram.of(kernel, whole).at_backend() if current().holds_squares else None
    if square is None or not square.diagonal().any():
        return nystrom_of(kernel, points, count, random), None
    found: list[Triangle] = []

    def draw(points: Points) -> NDArray[np.intp]:
        pivots, triangle = PivotsAtBackend(square.diagonal(), square, count).landmarks(random, run)
        found.append(triangle)
        return pivots

    lift = nystrom_at(kernel, points, count, draw)
    return lift, found[0]
