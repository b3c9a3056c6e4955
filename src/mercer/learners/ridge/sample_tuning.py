"""Numbers that are chosen before the fit, on some of the rows: where a decomposition of all of them is too much.

A penalty is a ratio of two variances, that of the noise and that of the function, and so are the lengthscales lengths:
neither depends on how many rows there are, and both are known well from a few thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import InputError, message
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import View
from mercer.learners.ridge import dual
from mercer.learners.ridge.problem import RidgeProblem
from mercer.planner.ridge import RidgePlan
from mercer.tuning.path import Path

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A view of all rows, and the penalties of its model: those that were given, or those that rows chose.

    path : the leave-one-out errors by which they were chosen; None where they were given
    """

    view: View
    penalty: Penalty
    path: Path | None = None


def best(problem: RidgeProblem, run: Run = IDLE) -> tuple[dual.Tuned, View]:
    """The view of least leave-one-out error; those that overflow are passed over where others do not."""
    if len(problem.views) == 1:
        return dual.tune(problem.through(problem.view), run), problem.view
    found: tuple[dual.Tuned, View] | None = None
    refused: InputError | None = None
    for view in problem.views:
        try:
            seen = problem.through(view)
        except InputError as error:
            refused = error
            continue
        tuned = dual.tune(seen, run)
        if found is None or tuned.score < found[0].score:
            found = tuned, view
    if found is None:
        raise refused or InputError(message("something to search", "got nothing", "Give a kernel."))
    return found


def on_sample(problem: RidgeProblem, plan: RidgePlan, random: np.random.Generator) -> Chosen:
    """The lengthscale and the penalties that a sample of rows chooses, where they are not given."""
    if len(problem.views) == 1 and not problem.penalty.path:
        return Chosen(problem.view, problem.penalty)
    size = min(len(problem.kept), plan.details.sample or len(problem.kept))
    rows = np.sort(random.choice(len(problem.kept), size, replace=False))
    tuned, view = best(problem.part(rows))
    return Chosen(view, Penalty(tuned.path.alphas[tuned.chosen], path=False), tuned.path)
