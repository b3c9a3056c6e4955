"""Plans of logistic regression: the method that was asked for, and what "auto" chooses among them."""

from dataclasses import replace

import pytest
from machines import PLENTY

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.planner import LogisticTask, Machine, choose, logistic
from mercer.planner.machine import ROUGH

TASK = LogisticTask(rows=20_000, columns=10, outputs=1, n_features=None, approximable=True)


@pytest.fixture(autouse=True)
def _same_machine(monkeypatch):
    """No test measures a machine."""
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: ROUGH))


def plan(method="auto", budget=PLENTY, seconds=None, **changes):
    return choose(replace(TASK, method=method, **changes), budget, seconds)


def test_auto_follows_the_rows():
    assert plan(rows=3000).method == "exact"
    assert plan(rows=3001).method == "landmarks"
    assert plan(rows=3001).n_landmarks == max(logistic.RANKS)
    assert plan(rows=5000, n_landmarks=5000).method == "exact"
    assert plan(rows=500, n_landmarks=499).n_landmarks == 499
    assert plan(n_features=20).method == "features"


@pytest.mark.parametrize("rows", [2, 300, 20_000])
@pytest.mark.parametrize("n_features", [None, 2])
@pytest.mark.parametrize("n_landmarks", [None, 40, 30_000])
def test_what_is_asked_for_is_done(rows, n_features, n_landmarks):
    known = {"rows": rows, "n_features": n_features, "n_landmarks": n_landmarks}
    exact, landmarks = plan("exact", **known), plan("landmarks", **known)
    assert (exact.method, exact.n_landmarks, exact.gives_up, exact.others) == ("exact", 0, "", ())
    assert (landmarks.method, landmarks.gives_up) == ("landmarks", "exactness")
    assert landmarks.n_landmarks == min(rows, n_landmarks or max(logistic.RANKS))
    assert landmarks.reason == "It was requested."


def test_what_is_asked_for_costs_what_it_does_among_others():
    auto = plan(rows=2000)
    assert (plan("exact", rows=2000), plan("landmarks", rows=2000)) == (auto, *auto.others)


def test_a_lift_or_a_matrix_leaves_one_method():
    for method in ("auto", "exact", "landmarks"):
        assert plan(method, lift_given=True, n_features=5000).method == "features"
    assert plan("exact", approximable=False).method == "exact"


def test_landmarks_are_fewer_where_memory_or_time_is_short():
    assert plan("landmarks", rows=2000, seconds=1e-3).n_landmarks == min(logistic.RANKS)
    assert plan("landmarks", rows=2000, budget=Budget(110_000_000)).n_landmarks < max(logistic.RANKS)
    with pytest.raises(BudgetError, match=r'kernel matrix of 20,000 rows .* Use method="landmarks", with'):
        plan("exact", budget=Budget(10**8))
