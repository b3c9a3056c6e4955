"""What a solver returns: a value, and the truth about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray


class Decomposition(Protocol):
    """What a direct solver found out about A, good for further right sides."""

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> NDArray[Any]:
        """(A + alpha_t I)^-1 b_t for each column b_t."""

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any]) -> NDArray[Any]:
        """The same, where a few digits do."""

    def serves(self, alphas: NDArray[Any]) -> bool:
        """Whether it speaks for all of these alphas, with all digits."""

    def multiply(self, x: NDArray[Any]) -> NDArray[Any]:
        """A x."""

    def inverse_diagonal(self, alpha: float) -> NDArray[Any]:
        """The diagonal of (A + alpha I)^-1."""

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I)."""


class UsedUp(Decomposition, Protocol):
    """A factor of A + alpha I in the memory of A, or in memory that is short."""

    @property
    def condition(self) -> float:
        """An estimate of the condition number of A + alpha I, in the 1-norm."""

    def restore(self) -> object:
        """A is as it was, and its memory free for another factor: this one is used up."""


@dataclass(frozen=True, eq=False)
class History:
    """The path of a gradient method, from the start at zero on.

    Parameters
    ----------
    losses : array of shape (steps + 1, outputs)
        The loss before the first step and after each.
    coefficients : array of shape (steps + 1, n, outputs)
        Likewise; (0, n, outputs) where they were not kept.
    step : float
        The size of a step.
    validation : array of shape (steps + 1, outputs)
        The loss on held-out rows; (0, outputs) where none were.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import GradientDescent, System
    >>> system = System(np.diag([1.0, 3.0]), np.array([[2.0], [8.0]]), np.array([1.0]))
    >>> history = GradientDescent(max_iter=3).solve(system).history
    >>> history.losses.shape, history.coefficients.shape
    ((4, 1), (4, 2, 1))
    """

    losses: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    step: float
    validation: NDArray[np.float64]

    _nan: ClassVar[tuple[str, ...]] = ("losses", "coefficients", "validation")
    """Fields that may hold NaN: a gradient method may diverge."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The solution of (A + alpha_t I) x_t = b_t, and how good it is.

    Parameters
    ----------
    value : array of shape (n, outputs)
        The solution, or the iterate at which a solver stopped.
    converged : bool
        Whether the goal was reached.
    reason : str
        Why it stopped, in one sentence.
    iterations : int
        Steps taken; 0 for direct solvers.
    residual : float
        The largest `|b_t - (A + alpha_t I) x_t| / |b_t|`, recomputed at the end.
    condition : float
        The largest condition number of A + alpha_t I, estimated; NaN where a solver has no estimate, and in the outcome
        of a learner where nobody has asked for its `condition_`.
    history : History or None, default=None
        Of gradient methods.
    decomposition : Decomposition or None, default=None
        Of direct solvers: `solve`, `roughly`, `serves`, `multiply`, `inverse_diagonal` and `log_determinant`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import Cholesky, System
    >>> outcome = Cholesky().solve(System(np.diag([1.0, 3.0]), np.array([[2.0], [8.0]]), np.array([1.0])))
    >>> outcome.converged, outcome.iterations, bool(outcome.residual < 1e-15), round(outcome.condition, 3)
    (True, 0, True, 2.0)
    """

    value: NDArray[np.float64]
    converged: bool
    reason: str
    iterations: int
    residual: float
    condition: float
    history: History | None = None
    decomposition: Decomposition | None = None

    _unsaved: ClassVar[tuple[str, ...]] = ("decomposition",)
    """Fields that no model file holds."""
