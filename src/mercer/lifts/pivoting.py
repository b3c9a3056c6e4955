"""Pivoted Cholesky factors of kernel matrices: which rows a kernel is best read from, and a factor that is stable.

Both methods end at rounding: a pivot is taken as long as what is left of k(x, x) is more than `RELATIVE_TOLERANCE` of
it. Later pivots would be noise, divided by its own root. That is why no jitter is ever needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from mercer.backends.base import Accumulator, Evaluator, Layout, RowValues
from mercer.backends.context import current
from mercer.backends.lanes import NumPyOperations
from mercer.backends.passes import Column, Operations, Pass
from mercer.compute.runtime import threads
from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS
from mercer.compute.runtime.run import IDLE, Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import (
    COLUMNS_THAT_DOUBLE_THE_COST,
    are_few,
    are_many_there,
    evaluator,
    matrix,
)
from mercer.kernels.evaluation.plain import Plain
from mercer.kernels.points import DOUBLE, Points

Array = NDArray[np.float64]
Part = slice | NDArray[np.intp]
Values = Callable[[Part, Part], NDArray[Any]]
"""From rows i and j to the numbers k(x_i, x_j), a new array."""
Sweep = Callable[[NDArray[np.intp], Pass, Mapping[str, Array]], object]
"""sweep(chosen, work, rows): hand the values between all rows and some to a pass, with columns of all rows."""

RELATIVE_TOLERANCE = 1e-12
"""What counts as nothing, relative to k(x, x): twice the 5e-13 to which kernels are evaluated."""
PROPOSED, MIN_PROPOSED_ROWS, MAX_PROPOSED_ROWS = 1.5, 64, 256
"""Rows that are proposed at once: so many times those that are wanted, as long as these are many enough for fast
products, and few enough that most are accepted."""
BLOCK_NUMBERS = 1 << 22
"""Numbers of a block of kernel values (32 MiB)."""
MAX_ONE_THREAD_NUMBERS = 1 << 20
"""Numbers in the features up to which one thread is as fast as several, which wait for each other."""
MIN_BOUND, COLUMNS_TO_BIND = 1.25, 10
"""Binding all rows takes so many times the pairs that a fused pass of one block takes to be worth it, beyond the time
of so many landmarks that measuring the rows takes. Columns count once: in plain NumPy many are a product as well."""
MAX_BOUND_NUMBERS = 1 << 22
"""Numbers of the data up to which all rows are bound at once, which takes a copy of them (32 MiB)."""
STRIP_NUMBERS = 1 << 16
"""Numbers of kernel values that a lane has at once (512 KiB)."""
MAX_CALL_ROWS = 8192
"""Rows that are worked on in one call, at most."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A partial Cholesky factor of the matrix K of a kernel on n rows.

    pivots : which rows, in the order in which they were taken
    upper : (k, k) upper triangular R, with K[pivots, pivots] = R'R
    features : (n, k) the rows of K[:, pivots] R^-1, so that K is about features features'
    """

    pivots: NDArray[np.intp]
    upper: Array
    features: Array


def whitened(upper: Array, values: Array) -> Array:
    """The rows of values R^-1, by a triangular solve in place; values is contiguous."""
    solved = blas.dtrsm(1.0, upper, values.T, trans_a=1, overwrite_b=1)
    return np.asarray(solved.T)


def weights(upper: Array, features: Array) -> Array:
    """The rows of values K^-1 from those of values R^-1, where K = R'R: how values are read from those at landmarks."""
    solved = blas.dtrsm(1.0, upper, features.T, overwrite_b=0)
    return np.asarray(solved.T)


