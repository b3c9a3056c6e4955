"""Making a witness readable: fewer points, fewer decimals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mercer.kernels.proof.examiner import Array, Candidate, Examiner, most_negative, weighed

# Simplifying may give away this much of the negative value.
MIN_KEPT_RATIO = 0.3


def simplify(examiner: Examiner, found: Candidate) -> Candidate:
    """Use fewer points, then fewer decimals in the points, then fewer in the weights."""
    fewer = _fewer_points(examiner, found)
    return _rounded_weights(examiner, _rounded_points(examiner, fewer))


def _fewer_points(examiner: Examiner, found: Candidate) -> Candidate:
    """Leave out points as long as the rest stay clearly negative."""
    best, matrix = found, examiner.gram(found.points)
    while matrix is not None and len(best.points) > 1:
        choices = []
        for i in np.argsort(np.abs(best.weights))[: 24 if len(best.points) <= 24 else 4]:
            rest = np.delete(np.arange(len(best.points)), i)
            candidate = most_negative(best.points[rest], matrix[np.ix_(rest, rest)])
            if candidate is not None and candidate.clear and candidate.ratio <= MIN_KEPT_RATIO * found.ratio:
                choices.append((candidate.ratio, int(i), candidate))
        if not choices:
            break
        _, left_out, best = min(choices, key=lambda choice: choice[:2])
        matrix = np.delete(np.delete(matrix, left_out, 0), left_out, 1)
    return best


def _rounded_points(examiner: Examiner, found: Candidate) -> Candidate:
    """Round the coordinates to the fewest decimals that keep the value clearly negative."""
    for points in _roundings(found.points):
        if examiner.stays(points):
            candidate = examiner.examine(points)
            if candidate is not None and candidate.clear and candidate.ratio <= MIN_KEPT_RATIO * found.ratio:
                return candidate
    return found


def _rounded_weights(examiner: Examiner, found: Candidate) -> Candidate:
    """Round the weights likewise; points whose weight becomes 0 go."""
    for weights in _roundings(found.weights):
        used = weights != 0.0
        matrix = examiner.gram(found.points[used])
        if matrix is not None:
            candidate = weighed(found.points[used], matrix, weights[used], found.ratio)
            if candidate.clear and candidate.value <= MIN_KEPT_RATIO * found.value:
                return candidate
    return found


def _roundings(values: Array) -> Iterator[Array]:
    """Yield the values with one significant digit of the largest, then two, and so on up to nine."""
    size = float(np.max(np.abs(values)))
    first = -int(np.floor(np.log10(size))) if size > 0.0 else 0
    for digits in range(first, first + 9):
        yield np.round(values, digits) + 0.0  # adding 0 turns -0 into 0
