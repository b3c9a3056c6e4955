"""The nearest points of two convex hulls, exactly: Wolfe's method in integers, from where floats have ended."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.separation.integers import IntegerRows, Integers, as_floats, independent, solved

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
EPS = float(np.finfo(np.float64).eps)
MAX_ROWS = 66
"""Rows of which both points may be made: those of 64 dimensions. Systems of so many long integers take a second."""
MAX_CYCLES = 200
"""Rows that are taken in after the floats, at most."""


@dataclass(frozen=True)
class ExactPoints:
    """The nearest points of both hulls.

    rows, weights : what they are made of; the positive weights of each class add up to 1
    difference : the point of the positive hull minus that of the other; all 0 where the hulls meet
    low, high : the largest product of a row of the other class with it, and the smallest one of the positive class
    """

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    difference: tuple[Fraction, ...]
    low: Fraction
    high: Fraction

    @property
    def meet(self) -> bool:
        """Whether both hulls have this point in common."""
        return not any(self.difference)


def exact_points(X: Array, positive: NDArray[np.bool_], start: Rows) -> ExactPoints | None:
    """The nearest points, exactly; None where they would take too long.

    start : rows of which they are probably made, some of each class
    """
    if len(start) > MAX_ROWS:
        return None
    table = IntegerRows(X)
    rows = _independent(table, positive, start.tolist())
    weights = _even(rows, positive)
    for _ in range(MAX_CYCLES):
        rows, weights = _settled(table, positive, rows, weights)
        whole, unit = _difference(table, positive, rows, weights)
        if not whole.any():
            return ExactPoints(tuple(rows), tuple(weights), (Fraction(0),) * X.shape[1], Fraction(0), Fraction(0))
        levels = {bool(positive[row]): table[row] @ whole for row in rows}
        worst = _violator(X, positive, table, whole, levels)
        if worst is None:
            size, square = unit * table.unit, unit * table.unit**2
            difference = tuple(size * number for number in whole)
            low, high = square * levels[False], square * levels[True]
            return ExactPoints(tuple(rows), tuple(weights), difference, low, high)
        if len(rows) == MAX_ROWS:
            return None
        rows, weights = [*rows, worst], [*weights, Fraction(0)]
    return None


def _even(rows: list[int], positive: NDArray[np.bool_]) -> list[Fraction]:
    """Equal weights for all rows of a class."""
    counts = {side: sum(bool(positive[row]) == side for row in rows) for side in (True, False)}
    return [Fraction(1, counts[bool(positive[row])]) for row in rows]


def _signed(table: IntegerRows, positive: NDArray[np.bool_], row: int) -> Integers:
    return table[row] if positive[row] else -table[row]


def _directions(
    table: IntegerRows, positive: NDArray[np.bool_], rows: list[int]
) -> tuple[Integers, list[int], list[int]]:
    """From the first row of each class to its others; positions of the first ones and of the others in `rows`."""
    sides = [bool(positive[row]) for row in rows]
    bases = [sides.index(True), sides.index(False)]
    others = [k for k in range(len(rows)) if k not in bases]
    signed = [_signed(table, positive, row) for row in rows]
    D = np.empty((len(others), len(signed[0])), dtype=object)
    for place, k in enumerate(others):
        D[place] = signed[k] - signed[bases[0] if sides[k] else bases[1]]
    return D, bases, others


def _independent(table: IntegerRows, positive: NDArray[np.bool_], rows: list[int]) -> list[int]:
    """The rows without those that depend on others, so that the nearest points have one set of weights only."""
    D, bases, others = _directions(table, positive, rows)
    kept = [others[k] for k in independent(D @ D.T)] if others else []
    return [rows[k] for k in (*bases, *kept)]


def _settled(
    table: IntegerRows, positive: NDArray[np.bool_], rows: list[int], weights: list[Fraction]
) -> tuple[list[int], list[Fraction]]:
    """The nearest points of some independent rows; those whose weight vanishes are dropped."""
    while True:
        goal = _affine(table, positive, rows)
        if all(one >= 0 for one in goal):
            kept = [k for k, one in enumerate(goal) if one]
            return [rows[k] for k in kept], [goal[k] for k in kept]
        share = min(w / (w - g) for w, g in zip(weights, goal, strict=True) if g < 0)
        moved = [w + share * (g - w) for w, g in zip(weights, goal, strict=True)]
        kept = [k for k, one in enumerate(moved) if one]
        rows, weights = [rows[k] for k in kept], [moved[k] for k in kept]


def _affine(table: IntegerRows, positive: NDArray[np.bool_], rows: list[int]) -> list[Fraction]:
    """The weights, of any sign, of the nearest points of two affine hulls."""
    D, bases, others = _directions(table, positive, rows)
    found = [Fraction(1)] * len(rows)
    if not others:
        return found
    between = sum(_signed(table, positive, rows[k]) for k in bases)
    answer = solved(D @ D.T, -(D @ between))
    if answer is None:
        raise ArithmeticError("rows depend on each other")
    numerators, denominator = answer
    for k, number in zip(others, numerators, strict=True):
        found[k] = Fraction(number, denominator)
        found[bases[0] if positive[rows[k]] else bases[1]] -= found[k]
    return found


def _difference(
    table: IntegerRows, positive: NDArray[np.bool_], rows: list[int], weights: list[Fraction]
) -> tuple[Integers, Fraction]:
    """The difference of both points as integers, and their unit, without that of the table."""
    common = int(np.lcm.reduce(np.array([one.denominator for one in weights], dtype=object)))
    parts = [
        _signed(table, positive, row) * (one.numerator * (common // one.denominator))
        for row, one in zip(rows, weights, strict=True)
    ]
    total = np.sum(np.array(parts, dtype=object), axis=0)
    shared = abs(int(np.gcd.reduce(total))) or 1
    return total // shared, Fraction(shared, common)


def _violator(
    X: Array, positive: NDArray[np.bool_], table: IntegerRows, whole: Integers, levels: dict[bool, int]
) -> int | None:
    """The row that is farthest on the wrong side of its level; None where there is none.

    Floats decide what is clear; rows that are nearer to their level than rounding are looked at in integers.
    """
    largest, home = max(abs(number) for number in whole), int(np.flatnonzero(positive)[0])
    direction, moved = as_floats(whole, Fraction(1, largest)), X - X[home]
    origin, sign = table[home] @ whole, np.where(positive, 1.0, -1.0)
    bars = np.where(positive, *as_floats([levels[True] - origin, levels[False] - origin], table.unit / largest))
    slack = sign * (moved @ direction - bars)
    doubt = (X.shape[1] + 8) * EPS * (np.abs(moved) @ np.abs(direction) + np.abs(bars))
    if (slack < -doubt).any():
        return int((slack + doubt).argmin())
    unclear = np.flatnonzero(slack <= doubt).tolist()
    exact = {row: int(sign[row]) * (table[row] @ whole - levels[bool(positive[row])]) for row in unclear}
    worst = min(exact, key=lambda row: exact[row])  # the rows of the points themselves are among them
    return worst if exact[worst] < 0 else None
