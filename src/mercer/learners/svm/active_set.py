"""From coefficients that are nearly optimal to those that are: a linear system in the free ones.

Coefficients strictly inside of the box have equal slopes at the solution: with their set known that is one symmetric
system on changes that keep the sum. Where the objective falls along a line for ever, as for rows that depend on each
other, or where the solution lies outside of the box, the step ends at the box, and the set shrinks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mercer.compute.runtime.threads import one_thread_blas
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
MAX_BOUNCES = 20
"""How often a step may end at the box."""
MAX_CUBES = 1e8
"""The cubes of free coefficients that all steps may take together."""
EPS = float(np.finfo(np.float64).eps)
SLOPE_ROUNDINGS = 100.0
"""Rounding, in units of the last place of what is summed, that may be left of a slope or of an eigenvalue."""


def polished(problem: BoxQP, K: Array, result: QPResult) -> QPResult:
    """The same coefficients, or better ones. Cost: the cube of the free coefficients, for each end of the box met.

    K : (n, n), the kernel matrix
    """
    b, free = result.b, free_coefficients(problem, result.b)
    with one_thread_blas():  # systems are small
        for _ in range(min(MAX_BOUNCES, 1 + int(MAX_CUBES / (1 + len(free)) ** 3))):
            b, inside = _step(problem, K, b)
            if inside:
                break
    g = K @ b + problem.linear
    violation, bias = problem.violation(b, g), problem.bias(b, g)
    better = replace(result, b=b, g=g, bias=bias, violation=violation, gap=problem.gap(b, g, bias))
    return better if violation < result.violation or decrease(problem, K, result, better) > 0 else result


def decrease(problem: BoxQP, K: Array, before: QPResult, after: QPResult) -> float:
    """How much lower the objective is, as a part of it; 0 where that may be rounding."""
    b, size = np.abs(after.b), abs(problem.objective(before.b, before.g))
    fell = problem.objective(before.b, before.g) - problem.objective(after.b, after.g)
    doubt = SLOPE_ROUNDINGS * EPS * float(b @ (np.abs(K) @ b) + np.abs(problem.linear) @ b)
    return fell / max(size, np.finfo(float).tiny) if fell > doubt else 0.0


def free_coefficients(problem: BoxQP, b: Array) -> NDArray[np.intp]:
    """Coefficients that can move either way: inside of the box, and not at the kink."""
    return np.flatnonzero((b > problem.lower) & (b < problem.upper) & ((b != 0) | (problem.kink == 0)))


def _step(problem: BoxQP, K: Array, b: Array) -> tuple[Array, bool]:
    """To the point where all free slopes are equal, or to the first end of the box before; whether none was met."""
    free = free_coefficients(problem, b)
    if len(free) < 2:
        return b, True
    slopes = K[free] @ b + problem.linear[free] + problem.kink * np.sign(b[free])
    noise = SLOPE_ROUNDINGS * EPS * float((np.abs(K[free]) @ np.abs(b) + np.abs(problem.linear[free])).max())
    move, most = _move(K[np.ix_(free, free)], slopes.mean() - slopes, noise)
    ends = _ends(problem, b[free], free, move)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        parts = np.where(move != 0, (ends - b[free]) / move, np.inf)
    first = int(parts.argmin())
    share = min(most, float(parts[first]))
    if not np.isfinite(share):
        return b, True
    b = b.copy()
    b[free] += share * move
    if share == parts[first]:
        b[free[first]] = ends[first]
    return b, share == most


def _move(K: Array, pull: Array, noise: float) -> tuple[Array, float]:
    """The change of free coefficients that makes their slopes equal, and 1; or a line that falls for ever, and inf."""
    centred = K - K.mean(axis=0)
    values, vectors = eigh(centred - centred.mean(axis=1)[:, None], check_finite=False)
    firm = values > SLOPE_ROUNDINGS * EPS * len(K) * max(float(values[-1]), np.finfo(float).tiny)
    along = vectors[:, firm].T @ pull
    loose = pull - vectors[:, firm] @ along
    loose -= loose.mean()
    if np.abs(loose).max() > noise:
        return loose, np.inf
    move = vectors[:, firm] @ (along / values[firm])
    return move - move.mean(), 1.0


def _ends(problem: BoxQP, own: Array, free: NDArray[np.intp], move: Array) -> Array:
    """Where each free coefficient would leave the box, or come to the kink."""
    lower, upper = problem.lower[free], problem.upper[free]
    if problem.kink > 0:
        lower, upper = np.where(own > 0, 0.0, lower), np.where(own < 0, 0.0, upper)
    return np.where(move > 0, upper, lower)
