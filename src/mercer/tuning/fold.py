"""Rows that are left out together: one small system a fold and penalty, on either side of the Woodbury identity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.tuning.positive import in_two_steps, solved
from mercer.tuning.ridges import Ridges

Array = NDArray[np.float64]


class Fold(ABC):
    """The f rows of a fold F, on one side."""

    @abstractmethod
    def errors(self, i: int) -> Array:
        """(f, outputs): D_F e_F at penalty i; inf where that cannot be told from rounding."""


@dataclass(frozen=True, eq=False)
class DualFold(Fold):
    """G_FF D_F e_F = c_F. Cost: f^2 n + f^3 / 3 operations per penalty, and 2 f n numbers.

    rows : T, (f, n), rows of eigenvectors
    direction : u_F
    along : (m,), 1 / (tau + alpha); 0 where there is no intercept
    aims : (n, outputs), the right side in the basis of the eigenvectors
    unit : rounding
    """

    ridges: Ridges
    rows: Array
    direction: Array
    along: Array
    aims: Array
    unit: float

    def errors(self, i: int) -> Array:
        inverses = self.ridges.inverses[:, i]
        G, c, lost = self._matrix(i), self.rows @ (inverses[:, None] * self.aims), inverses == 0.0
        if not lost.any():
            return solved(G, c, self.unit)
        null = self.rows[:, lost]
        return in_two_steps(null @ null.T, null @ self.aims[lost], self.ridges.alphas[i], G, c, self.unit)

    def _matrix(self, i: int) -> Array:
        half = self.rows * np.sqrt(self.ridges.inverses[:, i])
        return np.asarray(half @ half.T - self.along[i] * np.outer(self.direction, self.direction))


@dataclass(frozen=True, eq=False)
class PrimalFold(Fold):
    """(I - U U') D_F e_F = D_F (y_F - prediction), with U = [T (Lambda + alpha)^-1/2, u_F].

    Where a fold has more rows than there are features, the inverse is I + U (I - U'U)^-1 U'.
    Cost: f^2 p or p^3 / 3 + 2 f p operations per penalty; f p + min(f, p)^2 numbers.

    rows : [T, u_F], (f, p + 1), the rows along the eigenvectors and the direction of the intercept
    aims : (p, outputs), the right side in the basis of the eigenvectors
    targets : (f, outputs)
    floor : how far the eigenvalues may be off
    unit : rounding
    """

    ridges: Ridges
    rows: Array
    aims: Array
    targets: Array
    floor: float
    unit: float

    @cached_property
    def inner(self) -> Array:
        """[T, u]'[T, u] where that is smaller than its mirror image, empty otherwise."""
        f, width = self.rows.shape
        return np.empty((0, 0)) if f <= width else np.asarray(self.rows.T @ self.rows)

    def errors(self, i: int) -> Array:
        inverses = self.ridges.inverses[:, i]
        left = self.targets - self.rows[:, :-1] @ (inverses[:, None] * self.aims)
        known = self.ridges.alphas[i] > 10 * self.floor or self._leaves_over(inverses)
        return self._solve(inverses, left) if known else np.full_like(left, np.inf)

    def _solve(self, inverses: Array, left: Array) -> Array:
        scale = np.sqrt(np.append(inverses, 1.0))[:, None]
        if not len(self.inner):
            return solved(self._matrix(scale), left, self.unit)
        part = solved(self._matrix(scale), scale * (self.rows.T @ left), self.unit)
        return left + self.rows @ (scale * part) if np.isfinite(part).all() else np.full_like(left, np.inf)

    def _leaves_over(self, inverses: Array) -> bool:
        """Whether something of the fold is left over, even if rounding has raised the eigenvalues as far as it may."""
        lowered = inverses / (1.0 - self.floor * inverses)
        matrix = self._matrix(np.sqrt(np.append(lowered, 1.0))[:, None])
        return bool(np.isfinite(solved(matrix, np.zeros((len(matrix), 1)), 0.0)).all())

    def _matrix(self, scale: Array) -> Array:
        """I - U U', or I - U'U where that is smaller: they have the same eigenvalues below one."""
        if len(self.inner):
            return np.asarray(np.eye(len(self.inner)) - scale * self.inner * scale.T)
        U = self.rows * scale.T
        return np.asarray(np.eye(len(U)) - U @ U.T)
