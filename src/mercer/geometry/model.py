"""Linear models: the weights and the intercept of one decision."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.geometry.accurate import Vector


class OfColumns(Protocol):
    """A fitted estimator of any library; what else it has is looked up by name."""

    @property
    def n_features_in_(self) -> int:
        """The number of columns that it was fitted on."""
        ...


class LinearModel(Protocol):
    """A fitted linear model, such as those of scikit-learn; a classifier has `classes_`, too."""

    @property
    def coef_(self) -> Any:
        """Weights of the columns: a row, or a row per class or target."""
        ...


def decision(model: LinearModel, positive: Any) -> tuple[Vector, float]:
    """The weights and the intercept of the decision for a class, or of a regressor's prediction."""
    rows, intercepts = _read(model)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return _of_regressor(rows, intercepts, positive)
    if len(classes) == 2 and len(rows) == 1:
        sign = 1.0 if _place(classes, classes[1] if positive is None else positive) else -1.0
        return sign * rows[0], sign * float(intercepts[0])
    if len(rows) != len(classes) or hasattr(model, "n_support_"):  # SVC has a decision per pair of classes
        got = f"{type(model).__name__} has decisions between pairs of classes"
        raise InputError(message("one decision per class", got, "Use LinearSVC, or fit each class against the rest."))
    return _of_class(classes, rows, intercepts, positive)


def _read(model: LinearModel) -> tuple[NDArray[np.float64], Vector]:
    try:
        coef = model.coef_
    except AttributeError as error:
        raise InputError(_not_linear(model, str(error))) from error
    dense = coef.toarray() if hasattr(coef, "toarray") else coef
    rows = np.atleast_2d(np.asarray(dense, dtype=np.float64))
    intercepts = np.atleast_1d(np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64))
    if not (np.isfinite(rows).all() and np.isfinite(intercepts).all()):
        raise InputError(message("finite weights", "some are not", "Look at coef_ and intercept_."))
    return rows, np.broadcast_to(intercepts, len(rows))


def _not_linear(model: object, reason: str) -> str:
    """What to say of a model without weights; Mercer's learners know why they have none."""
    got = f"got {type(model).__name__}, without coef_"
    if reason.startswith("coef_: "):
        remedy = 'Use a kernel such as "linear", "parabolic" or "polynomial(degree=2)".'
        return message("weights of finitely many features", f"{got}: {reason.removeprefix('coef_: ')}", remedy)
    remedy = "Fit the pipeline, and end it with LinearSVC, LogisticRegression, Ridge or the like."
    return message("a fitted linear model at the end", got, remedy)


def _of_regressor(rows: NDArray[np.float64], intercepts: Vector, positive: Any) -> tuple[Vector, float]:
    if len(rows) != 1:
        got = f"this one predicts {len(rows)}"
        raise InputError(message("a regressor of one target", got, "Fit one for each target."))
    if positive is not None:
        remedy = "Use threshold= for a regressor."
        raise InputError(message("a classifier to know classes", f"got positive={positive!r}", remedy))
    return rows[0], float(intercepts[0])


def _of_class(classes: Any, rows: NDArray[np.float64], intercepts: Vector, positive: Any) -> tuple[Vector, float]:
    """One of many classes against the rest."""
    if positive is None:
        got = f"there are {len(classes)}"
        remedy = f"Say which one is meant, as in positive={classes.tolist()[0]!r}."
        raise InputError(message("two classes", got, remedy))
    place = _place(classes, positive)
    return rows[place], float(intercepts[place])


def _place(classes: Any, positive: Any) -> int:
    places = np.flatnonzero(np.asarray(classes) == positive)
    if len(places) != 1:
        got = f"got positive={positive!r}"
        raise InputError(message(f"one of the classes {np.asarray(classes).tolist()}", got, "Name one."))
    return int(places[0])
