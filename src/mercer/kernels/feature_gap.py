"""The squared distance of lifted points without cancellation, and how it passes through the rules of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class FeatureGap:
    """What pairs of near points need so that no digit of |phi(x) - phi(z)|^2 is lost; an array of numbers each.

    middle - half is k(x, z), so that a sum, a product or a power of kernels is one of these, by +, * and **.

    middle : (k(x, x) + k(z, z)) / 2
    tilt : (k(x, x) - k(z, z)) / 2
    half : middle - k(x, z), half of the squared distance
    size : rounding moves half by a few units of this at most; by Cauchy-Schwarz tilt by those of sqrt(2 middle size)
    """

    middle: Array
    tilt: Array
    half: Array
    size: Array

    @classmethod
    def stationary(cls, top: float, half: Array, size: Array | None = None) -> Self:
        """Of a kernel whose k(x, x) is the same everywhere."""
        return cls(np.full(half.shape, top), np.zeros(half.shape), half, half if size is None else size)

    @classmethod
    def feature(cls, x: Array, z: Array, apart: Array, rough: Array | float = 0.0) -> Self:
        """Of f(x) f(z), from both values of f and their difference; rounding moves that by a few units of `rough`."""
        half = apart * apart / 2
        return cls((x * x + z * z) / 2, apart * (x + z) / 2, half, half + np.abs(apart) * rough)

    @property
    def wobble(self) -> Array:
        """Rounding moves tilt by a few units of this at most."""
        return np.asarray(np.sqrt(2 * np.abs(self.middle) * self.size))

    def sum(self) -> FeatureGap:
        """The sum over the last axis."""
        return FeatureGap(*(part.sum(axis=-1) for part in (self.middle, self.tilt, self.half, self.size)))

    def columns(self) -> list[FeatureGap]:
        """One for each place of the last axis."""
        parts = (self.middle, self.tilt, self.half, self.size)
        return [FeatureGap(*(part[..., k] for part in parts)) for k in range(self.half.shape[-1])]

    def __add__(self, other: FeatureGap | float) -> FeatureGap:
        if not isinstance(other, FeatureGap):
            return FeatureGap(self.middle + other, self.tilt, self.half, self.size)
        return FeatureGap(
            self.middle + other.middle, self.tilt + other.tilt, self.half + other.half, self.size + other.size
        )

    __radd__ = __add__

    def __mul__(self, other: FeatureGap | float) -> FeatureGap:
        if not isinstance(other, FeatureGap):
            return FeatureGap(self.middle * other, self.tilt * other, self.half * other, self.size * abs(other))
        m, e, h, s = self.middle, self.tilt, self.half, self.size
        n, f, g, t = other.middle, other.tilt, other.half, other.size
        return FeatureGap(
            m * n + e * f,
            m * f + n * e,
            m * g + n * h - h * g + e * f,
            np.abs(m) * t + np.abs(n) * s + np.abs(e) * other.wobble + np.abs(f) * self.wobble,
        )

    __rmul__ = __mul__

    def __truediv__(self, number: float) -> FeatureGap:
        return self * (1 / number)

    def __pow__(self, exponent: float) -> FeatureGap:
        if not isinstance(exponent, int):
            return self._real_power(exponent)
        found, square = self if exponent & 1 else None, self
        while exponent := exponent >> 1:
            square = square * square
            if exponent & 1:
                found = square if found is None else found * square
        return self if found is None else found

    def exp(self) -> FeatureGap:
        """Of exp(k): cosh and sinh of tilt come from the two diagonals."""
        half, size = self._grown(self.tilt, self.half, self.size, self.wobble)
        factor = np.exp(self.middle)
        size = factor * (size + np.abs(self.middle) * np.abs(half))
        return FeatureGap(factor * np.cosh(self.tilt), factor * np.sinh(self.tilt), factor * half, size)

    def normalized(self) -> FeatureGap:
        """Of k(x, z) / sqrt(k(x, x) k(z, z)), where both are positive."""
        tilt, half = self.tilt / self.middle, self.half / self.middle
        shift, size = self._logarithm()
        near = half < 1  # k(x, z) is positive
        rise = np.where(near, -np.expm1(-shift), 1 - (1 - half) / np.sqrt(1 - tilt * tilt))
        return FeatureGap.stationary(1.0, rise, np.where(near, np.exp(-shift) * size, 1.0))

    def _real_power(self, exponent: float) -> FeatureGap:
        """k^p of positive values: exp(p log k)."""
        tilt = self.tilt / self.middle
        product = 1 - tilt * tilt
        shift, size = self._logarithm()
        wobble = self.wobble / self.middle / product
        turn = exponent * np.arctanh(tilt)
        half, size = self._grown(turn, exponent * shift, exponent * size, exponent * wobble)
        factor = (self.middle * np.sqrt(product)) ** exponent
        return FeatureGap(factor * np.cosh(turn), factor * np.sinh(turn), factor * half, factor * size)

    def _logarithm(self) -> tuple[Array, Array]:
        """Half and size of log k: half is log(a b / c^2) / 2, where a, b and c are k(x, x), k(z, z) and k(x, z)."""
        m = self.middle
        e, h, s, w = self.tilt / m, self.half / m, self.size / m, self.wobble / m  # squares of m may overflow
        excess = h * (2 - h) - e * e  # (a b - c^2) / m^2
        moved = 2 * np.abs(1 - h) * s + 2 * np.abs(e) * w + np.abs(excess)
        return np.log1p(excess / (1 - h) ** 2) / 2, moved / (2 * (1 - e * e))

    @staticmethod
    def _grown(tilt: Array, half: Array, size: Array, wobble: Array) -> tuple[Array, Array]:
        """Half and size of exp(k), in units of exp(middle)."""
        sine = np.sinh(tilt / 2)
        moved = np.exp(-half) * size + np.abs(np.sinh(tilt)) * wobble
        return 2 * sine * sine - np.expm1(-half), moved
