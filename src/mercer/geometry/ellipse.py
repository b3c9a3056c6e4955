"""An ellipse in the plane, and an ellipsoid in space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message, speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.base import Shape, listed, place
from mercer.geometry.fields import lengths, named, orthonormal, vector
from mercer.geometry.quadratic import Quadratic
from mercer.geometry.terms import Terms


@dataclass(frozen=True, eq=False, init=False)
class Ellipse(Shape):
    """An ellipse: (t1 / a1)^2 + (t2 / a2)^2 <= 1, or >= 1 for its outside, with t = directions (x - center).

    Parameters
    ----------
    center : array of shape (2,)
        The center.
    axes : array of shape (2,)
        a, the positive semi-axes; those that `region` finds are in descending order.
    angle : float
        From the first column to the first axis, in radians, counter-clockwise; `region` gives -pi/2 < angle <= pi/2.
    inside : bool, default=True
        Whether the region is the inside.
    names : sequence of str, default=()
        The names of the two columns; x1, x2 where none are given.

    Examples
    --------
    >>> import math
    >>> ellipse = Ellipse([1.0, 2.0], [3.0, 1.0], math.pi / 6)
    >>> print(ellipse)
    inside the ellipse of center (x1, x2) = (1, 2), semi-axes 3, 1 and angle 0.523599
    >>> ellipse.directions.round(4)
    array([[ 0.866,  0.5  ],
           [-0.5  ,  0.866]])
    """

    center: Vector
    axes: Vector
    angle: float
    inside: bool
    names: tuple[str, ...]

    @speaks
    def __init__(
        self, center: ArrayLike, axes: ArrayLike, angle: float, inside: bool = True, names: Sequence[str] = ()
    ) -> None:
        point = vector("a center", center)
        if len(point) != 2 or not math.isfinite(angle):
            got = f"got the center {point.tolist()} and the angle {angle}"
            remedy = "In other dimensions use Ellipsoid."
            raise InputError(message("a center of two numbers and a finite angle", got, remedy))
        self._keep({"center": point, "axes": lengths(axes, 2), "angle": float(angle)})
        self._keep({"inside": bool(inside), "names": named(names, 2)})

    @property
    def kind(self) -> str:
        return "ellipse"

    @property
    def directions(self) -> NDArray[np.float64]:
        """The unit vectors along the axes, one per row."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        rows = np.array([[c, s], [-s, c]])
        rows[np.abs(rows) < 2e-16] = 0.0  # a quarter turn, whose angle is a rounded number
        return rows

    @property
    def terms(self) -> Terms:
        return _terms(self.center, self.axes, self.directions, self.inside)

    def _value(self, X: NDArray[np.float64]) -> Vector:
        return _depth(X - self.center, self.axes, self.directions, self.inside)

    def __str__(self) -> str:
        side = "inside" if self.inside else "outside"
        sizes = f"semi-axes {_sizes(self.axes)} and angle {self.angle:.6g}"
        return f"{side} the ellipse of center {place(self.names, self.center, self.axes.max())}, {sizes}"


@dataclass(frozen=True, eq=False, init=False)
class Ellipsoid(Shape):
    """An ellipsoid: sum_i (t_i / a_i)^2 <= 1, or >= 1 for its outside, with t = directions (x - center).

    Parameters
    ----------
    center : array of shape (d,)
        The center.
    axes : array of shape (d,)
        a, the positive semi-axes; those that `region` finds are in descending order.
    directions : array of shape (d, d) or None, default=None
        The unit vectors along the axes, one per row; those of the columns where None.
    inside : bool, default=True
        Whether the region is the inside.
    names : sequence of str, default=()
        The names of the columns; x1, x2, ... where none are given.

    Examples
    --------
    >>> egg = Ellipsoid([0.0, 0.0, 1.0], [3.0, 2.0, 1.0])
    >>> print(egg)
    inside the ellipsoid of center (x1, x2, x3) = (0, 0, 1) and semi-axes 3, 2, 1
    >>> egg.contains([[2.9, 0.0, 1.0], [0.0, 0.0, 2.5]])
    array([ True, False])
    """

    center: Vector
    axes: Vector
    directions: NDArray[np.float64]
    inside: bool
    names: tuple[str, ...]

    @speaks
    def __init__(
        self,
        center: ArrayLike,
        axes: ArrayLike,
        directions: ArrayLike | None = None,
        inside: bool = True,
        names: Sequence[str] = (),
    ) -> None:
        point = vector("a center", center)
        d = len(point)
        self._keep({"center": point, "axes": lengths(axes, d)})
        self._keep({"directions": orthonormal(directions, d)})
        self._keep({"inside": bool(inside), "names": named(names, d)})

    @property
    def kind(self) -> str:
        return "ellipsoid"

    @property
    def terms(self) -> Terms:
        return _terms(self.center, self.axes, self.directions, self.inside)

    def _value(self, X: NDArray[np.float64]) -> Vector:
        return _depth(X - self.center, self.axes, self.directions, self.inside)

    def __str__(self) -> str:
        side = "inside" if self.inside else "outside"
        center = place(self.names, self.center, self.axes.max())
        return f"{side} the ellipsoid of center {center} and semi-axes {_sizes(self.axes)}"


def _terms(center: Vector, axes: Vector, directions: NDArray[np.float64], inside: bool) -> Terms:
    sign = 1.0 if inside else -1.0
    scaled = directions / axes[:, None]
    return Terms.of(Quadratic(-sign * (scaled.T @ scaled), np.zeros(len(center)), sign), center)


def _depth(Y: NDArray[np.float64], axes: Vector, directions: NDArray[np.float64], inside: bool) -> Vector:
    T = (Y @ directions.T) / axes
    depth = 1.0 - np.einsum("ij,ij->i", T, T)
    return np.asarray(depth if inside else -depth)


def _sizes(axes: Vector) -> str:
    return listed([f"{number:.6g}" for number in axes.tolist()])
