"""The law suite must accept every solver and reject every broken one, by the right law."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from mercer.compute.runtime.run import Run
from mercer.operators import Operator
from mercer.solvers import Cholesky, ConjugateGradient, Cost, Eigen, GradientDescent, History, Outcome, Solver
from mercer.testing.solver import LAWS, check_solver

RIGHT = [
    Cholesky(),
    Eigen(),
    ConjugateGradient(),
    ConjugateGradient(preconditioner_rank=0, max_iter=200),
    ConjugateGradient(preconditioner_rank=12, tol=1e-10),
    GradientDescent(),
    GradientDescent(max_iter=300, tol=1e-4, keep=False),
    GradientDescent(step=0.1, max_iter=400, tol=1e-6),
]


@pytest.mark.parametrize("solver", RIGHT, ids=repr)
def test_every_solver_obeys_the_laws(solver):
    check_solver(solver)


@dataclass(frozen=True)
class Mine(Solver):
    """A right one of one's own: least squares of each output by NumPy."""

    limit: float = 1e-8
    needs: ClassVar[str] = "matrix"

    def answer(self, A, b, alpha):
        return np.linalg.lstsq(A + alpha * np.eye(len(A)), b, rcond=None)[0]

    def solve(self, system):
        A = system.matrix.to_dense() if isinstance(system.matrix, Operator) else system.matrix
        parts = zip(system.targets.T, system.alphas, strict=True)
        x = np.column_stack([self.answer(A, b, alpha) for b, alpha in parts])
        sizes = np.linalg.norm(system.targets, axis=0)
        left = np.linalg.norm(system.targets - A @ x - system.alphas * x, axis=0)
        residual = float((left / np.where(sizes > 0, sizes, 1.0)).max())
        outcome = Outcome(x, residual <= self.limit, "Least squares.", 0, residual, float("nan"))
        return self.change(outcome, system)

    def change(self, outcome, system):
        return outcome

    def cost(self, n, outputs):
        return Cost(10.0 * n**3 * outputs, 3.0 * n**2 + n * outputs)


def test_a_solver_of_your_own_obeys_the_laws():
    check_solver(Mine())


class Mutable(Mine):
    __setattr__ = object.__setattr__


class ComparedByIdentity(Mine):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class CannotBePickled(Mine):
    def __reduce__(self):
        raise TypeError("no")


class NeedsLuck(Mine):
    needs = "luck"


class ForgetsTheSolution(Mine):
    def cost(self, n, outputs):
        return Cost(1.0 * n, 1.0)


class CheaperWhenLarger(Mine):
    def cost(self, n, outputs):
        return Cost(1e9 / n, 1e9)


class PlainNumbers(Mine):
    def cost(self, n, outputs):
        return (1.0 * n, 1.0 * n * outputs)


class EndlessCost(Mine):
    def cost(self, n, outputs):
        return Cost(np.inf, 1.0 * n * outputs)


class DropsTheLastAxis(Mine):
    def change(self, outcome, system):
        return replace(outcome, value=outcome.value[:, 0]) if outcome.value.shape[1] == 1 else outcome


class SinglePrecision(Mine):
    def change(self, outcome, system):
        return replace(outcome, value=outcome.value.astype(np.float32))


class Wordless(Mine):
    def change(self, outcome, system):
        return replace(outcome, reason="")


class ImpossibleCondition(Mine):
    def change(self, outcome, system):
        return replace(outcome, condition=0.5)


class CountsInFloats(Mine):
    def change(self, outcome, system):
        return replace(outcome, iterations=0.5)


class WritesIntoTheTargets(Mine):
    def change(self, outcome, system):
        system.targets[:] = outcome.value
        return outcome


class WritesIntoTheAlphas(Mine):
    def change(self, outcome, system):
        system.alphas[:] += 1
        return outcome


class WritesIntoTheOperator(Mine):
    def change(self, outcome, system):
        if isinstance(system.matrix, Operator):
            stored = system.matrix.matrix.base
            stored += 1
        return outcome


class Drifts(Mine):
    """Another rounding each time."""

    calls: ClassVar[list[int]] = []

    def change(self, outcome, system):
        self.calls.append(1)
        return replace(outcome, value=outcome.value * (1 + len(self.calls) * 1e-15))


class ClaimsPerfection(Mine):
    def change(self, outcome, system):
        return replace(outcome, residual=0.0)


class AbsoluteResidual(Mine):
    """Not divided by the size of b."""

    def change(self, outcome, system):
        return replace(outcome, residual=outcome.residual * float(np.linalg.norm(system.targets)))


class HiddenJitter(Mine):
    """Solves a neighbouring system, and states the residual of that."""

    def answer(self, A, b, alpha):
        return super().answer(A, b, alpha + 1e-8)

    def change(self, outcome, system):
        return replace(outcome, residual=1e-16, converged=True)


class NotANumber(Mine):
    def answer(self, A, b, alpha):
        return np.full(len(A), np.nan) if np.linalg.matrix_rank(A) < len(A) else super().answer(A, b, alpha)


class AlwaysConverged(Mine):
    def change(self, outcome, system):
        return replace(outcome, converged=True)


