"""A small plan is nearly free: how many functions of ours it calls, and in how many files."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import mercer
from mercer.compute.runtime.memory import Budget
from mercer.planner import KMeansTask, LogisticTask, PCATask, RidgeTask, SpectralTask, SVMTask, choose

HOME = str(Path(mercer.__file__).parent)
PLENTY = Budget(2**34)
TASKS = {
    "ridge": RidgeTask(300, 5, 1, None, approximable=True, spectral=True, products=True, alpha=0.1),
    "SVM": SVMTask(300, 5, (300,), 5.0),
    "logistic": LogisticTask(300, 5, 1, None, approximable=True),
    "components": PCATask(300, 5, 3),
    "k-means": KMeansTask(300, 5, 3, 10, 5.0),
    "graph": SpectralTask(300, 5, 3, 10, 5.0, 3),
}


def calls_of(work):
    """How many functions of ours a piece of work calls, by file."""
    found = Counter()

    def count(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            found[frame.f_code.co_filename] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("name", TASKS)
def test_a_small_plan_is_nearly_free(name):
    found = calls_of(lambda: choose(TASKS[name], PLENTY))
    planner = {file: count for file, count in found.items() if "/planner/" in file}
    assert sum(found.values()) <= 40
    assert len(planner) <= 5


def test_the_other_methods_are_costed_when_they_are_asked_for():
    plan = choose(TASKS["ridge"], PLENTY)
    first, again = calls_of(lambda: plan.others), calls_of(lambda: plan.others)
    assert sum(first.values()) > 100
    assert sum(again.values()) <= 5
    assert len(plan.others) == 5
