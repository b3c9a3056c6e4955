"""Probabilities: a sigmoid of each function's values at rows that it was not fitted to, coupled to those of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from mercer.compute.runtime.run import Run
from mercer.learners.data.views import blocks
from mercer.learners.run.stage_share import StageShare
from mercer.learners.svm.methods import Way
from mercer.learners.svm.subproblem import Sought

Array = NDArray[np.float64]
FOLDS = 5
"""Parts of the rows, each of which is left out once."""
NEWTON, HALVINGS = 100, 30
"""Steps of Newton's method for a sigmoid, and halvings of each, at most."""
STILL = 1e-10
"""The gradient that is left then, for each row."""
SURE = 1e-7
"""Duels are never surer than this: their probabilities are divided by each other."""


@dataclass(frozen=True)
class Sigmoid:
    """p = 1 / (1 + exp(-(slope f + level))).

    >>> round(float(Sigmoid(2.0, 0.0)(np.array([0.5]))[0]), 4)
    0.7311
    """

    slope: float
    level: float

    def __call__(self, values: Array) -> Array:
        return np.asarray(expit(self.slope * values + self.level))


@dataclass(frozen=True)
class Calibration:
    """The probabilities of classes, from the values of all functions.

    sigmoids : one per function
    classes : how many there are
    pairs : whether functions belong to pairs of classes, and not to single ones
    """

    sigmoids: tuple[Sigmoid, ...]
    classes: int
    pairs: bool

    def probabilities(self, values: Array) -> Array:
        """(rows, classes), which add up to one; values : (rows, functions)."""
        sure = np.column_stack([sigmoid(column) for sigmoid, column in zip(self.sigmoids, values.T, strict=True)])
        if self.classes == 2:
            return np.column_stack([1.0 - sure, sure])
        if self.pairs:
            parts = blocks(len(sure), (self.classes + 1) ** 2)
            return np.concatenate([coupled(sure[part], self.classes) for part in parts])
        sure = np.maximum(sure, SURE)
        return np.asarray(sure / sure.sum(axis=1, keepdims=True))


def calibrated(
    way: Way, sought: Sequence[Sought], b: Sequence[Array], random: np.random.Generator, run: Run
) -> list[Sigmoid]:
    """A sigmoid for each function, from values at rows that were left out. Cost: five more fits of 4/5 of the rows.

    b : the coefficients of each function, near to which those of the folds are
    """
    found = []
    for k, (one, start) in enumerate(zip(sought, b, strict=True)):
        values = cross_fitted(way.part(one.rows), one, start, random, run, FOLDS * k)
        found.append(sigmoid_of(values, one.problem.linear < 0, one.weights))
    return found


def cross_fitted(way: Way, sought: Sought, start: Array, random: np.random.Generator, run: Run, before: int) -> Array:
    """f of each row, by the fit of which it was no part.

    before : folds that were done before, for the progress
    """
    problem, fold = sought.problem, folds(sought.problem.linear < 0, random)
    values = np.zeros(problem.count)
    for k in range(FOLDS):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if len(inside) == 0 or len(outside) == 0:
            continue
        rested = way.part(inside).brief().solve(problem.part(inside), start[inside], StageShare(run, before + k))
        b = np.zeros(problem.count)
        b[inside] = rested.b
        values[outside] = way.values(b)[outside] + rested.bias
    return values


def folds(positive: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.intp]:
    """The fold of each row: of each class each fold gets as many as the others, or one more."""
    found = np.zeros(len(positive), np.intp)
    shift = 0
    for side in (False, True):
        rows = random.permutation(np.flatnonzero(positive == side))
        found[rows] = (shift + np.arange(len(rows))) % FOLDS
        shift += len(rows)
    return found


def sigmoid_of(values: Array, positive: NDArray[np.bool_], weights: Array) -> Sigmoid:
    """The sigmoid of largest likelihood that rises, by Newton's method; classes are never told to be sure.

    Targets are (m + 1) / (m + 2) for a class of m rows and 1 / (m + 2) for the other (Platt, 1999), so that values that
    separate the classes have a finite slope. Where no positive slope is better than none, there is none.
    """
    mass = np.array([weights[~positive].sum(), weights[positive].sum()])
    targets = np.where(positive, (mass[1] + 1) / (mass[1] + 2), 1 / (mass[0] + 2))
    scale = float(np.abs(values).max()) or 1.0
    share = float(weights @ targets / weights.sum())
    slope, level = _newton(values / scale, targets, weights / weights.sum(), float(logit(share)))
    return Sigmoid(slope / scale, level) if slope > 0 else Sigmoid(0.0, float(logit(share)))


def _newton(values: Array, targets: Array, shares: Array, level: float) -> tuple[float, float]:
    """The least of the sum of shares times (log(1 + exp(z)) - t z) over z = slope f + level."""
    table = np.column_stack([values, np.ones_like(values)])

    def loss(theta: Array) -> float:
        z = table @ theta
        return float(shares @ (np.logaddexp(0.0, z) - targets * z))

    theta = np.array([0.0, level])
    for _ in range(NEWTON):
        p = expit(table @ theta)
        gradient = table.T @ (shares * (p - targets))
        if np.abs(gradient).max() <= STILL:
            break
        curve = (table * (shares * p * (1 - p))[:, None]).T @ table + STILL * np.eye(2)
        step, before, size = np.linalg.solve(curve, gradient), loss(theta), 1.0
        for _ in range(HALVINGS):
            if loss(theta - size * step) <= before:
                break
            size /= 2
        theta = theta - size * step
    return float(theta[0]), float(theta[1])


def coupled(sure: Array, classes: int) -> Array:
    """(rows, classes): the probabilities whose ratios are nearest to those of all pairs (Wu, Lin and Weng, 2004).

    With r_ij, the probability of i where it is i or j, they minimise the sum of (r_ji p_i - r_ij p_j)^2 over all pairs
    under the sum 1: one linear system per row.

    sure : (rows, pairs), the probability of the second class of each pair

    References
    ----------
    Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling, JMLR 5 (2004).
    """
    r = np.zeros((len(sure), classes, classes))
    for column, (a, b) in zip(np.clip(sure, SURE, 1 - SURE).T, combinations(range(classes), 2), strict=True):
        r[:, a, b], r[:, b, a] = 1.0 - column, column
    system = np.ones((len(sure), classes + 1, classes + 1))
    system[:, classes, classes] = 0.0
    inner = -r * r.transpose(0, 2, 1)
    inner[:, np.arange(classes), np.arange(classes)] = np.square(r).sum(axis=1)
    system[:, :classes, :classes] = inner
    right = np.zeros((len(sure), classes + 1, 1))
    right[:, classes] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
