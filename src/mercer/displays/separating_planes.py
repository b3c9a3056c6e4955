"""The plane of a lift for two classes, and what it says of places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.errors import InputError, KernelError, message
from mercer.geometry import Separated, separable
from mercer.kernels import Kernel
from mercer.lifts import lift
from mercer.lifts.coerce import stated

Array = NDArray[np.float64]
ROUNDING = 1e-9
"""A row is on its side where its score is more than this part of the largest."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a plane says.

    scores : w.phi + b at the places
    answer : "yes" where a plane separates the rows, "no", or "not resolved"
    wrong : the positions of rows on the wrong side of this one
    """

    scores: Array
    answer: str
    wrong: NDArray[np.intp]


def plane_of(features: Any, X: Any, labels: NDArray[Any], places: Any) -> Found:
    """The separating plane, or the one of the least violations."""
    asked, phi = featured(features, X)
    answer = separable(asked, X, labels)
    wrong: NDArray[np.intp] = np.zeros(0, np.intp)
    if isinstance(answer, Separated):
        weights, intercept = answer.coef, answer.intercept
    else:
        sign = np.where(labels == answer.classes[1], 1.0, -1.0)
        table = _numbers(phi(X), len(sign))
        weights, intercept = least_violations(table, sign)
        values = sign * (table @ weights + intercept)
        wrong = np.flatnonzero(values <= ROUNDING * np.abs(values).max(initial=0.0))
    return Found(_numbers(phi(places), len(places)) @ weights + intercept, answer.answer, wrong)


def featured(features: Any, X: Any) -> tuple[Any, Callable[[Any], Any]]:
    """What is asked whether it separates, and the function from rows to its features."""
    if isinstance(features, Kernel | str | list | tuple):
        try:
            fitted: Any = lift(features, X)
        except KernelError:
            if isinstance(features, list | tuple):
                raise
            kernel = stated(features).resolve(X)
            return kernel, lambda Z: kernel(Z, X)
        return fitted, lambda Z: fitted.transform(Z)
    if hasattr(features, "transform") and not isinstance(features, type):
        fitted = clone(features).fit(X)
        return fitted, lambda Z: fitted.transform(Z)
    if callable(features) and not isinstance(features, type):
        return features, lambda Z: features(np.asarray(Z, dtype=np.float64))
    needs = "a lift, another transformer, a kernel, formulas or a function of rows"
    raise InputError(message(needs, f"got {features!r:.80}", 'Use "linear" or Parabolic(), say.'))


def least_violations(table: Array, sign: Array) -> tuple[Array, float]:
    """w and b with the least sum of max(0, 1 - sign (w.phi + b)), by a linear programme on scaled features."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    middle, size = table.mean(axis=0), np.ptp(table, axis=0)
    size = np.where(size > 0, size, 1.0)
    n, D = table.shape
    rows = sign[:, None] * np.column_stack([(table - middle) / size, np.ones(n)])
    limits = [(None, None)] * (D + 1) + [(0, None)] * n
    costs = np.append(np.zeros(D + 1), np.ones(n))
    solved = linprog(costs, A_ub=-hstack([csr_array(rows), eye_array(n)]), b_ub=-np.ones(n), bounds=limits)
    weights = solved.x[:D] / size
    return weights, float(solved.x[D] - weights @ middle)


def _numbers(found: Any, count: int) -> Array:
    table = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != count or not np.isfinite(table).all():
        needs, got = f"finite features for each of {count} rows", f"got an array of shape {table.shape}"
        raise InputError(message(needs, got, "A function gets all rows at once: lambda X: X ** 2."))
    return table
