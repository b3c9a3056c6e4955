"""One decomposition, every alpha."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mercer.compute.budget import Budget
from mercer.errors import InputError, sentence
from mercer.operators import Operator
from mercer.operators.base import read
from mercer.operators.dense import tiles
from mercer.solvers.base import Cost, Matrix, Solver, System, relative_residual
from mercer.solvers.outcome import Outcome
from mercer.solvers.spectrum import Spectrum

DIVIDED = range(2, 32_767)
"""Sizes for divide and conquer: beyond them its 2 n^2 + 6 n + 1 numbers of work space overflow LAPACK's 32 bits, which
nothing reports, and SciPy before 1.14 refuses a single row."""


@dataclass(frozen=True)
class Eigen(Solver):
    """Eigenvalues and eigenvectors of A: after them a solve takes 4 n^2 operations for any alpha.

    Cost: about 9 n^3 operations by divide and conquer, and 3 n^2 numbers with A, which is overwritten.

    >>> import numpy as np
    >>> from mercer.solvers import Eigen, System
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> Eigen().solve(System(A, np.eye(2), np.array([1.0, 1.0]))).value.round(3)
    array([[ 0.375, -0.125],
           [-0.125,  0.375]])
    """

    needs: ClassVar[Literal["matrix", "products"]] = "matrix"
    whole_path: ClassVar[bool] = True

    def decompose(self, matrix: Matrix) -> Spectrum:
        """The spectrum of A; a stored array is overwritten."""
        A = overwritable("Eigen", matrix)
        row_sums("Eigen", A)  # an error where there is NaN, of which LAPACK says nothing
        remedy = "Use Cholesky() with one alpha that is large enough, or fewer rows."
        Budget.of(None).require("Eigen", 16 * A.size, f"the eigenvectors of {len(A)} rows", remedy)
        driver = "evd" if len(A) in DIVIDED else "evr"
        values, vectors = eigh(A.T, driver=driver, overwrite_a=True, check_finite=False)  # columns first, as LAPACK
        return Spectrum(values, vectors)

    def solve(self, system: System) -> Outcome:
        A, system = ready("Eigen", system)
        spectrum = self.decompose(A)
        x = spectrum.solve(system.targets, system.alphas)
        return outcome_of(spectrum, system, x)

    def cost(self, n: int, outputs: int) -> Cost:
        return Cost(9.0 * n**3 + 4.0 * n**2 * outputs, 3.0 * n**2 + 4.0 * n * outputs)


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
    return Outcome(x, not (short or clipped), " ".join(reason), 0, residual, condition, decomposition=spectrum)


def ready(who: str, system: System) -> tuple[NDArray[np.float64], System]:
    """A, which may be overwritten, and the system with it and with sides of float64; an error where they do not fit."""
    A = overwritable(who, system.matrix)
    b, alphas = (np.asarray(read(who, side), dtype=np.float64) for side in (system.targets, system.alphas))
    if alphas.ndim != 1 or not alphas.size or b.shape != (len(A), len(alphas)):
        needs = f"targets of shape ({len(A)}, outputs), and one alpha an output"
        came = f"targets of shape {b.shape} and alphas of shape {alphas.shape} came"
        raise InputError(sentence(who, needs, came, "Write b[:, None] for a single output."))
    if not np.isfinite(b).all():
        raise InputError(sentence(who, "finite targets", "there is NaN or infinity", "Drop those rows, or fill them."))
    if not (np.isfinite(alphas) & (alphas >= 0)).all():
        raise InputError(sentence(who, "alphas that are finite and at least 0", f"{alphas} came", "Use 0 for none."))
    return A, replace(system, matrix=A, targets=b, alphas=alphas)


def overwritable(who: str, matrix: Matrix) -> NDArray[np.float64]:
    """A, row after row, in memory that LAPACK may write to; a copy where it is not so, as of read-only arrays.

    LAPACK's wrappers copy whatever has another order or dtype, and write to read-only memory.
    """
    A: NDArray[Any] = matrix.to_dense() if isinstance(matrix, Operator) else read(who, matrix)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size:
        came = f"one of shape {A.shape} came"
        raise InputError(sentence(who, "a square matrix that is not empty", came, "Check the shape."))
    return np.require(A.T if A.flags.f_contiguous else A, np.float64, ["C", "A", "W"])  # A' is A


def row_sums(who: str, A: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of |A| along the rows, whose largest is the 1-norm; an error where they are not finite."""
    with np.errstate(over="ignore"):
        sums = np.concatenate([np.abs(A[part]).sum(axis=1) for part in tiles(len(A), len(A))])
    wrong = np.flatnonzero(~np.isfinite(sums))
    if wrong.size:
        came = f"row {wrong[0]} of A adds up to {sums[wrong[0]]}"
        raise InputError(sentence(who, "finite numbers with finite sums", came, "Check the data and the kernel."))
    return sums
