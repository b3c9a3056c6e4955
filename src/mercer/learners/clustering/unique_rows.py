"""The rows that are clustered: each different one once, in an order that the rows themselves decide.

A row that stands there twice is a row of weight 2, and neither the order of the rows nor whether the table or the
weights repeat them changes a draw: the same clusters come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.median import sorted_rows
from mercer.learners.clustering.settings import KMeansSettings
from mercer.learners.data.pair_cost import columns_of
from mercer.learners.data.range_checks import refuse_range
from mercer.learners.data.views import TableView, View

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class KMeansProblem:
    """What is to be clustered.

    settings : checked
    read : all rows, as they were read
    full : all rows, as the kernel sees them
    view : the different rows of positive weight, as the kernel sees them
    rows : (view,), where each of them stands first among all rows
    weights : (view,), how much each counts, with a mean of one
    unit : by what these weights are to be multiplied to be those that were given
    kept : the positions of all rows of positive weight
    group : (kept,), which of the different rows each of them is
    """

    settings: KMeansSettings
    read: Any
    full: View
    view: View
    rows: Rows
    weights: Array
    unit: float
    kept: Rows
    group: Rows

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.full.count


def without_copies(settings: KMeansSettings, rows: Any, full: View, kept: Rows, weights: Array) -> KMeansProblem:
    """The problem of the rows that count, with their weights, where equal rows are one.

    rows, full : all rows, as they were read, and as the kernel sees them
    kept, weights : (kept,), the positions of the rows that count, and their weights
    """
    first, merged, group = distinct(full, kept, weights)
    whole = not isinstance(full, TableView) and len(kept) == full.count  # a part of a matrix is a copy of it
    view, unit = full if whole else full.chosen(first), float(merged.mean())
    refuse_range(view, float(merged.sum()))
    return KMeansProblem(settings, rows, full, view, first, merged / unit, unit, kept, group)


def distinct(view: View, kept: Rows, weights: Array) -> tuple[Rows, Array, Rows]:
    """The first of equal rows, the weights of all of them, and which of these each row is.

    No two rows of a precomputed matrix are taken for equal.
    Cost: n log n d time, and a copy of the rows for a while.

    kept : the rows that count
    weights : (kept,)
    """
    if not isinstance(view, TableView):
        return kept, weights, np.arange(len(kept))
    values: Any = view.points.values
    order, starts = sorted_rows(values if len(kept) == view.count else values[kept])
    group = np.empty(len(kept), np.intp)
    ends = np.diff(starts, append=len(order))
    group[order] = np.repeat(np.arange(len(starts)), ends)
    if len(starts) == len(order):  # no row is there twice
        return kept[order], weights[order], group
    ranked = np.lexsort((weights, group))  # fractions add up the same way, in any order of the rows
    return kept[order[starts]], np.add.reduceat(weights[ranked], starts), group


def filled_of(view: View) -> tuple[int, float]:
    """The columns of rows, and how many numbers of a row are not zero, for the planner."""
    columns = view.points.shape[1] if isinstance(view, TableView) else view.count
    sparse: Any = view.points.values if isinstance(view, TableView) and view.points.sparse else None
    return columns, columns_of(view, columns) if sparse is None else sparse.nnz / max(1, view.count)
