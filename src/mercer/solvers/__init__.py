"""Solvers of symmetric systems with a ridge, one algorithm a file; they see matrices and operators, never kernels."""

from mercer.solvers.base import Cost, Solver, System
from mercer.solvers.cholesky import Cholesky
from mercer.solvers.conjugate_gradient import ConjugateGradient
from mercer.solvers.eigen import Eigen
from mercer.solvers.gradient_descent import GradientDescent
from mercer.solvers.outcome import History, Outcome

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
