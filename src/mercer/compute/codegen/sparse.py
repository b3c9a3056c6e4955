"""Rows of sparse tables: how they are kept, and their products and distances with SciPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.compute.codegen.pair_statistics import rounding, squares

MAX_RELATIVE_ERROR = 5e-13
"""How far rounding may move a squared distance, relatively, before it is computed again from differences."""
MAX_STORED_NUMBERS = 1 << 22
"""Stored numbers of the differences that are held at once."""


def is_sparse(values: Any) -> bool:
    """Whether a table is sparse."""
    return hasattr(values, "nnz") and hasattr(values, "tocsr")


def canonical(table: Any) -> Any:
    """Compressed rows of float64, sorted, without duplicates and stored zeros; the given table stays as it is."""
    own = table.astype(np.float64, copy=False).tocsr()  # first the type: duplicates of small integers may overflow
    rows = csr_array((own.data, own.indices, own.indptr), shape=own.shape)
    rows.check_format(full_check=True)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def with_data(rows: Any, data: NDArray[Any]) -> Any:
    """Rows with other numbers in the same places."""
    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def with_columns(rows: Any, positions: NDArray[Any], width: int) -> Any:
    """Rows whose columns stand at increasing positions of a wider table."""
    return csr_array((rows.data, positions[rows.indices], rows.indptr), shape=(rows.shape[0], width))


def chosen(rows: Any, positions: list[int]) -> Any:
    """Some of the columns, in any order."""
    part = rows[:, positions]
    part.sort_indices()
    return part


def place(rows: Any, index: int) -> tuple[int, int]:
    """The row and the column of a stored number."""
    return int(np.searchsorted(rows.indptr, index, side="right")) - 1, int(rows.indices[index])


def scaled_rows(rows: Any) -> tuple[Any, NDArray[Any]]:
    """Rows whose largest entry is 1, and a column of what they were divided by."""
    largest = np.asarray(abs(rows).max(axis=1).toarray(), dtype=np.float64).reshape(-1, 1)
    return divided(rows, largest), largest


def divided(rows: Any, sizes: NDArray[Any]) -> Any:
    """Each row divided by its entry of a column; rows of zeros have nothing to divide."""
    return with_data(rows, rows.data / np.repeat(sizes[:, 0], np.diff(rows.indptr)))


def equal(left: Any, right: Any) -> bool:
    """Whether two canonical tables hold the same rows."""
    same_shape = left.shape == right.shape and left.nnz == right.nnz
    return same_shape and all(
        np.array_equal(getattr(left, part), getattr(right, part)) for part in ("indptr", "indices", "data")
    )


def product(left: Any, transposed: Any) -> NDArray[Any]:
    """<x, z> of all pairs; the right side comes with its columns as rows. Cost: one sparse product."""
    return np.asarray((left @ transposed).toarray())


def cancelled(left: Any, right: Any) -> float:
    """The part of |x|^2 + |z|^2 below which a squared distance from a product is not accurate any more."""
    terms = max(int(np.diff(side.indptr).max(initial=0)) for side in (left, right))
    return rounding(terms, "float64") / MAX_RELATIVE_ERROR


def squared_distances(left: Any, right: Any, dots: NDArray[Any]) -> NDArray[Any]:
    """|x - z|^2 from inner products; what has cancelled comes from differences, so that equal rows give exactly 0.

    Rows of sparse data are seldom near to each other at the scale of their lengths, so that this is seldom needed.
    """
    sizes = squares(left)[:, None] + squares(right)[None, :]
    found: NDArray[Any] = np.maximum(sizes - 2 * dots, 0.0)
    near = np.argwhere(~(found >= cancelled(left, right) * sizes))  # NaN, from an overflow, counts as near
    longest = sum(int(np.diff(side.indptr).max(initial=0)) for side in (left, right))
    step = max(1, MAX_STORED_NUMBERS // max(1, longest))
    for start in range(0, len(near), step):
        i, j = near[start : start + step].T
        found[i, j] = squares(left[i] - right[j])
    return found
