"""Pairs of points whose coordinates are numbers of 50 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.pairs import Block, Pairs, lengths
from mercer.kernels.precision.mpmath_arrays import Precise


class PrecisePairs(Pairs):
    """Pairs of points whose coordinates are numbers of 50 digits."""

    def _squared_distance(self) -> Block:
        return sum((x - z) ** 2 for x, z in self.coordinates())  # type: ignore[return-value]

    def _angle(self) -> Block:
        # As for floats: arccos of a cosine has half of the digits, and is not 0 from a point to itself.
        one: Any = Precise(1)
        left, right = (_units(side.values) for side in (self.left, self.right))
        units = [(left[:, k, None], right[None, :, k]) for k in range(left.shape[1])]
        apart: Any = sum((x - z) ** 2 for x, z in units)
        opposite: Any = sum((x + z) ** 2 for x, z in units)
        turned = 2 * np.arctan(np.sqrt(apart / np.where(opposite > 0, opposite, one)))
        return np.asarray(np.where(opposite > 0, turned, np.arccos(-one)))


def _units(values: NDArray[Any]) -> NDArray[Any]:
    """x / |x| of each row; zero where the row is."""
    sizes, one = lengths(values), np.asarray(Precise(1), dtype=object)
    return np.asarray(values / np.where(sizes > 0, sizes, one))
