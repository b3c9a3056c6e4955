"""The fastest exact solver for one alpha, in the memory of the matrix alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.errors import explained, number_of, speaks
from mercer.operators import Operator
from mercer.solvers.ridge import mixed_precision_cholesky
from mercer.solvers.ridge.base import PASSES, Cost, Solver, Speed, System
from mercer.solvers.ridge.checks import MAX_RESIDUAL, Stored, overwritable, ready, relative_residual, row_sums, solves
from mercer.solvers.ridge.cholesky_factor import Factor, definite_factor, factorize, product_beside
from mercer.solvers.ridge.eigen import Eigen
from mercer.solvers.ridge.mixed_precision_cholesky import NO_STEPS, single_factor, suits
from mercer.solvers.ridge.outcome import Outcome, UsedUp

REFINED = 8.0
"""How often A is read by the steps after a factor in float32."""
MAX_ASSUMED_CONDITION = 1e12
"""Up to this bound of the condition number, from the trace, a factor is as good as it looks."""
NORM = 4.0
"""The largest sum along a row of a kernel matrix is at most so many times its largest eigenvalue, mostly."""


@explained
@dataclass(frozen=True)
class Cholesky(Solver):
    """A + alpha I = L L' in place: L overwrites one triangle, and the other still holds A, for the residual.

    Cost: n^3 / 3 operations and n^2 numbers, A itself; once for each different alpha. From 4,000 rows on, where alpha
    is well above the rounding of A to float32, L is in float32, which takes little more than half the time, and a few
    steps with A itself regain the digits of float64. Where A + alpha I is not positive definite to rounding, `Eigen`
    takes over, with its cost, and the outcome says so. The outcome holds the factor where there is one alpha, and no
    decomposition where there are several.

    On a graphics card A is computed whenever it is read, and L alone is held there: in float64, or in float32 with
    those steps where float64 has no room or is far slower.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Cholesky, System
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> outcome = Cholesky().solve(System(A, np.array([[3.0], [0.0]]), np.array([1.0])))
    >>> outcome.value.round(3).tolist(), round(outcome.condition, 3), outcome.residual < 1e-15
    ([[1.125], [-0.375]], 2.0, True)
    """

    needs: ClassVar[Literal["matrix", "products"]] = "matrix"
    at_backend: ClassVar[bool] = True

    @speaks
    def solve(self, system: System) -> Outcome:
        A, system = ready(system)
        x, products = np.zeros_like(system.targets), np.zeros_like(system.targets)
        condition, factor, ridges, steps = 1.0, None, np.unique(system.alphas), NO_STEPS
        norm = float(row_sums(A).max()) if isinstance(A, np.ndarray) else math.nan
        for alpha in ridges:
            if factor is not None:
                factor.restore()
            columns = np.flatnonzero(system.alphas == alpha)
            found = _solved(A, norm, float(alpha), system.targets[:, columns], system.run)
            if found is None:
                return _by_eigen(system)
            factor, x[:, columns], taken = found
            products[:, columns] = factor.multiply(x[:, columns])
            condition, steps = max(condition, factor.condition), max(steps, taken)
        residual, known = relative_residual(system, products, x), factor if len(ridges) == 1 else None
        regained = f", in float32, and {number_of(steps, 'step')} to the digits of float64"
        reason = [f"One Cholesky factor an alpha{regained if steps > NO_STEPS else ''}."]
        converged = solves(residual, reason)
        return Outcome(x, converged, " ".join(reason), 0, residual, condition, decomposition=known)

    def cost(self, n: int, outputs: int) -> Cost:
        return Cost(n**3 / 3 + 4.0 * n**2 * outputs, float(n) ** 2 + 4.0 * n * outputs)

    def seconds(
        self, n: int, outputs: int, speed: Speed, largest: float | None = None, alpha: float | None = None
    ) -> float:
        single = largest is not None and alpha is not None and suits(n, NORM * largest, alpha)
        steps = speed.read(REFINED * float(n) ** 2) if single else 0.0
        return speed.cholesky(n, single) + steps + speed.store(PASSES * float(n) ** 2)


def without_condition(system: System) -> tuple[Outcome, Factor] | None:
    """The solution for one alpha, and the factor, of an A that is known to be positive semi-definite.

    Its condition number is not estimated. None, with A as it was, where alpha is so small that it has to be, where the
    factor is better found in float32, and where there is no solution.
    """
    if isinstance(system.matrix, Operator):  # at a backend, where an estimate costs next to nothing
        return None
    A, alpha = overwritable(system.matrix), float(system.alphas[0])
    n = len(A)
    if n >= mixed_precision_cholesky.MIN_ROWS or not n * (float(A.trace()) + alpha) <= MAX_ASSUMED_CONDITION * alpha:
        return None
    factor = definite_factor(A, alpha, system.run)
    if factor is None:
        return None
    x = factor.solve(system.targets)
    residual = relative_residual(system, product_beside(factor, x), x)
    if not residual <= MAX_RESIDUAL:
        factor.restore()
        return None
    return Outcome(x, True, "One Cholesky factor an alpha.", 0, residual, math.nan), factor


def _solved(
    A: Stored, norm: float, alpha: float, targets: NDArray[np.float64], run: Run
) -> tuple[UsedUp, NDArray[np.float64], int] | None:
    """A factor in A's memory, the solution, and its steps from float32; None, with A as it was, without a factor.

    norm : the largest sum of |A| along a row, of an A in this process
    """
    if not isinstance(A, np.ndarray):
        from mercer.solvers.ridge.at_backend import solved  # most matrices are in this process

        return solved(A, alpha, targets, run)
    quick = single_factor(A, norm, alpha, run) if len(A) >= mixed_precision_cholesky.MIN_ROWS else None
    if quick is not None:
        x, steps = quick.refined(targets)
        if steps > NO_STEPS:
            return quick, x, steps
        quick.restore()
    factor = factorize(A, alpha, run, norm)
    return None if factor is None else (factor, factor.solve(targets), NO_STEPS)


def _by_eigen(system: System) -> Outcome:
    outcome = Eigen().solve(system)
    why = "A + alpha I is not positive definite to rounding, so that Cholesky gave way to Eigen."
    return replace(outcome, reason=f"{why} {outcome.reason}")
