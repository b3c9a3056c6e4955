"""Which way to fit least squares: what is exact before what is approximate, within memory and time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message
from mercer.planner.conjugate_gradients import conjugate_gradients
from mercer.planner.direct import direct
from mercer.planner.limits import UNSAVED, Limits, order
from mercer.planner.machine import Machine
from mercer.planner.no_fit_error import refuse
from mercer.planner.plan import Plan
from mercer.planner.reasons import why, why_not
from mercer.planner.streaming import JUDGED, largest, nystrom, nystrom_iterative, one_pass, random_features
from mercer.planner.task import Task
from mercer.solvers import ConjugateGradient, Solver

ROUGHER = 1e-4
"""The relative residual that conjugate gradients are asked for where the rows are in float32."""
BRIEF = 2.0
"""Seconds that a direct way may take to be preferred to a quicker pass over the rows."""
STARTED, JUDGED_BY, LIFTED = 15_000.0, 25_000.0, 40_000.0
"""Calls of NumPy around any work: in all, to judge a path of penalties, and for a lift that was given."""
GLANCE = 1.0
"""Seconds of the quickest exact way, by rough rates, up to which this machine is not measured."""


def choose(
    who: str,
    task: Task,
    solver: Solver | None = None,
    budget: Budget | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    resumable: bool = False,
) -> Plan:
    """The way to take, among those that fit the memory; an error that names what would fit where none does.

    who : the name in errors
    task : what is to be fitted
    solver : the only one that is considered; None for all
    budget : the memory that may be held; None for most of what is free
    seconds : the time limit; None for `limits.PATIENCE`, which then is an aim
    machine : whose rates count; None for this one, which is measured only where that can matter
    resumable : whether the fit is to go on after it was cut off

    >>> from mercer.planner import Task, choose
    >>> from mercer.planner.machine import ROUGH
    >>> choose("KernelRidge", Task(1000, 8, 1, None, 45, True), machine=ROUGH).way
    'direct'
    """
    allowed = Budget.of(None) if budget is None else budget
    limits = Limits(max(0, allowed.bytes - 8 * task.copied), seconds, resumable=resumable)
    limits = limits if machine is None else replace(limits, machine=machine)
    ways = ways_of(task, solver, limits)
    if not ways:
        _refuse_settings(who, task, solver)
    if not any(allowed.allows(way.bytes) for way in ways):
        refuse(who, task, ways, allowed)
    if machine is None and _quickest(task, ways) >= GLANCE:
        limits = replace(limits, machine=Machine.here())
        ways = ways_of(task, solver, limits)
    best = _chosen(task, [way for way in ways if allowed.allows(way.bytes)], limits)
    rest = sorted((way for way in ways if way is not best), key=order)
    told = replace(limits, bytes=allowed.bytes)  # ways hold what is copied by now
    others = tuple(_started(task, replace(way, reason=why_not(task, way, best, told)), limits) for way in rest)
    return replace(_started(task, best, limits), reason=why(task, best, ways, solver, told), others=others)


def _started(task: Task, way: Plan, limits: Limits) -> Plan:
    """With what each way takes before and after its work, which is no reason to prefer one."""
    calls = STARTED + JUDGED_BY * task.path + LIFTED * task.lift_given
    first, seconds = way.stages[0], calls * limits.machine.call
    stages = (replace(first, seconds=first.seconds + seconds), *way.stages[1:])
    return replace(way, seconds=way.seconds + seconds, stages=stages)


def ways_of(task: Task, solver: Solver | None, limits: Limits | None = None) -> list[Plan]:
    """Every way that the task allows; those of a solver, where one is given."""
    return [task.beside(way) for way in _ways(task, solver, Limits() if limits is None else limits)]


def _ways(task: Task, solver: Solver | None, limits: Limits) -> list[Plan]:
    iterative = _iterative(solver, task.single)
    if solver is not None and not (iterative is solver and task.products):
        return direct(task, solver, limits) if task.stored else []
    if solver is not None:
        return [conjugate_gradients(task, solver, limits)] if task.stored else []
    found = direct(task, None, limits) if task.stored else []
    found += [conjugate_gradients(task, iterative, limits)] if iterative and task.products and task.stored else []
    return found + _streaming(task, iterative, limits)


def quality(task: Task, way: Plan) -> int:
    """0 where the model is exact and many rows judge; 1 where few chose alpha; 2 where the kernel is not exact."""
    if task.approximates(way):
        return 2
    return 1 if way.sample is not None and way.sample < min(way.rows, JUDGED) else 0


def _quickest(task: Task, ways: list[Plan]) -> float:
    """Seconds of the quickest exact way; of the quickest of all where none is exact."""
    exact = [way.seconds for way in ways if quality(task, way) < 2]
    return min(exact or [way.seconds for way in ways])


def _streaming(task: Task, iterative: Solver | None, limits: Limits) -> list[Plan]:
    """Ways that read rows in pieces: exact ones where there are features, approximate ones where there are none."""
    found: list[Plan] = []
    if task.countable and task.lengthscales == 1:
        open_to_pieces = task.products or task.approximable or task.lift_given or not task.stored
        found += [one_pass(task, limits)] if open_to_pieces else []
    if task.landmarks is not None:
        return found + ([nystrom_iterative(task, task.landmarks, iterative, limits)] if iterative else [])
    if task.lift_given:
        return found
    if task.approximable:
        found += [largest(task, nystrom, limits)]
        if iterative:
            by_steps = partial(_by_steps, iterative)
            found += [largest(task, by_steps, limits)]
    return found + ([largest(task, random_features, limits)] if task.spectral else [])


def _by_steps(solver: Solver, task: Task, width: int, limits: Limits) -> Plan:
    return nystrom_iterative(task, width, solver, limits)


def _iterative(solver: Solver | None, single: bool) -> Solver | None:
    """Conjugate gradients: the solver that was given if it is that, where none was given one as exact as the data."""
    if solver is not None:
        return solver if isinstance(solver, ConjugateGradient) else None
    return ConjugateGradient(tol=ROUGHER) if single else ConjugateGradient()


def _chosen(task: Task, fitting: list[Plan], limits: Limits) -> Plan:
    """Direct where that is quick; else exact within the time; else the most landmarks within it; else the quickest."""
    exact = sorted((way for way in fitting if quality(task, way) < 2), key=lambda way: (quality(task, way), order(way)))
    at_once = [way for way in exact if not _steps(way) and way.seconds <= limits.direct]
    if at_once:
        return _telling(task, at_once)
    within = [way for way in exact if way.seconds <= limits.patience and (_steps(way) or _unhurried(way, limits))]
    if within:
        return min(within, key=order)
    rough = [way for way in fitting if quality(task, way) == 2 and way.seconds <= limits.patience]
    if rough:
        return max(rough, key=lambda way: (way.way != "random features", way.features or 0, -way.seconds))
    return min(fitting, key=order)


def _telling(task: Task, ways: list[Plan]) -> Plan:
    """The first of these; a direct way instead of one pass where it is as good and takes no time: it says more."""
    first = ways[0]
    direct = [way for way in ways if way.way == "direct" and quality(task, way) == quality(task, first)]
    return direct[0] if first.way == "one pass" and direct and direct[0].seconds <= BRIEF else first


def _steps(way: Plan) -> bool:
    """Whether a way goes by steps, after each of which it could stop."""
    return way.way in ("conjugate gradients", "nystrom iterative")


def _unhurried(way: Plan, limits: Limits) -> bool:
    """Whether a way that cannot be stopped, or saved, may take the time that it takes."""
    return limits.seconds is None and not (limits.resumable and way.way == "direct" and way.seconds > UNSAVED)


def _refuse_settings(who: str, task: Task, solver: Solver | None) -> None:
    if not task.stored:
        got = "they come in pieces" + ("" if solver is None else f", and {type(solver).__name__} needs them all")
        remedy = 'Use a kernel with its numbers, or a lift, and solver="auto".'
        raise InputError(message("rows in memory, or features to add up", got, remedy))
    got, remedy = f"{solver} solves for one alpha", "Use Eigen(), or give numbers: one alpha, one lengthscale."
    raise InputError(message("a solver of whole paths where something is chosen", got, remedy))
