"""How many balls a set takes: the packing and covering numbers of rows, and of a cube or a ball."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import InputError, message, speaks
from mercer.kernels.fields import check_integer, check_one_of, check_positive
from mercer.kernels.points import points_from


@speaks
def packing_number(X: Any, r: float) -> int:
    """How many rows are taken one after the other, each farther than r from all that were taken before.

    Balls of radius r/2 around those rows do not meet, and balls of radius r around them cover all rows. So
    `packing_number(X, r)` is between the covering number of r and the packing number of r, the largest number of rows
    that are farther than r from each other. That one is hard to compute; it is at most `packing_number(X, r / 2)`,
    since no ball of radius r/2 holds two of its rows. And no fewer than `packing_number(X, 2 * r)` balls of radius r
    cover the rows. Cost: n m d time for m rows that are taken.

    Parameters
    ----------
    X : array or table of n rows
        The rows, in the order in which they are looked at.
    r : float
        The positive distance, Euclidean.

    Returns
    -------
    int

    Examples
    --------
    >>> from mercer.geometry import packing_number
    >>> packing_number([[0.0], [0.4], [1.0], [1.4], [2.0]], 0.5)
    3

    References
    ----------
    Vershynin, High-Dimensional Probability (2018), section 4.2.
    """
    unit = check_positive("packing_number", "r", r)
    rows = points_from(X).values
    if is_sparse(rows):
        raise InputError(message("a dense table", "got a sparse one", "Use X.toarray()."))
    left, taken = rows, 0
    with np.errstate(over="ignore"):  # infinity is far
        while len(left):
            gaps = (left - left[0]) / unit  # before they are squared: what is no farther than r does not vanish
            left = left[(gaps * gaps).sum(axis=1) > 1.0]
            taken += 1
    return taken


@speaks
def packing_bounds(
    d: int, r: float, *, shape: Literal["cube", "ball"] = "cube", size: float = 1.0
) -> tuple[float, float]:
    """Two bounds, by volumes, between which are the covering and the packing number of r of a cube or a ball.

    Balls of radius r that cover the set have at least its volume. Balls of radius r/2 around points of the set that are
    r or more apart do not meet, and lie in the set with a margin of r/2. With V(r) = pi^(d/2) r^d / Gamma(d/2 + 1), the
    cube of side a has the bounds a^d / V(r) and (a + r)^d / V(r/2), and the ball of radius R has (R/r)^d and
    (1 + 2R/r)^d: c^d with the same c for every d, which no c does for the cube.

    Parameters
    ----------
    d : int
        The number of columns, at least 1.
    r : float
        The positive distance.
    shape : {"cube", "ball"}, default="cube"
        The set.
    size : float, default=1.0
        The side of the cube, or the radius of the ball.

    Returns
    -------
    (float, float)
        Infinity where a bound is larger than all floats.

    Examples
    --------
    >>> from mercer.geometry import packing_bounds
    >>> [round(bound, 2) for bound in packing_bounds(3, 0.25)]
    [15.28, 238.73]
    >>> packing_bounds(3, 0.5, shape="ball")
    (8.0, 125.0)

    References
    ----------
    Vershynin, High-Dimensional Probability (2018), section 4.2.
    """
    d = check_integer("packing_bounds", "d", d, 1, None)
    check_one_of("packing_bounds", "shape", shape, ("cube", "ball"))
    ratio = check_positive("packing_bounds", "size", size) / check_positive("packing_bounds", "r", r)
    if shape == "ball":
        return _power(ratio, d), _power(1 + 2 * ratio, d)
    root = math.exp(math.lgamma(d / 2 + 1) / d) / math.sqrt(math.pi)  # of 1 / V(1)
    return _power(root * ratio, d), _power(2 * root * (1 + ratio), d)


def _power(base: float, exponent: int) -> float:
    """A power, at least one since a set that is not empty takes a ball; infinity where no float holds it."""
    try:
        return max(1.0, base**exponent)
    except OverflowError:
        return math.inf
