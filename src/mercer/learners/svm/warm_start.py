"""A fit that starts where the last one ended, if the rows are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.svm.subproblem import Subproblem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Previous:
    """What a fit that starts from the last one has to know: its rows, and their coefficients.

    rows : as they were read: numbers of a table, or a matrix
    """

    rows: Any
    subproblems: Sequence[Subproblem]
    b: Sequence[Array]

    def starts(self, rows: Any, subproblems: Sequence[Subproblem]) -> Sequence[Array | None]:
        """Where to start each function: from the last coefficients where rows and targets are the same, else anew."""
        if len(subproblems) != len(self.subproblems) or not _equal(rows, self.rows):
            return [None] * len(subproblems)
        pairs = zip(subproblems, self.subproblems, self.b, strict=True)
        return [b if _same(new, old) else None for new, old, b in pairs]


def _equal(one: Any, other: Any) -> bool:
    """Whether two tables hold the same numbers."""
    if hasattr(one, "nnz") or hasattr(other, "nnz"):
        return hasattr(one, "nnz") and hasattr(other, "nnz") and one.shape == other.shape and (one != other).nnz == 0
    return bool(np.array_equal(one, other))


def _same(one: Subproblem, other: Subproblem) -> bool:
    """Whether coefficients of one function can start another: the same rows, with the same targets."""
    return np.array_equal(one.rows, other.rows) and np.array_equal(one.qp.linear, other.qp.linear)
