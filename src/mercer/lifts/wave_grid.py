"""Which frequencies stand for a kernel on a box of rows: the fewest waves of a grid that keep to an error.

The period of a column is its reach plus the distance at which the kernel has fallen to nothing; the grid grows until
the weights that are missing are few, and of these the smallest are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError
from mercer.kernels import Kernel
from mercer.kernels.waves import FrequencyGrid, WaveWeights

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
MAX_COLUMNS = 3
"""Columns of a grid, at most: the frequencies of more are too many."""
MAX_FEATURES = 1 << 20
"""Features of a grid, at most."""
BOX, SMALL_BOX = 4, 1 << 18
"""Frequencies of the grid, in units of those that are kept, at most; so many are always looked at."""
WIDEST = 64.0
"""Periods in units of the reach, at most: a kernel that falls so slowly has better readings."""
MARGIN = 0.02
"""Rows may lie beyond those of the fit by this part of the reach, on each side."""
WIDENED = 1.15
"""How the period grows while images of rows are seen."""
ALONG = 512
"""Distances along a column at which the kernel is looked at."""


@dataclass(frozen=True, eq=False)
class WaveGrid:
    """The waves sqrt(p_0), sqrt(2 p_j) cos(w_j.x), sqrt(2 p_j) sin(w_j.x), which stand for a kernel on a box.

    periods, center, reach : (d,), of the grid; rows within reach / 2 of the center are in the box
    frequencies : (h, d), j without 0, of each pair j, -j one
    weights : (1 + h,), p_0 and p_j
    error : |k - k~| in the box, at most
    mass : k(x, x)
    """

    periods: Array
    center: Array
    reach: Array
    frequencies: Whole
    weights: Array
    error: float
    mass: float

    @property
    def count(self) -> int:
        """How many features there are."""
        return 1 + 2 * len(self.frequencies)

    @property
    def orders(self) -> tuple[int, ...]:
        """The largest j of each column."""
        return tuple(np.abs(self.frequencies).max(axis=0, initial=0).tolist())

    @property
    def relative(self) -> float:
        """The error in units of k(x, x)."""
        return self.error / self.mass

    @property
    def scales(self) -> Array:
        """(count,): the factors of the waves 1, cos, ..., sin, ..."""
        pairs = np.sqrt(2 * self.weights[1:])
        return np.concatenate([np.sqrt(self.weights[:1]), pairs, pairs])

    def angles(self, X: NDArray[np.float64]) -> Array:
        """2 pi (x - center) / period."""
        return np.asarray((X - self.center) * (2 * np.pi / self.periods))

    def inside(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which rows are in the box."""
        return np.asarray((np.abs(X - self.center) <= self.reach / 2).all(axis=1))

    def boxed(self, halves: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Numbers of j = 0 and of the frequencies, (..., 1 + h), in a box from -order to order, zero elsewhere."""
        orders = np.array(self.orders, dtype=np.int64)
        found = np.zeros((*halves.shape[:-1], *(2 * orders + 1)), halves.dtype)
        found[(..., *orders)] = halves[..., 0]
        found[(..., *(self.frequencies + orders).T)] = halves[..., 1:]
        found[(..., *(orders - self.frequencies).T)] = halves[..., 1:].conj()
        return found

    def coefficients(self, weights: Array) -> NDArray[np.complex128]:
        """Weights of features, (count, outputs), as coefficients of exp(i j.t) in a box, (outputs, *box)."""
        scaled, h = (weights.T * self.scales).astype(complex), len(self.frequencies)
        pairs = 0.5 * (scaled[:, 1 : 1 + h] - 1j * scaled[:, 1 + h :])
        return self.boxed(np.concatenate([scaled[:, :1], pairs], axis=1))

    def features(self, X: NDArray[np.float64]) -> Array:
        """The features of rows, a table."""
        phases = self.angles(X) @ self.frequencies.T
        ones = np.ones((len(X), 1))
        return np.asarray(np.hstack([ones, np.cos(phases), np.sin(phases)]) * self.scales)


def wave_grid(kernel: Kernel, low: Array, high: Array, epsilon: float, most: int) -> WaveGrid | None:
    """The fewest waves with an error of at most epsilon k(x, x), or so many at most, with whatever error that leaves.

    None where the kernel has no such waves.

    kernel : with its numbers, and columns by position
    low, high : (d,), the ends of the rows
    """
    d = len(low)
    if d > MAX_COLUMNS:
        return None
    reach = (high - low) * (1 + 2 * MARGIN)
    try:
        falls = [_fall(kernel, d, i, float(reach[i]), epsilon) for i in range(d)]
    except KernelError:  # it does not take so many columns
        return None
    mass = falls[0].mass
    if mass <= 0:
        return None
    periods = reach + [each.beyond for each in falls]
    fine = np.array([each.frequency for each in falls])
    small = FrequencyGrid(tuple(periods.tolist()), (1,) * d, tuple(reach.tolist()))
    found = kernel.waves(small)
    while found is not None and found.aliasing > 0.5 * epsilon * mass and _narrow(periods, reach):
        periods = reach + WIDENED * (periods - reach)
        found = kernel.waves(replace(small, periods=tuple(periods.tolist())))
    if found is None or not np.isfinite(found.aliasing):
        return None
    small, box = replace(small, periods=tuple(periods.tolist())), max(BOX * most, SMALL_BOX)
    grid = _grown(kernel, small, fine, epsilon * mass, box)
    return None if grid is None else _pruned(*grid, (low + high) / 2, epsilon * mass, mass, most)


@dataclass(frozen=True)
class _Fall:
    """How a kernel falls along one column: k(0), where it has fallen to nothing, and the frequency of its bend."""

    mass: float
    beyond: float
    frequency: float


def _fall(kernel: Kernel, d: int, column: int, reach: float, epsilon: float) -> _Fall:
    unit = reach if reach > 0 else 1.0
    distances = np.concatenate([[0.0], unit * np.geomspace(1e-6, WIDEST, ALONG), [1e9 * unit]])
    rows = np.zeros((len(distances), d))
    rows[:, column] = distances
    values = np.asarray(kernel(rows, rows[:1]), dtype=np.float64)[:, 0]
    left = np.abs(values - values[-1])
    if left[0] <= 1e-12 * abs(values[0]):  # the kernel does not look at it
        return _Fall(float(values[0]), unit, 0.0)
    near = np.flatnonzero(left <= 0.1 * epsilon * values[0])
    half = distances[np.flatnonzero(left <= 0.5 * left[0])[0]]
    return _Fall(float(values[0]), float(distances[min(near[0], ALONG)]), 1 / float(half))


def _narrow(periods: Array, reach: Array) -> bool:
    return bool((periods < (1 + WIDEST) * np.maximum(reach, 1e-9 * periods)).all())


def _grown(
    kernel: Kernel, grid: FrequencyGrid, fine: Array, epsilon: float, most: int
) -> tuple[FrequencyGrid, WaveWeights] | None:
    """A grid that is large enough for the error, or as large as is allowed."""
    turns = np.array(grid.periods) * fine / (2 * np.pi)

    def fits(factor: float) -> bool:
        return bool(np.prod(2 * np.ceil(factor * turns) + 1) <= most)

    reached = 1.0 if fits(1.0) else 0.0
    while reached and fits(2 * reached):
        reached *= 2
        found = _at(kernel, grid, reached * turns)
        if found is None or found[1].dropped + found[1].aliasing <= 0.95 * epsilon:
            return found
    low, high = reached, max(1.0, 2 * reached)
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return _at(kernel, grid, low * turns)


def _at(kernel: Kernel, grid: FrequencyGrid, orders: Array) -> tuple[FrequencyGrid, WaveWeights] | None:
    sized = replace(grid, orders=tuple(np.ceil(orders).astype(int).tolist()))
    found = kernel.waves(sized)
    return None if found is None else (sized, found)


def _pruned(grid: FrequencyGrid, known: WaveWeights, center: Array, epsilon: float, mass: float, most: int) -> WaveGrid:
    """Without the smallest weights: as many as the error allows, and as are too many."""
    flat = known.values.ravel()
    middle = len(flat) // 2
    half = flat[middle + 1 :]
    order = np.argsort(-half, kind="stable")
    left = known.total - flat[middle] - 2 * np.cumsum(half[order])
    enough = int(np.searchsorted(-left, known.aliasing - epsilon)) + 1
    kept = order[: min(enough, max(1, (most - 1) // 2))]
    kept = np.sort(kept[half[kept] > 0])
    places = np.stack(np.unravel_index(middle + 1 + kept, known.values.shape), axis=1)
    weights = np.concatenate([flat[middle : middle + 1], half[kept]])
    dropped = max(known.total - float(weights[0] + 2 * weights[1:].sum()), 0.0)
    return WaveGrid(
        periods=np.array(grid.periods),
        center=center,
        reach=np.array(grid.reach),
        frequencies=(places - np.array(grid.orders)).astype(np.int64),
        weights=weights,
        error=known.aliasing + dropped,
        mass=mass,
    )
