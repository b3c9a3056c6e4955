"""Input validation of learners: tables, targets, weights, penalties and kernels."""

from __future__ import annotations

import numbers
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from mercer.backends.tensors import held, is_tensor
from mercer.compute.codegen.sparse import canonical, is_sparse
from mercer.errors import InputError, KernelError, message, speaker
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import check_domain, leaves
from mercer.kernels.fields import MEDIAN
from mercer.kernels.objects.table import holds_more
from mercer.kernels.parameters import settled
from mercer.kernels.points import DOUBLE, SINGLE, Points, device_points, points_from
from mercer.lifts.base import Lift
from mercer.lifts.coerce import as_kernel, parsed
from mercer.lifts.inputs import DTYPES, checked_table, finite_sum
from mercer.lifts.inputs import array_of as array_of
from mercer.lifts.inputs import plain as plain
from mercer.lifts.inputs import refuse_unreadable as refuse_unreadable
from mercer.lifts.inputs import shown as shown
from mercer.lifts.structured import noted
from mercer.operators.precomputed import symmetric_part

Array = NDArray[np.float64]
PRECOMPUTED = "precomputed"
AUTO = "auto"
MAX_TOTAL_WEIGHT = 1e100
"""How much all rows may weigh together: float64 must hold squares of sums, and their inverses."""
NUMBERS = {
    "KernelRidge": "alpha",
    "KernelRidgeClassifier": "alpha",
    "KernelLogisticRegression": "alpha",
    "KernelSVC": "C",
    "KernelSVR": "C",
    "KernelOneClassSVM": "nu",
    "KernelPCA": "n_components",
    "KernelPerceptron": "max_iter",
}
"""The parameter that a number in the place of the kernel, the first parameter of these, is meant for most likely."""


@dataclass(frozen=True)
class Penalty:
    """The ridge as it was asked for.

    values : one per output, or candidates; None for candidates from the spectrum
    path : whether one is chosen from candidates
    """

    values: Array | None
    path: bool

    @property
    def given(self) -> Array:
        """One per output; asked where none is to be chosen."""
        if self.values is None or self.path:
            raise InputError(
                message("to be followed first", "no alpha is chosen yet", "Use Eigen().", subject="A path")
            )
        return self.values


# -- settings ---------------------------------------------------------------------------------------------------------


def kernel_of(given: Any) -> Kernel | Lift | str:
    """The kernel, the lift, or the word "precomputed"."""
    if isinstance(given, str):
        if given == PRECOMPUTED:
            return given
        if given.strip().lower() != PRECOMPUTED:
            return parsed(given)
    if isinstance(given, Kernel):  # one that scikit-learn may still fill in place becomes an object of its own
        return settled(given)
    if isinstance(given, Lift):
        return lift_of(given)
    found = as_kernel(given)
    if isinstance(found, Kernel):
        return found
    needs = "a kernel, its text, a function, a lift or 'precomputed'"
    raise KernelError(message(needs, f"got {shown(given)}", _another_kernel(given)))


def lift_of(given: Lift) -> Lift:
    """A lift of numbers."""
    if given._of_things:
        got = f"{type(given).__name__} reads strings, graphs or categories"
        remedy = "Give its kernel, or put the lift before the learner in a pipeline."
        raise InputError(message("a lift of numbers", got, remedy))
    return given


def _another_kernel(given: Any) -> str:
    """What to give instead of something that is no kernel."""
    if isinstance(given, str):
        return "Write 'precomputed'."
    if isinstance(given, type) and issubclass(given, Kernel | Lift):
        return f"Write {given.__name__}(), with its parameters."
    if isinstance(given, numbers.Number) and not isinstance(given, bool):
        return (
            f"Write {speaker()}({NUMBERS[speaker()]}={given!r}), say."
            if speaker() in NUMBERS
            else "Name the parameter it is for."
        )
    if hasattr(given, "__array__"):
        return "Use kernel='precomputed', and give the matrix as X."
    return "Write Gaussian(), or \"gaussian('median')\"."


def penalty_of(given: Any, outputs: int, per_output: bool) -> Penalty:
    """A number, one per output, candidates, or "auto"."""
    if isinstance(given, str):
        if given != AUTO:
            raise InputError(message('a number, an array or "auto" for alpha', f"got {shown(given)}", 'Use "auto".'))
        return Penalty(None, path=True)
    values = _penalties(given)
    if values.ndim == 0 or (values.ndim == 1 and len(values) == 1):
        return Penalty(np.full(outputs, values.item()), path=False)
    if values.ndim != 1 or len(values) == 0:
        got = f"got an array of shape {values.shape}"
        remedy = "Give one number, one per output, or a list of candidates."
        raise InputError(message("one dimension of numbers for alpha", got, remedy))
    return Penalty(values, path=not (per_output and len(values) == outputs))


