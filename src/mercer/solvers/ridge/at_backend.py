"""What is solved with matrices at a backend: factors are kept there, vectors go there and come back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from mercer.backends import squares
from mercer.backends.squares import Square
from mercer.compute.runtime.run import IDLE, Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.lifts.pivoting import Factor, RandomPivots, tolerance
from mercer.operators.at_backend import AtBackend
from mercer.solvers.ridge import cholesky_factor
from mercer.solvers.ridge.mixed_precision_cholesky import NO_STEPS, refined
from mercer.solvers.ridge.outcome import UsedUp

Array = NDArray[np.float64]
PANEL = 32
"""Rows that are looked at one by one before what they explain is subtracted from all others."""


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
        with one_thread_blas():  # what is done here is small
            return self._run(rng, enough, run)

    def _factor(self) -> Factor:
        self.columns.trim()
        pivots = np.array(self.pivots, dtype=np.intp)
        return Factor(pivots, np.asfortranarray(self.columns.rows(pivots).T), cast("Array", self.columns))

    def _accepted(self, proposed: NDArray[np.intp], draws: Array, most: int) -> tuple[NDArray[np.intp], Array]:
        left = self.left[proposed]
        thresholds = np.maximum(draws * left, self.floor[proposed])
        taken, lower = accepted(self.columns.rest(proposed), left, thresholds, most)
        return proposed[taken], lower

    def _take(self, chosen: NDArray[np.intp], lower: Array, run: Run) -> None:
        self.left -= self.columns.extend(chosen, lower)
        self.pivots.extend(chosen.tolist())
        run.tell(len(self.pivots))
        self.left[self.left <= self.floor] = 0.0
        self.left[chosen] = 0.0


def accepted(rest: Array, left: Array, thresholds: Array, most: int) -> tuple[list[int], Array]:
    """The rows, one after the other, of which more is left than a threshold, and the Cholesky factor among them.

    The same as `RandomPivots` does row by row, in panels: a row meets those of its panel alone, and what came before
    in products.

    rest : the matrix of all rows
    left : its diagonal
    most : rows that may be taken
    """
    size, taken = len(rest), list[int]()
    lower = np.zeros((size, size))
    for start in range(0, size, PANEL):
        k, stop = len(taken), min(start + PANEL, size)
        strip = rest[start:stop, start:] - lower[start:stop, :k] @ lower[start:, :k].T
        square, new = strip[:, : stop - start].copy(), list[int]()
        square.reshape(-1)[:: stop - start + 1] = left[start:stop] - np.square(lower[start:stop, :k]).sum(axis=1)
        own = np.zeros((stop - start, stop - start))
        for j, threshold in enumerate(thresholds[start:stop].tolist()):
            now = square.item(j, j)
            if not now > threshold:
                continue
            column = np.divide(square[j], math.sqrt(now), out=own[len(new)])
            square -= column[:, None] * column
            new.append(j)
            if k + len(new) == most:
                break
        t = len(new)
        if t:
            corner = np.ascontiguousarray(own[:t, new].T)
            found = blas.dtrsm(1.0, corner.T, strip[new].T, side=1, trans_a=0)  # columns of L below the panel's start
            lower[start:, k : k + t] = found
            lower[[start + j for j in new], k : k + t] = np.tril(corner)
        taken += [start + j for j in new]
        if len(taken) == most:
            break
    return taken, np.tril(lower[taken, : len(taken)])
