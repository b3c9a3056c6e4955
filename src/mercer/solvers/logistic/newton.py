"""Logistic regression on features by Newton's method, whose steps come from preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.backends.tables import Table
from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS, add_squares
from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import number_of
from mercer.solvers.logistic.likelihood import EPS, Curvature, log_probabilities
from mercer.solvers.logistic.objective import LogisticObjective, Place
from mercer.solvers.ridge.base import opening

Array = NDArray[np.float64]
MIN_DECREASE_SHARE = 1e-4
"""The part of the decrease that the slope promises which a step must bring (Armijo)."""
MAX_HALVINGS = 50
"""How often a step is halved before rounding is to blame."""
MAX_PRODUCTS = 500
"""Conjugate gradients in a step, at most: a truncated step descends, too."""
MAX_FORCING = 0.25
"""How far conjugate gradients reduce the residual of a step far from the solution; nearer to it they go further."""
MAX_FIRST_SCORE_CHANGE = 4.0
"""How far the first step may move a score: second derivatives say little beyond."""
MAX_DIRECT_FEATURES = 2000
"""Features up to which second derivatives may be stored."""
THIN_PRODUCT_COST = 20
"""How many times longer an operation takes in products with few columns than in those of matrices, times four."""
BLOCK_NUMBERS = 1 << 22
"""Numbers of the features that are weighted at once (32 MiB)."""


@dataclass(frozen=True)
class NewtonSettings:
    """When to end: at a gradient of `tolerance` times the one without features, or after so many steps."""

    tolerance: float = 1e-6
    max_steps: int = 100


@dataclass(frozen=True, eq=False)
class Minimum:
    """What was found.

    weights, intercepts : W, (p, outputs), and b, (outputs,)
    residuals : (n, outputs), s (e - p); at the solution alpha W = Z' of them
    scores : (n, outputs), of the rows
    objective, gap : the value, and how far it is above the least one, at most
    slope : the gradient, relative to that without features
    steps, products : of Newton's method, and of conjugate gradients in all of them
    """

    weights: Array
    intercepts: Array
    residuals: Array
    scores: Array
    objective: float
    gap: float
    slope: float
    steps: int
    products: int
    converged: bool
    reason: str


def minimise(
    problem: LogisticObjective, settings: NewtonSettings, start: Array | None = None, run: Run = IDLE
) -> Minimum:
    """The least value, from the model without features or from given unknowns where these are better.

    Cost of a step: the features are read twice for each conjugate gradient; and n p^2 + p^3 / 3 operations per output
    where second derivatives are stored anew, because conjugate gradients took longer than that. Memory: some
    (n, classes) tables, and p^2 numbers per output, at most as many as Z has.
    """
    search = _Search(problem, settings, run)
    reason = search.go(start)
    place = problem.at(search.place.unknowns)  # scores were added up step by step
    slope = search.slope(place)
    converged = slope <= settings.tolerance
    residuals = problem.likelihood.residuals(place.logs)
    found = place.unknowns[:-1], place.unknowns[-1], residuals, place.scores, place.value, problem.gap(place), slope
    return Minimum(*found, search.steps, search.products, converged, "" if converged else reason)


class _Search:
    """Newton's method with a line search: the value falls at every step."""

    def __init__(self, problem: LogisticObjective, settings: NewtonSettings, run: Run) -> None:
        self.problem, self.settings, self.run = problem, settings, run
        self.place = problem.cold()
        self.unit = float(np.linalg.norm(self.place.gradient[:-1]))
        self.steps = self.products = self.last = 0
        self.reach = MAX_FIRST_SCORE_CHANGE
        self.blocks: Blocks | None = None

    def slope(self, place: Place) -> float:
        """The length of the gradient: by W relative to the first one, by b relative to all weights."""
        left = float(np.linalg.norm(place.gradient[:-1]))
        level = float(np.abs(place.gradient[-1]).max()) / self.problem.likelihood.total
        return max(left / self.unit if self.unit > 0 else 0.0, level)

    def go(self, start: Array | None) -> str:
        """Steps until it is enough; why they ended sooner, "" where they did not."""
        if start is not None:
            given = self.problem.at(start)
            self.place = given if given.value < self.place.value else self.place
        try:
            with self.run.stoppable():
                while (slope := self.slope(self.place)) > self.settings.tolerance:
                    self._tell(slope)
                    if self.steps == self.settings.max_steps:
                        tried = number_of(self.steps, "step", ("was", "were"))
                        return f"{tried} not enough: the gradient is at {slope:.1e} of the first one."
                    if not self._step(slope):
                        return f"Rounding lets nothing fall below a gradient of {slope:.1e} of the first one."
        except Stopped as stopped:
            return f"{opening(stopped)}, at a gradient of {self.slope(self.place):.1e} of the first one."
        return ""

    def _tell(self, slope: float) -> None:
        """How far it is: of the digits of the gradient that have to go."""
        self.run.tell(min(1.0, np.log(min(slope, 1.0)) / np.log(min(self.settings.tolerance, 0.5))))

    def _step(self, slope: float) -> bool:
        """One step; whether there was any progress."""
        curve = self.problem.likelihood.curvature(self.place.logs)
        if self._stores:
            self.blocks = Blocks.of(self.problem, curve, lambda: self._tell(slope))
        closer = max(min(MAX_FORCING, np.sqrt(slope)), 0.1 * self.settings.tolerance / slope)
        change, moved = self._conjugate(curve, closer, slope)
        self.steps += 1
        return self._descend(change, moved, slope)

    def _descend(self, change: Array, moved: Array, slope: float) -> bool:
        """Along a direction as far as the value falls by enough."""
        place, problem, rate = self.place, self.problem, 1.0
        promised, far = float((place.gradient * change).sum()), float(np.abs(moved).max())
        for _ in range(MAX_HALVINGS):
            unknowns, scores = place.unknowns + rate * change, place.scores + rate * moved
            value = problem.value(unknowns, log_probabilities(scores))
            noise = EPS * (16 * place.value + problem.likelihood.total * float(np.abs(scores).max()))
            if value <= place.value + MIN_DECREASE_SHARE * rate * promised + noise:
                found = problem.at(unknowns, scores)
                better = value < place.value - noise or self.slope(found) < 0.9 * slope
                self.place = found if better else place
                self.reach = max(self.reach, 2 * far) if rate == 1.0 else 2 * rate * far
                return better
            rate /= 2
        return False

    def _conjugate(self, curve: Curvature, closer: float, slope: float) -> tuple[Array, Array]:
        """Minus the gradient divided by the second derivatives, about, and how it moves scores.

        Conjugate gradients, preconditioned, until the residual is small or scores are moved beyond the reach.
        """
        problem, left = self.problem, -self.place.gradient
        near = self._preconditioned(left, curve)
        change, direction, size = np.zeros_like(left), near, float((left * near).sum())
        moved, goal, self.last = np.zeros_like(self.place.scores), closer**2 * size, 0
        while self.last < MAX_PRODUCTS and size > goal:
            self._tell(slope)
            scores = problem.scores(direction)
            bent = problem.curved(direction, scores, curve)
            curvature = float((direction * bent).sum())
            if curvature <= 0:  # rounding
                break
            rate = size / curvature
            change, moved, left = change + rate * direction, moved + rate * scores, left - rate * bent
            self.last += 1
            if np.abs(moved).max() > self.reach:
                break
            near, before = self._preconditioned(left, curve), size
            size = float((left * near).sum())
            direction = near + size / before * direction
        self.products += self.last
        return _level(change, moved) if self.last else _level(near, problem.scores(near))

    def _preconditioned(self, gradient: Array, curve: Curvature) -> Array:
        if self.blocks is not None:
            return self.blocks.solve(gradient)
        return self.problem.preconditioned(gradient, curve)

    @property
    def _stores(self) -> bool:
        """Whether second derivatives of each output are worth storing: by what conjugate gradients took last."""
        (n, p), outputs = self.problem.features.shape, self.problem.likelihood.outputs
        fits = 0 < p <= MAX_DIRECT_FEATURES and outputs * (p + 1) ** 2 <= max(n * p, BLOCK_NUMBERS)
        return bool(fits and THIN_PRODUCT_COST * max(self.last, 5) > p + p**2 / (3 * n))


