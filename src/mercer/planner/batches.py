"""Batches: how many rows a streaming method takes at once, and what it holds meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.backends.base import Layout
from mercer.backends.lanes import height
from mercer.compute.runtime.threads import available
from mercer.planner.limits import Limits, Table

BLOCK = 1 << 22
"""Numbers in a block of features, about: 32 MB."""
MOST, COPIES = 1 << 16, 4.0
"""Rows of a batch, at most, and how often they are held: as they are, checked, and scaled."""
LEAST = 64
"""Rows of a batch, where memory is short."""
MADE = 1.2
"""Numbers for each one in a block of features: some lifts hold a part of it once more while they make it."""
WORK = 1 << 36
"""Operations between two looks at the clock, about: a second. At the end of each, workers wait for each other."""
CORES = 1e12
"""Operations per second that cores reach at most, about: batches are made for these."""
FEW, SPREAD = 4, 1 << 25
"""So many lanes have sums of their own anyway: there is room for as many when they are decomposed; more lanes only
where their sums are so many numbers at most (256 MB)."""


def layout() -> Layout:
    """A lane for each thread of the plan that is followed, or of this process where none is."""
    return Layout(available())


def squaring(width: int) -> Layout:
    """The lanes for sums of `width`^2 numbers each: all, or one that has all threads, where that is too much."""
    workers = available()
    return Layout(workers) if workers <= FEW or workers * width**2 <= SPREAD else Layout(1, threads=workers)


@dataclass(frozen=True)
class RawBlock:
    """The raw functions of a batch: of so many rows at once, so many numbers for each; and rows of a batch at most."""

    rows: int
    numbers: float
    most: int


def strips(width: int, lanes: Layout, operations: float) -> RawBlock:
    """Strips of values at landmarks, one for each lane; each value takes part in so many operations."""
    rows = lanes.lanes * height(width, lanes)
    return RawBlock(rows, float(width), rows * max(1, int(WORK / (operations * width * rows))))


def features_at_once(width: int) -> RawBlock:
    """Blocks of features, with what a lift holds to make them."""
    rows = max(LEAST, BLOCK // width)
    return RawBlock(rows, MADE * width, rows)


@dataclass(frozen=True)
class Batch:
    """So many rows at once, and the numbers that are held in all."""

    rows: int
    numbers: float


def batch(table: Table, fixed: float, block: RawBlock, limits: Limits) -> Batch:
    """As many rows as all workers do in a while, or as the memory leaves beside `fixed` numbers."""
    room, row = max(0.0, limits.bytes / 8 - fixed), COPIES * (table.columns + table.outputs)
    tall = room > block.rows * (block.numbers + row)
    left = (room - block.rows * block.numbers) / row if tall else room / (block.numbers + row)
    faster = max(1.0, limits.machine.products / CORES)  # what a card does in a moment is many rows
    rows = min(table.rows, max(LEAST, int(min(faster * min(block.most, MOST, COPIES * BLOCK / row), left))))
    return Batch(rows, fixed + rows * row + min(rows, block.rows) * block.numbers)
