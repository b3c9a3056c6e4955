"""One function of an SVM: its problem, its result, and the progress of its solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.svm.box_qp import Boxed, Rested

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sought:
    """One function that is to be learned.

    rows : positions among the rows that are fitted
    problem : its coefficients, one per row
    weights : how much each row counts
    between : what it tells apart, for messages; "" where it tells nothing apart
    """

    rows: Rows
    problem: Boxed
    weights: Array
    between: str = ""


@dataclass(frozen=True)
class Found:
    """What a solver says of one function.

    rows, support : how many rows there were, and how many the function is made of
    steps, rounds : coefficients that were moved, and working sets or passes
    violation : how far the steepest pair of coefficients is from rest, in units of f
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
    def of(cls, problem: Boxed, rested: Rested) -> Found:
        """The same without the arrays."""
        return cls(
            rows=problem.count,
            support=int(np.count_nonzero(rested.b)),
            steps=rested.steps,
            rounds=rested.rounds,
            violation=rested.violation,
            gap=rested.gap,
            objective=problem.objective(rested.b, rested.g),
            converged=rested.converged,
            reason=rested.reason,
        )
