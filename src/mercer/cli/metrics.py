"""How good predictions are: scikit-learn's metrics with SciPy's intervals, on rows that were not fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CONFIDENCE = 0.95
NORMAL_DEVIATIONS = 1.959963984540054
"""The deviations of the normal law that CONFIDENCE is within."""
BOOTSTRAP_SAMPLES = 500
"""Samples of a bootstrap."""
BATCH_SAMPLES = 50
"""How many of them are in memory at once."""
MAX_HELD_OUT = 20_000
"""Rows that are held out, at most."""
MIN_ROWS = 5
"""Rows that each part has, at least."""
MAX_CLASS_SHARE = 0.9
"""The part of rows in one class from which on balanced accuracy stands first: saying that class is right so often."""


@dataclass(frozen=True)
class Score:
    """One metric with its interval of 95 %.

    metric : "rmse", "mae", "r2", "accuracy", "balanced accuracy" or "log loss"
    """

    metric: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        known = np.isfinite(self.low) and np.isfinite(self.high)  # of one row there is no interval
        return f"{self.value:.4g}" + f" [{self.low:.4g}, {self.high:.4g}]" * bool(known)


# -- held out ---------------------------------------------------------------------------------------------------------


def split(y: NDArray[Any], classes: bool, share: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of rows to fit and of rows to hold out, in order; none where rows are too few.

    Classes keep their shares, where as many rows are held out as there are classes. None is held out as a whole: its
    rows are fitted instead.
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    held = min(math.ceil(share * len(y)), MAX_HELD_OUT)
    if share <= 0 or held < MIN_ROWS or len(y) - held < MIN_ROWS:
        return rows, rows[:0]
    train, test = train_test_split(
        rows, test_size=held, random_state=seed, stratify=_strata(y, held) if classes else None
    )
    judged = np.isin(y[test], y[train]) if classes else np.ones(len(test), bool)
    return np.sort(np.concatenate([train, test[~judged]])), np.sort(test[judged])


def _strata(y: NDArray[Any], held: int) -> NDArray[np.intp] | None:
    """The class of each row as scikit-learn can stratify by it: of one row none can, so it goes with the largest."""
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(counts) > min(held, len(y) - held) or counts.max() < 2:
        return None
    return np.where(counts[place] > 1, place, counts.argmax())


# -- metrics ----------------------------------------------------------------------------------------------------------


def regression_scores(y: Array, predicted: Array, seed: int) -> list[Score]:
    """Root mean squared error, mean absolute error and R^2, with intervals by the bootstrap."""
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    errors, apart = np.asarray(y - predicted, dtype=np.float64), np.asarray(y - np.mean(y), dtype=np.float64)
    explained = float(r2_score(y, predicted)) if len(y) > 1 else np.nan
    return [
        Score("rmse", float(root_mean_squared_error(y, predicted)), *_bootstrap(seed, _root_mean_square, errors)),
        Score("mae", float(mean_absolute_error(y, predicted)), *_bootstrap(seed, np.mean, np.abs(errors))),
        Score("r2", explained, *_bootstrap(seed, _explained, errors, apart)),
    ]


def _root_mean_square(errors: Array, axis: int = -1) -> Array:
    return np.asarray(np.sqrt(np.mean(np.square(errors), axis=axis)))


def _explained(errors: Array, apart: Array, axis: int = -1) -> Array:
    """R^2 of each sample; of a target that is the same in all its rows, as scikit-learn has it: 1 or 0.

    apart : the target less its mean, so that numbers far from zero keep their digits
    """
    error, spread = np.mean(np.square(errors), axis=axis), np.var(apart, axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0, 1 - error / spread, error == 0))


def classification_scores(
    y: NDArray[Any], predicted: NDArray[Any], probabilities: Array | None, classes: NDArray[Any], seed: int
) -> list[Score]:
    """Accuracy with Wilson's interval, the mean accuracy of classes, and the log loss where there are probabilities."""
    from sklearn.metrics import log_loss, recall_score

    labels, place = np.unique(y, return_inverse=True)
    right = np.asarray(y == predicted, dtype=np.float64)
    mean = float(recall_score(y, predicted, labels=labels, average="macro", zero_division=0.0))
    accuracy = wilson("accuracy", int(right.sum()), len(right))
    balanced = Score("balanced accuracy", mean, *_bootstrap(seed, _mean_recall, right, place))
    found = [balanced, accuracy] if uneven(y) else [accuracy, balanced]
    if probabilities is not None:
        known, chances = _with_new_labels(y, probabilities, classes)
        rows = chances[np.arange(len(y)), np.searchsorted(known, y)]
        losses = -np.log(np.maximum(rows, np.finfo(chances.dtype).eps))  # as scikit-learn bounds them
        found.append(Score("log loss", float(log_loss(y, chances, labels=known)), *_bootstrap(seed, np.mean, losses)))
    return found


def _mean_recall(right: Array, place: NDArray[Any]) -> float:
    """The mean accuracy of the classes of a sample; SciPy gives their numbers as floats."""
    place = place.astype(np.intp)
    counts = np.bincount(place)
    return float(np.mean((np.bincount(place, right) / np.maximum(counts, 1))[counts > 0]))


def _with_new_labels(
    y: NDArray[Any], probabilities: Array, classes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """All labels, sorted, and their probabilities: 0 for those that the model has never seen."""
    known = np.union1d(classes, y)
    chances = np.zeros((len(y), len(known)))
    chances[:, np.searchsorted(known, classes)] = probabilities
    return known, chances


def uneven(y: NDArray[Any]) -> bool:
    """Whether one class has so many of the rows that accuracy says little.

    >>> uneven(np.array(["no"] * 98 + ["yes"] * 2)), uneven(np.array(["no"] * 3 + ["yes"] * 2))
    (True, False)
    """
    counts = np.unique(y, return_counts=True)[1]
    return len(counts) > 1 and bool(counts.max() >= MAX_CLASS_SHARE * counts.sum())


def wilson(metric: str, right: int, count: int) -> Score:
    """A share with Wilson's interval, which is sound near 0 and 1.

    >>> print(wilson("accuracy", 9, 10))
    0.9 [0.5958, 0.9821]
    """
    from scipy.stats import binomtest

    interval = binomtest(right, count).proportion_ci(CONFIDENCE, method="wilson")
    return Score(metric, right / count, float(interval.low), float(interval.high))


def _bootstrap(seed: int, statistic: Callable[..., Any], *columns: NDArray[Any]) -> tuple[float, float]:
    """The interval of a statistic of rows, which are drawn with all their columns; of one row there is none."""
    from scipy.stats import bootstrap

    if len(columns[0]) < 2:
        return np.nan, np.nan
    random = np.random.default_rng(seed)
    found = bootstrap(
        columns,
        statistic,
        n_resamples=BOOTSTRAP_SAMPLES,
        batch=BATCH_SAMPLES,
        paired=True,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=random,
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


# -- shown ------------------------------------------------------------------------------------------------------------


def table_of_scores(rows: Sequence[tuple[str, Sequence[Score]]]) -> str:
    """Models side by side, a metric per column, with intervals."""
    metrics = list(dict.fromkeys(score.metric for _, scores in rows for score in scores))
    lines = [["model", *metrics]]
    for name, scores in rows:
        known = {score.metric: str(score) for score in scores}
        lines.append([name, *(known.get(metric, "") for metric in metrics)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join(shown)
