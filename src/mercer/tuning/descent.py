"""Downhill on the leave-one-out error of a sum of kernels, over their weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import minimize

from mercer.errors import number_of
from mercer.tuning.members import PLATEAU_FACTOR, Aim, Member

Array = NDArray[np.float64]

SINGLE_STARTS = 3
"""Descents start from equal weights, and from so many of the kernels that are the best ones alone."""
WEIGHT_SCALE = 0.1
"""A weight times the largest eigenvalue is WEIGHT_SCALE (e^z - 1): linear in z for small ones, so that 0 can be
reached, and logarithmic for large ones. At WEIGHT_SCALE alpha is 10 times that eigenvalue, where a kernel begins to
matter."""
SLOPE_TOLERANCE = 1e-6
"""A slope of log(error) that counts as none."""
CHANGE_TOLERANCE = 1e-10
"""A relative change of it that counts as none."""
ROUNDED_SLOPE_TOLERANCE = 1e-4
"""A slope that counts as none where rounding ended a descent."""


@dataclass(frozen=True, eq=False)
class SumError:
    """The leave-one-out error of sum_m w_m A_m with alpha = 1, and its slopes.

    With G = P (A + I)^-1 P, c = G b and q_i = 1 - m_i + m_i G_ii the error is |c / q|^2 / N. As dG = -G A_m G dw_m, it
    has the slopes 2 <A_m, G T G - G r c'> / N with r_i = c_i / q_i^2 and T = diag(m_i c_i^2 / q_i^3).

    matrices : A_m / size, (M, n, n)
    """

    aim: Aim
    members: tuple[Member, ...]
    matrices: Array

    @cached_property
    def pulls(self) -> Array:
        """tau of each matrix."""
        return np.array([member.pull for member in self.members])

    @cached_property
    def limits(self) -> Array:
        """The largest weights."""
        return np.array([member.reach for member in self.members])

    def sum(self, weights: Array) -> Array:
        """sum_m w_m A_m."""
        n = len(self.aim.targets)
        return np.asarray(weights @ self.matrices.reshape(-1, n * n)).reshape(n, n)

    def __call__(self, weights: Array) -> tuple[Array, Array]:
        """The error of each output, and the slopes of their mean. Cost: 4 n^3 + 4 M n^2 operations, 4 n^2 numbers."""
        copies, total = self.aim.centering.weights, self.aim.centering.total
        G = self._inverse(weights)
        c, taken = G @ self.aim.targets, 1 / np.maximum(1.0, copies)
        below = (1 - taken + taken * np.diagonal(G))[:, None]
        left = c / below
        squares = np.square(left)
        inner = (G * (taken * squares.sum(axis=1) / below[:, 0])) @ G
        inner -= (G @ (left / below)) @ c.T
        slopes = self.matrices.reshape(len(weights), -1) @ inner.ravel()
        return squares.sum(axis=0) / total, 2 / (total * c.shape[1]) * slopes

    def parts(self, weights: Array) -> Array:
        """|f_m|^2 of each kernel's part of the fitted function, over rows and outputs, copies counted."""
        c = self._inverse(weights) @ self.aim.targets
        return np.array([np.square(w * (A @ c)).sum() for w, A in zip(weights, self.matrices, strict=True)])

    def _inverse(self, weights: Array) -> Array:
        """G; every A_m is positive semi-definite to rounding, and limits keep that below one."""
        A, u = self.sum(weights), self.aim.centering.direction
        A.flat[:: len(A) + 1] += 1.0
        factor, _ = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        G = inverse.T  # rows first again: what is known stands above the diagonal
        along = u / (1 + weights @ self.pulls)
        for i in range(len(G)):
            G[i, i:] -= u[i] * along[i:]
            G[i:, i] = G[i, i:]
        return np.asarray(G)


class Descent(NamedTuple):
    """Where a descent ended, and how it went."""

    weights: Array
    history: list[float]
    converged: bool
    reason: str


def best_of(error: SumError, steps: int) -> Descent:
    """The best of several descents that left a kernel, or one from the best kernel alone where that is better."""
    single = int(np.argmin([member.error for member in error.members]))
    least, alone = error.members[single].error, error.members[single].best * np.eye(len(error.members))[single]
    found = [_descend(error, start, steps) for start in _starts(error)]
    some = [run for run in found if run.weights.any() and run.history[-1] <= least]
    best = min(some, key=lambda run: run.history[-1]) if some else _descend(error, alone, steps)
    if best.weights.any():
        return best
    return Descent(alone, [least], True, "No kernel helps: a model without any has less error.")


def _starts(error: SumError) -> list[Array]:
    """Kernels of equal weights after each has got a mean diagonal of one, and the best kernels alone."""
    members = error.members
    singles = np.argsort([member.error for member in members], kind="stable")[:SINGLE_STARTS]
    alone = [members[i].start * np.eye(len(members))[i] for i in singles]
    if len(members) == 1:
        return alone
    equal = 1 / np.trace(error.matrices, axis1=1, axis2=2)
    _, alphas, errors = error.aim.path(error.sum(equal), float(equal @ error.pulls))
    level = alphas[errors <= PLATEAU_FACTOR * errors.min()].max()
    return [np.minimum(equal / level, error.limits), *alone]


def _descend(error: SumError, weights: Array, steps: int) -> Descent:
    """L-BFGS-B on the logarithm of the error, over z with weights = WEIGHT_SCALE (e^z - 1)."""
    history: list[float] = []

    def value(z: Array) -> tuple[float, Array]:
        here = WEIGHT_SCALE * np.expm1(z)
        errors, slopes = error(here)
        mean = max(float(errors.mean()), np.finfo(np.float64).tiny)
        if not history:
            history.append(mean)
        return float(np.log(mean)), (here + WEIGHT_SCALE) * slopes / mean

    def note(intermediate_result: Any) -> None:
        history.append(float(np.exp(intermediate_result.fun)))

    tops, start = np.log1p(error.limits / WEIGHT_SCALE), np.log1p(weights / WEIGHT_SCALE)
    options = {"maxiter": steps, "ftol": CHANGE_TOLERANCE, "gtol": SLOPE_TOLERANCE}
    bounds = [(0.0, top) for top in tops]
    end = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=note, options=options)
    slope = float(np.abs(np.clip(end.x - end.jac, 0.0, tops) - end.x).max())
    return Descent(
        np.minimum(WEIGHT_SCALE * np.expm1(end.x), error.limits), history, *_verdict(end.status, slope, steps)
    )


def _verdict(status: int, slope: float, steps: int) -> tuple[bool, str]:
    """Whether a descent has arrived, and why it ended."""
    if status == 0 or slope < ROUNDED_SLOPE_TOLERANCE:
        return True, "No step leads further down."
    if status == 1:
        return False, f"It stopped after {number_of(steps, 'step')}: the error still falls."
    return False, "Rounding hides which step leads down."
