"""What a model must beat: the mean or the largest class, and a linear model of the same columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.features import Look
from mercer.tables.columns import numbers
from mercer.tables.read import Sheet

ROWS = 50_000
"""Rows that a linear model is fitted to, at most."""
LABELS = 50
"""Different labels of a column that get a column of zeros and ones; texts of more are left out."""
PENALTY = 1.0

Array = NDArray[np.float64]


def constant(y: NDArray[Any], count: int, classes: bool) -> NDArray[Any]:
    """The mean, or the largest class, for every row."""
    if not classes:
        return np.full(count, y.mean())
    labels, counts = np.unique(y, return_counts=True)
    return np.full(count, labels[np.argmax(counts)])


def linear(look: Look, train: Sheet, y: NDArray[Any], test: Sheet, seed: int) -> NDArray[Any] | None:
    """Predictions of a ridge on standardised numbers and on labels as zeros and ones; None where there are none."""
    from sklearn.linear_model import Ridge, RidgeClassifier

    classes = y.dtype.kind != "f"
    chosen = np.arange(len(y))
    if len(y) > ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(len(y), ROWS, replace=False))
        train = train.take(chosen)
    design = _designs(look, train, test)
    if design is None:
        return None
    model = RidgeClassifier(alpha=PENALTY) if classes else Ridge(alpha=PENALTY)
    return np.asarray(model.fit(design[0], y[chosen]).predict(design[1]))


def _designs(look: Look, train: Sheet, test: Sheet) -> tuple[Any, Any] | None:
    if train.sparse is not None and test.sparse is not None:
        return train.sparse.rows, test.sparse.rows
    parts = [_columns(train.table.column(name), test.table.column(name), name, kind) for name, kind in _pairs(look)]
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return np.column_stack([fitted for fitted, _ in known]), np.column_stack([new for _, new in known])


def _pairs(look: Look) -> list[tuple[str, str]]:
    return list(zip(look.columns, look.kinds, strict=True))


def _columns(train: Any, test: Any, name: str, kind: str) -> tuple[Array, Array] | None:
    """Numbers less their mean, over their deviation, missing ones as the mean; labels as zeros and ones."""
    if kind == "graph":
        return None
    if kind in ("text", "label"):
        return _labels(train.to_pylist(), test.to_pylist())
    fitted, new = (numbers([column], [name]).astype(np.float64) for column in (train, test))
    known = fitted[np.isfinite(fitted)]
    if not known.size:
        return None
    mean, deviation = known.mean(), known.std() or 1.0
    return _standard(fitted, mean, deviation), _standard(new, mean, deviation)


def _standard(values: Array, mean: float, deviation: float) -> Array:
    return np.where(np.isfinite(values), (values - mean) / deviation, 0.0)


def _labels(train: list[Any], test: list[Any]) -> tuple[Array, Array] | None:
    labels = list(dict.fromkeys(train))
    if not 1 < len(labels) <= LABELS:
        return None
    return _ones(train, labels), _ones(test, labels)


def _ones(entries: list[Any], labels: list[Any]) -> Array:
    place = {label: i for i, label in enumerate(labels)}
    found = np.zeros((len(entries), len(labels)))
    for row, entry in enumerate(entries):
        if entry in place:
            found[row, place[entry]] = 1.0
    return found
