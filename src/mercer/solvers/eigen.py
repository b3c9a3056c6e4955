"""One decomposition, every alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mercer.compute.budget import Budget
from mercer.operators.dense import driver_for
from mercer.solvers.base import Cost, Matrix, Solver, System, relative_residual, solves
from mercer.solvers.outcome import Outcome
from mercer.solvers.preparing import overwritable, ready, row_sums
from mercer.solvers.spectrum import Spectrum


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
        values, vectors = eigh(
            A.T, driver=driver_for(len(A)), overwrite_a=True, check_finite=False
        )  # columns first, as LAPACK
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
    converged = not (short or clipped) and solves(residual, reason)
    return Outcome(x, converged, " ".join(reason), 0, residual, condition, decomposition=spectrum)
