"""What each way to fit costs here, the choice, and its explanation."""

from mercer.planner.least_squares import Task, choose
from mercer.planner.plan import Plan

__all__ = ["Plan", "Task", "choose"]
