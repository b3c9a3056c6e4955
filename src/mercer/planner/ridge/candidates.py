"""The methods of least squares that a task allows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mercer.planner.limits import Limits
from mercer.planner.ridge.conjugate_gradients import conjugate_gradients
from mercer.planner.ridge.details import RidgePlan
from mercer.planner.ridge.direct import direct
from mercer.planner.ridge.state_space import state_space
from mercer.planner.ridge.streaming import largest, nystrom, nystrom_iterative, one_pass, random_features
from mercer.solvers import ConjugateGradient, Solver

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask

ROUGHER = 1e-4
"""The relative residual that conjugate gradients are asked for where the rows are in float32."""


def candidates(task: RidgeTask, limits: Limits) -> list[RidgePlan]:
    """A plan for every method that was requested; for those of a solver alone, where one is given."""
    solver, iterative = task.solver, _iterative(task.solver, task.single)
    if task.method == "state_space":
        return _by_states(task, limits)
    if task.method == "fourier_grid":
        return _on_grid(task, limits)
    if task.method == "landmarks":
        return _on_landmarks(task, iterative, limits) if solver is None else []
    by_features = task.side == "primal"
    if solver is not None and (by_features or not (iterative is solver and task.products)):
        return direct(task, limits) if task.stored else []
    if solver is not None:
        return [conjugate_gradients(task, solver, limits)] if task.stored else []
    found = direct(task, limits) if task.stored else []
    found += [] if by_features else _by_states(task, limits)
    if iterative and task.products and task.stored and not by_features:
        found += [conjugate_gradients(task, iterative, limits)]
    return found if task.side == "dual" else found + _streaming(task, iterative, limits)


def _by_states(task: RidgeTask, limits: Limits) -> list[RidgePlan]:
    return [state_space(task, limits)] if task.components and task.stored and task.solver is None else []


def _streaming(task: RidgeTask, iterative: Solver | None, limits: Limits) -> list[RidgePlan]:
    """Methods that read rows in pieces: exact ones where there are features, approximate ones where there are none."""
    found: list[RidgePlan] = []
    if task.countable and task.lengthscales == 1:
        open_to_pieces = task.products or task.approximable or task.lift_given or not task.stored
        found += [one_pass(task, limits)] if open_to_pieces else []
    if task.n_landmarks is not None:  # of the lift that was given, whose model this is
        return found + ([nystrom_iterative(task, task.n_landmarks, iterative, limits)] if iterative else [])
    if task.lift_given or task.method == "exact" or task.side == "primal":
        return found
    found += _on_grid(task, limits) + _on_landmarks(task, iterative, limits)
    waves = task.spectral and task.wanted_landmarks is None
    return found + ([largest(task, random_features, limits)] if waves else [])


def _on_grid(task: RidgeTask, limits: Limits) -> list[RidgePlan]:
    """A grid of frequencies, where one was found for the kernel."""
    if task.grid is None:
        return []
    from mercer.planner.ridge.fourier_grid import fourier_grid  # few tasks have one

    return [fourier_grid(task, task.grid, limits)]


def _on_landmarks(task: RidgeTask, iterative: Solver | None, limits: Limits) -> list[RidgePlan]:
    """Methods that draw landmarks, where these can stand for the kernel."""
    if not task.approximable:
        return []
    found = [largest(task, nystrom, limits)]
    return found + ([largest(task, partial(_by_steps, iterative), limits)] if iterative else [])


def _by_steps(solver: Solver, task: RidgeTask, width: int, limits: Limits) -> RidgePlan:
    return nystrom_iterative(task, width, solver, limits)


def _iterative(solver: Solver | None, single: bool) -> Solver | None:
    """Conjugate gradients: the solver that was given if it is that, where none was given one as exact as the data."""
    if solver is not None:
        return solver if isinstance(solver, ConjugateGradient) else None
    return ConjugateGradient(tol=ROUGHER) if single else ConjugateGradient()
