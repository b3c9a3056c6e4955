"""Whether a plane has all points of one set strictly on one side and all of the other on the other: yes, or no."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.separation.exact_points import ExactPoints, exact_points
from mercer.solvers.separation.integers import IntegerRows, as_floats
from mercer.solvers.separation.nearest_points import FloatPoints, nearest_points

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
EPS = float(np.finfo(np.float64).eps)
MEETING_DISTANCE = 1e-12
"""Hulls that are nearer than this, in units of the half-width of the points, meet but for rounding."""
FEW_ROWS = 24
"""Rows up to which nearest points are found exactly, at negligible cost; of more the plane of floats is tried first."""


@dataclass(frozen=True, eq=False)
class Plane:
    """normal . f + intercept is positive at all points of one set, and negative at all of the other.

    normal, intercept : in floats; the normal has length 1
    margin : half of the distance of both hulls
    holds : whether these floats separate the points, in exact arithmetic
    exact : a normal and an intercept for which that was verified, scaled so that the nearest points have the values 1
        and -1, but for rounding where more than `FEW_ROWS` rows make them
    rows, weights : the points of the hulls that are nearest to each other; weights of each set add up to 1
    """

    normal: Array
    intercept: float
    margin: float
    holds: bool
    exact: tuple[Fraction, ...]
    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Meeting:
    """Both hulls have a point in common, so that there is no plane.

    rows, weights : what it is made of in either hull; the weights of each set add up to 1
    residual : how far both are apart, relative to their half-width: 0 where the weights are exact
    """

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    residual: float


@dataclass(frozen=True, eq=False)
class Undecided:
    """Neither was shown.

    distance : of the points of both hulls that were found, relative to their half-width
    """

    distance: float


def separate(F: Array, positive: NDArray[np.bool_]) -> Plane | Meeting | Undecided:
    """A plane between two sets of points, or a point of both hulls, verified in exact arithmetic.

    Floats find the nearest points of both hulls, and integers finish them where few enough rows make them: of n points
    in d dimensions d + 2 suffice. Beyond `exact_points.MAX_ROWS` rows only planes are verified.

    F : (n, d), finite
    positive : which of the points are of the positive set; both have some
    """
    pair = equal_points(F, positive)
    if pair is not None:
        return Meeting(pair, (Fraction(1), Fraction(1)), 0.0)
    low, high = F.min(axis=0), F.max(axis=0)
    centred = F - (low / 2 + high / 2)
    width = float(np.abs(centred).max())
    found = nearest_points(centred / width, positive)
    if len(found.rows) > FEW_ROWS and (rough := _by_floats(F, positive, found, width)) is not None:
        return rough
    exact = exact_points(F, positive, found.rows)
    if exact is not None:
        return Meeting(exact.rows, exact.weights, 0.0) if exact.meet else _plane(F, positive, exact)
    distance = float(np.linalg.norm(found.difference))
    if distance <= MEETING_DISTANCE:
        return Meeting(tuple(found.rows.tolist()), tuple(map(Fraction, found.weights.tolist())), distance)
    return Undecided(distance)


def equal_points(F: Array, positive: NDArray[np.bool_]) -> tuple[int, int] | None:
    """A point of the positive set and an equal one of the other."""
    F = F + 0.0  # -0 is 0
    order = np.lexsort(F.T) if F.shape[1] else np.arange(len(F))
    equal = (F[order[1:]] == F[order[:-1]]).all(axis=1)
    groups = np.concatenate([[0], np.cumsum(~equal)])
    mixed = np.intersect1d(groups[positive[order]], groups[~positive[order]])
    if not len(mixed):
        return None
    rows = np.sort(order[groups == mixed[0]])
    return int(rows[positive[rows]][0]), int(rows[~positive[rows]][0])


def _plane(F: Array, positive: NDArray[np.bool_], exact: ExactPoints) -> Plane:
    """The plane halfway between the nearest points, in floats where these are good enough."""
    longest = max(map(abs, exact.difference))
    rough = as_floats(exact.difference, 1 / longest)
    length = float(np.linalg.norm(rough))
    normal, margin = rough / length, float(longest * Fraction(length)) / 2
    square, middle = sum(number * number for number in exact.difference), (exact.low + exact.high) / 2
    canonical = (*(2 * number / square for number in exact.difference), -2 * middle / square)
    intercept = _threshold(F, positive, normal)
    holds = intercept is not None
    if intercept is None:
        intercept = -float(middle / longest / Fraction(length))
    return Plane(normal, intercept, margin, holds, canonical, exact.rows, exact.weights)


def _threshold(X: Array, positive: NDArray[np.bool_], normal: Array) -> float | None:
    """The intercept halfway between both sets along a normal; None where no float is strictly between them."""
    table = IntegerRows(np.vstack([normal, X]))
    direction, home = table[0], int(np.flatnonzero(positive)[0])
    moved = X - X[home]
    values = moved @ normal
    doubt = (X.shape[1] + 4) * EPS * (np.abs(moved) @ np.abs(normal))
    ends = []
    for side, sign in ((False, -1), (True, 1)):
        rows = np.flatnonzero(positive == side)
        upper = (sign * values[rows] + doubt[rows]).min()
        near = rows[sign * values[rows] - doubt[rows] <= upper].tolist()
        ends.append(sign * min(sign * (table[row + 1] @ direction) for row in near))
    middle = -float(Fraction(ends[0] + ends[1], 2) * table.unit**2)
    low, high = (Fraction(end) * table.unit**2 for end in ends)
    return middle if low < -Fraction(middle) < high else None


def _by_floats(F: Array, positive: NDArray[np.bool_], found: FloatPoints, width: float) -> Plane | None:
    """The plane that floats found, if it separates; else None."""
    distance = float(np.linalg.norm(found.difference))
    if distance == 0:
        return None
    normal = found.difference / distance
    intercept = _threshold(F, positive, normal)
    if intercept is None:
        return None
    margin, weights = distance / 2 * width, tuple(map(Fraction, found.weights.tolist()))
    canonical = tuple(Fraction(number) / Fraction(margin) for number in (*normal.tolist(), intercept))
    return Plane(normal, intercept, margin, True, canonical, tuple(found.rows.tolist()), weights)
