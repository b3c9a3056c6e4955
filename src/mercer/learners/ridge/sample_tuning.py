"""Numbers that are chosen before the fit, on some of the rows: where a decomposition of all of them is too much.

A penalty is a ratio of two variances, that of the noise and that of the function, and so are the lengthscales lengths:
neither depends on how many rows there are, and both are known well from a few thousand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import InputError, sentence
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import View
from mercer.learners.ridge import dual
from mercer.learners.ridge.problem import Prepared
from mercer.planner import Plan
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


def best(prepared: Prepared, plan: Plan, run: Run = IDLE) -> tuple[dual.Tuned, View]:
    """The view of least leave-one-out error; those that overflow are passed over where others do not."""
    found: tuple[dual.Tuned, View] | None = None
    refused: InputError | None = None
    for view in prepared.views:
        try:
            asked = replace(prepared.request(view, plan), run=run)
        except InputError as error:
            refused = error
            continue
        tuned = dual.tune(asked)
        if found is None or tuned.score < found[0].score:
            found = tuned, view
    if found is None:
        raise refused or InputError(sentence("A search", "something to search", "got nothing", "Give a kernel."))
    return found


def on_sample(prepared: Prepared, plan: Plan, random: np.random.Generator) -> Chosen:
    """The lengthscale and the penalties that a sample of rows chooses, where they are not given."""
    if len(prepared.views) == 1 and not prepared.penalty.path:
        return Chosen(prepared.views[0], prepared.penalty)
    size = min(len(prepared.kept), plan.sample or len(prepared.kept))
    rows = np.sort(random.choice(len(prepared.kept), size, replace=False))
    tuned, view = best(prepared.part(rows), plan)
    return Chosen(view, Penalty(tuned.path.alphas[tuned.chosen], path=False), tuned.path)
