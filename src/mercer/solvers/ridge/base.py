"""The solver: a frozen record that solves symmetric systems with a ridge, and says what that costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.operators import Operator
from mercer.solvers.ridge.outcome import Outcome
from mercer.solvers.ridge.price import Price

Matrix = NDArray[np.float64] | Operator
"""A stored array of float64, or an operator that gives products."""
Loss = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""From coefficients x and the products A x, (n, outputs) both, to one number per output."""


@dataclass(frozen=True, eq=False)
class System:
    """(A + alpha_t I) x_t = b_t for a symmetric positive semi-definite A: least squares, seen from either side.

    In the dual A is the kernel matrix, centred and weighted, and x the dual coefficients; in the primal A is Z'Z of
    the features Z, and x the weights.

    Parameters
    ----------
    matrix : array or Operator
        A; solvers that work in place overwrite a stored array.
    targets : array of shape (n, outputs)
        b.
    alphas : array of shape (outputs,)
        Each at least 0.
    product : callable or None, default=None
        A @ x computed anew, for the residual of solvers that overwrote A; None where there is none.
    loss : callable or None, default=None
        The loss that gradient methods report; None for x'(A + alpha) x - 2 b'x, which they minimise.
    validation : callable or None, default=None
        The loss on held-out rows, from coefficients; None where there are none.
    run : Run, default=Run()
        Takes progress, may stop the solver, and keeps its state.
    price : Price or None, default=None
        What steps and the rank of a preconditioner cost where A is; None for operations.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Eigen, System
    >>> system = System(np.diag([1.0, 3.0]), np.array([[2.0], [8.0]]), np.array([1.0]))
    >>> Eigen().solve(system).value.ravel().round(6)
    array([1., 2.])
    """

    matrix: Matrix
    targets: NDArray[np.float64]
    alphas: NDArray[np.float64]
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    loss: Loss | None = None
    validation: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    run: Run = IDLE
    price: Price | None = None


PASSES = 10.0
"""How often direct solvers write A beside its factor: centring, norms, its condition, the residual, rounding."""


class Cost(NamedTuple):
    """The cost of a solver.

    Parameters
    ----------
    operations : float
        Floating-point operations.
    numbers : float
        Numbers that it holds at its peak, A included.

    Examples
    --------
    >>> from mercer.solvers import Cholesky
    >>> cost = Cholesky().cost(1000, 1)
    >>> f"{cost.operations:.2g} operations, {cost.numbers:.2g} numbers"
    '3.4e+08 operations, 1e+06 numbers'
    """

    operations: float
    numbers: float


class Speed(Protocol):
    """How fast a machine is, as planners measure it: seconds of what solvers are made of."""

    def multiply(self, operations: float) -> float:
        """Products of matrices, of so many operations."""

    def read(self, numbers: float) -> float:
        """Reading so many numbers of float64."""

    def store(self, numbers: float) -> float:
        """Writing so many numbers of float64 to new memory."""

    def cholesky(self, n: int, single: bool = False) -> float:
        """The Cholesky factor of n rows, in float64 or in float32."""

    def eigenvectors(self, n: int) -> float:
        """All eigenvectors of n rows."""


class Solver(ABC):
    """A solver of a `System`; a frozen dataclass whose fields are its settings.

    Examples
    --------
    >>> from mercer.solvers import Cholesky, ConjugateGradient, Solver
    >>> isinstance(Cholesky(), Solver), Cholesky().needs, ConjugateGradient().needs
    (True, 'matrix', 'products')
    """

    needs: ClassVar[Literal["matrix", "products"]]
    """Whether A must be stored, or products with it are enough."""
    whole_path: ClassVar[bool] = False
    """Whether one decomposition serves every alpha."""
    at_backend: ClassVar[bool] = False
    """Whether A may be a large matrix at a backend (`mercer.operators.at_backend.AtBackend`), which is not stored."""

    @abstractmethod
    def solve(self, system: System) -> Outcome:
        """Solve a system.

        Parameters
        ----------
        system : System
            The system; a stored matrix may be overwritten.

        Returns
        -------
        Outcome
            The solution, its residual, and whether it converged.
        """

    @abstractmethod
    def cost(self, n: int, outputs: int) -> Cost:
        """The cost of a system of n unknowns with one alpha.

        Parameters
        ----------
        n : int
            The unknowns.
        outputs : int
            The right sides.

        Returns
        -------
        Cost
        """

    def seconds(
        self, n: int, outputs: int, speed: Speed, largest: float | None = None, alpha: float | None = None
    ) -> float:
        """Seconds for n unknowns and one alpha, or all where `whole_path`; by default those of reading A.

        Parameters
        ----------
        n : int
            The unknowns.
        outputs : int
            The right sides.
        speed : Speed
            Of the machine.
        largest : float or None, default=None
            The largest eigenvalue of A, where a sample estimated it.
        alpha : float or None, default=None
            The penalty, where it is known.

        Returns
        -------
        float
        """
        return speed.read(self.cost(n, outputs).operations / 2)


def opening(stopped: Stopped) -> str:
    """Why a solver was stopped, as the beginning of a sentence."""
    words = str(stopped).rstrip(". ")
    return words[:1].upper() + words[1:]
