"""What each method to fit costs here, the choice, and its explanation."""

from mercer.planner.choose import choose
from mercer.planner.clustering import KMeansTask, SpectralTask
from mercer.planner.logistic import LogisticTask
from mercer.planner.machine import Machine
from mercer.planner.pca import PCATask
from mercer.planner.perceptron import PerceptronTask
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge import RidgeTask
from mercer.planner.svm import SVMTask
from mercer.planner.task import Task

__all__ = [
    "KMeansTask",
    "LogisticTask",
    "Machine",
    "PCATask",
    "PerceptronTask",
    "Plan",
    "RidgeTask",
    "SVMTask",
    "SpectralTask",
    "Stage",
    "Task",
    "choose",
]
