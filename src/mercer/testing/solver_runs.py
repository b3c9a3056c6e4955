"""The laws of solvers inside a run: fast products and true ones, stopping, and going on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run, State, Stopped
from mercer.operators import Operator
from mercer.operators.base import Index
from mercer.solvers import Outcome, Solver
from mercer.testing.laws import require
from mercer.testing.systems import LARGE, ROUNDING, easy, residual_is

Array = NDArray[np.float64]
WORDS = "The law of stopping was tried"
FAST = 0.02
"""How far fast products are off in the law of precision: they leave a residual of some percent."""


class Products(Operator):
    """A matrix that is known by its products, blocks and diagonal; to ask for all of it fails."""

    def __init__(self, inner: Array) -> None:
        self.inner = inner
        super().__init__(inner.shape, np.float64, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.inner @ V)

    def _transposed(self) -> Operator:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        return np.array(self.inner[i][:, j])

    def diagonal(self) -> NDArray[Any]:
        return self.inner.diagonal().copy()

    def to_dense(self) -> NDArray[Any]:
        raise AssertionError("it needs products, as it says, and asked for the whole matrix")


def unstored(A: Array) -> Operator:
    """A, known by its products alone."""
    return Products(A)


class Recorder(Run):
    """A run that takes down what it is told, and every state that it is offered.

    limit : after so many tells inside `stoppable` it stops the solver; None for never
    found : the states that it gives back
    """

    def __init__(self, limit: int | None = None, found: dict[str, State] | None = None) -> None:
        self.limit, self.found = limit, found or {}
        self.tells, self.depth, self.stopped = 0, 0, False
        self.states: list[tuple[str, State]] = []

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def tell(self, done: float) -> None:
        require(bool(np.isfinite(done)), f"the run was told of {done} steps")
        self.tells += 1
        if self.depth and self.limit is not None and self.tells > self.limit:
            self.stopped = True
            raise Stopped(WORDS)

    def offer(self, key: str, state: Callable[[], State]) -> None:
        self.states.append((key, {name: np.array(value) for name, value in state().items()}))

    def saved(self, key: str) -> State | None:
        return self.found.get(key)


def law_of_precision(solver: Solver) -> None:
    """Where A gives fast products, the residual is that of `system.product`, and so is convergence."""
    if solver.needs != "products":
        return
    problem = easy()
    off = np.random.default_rng(0).normal(size=problem.A.shape) * FAST
    matrix = Products(problem.A + off + off.T)
    outcome = solver.solve(replace(problem.system(), matrix=matrix, product=lambda x: problem.A @ x))
    residual_is(problem, outcome.value, outcome.residual, "with fast products")
    told = f"with fast products it has converged, with a residual of {outcome.residual:.3g}"
    require(not outcome.converged or outcome.residual <= LARGE, told)


def law_of_stopping(solver: Solver) -> None:
    """A solver that is stopped returns where it is, with its true residual, and says that it was stopped."""
    plain = solver.solve(easy().system())
    for limit in range(4):
        run, problem = Recorder(limit), easy()
        outcome = _solved(solver, run)
        if run.stopped:
            what = f"stopped after {limit} tells"
            require(bool(np.isfinite(outcome.value).all()), f"{what}: the value holds infinities or NaN")
            residual_is(problem, outcome.value, outcome.residual, what)
            done = outcome.residual <= 10 * max(plain.residual, ROUNDING)
            require(done or not outcome.converged, f"{what}: it has converged, at {outcome.residual:.3g}")
            require(outcome.converged or WORDS in outcome.reason, f"{what}: the reason is {outcome.reason!r}")
            require(run.depth == 0, f"{what}: `stoppable` was left open")


def law_of_resuming(solver: Solver) -> None:
    """From every state that was offered it goes on to the same bits, and to be watched changes none."""
    plain, run = solver.solve(easy().system()), Recorder()
    _same(plain, _solved(solver, run), "watched")
    for place, (key, state) in enumerate(run.states):
        for name, value in state.items():
            require(value.dtype.kind in "fiub", f"the state {name} has dtype {value.dtype}")
        again = Recorder(found={key: state})
        _same(plain, _solved(solver, again), f"resumed from state {place}")
        require(place == 0 or again.tells < run.tells, f"resumed from state {place}, it took all its steps again")


def _solved(solver: Solver, run: Run) -> Outcome:
    try:
        return solver.solve(replace(easy().system(), run=run))
    except Stopped as stopped:
        raise AssertionError("it was stopped, and returned nothing") from stopped


def _same(plain: Outcome, other: Outcome, what: str) -> None:
    require(np.array_equal(plain.value, other.value), f"{what}, it has another solution")
    same = (plain.iterations, plain.residual, plain.converged) == (other.iterations, other.residual, other.converged)
    require(same, f"{what}, it took another path")
