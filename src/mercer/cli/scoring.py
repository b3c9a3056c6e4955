"""Predictions for rows held out, of a model and of baselines, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli import baselines
from mercer.cli.features import Look
from mercer.cli.metrics import Score, classification_scores, regression_scores
from mercer.cli.result import Judged, Parts, Scores
from mercer.cli.target import CLASSIFICATION
from mercer.models.table_model import TableModel
from mercer.tables.read import Sheet


def predictions(model: TableModel, sheet: Sheet) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """What a model says of rows, and how surely, where it knows that."""
    if not sheet.rows:
        return np.empty(0), None
    rows, learner = model.rows(sheet), model.learner
    chances = learner.predict_proba(rows) if type(learner).__name__ == "KernelLogisticRegression" else None
    return np.asarray(learner.predict(rows)), chances


def baseline_predictions(found: Look, parts: Parts, classes: bool, seed: int) -> dict[str, NDArray[Any]]:
    """What a linear model says of the rows held out, where there is one, and the mean or the largest class."""
    if not len(parts.truth):
        return {}
    straight = baselines.linear(found, parts.train, parts.y, parts.test, seed)
    flat = {"largest class" if classes else "mean": baselines.constant(parts.y, len(parts.truth), classes)}
    return flat if straight is None else {"linear": straight, **flat}


def judged_scores(judged: Judged, truth: NDArray[Any], seed: int) -> Scores:
    """Those of the model and of the baselines."""
    classes = judged.model.task == CLASSIFICATION
    model = _of_predictions(judged.model, judged.predicted, judged.chances, truth, seed)
    others = judged.others.items()
    return [("mercer", model), *((name, _plain(said, truth, classes, seed)) for name, said in others)]


def scores_of(model: TableModel, sheet: Sheet, truth: NDArray[Any], seed: int) -> list[Score]:
    """The metrics of a model on rows whose target is known."""
    return _of_predictions(model, *predictions(model, sheet), truth, seed)


def _of_predictions(
    model: TableModel, predicted: NDArray[Any], chances: NDArray[Any] | None, truth: NDArray[Any], seed: int
) -> list[Score]:
    if model.task != CLASSIFICATION:
        return regression_scores(truth, np.asarray(predicted, dtype=np.float64), seed)
    return classification_scores(truth, predicted, chances, model.learner.classes_, seed)


def _plain(predicted: NDArray[Any], truth: NDArray[Any], classes: bool, seed: int) -> list[Score]:
    if not classes:
        return regression_scores(truth, predicted, seed)
    return classification_scores(truth, predicted, None, np.unique(truth), seed)


def left_out_score(learner: object) -> tuple[str, float] | None:
    """The leave-one-out score of the chosen penalty; None where the learner has none."""
    path = getattr(learner, "loo_", None)
    if path is None:
        return None
    if path.wrong is not None:
        return "accuracy", 1 - float(path.wrong[path.best[0]])
    return "rmse", float(np.sqrt(path.errors[path.best[0], 0]))
