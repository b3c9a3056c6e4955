"""What comes in at the learners' door: tables, targets, weights, penalties and kernels, or one clear error."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from mercer.compute.sparse import canonical, is_sparse
from mercer.errors import InputError, sentence
from mercer.kernels import Kernel
from mercer.kernels.fields import MEDIAN
from mercer.kernels.points import SINGLE, Points, points_from
from mercer.lifts.base import Lift
from mercer.lifts.stated import stated

Array = NDArray[np.float64]
DTYPES = [np.float64, np.float32]
PRECOMPUTED = "precomputed"
AUTO = "auto"


@dataclass(frozen=True)
class Penalty:
    """The ridge as it was asked for.

    values : one an output, or candidates; None for candidates from the spectrum
    path : whether one is chosen from candidates
    """

    values: Array | None
    path: bool

    @property
    def given(self) -> Array:
        """One an output; asked where none is to be chosen."""
        if self.values is None or self.path:
            raise InputError(sentence("A path", "to be followed first", "no alpha is chosen yet", "Use Eigen()."))
        return self.values


def kernel_of(who: str, given: Any) -> Kernel | Lift | str:
    """The kernel, the lift, or the word "precomputed"."""
    if isinstance(given, Lift) or (isinstance(given, str) and given == PRECOMPUTED):
        return given
    if isinstance(given, numbers.Number):
        came, remedy = f"{given!r} came", f"Write {who}(alpha={given!r}) if it is the penalty."
        raise InputError(sentence(who, "a kernel, its text, a lift or 'precomputed'", came, remedy))
    return stated(who, given)


def penalty_of(who: str, given: Any, outputs: int, per_output: bool) -> Penalty:
    """A number, one an output, candidates, or "auto"."""
    if isinstance(given, str):
        if given != AUTO:
            raise InputError(sentence(who, 'a number, an array or "auto" for alpha', f"{given!r} came", 'Use "auto".'))
        return Penalty(None, path=True)
    values = _penalties(who, given)
    if values.ndim == 0 or (values.ndim == 1 and len(values) == 1):
        return Penalty(np.full(outputs, values.item()), path=False)
    if values.ndim != 1 or len(values) == 0:
        came = f"an array of shape {values.shape} came"
        remedy = "Give one number, one an output, or a list of candidates."
        raise InputError(sentence(who, "one dimension of numbers for alpha", came, remedy))
    return Penalty(values, path=not (per_output and len(values) == outputs))


def _penalties(who: str, given: Any) -> Array:
    needs, remedy = 'a finite number of at least 0 for alpha, an array of such, or "auto"', 'Use 1.0, or "auto".'
    values = np.asarray(given)
    if given is None or values.dtype.kind not in "fiu":
        raise InputError(sentence(who, needs, f"{given!r} came", remedy))
    bad = values[~(np.isfinite(values) & (values >= 0))]
    if bad.size:
        raise InputError(sentence(who, needs, f"{bad.flat[0]} came", remedy))
    return values.astype(np.float64)


def rows_of(estimator: Any, X: Any, needed: frozenset[int | str] | None, reset: bool) -> Points:
    """A table as points; of a frame only the columns at which the kernel looks must be numbers."""
    if needed is not None and hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return points_from(type(estimator).__name__, X, needed)
    rows = validate_data(estimator, X, reset=reset, dtype=DTYPES, accept_sparse="csr", order="C")
    names = getattr(estimator, "feature_names_in_", None)
    return points_of(rows, None if names is None else tuple(names))


def points_of(rows: Any, names: tuple[str, ...] | None) -> Points:
    """Checked rows of float32 or float64 as points."""
    dtype = np.dtype(np.float64) if rows.dtype == np.float64 else SINGLE
    values = canonical(rows) if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
    return Points(values, names, dtype)


def targets_of(estimator: Any, X: Any, y: Any) -> Array:
    """y as numbers, one row an observation, in one or two dimensions."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    found = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=estimator)
    if found.ndim > 2:
        remedy = "Give one number a row, or one row of numbers."
        raise InputError(sentence(type(estimator).__name__, "y of one or two dimensions", f"{found.ndim} came", remedy))
    check_consistent_length(X, found)
    return np.asarray(found)


def weights_of(who: str, given: ArrayLike | None, count: int) -> Array | None:
    """How often each row counts; None where each counts once."""
    if given is None:
        return None
    values = np.asarray(given)
    if values.dtype.kind not in "fiub":
        raise InputError(sentence(who, "numbers for sample_weight", f"{values.dtype} came", "Give one a row."))
    if values.ndim == 0:
        values = np.full(count, values)
    if values.shape != (count,):
        came = f"an array of shape {values.shape} came"
        raise InputError(sentence(who, f"one sample_weight a row, {count} in all", came, "Give a flat array."))
    bad = values[~(np.isfinite(values) & (values >= 0))]
    if bad.size:
        remedy = "Weights say how often a row counts."
        raise InputError(sentence(who, "sample_weight of finite numbers of at least 0", f"{bad[0]} came", remedy))
    if not (values > 0).any():
        raise InputError(sentence(who, "some row of a weight above zero", "all are zero", "Leave sample_weight out."))
    return values.astype(np.float64)


def lengthscale_of(who: str, given: Any) -> str | float:
    """The word "median" or "loo", or a number above zero."""
    if isinstance(given, str) and given in (MEDIAN, "loo"):
        return given
    is_number = isinstance(given, numbers.Real) and not isinstance(given, bool)
    if not is_number or not 0 < float(given) < np.inf:
        remedy = 'Use "median", the default.'
        needs = 'a lengthscale that is "median", "loo" or a number above zero'
        raise InputError(sentence(who, needs, f"{given!r} came", remedy))
    return float(given)


def closed(kernel: Kernel, lengthscale: float) -> Kernel:
    """The kernel with a number for each open lengthscale."""
    if not kernel.is_open:
        return kernel
    if kernel.children:
        return kernel.with_children(tuple(closed(child, lengthscale) for child in kernel.children))
    return kernel.with_parameters({"lengthscale": lengthscale})
