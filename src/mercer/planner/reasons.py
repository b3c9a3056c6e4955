"""Why a way was chosen, and why the others were not."""

from __future__ import annotations

from mercer.compute.runtime.memory import text_of
from mercer.planner.explain import counted, duration
from mercer.planner.limits import INSTANT, UNSAVED, Limits, order
from mercer.planner.plan import Plan
from mercer.planner.task import Task
from mercer.solvers import Solver


def why(task: Task, best: Plan, ways: list[Plan], solver: Solver | None, limits: Limits) -> str:
    """What is known of the lift, what comes before this way and could not be taken, and what was given."""
    words = [_lift(task, best, ways)]
    if best.way != "direct":
        words += [_passed_over(task, best, ways, limits)]
    elif any(order(way) < order(best) and way.bytes > limits.bytes for way in ways):
        words += ["What is faster does not fit the memory."]
    if solver is not None:
        return " ".join([*filter(None, words), "The solver was given."])
    if best.way == "direct" and best.solver.whole_path:
        words += ["One decomposition serves all alphas."]
    if best.seconds > limits.patience:
        words += [f"Nothing that fits the memory meets {_aim(limits)}."]
    return " ".join(filter(None, words))


def why_not(task: Task, way: Plan, best: Plan, limits: Limits) -> str:
    """The first of its faults: memory, time, an approximation, what it gives up, or only that it takes longer."""
    if way.bytes > limits.bytes:
        return f"does not fit the memory, {text_of(limits.bytes)}"
    if way.seconds > limits.patience:
        return f"too slow, for {_aim(limits)}"
    if task.approximates(way) and not task.approximates(best):
        return "approximates the kernel"
    if way.way == "random features":
        return "landmarks follow the data, random features do not"
    if order(way) > order(best):
        return "slower" if way.seconds > max(best.seconds, INSTANT) else "more operations"
    return _fault(task, way, best, limits)


def _fault(task: Task, way: Plan, best: Plan, limits: Limits) -> str:
    """Why a way that is not slower was not taken."""
    if task.approximates(way) and (way.features or 0) < (best.features or 0):
        return "fewer landmarks"
    if way.way == "direct":
        unsaved = limits.resumable and way.seconds > UNSAVED
        return "its state is too large to save" if unsaved else f"cannot be stopped, for {_aim(limits)}"
    return f"gives up more: {way.gives_up}" if way.gives_up else "says less about the model"


def _aim(limits: Limits) -> str:
    return f"{'an aim' if limits.seconds is None else 'a limit'} of {limits.patience:g} s"


def _lift(task: Task, best: Plan, ways: list[Plan]) -> str:
    if task.landmarks is not None:
        return f"The lift has {task.landmarks:,} landmarks, and there are {task.rows:,} rows."
    if task.features is None:
        return "This kernel has no finite feature map that is known."
    quicker = [way.side for way in ways if way.exact and order(way) < order(best)]
    if "primal" in (best.side, *quicker):
        return f"The lift has {counted(task.features)} features, and there are {task.rows:,} rows."
    return f"The lift has {counted(task.features)} features, which is no cheaper than {task.rows:,} rows."


def _passed_over(task: Task, best: Plan, ways: list[Plan], limits: Limits) -> str:
    """What stands before a way that is not direct: stored matrices and, before approximations, all that is exact."""
    if task.approximates(best):
        words, before = "exact way", [way for way in ways if not task.approximates(way)]
    else:
        words, before = "stored matrix", [way for way in ways if way.way == "direct"]
    fitting = [way.seconds for way in before if way.bytes <= limits.bytes]
    if not before:
        return "" if task.stored else "Rows come in pieces."
    if not fitting:
        return f"No {words} fits the memory."
    return f"The quickest {words} that fits the memory takes {duration(min(fitting))}."
