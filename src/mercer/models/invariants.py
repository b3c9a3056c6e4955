"""What must hold between an estimator from a file and what it holds: rows of as many columns as were fitted.

What must hold inside of an object, the object says itself: `_inconsistency` (`mercer.compute.consistency`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mercer.compute.consistency import MAX_COLUMNS
from mercer.kernels.points import Points
from mercer.learners.data.views import MatrixView, TableView, View
from mercer.lifts.base import Lift

HOLDING = ("_result", "_predictor", "_model", "_state", "view", "basis", "predictor", "inner")
"""Attributes that hold rows, or what holds them."""


def estimator(one: Any) -> str:
    """Names for all columns, and whatever holds rows of as many columns as were fitted."""
    columns = getattr(one, "n_features_in_", None)
    if columns is None:
        return ""
    if not 1 <= columns < MAX_COLUMNS:
        return f"got {columns} columns"
    names = getattr(one, "feature_names_in_", None)
    if names is not None and names.shape != (columns,):
        return f"got names of shape {names.shape} for {columns} columns"
    due = next((width for holder in _holders(one) if (width := _width(holder)) not in (None, columns)), None)
    if due is not None and not getattr(one, "_precomputed", False):
        return f"got rows of {due} columns for a model of {columns}"
    classes = getattr(one, "classes_", None)
    if classes is not None and not (classes.ndim == 1 and len(classes) >= 2):
        return "there are not two classes or more"
    return one._inconsistency() if isinstance(one, Lift) else ""


def _holders(one: Any) -> Iterator[Any]:
    """The parts of a learner that hold rows: what it predicts with, and what these hold."""
    waiting = [one]
    while waiting:
        each = waiting.pop()
        found = [part for name in HOLDING if (part := getattr(each, name, None)) is not None]
        waiting += found
        yield from found


def _width(holder: Any) -> int | None:
    if isinstance(holder, View):
        return width_of(holder)
    landmarks = getattr(holder, "landmarks", None)
    if isinstance(landmarks, Points):
        return landmarks.shape[1]
    lift = getattr(holder, "lift", holder)
    return getattr(lift, "n_features_in_", None)


def width_of(view: View | None) -> int | None:
    """How many columns the rows of a view have; None where that is not known."""
    if isinstance(view, TableView):
        return view.points.shape[1]
    return view.matrix.shape[1] if isinstance(view, MatrixView) and view.matrix.ndim == 2 else None
