"""A fit of features, beside the kernel that these approximate: what certificates of fits look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.kernels import Kernel
from mercer.kernels.points import DOUBLE, Points
from mercer.learners.streaming.basis import Basis
from mercer.lifts.pivoting import RELATIVE_TOLERANCE
from mercer.operators import Centering

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Approximation:
    """A fit of features to rows in memory, and the kernel that these approximate.

    kernel : with its numbers
    points : the rows of the fit, n of them
    centering : their weights, and whether there is an intercept
    basis : the functions of which the model is made
    weights : (p, outputs), w, of the features
    duals : (n, outputs), D (b - Z w) / alpha
    alphas : (outputs,), each positive
    spread : (outputs,), the standard deviation of y
    """

    kernel: Kernel
    points: Points
    centering: Centering
    basis: Basis
    weights: Array
    duals: Array
    alphas: Array
    spread: Array

    @cached_property
    def rows(self) -> Points:
        """The rows, for values in float64."""
        return replace(self.points, dtype=DOUBLE)

    @cached_property
    def balanced(self) -> Array:
        """D P c: the dual coefficients, without what rounding left of their sum."""
        center = self.centering
        return np.asarray(self.duals - center.shares[:, None] * self.duals.sum(axis=0) * center.intercept)

    @cached_property
    def diagonal(self) -> Array:
        """k(x_i, x_i)."""
        return np.maximum(np.asarray(self.kernel.evaluate_diagonal(self.rows), dtype=np.float64), 0.0)

    def predicted(self, run: Run) -> Array:
        """f~(x_i), without the intercept."""
        return self.basis.times(self.rows, self.basis.to_raw(self.weights), run)

    @property
    def lost(self) -> Array:
        """(outputs,): how far a'K a may be off by rounding, with signs like those of coins."""
        return np.asarray(RELATIVE_TOLERANCE * np.sqrt(len(self.duals)) * self._lengths**2)

    @property
    def lost_at_rows(self) -> Array:
        """(outputs,): how far D K a may be off by rounding."""
        return np.asarray(RELATIVE_TOLERANCE * np.sqrt(self.centering.weights @ self.diagonal) * self._lengths)

    @property
    def _lengths(self) -> Array:
        return np.asarray(np.sqrt((self.diagonal[:, None] * self.balanced**2).sum(axis=0)))
