"""The laws of solvers. `check_solver` raises AssertionError with the name of the first law that is broken."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import speaks
from mercer.operators import Dense
from mercer.solvers import Cost, History, Outcome, Solver
from mercer.testing.laws import require
from mercer.testing.solver_runs import law_of_precision, law_of_resuming, law_of_stopping, unstored
from mercer.testing.systems import LARGE, ROUNDING, UNKNOWNS, Problem, easy, hopeless, near, residual_is

Array = NDArray[np.float64]


@speaks
def check_solver(solver: Solver) -> None:
    """Check a solver against the laws of its kind; dense NumPy is the reference.

    The laws: value (frozen, equal by value, picklable), cost, shape (of what comes back, and its kinds), data (left as
    it is, a stored matrix aside), determinism, the residual (as stated, in easy and in hopeless systems), solution (of
    easy systems, as near as the residual says), outputs (alone and together), alphas (likewise), scale, zero, the large
    ridge (x is b / alpha), permutation, operators (as good as arrays), truth (no convergence where the residual is
    large, singular systems among them), the decomposition (solves further right sides) and the history (belongs to the
    coefficients), where a solver gives them. For solvers that need products alone, precision (the residual is that of
    the products that count); for those that can be stopped or saved, stopping (what comes back is of use, and says so)
    and resuming (to the same bits). Cost: some 70 systems of at most 12 unknowns.

    Parameters
    ----------
    solver : the solver, with settings that solve systems with condition numbers up to 6, and eigenvalues from 1e-12 to
        10, to a residual of 1e-3 or better; a `random_state` of None is taken as 0

    Raises
    ------
    AssertionError
        with the name of the law and what broke it

    Examples
    --------
    >>> from mercer.solvers import Cholesky
    >>> from mercer.testing.solver import check_solver
    >>> check_solver(Cholesky())
    """
    seeded = replace(solver, random_state=0) if getattr(solver, "random_state", 0) is None else solver  # type: ignore[type-var]
    for name, law in LAWS.items():
        try:
            law(seeded)
        except AssertionError as broken:
            raise AssertionError(f"{solver!r} breaks the law of {name}: {broken}") from broken


def law_of_value(solver: Solver) -> None:
    """Frozen, equal to its copies, and the same after a trip through pickle."""
    require(isinstance(solver, Solver), f"it is {type(solver).__name__}, which is no Solver")
    require(solver.needs in ("matrix", "products"), f"needs is {solver.needs!r}")
    for name in [field.name for field in fields(solver)] or ["anything"]:  # type: ignore[arg-type]
        try:
            setattr(solver, name, getattr(solver, name, None))
        except FrozenInstanceError:
            continue
        raise AssertionError(f"{name} can be set")
    for kind, other in (("a copy", replace(solver)), ("a pickled copy", _pickled(solver))):  # type: ignore[type-var]
        require(other == solver and hash(other) == hash(solver), f"{kind} is another one")


def _pickled(solver: Solver) -> Any:
    try:
        return pickle.loads(pickle.dumps(solver))  # noqa: S301  # written here
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(f"it cannot be pickled: {error}") from error


def law_of_cost(solver: Solver) -> None:
    """A cost is finite, holds at least the solution, and grows with the system."""
    small, many, large = solver.cost(100, 1), solver.cost(100, 3), solver.cost(200, 1)
    for cost in (small, many, large):
        require(isinstance(cost, Cost), f"cost gives {type(cost).__name__}, not Cost")
        require(bool(np.isfinite(cost).all()), f"{cost} is not finite")
    require(small.operations > 0 and small.numbers >= 100, f"{small} does not hold the solution of 100 unknowns")
    for more in (many, large):
        require(more.operations >= small.operations and more.numbers >= small.numbers, f"{more} is less than {small}")


def law_of_shape(solver: Solver) -> None:
    """The value has the shape of the targets, in float64, and the rest has its kind."""
    for problem in (easy(), easy(outputs=1), easy(n=1), easy(n=2, outputs=5)):
        outcome = solver.solve(problem.system())
        x = outcome.value
        require(isinstance(outcome, Outcome), f"solve gives {type(outcome).__name__}, not Outcome")
        require(x.shape == problem.targets.shape, f"the value has shape {x.shape}, the targets {problem.targets.shape}")
        require(x.dtype == np.float64, f"the value has dtype {x.dtype}")
        require(isinstance(outcome.converged, bool), f"converged is {outcome.converged!r}")
        require(isinstance(outcome.reason, str) and outcome.reason.endswith("."), f"the reason is {outcome.reason!r}")
        require(isinstance(outcome.iterations, int) and outcome.iterations >= 0, f"iterations: {outcome.iterations!r}")
        require(isinstance(outcome.residual, float) and outcome.residual >= 0, f"residual: {outcome.residual!r}")
        condition = outcome.condition
        require(isinstance(condition, float) and not condition < 1 - ROUNDING, f"condition: {condition!r}")


def law_of_data(solver: Solver) -> None:
    """Targets and alphas, and the matrix of an operator, are left as they are and are not handed out."""
    problem = easy()
    matrix, system = problem.A.copy(), problem.system()
    value = solver.solve(replace(system, matrix=Dense(matrix))).value
    value += 1
    require(np.array_equal(system.targets, problem.targets), "the targets were changed")
    require(np.array_equal(system.alphas, problem.alphas), "the alphas were changed")
    require(np.array_equal(matrix, problem.A), "the matrix of an operator was changed")


def law_of_determinism(solver: Solver) -> None:
    """The same system gives the same bits, whatever was solved in between."""
    problem = easy()
    first = solver.solve(problem.system())
    solver.solve(easy(n=5).system())
    again = solver.solve(problem.system())
    require(np.array_equal(first.value, again.value), "the same system has another solution the second time")
    require(first.iterations == again.iterations and first.residual == again.residual, "another path, second time")


def law_of_the_residual(solver: Solver) -> None:
    """The stated residual is the true one, beside rounding, and every number is finite."""
    for name, problem in {"an easy system": easy(), **hopeless()}.items():
        outcome = solver.solve(problem.system())
        require(bool(np.isfinite(outcome.value).all()), f"{name}: the value holds infinities or NaN")
        residual_is(problem, outcome.value, outcome.residual, name)


def law_of_solution(solver: Solver) -> None:
    """Easy systems are solved: it converges, and is as near to the solution as its residual says."""
    for problem in (easy(), easy(n=1), easy(n=2, outputs=1), easy(n=5)):
        wanted = problem.targets
        known = replace(problem, targets=problem.A @ wanted + problem.alphas * wanted)
        outcome = solver.solve(known.system())
        require(outcome.converged, f"an easy system of {len(known.A)} unknowns did not converge: {outcome.reason}")
        require(outcome.residual <= LARGE, f"the residual of an easy system is {outcome.residual:.3g}")
        near(outcome.value, wanted, known.distance(outcome.residual), "the solution of an easy system")


def law_of_outputs(solver: Solver) -> None:
    """Several right sides together have the solutions that each has alone."""
    _apart(solver, easy(), "several outputs")


def law_of_alphas(solver: Solver) -> None:
    """Several alphas together, in any order, have the solutions that each has alone."""
    _apart(solver, replace(easy(), alphas=np.array([2.0, 0.25, 2.0])), "several alphas")


def _apart(solver: Solver, problem: Problem, what: str) -> None:
    together = solver.solve(problem.system())
    for k in range(problem.targets.shape[1]):
        single = problem.columns([k])
        alone = solver.solve(single.system())
        allowed = single.distance(alone.residual + together.residual)
        near(together.value[:, [k]], alone.value, allowed, f"{what}, column {k} together and alone")


def law_of_scale(solver: Solver) -> None:
    """A right side that is 2^40 times larger, or smaller, has such a solution."""
    problem = easy()
    plain = solver.solve(problem.system())
    for factor in (2.0**40, 2.0**-40):  # powers of two, so that no digit changes
        scaled = solver.solve(replace(problem, targets=problem.targets * factor).system())
        allowed = problem.distance(plain.residual + scaled.residual)
        near(scaled.value / factor, plain.value, allowed, f"the solution for b times {factor:.3g}")


def law_of_zero(solver: Solver) -> None:
    """A right side of zeros has the solution zero, at once, alone and beside others."""
    problem = easy()
    problem.targets[:, 1] = 0.0
    require(not solver.solve(problem.system()).value[:, 1].any(), "a right side of zeros beside others gives no zeros")
    outcome = solver.solve(problem.columns([1]).system())
    require(not outcome.value.any(), "a right side of zeros gives no zeros")
    require(
        outcome.converged and outcome.residual == 0, "a right side of zeros does not converge to a residual of zero"
    )


def law_of_the_large_ridge(solver: Solver) -> None:
    """Where alpha is much larger than A, x is b / alpha."""
    problem = replace(easy(), A=easy().A * 2.0**-40, alphas=np.array([1.0, 2.0, 4.0]))
    outcome = solver.solve(problem.system())
    allowed = problem.distance(outcome.residual + 6 * 2.0**-40)
    near(outcome.value, problem.targets / problem.alphas, allowed, "b / alpha for a large ridge")


def law_of_permutation(solver: Solver) -> None:
    """Unknowns in another order have the same values in that order."""
    problem = easy()
    order = np.random.default_rng(1).permutation(UNKNOWNS)
    moved = replace(problem, A=problem.A[np.ix_(order, order)], targets=problem.targets[order])
    plain, other = solver.solve(problem.system()), solver.solve(moved.system())
    allowed = problem.distance(plain.residual + other.residual)
    near(other.value, plain.value[order], allowed, "the solution for unknowns in another order")


def law_of_operators(solver: Solver) -> None:
    """A as an operator has the solution of A as an array."""
    problem = easy()
    plain = solver.solve(problem.system())
    for A in (Dense(problem.A), 0.5 * Dense(2 * problem.A), Dense(problem.A - np.eye(UNKNOWNS)).ridge(1.0)):
        other = solver.solve(replace(problem.system(), matrix=A))
        near(other.value, plain.value, problem.distance(plain.residual + other.residual), f"the solution for {A!r}")
    if solver.needs == "products":
        other = solver.solve(replace(problem.system(), matrix=unstored(problem.A)))
        near(other.value, plain.value, problem.distance(plain.residual + other.residual), "the solution from products")


def law_of_truth(solver: Solver) -> None:
    """Whatever the system, where the residual is large it has not converged."""
    for name, problem in {"an easy system": easy(), **hopeless()}.items():
        outcome = solver.solve(problem.system())
        true = problem.residual(outcome.value)
        require(
            not (outcome.converged and not true <= LARGE), f"{name}: it has converged, with a residual of {true:.3g}"
        )


FEW_DIGITS = 1e-2
"""How far a rough solution may be off, relative to its size."""


def law_of_the_decomposition(solver: Solver) -> None:
    """A decomposition, where there is one, solves further right sides, roughly too, and says whether it serves."""
    problem = easy()
    outcome = solver.solve(problem.system())
    if outcome.decomposition is not None:
        further = replace(problem, targets=problem.targets[::-1] + 1)
        x = outcome.decomposition.solve(further.targets.copy(), further.alphas)
        exact = np.linalg.solve(further.A + further.alphas[0] * np.eye(UNKNOWNS), further.targets)
        near(x, exact, further.distance(outcome.residual), "the solution of a further right side")
        rough = outcome.decomposition.roughly(further.targets.copy(), further.alphas)
        near(rough, exact, FEW_DIGITS * np.linalg.norm(exact, axis=0), "the rough solution of a further right side")
        serves = outcome.decomposition.serves(further.alphas + np.arange(len(further.alphas)))
        require(serves in (True, False), f"whether the decomposition serves several alphas: {serves!r}")


def law_of_history(solver: Solver) -> None:
    """A history, where there is one, starts at zero, and its losses are those of its coefficients."""
    problem = easy()
    outcome = solver.solve(problem.system())
    if outcome.history is not None:
        _losses(problem, outcome, outcome.history, lambda x, Ax: (Ax + problem.alphas * x - 2 * problem.targets) * x)
        own = solver.solve(problem.system(loss=lambda x, Ax: (x - Ax).sum(axis=0)))
        _losses(problem, own, own.history, lambda x, Ax: x - Ax)
        require(outcome.history.validation.shape == (0, 3), f"held-out losses: {outcome.history.validation.shape}")
        _held_out(solver, problem, outcome.value / 2)


def _losses(problem: Problem, outcome: Outcome, history: History | None, loss: Callable[[Array, Array], Array]) -> None:
    places = outcome.iterations + 1
    require(history is not None, "there is no history where a loss is given")
    if history is not None:
        require(history.losses.shape == (places, 3), f"{history.losses.shape} losses for {places} places")
        require(bool(np.isfinite(history.step)) and history.step > 0, f"the step is {history.step}")
        coefficients = history.coefficients
        require(len(coefficients) in (0, places), f"{len(coefficients)} coefficients for {places} places")
        for x, found in zip(coefficients, history.losses, strict=len(coefficients) > 0):
            terms = loss(x, problem.A @ x)
            gap, size = np.abs(found - terms.sum(axis=0)), np.abs(terms).sum(axis=0)
            require(bool((gap <= ROUNDING * (1 + size)).all()), f"a loss is off by {gap.max():.3g}")
        require(not coefficients[:1].any(), "the first coefficients are not zero")


def _held_out(solver: Solver, problem: Problem, goal: Array) -> None:
    """With held-out rows the value is the best place for them."""
    outcome = solver.solve(problem.system(validation=lambda x: np.square(x - goal).sum(axis=0)))
    history = outcome.history
    if history is not None and len(history.validation):
        require(history.validation.shape == (outcome.iterations + 1, 3), "one held-out loss a place is missing")
        least, found = history.validation.sum(axis=1).min(), np.square(outcome.value - goal).sum()
        require(found <= least * (1 + ROUNDING), f"the held-out loss is {found:.6g}, the least was {least:.6g}")


LAWS: dict[str, Callable[[Solver], None]] = {
    "value": law_of_value,
    "cost": law_of_cost,
    "shape": law_of_shape,
    "data": law_of_data,
    "determinism": law_of_determinism,
    "the residual": law_of_the_residual,
    "truth": law_of_truth,
    "zero": law_of_zero,
    "outputs": law_of_outputs,
    "alphas": law_of_alphas,
    "scale": law_of_scale,
    "permutation": law_of_permutation,
    "the large ridge": law_of_the_large_ridge,
    "operators": law_of_operators,
    "solution": law_of_solution,
    "the decomposition": law_of_the_decomposition,
    "history": law_of_history,
    "precision": law_of_precision,
    "stopping": law_of_stopping,
    "resuming": law_of_resuming,
}
