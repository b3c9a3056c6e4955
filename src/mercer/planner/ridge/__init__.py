"""Least squares: the methods to solve them, what each costs, and which is preferred."""

from mercer.planner.ridge.details import RidgeDetails, RidgePlan
from mercer.planner.ridge.task import RidgeTask

__all__ = ["RidgeDetails", "RidgePlan", "RidgeTask"]
