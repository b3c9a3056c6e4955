"""Conics and quadrics besides ellipsoids: hyperbolas, parabolas, cylinders, cones, pairs of planes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message, speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.base import Shape
from mercer.geometry.fields import lengths, named, orthonormal, vector
from mercer.geometry.quadratic import Quadratic
from mercer.geometry.terms import Terms

Right = Literal["one", "zero", "height"]


@dataclass(frozen=True, eq=False, init=False)
class Quadric(Shape):
    """A quadric in its own coordinates t = directions (x - center): sum_i signs_i (t_i / axes_i)^2 <= right.

    The sum is over the first r coordinates, r = len(axes). What stands right is one, zero, or the height t_(r+1): the
    next coordinate, of a parabola or paraboloid whose vertex is the center. Coordinates that do not occur are those
    along which the shape does not change.

    Parameters
    ----------
    center : array of shape (d,)
        The center; of a parabola the vertex.
    axes : array of shape (r,)
        Positive: semi-axes where right is "one".
    signs : array of shape (r,)
        1 or -1.
    directions : array of shape (d, d) or None, default=None
        Unit vectors, one per row, those of the axes first; None for those of the columns.
    right : {"one", "zero", "height"}, default="one"
        The right side.
    inside : bool, default=True
        Whether the region is where <= holds; for right "one" this is the side of the center.
    names : sequence of str, default=()
        The names of the columns; x1, x2, ... where none are given.

    Examples
    --------
    >>> hyperbola = Quadric([0.0, 0.0], [2.0, 1.0], [1, -1])
    >>> print(hyperbola)
    hyperbola: -0.25 x1^2 + x2^2 + 1 >= 0
    >>> hyperbola.contains([[1.0, 0.0], [3.0, 0.0]])
    array([ True, False])
    """

    center: Vector
    axes: Vector
    signs: Vector
    directions: NDArray[np.float64]
    right: Right
    inside: bool
    names: tuple[str, ...]

    @speaks
    def __init__(
        self,
        center: ArrayLike,
        axes: ArrayLike,
        signs: ArrayLike,
        directions: ArrayLike | None = None,
        right: Right = "one",
        inside: bool = True,
        names: Sequence[str] = (),
    ) -> None:
        self._keep({"center": vector("a center", center), "signs": vector("signs", signs)})
        width, rank = len(self.center), len(self.signs)
        self._keep({"axes": lengths(axes, rank), "right": right, "inside": bool(inside)})
        self._keep({"directions": orthonormal(directions, width), "names": named(names, width)})
        self._check(width, rank)

    def _check(self, width: int, rank: int) -> None:
        if (np.abs(self.signs) != 1).any() or self.right not in ("one", "zero", "height"):
            got = f"got the signs {self.signs.tolist()} and {self.right!r}"
            raise InputError(message('signs of 1 or -1, and "one", "zero" or "height"', got, "See above."))
        if rank + (self.right == "height") > width:
            got = f"got {rank} axes and the right side {self.right!r}"
            raise InputError(message(f"no more than {width} coordinates", got, "Leave an axis out."))

    @property
    def signature(self) -> tuple[int, int, int]:
        """How many squares are added, subtracted, and missing."""
        plus = int((self.signs > 0).sum())
        return plus, len(self.signs) - plus, self.width - len(self.signs)

    @property
    @speaks
    def angle(self) -> float:
        """From the first column to the first axis in the plane, in radians, above -pi/2 and up to pi/2."""
        if self.width != 2:
            needs = "a shape in the plane to have an angle"
            raise InputError(message(needs, f"this is in {self.width} dimensions", "See directions."))
        return direction_angle(self.directions[0])

    @property
    def kind(self) -> str:
        plus, minus, missing = self.signature
        plane = self.width == 2
        if self.right == "height":
            return "parabola" if plane else "paraboloid" if missing == 1 else "cylinder"
        mixed = plus > 0 and minus > 0
        if self.right == "zero":
            return self._degenerate(mixed, missing)
        if mixed:
            return "hyperbola" if plane else "hyperboloid" if missing == 0 else "cylinder"
        if missing == 0:
            return "ellipse" if plane else "ellipsoid"
        return "cylinder" if len(self.axes) > 1 else "parallel lines" if plane else "parallel planes"

    def _degenerate(self, mixed: bool, missing: int) -> str:
        if not mixed:
            return {0: "point", 1: "line", 2: "plane"}.get(missing, "flat")
        if len(self.axes) == 2:
            return "crossing lines" if self.width == 2 else "crossing planes"
        return "cone" if missing == 0 else "cylinder"

    @property
    def terms(self) -> Terms:
        sign = 1.0 if self.inside else -1.0
        rank, rows = len(self.axes), self.directions
        scaled = rows[:rank] / self.axes[:, None]
        matrix = scaled.T @ (self.signs[:, None] * scaled)
        linear = rows[rank] if self.right == "height" else np.zeros(self.width)
        return Terms.of(Quadratic(-sign * matrix, sign * linear, sign * (self.right == "one")), self.center)

    def _value(self, X: NDArray[np.float64]) -> Vector:
        T = (X - self.center) @ self.directions.T
        rank = len(self.axes)
        left = ((T[:, :rank] / self.axes) ** 2) @ self.signs
        right = T[:, rank] if self.right == "height" else float(self.right == "one")
        return np.asarray(right - left if self.inside else left - right)

    def __str__(self) -> str:
        return f"{self.kind}: {self.terms.text(self.names)} >= 0"


def direction_angle(row: Vector) -> float:
    """The angle of a line along a direction of the plane, above -pi/2 and up to pi/2."""
    angle = math.atan2(row[1], row[0])
    if angle > math.pi / 2:
        return angle - math.pi
    return angle + math.pi if angle <= -math.pi / 2 else angle
