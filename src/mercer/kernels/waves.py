"""A stationary kernel as waves on a grid of frequencies: k(x, z) ~ sum_j p_j cos(w_j . (x - z)), w_j = 2 pi j / P.

Let k_P(t) = sum_n k(t + n P) be the kernel of t = x - z, repeated with a period P in each column. Its Fourier
coefficients are p_j = (2 pi)^d / |P| times the density of the frequencies of k at w_j (Poisson's formula), none of them
is negative, and they add up to k_P(0). So for waves of some j alone, and for all t with |t_i| <= L_i,

    |k(t) - sum_j p_j cos(w_j . t)| <= aliasing + dropped,
    aliasing = max_t sum_{n != 0} |k(t + n P)|,    dropped = k_P(0) - sum_j p_j,

and both are computed: the first from the values of a kernel that falls with the distance, the second from sums.

References
----------
Greengard, Rachh and Barnett, Equispaced Fourier representations for efficient Gaussian process regression from a
billion data points, SIAM/ASA Journal on Uncertainty Quantification 13 (2025).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Profile = Callable[[Array], Array]
"""The kernel as a function of the distance."""
NEAR = 3
"""Images up to so many periods away are summed one by one; those beyond shell by shell."""
FIRST_SHELLS, SHELLS = 32, 1 << 16
"""So many shells are summed, at first and at most."""
NOTHING = 1e-25
"""What the last shell, times the number of shells, is at most when nothing lies beyond."""
FALLS = 1e-3
"""What it may be of the sum, for a kernel to fall fast enough."""
ROUNDING = 1e-15
"""Coefficients of a product below this part of the largest are rounding of its convolution."""


@dataclass(frozen=True)
class FrequencyGrid:
    """The frequencies 2 pi j / period for whole j from -order to order in each column.

    Parameters
    ----------
    periods : tuple of float
        P, one per column, each larger than its reach.
    orders : tuple of int
        The largest j of each column.
    reach : tuple of float
        L, the largest difference in each column.

    Examples
    --------
    >>> FrequencyGrid((4.0,), (2,), (1.0,)).shape
    (5,)
    """

    periods: tuple[float, ...]
    orders: tuple[int, ...]
    reach: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many frequencies each column has."""
        return tuple(2 * order + 1 for order in self.orders)

    def axes(self) -> list[Array]:
        """The frequencies of each column."""
        return [
            np.asarray(2 * np.pi / P * np.arange(-m, m + 1.0), dtype=np.float64)
            for P, m in zip(self.periods, self.orders, strict=True)
        ]

    def lengths(self) -> Array:
        """The length of each frequency, of this shape."""
        squares = [w**2 for w in self.axes()]
        return np.asarray(np.sqrt(reduce(np.add.outer, squares)))

    def scaled(self, lengthscales: Sequence[float]) -> FrequencyGrid:
        """The same frequencies for columns that were divided by numbers."""
        periods, reach = ([a / b for a, b in zip(of, lengthscales, strict=True)] for of in (self.periods, self.reach))
        return replace(self, periods=tuple(periods), reach=tuple(reach))

    def columns(self, chosen: Sequence[int]) -> FrequencyGrid:
        """The grid of some columns."""
        fields = (self.periods, self.orders, self.reach)
        return FrequencyGrid(*(tuple(of[i] for i in chosen) for of in fields))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class WaveWeights:
    """The coefficients p_j of a kernel on a grid, and what is known of what they leave.

    Parameters
    ----------
    values : array
        p_j, of the shape of the grid, none negative.
    total : float
        k_P(0), at most: the sum of the coefficients of all frequencies.
    aliasing : float
        `|k_P - k|` within the reach of the grid, at most.
    """

    values: Array
    total: float
    aliasing: float

    @property
    def dropped(self) -> float:
        """The sum of all coefficients that are not on the grid, at most."""
        return max(self.total - float(self.values.sum()), 0.0)


def of_density(density: Callable[[Array], Array], profile: Profile, grid: FrequencyGrid) -> WaveWeights | None:
    """The coefficients of a kernel of the distance that falls and is nowhere negative.

    None where it falls too slowly for its images to have a sum.

    density : of its frequencies, by their lengths; its integral is k(0)
    """
    images = _images(profile, grid)
    if images is None:
        return None
    at_zero, aliasing = images
    cell = float(np.prod([2 * np.pi / P for P in grid.periods]))
    values = cell * np.maximum(density(grid.lengths()), 0.0)
    return WaveWeights(values, float(profile(np.zeros(1))[0]) + at_zero, aliasing)


