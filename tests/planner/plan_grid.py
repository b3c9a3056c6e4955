"""A grid of problems of every learner, from small to large; what their plans are is kept in plans.json.

`PYTHONPATH=tests/planner python tests/planner/plan_grid.py` writes that file anew, after costs were changed on purpose.
"""

import json
from itertools import product
from pathlib import Path

from mercer import solvers
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.threads import as_planned
from mercer.errors import MercerError
from mercer.planner import (
    KMeansTask,
    LogisticTask,
    PCATask,
    PerceptronTask,
    RidgeTask,
    SpectralTask,
    SVMTask,
    choose,
)
from mercer.planner.machine import ROUGH

KEPT = Path(__file__).parent / "plans.json"
EVERY = 7
"""One of so many problems of the grid is kept: a number that has no factor in common with those of the grid."""
LIMITS = ((2**60, None), (10**9, None), (10**8, 20.0), (10**7, None), (2**60, 0.5))
"""Bytes and seconds."""
ROWS = (2, 60, 300, 2_000, 5_000, 20_000, 200_000, 3_000_000)
KNOWN = {"products": True, "approximable": True}
PATH = {"alphas": 45, "path": True}
FALLING = tuple(100 / (k + 1) ** 2 for k in range(300))
RIDGE = (
    {},
    PATH,
    {**KNOWN, "alpha": 0.1},
    {**KNOWN, **PATH, "spectral": True, "single": True},
    {**KNOWN, **PATH, "n_features": 20},
    {**KNOWN, "n_features": 400, "outputs": 3},
    {**KNOWN, **PATH, "lengthscales": 5, "copied": 1000},
    {**PATH, "n_features": 50, "lift_given": True},
    {"n_features": 100, "lift_given": True, "n_landmarks": 100, "requested": 120},
    {**KNOWN, **PATH, "stored": False, "spectral": True},
    {"n_features": 30, "stored": False, "lift_given": True},
    {**KNOWN, "spectrum": FALLING, "alpha": 0.01, "pair": 2e-9, "single": True},
    {**KNOWN, "solver": solvers.Cholesky()},
    {**KNOWN, "solver": solvers.Eigen()},
    {**KNOWN, "solver": solvers.ConjugateGradient()},
)
LOGISTIC = (
    {"approximable": True},
    {"approximable": True, "outputs": 5, "n_features": 30},
    {"lift_given": True, "n_features": 200, "outputs": 3},
    {"approximable": False},
)
SVM = (
    {},
    {"functions": 4},
    {"n_features": 50},
    {"stored": True, "approximable": False},
    {"polish": True, "functions": 2},
)
PCA = (
    {"components": 3},
    {"components": None},
    {"components": 10, "n_features": 20},
    {"components": 2, "n_features": 40, "lift_given": True},
    {"components": 4, "given": True, "approximable": False},
    {"components": 4, "stored": False, "worth": 50},
)
CLUSTERS = (
    {"clusters": 5, "runs": 10},
    {"clusters": 5, "runs": 10, "n_features": 20},
    {"clusters": 5, "runs": 10, "n_features": 300, "lift_given": True},
    {"clusters": 5, "runs": 10, "approximable": False},
    {"clusters": 50, "runs": 1},
)
PASSES = ({}, {"n_features": 20, "outputs": 3}, {"outputs": 4, "remembered": 100})


def tasks(rows):
    """Tasks of every family on so many rows, and whether the fit is to go on after it was cut off."""

    def shaped(kind, known, **more):
        given = {"outputs": 1, "n_features": None, **known, **more}
        return kind(rows, 10, given.pop("outputs"), given.pop("n_features"), **given)

    yield from ((shaped(RidgeTask, known), False) for known in RIDGE)
    yield shaped(RidgeTask, {**KNOWN, **PATH}), True
    for known, landmarks in product(LOGISTIC, (None, 40)):
        yield shaped(LogisticTask, known, n_landmarks=landmarks), False
    for known, (method, landmarks) in product(
        SVM, (("auto", None), ("auto", 40), ("landmarks", None), ("exact", None))
    ):
        given = {"functions": 1, **known, "method": method, "n_landmarks": landmarks}
        yield SVMTask(rows, 10, (rows,) * given.pop("functions"), 10.0, **given), False
    for known, method in product(PCA, ("auto", "exact", "krylov", "landmarks")):
        yield PCATask(rows, 10, **known, method=method), False
    yield PCATask(rows, 10, 3, n_landmarks=40), False
    for known, method in product(CLUSTERS, ("auto", "exact", "landmarks")):
        yield KMeansTask(rows, 10, filled=10.0, **known, method=method), False
    yield KMeansTask(rows, 10, filled=10.0, **CLUSTERS[0], n_landmarks=40), False
    yield from ((SpectralTask(rows, 10, filled=10.0, components=4, **known), False) for known in CLUSTERS)
    yield from ((shaped(PerceptronTask, known, passes=3), False) for known in PASSES)


def grid():
    """Every task within every limit."""
    for rows, (size, seconds) in product(ROWS, LIMITS):
        yield from ((task, resumable, size, seconds) for task, resumable in tasks(rows))


def plan_of(task, resumable, size, seconds):
    """The plan by rough rates and for two cores; None where it is refused."""
    with as_planned(2, 0):
        try:
            return choose(task, Budget(size), seconds, ROUGH, resumable)
        except MercerError:
            return None


def numbers(plan):
    """What is kept of a plan."""
    if plan is None:
        return None
    return [plan.task, plan.method, plan.n_features, plan.n_landmarks, plan.bytes, float(f"{plan.seconds:.12g}")]


if __name__ == "__main__":
    found = [numbers(plan_of(*problem)) for problem in list(grid())[::EVERY]]
    KEPT.write_text("[\n" + ",\n".join(json.dumps(each) for each in found) + "\n]\n", encoding="utf-8")
