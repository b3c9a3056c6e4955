"""Do these features separate the two classes? Exercise 17 in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message, speaks
from mercer.geometry.feature_table import feature_table, kernel_without_lift, plain_rows, refuse_not_finite
from mercer.geometry.separation import HullsMeet, Separated, Separation, Unresolved
from mercer.kernels import Kernel
from mercer.learners.data.labels import classes_of, labels_of
from mercer.solvers.separation.separate import Meeting, Plane, equal_points, separate

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
RIDGES = np.logspace(-16, -1, 16)
"""Ridges that are tried, in units of the largest eigenvalue."""
KERNEL_ERROR = 1e-12
"""How far rounding may move a value of a kernel, in units of sqrt(k(x, x) k(z, z))."""


@speaks
def separable(
    features: Kernel | str | Sequence[str] | Callable[[Any], Any] | Any, X: ArrayLike, y: ArrayLike
) -> Separation:
    """Do these features separate the two classes of some rows? A plane that does, or a point of both convex hulls.

    Two classes are separable, `w . phi(x) + b > 0` for the one and < 0 for the other, exactly if the convex hulls of
    their features have no point in common. The answer holds for the features as floats, not up to a tolerance: floats
    propose the nearest points of both hulls, and exact arithmetic finishes them and verifies the side of every row. The
    plane is halfway between them, the one of the widest margin. Cost: n D operations for each row that the points are
    made of, of which D + 2 suffice, and D^3 exact ones; above 64 features a "no" is known up to its `residual` only.

    A kernel without finite lift, such as the Gaussian, is asked for weights of the n functions k(x, x_j): "yes" where
    they separate beyond the rounding of its values. Cost: n^3.

    Parameters
    ----------
    features : Kernel, str, list of str, transformer or callable
        A kernel with a finite lift, or its text; formulas of the columns, one for each feature; a lift or another
        transformer, fitted or not; a function of all rows that returns a column per feature. Of features that were
        computed before, ask about "linear" with these as X.
    X : array or table of shape (n, d)
        The rows.
    y : array of shape (n,)
        Labels of two classes.

    Returns
    -------
    Separation
        `Separated`, which is true; `HullsMeet`, which is false; or `Unresolved`, where rounding hides the answer.

    Examples
    --------
    >>> import mercer
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["even", "even", "odd", "odd"]
    >>> print(mercer.separable("linear", X, y))
    not separable: both hulls hold the point (x1, x2) = (0.5, 0.5)
      even: 1/2 row 0 + 1/2 row 1
      odd: 1/2 row 2 + 1/2 row 3
    >>> bool(mercer.separable("linear + linear**2", X, y)), bool(mercer.separable(["x1", "x2", "x1*x2"], X, y))
    (True, True)
    """
    refuse_not_finite(X)
    labels = labels_of(X, y)
    if not len(labels):
        raise InputError(message("rows of two classes", "there are none", "Check X and y."))
    classes = classes_of(labels)
    if len(classes) > 2:
        got, remedy = f"there are {len(classes)}", f"Ask for one against the rest: y == {classes.tolist()[0]!r}."
        raise InputError(message("two classes", got, remedy))
    positive = labels == classes[1]
    kernel = kernel_without_lift(features, X)
    if kernel is not None:
        return _by_values(kernel, X, positive, classes)
    names, table = feature_table(features, X)
    return _answer(separate(table, positive), names, table, positive, classes)


def _answer(
    found: Any, names: tuple[str, ...], table: Array, positive: NDArray[np.bool_], classes: NDArray[Any]
) -> Separation:
    first, second = classes.tolist()
    if isinstance(found, Plane):
        counts = int((~positive).sum()), int(positive.sum())
        plane = found.normal, found.intercept, found.margin
        return Separated((first, second), names, *plane, counts, found.holds, found.exact)
    if isinstance(found, Meeting):
        pairs = sorted(zip(found.rows, found.weights, strict=True))
        weights = {
            name: {row: w for row, w in pairs if positive[row] == side}
            for name, side in ((first, False), (second, True))
        }
        point = np.array([_exact_sum(table[:, k], weights[second]) for k in range(table.shape[1])])
        return HullsMeet((first, second), names, weights, point, found.residual)
    why = f"the hulls are {found.distance:.1e} of the width of the rows apart, and no plane in floats is between them"
    return Unresolved((first, second), names, why)


def _exact_sum(column: Array, weights: dict[int, Fraction]) -> float:
    return float(sum(weight * Fraction(float(column[row])) for row, weight in weights.items()))


def _by_values(kernel: Kernel, X: Any, positive: NDArray[np.bool_], classes: NDArray[Any]) -> Separation:
    """Weights of k(x, x_j) that separate, or rows that are equal."""
    names = tuple(f"k(x, x_{j})" for j in range(len(positive)))
    rows = plain_rows(X)
    pair = None if rows is None else equal_points(rows, positive)
    if rows is not None and pair is not None:
        inputs = tuple(f"x{k}" for k in range(1, rows.shape[1] + 1))
        return _answer(Meeting(pair, (Fraction(1), Fraction(1)), 0.0), inputs, rows, positive, classes)
    weights, ratio = _best_weights(np.asarray(kernel(X), dtype=np.float64), np.where(positive, 1.0, -1.0))
    counts = int((~positive).sum()), int(positive.sum())
    first, second = classes.tolist()
    if ratio > 1:
        exact = (*map(Fraction, weights.tolist()), Fraction(0))
        return Separated((first, second), names, weights, 0.0, float("nan"), counts, True, exact)
    why = f"{kernel} has no finite lift, and no weights of its values separate the rows by more than their rounding"
    remedy = "A narrower kernel, or RandomFourier or Nystrom as features, may tell."
    return Unresolved((first, second), names, f"{why} (the best by {ratio:.2g} of it). {remedy}")


def _best_weights(K: Array, sign: Array) -> tuple[Array, float]:
    """Ridge weights of the labels, of length 1, whose least sign * f is the largest, in units of its rounding; both."""
    values, vectors = np.linalg.eigh(K)
    along, sizes = vectors.T @ sign, np.sqrt(np.abs(np.diag(K)))
    best, ratio = np.zeros(len(K)), -np.inf
    for alpha in RIDGES * np.abs(values).max():
        weights = vectors @ (along / (np.abs(values) + alpha))
        weights /= np.linalg.norm(weights)
        doubt = (KERNEL_ERROR + len(K) * EPS) * sizes * float(np.abs(weights) @ sizes)
        least = float((sign * (K @ weights) / np.where(doubt > 0, doubt, 1.0)).min())
        best, ratio = (weights, least) if least > ratio else (best, ratio)
    return best, ratio
