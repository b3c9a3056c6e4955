"""A learning curve: the same model fitted to fewer rows, within some seconds."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli import baselines
from mercer.cli.metrics import Score, classification_scores, regression_scores
from mercer.cli.target import CLASSIFICATION

if TYPE_CHECKING:
    from mercer.cli.result import Fitted
    from mercer.models.table_model import AnyLearner

PARTS = 5
"""How many parts of the rows are fitted."""
MIN_PART_ROWS = 30
"""Rows of such a part, at least."""
MAX_PART_ROWS = 4_000
"""Rows of such a part, at most."""
ROWS_PER_CLASS = 4
"""Rows per class, on average, that the smallest part has: fewer are hardly classes."""
MAX_JUDGING_ROWS = 2_000
"""Rows held out that judge, at most."""
MIN_SECONDS = 2.0
"""Seconds that the curve may take in any case; if the fit took longer, as many as that."""
MAX_SECONDS = 10.0
"""Seconds that the curve may take, at most."""
TIME_POWER = 2.5
"""The time of a fit grows with about this power of its rows."""


@dataclass(frozen=True)
class Curve:
    """Scores of the model and of the linear one for growing parts of the rows.

    sizes : of the parts; the last is all rows that were fitted
    scores : by the name of the model, one per size; None where there is none
    rows : how many rows held out judged
    """

    sizes: list[int]
    scores: dict[str, list[Score | None]]
    rows: int


def learning_curve(done: Fitted, seed: int) -> Curve | None:
    """Fit growing parts; None where rows are too few for that. Cost: as much as the fit, ten seconds at most."""
    whole = len(done.parts.y)
    if not done.held or whole < 2 * MIN_PART_ROWS:
        return None
    judge, order = _Judge.of(done, seed), np.random.default_rng(seed).permutation(whole)
    clock = _Clock(time.perf_counter() + min(max(MIN_SECONDS, done.judged.seconds), MAX_SECONDS))
    sizes: list[int] = []
    lines: dict[str, list[Score | None]] = {name: [] for name in ("mercer", *judge.straight)}
    for size in _sizes(whole, judge.classes):
        rows = np.sort(order[:size])
        if not clock.allows(size):
            break
        if judge.learns(rows):
            sizes.append(size)
            lines["mercer"].append(judge.fitted(rows))
            for name in judge.straight:
                lines[name].append(judge.linear(rows))
            clock.passed(size)
    scores = {name: [*line, judge.known(name)] for name, line in lines.items()}
    return Curve([*sizes, whole], scores, len(judge.chosen))


class _Clock:
    """Whether a fit of so many rows will end in time, from what the last one took."""

    def __init__(self, end: float) -> None:
        self.end, self.since, self.rate = end, time.perf_counter(), 0.0

    def allows(self, size: int) -> bool:
        self.since = time.perf_counter()
        return self.since + self.rate * math.pow(size, TIME_POWER) <= self.end

    def passed(self, size: int) -> None:
        self.rate = (time.perf_counter() - self.since) / math.pow(size, TIME_POWER)


def _sizes(whole: int, classes: int) -> list[int]:
    """Parts that grow by a factor, all smaller than the whole; none where classes are too many for that.

    >>> _sizes(1000, 2), _sizes(1000, 26), _sizes(60, 26)
    ([30, 61, 122, 247, 500], [104, 154, 228, 338, 500], [])
    """
    largest, smallest = min(whole // 2, MAX_PART_ROWS), max(MIN_PART_ROWS, ROWS_PER_CLASS * classes)
    if smallest > largest:
        return []
    found = np.geomspace(smallest, largest, PARTS).round().astype(int)
    return [int(size) for size in np.unique(found)]


@dataclass(frozen=True, eq=False)
class _Judge:
    """Held-out rows, and the estimator."""

    done: Fitted
    chosen: NDArray[np.intp]
    seed: int

    @classmethod
    def of(cls, done: Fitted, seed: int) -> _Judge:
        order = np.random.default_rng(seed).permutation(done.held)
        return cls(done, np.sort(order[:MAX_JUDGING_ROWS]), seed)

    @property
    def straight(self) -> tuple[str, ...]:
        """The linear model, where there is one."""
        return tuple(name for name in self.done.judged.others if name == "linear")

    @property
    def classes(self) -> int:
        """How many classes there are; none of numbers."""
        return len(np.unique(self.done.parts.y)) if self.done.target.task == CLASSIFICATION else 0

    def learns(self, rows: NDArray[np.intp]) -> bool:
        """Whether there is something to learn in some rows."""
        return len(np.unique(self.done.parts.y[rows])) > 1

    def known(self, name: str) -> Score:
        """The score of a model of all rows, which is there already."""
        judged = self.done.judged
        return self.score((judged.predicted if name == "mercer" else judged.others[name])[self.chosen])

    def fitted(self, rows: NDArray[np.intp]) -> Score:
        """The score of the learner with the same settings, of some rows."""
        from sklearn.base import clone

        look, parts = self.done.look, self.done.parts
        learner: AnyLearner = clone(self.done.judged.model.learner).set_params(verbose=False)
        learner.fit(look.rows(parts.train.take(rows)), parts.y[rows])
        return self.score(learner.predict(look.rows(parts.test.take(self.chosen))))

    def linear(self, rows: NDArray[np.intp]) -> Score | None:
        """The score of the linear model."""
        parts, test = self.done.parts, self.done.parts.test.take(self.chosen)
        found = baselines.linear(self.done.look, parts.train.take(rows), parts.y[rows], test, self.seed)
        return None if found is None else self.score(found)

    def score(self, predicted: Any) -> Score:
        """The first metric, with its interval."""
        truth = self.done.parts.truth[self.chosen]
        if self.done.target.task == CLASSIFICATION:
            return classification_scores(truth, np.asarray(predicted), None, np.unique(truth), self.seed)[0]
        return regression_scores(truth, np.asarray(predicted, dtype=np.float64), self.seed)[0]
