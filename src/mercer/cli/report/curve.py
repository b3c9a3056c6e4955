"""A learning curve: the same model fitted to fewer rows, within some seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli import baselines
from mercer.cli.evaluation import Score, classification_scores, regression_scores
from mercer.cli.target import CLASSIFICATION

if TYPE_CHECKING:
    from mercer.cli.fitting import Fitted

SIZES, SMALLEST, LARGEST = 5, 30, 4_000
"""How many parts of the rows are fitted, and how many rows these have."""
JUDGES = 2_000
"""Rows held out that judge, at most."""
LEAST, MOST = 2.0, 10.0
"""Seconds: no further part is begun when the fit itself took less than what has gone by, but for these bounds."""


@dataclass(frozen=True)
class Curve:
    """Scores of the model and of the linear one for growing parts of the rows.

    sizes : of the parts; the last is all rows that were fitted
    scores : by the name of the model, one a size; None where there is none
    rows : how many rows held out judged
    """

    sizes: list[int]
    scores: dict[str, list[Score | None]]
    rows: int


def learning_curve(done: Fitted, seed: int) -> Curve | None:
    """Fit growing parts; None where rows are too few for that. Cost: as much as the fit, ten seconds at most."""
    whole = len(done.parts.y)
    if not done.held or whole < 2 * SMALLEST:
        return None
    judge, sizes, model, linear = _Judge.of(done, seed), [], [], []
    start, patience = time.perf_counter(), min(max(LEAST, done.judged.seconds), MOST)
    order = np.random.default_rng(seed).permutation(whole)
    for size in _sizes(whole):
        if time.perf_counter() - start > patience:
            break
        rows = np.sort(order[:size])
        if done.target.task == CLASSIFICATION and len(np.unique(done.parts.y[rows])) < 2:
            continue
        sizes.append(size)
        model.append(judge.fitted(rows))
        linear.append(judge.linear(rows))
    scores: dict[str, list[Score | None]] = {"mercer": [*model, judge.score(done.judged.predicted[judge.chosen])]}
    if "linear" in done.judged.others:
        scores["linear"] = [*linear, judge.score(done.judged.others["linear"][judge.chosen])]
    return Curve([*sizes, whole], scores, len(judge.chosen))


def _sizes(whole: int) -> list[int]:
    """Parts that grow by a factor, all smaller than the whole."""
    largest = min(whole // 2, LARGEST)
    found = np.geomspace(min(SMALLEST, largest), largest, SIZES).round().astype(int)
    return [int(size) for size in np.unique(found)]


@dataclass(frozen=True, eq=False)
class _Judge:
    """Some rows held out, and who fits."""

    done: Fitted
    chosen: NDArray[np.intp]
    seed: int

    @classmethod
    def of(cls, done: Fitted, seed: int) -> _Judge:
        order = np.random.default_rng(seed).permutation(done.held)
        return cls(done, np.sort(order[:JUDGES]), seed)

    def fitted(self, rows: NDArray[np.intp]) -> Score:
        """The score of the learner with the same settings, of some rows."""
        from sklearn.base import clone

        look, parts = self.done.look, self.done.parts
        learner: Any = clone(self.done.judged.model.learner).set_params(verbose=False)
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
