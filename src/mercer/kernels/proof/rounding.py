"""How far rounding inside a function moves its values: a witness must stand beyond that.

A function of Python is all that is known of itself, so that it is asked again, at points that are equal for every
purpose but rounding. Where its values jump from point to point they are known no better than these jumps, and where
all of them are multiples of one number, or fit into float16, no better than that.
"""

from __future__ import annotations

import numpy as np

from mercer.kernels.proof.examiner import SEED, Array, Map

MOVES_PER_SIZE = 4
"""How often points are moved, for each size of the moves."""
MOVE_SIZES = (1e-9, 1e-6)
"""Moves beside those by an ulp, in units of the largest coordinate: where a large number is added inside a function,
an ulp of a coordinate is lost."""
GENERIC_MOVE = 1e-2
"""A move that leaves round numbers, in the same units: what all values have in common there is the function's own."""
NOISE_MARGIN = 4.0
"""How many times the noise that was seen a witness must exceed it."""
MAX_SIMPLE_VALUES = 64
"""Values of fewer multiples of one number are simple by nature, those of a truth say."""
MAX_SHARED_DECIMALS = 9
"""How many decimals all values may share, less one."""


def noise(raw: Map, points: Array, weights: Array, place: Map) -> float:
    """What rounding of the values may contribute to sum_ij c_i c_j k(x_i, x_j), at most, with a margin.

    raw : k of all pairs of rows, each order of the arguments by itself
    place : maps rows into the domain
    """
    middle, share = raw(points), np.abs(weights)
    with np.errstate(all="ignore"):
        found = np.maximum(moved(raw, points, place), np.abs(middle - middle.T))
        total = NOISE_MARGIN * float(share @ found @ share)
    return total if np.isfinite(total) else np.inf


def moved(raw: Map, points: Array, place: Map) -> Array:
    """How far the value of each pair moves where nothing but rounding changes, and how coarse values are."""
    random, size = np.random.default_rng(SEED), float(np.max(np.abs(points), initial=0.0)) or 1.0
    with np.errstate(all="ignore"):  # of infinities
        middle = raw(points)
        found = np.zeros_like(middle)
        for _ in range(MOVES_PER_SIZE):
            signs = random.choice([-1.0, 1.0], points.shape)
            near = raw(place(np.nextafter(points, np.inf * signs)))
            found = np.maximum(found, np.abs(near - middle))
            for part in MOVE_SIZES:
                step = part * size * random.uniform(0.5, 1.0, points.shape) * signs
                bent = raw(place(points + step)) - middle + (raw(place(points - step)) - middle)  # 0, but for curvature
                found = np.maximum(found, np.abs(bent) / 2)
        generic = raw(place(points + GENERIC_MOVE * size * random.normal(size=points.shape)))
        found = found + grain(generic[np.isfinite(generic)], middle)
    return np.maximum(found, found.T)


def grain(values: Array, middle: Array) -> Array:
    """How coarse the values of a function are: a step that all of them share, or the precision that all of them fit."""
    top = float(np.max(np.abs(values), initial=0.0))
    if top == 0.0 or (values == np.rint(values)).all():  # integers are exact
        return np.zeros_like(middle)
    coarse = np.zeros_like(middle)
    with np.errstate(all="ignore"):
        for dtype in (np.float16, np.float32):
            if (values.astype(dtype) == values).all() and top / _binary_step(values) >= MAX_SIMPLE_VALUES:
                coarse = np.maximum(coarse, np.finfo(dtype).eps * np.abs(middle))
    decimal = next((10.0**-k for k in range(MAX_SHARED_DECIMALS) if _in_decimals(values, 10.0**k)), 0.0)
    steps = [step for step in (_binary_step(values), decimal) if step > 0.0]
    shared = max((step for step in steps if top / step >= MAX_SIMPLE_VALUES), default=0.0)
    return np.maximum(coarse, shared)


def _binary_step(values: Array) -> float:
    """The largest power of two of which all values are multiples."""
    mantissas, exponents = np.frexp(values[values != 0.0])
    whole = (mantissas * 2.0**53).astype(np.int64)
    steps = np.ldexp((whole & -whole).astype(np.float64), exponents - 53)
    return float(steps.min())


def _in_decimals(values: Array, factor: float) -> bool:
    scaled = values * factor
    return bool(np.abs(scaled).max() < 1e6 and (np.abs(scaled - np.rint(scaled)) < 1e-8).all())