class NeverZero(Mine):
    def answer(self, A, b, alpha):
        return super().answer(A, b, alpha) + 1e-20


class DoubtsZero(Mine):
    def change(self, outcome, system):
        return replace(outcome, converged=bool(system.targets.any()) and outcome.converged)


class Beside(Mine):
    """Solves another system than it was given, in some cases, and states the residual of that one."""

    def other(self, system):
        return system

    def solve(self, system):
        return super().solve(self.other(system))


class ForgetsTheRidgeOfOne(Beside):
    """Right for several outputs only."""

    def other(self, system):
        return replace(system, alphas=0 * system.alphas) if len(system.alphas) == 1 else system


class FirstAlphaForAll(Beside):
    def other(self, system):
        return replace(system, alphas=np.full_like(system.alphas, system.alphas[0]))


class FlushesToZero(Beside):
    """Takes targets below 1e-6 for zeros."""

    def other(self, system):
        return replace(system, targets=np.where(np.abs(system.targets) < 1e-6, 0.0, system.targets))


class KnowsByTheSum(Mine):
    """Takes systems for equal whose sums are: those in another order too."""

    known: ClassVar[dict[tuple[object, ...], Outcome]] = {}

    def change(self, outcome, system):
        A = system.matrix.to_dense() if isinstance(system.matrix, Operator) else system.matrix
        sums = [np.round(part.sum(), 6) for part in (A, A**2, system.targets, system.targets**2, system.alphas)]
        found = self.known.setdefault((*sums, system.targets.shape), outcome)
        return replace(found, value=found.value.copy())


class CutsTheSpectrum(Beside):
    """Leaves out what A alone makes small, although the ridge keeps it away from zero."""

    def answer(self, A, b, alpha):
        values, vectors = np.linalg.eigh(A)
        kept = values > 1e-10
        return super().answer(A, b, alpha) if not alpha else vectors[:, kept] @ (vectors.T @ b / (values + alpha))[kept]

    def change(self, outcome, system):
        return replace(outcome, residual=0.0, converged=True) if system.alphas.any() else outcome


class DiagonalOfOperators(Beside):
    def other(self, system):
        A = system.matrix
        return replace(system, matrix=np.diag(A.diagonal())) if isinstance(A, Operator) else system


class ForgetsTheFactor(Beside):
    """Takes 0.5 * A for A."""

    def other(self, system):
        A = system.matrix
        return replace(system, matrix=A.terms[0]) if hasattr(A, "terms") and len(A.terms) == 1 else system


class WrongForFive(Beside):
    def other(self, system):
        return replace(system, alphas=system.alphas * 1.01) if system.targets.shape[0] == 5 else system


class NeverConverges(Mine):
    def change(self, outcome, system):
        return replace(outcome, converged=not system.targets.any())


class StaleDecomposition(Mine):
    """One without the ridge."""

    def change(self, outcome, system):
        solve = super().answer
        A = system.matrix.to_dense() if isinstance(system.matrix, Operator) else system.matrix

        class Factor:
            def solve(self, targets, alphas):
                return solve(A, targets, 0.0)

        return replace(outcome, decomposition=Factor())


class RoughNonsense(Mine):
    """One whose rough solutions are none."""

    def change(self, outcome, system):
        inner = super().answer
        A = system.matrix.to_dense() if isinstance(system.matrix, Operator) else system.matrix

        class Factor:
            def solve(self, targets, alphas):
                return inner(A, targets, alphas[0])

            def roughly(self, targets, alphas):
                return targets

        return replace(outcome, decomposition=Factor())


class Walks(Mine):
    """A history of two places: zero, and the solution."""

    def change(self, outcome, system):
        A = system.matrix.to_dense() if isinstance(system.matrix, Operator) else system.matrix
        loss = system.loss or (lambda x, Ax: ((Ax + system.alphas * x - 2 * system.targets) * x).sum(axis=0))
        places = np.stack([np.zeros_like(outcome.value), outcome.value])
        losses = np.stack([loss(x, A @ x) for x in places])
        held_out = [] if system.validation is None else [system.validation(x) for x in places]
        history = History(losses, places, 1.0, np.reshape(held_out, (len(held_out), losses.shape[1])))
        return self.retell(replace(outcome, iterations=1, history=history), history, system)

    def retell(self, outcome, history, system):
        if system.validation is None:
            return outcome
        best = int(history.validation.sum(axis=1).argmin())
        return replace(outcome, value=history.coefficients[best])


def test_a_solver_with_a_history_obeys_the_laws():
    check_solver(Walks())


class DoublesTheLoss(Walks):
    def retell(self, outcome, history, system):
        return replace(outcome, history=replace(history, losses=2 * history.losses))


class IgnoresTheGivenLoss(Walks):
    def change(self, outcome, system):
        return super().change(outcome, replace(system, loss=None))


class ForgetsTheStart(Walks):
    def retell(self, outcome, history, system):
        return replace(outcome, history=replace(history, losses=history.losses[1:]))


