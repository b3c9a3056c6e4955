"""From a problem to its plan: what can be done with these rows, and what the planner makes of it."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.kernels import Kernel
from mercer.kernels.points import SINGLE
from mercer.learners.data.validation import AUTO, Penalty, kernel_of
from mercer.learners.data.views import KernelView, LiftView, MatrixView, View
from mercer.learners.ridge.problem import FOURIER_GRID, LANDMARKS, RidgeParameters, RidgeProblem, table_of
from mercer.learners.run.fit_run import Watched
from mercer.lifts.base import Lift
from mercer.planner import RidgeTask
from mercer.planner.placement import place
from mercer.planner.ridge import RidgePlan
from mercer.tuning.path import DEFAULT_ALPHAS

if TYPE_CHECKING:
    from mercer.lifts.nystrom import Nystrom
    from mercer.planner.ridge.fourier_grid import GridSize

Shape = tuple[int, int, int]
"""Rows, columns and outputs."""
GRID_ROWS = 4_000
"""Rows up to which no grid is looked for: methods that store a matrix are quick, and say as much."""
WORTH = 1.0
"""Seconds that a fit is to take, at least, to look at a sample of its rows before."""


def foreseen(model: RidgeParameters, shape: Shape) -> RidgePlan | None:
    """What a fit will take, from the shape of its data alone: before lifts are fitted and samples are looked at.

    None where nothing fits the memory, which is refused later in words that know more, and where `method`, `side` or
    `n_landmarks` was given.
    """
    if model.n_landmarks is not None or not all(
        isinstance(one, str) and one == AUTO for one in (model.method, model.side)
    ):
        return None
    kernel = kernel_of(model.kernel)
    features = getattr(kernel, "n_components", None) if isinstance(kernel, Lift) else None
    if isinstance(kernel, Lift) and not isinstance(features, int):
        features = shape[1]  # nobody knows before it is fitted
    from mercer.planner.from_shapes import plan  # where somebody looks on

    given = isinstance(model.alpha, numbers.Real) and 0 <= float(model.alpha) < math.inf
    try:
        return plan(
            *shape,
            kernel=kernel if isinstance(kernel, Kernel) else None,
            features=features,
            alpha=float(model.alpha) if given else "auto",
            memory_limit=model.memory_limit,
            time_limit=model.time_limit,
        )
    except BudgetError:
        return None


def planned(problem: RidgeProblem, resumable: bool = False) -> RidgePlan:
    """The plan for a problem; `resumable` asks for one whose state is small enough to be saved.

    Cost: nothing up to `probe.PROBED` rows; beyond, a look at a sample of a thousand rows.
    """
    task, seconds = _task(problem), problem.time_limit
    limit = None if problem.memory_limit is None else Budget.of(problem.memory_limit)
    swept = task.components > 0 and task.solver is None and task.method != LANDMARKS  # no card can do it faster
    takes_card = problem.view.on_card and not swept
    first = place(task, problem.backend, limit, seconds, resumable, takes_card)
    worth = (task.approximable or task.products) and first.seconds > WORTH and first.method != "state space"
    if not worth:
        return first
    from mercer.learners.ridge.probe import probe  # large data alone is looked at

    looked = probe(problem)
    if looked.pair is None:
        return first
    task = replace(task, pair=looked.pair, spectrum=looked.spectrum, alpha=looked.alpha)
    return place(task, problem.backend, limit, seconds, resumable, takes_card)


def plan_of(run: Watched, problem: RidgeProblem) -> RidgePlan:
    """A plan made now, or that of the fit that is resumed: what the machine can do is not asked twice."""
    if run.store is None:
        return planned(problem)
    made: list[RidgePlan] = []

    def record() -> dict[str, Any]:
        made.append(planned(problem, resumable=True))
        return dict(made[0].record())

    found = run.recall("plan", record)
    if made:
        return made[0]
    from mercer.planner.record import restored

    return restored(found)


def _task(problem: RidgeProblem) -> RidgeTask:
    view, tried, penalty = problem.view, len(problem.views), problem.penalty
    columns = view.matrix.shape[1] if isinstance(view, MatrixView) else table_of(view).points.values.shape[1]
    known = isinstance(view, KernelView) and view.sure and not _descends(problem)
    positive = penalty.values is None or bool((penalty.values > 0).all())
    lift = view.lift if isinstance(view, LiftView) and _is_nystrom(view.lift) else None
    components, beside = _states(problem) if columns == 1 else (0, 0)
    grid, no_grid = _grid(problem)
    return RidgeTask(
        rows=problem.count,
        columns=int(columns),
        outputs=problem.targets.shape[1],
        n_features=view.most_features if tried == 1 else None,
        alphas=_alphas(penalty),
        path=penalty.path or tried > 1,
        lengthscales=tried,
        approximable=known and problem.solver is None,
        spectral=known and problem.solver is None and _spectral(view, tried),
        n_landmarks=None if lift is None else lift.n_features(),
        requested=lift.n_components if lift is not None and isinstance(lift.n_components, int) else None,
        lift_given=isinstance(view, LiftView),
        products=known and positive,
        unpenalized=penalty.values is not None and not positive,
        single=problem.dtype == SINGLE,
        pair=_pair(view) if isinstance(view, KernelView) and view.points.stores else None,
        stored=problem.source is None,
        copied=problem.copied,
        solver=problem.solver,
        side=problem.side,
        method=problem.method,
        wanted_landmarks=problem.n_landmarks,
        components=components,
        extra_features=beside,
        grid=grid,
        no_grid=no_grid,
    )


def _states(problem: RidgeProblem) -> tuple[int, int]:
    """The components of the kernel's states, and the features beside these; zeros where it has none here."""
    if problem.labels is not None or problem.source is not None or not isinstance(problem.view, KernelView):
        return 0, 0
    from mercer.learners.ridge.state_form import form_of  # of one column alone

    form = form_of(problem.view)[0]
    return (0, 0) if form is None else (form.components, form.features)


def _grid(problem: RidgeProblem) -> tuple[GridSize | None, str]:
    """The grid of frequencies that stands for the kernel; few rows need none unless it is requested."""
    if problem.method != FOURIER_GRID and (problem.method != AUTO or problem.count <= GRID_ROWS):
        return None, ""
    from mercer.learners.ridge.grids import grid_size

    return grid_size(problem)


def _descends(problem: RidgeProblem) -> bool:
    if problem.solver is None:
        return False
    from mercer.solvers import GradientDescent

    return isinstance(problem.solver, GradientDescent)


def _is_nystrom(lift: Lift) -> TypeGuard[Nystrom]:
    from mercer.lifts.nystrom import Nystrom

    return isinstance(lift, Nystrom)


def _pair(view: KernelView) -> float | None:
    from mercer.learners.data.pair_cost import pair_of  # of structured data alone

    return pair_of(view)


def _alphas(penalty: Penalty) -> int:
    if penalty.values is None:
        return DEFAULT_ALPHAS
    return 1 if (penalty.values == penalty.values[0]).all() else len(np.unique(penalty.values))


def _spectral(view: View, tried: int) -> bool:
    """Whether the kernel is a mixture of waves that can be drawn."""
    if not isinstance(view, KernelView) or view.points.sparse or tried > 1:
        return False
    return view.kernel.law(view.points.values.shape[1]) is not None