def strips(rows: int, columns: int) -> list[slice]:
    """Blocks of rows with about `BLOCK_NUMBERS` numbers in so many columns."""
    step = max(1, BLOCK_NUMBERS // columns)
    return [slice(start, start + step) for start in range(0, rows, step)]


def cholesky(K: Array) -> tuple[NDArray[np.intp], Array]:
    """The pivots of a kernel matrix up to rounding, largest first, and R with K[pivots, pivots] = R'R.

    Each row counts relative to its own k(x, x): the matrix is scaled to a diagonal of ones first. Time k^3 / 3
    (LAPACK's pstrf).
    """
    sizes = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    scaled = np.asfortranarray(K * inverse * inverse[:, None])
    np.fill_diagonal(scaled, sizes > 0)
    upper, order, rank, _ = lapack.dpstrf(scaled, tol=tolerance(len(K)), overwrite_a=1)
    pivots = order[:rank].astype(np.intp) - 1
    return pivots, np.asfortranarray(np.triu(upper[:rank, :rank]) * sizes[pivots])


def tolerance(count: int) -> float:
    """`RELATIVE_TOLERANCE`, or more where a sum of so many squares rounds by more."""
    return max(RELATIVE_TOLERANCE, 4 * count * float(np.finfo(np.float64).eps))


def pivots_one_by_one(K: NDArray[Any], count: int, rng: np.random.Generator) -> Factor:
    """Randomly pivoted Cholesky of a stored matrix, a pivot at a time: what is quickest for few rows.

    The pivots have the same law as those of `RandomPivots`. Time 2 n k^2 operations for k pivots of n rows.
    """
    left, draws = np.array(K.diagonal(), dtype=np.float64), rng.random(count)
    rows, floor, pivots = np.empty((count, len(K))), tolerance(count) * left, list[int]()
    with one_thread_blas(), np.errstate(over="ignore"):  # of sums of large numbers
        for i in range(count):
            sums = left.cumsum()
            if np.isinf(sums[-1]):
                sums = (left / left.max()).cumsum()
            if sums[-1] == 0.0:
                break
            if np.isnan(sums[-1]):
                _refuse_infinite()
            pivot = int(sums.searchsorted(draws[i] * sums[-1], "right"))
            root = np.sqrt(left[pivot])
            row = (K[pivot] - rows[:i, pivot] @ rows[:i]) / root
            row[pivot] = root
            rows[i] = row
            left -= row * row
            left[left <= floor] = 0.0
            left[pivot] = 0.0
            pivots.append(pivot)
    chosen = np.array(pivots, dtype=np.intp)
    rows = rows[: len(chosen)]
    return Factor(chosen, np.asfortranarray(np.triu(rows[:, chosen])), np.ascontiguousarray(rows.T))


def _refuse_infinite() -> NoReturn:
    needs, got, remedy = "finite numbers", "there are infinities or NaN", "Check the data and the kernel."
    raise InputError(message(needs, got, remedy, subject="A pivoted factor"))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of the matrix of a kernel on some points: parts of one fused pass, where that is worth to be bound.

    Binding takes longer than filling most blocks, and there are several: proposed rows, and all rows with few pivots.

    count : how many pivots all rows will meet
    """

    kernel: Kernel
    points: Points
    count: int

    @cached_property
    def few(self) -> bool:
        """Whether plain NumPy takes less time for all blocks than binding."""
        if are_many_there(self.points):
            return False
        rows, columns = self.points.shape
        weight = 1 if self.points.sparse else 1 + min(1.0, columns / COLUMNS_THAT_DOUBLE_THE_COST)
        return are_few(rows * (self.count - COLUMNS_TO_BIND) * weight / MIN_BOUND)

    @cached_property
    def whole(self) -> Evaluator | None:
        """All rows with all rows; None where each block binds its own, or none is bound."""
        if self.few or math.prod(self.points.shape) > MAX_BOUND_NUMBERS:
            return None
        found = evaluator(self.kernel, self.points, self.points)
        return found if found.threaded else None

    def of_all_rows(self, chosen: NDArray[np.intp]) -> Evaluator:
        """All rows with some."""
        if self.whole is not None:
            return self.whole.within(None, chosen)
        return evaluator(self.kernel, self.points, self.points.rows(chosen))

    def between(self, i: Part, j: Part) -> NDArray[Any]:
        """Some rows with some."""
        if self.whole is not None and isinstance(i, np.ndarray) and isinstance(j, np.ndarray):
            return self.whole.within(i, j).matrix(DOUBLE, 1)[0]
        left = self.points.rows(i)
        right = left if i is j else self.points.rows(j)
        return Plain(self.kernel, left, right).matrix(DOUBLE, 1)[0] if self.few else matrix(self.kernel, left, right)


@dataclass(frozen=True, eq=False)
class NewFeatures(Pass):
    """Features that belong to new pivots, from values at these, and what is left of k(x, x) after them.

    before : (t, i), the features of the new pivots that earlier ones made
    lower : (t, t), the Cholesky factor of what these leave of the new pivots' own matrix
    """

    reads: ClassVar[tuple[str, ...]] = ("before",)

    before: Array
    lower: Array

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"features": Column((width,)), "taken": Column()}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        ops.subtract_product(values, rows["before"], self.before)
        ops.divide_by_triangle(values, self.lower)
        rows["features"][...] = values
        rows["taken"][...] = ops.row_squares(values)


def _dealt(rows: int, width: int, lanes: int) -> Layout:
    """Strips of so many numbers per row, of as many rows as stay in the cache of a lane; all lanes get as many."""
    pieces = -(-rows * width // (STRIP_NUMBERS * lanes)) * lanes
    return Layout(lanes, rows=-(-rows // pieces))


class RandomPivots:
    """Randomly pivoted Cholesky, in blocks with rejection.

    A pivot is drawn with probability proportional to what is left of k(x, x); what it explains is subtracted. Here
    Many rows are drawn at once, and each is then accepted with the probability that the ones accepted before
    it in the block leave it. The pivots have the same law as if they were drawn one by one, and the work is products of
    matrices. Time O(n k^2 + n k d) for k pivots of n rows, memory n k.

    diagonal : (n,), the numbers k(x, x)
    values : blocks of the matrix
    count : k, the most pivots
    sweep : all rows of some columns; None for blocks of `values`, one after the other

    References
    ----------
    Chen, Epperly, Tropp, Webber, Randomly pivoted Cholesky, Comm. Pure Appl. Math. 78 (2025).
    Epperly, Tropp, Webber, Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky,
    arXiv 2410.03969 (2024).
    """

    def __init__(self, diagonal: NDArray[Any], values: Values, count: int, sweep: Sweep | None = None) -> None:
        self.values, self.sweep, self.count = values, sweep or self._by_blocks, count
        self.left = np.maximum(np.asarray(diagonal, dtype=np.float64), 0.0)
        self.floor = tolerance(count) * self.left
        self.features = np.empty((len(self.left), count))
        self.upper = np.zeros((count, count), order="F")
        self.pivots: list[int] = []

    @classmethod
    def of(cls, kernel: Kernel, points: Points, count: int) -> Self:
        """For the matrix of a kernel whose numbers are known, on points that are to be given back in float64."""
        blocks = Blocks(kernel, points, count)
        if blocks.few:
            return cls(kernel.evaluate_diagonal(points), blocks.between, count)
        lanes = 1 if points.shape[0] * count <= MAX_ONE_THREAD_NUMBERS else threads.available()
        latest: list[Accumulator | None] = [None]

        def sweep(chosen: NDArray[np.intp], work: Pass, rows: Mapping[str, Array]) -> None:
            dealt = _dealt(points.shape[0], len(chosen), lanes)
            latest[0] = sums = current().accumulate(work, len(chosen), dealt, after=latest[0])
            sums.add(RowValues(blocks.of_all_rows(chosen), subject=kernel), rows)

        return cls(kernel.evaluate_diagonal(points), blocks.between, count, sweep)

    def run(
        self, rng: np.random.Generator, enough: Callable[[int, float], bool] | None = None, run: Run = IDLE
    ) -> Factor:
        """The factor, when there are as many pivots as asked, or nothing but rounding is left.

        enough : from the number of pivots and the sum of what they leave of k(x, x), whether to end sooner
        run : takes how many pivots there are
        """
        with one_thread_blas() if self.features.size <= MAX_ONE_THREAD_NUMBERS else nullcontext():
            return self._run(rng, enough, run)

    def _run(self, rng: np.random.Generator, enough: Callable[[int, float], bool] | None, run: Run) -> Factor:
        self._draw(rng, enough, run)
        return self._factor()

    def _draw(self, rng: np.random.Generator, enough: Callable[[int, float], bool] | None, run: Run) -> None:
        count = self.count
        while len(self.pivots) < count and self.left.any():
            size = min(MAX_PROPOSED_ROWS, max(MIN_PROPOSED_ROWS, int(PROPOSED * (count - len(self.pivots)))))
            sums = (self.left / self.left.max()).cumsum()  # a sum of large numbers may overflow
            proposed = sums.searchsorted(rng.random(size) * sums[-1], "right")
            chosen, lower = self._accepted(proposed, rng.random(size), count - len(self.pivots))
            self._take(chosen, lower, run)
            if not np.isfinite(self.left).all():
                _refuse_infinite()
            if enough is not None and enough(len(self.pivots), float(self.left.sum())):
                break

    def _factor(self) -> Factor:
        k, count = len(self.pivots), self.count
        features = self.features if k == count else self.features[:, :k].copy()
        upper = self.upper if k == count else self.upper[:k, :k].copy(order="F")
        return Factor(np.array(self.pivots, dtype=np.intp), upper, features)

    def _accepted(self, proposed: NDArray[np.intp], draws: Array, most: int) -> tuple[NDArray[np.intp], Array]:
        """The accepted rows among the proposed ones, and the lower Cholesky factor of what is left of their matrix."""
        rest, left, size = self._rest(proposed), self.left[proposed], len(proposed)
        thresholds = np.maximum(draws * left, self.floor[proposed]).tolist()
        lower, taken = np.empty((min(most, size), size)), list[int]()
        for j, threshold in enumerate(thresholds):
            now = left.item(j)
            if not now > threshold:
                continue
            q, root = len(taken), math.sqrt(now)
            column = lower[q]
            np.dot(lower[:q, j], lower[:q], out=column)
            np.subtract(rest[j], column, out=column)
            column /= root
            column[j] = root
            left -= column * column
            taken.append(j)
            if len(taken) == most:
                break
        return proposed[taken], np.tril(lower[: len(taken), taken].T)

    def _rest(self, rows: NDArray[np.intp]) -> Array:
        """What the pivots leave of the matrix among some rows."""
        before = self.features[rows, : len(self.pivots)]
        return np.asarray(np.asarray(self.values(rows, rows), dtype=np.float64) - before @ before.T)

    def _take(self, chosen: NDArray[np.intp], lower: Array, run: Run) -> None:
        """The features that belong to new pivots, and what is left of k(x, x) after them."""
        i, t = len(self.pivots), len(chosen)
        before = self.features[chosen, :i].copy()
        features, taken = self.features[:, i : i + t], np.empty(len(self.left))
        rows = {"before": self.features[:, :i], "features": features, "taken": taken}
        self.sweep(chosen, NewFeatures(before, lower), rows)
        self.left -= taken
        run.tell(i + t)
        self.left[self.left <= self.floor] = 0.0
        self.left[chosen] = 0.0
        self.upper[:i, i : i + t] = before.T
        self.upper[i : i + t, i : i + t] = lower.T
        self.pivots.extend(chosen.tolist())

    def _by_blocks(self, chosen: NDArray[np.intp], work: Pass, rows: Mapping[str, Array]) -> None:
        """The same with one thread of Python, which can be interrupted between short calls."""
        step = min(
            MAX_CALL_ROWS, max(1, int(MAX_CALL_OPERATIONS / (2 * len(chosen) * (len(self.pivots) + len(chosen)))))
        )
        for block in strips(len(self.left), len(chosen)):
            values = np.ascontiguousarray(self.values(block, chosen), dtype=np.float64)
            for start in range(0, len(values), step):
                part = values[start : start + step]
                own = slice(block.start + start, block.start + start + len(part))
                work.add(part, {name: column[own] for name, column in rows.items()}, {}, NumPyOperations)
