"""Machines that tests plan for: no test measures one, and none depends on how fast this one is."""

from mercer.compute.runtime.memory import Budget
from mercer.errors import speaking
from mercer.planner import RidgeTask, choose
from mercer.planner.machine import ROUGH

PLENTY = Budget(2**60)


def plan(rows, features=None, solver=None, budget=PLENTY, machine=ROUGH, seconds=None, resumable=False, **more):
    """The plan of least squares on ten columns, unless others are asked for."""
    task = RidgeTask(rows, more.pop("columns", 10), more.pop("outputs", 1), features, solver=solver, **more)
    with speaking("KernelRidge"):
        return choose(task, budget, seconds, machine, resumable)


def kernel(rows, **more):
    """The plan where the kernel is known, so that every way is open but random features."""
    return plan(rows, **{"products": True, "approximable": True, **more})


def names(found):
    """The methods of a plan and of those beside it."""
    return {way.method for way in (found, *found.others)}
