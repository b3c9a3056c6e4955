"""One decomposition, every alpha."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mercer.compute.runtime.lapack import Routine, patiently, routine
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import explained, speaks
from mercer.operators.dense import DIVIDE_AND_CONQUER_SIZES
from mercer.solvers.ridge.base import PASSES, Cost, Matrix, Solver, Speed, System
from mercer.solvers.ridge.checks import ready, relative_residual, row_sums, solves, stored
from mercer.solvers.ridge.outcome import Outcome
from mercer.solvers.ridge.spectrum import Spectrum

MIN_THREADED_ROWS = 500
"""Rows from which on LAPACK is called in a thread of its own: below, it takes less than the blink of an eye."""


@explained
@dataclass(frozen=True)
class Eigen(Solver):
    """Eigenvalues and eigenvectors of A: after them a solve takes 4 n^2 operations for any alpha.

    Cost: about 9 n^3 operations by divide and conquer, and 3 n^2 numbers with A, which is overwritten. It is one call
    of LAPACK: Ctrl-C comes through, but LAPACK goes on, and holds this memory, until it is done. A graphics card takes
    5 n^2 numbers of its own memory, and the eigenvectors come to this process.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Eigen, System
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> Eigen().solve(System(A, np.eye(2), np.array([1.0, 1.0]))).value.round(3)
    array([[ 0.375, -0.125],
           [-0.125,  0.375]])
    """

    needs: ClassVar[Literal["matrix", "products"]] = "matrix"
    at_backend: ClassVar[bool] = True
    whole_path: ClassVar[bool] = True

    @speaks
    def decompose(self, matrix: Matrix) -> Spectrum:
        """The spectrum of A.

        Parameters
        ----------
        matrix : array or Operator
            A; a stored array is overwritten.

        Returns
        -------
        Spectrum
        """
        A = stored(matrix)
        if not isinstance(A, np.ndarray):
            return Spectrum(*A.square.spectrum())
        row_sums(A)  # an error where there is NaN, of which LAPACK says nothing
        remedy = "Use Cholesky() with one alpha that is large enough, or fewer rows."
        if 16 * A.size > MAX_UNASKED_BYTES:
            Budget.of(None).require(16 * A.size, f"the eigenvectors of {len(A)} rows", remedy)
        return Spectrum(*_decomposed(A.T))  # columns first, as LAPACK

    @speaks
    def solve(self, system: System) -> Outcome:
        A, system = ready(system)
        spectrum = self.decompose(A)
        x = spectrum.solve(system.targets, system.alphas)
        return outcome_of(spectrum, system, x)

    def cost(self, n: int, outputs: int) -> Cost:
        return Cost(9.0 * n**3 + 4.0 * n**2 * outputs, 3.0 * n**2 + 4.0 * n * outputs)

    def seconds(
        self, n: int, outputs: int, speed: Speed, largest: float | None = None, alpha: float | None = None
    ) -> float:
        return speed.eigenvectors(n) + speed.store(PASSES * float(n) ** 2)


def _decomposed(stored: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The eigenvalues and eigenvectors of a matrix, from its lower triangle, in its memory where LAPACK can."""
    driver = "evd" if len(stored) in DIVIDE_AND_CONQUER_SIZES else "evr"
    solver = routine(f"dsy{driver}")
    if len(stored) < MIN_THREADED_ROWS or solver is None:
        values, vectors = eigh(stored, driver=driver, overwrite_a=True, check_finite=False)
        return values, vectors
    return patiently(partial(_divided if driver == "evd" else _represented, solver, stored))


def _divided(solver: Routine, A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By divide and conquer (dsyevd)."""
    n, values = len(A), np.empty(len(A))
    work, whole = np.empty(1), np.empty(1, dtype=solver.integer)
    solver.checked("V", "L", n, A, n, values, work, -1, whole, -1)  # how much memory it wants
    work, whole = np.empty(int(work[0])), np.empty(int(whole[0]), dtype=solver.integer)
    _converged(solver.checked("V", "L", n, A, n, values, work, len(work), whole, len(whole)))
    return values, A


def _represented(solver: Routine, A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By relatively robust representations (dsyevr)."""
    n, values, vectors = len(A), np.empty(len(A)), np.empty_like(A, order="F")
    found, support = np.zeros(1, dtype=solver.integer), np.empty(2 * len(A), dtype=solver.integer)

    def call(work: NDArray[np.float64], whole: NDArray[Any], sizes: tuple[int, int]) -> int:
        ends = (0.0, 0.0, 0, 0, 0.0, found, values, vectors, n, support)
        return solver.checked("V", "A", "L", n, A, n, *ends, work, sizes[0], whole, sizes[1])

    work, whole = np.empty(1), np.empty(1, dtype=solver.integer)
    call(work, whole, (-1, -1))
    work, whole = np.empty(int(work[0])), np.empty(int(whole[0]), dtype=solver.integer)
    _converged(call(work, whole, (len(work), len(whole))))
    return values, vectors


def _converged(info: int) -> None:
    if info:
        raise np.linalg.LinAlgError(f"The eigenvalues did not converge: LAPACK returned {info}.")


def outcome_of(spectrum: Spectrum, system: System, x: NDArray[np.float64]) -> Outcome:
    """What a spectrum says about a solution."""
    products = spectrum.multiply(x) if system.product is None else system.product(x)
    short, clipped = spectrum.truncated(system.alphas), spectrum.clipped(system.alphas)
    reason = ["One eigendecomposition."]
    if clipped:
        reason += [f"A is not positive semi-definite: eigenvalues down to {spectrum.values[0]:.1e} counted as zero."]
    if short:
        reason += [
            "A + alpha I is singular to rounding: the shortest of the solutions was taken, without the directions "
            f"whose eigenvalues are at most {spectrum.floor:.1e}."
        ]
    residual, condition = relative_residual(system, products, x), spectrum.condition(system.alphas)
    converged = not (short or clipped) and solves(residual, reason)
    return Outcome(x, converged, " ".join(reason), 0, residual, condition, decomposition=spectrum)
