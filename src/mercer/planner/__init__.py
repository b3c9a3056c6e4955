"""What each method to fit costs here, the choice, and its explanation."""

from typing import TYPE_CHECKING

from mercer.planner.choose import choose as choose  # at once: it has the name of its module

if TYPE_CHECKING:
    from mercer.planner.clustering import KMeansTask as KMeansTask
    from mercer.planner.clustering import SpectralTask as SpectralTask
    from mercer.planner.logistic import LogisticTask as LogisticTask
    from mercer.planner.machine import Machine as Machine
    from mercer.planner.pca import PCATask as PCATask
    from mercer.planner.perceptron import PerceptronTask as PerceptronTask
    from mercer.planner.plan import Plan as Plan
    from mercer.planner.plan import Stage as Stage
    from mercer.planner.ridge.task import RidgeTask as RidgeTask
    from mercer.planner.svm import SVMTask as SVMTask
    from mercer.planner.task import Task as Task
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "KMeansTask": "clustering",
            "LogisticTask": "logistic",
            "Machine": "machine",
            "PCATask": "pca",
            "PerceptronTask": "perceptron",
            "Plan": "plan",
            "RidgeTask": "ridge.task",
            "SVMTask": "svm",
            "SpectralTask": "clustering",
            "Stage": "plan",
            "Task": "task",
            "choose": "choose",
        },
    )
