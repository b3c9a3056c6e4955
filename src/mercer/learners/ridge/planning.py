"""From a prepared problem to its plan: what can be done with these rows, and what the planner makes of it."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.kernels import Kernel
from mercer.kernels.points import SINGLE, Points
from mercer.learners.data.pair_cost import pair_of
from mercer.learners.data.validation import Penalty, kernel_of
from mercer.learners.data.views import KernelView, LiftView, View
from mercer.learners.ridge.posing import Posed
from mercer.learners.ridge.probe import Probe, probe
from mercer.learners.run.fit_run import Watched
from mercer.lifts.base import Lift
from mercer.lifts.nystrom import Nystrom
from mercer.planner import Plan, Task, choose
from mercer.planner.from_shapes import plan
from mercer.solvers import GradientDescent
from mercer.tuning.path import default_alphas

Shape = tuple[int, int, int]
"""Rows, columns and outputs."""
WORTH = 1.0
"""Seconds that a fit is to take, at least, to look at a sample of its rows before."""


def foreseen(estimator: Any, shape: Shape) -> Plan | None:
    """What a fit will take, from the shape of its data alone: before lifts are fitted and samples are looked at.

    None where nothing fits the memory: that is refused later, in words that know more.
    """
    kernel = kernel_of(estimator.kernel)
    features = getattr(kernel, "n_components", None) if isinstance(kernel, Lift) else None
    if isinstance(kernel, Lift) and not isinstance(features, int):
        features = shape[1]  # nobody knows before it is fitted
    given = isinstance(estimator.alpha, numbers.Real) and 0 <= float(estimator.alpha) < math.inf
    try:
        return plan(
            *shape,
            kernel=kernel if isinstance(kernel, Kernel) else None,
            features=features,
            alpha=float(estimator.alpha) if given else "auto",
            memory_limit=estimator.memory_limit,
            time_limit=estimator.time_limit,
        )
    except BudgetError:
        return None


def planned(posed: Posed, resumable: bool = False) -> Plan:
    """The plan for a problem; `resumable` asks for one whose state is small enough to be saved.

    Cost: nothing up to `probe.PROBED` rows; beyond, a look at a sample of a thousand rows.
    """
    prepared, settings, task = posed.prepared, posed.prepared.settings, _task(posed)
    budget = Budget.of(settings.memory_limit)
    first = choose(settings.who, task, prepared.solver, budget, settings.time_limit, None, resumable)
    worth = (task.approximable or task.products) and first.seconds > WORTH
    looked = probe(posed, first) if worth else Probe()
    if looked.pair is None:
        return first
    task = replace(task, pair=looked.pair, spectrum=looked.spectrum, alpha=looked.alpha)
    return choose(settings.who, task, prepared.solver, budget, settings.time_limit, None, resumable)


def plan_of(run: Watched, posed: Posed) -> Plan:
    """A plan made now, or that of the fit that is resumed: what the machine can do is not asked twice."""
    made: list[Plan] = []

    def record() -> dict[str, Any]:
        made.append(planned(posed, resumable=run.terms.checkpoint is not None))
        return dict(made[0].record())

    found = run.recall("plan", record)
    return made[0] if made else Plan.restored(found, run.who)


def _task(posed: Posed) -> Task:
    prepared = posed.prepared
    view, tried = prepared.views[0], len(prepared.views)
    values = prepared.rows.values if isinstance(prepared.rows, Points) else prepared.rows
    penalty = prepared.penalty
    known = isinstance(view, KernelView) and view.sure and not isinstance(prepared.solver, GradientDescent)
    positive = penalty.values is None or bool((penalty.values > 0).all())
    return Task(
        rows=posed.count,
        columns=int(values.shape[1]),
        outputs=int(prepared.problem.targets.shape[1]),
        features=view.most_features if tried == 1 else None,
        alphas=_alphas(penalty),
        path=penalty.path or tried > 1,
        lengthscales=tried,
        approximable=known and prepared.solver is None,
        spectral=known and prepared.solver is None and _spectral(view, tried),
        landmarks=_landmarks(view),
        sought=_sought(view),
        lift_given=isinstance(view, LiftView),
        products=known and positive,
        single=prepared.dtype == SINGLE,
        pair=pair_of(view),
        stored=posed.stream is None,
        copied=_copied(posed),
    )


def _copied(posed: Posed) -> int:
    """Numbers that a fit holds beside its way: rows that were converted to float64, and some for each row."""
    if posed.stream is not None or not isinstance(posed.prepared.rows, Points) or posed.prepared.rows.sparse:
        return 0
    problem, values = posed.prepared.problem, posed.prepared.rows.values
    shared = isinstance(problem.table, np.ndarray) and np.shares_memory(problem.table, values)
    return int(posed.count * ((0 if shared else values.shape[1]) + 3 + 3 * problem.targets.shape[1]))


def _alphas(penalty: Penalty) -> int:
    return len(default_alphas(1.0)) if penalty.values is None else len(np.unique(penalty.values))


def _landmarks(view: View) -> int | None:
    """How many landmarks the lift has that was given; None for other lifts and for kernels."""
    lift = view.lift if isinstance(view, LiftView) else None
    return lift.n_features() if isinstance(lift, Nystrom) else None


def _sought(view: View) -> int | None:
    """How many it was to have."""
    lift = view.lift if isinstance(view, LiftView) else None
    return lift.n_components if isinstance(lift, Nystrom) and isinstance(lift.n_components, int) else None


def _spectral(view: View, tried: int) -> bool:
    """Whether the kernel is a mixture of waves that can be drawn."""
    if not isinstance(view, KernelView) or view.points.sparse or tried > 1:
        return False
    return view.kernel.law(view.points.values.shape[1]) is not None
