"""Evaluation at the public door: read the data, check it, walk the tree block by block, check the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import DomainError, InputError, NumericalWarning, sentence
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import Points, points_from, same_columns

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

BLOCK = 1 << 21
"""Pairs a block: each leaf holds a few arrays of this many numbers (16 MiB) while it works."""


def read(kernel: Kernel, X: ArrayLike) -> Points:
    """Data as points; messages speak in the kernel's name."""
    return points_from(name_of(kernel), X, kernel.needed)


def name_of(kernel: Kernel) -> str:
    """How messages call a kernel: a leaf by its class, a composite by its text where that is short."""
    if not kernel.children:
        return type(kernel).__name__
    text = str(kernel)
    return text if len(text) <= 60 else "The kernel"


def leaves(kernel: Kernel, points: Points) -> Iterator[tuple[Kernel, Points]]:
    """Every leaf of a tree, with the points as it sees them."""
    if not kernel.children:
        yield kernel, points
        return
    inner = kernel.inner_points(points)
    for child in kernel.children:
        yield from leaves(child, inner)


def check(kernel: Kernel, X: ArrayLike) -> None:
    """Refuse data on which the leaves are not kernels."""
    for leaf, points in leaves(kernel, read(kernel, X)):
        check_domain(leaf, points)
        check_dimension(leaf, points)


def check_domain(leaf: Kernel, points: Points) -> None:
    """Refuse points outside a leaf's own domain."""
    misfits = leaf.domain.misfits(points.values)
    if misfits.any():
        row, column = map(int, np.argwhere(misfits)[0])
        came = f"{points.label(column)} holds {points.values[row, column]:g}"
        raise DomainError(sentence(type(leaf).__name__, leaf.domain.needs, came, leaf.domain.remedy))


def check_dimension(leaf: Kernel, points: Points) -> None:
    """Refuse more columns than those for which a leaf is proven to be a kernel."""
    most, columns = leaf.max_dimension, points.values.shape[1]
    if most and columns > most:
        needs = f"at most {most} column{'s' * (most != 1)} to be a kernel"
        remedy = "Choose columns with on(), or use a kernel that is valid for more."
        raise DomainError(sentence(type(leaf).__name__, needs, f"the data has {columns}", remedy))


def gram(kernel: Kernel, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray[Any]:
    """The matrix of k(x_i, z_j); exactly symmetric where Z is X."""
    left, right = _ready(kernel, X, Z)
    return _finished(kernel, _matrix(kernel, left, right), left, right)


def diagonal(kernel: Kernel, X: ArrayLike) -> NDArray[Any]:
    """The vector of k(x_i, x_i)."""
    points, _ = _ready(kernel, X, None)
    with np.errstate(all="ignore"):
        return _finished(kernel, kernel.evaluate_diagonal(points), points, points)


def distance(kernel: Kernel, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray[Any]:
    """The kernel distance of all pairs; rounding below zero counts as zero, overflow as infinity."""
    left, right = _ready(kernel, X, Z)
    with np.errstate(all="ignore"):
        here, there = kernel.evaluate_diagonal(left), kernel.evaluate_diagonal(right)
        squared = here[:, None] + there[None, :] - 2 * _matrix(kernel, left, right)
        squared[np.isnan(squared)] = np.inf
        result = np.sqrt(np.maximum(squared, 0.0))
    if left is right:
        np.fill_diagonal(result, 0.0)
    return _finished(kernel, result, left, right)


def _ready(kernel: Kernel, X: ArrayLike, Z: ArrayLike | None) -> tuple[Points, Points]:
    """Both sides, read and checked; one object for both where they hold the same rows."""
    if kernel.is_open:
        raise InputError(
            sentence(
                kernel,
                "its open numbers found first",
                "a lengthscale is still 'median'",
                "Call kernel.resolve(X) on the training data.",
            )
        )
    left = read(kernel, X)
    right = left if Z is None or Z is X else read(kernel, Z)
    same_columns(name_of(kernel), left, right)
    for side in {id(points): points for points in (left, right)}.values():
        for leaf, points in leaves(kernel, side):
            check_domain(leaf, points)
    if left.dtype == right.dtype and np.array_equal(left.values, right.values):
        right = left
    return left, right


def _matrix(kernel: Kernel, left: Points, right: Points) -> NDArray[np.float64]:
    rows, columns = len(left.values), len(right.values)
    out = np.empty((rows, columns))
    step = max(1, BLOCK // columns)
    with np.errstate(all="ignore"):
        for start in range(0, rows, step):
            block = slice(start, start + step)
            out[block] = kernel.evaluate(Pairs(left.rows(block), right))
    if left is right:
        _mirror(out)
    return out


def _mirror(matrix: NDArray[np.float64], step: int = 1024) -> None:
    """Copy the lower triangle onto the upper one: a block product may round (i, j) and (j, i) differently."""
    for start in range(0, len(matrix), step):
        stop = start + step
        corner = matrix[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T


def _finished(kernel: Kernel, result: NDArray[Any], left: Points, right: Points) -> NDArray[Any]:
    """The result in the dtype of the data, with a warning where a number did not fit."""
    with np.errstate(over="ignore"):
        result = result.astype(np.result_type(left.dtype, right.dtype), copy=False)
    if not np.isfinite(result).all():
        warnings.warn(
            f"{kernel} overflows {result.dtype} on this data: the result holds infinities. "
            "Scale the data down, or normalize the kernel.",
            NumericalWarning,
            stacklevel=4,
        )
    return result
