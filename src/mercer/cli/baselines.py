"""What a model must beat: the mean or the largest class, and a linear model of the same columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.features import Look
from mercer.tables.columns import numbers
from mercer.tables.read import Sheet

MAX_ROWS = 50_000
"""Rows that a linear model is fitted to, at most."""
MAX_LABELS = 50
"""Different labels of a column that get a column of zeros and ones; texts of more are left out."""
PENALTY = 1.0

Array = NDArray[np.float64]


def constant(y: NDArray[Any], count: int, classes: bool) -> NDArray[Any]:
    """The mean, or the largest class, for every row."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    model = DummyClassifier(strategy="most_frequent") if classes else DummyRegressor(strategy="mean")
    return np.asarray(model.fit(np.zeros((len(y), 1)), y).predict(np.zeros((count, 1))))


def linear(look: Look, train: Sheet, y: NDArray[Any], test: Sheet, seed: int) -> NDArray[Any] | None:
    """Predictions of a ridge on standardised numbers and on labels as zeros and ones; None where there are none."""
    from sklearn.linear_model import Ridge, RidgeClassifier

    classes = y.dtype.kind != "f"
    chosen = np.arange(len(y))
    if len(y) > MAX_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(len(y), MAX_ROWS, replace=False))
        train = train.take(chosen)
    design = _designs(look, train, test)
    if design is None:
        return None
    model = RidgeClassifier(alpha=PENALTY) if classes else Ridge(alpha=PENALTY)
    return np.asarray(model.fit(design[0], y[chosen]).predict(design[1]))


def _designs(look: Look, train: Sheet, test: Sheet) -> tuple[Any, Any] | None:
    """Rows to fit and new rows; missing numbers are the mean, labels that were not fitted are zeros."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if train.sparse is not None and test.sparse is not None:
        return train.sparse.rows, test.sparse.rows
    kinds = dict(zip(look.columns, look.kinds, strict=True))
    labels = [name for name, kind in kinds.items() if kind in ("text", "label") and _few_labels(train, name)]
    others = [name for name, kind in kinds.items() if kind not in ("text", "label", "graph")]
    parts: list[tuple[Any, Any, Any]] = []
    if others:
        numbered = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        parts.append((numbered, _numbers(train, others), _numbers(test, others)))
    if labels:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        parts.append((encoder, _labels(train, labels), _labels(test, labels)))
    if not parts:
        return None
    fitted, new = zip(*((step.fit_transform(old), step.transform(rows)) for step, old, rows in parts), strict=True)
    return np.hstack(fitted), np.hstack(new)


def _few_labels(sheet: Sheet, name: str) -> bool:
    return 1 < len(set(sheet.table.column(name).to_pylist())) <= MAX_LABELS


def _numbers(sheet: Sheet, names: list[str]) -> Array:
    """(rows, columns), with NaN for what is missing or infinite."""
    found = numbers([sheet.table.column(name) for name in names], names).astype(np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def _labels(sheet: Sheet, names: list[str]) -> NDArray[Any]:
    """(rows, columns) of texts, and None."""
    found = np.empty((sheet.rows, len(names)), dtype=object)
    for k, name in enumerate(names):
        found[:, k] = sheet.table.column(name).to_pylist()
    return found
