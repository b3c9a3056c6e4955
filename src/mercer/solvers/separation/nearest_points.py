"""The nearest points of the convex hulls of two sets, in floats: Wolfe's method on both hulls at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
EPS = float(np.finfo(np.float64).eps)
MAX_CYCLES = 4000
"""Rows that are taken in, at most."""
MIN_DECREASE = 1e-14
"""The part by which the squared distance must fall, lest rounding lead in circles."""


@dataclass(frozen=True)
class FloatPoints:
    """Where the method ended.

    rows : positions of the rows of which both points are made, with weights
    weights : not negative; those of each class add up to 1
    difference : the point of the positive hull minus that of the other
    """

    rows: Rows
    weights: Array
    difference: Array


def nearest_points(X: Array, positive: NDArray[np.bool_]) -> FloatPoints:
    """The nearest points of the hull of the positive rows and of that of the others, to rounding.

    Cost: n d for each row that is taken in, and m^2 d for m rows that make the points, of which d + 2 suffice.

    X : (n, d), centred, so that no digit is lost to a far origin

    References
    ----------
    Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
    """
    A = np.where(positive[:, None], X, -X)
    largest = float(np.square(A).sum(axis=1).max(initial=0.0))
    rows = _first(X, positive)
    weights = np.ones(len(rows))
    x = weights @ A[rows]
    for _ in range(MAX_CYCLES):
        values = A @ x
        slack = values - np.where(positive, *(_level(values, rows, positive, side) for side in (True, False)))
        slack[rows] = 0.0
        worst = int(slack.argmin())
        square = float(x @ x)
        if slack[worst] >= -(4 * EPS * largest + 1e-13 * np.sqrt(largest * square)):
            break
        new_rows, new_weights = _settled(A, positive, np.append(rows, worst), np.append(weights, 0.0))
        new_x = new_weights @ A[new_rows]
        if float(new_x @ new_x) >= (1 - MIN_DECREASE) * square:
            break
        rows, weights, x = new_rows, new_weights, new_x
        if float(x @ x) <= (4 * EPS) ** 2 * largest:
            break
    return FloatPoints(rows, weights, x)


def _first(X: Array, positive: NDArray[np.bool_]) -> Rows:
    """A row of each class near to the other class."""
    i = _closest(X, positive, X[~positive].mean(axis=0))
    return np.array([i, _closest(X, ~positive, X[i])], dtype=np.intp)


def _closest(X: Array, among: NDArray[np.bool_], point: Array) -> int:
    rows = np.flatnonzero(among)
    return int(rows[np.square(X[rows] - point).sum(axis=1).argmin()])


def _level(values: Array, rows: Rows, positive: NDArray[np.bool_], side: bool) -> float:
    """The value that all rows of the points have on this side, which no other row falls below at the solution."""
    return float(values[rows[positive[rows] == side]].mean())


def _settled(A: Array, positive: NDArray[np.bool_], rows: Rows, weights: Array) -> tuple[Rows, Array]:
    """The nearest points of some rows of which the last one is new: rows whose weight vanishes are dropped."""
    while True:
        goal = _affine(A[rows], positive[rows])
        if (goal > 0).all():
            return rows, goal
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(goal <= 0, weights / (weights - goal), np.inf)
        first = int(steps.argmin())
        share = min(1.0, float(steps[first]))
        weights = (1 - share) * weights + share * goal
        kept = weights > 0
        kept[first] = False
        for side in (True, False):  # rounding must not empty a side
            own = positive[rows] == side
            if not kept[own].any():
                kept[np.flatnonzero(own)[int(weights[own].argmax())]] = True
        if kept.all():
            return rows, weights
        rows, weights = rows[kept], weights[kept]
        for side in (True, False):
            own = positive[rows] == side
            weights[own] /= weights[own].sum()


def _affine(A: Array, positive: NDArray[np.bool_]) -> Array:
    """The weights, of any sign, of the nearest points of two affine hulls."""
    bases = [int(np.flatnonzero(positive == side)[0]) for side in (True, False)]
    others = np.setdiff1d(np.arange(len(A)), bases)
    base = np.where(positive[others], *bases)
    found = np.zeros(len(A))
    found[bases] = 1.0
    if len(others):
        t = _least_squares((A[others] - A[base]).T, -(A[bases[0]] + A[bases[1]]))
        found[others] = t
        np.subtract.at(found, base, t)
    return found


def _least_squares(D: Array, right: Array) -> Array:
    """The weights of columns that are independent, but for rounding, for the sum that is nearest to the right side."""
    Q, R = np.linalg.qr(D)
    sizes = np.abs(np.diag(R))
    if R.shape[0] < R.shape[1] or sizes.min() <= EPS * sizes.max():
        return np.asarray(np.linalg.lstsq(D, right, rcond=None)[0])
    return np.asarray(solve_triangular(R, Q.T @ right, check_finite=False))
