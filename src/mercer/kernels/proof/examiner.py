"""Gram matrices under examination: which weights make a set of points most negative, and how clearly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

# A form counts as negative below -CLEAR times the sum of its absolute terms: far above the 1e-16 or so
# of rounding in each term, so that it survives recomputation with more digits.
CLEAR = 1e-9
SEED = 20240229


@dataclass(frozen=True, eq=False)
class Candidate:
    """Points, their most negative weights (largest 1), and how negative.

    ratio is the smallest eigenvalue of K after scaling its diagonal to 1, which does not depend on the
    units of k; clear says that the form is negative beyond doubt.
    """

    points: Array
    weights: Array
    ratio: float
    value: float
    clear: bool


class Examiner:
    """Evaluates Gram matrices in the domain and counts them."""

    def __init__(self, gram: Map, place: Map) -> None:
        self._gram = gram
        self._place = place
        self._seen: set[bytes] = set()
        self.trials = 0

    def placed(self, points: Array) -> Array:
        """Map points into the domain, one for one."""
        with np.errstate(all="ignore"):
            return np.asarray(self._place(points), dtype=np.float64)

    def gram(self, points: Array) -> Array | None:
        """Return the Gram matrix, or None where it is not finite."""
        self.trials += 1
        with np.errstate(all="ignore"):
            matrix = np.asarray(self._gram(points), dtype=np.float64)
        return 0.5 * (matrix + matrix.T) if np.isfinite(matrix).all() else None

    def examine(self, points: Array) -> Candidate | None:
        """Place points, merge those that coincide, and return weights that make them negative, if any."""
        return self._judge(self._settled(points))

    def examine_new(self, points: Array) -> Candidate | None:
        """Examine points unless the same set, once placed, was examined before."""
        settled = self._settled(points)
        if settled is not points:
            key = np.round(settled, 12).tobytes()
            if key in self._seen:
                return None
            self._seen.add(key)
        return self._judge(settled)

    def _settled(self, points: Array) -> Array:
        """Return the distinct points of the domain that these are mapped to: the same array if unmoved."""
        placed = self.placed(points)
        return points if np.array_equal(placed, points) else distinct(placed)

    def _judge(self, points: Array) -> Candidate | None:
        matrix = self.gram(points) if len(points) else None
        return None if matrix is None else most_negative(points, matrix)

    def stays(self, points: Array) -> bool:
        """Whether the domain has these very points, all distinct."""
        return bool(np.array_equal(self.placed(points), points)) and len(distinct(points)) == len(points)

    def stationary(self, d: int, scale: float) -> bool:
        """Whether a shift seems to leave the Gram matrix alone, so that shifted sets add nothing."""
        points = scale * np.random.default_rng(SEED).normal(size=(4, d))
        moved = points + scale * np.linspace(0.7, 1.3, d)
        if not self.stays(points) or not self.stays(moved):
            return False
        first, second = self.gram(points), self.gram(moved)
        return first is not None and second is not None and bool(np.allclose(first, second, 1e-6, 1e-9))


def distinct(points: Array) -> Array:
    """Drop rows that are not finite or repeat an earlier row to 12 digits."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:
        return points
    size = float(np.max(np.abs(points))) or 1.0
    _, first = np.unique(np.round(points / size, 12), axis=0, return_index=True)
    return points if len(first) == len(points) else points[np.sort(first)]


def most_negative(points: Array, matrix: Array) -> Candidate | None:
    """Return the eigenvector of the smallest eigenvalue of the normalised matrix, if negative, as weights."""
    top = float(np.max(np.abs(matrix)))
    if top < 1e-290:
        return None
    # The floor keeps rounding in a diagonal that cancels from being blown up by the normalisation.
    unit = np.sqrt(np.maximum(np.diag(matrix) / top, 1e-6))
    normalised = matrix / top / np.outer(unit, unit)
    if np.linalg.eigvalsh(normalised)[0] > -1e-12:  # half the cost, and nearly always the answer
        return None
    values, vectors = np.linalg.eigh(normalised)
    ratio = float(values[0])
    # Where the diagonal is uneven the plain eigenvector may show more; the reader gets the better of the two.
    choices = [vectors[:, 0] / unit, np.linalg.eigh(matrix)[1][:, 0]]
    return min((weighed(points, matrix, weights, ratio) for weights in choices), key=lambda each: each.value)


def weighed(points: Array, matrix: Array, weights: Array, ratio: float) -> Candidate:
    """Scale the weights so that the largest is 1 and judge their quadratic form."""
    weights = weights / weights[np.argmax(np.abs(weights))]
    value = float(weights @ matrix @ weights)
    size = np.abs(weights)
    noise = 1e-13 * float(np.max(np.abs(matrix))) * float(size.sum()) ** 2
    total = float(size @ np.abs(matrix) @ size)
    return Candidate(points, weights, ratio, value, value < -CLEAR * total - noise)
