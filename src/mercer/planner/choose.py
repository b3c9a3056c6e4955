"""The choice: of the methods that a task allows, the one that is preferred within memory and time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mercer.compute.runtime import threads
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import InputError, message
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.plan import AnyDetails, Compared, Comparison, Plan
from mercer.planner.task import Task


def choose(
    task: Task[AnyDetails],
    budget: Budget | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    resumable: bool = False,
    on_card: bool = False,
) -> Plan[AnyDetails]:
    """The plan to follow; an error that names what would fit where no method fits the memory.

    Cost: of small tasks one method is costed. The others, and the reasons, are worked out when they are read.

    Parameters
    ----------
    task : Task
        What is to be fitted: `RidgeTask`, `SVMTask`, ...
    budget : Budget or None, default=None
        The memory that may be held; None for most of what is free.
    seconds : float or None, default=None
        The time limit; None where there is only an aim.
    machine : Machine or None, default=None
        Whose rates count; None for this one, which is measured only where that can matter.
    resumable : bool, default=False
        Whether the fit is to go on after it was cut off.
    on_card : bool, default=False
        Whether a graphics card computes.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from mercer.planner import RidgeTask, choose
    >>> from mercer.planner.machine import ROUGH
    >>> choose(RidgeTask(1000, 8, 1, None, 45, True), machine=ROUGH).method
    'direct'
    """
    rates = ROUGH if machine is None else machine
    if budget is None:
        limits = Limits(MAX_UNASKED_BYTES, seconds, rates, resumable, on_card)
        small = task.at_once(limits)
        if small is not None:  # so small that nobody asks how much is free
            return _here(task.started(small, limits), Alternatives(task, limits, is_sure=True))
    budget = Budget.of(None) if budget is None else budget
    limits = Limits(budget.bytes, seconds, rates, resumable, on_card)
    best = task.at_once(limits)
    if best is None:
        if machine is None and task.is_long(limits):
            limits = replace(limits, machine=Machine.here())
        best = task.best(task.candidates(limits), limits)
        if best is None:
            raise InputError(message(*task.closed()))
        if best.bytes > budget.bytes:
            refusal = task.refusal(list(task.candidates(limits)), limits)
            budget.require(refusal.needed, refusal.purpose, refusal.remedy)
    return _here(task.started(best, limits), Alternatives(task, limits))


def _here(plan: Plan[AnyDetails], comparison: Comparison) -> Plan[AnyDetails]:
    """The plan with the threads that this process has now: who follows it later, with others, gets the same bits."""
    blas = 1 if threads.are_few(plan.rows, plan.columns) else threads.of_blas()
    return replace(plan, comparison=comparison, lanes=threads.available(), threads=blas)


@dataclass(frozen=True)
class Alternatives:
    """The comparison of a plan with the other methods, made when it is asked for, from the task.

    is_sure : whether the plan was made without a look at the memory that is free
    """

    task: Task[Any]
    limits: Limits
    is_sure: bool = False

    @property
    def reason(self) -> str:
        """Why the chosen method."""
        return self._made.reason

    @property
    def others(self) -> tuple[Plan[Any], ...]:
        """The methods not chosen, the quickest first, with why not."""
        return self._made.others

    @cached_property
    def _made(self) -> Compared:
        task = self.task
        limits = replace(self.limits, bytes=Budget.of(None).bytes) if self.is_sure else self.limits
        plans = list(task.candidates(limits))
        best = task.best(plans, limits)
        if best is None:
            return Compared()
        rest = sorted((plan for plan in plans if plan is not best), key=task.order)
        others = (_here(task.started(plan, limits), Compared(task.why_not(plan, best, limits))) for plan in rest)
        return Compared(task.why(best, plans, limits), tuple(others))
