"""Kernels of the angle between two points, and of their lengths."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs, lengths
from mercer.kernels.points import Points


class Angular(Kernel):
    """A function of the angle, times `(|x| |z|)^degree`; zero where a point is the origin, which has no angle.

    Cost: n m d operations for n x m pairs of d columns, by products of matrices, and one formula per pair; memory for
    the result, or for tiles where only products with vectors are needed (`Gram`).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Angular
    >>> class Nearness(Angular):
    ...     def profile(self, angle):
    ...         return 1 - angle / np.pi
    >>> Nearness()([[1.0, 0.0]], [[0.0, 2.0]])
    array([[0.5]])
    """

    @property
    def homogeneity(self) -> int:
        """The power of the lengths."""
        return 0

    @abstractmethod
    def profile(self, angle: NDArray[Any]) -> NDArray[Any]:
        """k for two points of length one, as a function of their angle.

        Parameters
        ----------
        angle : array
            From 0 to pi.

        Returns
        -------
        array
        """

    def evaluate(self, pairs: Pairs) -> Block:
        left, right = pairs.norms()
        block: Block = self._length_part(left) * pairs.block(self.profile(pairs.angle())) * self._length_part(right)
        return block

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        part = self._length_part(lengths(points.values)[:, 0])
        return np.asarray(part * part * self.profile(np.zeros(points.values.shape[0])))

    def gap(self, angle: NDArray[Any]) -> NDArray[Any] | None:
        """profile(0) - profile(angle), to full digits where the angle is small; None where no formula is known.

        Parameters
        ----------
        angle : array
            From 0 to pi.

        Returns
        -------
        array or None
        """
        return None

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        angle, wobble = pairs.angle
        rise = self.gap(angle)
        if rise is None:
            return None
        moved = np.asarray(self.gap(np.minimum(angle + wobble, np.pi)))
        x, z = pairs.lengths
        apart = np.divide(2 * pairs.inner.tilt, x + z, out=np.zeros_like(x), where=x + z > 0)  # |x| - |z|
        left, right = self._length_part(x), self._length_part(z)
        rough = left + right if self.homogeneity > 1 else 0.0
        lengths = FeatureGap.feature(left, right, apart if self.homogeneity == 1 else left - right, rough)
        top, whole = float(self.profile(np.zeros(1))[0]), x * z > 0
        half = top * lengths.half + left * right * rise
        size = top * lengths.size + left * right * np.maximum(rise, moved)
        middle = top * lengths.middle
        half, size = (np.where(whole, found, middle) for found in (half, size))
        return FeatureGap(middle, top * lengths.tilt, half, size)

    def _length_part(self, length: NDArray[Any]) -> NDArray[Any]:
        return np.where(length > 0, length**self.homogeneity, 0.0)