def added(parts: Iterable[WaveWeights | None]) -> WaveWeights | None:
    """The coefficients of a sum of kernels; None where one has none."""
    known = _all(parts)
    return None if known is None else reduce(_add, known)


def multiplied(parts: Iterable[WaveWeights | None]) -> WaveWeights | None:
    """The coefficients of a product of kernels: a convolution. None where one has none."""
    known = _all(parts)
    return None if known is None else reduce(_multiply, known)


def constant(value: float, grid: FrequencyGrid) -> WaveWeights:
    """Those of a constant kernel: one wave, of frequency zero."""
    values = np.zeros(grid.shape)
    values[grid.orders] = value
    return WaveWeights(values, value, 0.0)


def on_columns(inner: WaveWeights | None, chosen: Sequence[int], grid: FrequencyGrid) -> WaveWeights | None:
    """Those of a kernel that sees different columns of the grid: other columns have the frequency zero."""
    if inner is None:
        return None
    values = np.zeros(grid.shape)
    place: list[slice | int] = [*grid.orders]
    for column in chosen:
        place[column] = slice(None)
    values[tuple(place)] = np.transpose(inner.values, np.argsort(chosen))
    return replace(inner, values=values)


def _all(parts: Iterable[WaveWeights | None]) -> list[WaveWeights] | None:
    listed = list(parts)
    known = [part for part in listed if part is not None]
    return known if len(known) == len(listed) else None


def _add(a: WaveWeights, b: WaveWeights) -> WaveWeights:
    return WaveWeights(a.values + b.values, a.total + b.total, a.aliasing + b.aliasing)


def _multiply(a: WaveWeights, b: WaveWeights) -> WaveWeights:
    few = min((a, b), key=lambda each: np.count_nonzero(each.values))
    other = b if few is a else a
    if np.count_nonzero(few.values) == 1 and few.values[tuple(n // 2 for n in few.values.shape)] > 0:  # a constant
        values = other.values * few.values.max()
    else:
        from scipy.signal import fftconvolve  # few kernels are products

        values = np.maximum(fftconvolve(a.values, b.values, mode="same"), 0.0)
        values[values < ROUNDING * values.max()] = 0.0
    off = a.aliasing * b.total + b.aliasing * a.total + a.aliasing * b.aliasing
    return WaveWeights(values, a.total * b.total, off)


def _images(profile: Profile, grid: FrequencyGrid) -> tuple[float, float] | None:
    """The sum of k at all images of zero, and the largest sum at images of a difference within reach; at most.

    Of the images with max |n_i| = q there are (2 q + 1)^d - (2 q - 1)^d, none nearer than min_i q P_i - L_i.
    """
    periods, reach = np.array(grid.periods), np.array(grid.reach)
    d = len(periods)
    near = np.stack(np.meshgrid(*[np.arange(-NEAR, NEAR + 1.0)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    near = np.abs(near[(near != 0).any(axis=1)])
    at_zero, within = (_summed(profile, near, periods, left) for left in (np.zeros(d), reach))
    return None if at_zero is None or within is None else (at_zero, within)


def _summed(profile: Profile, near: Array, periods: Array, left: Array) -> float | None:
    """The sum at images, each nearer by at most `left`: shells twice as far, until what lies beyond is nothing."""
    found = float(profile(np.linalg.norm(np.maximum(near * periods - left, 0.0), axis=1)).sum())
    start, stop, d = NEAR + 1, FIRST_SHELLS, len(periods)
    while True:
        q = np.arange(float(start), float(stop))
        shells = ((2 * q + 1) ** d - (2 * q - 1) ** d) * profile((q[:, None] * periods - left).min(axis=1))
        found += float(shells.sum())
        beyond = float(shells[-1]) * stop
        if not np.isfinite(found):
            return None
        if beyond <= NOTHING:
            return found + beyond
        if stop >= SHELLS:
            return found + beyond if beyond <= FALLS * found else None
        start, stop = stop, 2 * stop
