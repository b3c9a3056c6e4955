"""The likelihood of classes: losses, residuals and curvature of the logistic and the multinomial model.

Scores u have one column for two classes, and p = 1 / (1 + exp(-u)) is that of the second; or one column per class, and
p_t = exp(u_t) / sum_r exp(u_r). Everything is read from log p, which neither overflows nor rounds to 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)


def log_probabilities(scores: Array) -> Array:
    """(n, classes): log p of every class, from scores of one column (two classes), or one per class."""
    if scores.shape[1] > 1:
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))
    return np.column_stack([-np.logaddexp(0.0, scores[:, 0]), -np.logaddexp(0.0, -scores[:, 0])])


@dataclass(frozen=True, eq=False)
class Likelihood:
    """sum_i -s_i log p(y_i), as a function of log p.

    classes : (n,), integers from 0
    count : how many classes there are, each of them in some row
    weights : s, each positive
    """

    classes: NDArray[np.intp]
    count: int
    weights: Array

    @property
    def outputs(self) -> int:
        """How many columns scores have."""
        return 1 if self.count == 2 else self.count

    @cached_property
    def sums(self) -> Array:
        """(classes,), the weight of each class."""
        return np.asarray(np.bincount(self.classes, self.weights, self.count), dtype=np.float64)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        return np.arange(len(self.classes))

    def intercepts(self) -> Array:
        """(outputs,), those of the best model without features: every class is as likely as it is frequent."""
        logs = np.log(self.sums)
        return np.asarray(logs[1:] - logs[0] if self.count == 2 else logs - logs.mean())

    def loss(self, logs: Array) -> float:
        """-sum_i s_i log p(y_i)."""
        return float(-(self.weights @ logs[self._rows, self.classes]))

    def residuals(self, logs: Array) -> Array:
        """(n, outputs): s (e - p), where e is 1 at the class of the row; minus the gradient of the loss.

        1 - p is computed from log p, so that it keeps its digits where p is almost 1.
        """
        found = -np.exp(logs)
        found[self._rows, self.classes] = -np.expm1(logs[self._rows, self.classes])
        return (found * self.weights[:, None])[:, -self.outputs :]

    def curvature(self, logs: Array) -> Curvature:
        """The second derivatives, by scores."""
        if self.count == 2:
            return Curvature((self.weights * np.exp(logs.sum(axis=1)))[:, None], None)
        return Curvature(np.exp(logs), self.weights[:, None])

    def balanced(self, logs: Array) -> Array:
        """(n, classes): probabilities q near p, under which every class is as frequent as it is: sum_i s_i (e - q) = 0.

        q = (1 - a) p + a h with one h for all rows. The least a for which h is a distribution is taken: it is the
        largest error of a class, relative to its frequency, and vanishes where the intercepts are the best ones.
        """
        q = np.exp(logs)
        left = self.sums - self.weights @ q
        a = min(1.0, float((np.abs(left) / self.sums).max()))
        if a == 0.0:
            return q
        h = np.maximum(self.sums + (1.0 - a) / a * left, 0.0)
        return np.asarray((1.0 - a) * q + a * (h / h.sum()))

    def divergence(self, q: Array, logs: Array) -> float:
        """sum_i s_i KL(q_i | p_i), which is at least 0."""
        own = np.log(q, out=np.zeros_like(q), where=q > 0)
        return float(self.weights @ np.maximum((q * (own - logs)).sum(axis=1), 0.0))

    def errors(self, q: Array) -> Array:
        """(n, outputs): s (e - q) of some probabilities."""
        found = -q
        found[self._rows, self.classes] += 1.0
        return (found * self.weights[:, None])[:, -self.outputs :]


@dataclass(frozen=True, eq=False)
class Curvature:
    """The matrix of second derivatives of the loss by scores: a block of (outputs, outputs) numbers per row.

    p : s p (1 - p) in one column for two classes; else the probabilities
    weights : (n, 1), s; None for two classes, where p has them already
    """

    p: Array
    weights: Array | None

    def times(self, scores: Array) -> Array:
        """(n, outputs): its product with changes of the scores."""
        if self.weights is None:
            return self.p * scores
        found = self.p * scores
        found -= self.p * found.sum(axis=1, keepdims=True)
        found *= self.weights
        return found

    @property
    def diagonal(self) -> Array:
        """(n, outputs): s p (1 - p)."""
        return self.p if self.weights is None else self.weights * self.p * (1.0 - self.p)

    @cached_property
    def sums(self) -> Array:
        """(outputs,), its diagonal, added up over the rows."""
        return np.asarray(self.diagonal.sum(axis=0))
