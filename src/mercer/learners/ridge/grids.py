"""Which grid of frequencies stands for the kernel of a problem: its size for a plan, and the lift for a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import KernelView, LiftView, TableView, View
from mercer.planner.ridge.fourier_grid import MAX_DENSE, GridSize

if TYPE_CHECKING:
    from mercer.learners.ridge.problem import RidgeProblem
    from mercer.learners.streaming.stream import Stream
    from mercer.lifts.fourier_grid import FourierGrid
    from mercer.lifts.wave_grid import WaveGrid

Array = NDArray[np.float64]
LADDER = tuple(10.0 ** (-k / 2) for k in range(16, 1, -1))
"""Errors that are tried, the smallest first."""
FEW = (1_500, 1e-6), (2_500, 1e-5), (MAX_DENSE, 1e-4)
"""So many features do where they leave no more than such an error: a spectrum of few takes a moment."""
MANY = 1 << 18
"""Features of a grid that is solved by steps, at most."""


def grid_size(problem: RidgeProblem) -> tuple[GridSize | None, str]:
    """The size of the grid for all kernels of a problem, or why there is none."""
    view = problem.view
    if problem.solver is not None:
        return None, "a solver was given"
    if not isinstance(view, KernelView | LiftView) or view.points.sparse or view.points.stores:
        return None, "they are not dense numbers"
    if view.points.values.shape[1] > 3:
        return None, f"there are {view.points.values.shape[1]} columns, of at most 3"
    if isinstance(view, LiftView):
        return _given(view)
    low, high = ends(problem, view)
    found = [_sized(each, low, high) for each in problem.views]
    known = [grid for grid in found if grid is not None]
    if len(known) < len(found):
        return None, f"{view.kernel} has no density of frequencies that is known, or falls too slowly"
    largest = max(known, key=lambda grid: grid.count)
    size = GridSize(largest.count, _points(largest), max(grid.relative for grid in known))
    if len(known) > 1 and not size.dense:
        return None, f"the shortest lengthscale takes {size.features:,} frequencies, too many to compare lengthscales"
    if size.error > 0.5:
        return None, f"{size.features:,} frequencies leave an error of {size.error:.0e} of k(x, x)"
    return size, ""


def _given(view: LiftView) -> tuple[GridSize | None, str]:
    from mercer.lifts.fourier_grid import FourierGrid

    if not isinstance(view.lift, FourierGrid):
        return None, f"{type(view.lift).__name__} is another lift"
    grid = view.lift.grid
    return GridSize(grid.count, _points(grid), grid.relative), ""


def _points(grid: WaveGrid) -> int:
    return int(np.prod([4.0 * order + 1 for order in grid.orders]))


def _sized(view: View, low: Array, high: Array) -> WaveGrid | None:
    """The smallest error that few features have; else that of many."""
    from mercer.lifts.fourier import placed
    from mercer.lifts.wave_grid import wave_grid

    if not isinstance(view, KernelView) or not view.sure:
        return None
    kernel = placed(view.kernel, view.points.rows(slice(0, 1)))

    def least(most: int) -> WaveGrid | None:
        """The smallest error of the ladder that so many features reach."""
        first, last, best = 0, len(LADDER) - 1, wave_grid(kernel, low, high, LADDER[-1], most)
        while best is not None and first < last:
            middle = (first + last) // 2
            found = wave_grid(kernel, low, high, LADDER[middle], most)
            if found is not None and found.relative <= LADDER[middle]:
                best, last = found, middle
            else:
                first = middle + 1
        return best

    for most, enough in FEW:
        found = least(most)
        if found is None or found.relative <= enough:
            return found
    return least(MANY)


def ends(problem: RidgeProblem, view: KernelView) -> tuple[Array, Array]:
    """The ends of the rows that are fitted; of a sample, where they stay in their source."""
    values = view.points.values
    values = values if len(problem.kept) == len(values) else values[problem.kept]
    return values.min(axis=0), values.max(axis=0)


def ends_of(rows: Stream, batch: int) -> tuple[Array, Array]:
    """The ends of all rows of a stream. Cost: a pass."""
    low, high = np.full(rows.columns, np.inf), np.full(rows.columns, -np.inf)
    for piece in rows.pieces(batch):
        values = np.asarray(piece.points.values, dtype=np.float64)
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
    return low, high


def grid_lift(view: TableView, low: Array, high: Array, epsilon: float) -> FourierGrid:
    """The lift of a grid for rows between these ends, of the error that was planned."""
    from mercer.lifts.fourier import placed
    from mercer.lifts.fourier_grid import FourierGrid
    from mercer.lifts.wave_grid import MAX_FEATURES, wave_grid

    most, kernel, points = 2 * MANY, view.kernel, view.points
    if isinstance(view, LiftView) and isinstance(view.lift, FourierGrid):
        if view.lift.grid.inside(np.stack([low, high])).all():
            return view.lift
        most, epsilon = view.lift.n_components or MAX_FEATURES, view.lift.epsilon  # it saw a sample of the rows
    if kernel is None:
        raise TypeError("a grid stands for a kernel")
    kernel = placed(kernel, points.rows(slice(0, 1)))
    grid = wave_grid(kernel, low, high, epsilon, most)
    if grid is None:
        raise TypeError(f"no grid for {view.kernel}")  # the plan has looked
    lift = FourierGrid(kernel, min(epsilon, 0.99))
    lift.n_features_in_ = int(points.values.shape[1])
    if points.names is not None:
        lift.feature_names_in_ = np.array(points.names, dtype=object)
    lift.keep(kernel, grid)
    return lift
