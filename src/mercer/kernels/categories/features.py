"""From columns of labels to rows of numbers: a label has a row in a table of its column; these stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from mercer.compute.codegen.sparse import canonical
from mercer.kernels.categories.items import Label
from mercer.kernels.objects.store import places
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MAX_DENSE_FEATURES = 512
"""Up to so many features in all, rows are dense: products of small dense tables are faster than sparse ones."""
KIND = "categories"

Lift = Callable[[tuple[Label, ...], int, str], Any]
"""The features of labels of a column, whose position and name come after them: a table with a row per label."""


def encoded(kernel: Kernel, left: Points, right: Points, lift: Lift) -> tuple[Points, Points]:
    """The features of two tables, over the same labels; one object for both where the tables are one.

    kernel : equal kernels share the features of the same labels
    """
    tables = [_column(kernel, left, right, c, lift) for c in range(left.values.shape[1])]
    one = _side_by_side([(rows, i) for rows, i, _ in tables], left)
    return one, one if right is left else _side_by_side([(rows, j) for rows, _, j in tables], right)


def squares(kernel: Kernel, points: Points, lift: Lift) -> NDArray[np.float64]:
    """|phi(x)|^2 of each row, the sum over its columns."""
    total = np.zeros(points.values.shape[0])
    for c in range(points.values.shape[1]):
        rows, codes, _ = _column(kernel, points, points, c, lift)
        total += np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()[codes]
    return total


def _column(kernel: Kernel, left: Points, right: Points, c: int, lift: Lift) -> tuple[Any, Any, Any]:
    """The features of all labels of a column of both tables, and which of them each row has."""
    here, there = (points.things(c, KIND, subject=type(kernel).__name__) for points in (left, right))
    where = left.label(c)
    table = here.store.beside(there.store, (kernel, c), lambda labels: canonical(csr_array(lift(labels, c, where))))
    return table, *places(here, there)


def _side_by_side(tables: list[tuple[Any, NDArray[np.intp]]], points: Points) -> Points:
    ends = np.cumsum([0, *(rows.shape[1] for rows, _ in tables)])
    if ends[-1] > MAX_DENSE_FEATURES:
        return Points(canonical(hstack([rows[codes] for rows, codes in tables], format="csr")), None, points.dtype)
    values = np.empty((points.values.shape[0], ends[-1]))
    for (rows, codes), start, stop in zip(tables, ends[:-1], ends[1:], strict=True):
        values[:, start:stop] = rows.toarray()[codes]
    return Points(values, None, points.dtype)


def divided(sides: tuple[Points, Points], number: float) -> tuple[Points, Points]:
    """Both tables of features divided by a number; one object for both where they are one."""
    left, right = sides
    here = replace(left, values=left.values / number)
    return here, here if right is left else replace(right, values=right.values / number)
