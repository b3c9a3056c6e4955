"""Solvers of symmetric systems with a ridge, one algorithm per file; they see matrices and operators, never kernels."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.solvers.ridge.base import Cost as Cost
    from mercer.solvers.ridge.base import Solver as Solver
    from mercer.solvers.ridge.base import System as System
    from mercer.solvers.ridge.cholesky import Cholesky as Cholesky
    from mercer.solvers.ridge.conjugate_gradient import ConjugateGradient as ConjugateGradient
    from mercer.solvers.ridge.eigen import Eigen as Eigen
    from mercer.solvers.ridge.gradient_descent import GradientDescent as GradientDescent
    from mercer.solvers.ridge.outcome import History as History
    from mercer.solvers.ridge.outcome import Outcome as Outcome
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Cholesky": "ridge.cholesky",
            "ConjugateGradient": "ridge.conjugate_gradient",
            "Cost": "ridge.base",
            "Eigen": "ridge.eigen",
            "GradientDescent": "ridge.gradient_descent",
            "History": "ridge.outcome",
            "Outcome": "ridge.outcome",
            "Solver": "ridge.base",
            "System": "ridge.base",
        },
    )
