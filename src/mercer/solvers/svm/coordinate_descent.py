"""The low-rank solver of SVMs: coordinate descent in the dual, on features with K = Z Z'.

The coefficients are moved one at a time, in random order, each to the lowest point of

    |w|^2 / 2 + c'b + kink |b|_1 + bias off + rho off^2 / 2,    w = Z'b,  off = sum(b) - total,

inside of its box; a step takes one row of features, since w is kept. After a pass the bias, which is the multiplier of
the sum, is moved by rho off (method of multipliers). A row that stays at an end of the box or at the kink is left out
for as many passes as it has stayed before, up to a few (shrinking). Estimates that passes give on their way say when
to look: then the sum is repaired, and w, the gradient, the violation and the duality gap are computed from the
coefficients, in float64.

Cost: 4 n p operations per pass, less the rows that are left out, and n numbers beside the features.

References
----------
Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual coordinate descent method for large-scale linear SVM, ICML 2008.
Ho and Lin, Large-scale linear support vector regression, JMLR 13 (2012).
Bertsekas, Constrained optimization and Lagrange multiplier methods (1982).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import number_of
from mercer.solvers.ridge.base import opening
from mercer.solvers.svm.box_qp import Array, BoxQP, QPResult
from mercer.solvers.svm.descent_loops import Place, Terms, products, squares, sums, sweep

NUMBERS_BETWEEN_LOOKS = 1 << 24
"""Numbers of features that are read between two looks at the clock: a few hundredths of a second."""
SUM_PENALTY = 0.1
"""The penalty of a sum that is off, in units of the mean squared length of the rows."""
MIN_PASSES_SHARE = 0.1
"""The part of the passes so far that has to follow before the next exact look."""


@dataclass(frozen=True)
class DescentSettings:
    """How exact, and how long.

    tolerance : the violation that is left, at most: it ends there
    relative_gap : the duality gap in units of the objective: it ends there, too; 0 to go on to the tolerance
    max_passes : passes over the rows, at most
    seed : of the random order
    """

    tolerance: float = 1e-3
    relative_gap: float = 1e-3
    max_passes: int = 1000
    seed: int = 0


def descend(
    problem: BoxQP, Z: NDArray[Any], settings: DescentSettings, start: Array | None = None, run: Run = IDLE
) -> QPResult:
    """The coefficients, and how optimal they are; the box has to be finite.

    Z : (n, p), the features, in float32 or float64
    start : coefficients to start from; None for those nearest to zero
    """
    descent = _Descent(problem, np.ascontiguousarray(Z), settings, start)
    reason = ""
    try:
        while not descent.is_optimal():
            if descent.passes >= settings.max_passes:
                reason = f"{number_of(settings.max_passes, 'pass', ('is', 'are'))} over."
                break
            descent.go(run)
            descent.look()
    except Stopped as stopped:
        reason = f"{opening(stopped)}."
        descent.look()
    return descent.result(reason)


class _Descent:
    """The state of the descent, and what the last exact look has shown."""

    def __init__(self, problem: BoxQP, Z: NDArray[Any], settings: DescentSettings, start: Array | None) -> None:
        lengths = squares(Z)
        self.problem, self.settings = problem, settings
        self.terms = Terms(Z, problem, lengths, SUM_PENALTY * float(lengths.mean()) or 1.0)
        self.random = np.random.default_rng(settings.seed)
        b = np.zeros(problem.count) if start is None else np.array(start, dtype=np.float64)
        self.place = Place(b, np.zeros(Z.shape[1]), 0.0, 0.0, np.zeros(problem.count, np.int64))
        self.wake = np.zeros(problem.count, np.int64)
        self.passes = self.steps = 0
        self.look()
        self.place.bias = self.bias

    def look(self) -> None:
        """Repair the sum, and compute all the rest from the coefficients."""
        problem, Z, place = self.problem, self.terms.Z, self.place
        place.b = balanced(problem, place.b)
        place.w = sums(Z, place.b)
        place.off = float(place.b.sum()) - problem.total
        self.g = products(Z, place.w) + problem.linear
        self.bias = best_bias(problem, self.g)
        self.violation = problem.violation(place.b, self.g)
        self.gap = problem.gap(place.b, self.g, self.bias)
        self._wake()

    def _wake(self) -> None:
        """Rows that would move by the exact gradient are no longer left out."""
        slopes = self.g + self.bias
        moving = (self.problem.rises(self.place.b, slopes) < 0) | (self.problem.falls(self.place.b, slopes) > 0)
        self.wake[moving] = 0

    def is_optimal(self) -> bool:
        """Whether the violation or the gap is within its tolerance."""
        objective = abs(self.problem.objective(self.place.b, self.g))
        return self.violation <= self.settings.tolerance or self.gap <= self.settings.relative_gap * objective

    def go(self, run: Run) -> None:
        """Passes until it may be optimal, as far as their estimates tell."""
        soonest = self.passes + int(MIN_PASSES_SHARE * self.passes)
        while self.passes < self.settings.max_passes:
            violation, gap = self._pass(run)
            if self.passes > soonest and self._promising(violation, gap):
                return

    def _promising(self, violation: float, gap: float) -> bool:
        """Whether it may be optimal by the slopes that a pass has met."""
        if violation <= self.settings.tolerance:
            return True
        problem, b, w = self.problem, self.place.b, self.place.w
        straight = float((problem.linear * b).sum())  # threads of BLAS would cost more than they bring
        objective = float(w @ w) / 2 + straight + problem.kink * float(np.abs(b).sum())
        return gap <= self.settings.relative_gap * abs(objective)

    def _pass(self, run: Run) -> tuple[float, float]:
        """All rows that are awake, once; the violation and the duality gap, as it met them."""
        rows = self.random.permutation(np.flatnonzero(self.wake <= self.passes))
        most = max(1, NUMBERS_BETWEEN_LOOKS // max(1, self.terms.Z.shape[1]))
        pieces = np.array_split(rows, max(1, -(-len(rows) // most)))
        high, low, gap = -np.inf, np.inf, 0.0
        for done, piece in enumerate(pieces):
            met = sweep(self.terms, piece, self.place)
            self.wake[piece] = self.passes + 1 + self.place.calm[piece]
            self.steps += met.moves
            high, low, gap = max(high, met.high), min(low, met.low), gap + met.gap
            with run.stoppable():
                run.tell(self.passes + (done + 1) / len(pieces))
        self.place.bias += self.terms.rho * self.place.off
        self.passes += 1
        return high - low, gap

    def result(self, reason: str) -> QPResult:
        """The result."""
        text = reason or f"The duality gap is {self.gap:.1e}, and the largest violation {self.violation:.1e}."
        return QPResult(
            *(self.place.b, self.g, self.bias, self.violation, self.gap),
            *(self.steps, self.passes, self.is_optimal(), text),
        )


def balanced(problem: BoxQP, b: Array) -> Array:
    """Coefficients in the box that add up to the total, near to those that are given; those that are free move first.

    Coefficients at an end of the box or at the kink stay where they are, if the free ones have room enough.
    """
    b = np.clip(b, problem.lower, problem.upper)
    for _ in range(2):  # the second time for rounding
        left = problem.total - float(b.sum())
        free = (b > problem.lower) & (b < problem.upper) & ((b != 0) | (problem.kink == 0))
        room = np.where(free, problem.upper - b if left > 0 else b - problem.lower, 0.0)
        if room.sum() > 0:
            b = b + np.sign(left) * room * min(1.0, abs(left) / float(room.sum()))
            b = np.clip(b, problem.lower, problem.upper)  # a rounding may be outside
    left = abs(problem.total - float(b.sum()))
    exact = left <= 1e-12 * max(abs(problem.total), float(np.abs(b).sum()))
    return b if exact else np.clip(problem.feasible(b), problem.lower, problem.upper)


def best_bias(problem: BoxQP, g: Array) -> float:
    """The bias with the least duality gap for a gradient: where the slope of all losses passes zero.

    The losses are straight lines in the bias, with kinks where a row enters and leaves its tube: a weighted median.
    """
    if problem.kink == 0:
        places, weights = -g, problem.upper - problem.lower
    else:
        places = np.concatenate([-g - problem.kink, -g + problem.kink])
        weights = np.concatenate([problem.upper, -problem.lower])
    order = np.argsort(places, kind="stable")
    places, climbed = places[order], np.cumsum(weights[order])
    target = float(problem.upper.sum()) - problem.total
    rounding = 1e-12 * float(climbed[-1])
    first = int(np.searchsorted(climbed, target - rounding))
    last = int(np.searchsorted(climbed, target + rounding, side="right"))
    first, last = min(first, len(places) - 1), min(last, len(places) - 1)
    return float(places[first] + places[last]) / 2
