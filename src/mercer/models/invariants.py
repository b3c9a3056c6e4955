"""What must hold between the fields of an object, beyond their types: shapes that agree, positions that exist.

Compiled loops and SciPy's sparse products do not look whether a position exists. So all of them are looked at here,
before an object from a file is used. Each function says what is wrong, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.kernels.points import DOUBLE, SINGLE, Points
from mercer.learners.data.views import MatrixView, TableView, View
from mercer.learners.streaming.basis import FeatureBasis

MOST_COLUMNS = 1 << 31
HOLDING = ("_view", "_predictor", "_model", "_course", "_pieces", "view", "basis", "predictor", "inner")
"""Attributes that hold rows, or what holds them."""


def shapes(*pairs: tuple[NDArray[Any], tuple[int | None, ...]]) -> str:
    """Whether arrays have the shapes that they are to have; None stands for any size."""
    for array, shape in pairs:
        sizes = zip(array.shape, shape, strict=False)
        if array.ndim != len(shape) or any(due is not None and size != due for size, due in sizes):
            return f"an array of shape {array.shape} stands where {shape} is due"
    return ""


def within(array: NDArray[Any], low: int, high: int) -> bool:
    """Whether all numbers lie from `low` to below `high`."""
    return not array.size or bool(low <= array.min() and array.max() < high)


# -- rows -------------------------------------------------------------------------------------------------------------


def points(one: Points) -> str:
    """Rows of finite float64, with a name, a label and a store for each column where there are any."""
    values: Any = one.values
    if values.ndim != 2 or values.dtype != DOUBLE or one.dtype not in (SINGLE, DOUBLE):
        return f"got rows of {values.dtype} and shape {values.shape}"
    numbers = values.data if is_sparse(values) else values
    if numbers.size and not (np.isfinite(numbers.min()) and np.isfinite(numbers.max())):
        return "rows hold infinite numbers"
    for about in (one.names, one.labels, one.stores):
        if about and len(about) != values.shape[1]:
            return f"got {len(about)} names or stores for {values.shape[1]} columns"
    if any(one.stores) and is_sparse(values):
        return "sparse rows hold no objects"
    return _positions(one)


def _positions(one: Points) -> str:
    for column, store in enumerate(one.stores):
        if store is None:
            continue
        codes = one.values[:, column]
        if not within(codes, 0, len(store.items)) or (codes != np.rint(codes)).any():
            return f"column {column} names objects that its store does not have"
    return ""


def width_of(view: View | None) -> int | None:
    """How many columns the rows of a view have; None where that is not known."""
    if isinstance(view, TableView):
        return view.points.shape[1]
    return view.matrix.shape[1] if isinstance(view, MatrixView) and view.matrix.ndim == 2 else None


def view(one: Any) -> str:
    """Rows whose lift, where there is one, is of as many columns."""
    if isinstance(one, MatrixView):
        return shapes((one.matrix, (None, None)))
    columns = getattr(one.lift, "n_features_in_", None)
    wrong = columns is not None and columns != one.points.shape[1]
    return f"got a lift of {columns} columns for {one.points.shape[1]}" if wrong else ""


# -- predictors -------------------------------------------------------------------------------------------------------


def by_duals(one: Any) -> str:
    """A coefficient per row, a level per output."""
    return shapes((one.duals, (one.view.count, None)), (one.levels, one.duals.shape[1:]))


def by_features(one: Any) -> str:
    """A weight per feature, and a mean; a level per output."""
    p = one.weights.shape[0] if one.weights.ndim else 0
    return shapes((one.weights, (p, None)), (one.means, (p,)), (one.levels, one.weights.shape[1:]))


def by_basis(one: Any) -> str:
    """A weight a function of the basis."""
    return shapes((one.weights, (one.basis.width, None)), (one.offset, one.weights.shape[1:]))


def feature_basis(one: Any) -> str:
    """The features of another kind of basis."""
    return "a basis of features stands inside of another" if isinstance(one.inner, FeatureBasis) else ""


def landmark_basis(one: Any) -> str:
    """A square factor, of as many rows as there are landmarks."""
    p = one.landmarks.shape[0]
    return shapes((one.upper, (p, p)))


def spectrum(one: Any) -> str:
    """A vector for each value."""
    p = one.values.size
    return shapes((one.values, (p,)), (one.vectors, (None, p)))


def margin_model(one: Any) -> str:
    """A row of coefficients for each row of the support, a bias per function."""
    shape = (one.support.size, one.biases.size)
    if one.support.size and one.support.min() < 0:
        return "the support names rows below 0"
    return shapes((one.support, shape[:1]), (one.coefficients, shape), (one.biases, shape[1:]))


def mistakes(one: Any) -> str:
    """All of one length."""
    size = one.rows.size
    return shapes(*((array, (size,)) for array in (one.rows, one.right, one.wrong, one.steps)))


def course(one: Any) -> str:
    """Mistakes of rows that are remembered."""
    size = one.numbers.size
    if one.view is not None and one.view.count != size:
        return f"got {one.view.count} rows under {size} numbers"
    if not within(one.mistakes.rows, 0, size):
        return "mistakes name rows that are not remembered"
    if one.memory is not None and one.memory.used != size:
        return f"{one.memory.used} slots are taken for {size} rows"
    return shapes((one.numbers, (size,)))


def memory(one: Any) -> str:
    """Square tables of as many slots as there are coefficients, and no more than the budget."""
    slots = one.coefficients.shape[0] if one.coefficients.ndim else 0
    if not 0 <= one.used <= slots <= one.budget or not 0 <= getattr(one, "oldest", 0) < max(slots, 1):
        return f"{one.used} of {slots} slots are taken"
    inverse = [(one.inverse, (slots, slots))] if hasattr(one, "inverse") else []
    return shapes((one.coefficients, (slots, None)), (one.inner, (slots, slots)), *inverse)


def means_of_rows(one: Any) -> str:
    """A cluster that exists for each row."""
    count = one.view.count
    if not within(one.members, 0, one.lengths.size):
        return "rows belong to clusters that do not exist"
    return shapes((one.lengths, (None,)), (one.members, (count,)), (one.shares, (count,)))


def means_of_features(one: Any) -> str:
    """A column of means for each cluster."""
    k, p = one.lengths.size, one.origin.size
    return shapes((one.lengths, (k,)), (one.origin, (p,)), (one.means, (p, k)))


def means_of_landmarks(one: Any) -> str:
    """A column of weights for each cluster, and one for the origin."""
    k = one.lengths.size
    return shapes((one.lengths, (k,)), (one.weights, (one.basis.width, k + 1)), (one.shift, (k + 1,)))


def centering(one: Any) -> str:
    """Weights, one per row."""
    counts = [] if one.counts is None else [(one.counts, one.weights.shape)]
    return shapes((one.weights, (None,)), *counts)


# -- learners ---------------------------------------------------------------------------------------------------------


def learner(one: Any) -> str:
    """Names for all columns, and whatever holds rows of as many columns as were fitted."""
    columns = getattr(one, "n_features_in_", None)
    if columns is None:
        return ""
    if not 1 <= columns < MOST_COLUMNS:
        return f"got {columns} columns"
    names = getattr(one, "feature_names_in_", None)
    if names is not None and names.shape != (columns,):
        return f"got names of shape {names.shape} for {columns} columns"
    due = next((width for holder in _holders(one) if (width := _width(holder)) not in (None, columns)), None)
    if due is not None and not getattr(one, "_precomputed", False):
        return f"got rows of {due} columns for a model of {columns}"
    classes = getattr(one, "classes_", None)
    return "" if classes is None or (classes.ndim == 1 and len(classes) >= 2) else "there are not two classes or more"


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
