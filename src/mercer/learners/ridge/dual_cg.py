"""Least squares in the dual by conjugate gradients: exact, from products with a kernel matrix that is not stored."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.backends.squares import Square
from mercer.compute.runtime.run import Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.kernels.points import SINGLE
from mercer.learners.data.views import EPS, KernelView
from mercer.learners.ridge.dual import described
from mercer.learners.ridge.dual_rounding import balanced
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.result import DualFit, level_size, relative
from mercer.operators import Centered, Centering, Gram, Operator
from mercer.operators.base import Index
from mercer.operators.centering import CenteredOperator
from mercer.planner.ridge import RidgePlan
from mercer.solvers import ConjugateGradient, Outcome, System
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, mean_size

Array = NDArray[np.float64]


def solve(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> DualFit:
    """The model at given alphas; rows in float32 take products in float32, corrected by the true residual.

    On a card the means of the rows of K are then as exact as these: what centring subtracts changes no solution, and
    the intercept comes from the true products.

    seed : of the preconditioner, where its solver names none

    Cost: a product an iteration and one more, one in float64 for each look at the true residual, and the
    preconditioner of `ConjugateGradient`.
    """
    exact, center = problem.view.operator(run.watch), problem.centering
    fast = _fast(problem, exact, run) if problem.dtype == SINGLE else exact
    targets, alphas, solver = center.rows(problem.targets), problem.penalty.given, _solver(plan, seed)
    price = plan.details.price if solver.preconditioner_rank is None else None
    there = current().holds_squares  # what is left to this process is thin, and float64 is dear
    with one_thread_blas() if there else nullcontext():
        parts = center.operator(fast if there else exact).parts
        true = None if fast is exact else TrueProducts(exact, center, parts)
        centered = CenteredOperator(fast, center, parts)
        outcome = solver.solve(System(centered, targets, alphas, true, run=run, price=price))
        found = balanced(center, outcome)
        fit = described(problem, parts, targets, found, alphas, _roundings(problem, exact, found))
        return (
            fit
            if true is None or not (there and center.intercept)
            else _at_level(problem, fit, true.means(outcome.value))
        )


def _at_level(problem: RidgeProblem, fit: DualFit, means: Array) -> DualFit:
    """The model with the intercept that belongs to the true means of f = K a.

    means : (outputs,)
    """
    levels = problem.centering.means(problem.targets) - means
    return replace(fit, intercepts=levels, levels=levels)


class TrueProducts:
    """Products with the centred matrix by which residuals are judged; the last ones are remembered with their means.

    exact : K
    parts : of the centred matrix
    """

    def __init__(self, exact: Operator, centering: Centering, parts: Centered) -> None:
        self.exact, self.centering, self.parts = exact, centering, parts
        self._seen: list[tuple[Array, Array]] = []

    def __call__(self, x: Array) -> NDArray[Any]:
        return self.centering.product(lambda duals: self._times(x, duals), self.parts, x)

    def _times(self, x: Array, duals: NDArray[Any]) -> NDArray[Any]:
        found = self.exact @ duals
        self._seen = [*self._seen[-1:], (x.copy(), self.centering.shares @ found)]
        return found

    def means(self, x: Array) -> Array:
        """The weighted means of K a of each column, for a = D P x. Cost: a product where it was not multiplied yet.

        What was multiplied may differ by a power of two: solvers scale columns so.
        """
        return np.array([self._mean(column) for column in x.T])

    def _mean(self, column: Array) -> float:
        at = int(np.abs(column).argmax())
        for known, means in self._seen:
            for other, mean in zip(known.T, means, strict=True):
                unit = column[at] / other[at] if other[at] else 0.0
                if np.isfinite(unit) and np.array_equal(other * unit, column):
                    return float(mean * unit)
        self(column[:, None])
        return float(self._seen[-1][1][0])


def _solver(plan: RidgePlan, seed: int) -> ConjugateGradient:
    """That of the plan, with its rank and the learner's seed where the user named none.

    A rank that is weighed while pivots are taken is left open.
    """
    solver = plan.details.solver if isinstance(plan.details.solver, ConjugateGradient) else ConjugateGradient()
    planned = plan.details.rank or None if plan.details.price is None else None
    rank = solver.preconditioner_rank if solver.preconditioner_rank is not None else planned
    random_state = seed if solver.random_state is None else solver.random_state
    return replace(solver, preconditioner_rank=rank, random_state=random_state)


def _fast(problem: RidgeProblem, exact: Operator, run: Run) -> Operator:
    """Products in float32, where the kernel is known; entries stay in float64."""
    view = problem.view
    if not isinstance(view, KernelView):
        return exact
    return Swift(Gram.of(view.kernel, replace(view.points, dtype=SINGLE), watch=run.watch), exact)


class Swift(Operator):
    """A symmetric matrix with products from one operator and entries from another, which is more accurate.

    products : gives A @ V
    entries : gives blocks and the diagonal
    """

    def __init__(self, products: Operator, entries: Operator) -> None:
        self.products = products
        self.entries = entries
        super().__init__(entries.shape, entries.dtype, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.products @ V, dtype=V.dtype)

    def _transposed(self) -> Operator:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        return self.entries.block(i, j)

    def at_backend(self) -> Square | None:
        return self.entries.at_backend()

    def diagonal(self) -> NDArray[Any]:
        return self.entries.diagonal()

    def peak(self, columns: int = 1) -> int:
        return self.products.peak(columns)


def _roundings(problem: RidgeProblem, K: Operator, outcome: Outcome) -> Array:
    """The estimated relative errors of predictions at the rows, from rounding: a residual that was asked for is none.

    Entries are off by a unit that is found on a few, and errors of products add up like random numbers. `certificate_`
    tells what the residual may do.
    """
    center, alphas = problem.centering, problem.penalty.given
    if not outcome.converged:
        return np.full(len(alphas), np.inf)
    scale = np.sqrt(np.maximum(K.diagonal(), 0.0))
    lengths = np.linalg.norm((center.roots * scale)[:, None] * outcome.value, axis=0)
    moved = problem.view.unit(K, scale) * np.sqrt(np.square(scale).mean()) * lengths
    size = mean_size(problem.targets - alphas * outcome.value / center.roots[:, None])
    summed = EPS * (level_size(problem) + size)
    return relative(ERROR_FACTOR * (moved + summed), size)
