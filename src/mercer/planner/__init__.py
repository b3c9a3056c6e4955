"""What each way to fit costs here, the choice, and its explanation."""

from mercer.planner.least_squares import choose
from mercer.planner.machine import Machine
from mercer.planner.plan import Plan, Stage
from mercer.planner.task import Task

__all__ = ["Machine", "Plan", "Stage", "Task", "choose"]
