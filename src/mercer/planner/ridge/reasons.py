"""Why a method of least squares was chosen, and why the others were not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mercer.compute.runtime.memory import text_of
from mercer.errors import number_of
from mercer.planner.explain import counted, duration
from mercer.planner.limits import INSTANT, UNSAVED, Limits
from mercer.planner.ridge.details import GRID, RidgePlan, is_good, size_of

if TYPE_CHECKING:
    from mercer.planner.ridge.task import RidgeTask


def why(task: RidgeTask, best: RidgePlan, plans: Sequence[RidgePlan], limits: Limits) -> str:
    """What is known of the lift, what comes before this method and could not be taken, and what was given."""
    words = [_lift(task, best, plans) if task.side == "auto" else f'side="{task.side}" was given.']
    if best.method != "direct":
        words += [_passed_over(task, best, plans, limits)]
    elif any(task.order(plan) < task.order(best) and plan.bytes > limits.bytes for plan in plans):
        words += ["What is faster does not fit the memory."]
    if task.solver is not None:
        return " ".join([*filter(None, words), "The solver was given."])
    if task.method != "auto":
        words += [f'method="{task.method}" was given.']
    if best.method == "direct" and best.details.solver.whole_path:
        words += ["One decomposition serves all alphas."]
    if best.seconds > limits.patience:
        words += [f"Nothing that fits the memory meets {task.aim(limits)}."]
    return " ".join(filter(None, words))


def why_not(task: RidgeTask, plan: RidgePlan, best: RidgePlan, limits: Limits) -> str:
    """The first of its faults: memory, time, an approximation, what it gives up, or only that it takes longer."""
    if plan.bytes > limits.bytes:
        return f"does not fit the memory, {text_of(limits.bytes)}"
    if plan.method == GRID and plan.seconds > max(INSTANT, best.seconds):
        from mercer.compute import nonuniform  # few plans have a grid

        if not nonuniform.is_fast():
            return f"FINUFFT would make it faster: {nonuniform.REMEDY}"
    if plan.seconds > limits.patience:
        return f"too slow, for {task.aim(limits)}"
    if task.approximates(plan) and not task.approximates(best):
        return "approximates the kernel"
    if plan.method == GRID and task.approximates(plan) and not is_good(plan):
        return f"its waves leave an error of {plan.details.epsilon:.0e} of k(x, x)"
    if task.approximates(plan) and is_good(best):
        return "no proven error: the grid has one"
    if plan.method == "random features":
        return "landmarks follow the data, random features do not"
    if task.order(plan) > task.order(best):
        return "slower" if plan.seconds > max(best.seconds, INSTANT) else "more operations"
    return _fault(task, plan, best, limits)


def _fault(task: RidgeTask, plan: RidgePlan, best: RidgePlan, limits: Limits) -> str:
    """Why a method that is not slower was not taken."""
    if task.approximates(plan) and size_of(plan) < size_of(best):
        return "fewer landmarks"
    if plan.method == "direct":
        unsaved = limits.resumable and plan.seconds > UNSAVED
        return "its state is too large to save" if unsaved else f"cannot be stopped, for {task.aim(limits)}"
    return f"gives up more: {plan.gives_up}" if plan.gives_up else "says less about the model"


def _lift(task: RidgeTask, best: RidgePlan, plans: Sequence[RidgePlan]) -> str:
    if task.method in ("landmarks", "fourier_grid"):
        return ""
    if task.n_landmarks is not None:
        return f"The lift has {number_of(task.n_landmarks, 'landmark')}, and there are {task.rows:,} rows."
    if task.n_features is None:
        return "This kernel has no finite feature map that is known."
    quicker = [plan.details.side for plan in plans if plan.exact and task.order(plan) < task.order(best)]
    if "primal" in (best.details.side, *quicker):
        return f"The lift has {counted(task.n_features, 'feature')}, and there are {task.rows:,} rows."
    return f"The lift has {counted(task.n_features, 'feature')}, which is no cheaper than {task.rows:,} rows."


def _passed_over(task: RidgeTask, best: RidgePlan, plans: Sequence[RidgePlan], limits: Limits) -> str:
    """What stands before a method that is not direct: stored matrices, and all exact ones before approximations."""
    if task.approximates(best):
        words, before = "exact method", [plan for plan in plans if not task.approximates(plan)]
    else:
        words, before = "stored matrix", [plan for plan in plans if plan.method == "direct"]
    fitting = [plan.seconds for plan in before if plan.bytes <= limits.bytes]
    if not before:
        return "" if task.stored else "Rows come in pieces."
    if not fitting:
        return f"No {words} fits the memory."
    return f"The quickest {words} within memory takes {duration(min(fitting))}."
