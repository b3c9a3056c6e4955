"""The dual problem that all SVMs share: a quadratic over a box, with one sum that is given.

    minimise  b'Kb / 2 + c'b + kink |b|_1   over  lower <= b <= upper,  sum(b) = total

and f(x) = sum_i b_i k(x, x_i) + bias is what is learned. Classification has c = -y and a box between 0 and y C;
regression c = -y, a box from -C to C, and a kink where residuals are free; one class c = 0 and a total.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SUM_TOLERANCE = 1e-14
"""A part of all coefficients that is nothing but the rounding of their sum."""


@dataclass(frozen=True, eq=False)
class BoxQP:
    """The problem, without its matrix.

    linear : (n,), c
    lower, upper : (n,), the box, which holds 0; it may be infinite
    kink : the factor of |b|_1
    total : what the coefficients add up to

    >>> two = BoxQP(np.array([-1.0, 1.0]), np.array([0.0, -1.0]), np.array([1.0, 0.0]))
    >>> two.gap(np.zeros(2), two.linear, 0.0)
    2.0
    """

    linear: Array
    lower: Array
    upper: Array
    kink: float = 0.0
    total: float = 0.0

    @property
    def count(self) -> int:
        """How many coefficients there are."""
        return len(self.linear)

    def rises(self, b: Array, g: Array) -> Array:
        """The slope of the objective where a coefficient grows; infinite where it cannot. g is Kb + c."""
        slope = g + np.where(b >= 0, self.kink, -self.kink) if self.kink > 0 else g
        return np.where(b < self.upper, slope, np.inf)

    def falls(self, b: Array, g: Array) -> Array:
        """The slope where a coefficient has come from below, which falling gives back; -inf where it cannot fall."""
        slope = g + np.where(b > 0, self.kink, -self.kink) if self.kink > 0 else g
        return np.where(b > self.lower, slope, -np.inf)

    def violation(self, b: Array, g: Array) -> float:
        """The KKT violation of the steepest pair: 0 at the solution. The unit is that of f."""
        found = float(self.falls(b, g).max() - self.rises(b, g).min())
        return 0.0 if found <= 0 else found  # what is not a number stays that

    def bias(self, b: Array, g: Array) -> float:
        """The multiplier of the sum: what all free coefficients agree on, or the middle of what is allowed."""
        free = (b > self.lower) & (b < self.upper)
        if self.kink > 0:
            free &= b != 0
        slopes = g[free]
        if len(slopes):
            slopes = slopes + self.kink * np.sign(b[free]) if self.kink > 0 else slopes
            return -float(slopes.sum()) / len(slopes)
        highest, lowest = float(self.falls(b, g).max()), float(self.rises(b, g).min())
        ends = [end for end in (highest, lowest) if np.isfinite(end)]
        return -sum(ends) / max(len(ends), 1)

    def objective(self, b: Array, g: Array) -> float:
        """What is minimised."""
        return float(b @ (g + self.linear)) / 2 + self._bent(b)

    def gap(self, b: Array, g: Array, bias: float) -> float:
        """The primal objective of (f, bias) plus this one: how far both together are from the solution, at most.

        Half of the squared distance |f - f*|^2 in the space of the kernel is at most that. No gap is below 0: what is
        found there is the rounding of the sum.
        """
        pull = -(g + bias)
        with np.errstate(invalid="ignore"):
            above = self.upper * (pull - self.kink if self.kink > 0 else pull)
            below = self.lower * (pull + self.kink if self.kink > 0 else pull)
        losses = float(np.fmax(np.fmax(above, below), 0.0).sum())  # an infinite side times nothing is nothing
        found = float(b @ g) + self._bent(b) + bias * self.total + losses
        return 0.0 if found <= 0 else found  # what is not a number stays that

    def _bent(self, b: Array) -> float:
        """What the kink adds to the objective."""
        return self.kink * float(np.abs(b).sum()) if self.kink > 0 else 0.0

    def part(self, rows: NDArray[np.intp]) -> BoxQP:
        """The problem in some coefficients, where the others stay as they are; the sum is not constrained there."""
        return BoxQP(self.linear[rows], self.lower[rows], self.upper[rows], self.kink)

    def feasible(self, b: Array) -> Array:
        """Coefficients inside of the box that add up to the total, near to those that are given."""
        b = np.minimum(np.maximum(b, self.lower), self.upper)
        left = self.total - float(b.sum())
        if abs(left) <= SUM_TOLERANCE * float(np.abs(b).sum()):  # zeros stay zeros
            return b
        room = (self.upper - b) if left > 0 else (b - self.lower)
        room = np.minimum(room, abs(left))  # an infinite box takes no more than is left
        if room.sum() > 0:
            b = b + np.sign(left) * room * min(1.0, abs(left) / float(room.sum()))
        return b

    def filled(self, values: Array) -> Array:
        """Coefficients at the upper end of the box, those of the smallest values first, that add up to the total."""
        b, order = np.zeros(self.count), np.argsort(values, kind="stable")
        ends, before = self.upper[order], np.zeros(self.count)
        np.cumsum(ends[:-1], out=before[1:])
        b[order] = np.minimum(np.maximum(self.total - before, 0.0), ends)
        return self.feasible(b)


@dataclass(frozen=True, eq=False)
class QPResult:
    """Where a solver ended, or was stopped.

    b : the coefficients
    g : Kb + c, from the matrix in float64 where it decides: at the support, and wherever a violation is possible
    bias : what is added to f
    violation, gap : as `BoxQP` has them, from g
    steps : pairs of coefficients that were moved
    rounds : working sets
    converged : whether the violation is within the tolerance
    reason : why it ended
    plane : weights of features and the bias, where these were solved for: sums over rows would lose their digits
    """

    b: Array
    g: Array
    bias: float
    violation: float
    gap: float
    steps: int
    rounds: int
    converged: bool
    reason: str
    plane: tuple[Fraction, ...] | None = None
