"""A plane over the paraboloid: read from a classifier, cut to a box, and the circle that it is below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.plane import Plane
from mercer.errors import InputError, message

Array = NDArray[np.float64]
PLACES_PER_COLUMN = 7
"""Along each column, where a decision function is read."""
MAX_LINEAR_ERROR = 1e-3
"""A decision function that is off by more than this part of its size is not linear on the lift; less is not seen.

Rows far from zero leave that much: the model itself has lost digits there, in sums of squares."""
CIRCLE_POINTS = 200
"""Points of a circle."""


@dataclass(frozen=True, eq=False)
class Level:
    """weights . (x1, x2, x1^2 + x2^2) + intercept = 0."""

    weights: Array
    intercept: float

    @classmethod
    def checked(cls, weights: ArrayLike, intercept: float) -> Level:
        """Three finite weights, not all zero, or an error."""
        found = np.asarray(weights, dtype=np.float64)
        if found.shape != (3,) or not np.isfinite(found).all() or not found.any() or not np.isfinite(intercept):
            got = f"got {found.tolist()} and {intercept:g}"
            remedy = "Look whether the model has learned anything."
            raise InputError(message("three finite weights, not all zero, and an intercept", got, remedy))
        return cls(found, float(intercept))

    def value(self, points: ArrayLike) -> Array:
        """weights . p + intercept of points of three dimensions."""
        return np.asarray(np.asarray(points) @ self.weights + self.intercept)


def read_level(plane: Plane, decide: Callable[[Any], Any]) -> Level:
    """The plane of a decision function that is linear on the lift, from its values at a grid around the rows.

    With x = c + s u, for the middle c and half of the width s of the grid, it is g.u + h |u|^2 + a, whose numbers are
    found by least squares, and from these the weights: h / s^2, and g / s - 2 c h / s^2.
    """
    across, up, places = plane.grid(PLACES_PER_COLUMN)
    values = np.asarray(decide(places), dtype=np.float64)
    if values.size != PLACES_PER_COLUMN**2:
        raise InputError(message("two classes", f"got {values.shape[-1]} scores per row", "Draw two of them."))
    middle = np.array([across[[0, -1]].mean(), up[[0, -1]].mean()])
    unit = max(np.ptp(across), np.ptp(up)) / 2
    u = (np.column_stack([each.ravel() for each in np.meshgrid(across, up)]) - middle) / unit
    table = np.column_stack([u, np.square(u).sum(axis=1), np.ones(len(u))])
    found = np.linalg.lstsq(table, values.ravel(), rcond=None)[0]
    if not np.abs(table @ found - values.ravel()).max() <= MAX_LINEAR_ERROR * np.abs(values).max():
        got, remedy = (
            "got another",
            'Use KernelSVC("parabolic"), or make_pipeline(Parabolic(), LogisticRegression()).',
        )
        raise InputError(message("a decision function that is linear in x1, x2 and x1^2 + x2^2", got, remedy))
    return _shifted(found, middle, unit)


def _shifted(found: Array, middle: Array, unit: float) -> Level:
    steep = found[2] / unit**2
    flat = found[:2] / unit - 2 * steep * middle
    return Level(np.append(flat, steep), float(found[3] - flat @ middle - steep * middle @ middle))


def cut(level: Level, low: Array, high: Array) -> Array:
    """The corners of the polygon that a plane has in a box, (corners, 3), in order around it; none where it misses it.

    They lie on edges of the box, at the ends of which the plane is on different sides.
    """
    corners = np.stack(np.meshgrid(*zip(low, high, strict=True), indexing="ij"), axis=-1).reshape(-1, 3)
    steps = [(i, j) for i in range(8) for j in range(i) if np.sum(corners[i] != corners[j]) == 1]
    values, points = level.value(corners), []
    for i, j in steps:
        if values[i] != values[j] and values[i] * values[j] <= 0:
            part = values[i] / (values[i] - values[j])
            points.append(corners[i] + part * (corners[j] - corners[i]))
    return _around(np.array(points), low, high) if len(points) > 2 else np.zeros((0, 3))


def _around(points: Array, low: Array, high: Array) -> Array:
    """Points of a plane, sorted by their angle around their middle."""
    inside = (points - low) / (high - low)
    _, _, axes = np.linalg.svd(inside - inside.mean(axis=0))
    one, two = ((inside - inside.mean(axis=0)) @ axes[:2].T).T
    return points[np.argsort(np.arctan2(two, one))]


@dataclass(frozen=True, eq=False)
class Circle:
    """The points of the plane below a level: a circle, or a line where the level is upright.

    points : (m, 2), those inside of the box; NaN parts what leaves it
    name : in words
    """

    points: Array
    name: str

    @classmethod
    def of(cls, level: Level, low: Array, high: Array) -> Circle | None:
        """None where the circle is empty, or passes the box by."""
        w, b = level.weights, level.intercept
        reach = float(np.abs([low[:2], high[:2]]).max())
        if abs(w[2]) * reach <= 1e-9 * np.abs(w[:2]).max():
            return _kept(_line(w[:2], b, low, high), low, high, "line")
        center = -w[:2] / (2 * w[2])
        square = float(center @ center - b / w[2])
        if square <= 0:
            return None
        turn = np.linspace(0, 2 * np.pi, CIRCLE_POINTS)
        around = center + np.sqrt(square) * np.column_stack([np.cos(turn), np.sin(turn)])
        return _kept(around, low, high, f"circle of radius {np.sqrt(square):.3g}")


def _line(w: Array, b: float, low: Array, high: Array) -> Array:
    foot, along = -b * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    middle, half = (low[:2] + high[:2]) / 2, np.linalg.norm(high[:2] - low[:2])
    start = foot + ((middle - foot) @ along) * along
    return np.asarray(start + np.linspace(-half, half, CIRCLE_POINTS)[:, None] * along)


def _kept(points: Array, low: Array, high: Array, name: str) -> Circle | None:
    inside = np.asarray((points >= low[:2]) & (points <= high[:2])).all(axis=1)
    return Circle(np.where(np.reshape(inside, (-1, 1)), points, np.nan), name) if inside.any() else None