def _penalties(given: Any) -> Array:
    needs, remedy = 'a finite number of at least 0 for alpha, an array of such, or "auto"', 'Use 1.0, or "auto".'
    values = np.asarray(given) if type(given) in (float, int) else array_of("alpha", given)
    if given is None or values.dtype.kind not in "fiu":
        raise InputError(message(needs, f"got {shown(given)}", remedy))
    bad = values[~(np.isfinite(values) & (values >= 0))]
    if bad.size:
        raise InputError(message(needs, f"got {bad.flat[0]}", remedy))
    return values.astype(np.float64)


# -- data -------------------------------------------------------------------------------------------------------------


def rows_of(estimator: BaseEstimator, X: Any, kernel: Kernel | None, reset: bool) -> Points:
    """A table as points; of a frame only the columns at which the kernel looks must be what it reads."""
    if is_numeric(X) and not (kernel is not None and kernel.kinds):
        rows = checked_table(estimator, X, reset)
        names = None if reset else getattr(estimator, "feature_names_in_", None)
        named, dtype = None if names is None else tuple(names), SINGLE if rows.dtype == SINGLE else DOUBLE
        points = Points(np.asarray(rows, np.float64), named, dtype)
        return points if reset else as_fitted(estimator, points)
    if kernel is not None and not kernel.kinds and is_tensor(X):
        there = held(X, getattr(getattr(estimator, "_backend", None), "device", None))
        if there is not None:
            points = _on_device(estimator, there, kernel, reset)
            return points if reset else as_fitted(estimator, points)
    X = plain("X", X)
    if kernel is not None and (kernel.kinds or holds_more(X, kernel.needed)):
        points = noted(estimator, X, kernel, reset)
    elif kernel is not None and kernel.needed is not None and hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        points = points_from(X, kernel.needed)
    else:
        refuse_unreadable("X", X)
        rows = checked_table(estimator, X, reset, sparse="csr")
        names = getattr(estimator, "feature_names_in_", None)
        points = points_of(rows, None if names is None else tuple(names))
    return points if reset else as_fitted(estimator, points)


def _on_device(estimator: BaseEstimator, rows: Any, kernel: Kernel, reset: bool) -> Points:
    """Rows that lie on a device, which stay there; what is wrong with them scikit-learn says, as of arrays."""
    looked = rows[:, list(kernel.needed)] if kernel.needed and all(isinstance(c, int) for c in kernel.needed) else rows
    if rows.ndim != 2 or 0 in rows.shape:
        checked_table(estimator, rows.as_given(), reset)
    bad = looked.first_bad()
    if bad is not None:
        checked_table(estimator, rows[bad[0] : bad[0] + 1].as_given(), reset)
    validate_data(estimator, rows, reset=reset, skip_check_array=True)
    names = getattr(estimator, "feature_names_in_", None)
    named = None if names is None or reset else tuple(names)
    points = device_points(rows, kernel.needed)
    return replace(points, names=named, dtype=SINGLE if rows.given == SINGLE else DOUBLE)


def is_numeric(data: Any) -> bool:
    """Whether the data is a plain array of numbers, as most is: it needs no other reading."""
    return type(data) is np.ndarray and data.dtype.kind in "fiub"


def is_beside(X: Any, y: Any) -> bool:
    """Whether both are plain arrays of numbers with as many rows, as most are."""
    return is_numeric(X) and is_numeric(y) and X.ndim == 2 and y.ndim > 0 and len(X) == len(y)


def is_precomputed(kernel: Any) -> bool:
    """Whether the rows are one matrix of similarities that somebody else computed."""
    return isinstance(kernel, str) and kernel == PRECOMPUTED


def sees_rows(estimator: BaseEstimator) -> bool:
    """Whether a learner sees rows, and not their similarities: what else cannot be called is not there."""
    if is_precomputed(estimator.kernel):
        needs, name = "rows, and the kernel itself, for this", type(estimator).__name__
        raise AttributeError(message(needs, "the kernel is precomputed", "Use fit and predict.", subject=name))
    return True


def matrix_of(estimator: BaseEstimator, X: Any, reset: bool) -> NDArray[Any]:
    """Similarities that somebody else computed, of all pairs of rows or of new rows with these."""
    X = plain("X", X)
    if is_sparse(X):
        needs, got = "a dense matrix for kernel='precomputed'", f"got a sparse {type(X).__name__}"
        raise InputError(message(needs, got, "Use K.toarray(): what is not stored is a similarity of 0."))
    refuse_unreadable("X", X)
    given = np.asarray(X) if hasattr(X, "how") else X  # a repaired matrix is an array that knows how
    rows = np.asarray(validate_data(estimator, given, reset=reset, dtype=DTYPES))
    return symmetric_part(rows) if reset and rows.shape[0] == rows.shape[1] else rows


def as_fitted(estimator: BaseEstimator, points: Points) -> Points:
    """New points as a fitted model takes them: inside the kernel's domain, and dense where its lift takes no others."""
    kernel, lift = getattr(estimator, "kernel_", None), getattr(estimator, "lift_", None)
    if points.sparse and lift is not None and not lift.takes_sparse:
        values: Any = points.values
        points = replace(points, values=values.toarray())
    if kernel is not None:
        for leaf, inner in leaves(kernel, points):
            check_domain(leaf, inner)
    return points


