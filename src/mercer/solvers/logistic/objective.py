"""The problem of logistic regression on features: its value, gradient and second derivatives, and its duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tables import Table
from mercer.solvers.logistic.likelihood import EPS, Curvature, Likelihood, log_probabilities
from mercer.solvers.logistic.squares import Squares

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogisticObjective:
    """min over W, b of sum_i -s_i log p(y_i | z_i'W + b) + alpha / 2 |W|^2; b is not penalised.

    Unknowns are stored as (p + 1, outputs), with b in the last row.

    features : Z, (n, p), with weighted means of zero, where wide tables live
    squares : Z'SZ. It preconditions conjugate gradients: with the mean curvature c of an output in place of that of
        each row, its second derivatives are c Z'SZ + alpha
    """

    features: Array | Table
    likelihood: Likelihood
    alpha: float
    squares: Squares

    def scores(self, unknowns: Array) -> Array:
        """(n, outputs): Z W + b."""
        return np.asarray(self.features @ unknowns[:-1] + unknowns[-1])

    def back(self, scores: Array) -> Array:
        """[Z 1]' scores."""
        return np.vstack([self.features.T @ scores, scores.sum(axis=0)])

    def at(self, unknowns: Array, scores: Array | None = None) -> Place:
        """The value and the gradient at a place, whose scores may be known. Cost: a product with Z', or two."""
        scores = self.scores(unknowns) if scores is None else scores
        logs = log_probabilities(scores)
        gradient = -self.back(self.likelihood.residuals(logs))
        gradient[:-1] += self.alpha * unknowns[:-1]
        return Place(unknowns, scores, logs, self.value(unknowns, logs), gradient)

    def value(self, unknowns: Array, logs: Array) -> float:
        """What is minimised."""
        return self.likelihood.loss(logs) + self.alpha / 2 * float((unknowns[:-1] ** 2).sum())

    def cold(self) -> Place:
        """W = 0, and the intercepts that are best then."""
        unknowns = np.zeros((self.features.shape[1] + 1, self.likelihood.outputs))
        unknowns[-1] = self.likelihood.intercepts()
        return self.at(unknowns)

    def imitate(self, scores: Array) -> Array:
        """The unknowns whose scores are nearest to given ones, (n, outputs), in directions that can be told apart."""
        shares = self.likelihood.weights / self.likelihood.total
        level = shares @ scores
        right = self.features.T @ (self.likelihood.weights[:, None] * (scores - level))
        return np.vstack([self.squares.fitted(right), level])

    def curved(self, change: Array, moved: Array, curve: Curvature) -> Array:
        """The second derivatives times a change of the unknowns, which moves scores so far. Cost: a product with Z'."""
        found = self.back(curve.times(moved))
        found[:-1] += self.alpha * change[:-1]
        return found

    def preconditioned(self, gradient: Array, curve: Curvature) -> Array:
        """The change that would be right if every row were curved like the mean of all."""
        sums = np.maximum(curve.sums, EPS * self.likelihood.total)
        mean = sums / self.likelihood.total
        inner = self.squares.divided(gradient[:-1], mean, self.alpha)
        return np.vstack([inner, gradient[-1] / sums])

    def gap(self, place: Place) -> float:
        """How far the value may be above the least one, at most: it is the gap to a value of the dual problem.

        For probabilities q with sum_i s_i (e_i - q_i) = 0 the dual value is the sum of s_i times the entropies of q_i,
        less |Z'R|^2 / (2 alpha) for R = s (e - q). The gap to it is sum_i s_i KL(q_i | p_i) + |alpha W - Z'R|^2 /
        (2 alpha): squares and divergences, so that nothing cancels. q = e has the dual value 0: the gap is at most the
        value itself.
        """
        q = self.likelihood.balanced(place.logs)
        misfit = self.alpha * place.unknowns[:-1] - self.features.T @ self.likelihood.errors(q)
        found = self.likelihood.divergence(q, place.logs) + float((misfit**2).sum()) / (2 * self.alpha)
        return min(found, place.value)


class Place(NamedTuple):
    """Where the search is: unknowns, their scores, log p, the value and the gradient."""

    unknowns: Array
    scores: Array
    logs: Array
    value: float
    gradient: Array
