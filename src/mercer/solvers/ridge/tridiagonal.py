"""The tridiagonal form of a symmetric matrix: its outermost eigenvalues at once, all of it in two ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mercer.compute.runtime.lapack import patiently, routine
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.operators.dense import DIVIDE_AND_CONQUER_SIZES
from mercer.solvers.ridge.checks import SAFE_SQUARES, overwritable
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.solvers.ridge.torn import Torn

Array = NDArray[np.float64]

MIN_ROWS = 200
"""Rows from which on blocks take less time than eigenvectors: there is a little more to do in Python."""
BLOCK_ROWS = 56
"""Rows of a block of a torn matrix, about: larger ones take longer to decompose, smaller ones make more tears."""
MIN_FLOORS = 16.0
"""An alpha below so many times what cannot be told from zero needs eigenvectors: of directions that are left out."""
WORK_COLUMNS = 64
"""Columns that LAPACK works on at once, at most."""
MIN_THREADED_ROWS = 500
"""Rows from which on LAPACK is called in a thread of its own: below, it takes less than the blink of an eye."""


@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """A = Q T Q'.

    reflectors, scales : Q, as LAPACK keeps it: in the memory of A, which serves one of `torn` and `whole`, once
    diagonal, beside : T
    ends : the least eigenvalue, the second largest and the largest
    """

    reflectors: Array
    scales: Array
    diagonal: Array
    beside: Array
    ends: tuple[float, float, float]

    @classmethod
    def of(cls, matrix: Array) -> Tridiagonal | None:
        """In its own memory; None, with it as it was, where it is small, or such that `Eigen` has to look at it.

        Cost: 4 n^3 / 3 operations.
        """
        if len(matrix) < MIN_ROWS:
            return None
        A = overwritable(matrix)
        n, flat = len(A), A.reshape(-1)
        known = all(routine(name) is not None for name in ("dsytrd", "dorgtr", "dormtr", "dstedc"))
        with np.errstate(over="ignore"):
            is_plain = SAFE_SQUARES[0] < flat @ flat < SAFE_SQUARES[1]
        if not (known and is_plain and n in DIVIDE_AND_CONQUER_SIZES):
            return None
        if 16 * A.size > MAX_UNASKED_BYTES:
            remedy = "Use Cholesky() with one alpha that is large enough, or fewer rows."
            Budget.of(None).require(16 * A.size, f"the eigenvectors of {n} rows", remedy, subject="Eigen")
        diagonal, beside, scales, work = np.empty(n), np.empty(n - 1), np.empty(n - 1), np.empty(WORK_COLUMNS * n)
        _call(n, "dsytrd", "L", n, A, n, diagonal, beside, scales, work, len(work))
        return cls(A, scales, diagonal, beside, _ends(diagonal, beside))

    def serving(self, alphas: NDArray[Any]) -> Torn | Spectrum:
        """What serves these alphas: blocks, where no direction is left out, nor counts as zero what is negative."""
        floor = len(self.diagonal) * float(np.finfo(np.float64).eps) * max(map(abs, self.ends))
        is_plain = float(np.min(alphas)) > MIN_FLOORS * floor and self.ends[0] >= -floor
        return self.torn() if is_plain else self.whole()

    def torn(self) -> Torn:
        """A in blocks. Cost: 4 n^3 / 3 operations, and n^2 numbers beside A."""
        A, n = self.reflectors, len(self.diagonal)
        work = np.empty(WORK_COLUMNS * n)
        _call(n, "dorgtr", "L", n, A, n, self.scales, work, len(work))
        count = max(1, round(n / BLOCK_ROWS))
        starts = [n * k // count for k in range(count + 1)]
        around = np.concatenate([[0.0], self.beside, [0.0]])  # beside row i stand i and i + 1
        blocks, edges, values, vectors = [], [], np.empty(n), np.empty((n, n))
        for start, stop in pairwise(starts):
            block, torn = slice(start, stop), around[[start, stop]]
            own, sizes = self.diagonal[block].copy(), np.sqrt(np.abs(torn))
            own[0] += abs(torn[0])
            own[-1] += abs(torn[1])
            values[block], S = _decomposed(own, self.beside[start : stop - 1])
            np.matmul(A.T[:, block], S, out=vectors[:, block])
            blocks.append(block)
            edges.append(np.column_stack([-np.sign(torn[0]) * sizes[0] * S[0], sizes[1] * S[-1]]))
        return Torn(self.diagonal, self.beside, values, vectors, self.ends, blocks, edges)

    def whole(self) -> Spectrum:
        """Its eigenvalues and eigenvectors, as `Eigen` finds them. Cost: up to 5 n^3 operations, and 2 n^2 numbers."""
        n, work = len(self.diagonal), np.empty(WORK_COLUMNS * len(self.diagonal))
        values, vectors = _decomposed(self.diagonal, self.beside)
        sides = self.reflectors, n, self.scales, vectors, n
        _call(n, "dormtr", "L", "L", "N", n, n, *sides, work, len(work))
        return Spectrum(values, vectors)


def _decomposed(diagonal: Array, beside: Array) -> tuple[Array, Array]:
    """The eigenvalues and eigenvectors of a tridiagonal matrix, by divide and conquer."""
    n, values = len(diagonal), diagonal.copy()
    vectors, others = np.empty((n, n), order="F"), np.append(beside, 0.0)
    work, whole = np.empty(1 + 4 * n + n * n), np.empty(3 + 5 * n, dtype=np.int64)  # enough for 32 bits, too
    _call(n, "dstedc", "I", n, values, others, vectors, n, work, len(work), whole, len(whole))
    return values, vectors


def _ends(diagonal: Array, beside: Array) -> tuple[float, float, float]:
    """The least eigenvalue, the second largest and the largest, by bisection."""
    n, found = len(diagonal), []
    for first, last in ((1, 1), (max(n - 1, 1), n)):
        _, values, _, _, info = lapack.dstebz(diagonal, beside, 2, 0.0, 1.0, first, last, 0.0, "E")
        _converged("dstebz", info)
        found += values[: last - first + 1].tolist()
    return found[0], found[-2], found[-1]


def _call(n: int, name: str, *arguments: Any) -> None:
    """A routine of LAPACK for n rows, so that Ctrl-C comes through where it takes long."""
    solver = routine(name)
    if solver is None:
        raise NotImplementedError(name)
    call: Callable[[], int] = lambda: solver.checked(*arguments)  # noqa: E731
    _converged(name, call() if n < MIN_THREADED_ROWS else patiently(call))


def _converged(name: str, info: int) -> None:
    if info:
        raise np.linalg.LinAlgError(f"The eigenvalues did not converge: {name} returned {info}.")
