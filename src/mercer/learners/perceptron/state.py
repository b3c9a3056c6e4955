"""The state of a perceptron: passes over rows, and what is left of them when they are gone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes, within
from mercer.compute.runtime.run import Run, Stopped
from mercer.learners.data.rows import n_rows
from mercer.learners.data.views import View, blocks
from mercer.learners.perceptron.averaging import VOTED, Vote, weights_of
from mercer.solvers.perceptron.budget import Budgeted, Memory
from mercer.solvers.perceptron.perceptron import MistakeLog, Mistakes, Space, margins, one_pass, rivals

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PerceptronState:
    """What was learned so far.

    mistakes : their rows are positions in `view`
    view : the rows that are remembered: those of mistakes
    numbers : (remembered,), the position of each among all rows that were given, in all calls
    seen : how many rows were seen, in all passes
    given : how many rows were given, in all calls
    memory : on a budget, in place of mistakes
    """

    mistakes: Mistakes
    view: View
    numbers: Rows
    seen: int = 0
    given: int = 0
    memory: Memory | None = None

    def _inconsistency(self) -> str:
        size = self.numbers.size
        if self.view.count != size:
            return f"got {self.view.count} rows under {size} numbers"
        if not within(self.mistakes.rows, 0, size):
            return "mistakes name rows that are not remembered"
        if self.memory is not None and self.memory.used != size:
            return f"{self.memory.used} slots are taken for {size} rows"
        return shapes((self.numbers, (size,)))

    def coefficients(self, outputs: int, combine: str) -> Array:
        """(remembered, outputs): f(x) = sum_j of these times k(x, x_j)."""
        if self.memory is not None:
            return self.memory.coefficients[: self.memory.used]
        found = np.zeros((len(self.numbers), outputs))
        weights = weights_of(self.mistakes, self.seen, combine)
        np.add.at(found, self.mistakes.rows, weights[:, None] * self.mistakes.updates(outputs))
        return found

    @property
    def length(self) -> int:
        """How many rows were given, in all calls."""
        return max(self.given, int(self.numbers.max(initial=-1)) + 1)

    def mistakes_of_rows(self) -> Rows:
        """(given,): how many mistakes each row made, of all that were given."""
        return np.bincount(self.numbers[self.mistakes.rows], minlength=self.length).astype(np.intp)

    @property
    def compared(self) -> int:
        """With how many rows each new row is compared, where a card can do that; else 0."""
        return self.view.count if self.view.on_card else 0

    def scores(self, rows: Any, outputs: int, combine: str) -> Array:
        """(rows, outputs), of new rows as they were read."""
        if len(self.numbers) == 0:
            return np.zeros((n_rows(rows), outputs))
        if combine != VOTED:
            return np.asarray(self.view.cross(rows) @ self.coefficients(outputs, combine))
        vote, K = Vote.of(self.mistakes, outputs, self.seen), self.view.cross(rows)
        parts = blocks(n_rows(rows), max(1, len(self.mistakes)))
        everything = np.arange(len(self.numbers))
        return np.concatenate([vote.scores(K.block(part, everything)[:, self.mistakes.rows]) for part in parts])


class Updater(ABC):
    """Makes the passes, and knows what is remembered of the rows at hand."""

    @abstractmethod
    def one_pass(self, order: Rows, log: MistakeLog, run: Run) -> None:
        """All rows once, in an order."""

    @abstractmethod
    def state(self, view: View, numbers: Rows, log: MistakeLog, given: int) -> PerceptronState:
        """What is known after the passes; rows without mistakes are let go.

        view : all rows at hand, to which positions in the log belong
        numbers : their positions among all that were given, in all calls
        given : how many these are
        """


@dataclass(frozen=True, eq=False)
class FullUpdater(Updater):
    """All mistakes are remembered."""

    space: Space
    classes: Rows

    def one_pass(self, order: Rows, log: MistakeLog, run: Run) -> None:
        one_pass(self.space, order, self.classes, log, run)

    def state(self, view: View, numbers: Rows, log: MistakeLog, given: int) -> PerceptronState:
        mistakes = log.mistakes
        kept, places = np.unique(mistakes.rows, return_inverse=True)
        return PerceptronState(
            replace(mistakes, rows=places.astype(np.intp)), view.chosen(kept), numbers[kept], log.seen, given
        )


@dataclass(frozen=True, eq=False)
class BudgetUpdater(Updater):
    """So many rows are remembered, and no more."""

    learner: Budgeted
    classes: Rows

    def one_pass(self, order: Rows, log: MistakeLog, run: Run) -> None:
        self.learner.one_pass(order, self.classes, log, run)

    def state(self, view: View, numbers: Rows, log: MistakeLog, given: int) -> PerceptronState:
        kept = self.learner.support
        return PerceptronState(Mistakes.none(), view.chosen(kept), numbers[kept], log.seen, given, self.learner.memory)


def run_passes(updater: Updater, orders: Iterable[Rows], log: MistakeLog, run: Run) -> str:
    """Passes until one makes no mistake, or the orders are over; why they ended early, "" where they did not."""
    try:
        with run.stoppable():
            for order in orders:
                updater.one_pass(order, log, run)
                if log.history[-1] == 0:
                    break
    except Stopped as stopped:
        return f"Stopped in pass {len(log.history)}: {stopped}."
    return ""


def separation(scores: Array, right: Rows, coefficients: Array, at: Array, longest: float) -> tuple[float, float]:
    """The margin that f reaches, min_i y_i f(x_i) / |f|, and the most mistakes that it allows, (R / margin)^2.

    With more than two classes f is one function per class, the margin is that over the best other class, and a mistake
    adds twice k(x, x) to the square of its length: 2 (R / margin)^2.

    at : scores at the remembered rows
    longest : R^2, the largest k(x, x)
    """
    squares = float((coefficients * at).sum())
    if not squares > 0:
        return 0.0, np.inf
    margin = float(margins(scores, right, rivals(scores, right)).min()) / np.sqrt(squares)
    if not margin > 0:
        return margin, np.inf
    with np.errstate(over="ignore", divide="ignore"):  # a margin whose square is below all floats bounds nothing
        return margin, (2.0 if scores.shape[1] > 1 else 1.0) * longest / margin**2
