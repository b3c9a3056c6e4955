"""Sums of products that are rounded once, so that a shape is as exact as its weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.precision.double_double import two_product

Vector = NDArray[np.float64]


def dot(a: Vector, b: Vector, start: float = 0.0) -> float:
    """start + a.b, rounded once."""
    high, low = two_product(a, b)
    return math.fsum([start, *high.tolist(), *low.tolist()])


def precise_dot(a: Vector, b: Vector, start: float = 0.0) -> tuple[float, float]:
    """start + a.b as a sum of two floats, with about 32 digits."""
    high, low = two_product(a, b)
    parts = [start, *high.tolist(), *low.tolist()]
    total = math.fsum(parts)
    return total, math.fsum([-total, *parts])
