"""A solver of your own: a frozen record that solves (A + alpha I) x = b, and tells the truth about it.

    python examples/own_solver.py

It prints what the outcome of a fit says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mercer import KernelRidge
from mercer.operators import Operator
from mercer.solvers import Cost, Outcome, Solver, System
from mercer.testing import check_solver

Array = NDArray[np.float64]
USEFUL = 1e-3
"""A larger relative residual is no solution, whatever was computed."""


@dataclass(frozen=True)
class LeastNorm(Solver):
    """The shortest of all x for which |b - (A + alpha I) x| is least, by a singular value decomposition.

    It has an answer where A + alpha I is singular, too. Cost: about 20 n^3 operations and 4 n^2 numbers per alpha.
    """

    needs: ClassVar[Literal["matrix", "products"]] = "matrix"

    def solve(self, system: System) -> Outcome:
        A = system.matrix.to_dense() if isinstance(system.matrix, Operator) else np.asarray(system.matrix)
        x, condition = np.zeros_like(system.targets), 1.0
        for alpha in np.unique(system.alphas):
            columns = system.alphas == alpha
            x[:, columns], _, _, sizes = np.linalg.lstsq(A + alpha * np.eye(len(A)), system.targets[:, columns])
            condition = max(condition, float(sizes[0] / sizes[-1]) if sizes[-1] > 0 else np.inf)
        left = residual(system, A, x)
        return Outcome(x, left <= USEFUL, "One singular value decomposition an alpha.", 0, left, condition)

    def cost(self, n: int, outputs: int) -> Cost:
        return Cost(20.0 * n**3 + 4.0 * n**2 * outputs, 4.0 * n**2 + 2.0 * n * outputs)


def residual(system: System, A: Array, x: Array) -> float:
    """The largest |b - (A + alpha I) x| / |b| of an output, from the system itself; 0 where b is."""
    left = np.linalg.norm(system.targets - A @ x - system.alphas * x, axis=0)
    sizes = np.linalg.norm(system.targets, axis=0)
    return float(np.divide(left, sizes, out=np.zeros_like(left), where=sizes > 0).max())


def main() -> None:
    check_solver(LeastNorm())
    X = np.linspace(0, 3, 50)[:, None]
    model = KernelRidge("gaussian(1)", alpha=0.01, solver=LeastNorm()).fit(X, np.sin(2 * X[:, 0]))
    print(f"{model.outcome_.reason} Residual {model.residual_:.1e}, condition number {model.condition_:.0f}.")


if __name__ == "__main__":
    main()
