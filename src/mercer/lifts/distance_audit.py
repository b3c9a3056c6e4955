"""The certificate of distances by audit: how far |phi(x) - phi(z)| is from the kernel distance, relatively."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel
from mercer.lifts.audit import MAX_EXHAUSTIVE_ROWS, SAMPLED_PAIRS, SEED, SQUARE_ROWS, AuditTable
from mercer.lifts.base import BLOCK_NUMBERS, Lift
from mercer.lifts.certificate import Certificate, bounded
from mercer.lifts.components import check_share
from mercer.lifts.distances import refuse_rough

Array = NDArray[np.float64]

NEAR = 1e-6
"""Squared distances below this part of the squared lengths come from differences of features, not from products."""


def audited_distances(
    lift: Lift,
    kernel: Kernel,
    X: ArrayLike,
    delta: float,
    *,
    exhaustive: int = MAX_EXHAUSTIVE_ROWS,
    pairs: int = SAMPLED_PAIRS,
    seed: int = SEED,
) -> Certificate:
    """A bound on the relative error of |phi(x) - phi(z)| over the pairs of different rows of a table.

    Up to `exhaustive` rows it is the largest of all pairs: computed, so sure. Above, it is the largest b of a sample of
    p independent ones. Where a share s of all pairs has larger errors than b, no sampled one is among them with a
    probability of at most (1 - s)^p < exp(-s p). So with probability 1 - delta that share is below log(1 / delta) / p.
    Equal rows have no distance, and no error.

    Cost: n^2 (D + d) / 2 operations, or p (2 D + 32 d) and the features of 2 p rows; memory: blocks of 32 MiB.

    lift : a fitted lift
    kernel : what it approximates, without open numbers
    X : the table, as `transform` takes it
    delta : number between zero and one
    """
    check_is_fitted(lift)
    check_share("delta", delta)
    refuse_rough(kernel)
    table = AuditTable(lift, kernel, lift._read(X, reset=False))
    if table.count <= exhaustive:
        return _maximum(table)
    return _quantile(table, delta, pairs, np.random.default_rng(seed))


def _maximum(table: AuditTable) -> Certificate:
    worst, n = 0.0, table.count
    parts = table.parts(n)
    for place, i in enumerate(parts):
        left = table.features(i)
        for j in parts[place:]:
            right = left if j == i else table.features(j)
            errors = relative_errors(feature_distances(left, right), _distances(table, i, j))
            worst = max(worst, bounded(float(errors.max())))
    text = (
        f"No distance |phi(x) - phi(z)| is off by more than {worst:.2g} times the kernel distance: all "
        f"{n * (n - 1) // 2} pairs of the {n} rows were computed."
    )
    return Certificate(worst, 1.0, "maximum", text)


def _quantile(table: AuditTable, delta: float, pairs: int, rng: np.random.Generator) -> Certificate:
    first, second = table.sampled_pairs(pairs, rng)
    worst = 0.0
    for part in table.parts(pairs):
        left, right = first[part], second[part]
        found = np.linalg.norm(table.features(left) - table.features(right), axis=1)
        squares = [slice(start, start + SQUARE_ROWS) for start in range(0, len(left), SQUARE_ROWS)]
        exact = np.concatenate([np.diagonal(_distances(table, left[s], right[s])) for s in squares])
        worst = max(worst, bounded(float(relative_errors(found, exact).max())))
    share = math.log(1 / delta) / pairs
    text = (
        f"Of all {table.count * (table.count - 1) // 2} pairs of different rows at most a share of {share:.2g} has a "
        f"distance |phi(x) - phi(z)| that is off by more than {worst:.2g} times the kernel distance, with probability "
        f"{1 - delta:g}: none of {pairs} sampled pairs has."
    )
    return Certificate(worst, 1 - delta, "quantile", text)


def _distances(table: AuditTable, left: object, right: object) -> Array:
    return np.asarray(table.kernel.distance(table.values_of(left), table.values_of(right)))


def relative_errors(found: Array, exact: Array) -> Array:
    """|found / exact - 1|, and 0 where the exact distance is 0: the points are equal for the kernel.

    >>> relative_errors(np.array([1.1, 0.5, 0.0]), np.array([1.0, 1.0, 0.0])).round(12)
    array([0.1, 0.5, 0. ])
    """
    with np.errstate(all="ignore"):  # infinities are reported where they arise
        return np.asarray(np.abs(np.divide(found, exact, out=np.ones_like(exact), where=exact > 0) - 1))


def feature_distances(left: Array, right: Array) -> Array:
    """|a - b| of all pairs of rows: by products, and from differences where these would cancel.

    >>> float(feature_distances(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0 + 2**-40]]))[0, 0]) == 2**-40
    True
    """
    with np.errstate(all="ignore"):  # infinities are reported where they arise
        sizes = np.einsum("ij,ij->i", left, left)[:, None] + np.einsum("ij,ij->i", right, right)
        squares = sizes - 2 * (left @ right.T)
        first, second = np.nonzero(squares <= NEAR * sizes)
        step = max(1, BLOCK_NUMBERS // left.shape[1])
        for start in range(0, len(first), step):
            i, j = first[start : start + step], second[start : start + step]
            squares[i, j] = np.square(left[i] - right[j]).sum(axis=1)
        return np.asarray(np.sqrt(squares))