def _level(change: Array, moved: Array) -> tuple[Array, Array]:
    """The same with a mean of zero over the intercepts of many classes, which says nothing about probabilities."""
    if change.shape[1] > 1:
        mean = change[-1].mean()
        change[-1] -= mean
        moved -= mean
    return change, moved


@dataclass(frozen=True, eq=False)
class Blocks:
    """Cholesky factors of the second derivatives by the unknowns of each output: they forget what couples outputs.

    With one output nothing is forgotten. They serve several steps: derivatives change little near the solution.
    """

    factors: list[tuple[Array, bool]]

    @classmethod
    def of(cls, problem: LogisticObjective, curve: Curvature, tell: Callable[[], None]) -> Blocks | None:
        """At a place; None where rounding makes them singular. Cost: n p^2 + p^3 / 3 operations per output."""
        try:
            return cls([_factor(problem, roots, tell) for roots in np.sqrt(curve.diagonal).T])
        except LinAlgError:
            return None

    def solve(self, gradient: Array) -> Array:
        """Their inverse times a gradient."""
        return np.column_stack([cho_solve(*each) for each in zip(self.factors, gradient.T, strict=True)])


def _factor(problem: LogisticObjective, roots: Array, tell: Callable[[], None]) -> tuple[Array, bool]:
    """Of [Z 1]' diag(roots^2) [Z 1] + alpha I, without alpha in the corner: from products that take a moment each."""
    Z, (n, p), size = problem.features, problem.features.shape, problem.features.shape[1] + 1
    if not isinstance(Z, np.ndarray):
        return _factor_of(_bordered(Z, roots**2, tell), problem.alpha)
    H, rows = np.zeros((size, size)), max(1, min(int(MAX_CALL_OPERATIONS / size**2), BLOCK_NUMBERS // size))
    for start in range(0, n, rows):
        tell()
        part = slice(start, min(start + rows, n))
        block = np.empty((part.stop - part.start, size))
        np.multiply(Z[part], roots[part, None], out=block[:, :p])
        block[:, p] = roots[part]
        add_squares(H, block)
    return _factor_of(H, problem.alpha)


def _bordered(Z: Table, weights: Array, tell: Callable[[], None]) -> Array:
    """[Z 1]'S[Z 1] of a table at a backend."""
    p = Z.shape[1]
    H = np.empty((p + 1, p + 1))
    H[:p, :p] = Z.squares(weights, tell)
    H[p, :p] = H[:p, p] = Z.T @ weights
    H[p, p] = weights.sum()
    return H


def _factor_of(H: Array, alpha: float) -> tuple[Array, bool]:
    H.flat[: (len(H) - 1) * len(H) : len(H) + 1] += alpha
    factor: tuple[Array, bool] = cho_factor(H, lower=True, overwrite_a=True)
    return factor
