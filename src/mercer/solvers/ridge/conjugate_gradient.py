"""Exact solutions from products alone, in few iterations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run, State, Stopped
from mercer.errors import InputError, explained, message, number_of, speaks
from mercer.operators import Dense, Operator
from mercer.operators.base import read
from mercer.solvers.ridge.base import Cost, Solver, System, opening
from mercer.solvers.ridge.block_cg import EPS, Columns, Lockstep, Mark
from mercer.solvers.ridge.checks import sides
from mercer.solvers.ridge.outcome import Outcome
from mercer.solvers.ridge.preconditioner import MAX_RANK, MIN_ROWS_PER_COLUMN, Preconditioner, build
from mercer.solvers.ridge.settings import finite, whole

Array = NDArray[np.float64]
KEY, SEED = "iterations", "seed"
"""Of the stage and of the state that is offered; in that state, of the seed of the preconditioner."""
EXPECTED_ITERATIONS = 30
"""Iterations that the cost counts on: what a preconditioner is for."""


@explained
@dataclass(frozen=True, kw_only=True)
class ConjugateGradient(Solver):
    """Conjugate gradients, preconditioned by a randomly pivoted Cholesky factor of A.

    Each step is a product with A, for all outputs together, of which those that are done are left out. The residual
    that counts is recomputed with `system.product`, in float64, also where A itself gives faster products that are off
    by more: then the last digits are found by starting again from the true residual, and with products that are true
    where that does not help any more. The condition number in the outcome is a bound, (largest eigenvalue + alpha) /
    alpha, from an estimate of that eigenvalue; NaN for alpha = 0.

    The preconditioner is made for alpha; where alpha is 0 or cannot be distinguished from 0 beside A, it is made for a
    larger one, which changes the number of iterations alone. A run has the stages "preconditioner" and "iterations",
    may stop the latter, and can save them; the preconditioner is made anew from `random_state` then.

    Cost for rank k: 3 n k^2 operations for the preconditioner (and 9 k^3 where outputs have different alphas), a
    product with A and 4 n k operations per iteration and output; n k + 3 k^2 numbers, and 12 n per output.

    Parameters
    ----------
    tol : float, default=1e-06
        The relative residual `|b - (A + alpha) x| / |b|` at which to stop, at least 0.
    max_iter : int, default=1000
        The most iterations, at least 0.
    preconditioner_rank : int or None, default=None
        The rank of the preconditioner, at least 0; None for one that pays.
    random_state : int or None, default=None
        The seed of the pivots, at least 0. None draws one; a learner draws it from its own `random_state`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import ConjugateGradient, System
    >>> A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.0], [0.0]])
    >>> outcome = ConjugateGradient().solve(System(A, b, np.array([1.0])))
    >>> outcome.value.round(3).tolist(), outcome.converged, outcome.iterations
    ([[1.125], [-0.375]], True, 2)

    References
    ----------
    Diaz, Epperly, Frangella, Tropp, Webber, Robust, randomized preconditioning for kernel ridge regression, arXiv
    2304.12465 (2023).
    """

    tol: float = 1e-6
    max_iter: int = 1000
    preconditioner_rank: int | None = None
    random_state: int | None = None

    needs: ClassVar[Literal["matrix", "products"]] = "products"

    def __post_init__(self) -> None:
        if not (finite(self.tol) and self.tol >= 0):
            _refuse("a tol of at least 0", f"tol={self.tol!r}", "Use 1e-6, say.")
        for name in ("max_iter", "preconditioner_rank", "random_state"):
            value = getattr(self, name)
            if not ((whole(value) and value >= 0) or (value is None and name != "max_iter")):
                _refuse(f"an integer of at least 0 for {name}", f"{name}={value!r}", "Leave it out if in doubt.")

    @speaks
    def solve(self, system: System) -> Outcome:
        given = system.matrix if isinstance(system.matrix, Operator) else read(system.matrix)
        system = sides(given.shape, system)
        A = given if isinstance(given, Operator) else Dense(given, symmetric=True)
        largest = np.abs(system.targets).max(axis=0, initial=0.0)
        units = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1])  # squares of these leave no range
        scaled = replace(system, matrix=A, targets=system.targets / units)
        saved = system.run.saved(KEY)
        seed = self._seed(saved)
        made = build(A, system.alphas, self.preconditioner_rank, self.tol, seed, system.run, system.price)
        lockstep, told = self._iterate(scaled, made, saved, seed)
        return self._outcome(scaled, made, lockstep, told, units)

    def _seed(self, saved: State | None) -> int:
        """That of the pivots; a solve that is resumed takes the one that it had."""
        if self.random_state is not None:
            return self.random_state
        return int(np.random.default_rng().integers(2**63)) if saved is None else int(saved[SEED])

    def _iterate(self, system: System, made: Preconditioner, saved: State | None, seed: int) -> tuple[Lockstep, str]:
        """All steps, until they are over or stopped, and why they were stopped."""
        run, expected = system.run, made.iterations(system.alphas, self.tol)
        told = ""

        def state() -> State:
            return {**lockstep.state(), SEED: np.array(seed)}

        with run.stage(KEY, min(expected, max(self.max_iter, 1))):
            lockstep = Lockstep(self._columns(system, made))
            if saved is not None:
                lockstep.restore(saved)
            try:
                self._walk(lockstep, run, state)
            except Stopped as stopped:
                told = opening(stopped)
                run.offer(KEY, state)  # to go on from another time
        lockstep.finish()
        return lockstep, told

    def _walk(self, lockstep: Lockstep, run: Run, state: Callable[[], State]) -> None:
        while not lockstep.over and (lockstep.steps < self.max_iter or not lockstep.moving.size):
            with _stoppable(run, lockstep.steps > 0):
                lockstep.step()
            run.offer(KEY, state)
            with _stoppable(run, lockstep.steps > 0):
                run.tell(lockstep.steps)

    def _columns(self, system: System, made: Preconditioner) -> Columns:
        goals = max(self.tol, EPS) * np.linalg.norm(system.targets, axis=0)
        fast = system.matrix.__matmul__
        return Columns(system.targets, system.alphas, goals, fast, system.product or fast, made.solve)

    def _outcome(self, system: System, made: Preconditioner, found: Lockstep, told: str, units: Array) -> Outcome:
        lengths = np.linalg.norm(system.targets, axis=0)
        residual = float((found.sizes / np.where(lengths > 0, lengths, 1.0)).max(initial=0.0))
        converged = bool((found.sizes <= self.tol * lengths).all())
        reason = self._reason(found, residual, converged, told)
        condition = _condition(system.alphas, made, found)
        return Outcome(found.best * units, converged, reason, found.steps, residual, condition)

    def _reason(self, found: Lockstep, residual: float, converged: bool, told: str) -> str:
        after = f"fter {number_of(found.steps, 'iteration')} the residual"
        if converged:
            return f"A{after} is {residual:.1e}, within the tolerance of {self.tol:.1e}."
        missed = f"is {residual:.1e}, above the tolerance of {self.tol:.1e}"
        if told:
            return f"{told}: a{after} {missed}."
        if found.singular:
            return f"A{after} {missed}, and A + alpha I is singular to rounding: use a larger alpha."
        if (found.marks == Mark.GIVEN_UP).any():
            return f"A{after} {missed}, and rounding does not let it fall further: use a larger tol or alpha."
        return f"A{after} {missed}: use a larger max_iter, alpha or tol, or another preconditioner_rank."

    def cost(self, n: int, outputs: int) -> Cost:
        own = self.preconditioner_rank
        k = min(n // MIN_ROWS_PER_COLUMN, MAX_RANK) if own is None else min(own, n)
        many = min(EXPECTED_ITERATIONS, self.max_iter) + 1
        operations = 3.0 * n * k**2 + k**3 / 3 + many * outputs * (2.0 * n**2 + 4.0 * n * k)
        return Cost(operations, n * (float(k) + 12.0 * outputs) + 3.0 * k**2)


@contextmanager
def _stoppable(run: Run, usable: bool) -> Iterator[None]:
    """Where a run may stop, once there is something to use."""
    if usable:
        with run.stoppable():
            yield
    else:
        yield


def _condition(alphas: Array, made: Preconditioner, found: Lockstep) -> float:
    """At most so large is the condition number of A + alpha I, if the largest eigenvalue of A is as estimated."""
    if not (alphas > 0).all():
        return math.nan
    top = max(made.top, float((found.tops - alphas).max(initial=0.0)))
    return float((top + alphas.min()) / alphas.min())


def _refuse(needs: str, got: str, remedy: str) -> NoReturn:
    raise InputError(message(needs, f"got {got}", remedy, subject="ConjugateGradient"))
