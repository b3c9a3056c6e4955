"""How good predictions are: metrics with intervals, on rows that were not fitted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEVEL = 0.95
NORMAL = 1.959963984540054
"""The quantile of the normal law for LEVEL."""
DRAWS = 500
"""Samples of a bootstrap."""
SHARE, MOST, LEAST = 0.2, 20_000, 5
"""The part of rows that is held out, and how many these are at most and at least."""

UNEVEN = 0.9
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
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


# -- held out ---------------------------------------------------------------------------------------------------------


def split(y: NDArray[Any], classes: bool, share: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of rows to fit and of rows to hold out, in order; none where rows are too few.

    Classes keep their shares: a class is held out as often as the others, and never as a whole.
    """
    rng, count = np.random.default_rng(seed), len(y)
    held = min(math.ceil(share * count), MOST)
    if share <= 0 or held < LEAST or count - held < LEAST:
        return np.arange(count), np.arange(0)
    order = rng.permutation(count)
    if classes:
        order = order[np.argsort(_within(y[order]), kind="stable")]
        order = order[::-1]  # the last of each class first: rare classes stay among the rows to fit
    return np.sort(order[held:]), np.sort(order[:held])


def _within(labels: NDArray[Any]) -> Array:
    """Where each row stands in its class, from 0 to 1."""
    _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(places, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ranks = np.empty(len(labels))
    ranks[order] = np.arange(len(labels)) - np.repeat(starts, counts)
    return np.asarray((ranks + 0.5) / counts[places])


# -- metrics ----------------------------------------------------------------------------------------------------------


def regression_scores(y: Array, predicted: Array, seed: int) -> list[Score]:
    """Root mean squared error, mean absolute error and R^2, with intervals by the bootstrap."""
    errors = np.asarray(y - predicted, dtype=np.float64)
    apart = np.asarray(y, dtype=np.float64) - np.mean(y)  # squares of numbers far from zero would hide their spread
    columns = np.column_stack([errors**2, np.abs(errors), apart, apart**2])
    drawn = np.array([columns[rows].mean(axis=0) for rows in _draws(len(y), seed)])
    whole = columns.mean(axis=0)
    shown = {"rmse": lambda m: np.sqrt(m[..., 0]), "mae": lambda m: m[..., 1], "r2": _explained}
    return [Score(name, float(f(whole)), *_interval(f(drawn))) for name, f in shown.items()]


def _explained(moments: Array) -> Array:
    spread = moments[..., 3] - moments[..., 2] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0, 1 - moments[..., 0] / spread, np.nan))


def classification_scores(
    y: NDArray[Any], predicted: NDArray[Any], probabilities: Array | None, classes: NDArray[Any], seed: int
) -> list[Score]:
    """Accuracy with Wilson's interval, the mean accuracy of classes, and the log loss where there are probabilities."""
    right = np.asarray(y == predicted, dtype=np.float64)
    found = [wilson("accuracy", int(right.sum()), len(right))]
    drawn = [_balanced(right[rows], y[rows]) for rows in _draws(len(y), seed)]
    balanced = Score("balanced accuracy", _balanced(right, y), *_interval(np.array(drawn)))
    found.insert(0 if uneven(y) else 1, balanced)
    if probabilities is not None:
        known = np.isin(y, classes)
        place = np.searchsorted(classes, np.where(known, y, classes[0]))
        losses = -np.log(np.maximum(probabilities[np.arange(len(y)), place] * known, 1e-15))
        means = np.array([losses[rows].mean() for rows in _draws(len(y), seed)])
        found.append(Score("log loss", float(losses.mean()), *_interval(means)))
    return found


def uneven(y: NDArray[Any]) -> bool:
    """Whether one class has so many of the rows that accuracy says little.

    >>> uneven(np.array(["no"] * 98 + ["yes"] * 2)), uneven(np.array(["no"] * 3 + ["yes"] * 2))
    (True, False)
    """
    counts = np.unique(y, return_counts=True)[1]
    return len(counts) > 1 and bool(counts.max() >= UNEVEN * counts.sum())


def wilson(metric: str, right: int, count: int) -> Score:
    """A share with Wilson's interval, which is sound near 0 and 1.

    >>> print(wilson("accuracy", 9, 10))
    0.9 [0.5958, 0.9821]
    """
    share, z = right / count, NORMAL**2 / count
    middle = (share + z / 2) / (1 + z)
    half = NORMAL / (1 + z) * math.sqrt(share * (1 - share) / count + z / (4 * count))
    return Score(metric, share, middle - half, middle + half)


def _balanced(right: Array, y: NDArray[Any]) -> float:
    _, place = np.unique(y, return_inverse=True)
    return float(np.mean(np.bincount(place, right) / np.bincount(place)))


def _draws(count: int, seed: int) -> Iterator[NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        yield rng.integers(0, count, count)


def _interval(drawn: Array) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(drawn, [tail, 1 - tail]) if not np.isnan(drawn).all() else (np.nan, np.nan)
    return float(low), float(high)


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
