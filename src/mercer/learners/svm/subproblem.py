"""One function of an SVM: its quadratic program over some of the rows, and what a solver says of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.learners.svm.methods import Method
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Subproblem(ABC):
    """One function that is to be learned.

    rows : positions among the rows that are fitted
    qp : the problem of its coefficients, one per row
    """

    rows: Rows
    qp: BoxQP

    @abstractmethod
    def solve(self, method: Method, start: Array | None, run: Run) -> tuple[BoxQP, QPResult]:
        """The coefficients, and the problem that they solve: its box is finite."""


class SoftMargin(Subproblem):
    """Errors are allowed, and penalised: the box is finite."""

    def solve(self, method: Method, start: Array | None, run: Run) -> tuple[BoxQP, QPResult]:
        return self.qp, method.solve(self.qp, start, run)


@dataclass(frozen=True)
class SubproblemResult:
    """What a solver says of one function.

    rows, support : how many rows there were, and how many the function is made of
    steps, rounds : coefficients that were moved, and working sets or passes
    violation : the KKT violation of the steepest pair of coefficients, in units of f
    gap : how far the objective is from the best, at most, by the kernel or the features that it was solved with
    objective : of the dual, which is minimised
    converged, reason : whether what is left is within `tol`, and why the solver ended
    """

    rows: int
    support: int
    steps: int
    rounds: int
    violation: float
    gap: float
    objective: float
    converged: bool
    reason: str

    @classmethod
    def of(cls, qp: BoxQP, result: QPResult) -> SubproblemResult:
        """The same without the arrays."""
        return cls(
            rows=qp.count,
            support=int(np.count_nonzero(result.b)),
            steps=result.steps,
            rounds=result.rounds,
            violation=result.violation,
            gap=result.gap,
            objective=qp.objective(result.b, result.g),
            converged=result.converged,
            reason=result.reason,
        )
