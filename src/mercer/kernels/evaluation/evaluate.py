"""Evaluation: read the data, check it, walk the tree block by block, check the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from mercer.backends.base import Evaluator
from mercer.backends.tensors import as_kind, is_finite, is_held, is_tensor, like
from mercer.compute.codegen.tiles import mirror
from mercer.compute.overflow import all_finite, warn_of_overflow
from mercer.compute.runtime import threads
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import DomainError, InputError, message, speaking
from mercer.kernels.domain import REALS
from mercer.kernels.evaluation import plain
from mercer.kernels.evaluation.dispatch import bound
from mercer.kernels.evaluation.plain import Plain
from mercer.kernels.objects.reading import objects_from
from mercer.kernels.objects.table import holds_more
from mercer.kernels.pairs import (
    MAX_COLUMNS_BY_DIFFERENCES,
    MAX_NUMBERS_BY_DIFFERENCES,
    DistancePairs,
    OnlyDistancesError,
    Pairs,
)
from mercer.kernels.points import (
    Points,
    alike,
    points_from,
    refuse_objects,
    refuse_sparse,
    same_columns,
    same_rows,
)

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MIN_FUSED_PAIRS = 1 << 17
"""Pairs from which on the fused pass is used: below it, plain NumPy takes less time than loading compiled code."""
MAX_BROUGHT_ROWS = 1 << 10
"""Rows on a device up to which they are few: plain NumPy takes them to this process."""
COLUMNS_THAT_DOUBLE_THE_COST = 32
"""Columns that take plain NumPy as long as the rest of a pair."""
MAX_COLUMNS_FROM_DISTANCES = 32
"""Columns up to which half of the distances, by differences, take no longer than a product for all."""

_fused_from: ContextVar[int] = ContextVar("fused_from", default=MIN_FUSED_PAIRS)


@contextmanager
def fused_from(pairs: int) -> Iterator[None]:
    """Inside, the fused pass is used from so many pairs on: 0 for always. For tests of both ways."""
    token = _fused_from.set(pairs)
    try:
        yield
    finally:
        _fused_from.reset(token)


def read(kernel: Kernel, X: Any) -> Points:
    """Data as points; messages speak in the kernel's name."""
    with speaking(name_of(kernel)):
        return points_of_kernel(X, kernel)


def points_of_kernel(X: Any, kernel: Kernel | None) -> Points:
    """Data as points, as a kernel reads it: rows of numbers, or columns of structured data among them."""
    if kernel is None or not (kernel.kinds or holds_more(X, kernel.needed)):
        return points_from(X, None if kernel is None else kernel.needed)
    return objects_from(X, kernel.needed, kernel.kinds)


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


def check(kernel: Kernel, X: Any) -> None:
    """Refuse data on which the leaves are not kernels."""
    for leaf, points in leaves(kernel, read(kernel, X)):
        check_domain(leaf, points)
        check_dimension(leaf, points)


def check_domain(leaf: Kernel, points: Points) -> None:
    """Refuse points outside a leaf's own domain, and sparse ones where it needs all coordinates."""
    if leaf.dense_only:
        refuse_sparse(points, subject=type(leaf).__name__)
    check_values(leaf, points)


def check_values(leaf: Kernel, points: Points) -> None:
    """Refuse points outside a leaf's own domain; sparse ones are taken, since a few of them can be made dense."""
    if leaf.of_numbers and points.stores:
        refuse_objects(points, subject=type(leaf).__name__)
    domain = leaf.domain
    misfit = None if domain is REALS else domain.first_misfit(points.values)
    if misfit is not None:
        row, column = misfit
        got = f"{points.label(column)} holds {points.values[row, column]:g}"
        raise DomainError(message(domain.needs, got, domain.remedy, subject=type(leaf).__name__))


