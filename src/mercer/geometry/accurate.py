"""Sums of products that are rounded once, so that a shape is as exact as its weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_SPLITTER = float(2**27 + 1)


def products(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """a b as a sum of two floats without error: the rounded product, and what rounding took from it.

    Dekker, A floating-point technique for extending the available precision (1971).
    """
    a1, a2 = _halves(a)
    b1, b2 = _halves(b)
    high = a * b
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def dot(a: Vector, b: Vector, start: float = 0.0) -> float:
    """start + a.b, rounded once."""
    high, low = products(a, b)
    return math.fsum([start, *high.tolist(), *low.tolist()])


def precise_dot(a: Vector, b: Vector, start: float = 0.0) -> tuple[float, float]:
    """start + a.b as a sum of two floats, with about 32 digits."""
    high, low = products(a, b)
    parts = [start, *high.tolist(), *low.tolist()]
    total = math.fsum(parts)
    return total, math.fsum([-total, *parts])


def _halves(a: Vector) -> tuple[Vector, Vector]:
    """Two floats of 26 bits each that sum up to a, so that their products are exact."""
    scaled = _SPLITTER * a
    upper = scaled - (scaled - a)
    return upper, a - upper
