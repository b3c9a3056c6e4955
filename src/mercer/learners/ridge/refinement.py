"""What is known of least squares after a pass over the rows, and of a solution of it: how far it is off."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import EPS
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.residual_pass import Checked, Trial
from mercer.learners.ridge.result import relative
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.moments import Normal
from mercer.learners.streaming.stream import Stream
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, Draw, mean_size, perturbations

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Summed:
    """What is known after the pass.

    rows : all rows, in pieces of a batch each
    basis : of the model
    summed : the basis whose functions were summed
    trial : rows to try predictions on
    stopped : why the pass ended early; "" where it did not
    """

    problem: RidgeProblem
    rows: Stream
    basis: Basis
    batch: int
    summed: Basis
    normal: Normal
    trial: Trial
    stopped: str

    def predicted(self, w: Array) -> Array:
        """(2, outputs): the sizes of predictions at rows and at new ones."""
        return np.array([mean_size(table + self.normal.level) for table in self.trial.predict(w, w)])


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights of features, and what is known of them.

    w : (p, outputs)
    steps : of refinement that led there
    checked : what a pass found with them; None where there was none
    stopped : why something is missing; "" where nothing is
    """

    alphas: Array
    w: Array
    steps: int = 0
    checked: Checked | None = None
    stopped: str = ""


def as_if_checked(sums: Summed, solution: Solution) -> Solution:
    """The solution as a check would find it after steps of refinement that took all out: from the sums."""
    normal, w = sums.normal, solution.w
    products = normal.squares - (normal.right * w).sum(axis=0)
    squares = products - (w * (normal.right - normal.spectrum.multiply(w))).sum(axis=0)
    found = Checked(np.zeros_like(w), np.maximum(products, 0.0), np.maximum(squares, 0.0), None)
    return replace(solution, checked=found)


def step_of(sums: Summed, solution: Solution) -> Array:
    """Where the gradient says that the solution is, less where it is; zero where there was no check."""
    if solution.checked is None:
        return np.zeros_like(solution.w)
    return sums.normal.spectrum.solve(solution.checked.gradient, solution.alphas)


def moved_by(sums: Summed, solution: Solution) -> float:
    """How far the step would move predictions, as a part of their size: the largest of all outputs."""
    moved = [mean_size(table) for table in sums.trial.predict(step_of(sums, solution), solution.w)]
    return float(relative(np.array(moved), sums.predicted(solution.w)).max())


def left_by_step(sums: Summed, solution: Solution) -> float:
    """The part of a step that is left to do after it, about: E (Z'Z + alpha I)^-1 for sums that are off by E."""
    spectrum = sums.normal.spectrum
    return float((sums.normal.noise[:, None] / (spectrum.kept[:, None] + solution.alphas)).max())


def stepped(sums: Summed, solution: Solution) -> Solution:
    """After a step that needs no check: what a check said of the residuals before says what is left of them.

    Those of single rows stay as they were: they differ by what the step moves.
    """
    checked, step = solution.checked, step_of(sums, solution)
    if checked is None:  # so there is no step
        return solution
    slope = checked.gradient + solution.alphas * solution.w
    squares = checked.squares - (step * (2 * slope - sums.normal.spectrum.multiply(step))).sum(axis=0)
    found = replace(
        checked,
        gradient=left_by_step(sums, solution) * checked.gradient,
        products=checked.products - (sums.normal.right * step).sum(axis=0),
        squares=np.maximum(squares, 0.0),
    )
    return replace(solution, w=solution.w + step, steps=solution.steps + 1, checked=found)


def residual_of(sums: Summed, solution: Solution) -> float:
    """The largest |Z'D(y - f) - alpha w| / |Z'Dy|: from the rows, or from sums where they were not checked."""
    normal, w = sums.normal, solution.w
    left = normal.right - normal.spectrum.multiply(w) - solution.alphas * w
    if solution.checked is not None:
        left = solution.checked.gradient
    return float(relative(np.linalg.norm(left, axis=0), np.linalg.norm(normal.right, axis=0)).max())


def roundings_of(sums: Summed, solution: Solution) -> Array:
    """The estimated relative errors of predictions, at the rows and at new ones like them."""
    normal, alphas, w = sums.normal, solution.alphas, solution.w
    if normal.spectrum.truncated(alphas):
        return np.full(len(alphas), np.inf)
    lengths = np.linalg.norm(sums.trial.longest[:, None] * sums.basis.to_raw(w), axis=0)
    level = np.sqrt(normal.squares / normal.total + normal.level**2) * normal.intercept
    summed = ERROR_FACTOR * EPS * (lengths / np.sqrt(normal.total) + level)
    step = [mean_size(table) for table in sums.trial.predict(step_of(sums, solution), w)]
    draw = _of_sums(sums, solution) if solution.checked is None else _of_rows(sums, solution, solution.checked)
    moved = perturbations(normal.spectrum, sums.trial.predict, alphas, draw) + ERROR_FACTOR * np.array(step)
    return np.asarray(relative(moved + summed, sums.predicted(w)).max(axis=0))


def _of_sums(sums: Summed, solution: Solution) -> Draw:
    """Random errors of Z'Dy - Z'Z w as sums have them: entries are off by eps e_i e_j before they are whitened."""
    basis, sizes = sums.summed, sums.normal.sizes[:, None]
    lengths = np.linalg.norm(sizes * basis.to_raw(solution.w), axis=0) + np.sqrt(sums.normal.squares)

    def draw(random: np.random.Generator) -> Array:
        return basis.to_features((EPS * sizes * lengths * random.standard_normal(solution.w.shape)).T).T

    return draw


def _of_rows(sums: Summed, solution: Solution, checked: Checked) -> Draw:
    """Random errors of Z'D(y - f) - alpha w as a check has them: of residuals, and of what is made of them."""
    basis, normal, w, sizes = sums.basis, sums.normal, solution.w, sums.trial.sizes[:, None]
    lengths = np.linalg.norm(sizes * basis.to_raw(w), axis=0) + np.sqrt(normal.squares)
    of_rows = EPS * lengths / np.sqrt(normal.rows) * np.sqrt(normal.spectrum.kept)[:, None]
    of_sums, of_ridge = EPS * sizes * np.sqrt(checked.squares), EPS * solution.alphas * np.abs(w)

    def draw(random: np.random.Generator) -> Array:
        rows = normal.spectrum.vectors @ (of_rows * random.standard_normal(of_rows.shape))
        sums = basis.to_features((of_sums * random.standard_normal(w.shape)).T).T
        return np.asarray(rows + sums + of_ridge * random.standard_normal(w.shape))

    return draw