def check_dimension(leaf: Kernel, points: Points) -> None:
    """Refuse more columns than those for which a leaf is proven to be a kernel."""
    most, columns = leaf.max_dimension, points.values.shape[1]
    if most and columns > most:
        needs = f"at most {most} column{'s' * (most != 1)} to be a kernel"
        remedy = "Choose columns with on(), or use a kernel that is valid for more."
        raise DomainError(message(needs, f"the data has {columns}", remedy, subject=type(leaf).__name__))


def gram(kernel: Kernel, X: Any, Z: Any = None) -> NDArray[Any]:
    """The matrix of k(x_i, z_j); exactly symmetric where Z is X."""
    left, right = ready(kernel, X, Z)
    if not is_tensor(X):
        return matrix(kernel, left, right)
    found: NDArray[Any] = _in_kind(kernel, left, right, X)
    return found


def _in_kind(kernel: Kernel, left: Points, right: Points, X: Any) -> Any:
    """The matrix as what X is: it is made where the rows are, unless they are few."""
    dtype = np.result_type(left.dtype, right.dtype)
    if is_few(left, right) or not is_held(left.values):
        return like(matrix(kernel, left, right), X)
    with np.errstate(all="ignore"):
        found = evaluator(kernel, left, right)
        diagonal = kernel.evaluate_diagonal(left).astype(dtype) if left is right else None
    if not hasattr(found, "tensor"):
        return like(matrix(kernel, left, right), X)
    values = found.tensor(dtype, diagonal)
    if not is_finite(values):
        warn_of_overflow(kernel, dtype)
    return as_kind(values, X)


def diagonal(kernel: Kernel, X: Any) -> NDArray[Any]:
    """The vector of k(x_i, x_i)."""
    points, _ = ready(kernel, X, None)
    with np.errstate(all="ignore"):
        result = kernel.evaluate_diagonal(points).astype(points.dtype, copy=False)
    warn_where_infinite(kernel, result)
    return like(result, X) if is_tensor(X) else result


def ready(kernel: Kernel, X: Any, Z: Any) -> tuple[Points, Points]:
    """Both sides, read and checked; one object for both where they hold the same rows."""
    if kernel.is_open:
        raise InputError(
            message(
                "its open numbers found first",
                "some are still to be found from data",
                "Call kernel.resolve(X) on the training data.",
                subject=kernel,
            )
        )
    left = read(kernel, X)
    right = left if Z is None or Z is X else read(kernel, Z)
    with speaking(name_of(kernel)):
        same_columns(left, right)
    left, right = (left, left) if right is left else alike(left, right)
    for side in {id(points): points for points in (left, right)}.values():
        for leaf, points in leaves(kernel, side):
            check_domain(leaf, points)
    return (left, left) if same_rows(left, right) else (left, right)


def evaluator(kernel: Kernel, left: Points, right: Points, rough: bool = False) -> Evaluator:
    """The evaluator: that of the backend for many pairs, where the kernel's code can be followed; else plain NumPy.

    rough : as in `mercer.kernels.evaluation.dispatch.bound`
    """
    if not is_few(left, right):
        with np.errstate(all="ignore"):  # what overflows in a rehearsal is a reason to take another way
            found = bound(kernel, left, right, rough)
        if found is not None:
            return found
    return Plain(kernel, left, right)


def is_few(left: Points, right: Points) -> bool:
    """Whether the pairs are so few that plain NumPy takes less time than compiled code takes to load."""
    (rows, columns), others = left.values.shape, right.values.shape[0]
    if max(rows, others) > MAX_BROUGHT_ROWS and (are_many_there(left) or are_many_there(right)):
        return False
    weight = 1 if left.sparse else 1 + columns / COLUMNS_THAT_DOUBLE_THE_COST
    return are_few(rows * others * weight)


def are_many_there(points: Points) -> bool:
    """Whether rows lie on a device, and are too many to be taken to this process."""
    return is_held(points.values) and points.values.shape[0] > MAX_BROUGHT_ROWS


def are_few(pairs: float) -> bool:
    """The same of so many pairs of a column each."""
    return pairs < _fused_from.get()


