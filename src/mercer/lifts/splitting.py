"""How a polynomial kernel is split before it is sketched: a direction set apart, and D features among the degrees.

Let y = (sqrt(offset), x), so that k(x, z) = <y, y'>^p. A unit vector u splits y into a = <u, y> and a rest r, and

    k(x, z) = (a a' + <r, r'>)^p = sum_k C(p, k) (a a')^(p - k) <r, r'>^k.

Each degree k is lifted on its own: exactly where few features suffice, else by a sketch of r. No error comes from u,
and the rest is shorter than y. Were u the direction of the constant, this would be the series of Taylor; it is the
direction in which the data is longest. Whatever u is, E phi(x).phi(z) = k(x, z).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.lifts.axis import Axis
from mercer.lifts.moments import Pairs, Sample
from mercer.lifts.tensor_sketch import fast_length, variance

SAMPLE_ROWS = 128
"""Rows from which the direction and the variances are found."""


@dataclass(frozen=True, eq=False)
class Division:
    """Which degree gets how many of the features.

    axis : the direction that is set apart
    counts : the features of each degree of the rest, from 0 to p
    exact : up to this degree all monomials are features, above it they are sketched; -1 where nothing is split
    """

    axis: Axis
    counts: tuple[int, ...]
    exact: int

    @classmethod
    def whole(cls, columns: int, offset: float, degree: int, total: int) -> Division:
        """Nothing is split: y is sketched as it is."""
        return cls(Axis.of_constant(columns, offset), (*[0] * degree, total), -1)


def divide(rows: Any, offset: float, degree: int, total: int) -> Division:
    """The division with the least variance, in the mean over pairs of some rows.

    The exact degrees are none, or 0 to any q for which there is room. Cost: d m^2 for m = SAMPLE_ROWS rows.
    """
    columns, sample = rows.shape[1], Sample(rows, offset)
    axis = sample.longest()
    pairs, own = sample.split(axis), Axis(axis.head, axis.tail, offset)
    least = float(_variance(sample.whole(), degree, degree, total).mean())
    best = Division.whole(columns, offset, degree, total)
    for exact, counts in _candidates(pairs, degree, total, columns):
        found = sum(float(_variance(pairs, degree, k, counts[k]).mean()) for k in range(exact + 1, degree + 1))
        if found <= least:  # a tie is won by more exact degrees
            least, best = found, Division(own, counts, exact)
    return best


def _variance(pairs: Pairs, degree: int, k: int, width: int) -> Any:
    """The variance of what degree k of the rest adds, for each pair."""
    weight = math.comb(degree, k) * pairs.along ** (degree - k)
    return weight**2 * variance(pairs.dots, pairs.squares, pairs.fourths, k, width)


def _candidates(pairs: Pairs, degree: int, total: int, columns: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The last exact degree, and the features of each, for which there is room."""
    sizes = np.array([float(_variance(pairs, degree, k, total).mean()) for k in range(1, degree + 1)])
    roots = np.sqrt(np.maximum(sizes, 0))
    given: list[int] = []
    for exact in range(degree + 1):
        given.append(math.comb(columns + exact - 1, exact))
        left, sketched = total - sum(given), degree - exact
        if left < sketched:
            return
        yield exact, (*given, *(_shared(left, roots[exact:]) if sketched else ()))


def _shared(total: int, roots: Any) -> list[int]:
    """Features in proportion to the root of each variance, which gives the least sum; at least one each.

    All but the first have fast lengths; the first takes what remains. Where that is degree 1, it needs no transform.
    """
    shares = roots / roots.sum() if roots.sum() > 0 else np.full(len(roots), 1 / len(roots))
    later = [fast_length(1 + int((total - len(roots)) * share)) for share in shares[1:]]
    return [total - sum(later), *later]
