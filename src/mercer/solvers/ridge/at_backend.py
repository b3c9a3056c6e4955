"""What is solved with matrices at a backend: factors are kept there, vectors go there and come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mercer.backends import squares
from mercer.backends.squares import Square, Triangle
from mercer.compute.runtime.run import IDLE, Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.lifts.pivoting import Factor, RandomPivots, tolerance
from mercer.operators.at_backend import AtBackend
from mercer.solvers.ridge import cholesky_factor
from mercer.solvers.ridge.mixed_precision_cholesky import NO_STEPS, refined
from mercer.solvers.ridge.outcome import UsedUp

Array = NDArray[np.float64]


def solved(A: AtBackend, alpha: float, targets: Array, run: Run) -> tuple[UsedUp, Array, int] | None:
    """A factor at a backend, the solution, and its steps from float32; None without a factor."""
    if A.square.takes_single(alpha):
        rough = A.square.factor(alpha, run, single=True)
        if rough is not None:
            known = Refined(rough)
            x, steps = refined(known, targets)
            if steps > NO_STEPS:
                return known, x, steps
            known.restore()
    factor = A.square.factor(alpha, run)
    return None if factor is None else (factor, factor.solve(targets), NO_STEPS)


def factor_of(A: Array | AtBackend, alpha: float) -> cholesky_factor.Factor | squares.Factor | None:
    """The factor of A + alpha I in float64, in A's memory or at a backend; None where there is none."""
    if isinstance(A, np.ndarray):
        return cholesky_factor.factorize(A, alpha)
    return A.square.factor(alpha, IDLE)


@dataclass(frozen=True, eq=False)
class Refined:
    """A factor in float32 at a backend, whose solutions are refined by products with A.

    rough : the factor
    """

    rough: squares.Factor

    @property
    def alpha(self) -> float:
        """The ridge."""
        return self.rough.alpha

    @property
    def norm(self) -> float:
        """The largest sum of |A + alpha I| along a row."""
        return self.rough.norm

    @property
    def condition(self) -> float:
        """An estimate of the condition number in the 1-norm."""
        return self.rough.condition

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> NDArray[np.float64]:
        """(A + alpha I)^-1 b for each column b. Cost: some products with A."""
        squares.check_alphas(self.alpha, alphas)
        return refined(self, targets)[0]

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """The same without steps, with a few digits."""
        return self.rough.roughly(targets, alphas)

    def multiply(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """A x."""
        return self.rough.multiply(x)

    def inverse_diagonal(self, alpha: float) -> NDArray[np.float64]:
        """An error: there is no room for a factor in float64."""
        return self.rough.inverse_diagonal(alpha)

    def log_determinant(self, alpha: float) -> float:
        """An error, likewise."""
        return self.rough.log_determinant(alpha)

    def serves(self, alphas: NDArray[Any]) -> bool:
        """For none."""
        return False

    def restore(self) -> None:
        """Give the memory of the factor back."""
        self.rough.restore()


class PivotsAtBackend(RandomPivots):
    """Randomly pivoted Cholesky of a square: choices are made here, columns are computed and kept there.

    The same draws and the same pivots as `RandomPivots`, up to rounding.

    diagonal : (n,), that of the square
    square : the matrix
    count : the most pivots
    """

    def __init__(self, diagonal: NDArray[Any], square: Square, count: int) -> None:
        self.left = np.maximum(np.asarray(diagonal, dtype=np.float64), 0.0)
        self.floor = tolerance(count) * self.left
        self.columns, self.count = square.features(count), count
        self.pivots = []

    def run(
        self, rng: np.random.Generator, enough: Callable[[int, float], bool] | None = None, run: Run = IDLE
    ) -> Factor:
        with one_thread_blas():  # for so few rows at once threads wait longer than they work
            return self._run(rng, enough, run)

    def landmarks(self, rng: np.random.Generator, run: Run = IDLE) -> tuple[NDArray[np.intp], Triangle]:
        """The pivots and the factor of their matrix, which stays there; the columns are given back."""
        with one_thread_blas():
            self._draw(rng, None, run)
        pivots = np.array(self.pivots, dtype=np.intp)
        return pivots, self.columns.triangle(pivots)

    def _factor(self) -> Factor:
        self.columns.trim()
        pivots = np.array(self.pivots, dtype=np.intp)
        return Factor(pivots, np.asfortranarray(self.columns.rows(pivots).T), cast("Array", self.columns))

    def _rest(self, rows: NDArray[np.intp]) -> Array:
        return self.columns.rest(rows)

    def _take(self, chosen: NDArray[np.intp], lower: Array, run: Run) -> None:
        self.left -= self.columns.extend(chosen, lower)
        self.pivots.extend(chosen.tolist())
        run.tell(len(self.pivots))
        self.left[self.left <= self.floor] = 0.0
        self.left[chosen] = 0.0
