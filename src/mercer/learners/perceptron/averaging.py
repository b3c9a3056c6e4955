"""What a perceptron predicts with: its last function, the mean of all, or a vote of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.learners.data.labels import decided
from mercer.learners.data.validation import shown
from mercer.solvers.perceptron.perceptron import Mistakes

Array = NDArray[np.float64]
LAST, AVERAGED, VOTED = "last", "averaged", "voted"
COMBINATIONS = (LAST, AVERAGED, VOTED)
BLOCK_NUMBERS = 1 << 20
"""Numbers that a vote holds at once, about."""


def check_combine(given: object) -> str:
    """One of the three words."""
    if isinstance(given, str) and given in COMBINATIONS:
        return given
    needs = 'combine that is "last", "averaged" or "voted"'
    raise InputError(message(needs, f"got {shown(given)}", 'Use "averaged" for data with noise.'))


def weights_of(mistakes: Mistakes, seen: int, combine: str) -> Array:
    """How much each mistake counts: 1, or the part of all steps after which it was there."""
    if combine == LAST or seen == 0:
        return np.ones(len(mistakes))
    return (seen - mistakes.steps) / seen


@dataclass(frozen=True, eq=False)
class Vote:
    """Every function that there was votes, as often as it stood: f_k is the sum of the first k mistakes.

    updates : (mistakes, outputs), what each adds to the scores
    stood : (mistakes,), for how many steps the function after each stood
    """

    updates: Array
    stood: Array

    @classmethod
    def of(cls, mistakes: Mistakes, outputs: int, seen: int) -> Vote:
        """Of all functions but the first, which is zero and has no opinion."""
        return cls(mistakes.updates(outputs), np.diff(np.append(mistakes.steps, seen)).astype(np.float64))

    def scores(self, values: Array) -> Array:
        """(rows, outputs): for two classes the votes for the second less those for the first, else for each; as parts.

        values : (rows, mistakes), the kernel between rows and mistakes
        """
        outputs, total = self.updates.shape[1], max(float(self.stood.sum()), 1.0)
        found = np.zeros((len(values), outputs))
        step = max(1, BLOCK_NUMBERS // max(1, values.shape[1] * outputs))
        for start in range(0, len(values), step):
            rows = slice(start, start + step)
            running = np.cumsum(values[rows, :, None] * self.updates, axis=1)
            if outputs == 1:
                found[rows, 0] = np.sign(running[:, :, 0]) @ self.stood
            else:
                chosen = decided(running.reshape(-1, outputs)).reshape(running.shape[:2])
                for output in range(outputs):
                    found[rows, output] = (chosen == output) @ self.stood
        return found / total