def points_of(rows: Any, names: tuple[str, ...] | None) -> Points:
    """Checked rows of float32 or float64 as points."""
    dtype = np.dtype(np.float64) if rows.dtype == np.float64 else SINGLE
    values = canonical(rows) if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
    return Points(values, names, dtype)


def targets_of(estimator: BaseEstimator, X: Any, y: Any) -> Array:
    """y as numbers, one row an observation, in one or two dimensions."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if is_beside(X, y) and y.ndim <= 2 and y.size and y.dtype.itemsize <= DOUBLE.itemsize and finite_sum(y):
        return np.asarray(y, np.float64)  # scikit-learn would find the same, and takes longer
    if not is_numeric(y):
        y = plain("y", y)
        refuse_unreadable("y", y)
    found = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=estimator)
    if found.ndim > 2:
        remedy = "Give one number per row, or one row of numbers."
        raise InputError(message("y of one or two dimensions", f"got {found.ndim}", remedy))
    check_consistent_length(X, found)
    return np.asarray(found)


def weights_of(given: ArrayLike | None, count: int) -> Array | None:
    """How often each row counts; None where each counts once."""
    if given is None:
        return None
    values = array_of("sample_weight", given)
    if values.dtype.kind not in "fiub":
        got = f"got {shown(given)}" if values.ndim == 0 else f"got an array of dtype {values.dtype}"
        raise InputError(message("numbers for sample_weight", got, "Give one number per row."))
    if values.ndim == 0:
        values = np.full(count, values)
    if values.shape != (count,):
        got = f"got an array of shape {values.shape}"
        raise InputError(message(f"one sample_weight a row, {count} in all", got, "Give a flat array."))
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        got, remedy = f"that of row {bad[0]} is {values[bad[0]]}", "Weights say how often a row counts."
        raise InputError(message("sample_weight of finite numbers of at least 0", got, remedy))
    return _of_fair_sum("sample_weight", values.astype(np.float64))


def _of_fair_sum(name: str, weights: Array) -> Array:
    with np.errstate(over="ignore"):
        total = weights.sum()
    if total == 0:
        raise InputError(message("some row of positive weight", "all are zero", f"Leave {name} out."))
    if not 1 / MAX_TOTAL_WEIGHT <= total <= MAX_TOTAL_WEIGHT:
        needs = f"weights with a sum from {1 / MAX_TOTAL_WEIGHT:g} to {MAX_TOTAL_WEIGHT:g}"
        raise InputError(message(needs, f"that of {name} is {total:.2g}", "Divide them by the largest."))
    return weights


def class_weights_of(given: Any, labels: NDArray[Any], counts: Array) -> Array:
    """Weights of rows by their classes, times how often each counts; "balanced" gives every class the same sum."""
    classes, place = np.unique(labels, return_inverse=True)
    if isinstance(given, str) and given == "balanced":
        sums = np.bincount(place, counts)
        factors = np.divide(counts.sum(), (sums > 0).sum() * sums, out=np.zeros(len(sums)), where=sums > 0)
    elif isinstance(given, dict):
        factors = _by_class(given, classes)
    else:
        needs, remedy = 'a dict of weights, "balanced" or None for class_weight', "Write {label: weight, ...}."
        raise InputError(message(needs, f"got {shown(given)}", remedy))
    with np.errstate(over="ignore"):
        weights = counts * factors[place]
    return _of_fair_sum("class_weight", weights)


def _by_class(given: dict[Any, Any], classes: NDArray[Any]) -> Array:
    """The weight of each class: 1 for one that the dict leaves out, if it names no other class instead."""
    labels = classes.tolist()
    for label, weight in given.items():
        if not _is_size(weight):
            got, remedy = f"that of {label!r} is {weight!r}", "Weights say how often a row of the class counts."
            raise InputError(message("class_weight of finite numbers of at least 0", got, remedy))
    strange, missing = [label for label in given if label not in labels], [x for x in labels if x not in given]
    if strange and missing:  # a class that a fold does not hold is no mistake
        got = f"{strange[0]!r} is none of them, and {missing[0]!r} has no weight"
        raise InputError(message("classes of y in class_weight", got, "Write the labels as in y."))
    return np.array([float(given.get(label, 1.0)) for label in labels])


def lengthscale_of(given: Any) -> str | float:
    """The word "median" or "loo", or a positive number."""
    if isinstance(given, str) and given in (MEDIAN, "loo"):
        return given
    if isinstance(given, bool) or not _is_size(given) or given == 0:
        remedy = 'Use "median", the default.'
        needs = 'a lengthscale that is "median", "loo" or a positive number'
        raise InputError(message(needs, f"got {shown(given)}", remedy))
    return float(given)


def _is_size(given: Any) -> bool:
    """Whether something is a finite number of at least 0; a whole one may be too large for float64."""
    return isinstance(given, float | int | np.floating | np.integer) and bool(0 <= given <= sys.float_info.max)
