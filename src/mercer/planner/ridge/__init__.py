"""Least squares: the methods to solve them, what each costs, and which is preferred."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.planner.ridge.details import RidgeDetails as RidgeDetails
    from mercer.planner.ridge.details import RidgePlan as RidgePlan
    from mercer.planner.ridge.task import RidgeTask as RidgeTask
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "RidgeDetails": "details",
            "RidgePlan": "details",
            "RidgeTask": "task",
        },
    )
