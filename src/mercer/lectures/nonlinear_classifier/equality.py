"""Whether features have the inner product that a formula states: exercises 19 and 20."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mercer.lectures.verdict import Verdict

Table = NDArray[np.float64]
ROUNDING = 1e-12
"""Of values of at most a hundred, of numbers with a root of 2 in them."""


def compared(
    phi: Callable[[Table], Table], kernel: Callable[[Table, Table], Table], columns: int, degree: int
) -> Verdict:
    """Whether phi(x).phi(z) = k(x, z), where both are polynomials of at most that degree in each coordinate.

    Such a polynomial is zero everywhere if it is zero on a grid of degree + 1 values per coordinate. So a few points
    prove that two are equal, and the shortest of these points where they differ is shown.
    """
    values = sorted(range(-(degree // 2), degree - degree // 2 + 1), key=abs)
    points = np.array(sorted(product(values, repeat=columns), key=lambda x: (sum(map(abs, x)), [-v for v in x])), float)
    left, right = phi(points) @ phi(points).T, kernel(points, points)
    differ = np.argwhere(np.abs(left - right) > ROUNDING)
    if not len(differ):
        count = len(points) ** 2
        return Verdict(True, f"both are equal at {count:,} pairs of points, which is enough for this degree.", None)
    i, j = min(differ.tolist(), key=lambda pair: (sum(pair), pair))
    x, z = (f"({', '.join(f'{value:g}' for value in points[k])})" for k in (i, j))
    why = f"phi(x).phi(z) is {left[i, j]:.6g} and k(x, z) is {right[i, j]:.6g} at x = {x}, z = {z}."
    return Verdict(False, why, (points[i], points[j]))
