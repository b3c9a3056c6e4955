"""The certificate by audit: how far the features of a lift are from its kernel, on the pairs of a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.compute.codegen.sparse import canonical, is_sparse
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import leaves
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import Points
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate, bounded
from mercer.lifts.components import check_share

MAX_EXHAUSTIVE_ROWS = 2_000
"""Rows up to which all pairs are computed."""
SAMPLED_PAIRS = 100_000
"""Pairs that are drawn where there are more rows."""
SEED = 0x6D65_7263_6572
"""The seed of the audit: its own, so that it does not depend on the draw that it judges."""
BLOCK_NUMBERS = 1 << 22
"""Numbers in the features of a block of rows, at most."""
MAX_BLOCK_ROWS = 1 << 11
"""Rows of such a block, at most."""
SQUARE_ROWS = 32
"""Rows a side of the blocks of which sampled pairs are the diagonal: kernels are evaluated on blocks."""


def audited(
    lift: Lift,
    kernel: Kernel,
    X: ArrayLike,
    delta: float,
    largest: float,
    *,
    exhaustive: int = MAX_EXHAUSTIVE_ROWS,
    pairs: int = SAMPLED_PAIRS,
    seed: int = SEED,
) -> Certificate:
    """A bound on |phi(x).phi(z) - k(x, z)| over the pairs of rows of a table.

    Up to `exhaustive` rows it is the largest error of all pairs, a row with itself included: computed, so sure. Above,
    it bounds the mean error over all pairs of different rows, from a sample of independent ones. With the mean a and
    the variance v of p errors, of which none is above b, the mean of all is with probability 1 - delta at most

        a + sqrt(2 v L / p) + 7 b L / (3 (p - 1)),  L = log(2 / delta).

    Cost: n^2 (D + d) / 2 operations, or p (2 D + 32 d) and the features of 2 p rows; memory: blocks of 32 MiB.

    lift : a fitted lift
    kernel : what it approximates, without open numbers
    X : the table, as `transform` takes it
    delta : number between zero and one
    largest : b, no less than every error on pairs of this table

    References
    ----------
    Maurer and Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009, theorem 4.
    """
    check_is_fitted(lift)
    check_share("delta", delta)
    table = AuditTable(lift, kernel, lift._read(X, reset=False))
    if table.count <= exhaustive:
        return _maximum(table)
    return _mean(table, delta, largest, pairs, np.random.default_rng(seed))


def _maximum(table: AuditTable) -> Certificate:
    worst = 0.0
    parts = table.parts(table.count)
    for place, i in enumerate(parts):
        left = table.features(i)
        for j in parts[place:]:
            right = left if j == i else table.features(j)
            with np.errstate(all="ignore"):  # infinities are reported where they arise
                worst = max(worst, bounded(float(np.abs(left @ right.T - table.values(i, j)).max())))
    n = table.count
    text = (
        f"No value is off by more than {worst:.2g}: all {n * (n + 1) // 2} pairs of the {n} rows were computed, "
        "each row with itself included."
    )
    return Certificate(worst, 1.0, "maximum", text)


def _mean(table: AuditTable, delta: float, largest: float, pairs: int, rng: np.random.Generator) -> Certificate:
    n = table.count
    first, second = table.sampled_pairs(pairs, rng)
    errors = np.concatenate([table.errors(first[part], second[part]) for part in table.parts(pairs)])
    seen = bounded(float(errors.max()))
    with np.errstate(all="ignore"):
        bound = bounded(empirical_bernstein(errors, delta, max(largest, seen)))
    text = (
        f"Over all {n * (n - 1) // 2} pairs of different rows the mean of |phi(x).phi(z) - k(x, z)| is at most "
        f"{bound:.2g}, with probability {1 - delta:g}; among {pairs} sampled pairs the largest was {seen:.2g}."
    )
    return Certificate(bound, 1 - delta, "mean", text)


def empirical_bernstein(errors: NDArray[np.float64], delta: float, largest: float) -> float:
    """A bound on the mean, with probability 1 - delta, from independent numbers of 0 .. largest.

    >>> round(empirical_bernstein(np.array([0.0, 1.0] * 500), 0.01, 1.0), 3)
    0.564
    """
    count, log = len(errors), math.log(2 / delta)
    spread = math.sqrt(2 * float(errors.var(ddof=1)) * log / count)
    return float(errors.mean()) + spread + 7 * largest * log / (3 * (count - 1))


class AuditTable:
    """Rows with their features and their kernel, a block at a time, in float64."""

    def __init__(self, lift: Lift, kernel: Kernel, rows: Any) -> None:
        self.lift = lift
        self.kernel = kernel
        self.rows = rows
        self.count = int(rows.shape[0])
        self.step = max(1, min(MAX_BLOCK_ROWS, BLOCK_NUMBERS // max(lift.n_features(), int(rows.shape[1]))))
        self.names = tuple(getattr(lift, "feature_names_in_", ())) or None
        self.dense = any(leaf.dense_only for leaf, _ in leaves(kernel, self.points(slice(0, 1), dense=True)))

    def sampled_pairs(self, count: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Independent uniform pairs of different rows."""
        first = rng.integers(self.count, size=count)
        second = rng.integers(self.count - 1, size=count)
        second += second >= first  # uniform over the other rows
        return first, second

    def values_of(self, which: Any) -> Any:
        """Rows as kernels take them: float64, dense where the kernel needs that."""
        return self.points(which, self.dense).values

    def points(self, which: Any, dense: bool = False) -> Points:
        rows = self.rows[which]
        if is_sparse(rows):
            return Points(rows.toarray().astype(np.float64) if dense else canonical(rows))
        return Points(np.asarray(rows, dtype=np.float64), self.names)

    def features(self, which: Any) -> NDArray[np.float64]:
        found = self.lift.features(self.rows[which])
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float64)

    def parts(self, count: int) -> list[slice]:
        return [slice(start, min(start + self.step, count)) for start in range(0, count, self.step)]

    def values(self, left: Any, right: Any) -> NDArray[np.float64]:
        """k of all pairs of two sets of rows."""
        with np.errstate(all="ignore"):
            pairs = Pairs(self.points(left, self.dense), self.points(right, self.dense))
            return np.asarray(self.kernel.evaluate(pairs))

    def errors(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        """|phi(x).phi(z) - k(x, z)| of pairs of rows."""
        left, right, starts = self.features(first), self.features(second), range(0, len(first), SQUARE_ROWS)
        values = [np.diagonal(self.values(first[s : s + SQUARE_ROWS], second[s : s + SQUARE_ROWS])) for s in starts]
        with np.errstate(all="ignore"):
            return np.asarray(np.abs(np.einsum("ij,ij->i", left, right) - np.concatenate(values)))
