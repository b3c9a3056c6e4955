"""What it costs to draw landmarks: a randomly pivoted Cholesky factor of the rows that they are drawn from."""

from __future__ import annotations

from mercer.planner.limits import Limits, Table

STRIPS = 3 << 20
"""Numbers of rows that workers have in hand, and of the kernel of some pairs, about: 24 MB."""
DRAWN, TIMES, FEWEST = 1 << 24, 4, 2
"""Landmarks are drawn from so many rows that their values at landmarks are so many numbers (128 MB), or from four rows
a landmark, where that is more; from two, where memory is short."""
MANY = 1 << 14
"""Landmarks above which a card draws from two rows for each: they are half of these in any case."""
GROWING = 1.5
"""Room of the columns that a card draws landmarks with, which grows, in units of the columns."""
PIVOTED = 3.0
"""Operations for each row and pair of landmarks, in units of a product: pivots are drawn in blocks."""


def drawn_from(rows: int, landmarks: int, limits: Limits) -> int:
    """How many of the rows so many landmarks are drawn from: fewer where memory is short, but at least two for each."""
    times = FEWEST if limits.on_card and landmarks > MANY else TIMES
    wanted, room = max(times * landmarks, DRAWN // landmarks), limits.bytes / 8 - float(landmarks) ** 2
    fitting = int(max(room / 2, room - STRIPS)) // landmarks
    return min(rows, max(FEWEST * landmarks, min(wanted, fitting)))


def drawn_numbers(rows: int, landmarks: int, kept: int | None = None) -> float:
    """Numbers that are held while landmarks are drawn from so many rows: their factor, its triangle, and strips.

    kept : how many are found, where those are fewer
    """
    factor, found = float(rows) * landmarks, float(rows) * (landmarks if kept is None else kept)
    return factor + float(landmarks) ** 2 + min(found, STRIPS)


def drawing(table: Table, rows: int, landmarks: int, limits: Limits) -> float:
    """Seconds to draw so many landmarks from so many rows."""
    machine = limits.machine
    pairs = limits.pair(table, double=True) * rows * landmarks + machine.store(float(rows) * landmarks)
    return pairs + machine.multiply(PIVOTED * rows * float(landmarks) ** 2) + machine.cholesky(landmarks)
