"""Validation of labels: text or integers, two classes or more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from mercer.errors import InputError, message, speaker
from mercer.learners.data.validation import array_of, is_beside, plain

Array = NDArray[np.float64]
MAX_LABEL = 1 << 31
"""Floats below this are integers where they are equal to one, for all of NumPy's types."""


def labels_of(X: Any, y: Any) -> NDArray[Any]:
    """One label a row, or one clear error."""
    if y is None:
        raise ValueError(f"This {speaker()} estimator requires y to be passed, but the target y is None.")
    if is_beside(X, y) and y.ndim == 1 and _are_integers(y):
        return np.ravel(y)  # scikit-learn would find the same, and takes longer
    y = plain("y", y)
    array_of("y", y)  # complains of what is missing, or not of equal length
    labels = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
        at = next(i for i, label in enumerate(labels) if not isinstance(label, str))
        got = f"row {at} holds {labels[at]!r} (Unknown label type)"  # words that scikit-learn's checks look for
        remedy = "Drop rows without a label, and use y.astype(str), say."
        raise InputError(message("labels that are all text, or all integers", got, remedy))
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y", estimator_name=speaker())
    check_classification_targets(labels)
    return np.asarray(labels)


def _are_integers(y: NDArray[Any]) -> bool:
    """Whether numbers are labels: integers, of which so few are different that nobody would take them for numbers."""
    if y.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            if not (np.abs(y) < MAX_LABEL).all() or (y != np.rint(y)).any():
                return False
    return y.dtype.kind == "b" or 2 * len(np.unique(y)) < len(y)


def classes_of(labels: NDArray[Any]) -> NDArray[Any]:
    """The classes, sorted: two or more."""
    found = np.unique(labels)
    if len(found) < 2:
        got = f"there is one class, {found.tolist()[0]!r}"
        raise InputError(message("two classes or more", got, "Check y, or how the rows were selected."))
    return found


def coded(classes: NDArray[np.intp], count: int) -> Array:
    """+1 for a class and -1 for the others: one column for two classes, else one per class."""
    if count == 2:
        return np.where(classes == 1, 1.0, -1.0)[:, None]
    return np.where(classes[:, None] == np.arange(count), 1.0, -1.0)


def decided(scores: Array) -> NDArray[np.intp]:
    """The class of the highest score; of one score, whether it is positive."""
    found = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.asarray(found, dtype=np.intp)
