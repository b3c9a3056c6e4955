"""The plane of a lift for two classes, and what it says of places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.errors import InputError, KernelError, message
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
    answer : "yes" where every row is on its side, else "no"
    wrong : the positions of rows that are not
    """

    scores: Array
    answer: str
    wrong: NDArray[np.intp]


def plane_of(features: Any, X: Any, sign: Array, places: Any) -> Found:
    """The separating plane, or the one of the least violations."""
    phi = featured(features, X)
    table = _numbers(phi(X), len(sign))
    weights, intercept = least_violations(table, sign)
    values = sign * (table @ weights + intercept)
    wrong = np.flatnonzero(values <= ROUNDING * np.abs(values).max(initial=0.0))
    return Found(_numbers(phi(places), len(places)) @ weights + intercept, "no" if len(wrong) else "yes", wrong)


def featured(features: Any, X: Any) -> Callable[[Any], Any]:
    """The function from rows to features."""
    if isinstance(features, Kernel | str):
        kernel = stated(features)
        try:
            return lift(kernel, X).fit(X).transform
        except KernelError:
            known = kernel.resolve(X)
            return lambda Z: known(Z, X)
    if hasattr(features, "transform") and not isinstance(features, type):
        fitted: Any = clone(features).fit(X)
        return lambda Z: fitted.transform(Z)
    if callable(features) and not isinstance(features, type):
        return lambda Z: features(np.asarray(Z, dtype=np.float64))
    needs = "a lift, another transformer, a kernel or a function of rows"
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
