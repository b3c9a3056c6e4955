"""Solvers of symmetric systems with a ridge, one algorithm per file; they see matrices and operators, never kernels."""

from mercer.solvers.ridge.base import Cost, Solver, System
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.conjugate_gradient import ConjugateGradient
from mercer.solvers.ridge.eigen import Eigen
from mercer.solvers.ridge.gradient_descent import GradientDescent
from mercer.solvers.ridge.outcome import History, Outcome

__all__ = [
    "Cholesky",
    "ConjugateGradient",
    "Cost",
    "Eigen",
    "GradientDescent",
    "History",
    "Outcome",
    "Solver",
    "System",
]
