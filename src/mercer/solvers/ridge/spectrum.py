"""The eigenvalues and eigenvectors of a symmetric positive semi-definite matrix, and what they make free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes
from mercer.operators.dense import tiles

MAX_SILENT_CHANGE = 1e-8
"""By how much of itself a solution may change without a warning because negative eigenvalues count as zero."""


class Directions(Protocol):
    """(A + alpha I)^-1 = V diag(inverses) V': of a spectrum for any alpha, of other factors for one."""

    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def vectors(self) -> NDArray[np.float64]: ...
    @property
    def floor(self) -> float:
        """How far the values may be off."""

    def inverses(self, alphas: NDArray[Any]) -> NDArray[np.float64]:
        """(directions, alphas)."""

    def off(self, squares: NDArray[np.float64], inverses: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far the sums `squares @ inverses` may be off, for squares of rows of features along V."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A = Q diag(values) Q': a solve for any alpha takes 4 n^2 operations.

    What is negative counts as zero: rounding made it so, or A is not positive semi-definite, which `clipped` tells.
    Directions in which even A + alpha I cannot be told from zero, at most n eps times the largest eigenvalue, get no
    part of a solution: it is the shortest one then, as with the pseudo-inverse.

    values : eigenvalues in rising order, as LAPACK gave them
    vectors : Q, one eigenvector per column
    """

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]

    def _inconsistency(self) -> str:
        p = self.values.size
        return shapes((self.values, (p,)), (self.vectors, (None, p)))

    @cached_property
    def kept(self) -> NDArray[np.float64]:
        """The eigenvalues, zero where they are negative."""
        return np.maximum(self.values, 0.0)

    @property
    def floor(self) -> float:
        """What cannot be told from zero; never so small that one divided by it overflows."""
        exact = np.finfo(np.float64)
        return float(max(len(self.values) * exact.eps * np.abs(self.values).max(initial=0.0), exact.tiny))

    def inverses(self, alphas: NDArray[Any]) -> NDArray[np.float64]:
        """(n, alphas): 1 / (eigenvalue + alpha), or 0 where that cannot be told from 1 / 0."""
        shifted = self.kept[:, None] + np.asarray(alphas, dtype=np.float64)
        return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=shifted > self.floor)

    def off(self, squares: NDArray[np.float64], inverses: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far sums `squares @ inverses` may be off, where eigenvalues are off by the floor."""
        return np.asarray(self.floor * (squares @ inverses**2))

    def truncated(self, alphas: NDArray[Any]) -> bool:
        """Whether some direction gets no part of a solution."""
        return bool((self.kept.min(initial=np.inf) + np.asarray(alphas)).min(initial=np.inf) <= self.floor)

    def clipped(self, alphas: NDArray[Any]) -> bool:
        """Whether there are eigenvalues so negative that to count them as zero changes solutions."""
        below = -float(self.values.min(initial=0.0))
        return below > self.floor and below > MAX_SILENT_CHANGE * float(np.min(alphas))

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> NDArray[np.float64]:
        """(A + alpha_t I)^-1 b_t for each column b_t."""
        return np.asarray(self.vectors @ (self.inverses(alphas) * (self.vectors.T @ targets)))

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any]) -> NDArray[np.float64]:
        """The same."""
        return self.solve(targets, alphas)

    def serves(self, alphas: NDArray[Any]) -> bool:
        """For all alphas."""
        return True

    def multiply(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """A x, from the decomposition; negative eigenvalues count as they are, so that a residual shows them."""
        return np.asarray(self.vectors @ (self.values[:, None] * (self.vectors.T @ x)))

    def inverse_diagonal(self, alpha: float) -> NDArray[np.float64]:
        """The diagonal of (A + alpha I)^-1. Cost: 2 n^2 operations, and a tile."""
        n, inverses = len(self.values), self.inverses(np.array([alpha]))[:, 0]
        return np.concatenate([self.vectors[part] ** 2 @ inverses for part in tiles(n, n)])

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I)."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.kept + alpha).sum())

    def condition(self, alphas: NDArray[Any]) -> float:
        """The condition number of A + alpha I for the smallest of the alphas."""
        least = float(np.min(alphas))
        low = float(self.kept.min()) + least
        return (float(self.kept.max()) + least) / low if low > 0 else np.inf
