"""Input validation of tests: tables of rows, and kernels whose open numbers are found from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mercer.errors import InputError, message, speaker, speaking
from mercer.hypothesis_tests.settings import positive_of
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import check_dimension, check_domain, leaves, points_of_kernel
from mercer.kernels.fields import MEDIAN
from mercer.kernels.points import DOUBLE, Points, alike, stacked
from mercer.lifts.coerce import stated

MIN_ROWS = 4
"""Rows of a table, at least: the unbiased estimate of dependence divides by n - 3."""
MAX_MEDIAN_ROWS = 1 << 17
"""Rows among which the median distance is looked for, at most: sorting millions takes longer than it tells."""
LARGEST = float(np.finfo(np.float64).max * np.finfo(np.float64).eps)
"""What sums may reach: some factors more leave them finite."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows that are seen through a kernel.

    kernel : with its numbers
    points : the rows, to be computed with in float64
    scale : the mean k(x, x), by which rounding is judged
    """

    kernel: Kernel
    points: Points
    scale: float

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.points.values.shape[0])

    @cached_property
    def constant(self) -> bool:
        """Whether no row differs from another, so that there is nothing to compare."""
        values: Any = self.points.values
        if not self.points.sparse:
            return bool((values == values[0]).all())
        stored = int(values.indptr[1])
        if (np.diff(values.indptr) != stored).any():
            return False
        shape = self.count, stored
        parts = values.indices.reshape(shape), values.data.reshape(shape)
        return all(bool((part == part[0]).all()) for part in parts)


def kernel_of(given: Any, name: str, lengthscale: Any) -> Kernel:
    """A kernel from one or its text; a number closes its open lengthscale.

    name : how the setting of the lengthscale is called
    """
    kernel = stated(given)
    if isinstance(lengthscale, str) and lengthscale == MEDIAN:
        return kernel
    number = positive_of(name, lengthscale, 'Use "median", the default.')
    if not kernel.is_open:
        remedy = "Write lengthscale='median' in the kernel." if kernel.has_lengthscale else 'Use "median".'
        raise InputError(message(f"an open lengthscale for {name}={number!r}", f"{kernel} has none", remedy))
    return kernel.closed(number)


def table_of(name: str, kernel: Kernel, data: Any) -> Points:
    """A table of at least `MIN_ROWS` rows of finite numbers."""
    with speaking(f"{speaker()} ({name})"):
        points = replace(points_of_kernel(data, kernel), dtype=DOUBLE)
    count = points.values.shape[0]
    if count < MIN_ROWS:
        got = f"{name} has {count}"
        raise InputError(message(f"at least {MIN_ROWS} rows of each", got, "Give more rows."))
    return points


def pooled(kernel: Kernel, X: Any, Y: Any) -> tuple[Points, tuple[int, int]]:
    """The rows of X, and after them those of Y, as one table; how many each has."""
    left, right = alike(table_of("X", kernel, X), table_of("Y", kernel, Y))
    _refuse_other_columns(left, right)
    return stacked(left, right), (left.shape[0], right.shape[0])


def _refuse_other_columns(left: Points, right: Points) -> None:
    here, there = left.values.shape[1], right.values.shape[1]
    if here != there:
        got = f"X has {here} and Y has {there}"
        needs, remedy = "X and Y with the same number of columns", "Select the same columns; hsic compares others."
        raise InputError(message(needs, got, remedy))
    if left.names is not None and right.names is not None and left.names != right.names:
        first = next(i for i in range(here) if left.names[i] != right.names[i])
        got = f"column {first} is {left.names[first]!r} in X and {right.names[first]!r} in Y"
        raise InputError(message("X and Y with the same columns", got, "Reorder the columns of one."))


def seen_through(kernel: Kernel, points: Points, random: np.random.Generator) -> Seen:
    """Rows with a kernel whose open numbers are found from all of them, whichever sample they belong to."""
    _refuse_far(kernel, points)
    count = points.values.shape[0]
    if kernel.is_open:
        few = (
            points
            if count <= MAX_MEDIAN_ROWS
            else points.rows(np.sort(random.choice(count, MAX_MEDIAN_ROWS, replace=False)))
        )
        kernel = kernel.resolve_points(few)
    for leaf, inner in leaves(kernel, points):
        check_domain(leaf, inner)
        check_dimension(leaf, inner)
    with np.errstate(all="ignore"):
        sizes = np.abs(np.asarray(kernel.evaluate_diagonal(points), dtype=np.float64))
        finite = sizes.max() * float(count) ** 2 <= LARGEST
    if not finite:
        got, remedy = f"{kernel} overflows on this data", "Scale the data down, or normalize the kernel."
        raise InputError(message("values of the kernel with finite sums", got, remedy))
    return Seen(kernel, points, float(sizes.mean()))


def _refuse_far(kernel: Kernel, points: Points) -> None:
    """Refuse rows whose distances overflow, where a lengthscale is to be found from them."""
    for leaf, inner in leaves(kernel, points) if kernel.is_open else ():
        largest = max(float(inner.values.max()), -float(inner.values.min()))
        if leaf.is_open and 4 * inner.values.shape[1] * largest > LARGEST / max(largest, 1.0):
            got = f"got numbers up to {largest:.2g}"
            raise InputError(message("rows with finite squared distances", got, "Scale the columns down."))
