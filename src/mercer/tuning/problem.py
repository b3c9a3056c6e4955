"""A kernel, rows and targets, decomposed: what every path starts from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, NumericalWarning, caller_level, message, speaker
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.operators import Centering
from mercer.solvers import Eigen
from mercer.tuning.path import MIN_ALPHA, default_alphas, scale_of
from mercer.tuning.reading import alphas_of, read, targets_of
from mercer.tuning.sides import DualSide

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
MAX_SILENT_ERROR = 1e-5
"""A relative error of this size by rounding is told; the default penalties stay below it."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A decomposed problem of least squares.

    side : the dual
    rows : (n,), the positions of the rows of positive weight
    scale : the largest eigenvalue of the matrix; where all are rounding, as of a constant that was centred, that of K
    """

    side: DualSide
    rows: NDArray[np.intp]
    scale: float

    def penalties(self, given: ArrayLike | None) -> Array:
        """The penalties that were given, with a warning where rounding shows, or the default ones."""
        if given is None:
            return default_alphas(self.scale)
        alphas = alphas_of(given)
        self._warn_of_rounding(alphas)
        return alphas

    def _warn_of_rounding(self, alphas: Array) -> None:
        conditions = self.conditions(alphas)
        bad, worst = conditions * EPS > MAX_SILENT_ERROR, float(conditions.max())
        if bad.any():
            warnings.warn(
                f"{speaker()} meets a condition number of {worst:.1e} at {bad.sum()} of {len(alphas)} alphas, up to "
                f"{alphas[bad].max():.1e}: rounding may change these errors by a part of about {worst * EPS:.0e}. "
                f"Use alphas from {MIN_ALPHA * self.scale:.1e} on.",
                NumericalWarning,
                stacklevel=caller_level(),
            )

    def conditions(self, alphas: Array) -> Array:
        """The condition number of A + alpha I on the directions that get a part of a solution, for each alpha."""
        shifted = self.side.spectrum.kept[:, None] + alphas
        least = np.where(shifted > self.side.spectrum.floor, shifted, np.inf).min(axis=0)
        return np.asarray(shifted.max(axis=0) / least)


def posed(
    kernel: Kernel | PythonFunction | str,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    fit_intercept: bool,
) -> Problem:
    """The problem, read, checked, centred and decomposed. Cost: about 9 n^3 operations, 3 n^2 numbers."""
    source, weights = read(kernel, X, sample_weight)
    Y = targets_of(y, len(weights))
    rows = np.flatnonzero(weights)
    n, remedy = len(rows), "Give fewer rows."
    Budget.of(None).require(3 * 8 * n**2, f"an eigendecomposition of {n} x {n} numbers", remedy)
    K = source.matrix(rows)
    centering = Centering(weights[rows], bool(fit_intercept))
    return _decomposed(K, rows, centering, centering.rows(Y[rows]), source.unit)


def _decomposed(K: Array, rows: NDArray[Any], centering: Centering, targets: Array, unit: float) -> Problem:
    sizes = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    size = float((centering.weights * sizes**2).max())
    A = centering.matrix(K)
    spectrum = Eigen().decompose(A.stored)
    smallest, largest = float(spectrum.values[0]), float(spectrum.values[-1])
    rounding = 10 * len(rows) * unit * max(size, 0.0)  # of K: centring may leave much less
    if smallest < -max(rounding, 10 * spectrum.floor):
        got = f"K is indefinite: smallest eigenvalue {smallest:.3g}, largest {largest:.3g}"
        remedy = "mercer.repair(K) makes it so, and says what that removes."
        raise InputError(message("a positive semi-definite matrix of similarities", got, remedy))
    return Problem(DualSide(spectrum, centering, A.pull, targets), rows, scale_of(spectrum, centering, sizes))
