"""Least squares in the dual by conjugate gradients: exact, from products with a kernel matrix that is not stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Square
from mercer.compute.runtime.run import Run
from mercer.kernels.points import SINGLE
from mercer.learners.data.views import EPS, KernelView
from mercer.learners.ridge.dual import described
from mercer.learners.ridge.dual_rounding import balanced
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.result import DualFit, level_size, relative
from mercer.operators import Gram, Operator
from mercer.operators.base import Index
from mercer.operators.centering import CenteredOperator
from mercer.planner.ridge import RidgePlan
from mercer.solvers import ConjugateGradient, Outcome, System
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, mean_size

Array = NDArray[np.float64]


def solve(problem: RidgeProblem, plan: RidgePlan, run: Run, seed: int) -> DualFit:
    """The model at given alphas; rows in float32 take products in float32, corrected by the true residual.

    seed : of the preconditioner, where its solver names none

    Cost: a product an iteration, three in float64, and the preconditioner of `ConjugateGradient`.
    """
    exact = problem.view.operator(run.watch)
    centered = problem.centering.operator(exact)
    fast = (
        CenteredOperator(_fast(problem, exact, run), problem.centering, centered.parts)
        if problem.dtype == SINGLE
        else centered
    )
    targets, alphas = problem.centering.rows(problem.targets), problem.penalty.given
    true = None if fast is centered else centered.__matmul__
    solver = _solver(plan, seed)
    price = plan.details.price if solver.preconditioner_rank is None else None
    outcome = solver.solve(System(fast, targets, alphas, true, run=run, price=price))
    outcome = balanced(problem.centering, outcome)
    return described(problem, centered.parts, targets, outcome, alphas, _roundings(problem, exact, outcome))


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