def matrix(
    kernel: Kernel,
    left: Points,
    right: Points,
    workers: int | None = None,
    watch: threads.Watch | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The matrix of all pairs in the dtype of the data, with a warning where a number did not fit.

    out : an array to write it to, of the right shape and dtype; None for a new one
    """
    found, sure = values_of(kernel, left, right, workers, watch, out)
    if not sure:
        warn_where_infinite(kernel, found)
    return found


def values_of(
    kernel: Kernel,
    left: Points,
    right: Points,
    workers: int | None = None,
    watch: threads.Watch | None = None,
    out: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], bool]:
    """The matrix, exactly symmetric where both sides are the same, and whether it is surely finite."""
    dtype = np.result_type(left.dtype, right.dtype)
    n, m = left.values.shape[0], right.values.shape[0]
    if out is None and n * m * dtype.itemsize > MAX_UNASKED_BYTES:
        remedy = "Use mercer.operators.Gram, which stores no matrix, or give fewer rows."
        Budget.of(None).require(
            n * m * dtype.itemsize, f"a matrix of {n} x {m} numbers", remedy, subject=name_of(kernel)
        )
    with np.errstate(all="ignore"):
        if out is None and is_few(left, right):
            return _few(kernel, left, right, dtype), False
        found = evaluator(kernel, left, right)
        out, sure = found.matrix(dtype, threads.count(workers) if found.threaded else 1, watch, out)
        if left is right:
            diagonal = kernel.evaluate_diagonal(left).astype(dtype)
            np.fill_diagonal(out, diagonal)
            sure = sure and bool(np.isfinite(diagonal).all())
    return out, sure


def _few(kernel: Kernel, left: Points, right: Points, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The matrix of so few pairs that nobody watches, or waits; of a symmetric one half is computed."""
    if type(left.values) is not np.ndarray or type(right.values) is not np.ndarray:
        left, right = (left.here(),) * 2 if left is right else (left.here(), right.here())
    n, m = left.values.shape[0], right.values.shape[0]
    if left is right and kernel.radial and (found := _from_distances(kernel, left)) is not None:
        return found.astype(dtype, copy=False)
    wide = left.values.shape[1] > MAX_COLUMNS_BY_DIFFERENCES  # products like larger blocks
    out, step = np.empty((n, m), dtype), max(1, plain.BLOCK_PAIRS * (1 + wide) // m)
    if n <= step:
        out[:] = kernel.evaluate(Pairs(left, right))
    else:
        for start in range(0, n, step):
            stop = min(start + step, n)
            others = right.rows(slice(0, stop)) if left is right else right
            out[start:stop, : others.values.shape[0]] = kernel.evaluate(Pairs(left.rows(slice(start, stop)), others))
    if left is right:
        mirror(out)
        out.reshape(-1)[:: n + 1] = kernel.evaluate_diagonal(left)
    return out


def _from_distances(kernel: Kernel, points: Points) -> NDArray[Any] | None:
    """The symmetric matrix from the distances of different rows, each computed once; None where that is slow."""
    values, (n, columns) = points.values, points.shape
    is_quick = columns <= MAX_COLUMNS_FROM_DISTANCES or n * n * columns <= MAX_NUMBERS_BY_DIFFERENCES
    if n < 2 or points.sparse or not is_quick:
        return None
    found = pdist(values, "sqeuclidean")
    try:
        for start in range(0, len(found), plain.BLOCK_PAIRS):
            part = found[start : start + plain.BLOCK_PAIRS]
            part[:] = kernel.evaluate(DistancePairs(part))
    except OnlyDistancesError:
        return None
    out = np.asarray(squareform(found, checks=False))
    out.reshape(-1)[:: n + 1] = kernel.evaluate_diagonal(points)
    return out


def warn_where_infinite(kernel: Kernel, result: NDArray[Any]) -> None:
    """Say so where some values are infinite."""
    with np.errstate(all="ignore"):
        finite = all_finite(result)
    if not finite:
        warn_of_overflow(kernel, result.dtype)