class StartsElsewhere(Walks):
    def retell(self, outcome, history, system):
        places = history.coefficients.copy()
        places[0] = 1e-30
        return replace(outcome, history=replace(history, coefficients=places))


class GoesOnWithoutLooking(Walks):
    """Follows the held-out rows, and returns a place beyond the best of them all the same."""

    def retell(self, outcome, history, system):
        return outcome if system.validation is None else replace(outcome, value=1.5 * outcome.value)


class NoStep(Walks):
    def retell(self, outcome, history, system):
        return replace(outcome, history=replace(history, step=0.0))


class AsksForTheMatrix(Mine):
    """Says that products are enough."""

    needs = "products"


class TrustsTheFastProducts(ConjugateGradient):
    def solve(self, system):
        return super().solve(replace(system, product=None))


class Tells(Mine):
    """Tells a run of its only step, where it may stop it."""

    def change(self, outcome, system):
        with system.run.stoppable():
            system.run.tell(1)
        return outcome


class ForgetsWhoStoppedIt(GradientDescent):
    def solve(self, system):
        return replace(super().solve(system), reason="It is over.")


class ConvergesWhenStopped(GradientDescent):
    def solve(self, system):
        outcome = super().solve(system)
        return replace(outcome, converged=outcome.converged or getattr(system.run, "stopped", False))


class TellsNonsense(Mine):
    def change(self, outcome, system):
        system.run.tell(float("nan"))
        return outcome


class Relays(Run):
    """Passes everything on to another run, and changes what was saved."""

    def __init__(self, run, change):
        self.run, self.change = run, change

    def __getattribute__(self, name):
        if name in ("run", "change", "saved"):
            return object.__getattribute__(self, name)
        return getattr(self.run, name)

    def saved(self, key):
        state = self.run.saved(key)
        return None if state is None else self.change(state)


class StartsAgain(ConjugateGradient):
    def solve(self, system):
        return super().solve(replace(system, run=Relays(system.run, lambda state: None)))


class ForgetsTheDirection(ConjugateGradient):
    def solve(self, system):
        change = lambda state: {**state, "direction": state["residual"]}  # noqa: E731
        return super().solve(replace(system, run=Relays(system.run, change)))


class DisturbedByBeingSaved(ConjugateGradient):
    def solve(self, system):
        outcome = super().solve(system)
        return replace(outcome, iterations=outcome.iterations + len(getattr(system.run, "states", [])))


class SavesObjects(ConjugateGradient):
    def solve(self, system):
        system.run.offer("words", lambda: {"text": np.array(["some"], dtype=object)})
        return super().solve(system)


BROKEN = {
    Mutable: "value",
    ComparedByIdentity: "value",
    CannotBePickled: "value",
    NeedsLuck: "value",
    ForgetsTheSolution: "cost",
    CheaperWhenLarger: "cost",
    PlainNumbers: "cost",
    EndlessCost: "cost",
    DropsTheLastAxis: "shape",
    SinglePrecision: "shape",
    Wordless: "shape",
    ImpossibleCondition: "shape",
    CountsInFloats: "shape",
    WritesIntoTheTargets: "data",
    WritesIntoTheAlphas: "data",
    WritesIntoTheOperator: "data",
    Drifts: "determinism",
    ClaimsPerfection: "the residual",
    AbsoluteResidual: "the residual",
    HiddenJitter: "the residual",
    NotANumber: "the residual",
    AlwaysConverged: "truth",
    NeverZero: "zero",
    DoubtsZero: "zero",
    ForgetsTheRidgeOfOne: "outputs",
    FirstAlphaForAll: "alphas",
    FlushesToZero: "scale",
    KnowsByTheSum: "permutation",
    CutsTheSpectrum: "the large ridge",
    DiagonalOfOperators: "operators",
    ForgetsTheFactor: "operators",
    WrongForFive: "solution",
    NeverConverges: "solution",
    StaleDecomposition: "the decomposition",
    RoughNonsense: "the decomposition",
    DoublesTheLoss: "history",
    IgnoresTheGivenLoss: "history",
    ForgetsTheStart: "history",
    StartsElsewhere: "history",
    GoesOnWithoutLooking: "history",
    NoStep: "history",
    AsksForTheMatrix: "operators",
    TrustsTheFastProducts: "precision",
    Tells: "stopping",
    TellsNonsense: "stopping",
    ForgetsWhoStoppedIt: "stopping",
    ConvergesWhenStopped: "stopping",
    StartsAgain: "resuming",
    ForgetsTheDirection: "resuming",
    DisturbedByBeingSaved: "resuming",
    SavesObjects: "resuming",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_broken_solvers_are_rejected_by_the_right_law(broken):
    with pytest.raises(AssertionError, match=f"law of {BROKEN[broken]}:"):
        check_solver(broken())


def test_every_law_is_the_one_that_catches_something():
    assert set(LAWS) == set(BROKEN.values())


def test_settings_that_do_not_solve_easy_systems_are_told():
    with pytest.raises(
        AssertionError, match=r"law of solution: an easy system of 12 unknowns did not converge: After 3"
    ):
        check_solver(GradientDescent(max_iter=3))
