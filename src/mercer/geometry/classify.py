"""From a polynomial to the most specific shape that it is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.errors import NumericalWarning, caller_level
from mercer.geometry.accurate import Vector, dot
from mercer.geometry.ball import Ball
from mercer.geometry.base import Shape
from mercer.geometry.canonical import ZERO, Canonical, canonical, reach
from mercer.geometry.ellipse import Ellipse, Ellipsoid
from mercer.geometry.halfspace import HalfSpace
from mercer.geometry.inequality import Inequality
from mercer.geometry.quadric import Quadric, Right, direction_angle
from mercer.geometry.terms import Terms
from mercer.geometry.whole import Empty, Everything

ROUND = 1e-9
"""An ellipsoid whose longest axis exceeds the shortest by at most this part is a ball."""
DOUBT = 1e-6
"""Sizes that rounding of the weights leaves in greater doubt than this, relative to themselves, are warned of."""
HIDDEN = 1e-4
"""Points, lines and cones are warned of where shapes larger than this, in units, would look the same."""


def classify(terms: Terms, names: Sequence[str]) -> Shape:
    """The most specific shape of {x : p(x) >= 0}, decided from the polynomial alone.

    Terms of the highest degrees count only if they reach 1e-14 of the largest term, at the distance where the first
    term outgrows the constant, and at least at one unit: that of the scalers before the lift, or of the columns.
    """
    degree = _degree(terms)
    if degree == 0:
        return Everything(names) if terms.constant >= 0 else Empty(names)
    if degree == 1:
        return _side(terms, names)
    if degree == 2:
        return _second_degree(canonical(terms), names)
    return Inequality(terms.nonzero(), names)


def _degree(terms: Terms) -> int:
    sizes = np.abs(terms.coefficients) * reach(terms) ** terms.degrees.astype(np.float64)
    counted = sizes > ZERO * sizes.max(initial=0.0)
    return int(terms.degrees[counted].max(initial=0))


def _side(terms: Terms, names: Sequence[str]) -> HalfSpace:
    normal = terms.quadratic().linear / terms.unit
    return HalfSpace(normal, dot(normal, terms.origin, -terms.constant), names)


def _second_degree(found: Canonical, names: Sequence[str]) -> Shape:
    signs = np.sign(found.values)
    if found.slope > 0:
        shape: Shape = _rising(found, names)
    elif abs(signs.sum()) < len(signs):
        shape = _mixed(found, names)
    elif np.sign(found.constant) != -signs[0]:
        shape = _constant_sign(found, signs[0], names)
    else:
        shape = _round(found, names)
    _warn(found, shape)
    return shape


def _constant_sign(found: Canonical, sign: float, names: Sequence[str]) -> Shape:
    """sum_i +-(t_i / a_i)^2 + constant, all of one sign."""
    if sign > 0:
        return Everything(names)
    if found.constant < 0:
        return Empty(names)
    if len(found.values) == len(found.center):
        return Ball(found.center, 0.0, names=names)
    return _quadric(found, found.values / found.values.min(), "zero", True, names)


def _round(found: Canonical, names: Sequence[str]) -> Shape:
    """(t / a)^2 <= 1 or >= 1, the sum over all coordinates or some of them."""
    inside = found.constant > 0
    width = len(found.center)
    if len(found.values) < width:
        return _quadric(found, -found.values / found.constant, "one", inside, names)
    axes = np.sqrt(np.abs(found.constant / found.values))
    order = np.argsort(-axes, kind="stable")
    axes, directions = axes[order], _facing(found.directions[order])
    if axes[0] <= axes[-1] * (1 + ROUND):
        return Ball(found.center, float(axes.mean()), inside, names)
    if width == 2:
        return Ellipse(found.center, axes, direction_angle(directions[0]), inside, names)
    return Ellipsoid(found.center, axes, directions, inside, names)


def _mixed(found: Canonical, names: Sequence[str]) -> Quadric:
    """Squares of both signs: a hyperboloid, or a cone where the constant is zero."""
    if found.constant != 0:
        return _quadric(found, -found.values / found.constant, "one", found.constant > 0, names)
    sign = _majority(found.values)
    values = sign * found.values / np.abs(found.values).max()
    return _quadric(found, values, "zero", sign < 0, names)


def _rising(found: Canonical, names: Sequence[str]) -> Quadric:
    """A paraboloid, turned so that most squares are added and the height grows inwards."""
    sign = _majority(found.values)
    turned = found.directions.copy()
    turned[len(found.values)] *= -sign
    return _quadric(replace(found, directions=turned), sign * found.values / found.slope, "height", sign < 0, names)


def _quadric(found: Canonical, values: Vector, right: Right, inside: bool, names: Sequence[str]) -> Quadric:
    """sum_i values_i t_i^2 <= right: squares that are added first, then the longest axes first."""
    axes = 1 / np.sqrt(np.abs(values))
    order = np.lexsort((-axes, values < 0))
    directions = found.directions.copy()
    directions[: len(order)] = _facing(found.directions[order])
    return Quadric(found.center, axes[order], np.sign(values[order]), directions, right, inside, names)


def _majority(values: Vector) -> float:
    return 1.0 if 2 * (values > 0).sum() >= len(values) else -1.0


def _facing(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same axes, turned so that the largest component is positive."""
    largest = np.abs(directions).argmax(axis=1)
    return np.asarray(directions * np.sign(directions[np.arange(len(directions)), largest])[:, None])


def _warn(found: Canonical, shape: Shape) -> None:
    text, remedy = "Rounding of the weights", "Put a StandardScaler before the lift."
    if isinstance(shape, Empty | Everything) and found.smallest <= HIDDEN:
        return
    if found.smallest > HIDDEN:
        text = f"{text} hides shapes up to {found.smallest:.1g} units; what looks like {shape.kind!r} may be one."
    elif found.doubt > DOUBT:
        text = f"{text} leaves the sizes here ({shape.kind}) in doubt by {found.doubt:.1g} of themselves."
    elif found.blur > DOUBT:
        text = (
            f"The center ({shape.kind}) is so far away that its rounding moves the boundary by {found.blur:.1g} units."
        )
        remedy = "Near the boundary, ask the pipeline itself."
    else:
        return
    warnings.warn(f"{text} {remedy}", NumericalWarning, stacklevel=caller_level())
