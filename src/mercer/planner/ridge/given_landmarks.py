"""What it costs that a Nystrom lift which was given learns its landmarks by its own rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.planner.landmarks import FEWEST, drawing, drawn_numbers
from mercer.planner.limits import Limits

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

GIVEN, HELD = 1 << 25, 32
"""It draws them from so many rows that their values at landmarks are so many numbers (`mercer.lifts.landmarks.HELD`);
and the bytes of the limit for each number."""


def learning(task: RidgeTask, limits: Limits) -> tuple[float, float]:
    """Seconds and numbers; nothing where no such lift was given."""
    if task.n_landmarks is None or not task.stored:
        return 0.0, 0.0
    requested = task.requested or task.n_landmarks
    rows = min(task.rows, max(FEWEST * requested, min(GIVEN // requested, limits.bytes // HELD // requested)))
    return drawing(task, rows, task.n_landmarks, limits), drawn_numbers(rows, requested, task.n_landmarks)
