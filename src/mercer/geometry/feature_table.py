"""What is meant by features, as a table of numbers with names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, KernelError, message
from mercer.kernels import Kernel
from mercer.kernels.algebra.feature_map import is_texts
from mercer.lifts import lift
from mercer.lifts.coerce import stated
from mercer.lifts.inputs import plain, refuse_unreadable
from mercer.lifts.n_features import most_features

Table = NDArray[np.float64]
MAX_KERNEL_ROWS = 3000
"""Rows up to which a kernel without finite lift is asked; that takes n^3 operations."""


def kernel_without_lift(features: Any, X: Any) -> Kernel | None:
    """The kernel with its numbers, where features are one without a finite lift; else None."""
    if not isinstance(features, Kernel | str) or is_texts(features):
        return None
    kernel = stated(features)
    if kernel.kinds or most_features(kernel, _width(X)) is not None:
        return None
    try:
        lift(kernel, _dense(X))
    except KernelError:
        rows = np.shape(X)[0]
        if rows > MAX_KERNEL_ROWS:
            needs, got = "features, or a kernel with a finite lift", f"got {kernel} and {rows:,} rows"
            raise InputError(message(needs, got, "Fit KernelSVC(kernel, C=np.inf), or give Nystrom(kernel).")) from None
        return kernel.resolve(X)
    return None


def feature_table(features: Any, X: Any) -> tuple[tuple[str, ...], Table]:
    """The names and the values of the features of rows, in float64."""
    if isinstance(features, Kernel | str) or is_texts(features):
        features, X = lift(features, _dense(_double(X))), _dense(X)
    if isinstance(features, type):
        raise InputError(message("features", f"got the class {features.__name__}", f"Give {features.__name__}()."))
    if hasattr(features, "transform"):
        return _of_transformer(features, _double(X))
    if callable(features):
        return _of_function(features, X)
    needs = "a kernel, formulas, a lift, another transformer or a function of rows as features"
    raise InputError(message(needs, f"got {features!r:.80}", 'Use "linear" or Parabolic(), say.'))


def plain_rows(X: Any) -> Table | None:
    """The rows as numbers, where they are some."""
    try:
        return np.asarray(_dense(X), dtype=np.float64)
    except (TypeError, ValueError):
        return None


def refuse_not_finite(X: Any) -> None:
    """Refuse rows with a number that is none, by its place."""
    rows = plain_rows(X)
    if rows is not None and rows.ndim and not np.isfinite(rows).all():
        place = tuple(int(at[0]) for at in np.nonzero(~np.isfinite(rows)))
        got = f"row {place[0]}{f', column {place[1]}' if len(place) > 1 else ''} holds {rows[place]}"
        raise InputError(message("finite numbers for X", got, "Drop or fill such rows."))


def _double(X: Any) -> Any:
    """Features are computed in float64."""
    return X.astype(np.float64) if isinstance(X, np.ndarray) and X.dtype == np.float32 else X


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _width(X: Any) -> int:
    shape = np.shape(X)
    return int(shape[1]) if len(shape) == 2 else 1


def _of_transformer(features: Any, X: Any) -> tuple[tuple[str, ...], Table]:
    try:
        check_is_fitted(features)
    except NotFittedError:
        features = clone(features).fit(X)
    found = features.transform(X)
    table = _checked(found, X.shape[0] if hasattr(X, "shape") else len(X), type(features).__name__)
    try:
        names = tuple(str(name) for name in features.get_feature_names_out())
    except (AttributeError, ValueError):
        names = _named(found, table)
    return names, table


def _of_function(features: Any, X: Any) -> tuple[tuple[str, ...], Table]:
    rows = X if hasattr(X, "columns") else np.asarray(plain("X", X))
    if not hasattr(X, "columns"):
        refuse_unreadable("X", rows)
        rows = rows.astype(np.float64)
    found = features(rows)
    table = _checked(found, len(rows), getattr(features, "__name__", "the function"))
    return _named(found, table), table


def _named(found: Any, table: Table) -> tuple[str, ...]:
    columns = getattr(found, "columns", None)
    return tuple(map(str, columns)) if columns is not None else tuple(f"phi{k}" for k in range(1, table.shape[1] + 1))


def _checked(found: Any, count: int, name: str) -> Table:
    try:
        table = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            message(f"numbers as features of {name}", f"NumPy says: {error}", "Return an array.")
        ) from error
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != count or not table.shape[1]:
        needs, got = f"a row of features for each of {count} rows", f"{name} returned an array of shape {table.shape}"
        raise InputError(
            message(needs, got, "A function gets all rows at once: lambda X: np.column_stack([X[:, 0], X[:, 0] ** 2]).")
        )
    if not np.isfinite(table).all():
        row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(table)))
        got = f"feature {column} of row {row} is {table[row, column]}"
        raise InputError(message("finite features", got, "Drop such rows, or scale the columns."))
    return table
