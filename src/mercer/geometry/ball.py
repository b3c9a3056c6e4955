"""|x - center| <= radius, or the rest of the space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message, speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.base import Shape, place
from mercer.geometry.fields import named, vector
from mercer.geometry.terms import Terms


@dataclass(frozen=True, eq=False, init=False)
class Ball(Shape):
    """A ball, a circle in the plane, an interval on the line; or its outside.

    It is `r^2 - |x - c|^2 >= 0`, or <= 0 for its outside. On the lift `phi(x) = (x, |x|^2)` it is the halfspace `<(2c,
    -1), phi(x)> >= |c|^2 - r^2`.

    Parameters
    ----------
    center : array of shape (d,)
        c.
    radius : float
        r, at least zero; zero makes it a point.
    inside : bool, default=True
        Whether the region is the inside.
    names : sequence of str, default=()
        The names of the columns; x1, x2, ... where none are given.

    Examples
    --------
    >>> ball = Ball([1.0, 2.0], 3.0)
    >>> print(ball)
    inside the circle of center (x1, x2) = (1, 2) and radius 3
    >>> ball.contains([[1.0, 4.0], [1.0, 5.5]])
    array([ True, False])
    """

    center: Vector
    radius: float
    inside: bool
    names: tuple[str, ...]

    @speaks
    def __init__(self, center: ArrayLike, radius: float, inside: bool = True, names: Sequence[str] = ()) -> None:
        point = vector("a center", center)
        if not 0 <= radius < np.inf:
            needs = "a finite radius from zero on"
            raise InputError(message(needs, f"got {radius}", "Its outside is inside=False."))
        columns = named(names, len(point))
        self._keep({"center": point, "radius": float(radius), "inside": bool(inside), "names": columns})

    @property
    def kind(self) -> str:
        if self.radius == 0:
            return "point"
        return {1: "interval", 2: "circle"}.get(self.width, "ball")

    @property
    def terms(self) -> Terms:
        sign = 1.0 if self.inside else -1.0
        factors = np.full((1 + self.width, 2), -1, dtype=np.intp)
        factors[1:] = np.arange(self.width)[:, None]
        numbers = np.concatenate([[sign * self.radius**2], np.full(self.width, -sign)])
        return Terms(factors, numbers, self.center, np.ones(self.width)).nonzero()

    def _value(self, X: NDArray[np.float64]) -> Vector:
        Y = X - self.center
        depth = self.radius**2 - np.einsum("ij,ij->i", Y, Y)
        return np.asarray(depth if self.inside else -depth)

    def __str__(self) -> str:
        side = "inside" if self.inside else "outside"
        center = place(self.names, self.center, self.radius)
        if self.radius == 0:
            return f"the point {center}" if self.inside else f"outside the point {center}"
        return f"{side} the {self.kind} of center {center} and radius {self.radius:.6g}"
