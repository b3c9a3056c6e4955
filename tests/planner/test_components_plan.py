"""Plans of principal components: which way for which rows, within which limits."""

from dataclasses import replace

import pytest

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError
from mercer.planner import PCATask, choose
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.pca import PATIENCE, RANKS, opening
from mercer.planner.task import MANY_PAIRS

GIGABYTE = Budget(10**9)
PLENTY = Budget(10**12)


@pytest.fixture(autouse=True)
def rough(monkeypatch):
    """No machine is measured here."""
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: ROUGH))


def planned(task, way="auto", rank=None, budget=PLENTY, seconds=None):
    return choose(replace(task, method=way, n_landmarks=rank), budget, seconds)


@pytest.mark.parametrize(
    ("task", "way"),
    [
        (PCATask(200, 5, 3), "exact"),
        (PCATask(3_000, 5, None), "exact"),
        (PCATask(20_000, 10, 10), "krylov"),
        (PCATask(100_000, 10, 10), "krylov"),
        (PCATask(1_000_000, 10, 10), "landmarks"),
        (PCATask(5_000, 10, None), "exact"),
        (PCATask(5_000, 10, 4_900), "exact"),
        (PCATask(100_000, 10, None), "landmarks"),
        (PCATask(200, 5, 3, n_features=6), "features"),
        (PCATask(1_000_000, 5, 3, n_features=6), "features"),
        (PCATask(200, 5, 3, n_features=201), "exact"),
        (PCATask(20_000, 5, 3, n_features=10**20), "krylov"),
        (PCATask(20_000, 5, 3, n_features=5_000, lift_given=True), "features"),
        (PCATask(20_000, 20_000, 10, approximable=False, given=True), "krylov"),
        (PCATask(2_000, 2_000, 10, approximable=False, given=True), "exact"),
        (PCATask(2_000, 5, 3, stored=False), "landmarks"),
        (PCATask(2_000, 5, 3, n_features=6, stored=False), "features"),
    ],
)
def test_what_is_exact_comes_first(task, way):
    plan = planned(task)
    assert plan.method == way
    assert plan.exact is (way != "landmarks")
    assert (plan.rows, plan.columns, plan.outputs) == (task.rows, task.columns, task.components or 0)
    assert plan.seconds == pytest.approx(sum(stage.seconds for stage in plan.stages))
    assert all(stage.seconds >= 0 for stage in plan.stages)
    assert way == "landmarks" or plan.seconds <= PATIENCE or task.given


@pytest.mark.parametrize("way", ["exact", "krylov", "landmarks"])
def test_a_way_that_is_asked_for_is_taken(way):
    assert planned(PCATask(10_000, 5, 3), way).method == way
    assert planned(PCATask(100, 5, 3, n_features=4), way).method == way


def test_a_rank_asks_for_landmarks():
    assert planned(PCATask(1_000, 5, 3), rank=100).n_landmarks == 100
    assert planned(PCATask(1_000, 5, 3), rank=100).method == "landmarks"
    assert planned(PCATask(1_000, 5, 3), rank=1_000).method == "exact"
    assert planned(PCATask(1_000, 5, 3), "landmarks", rank=2_000).n_landmarks == 1_000
    assert planned(PCATask(1_000, 5, 3, n_features=21), rank=100).method == "features"
    assert planned(PCATask(1_000, 5, 3, n_features=21), rank=20).method == "landmarks"


def test_there_are_as_many_landmarks_as_memory_and_time_allow():
    task = PCATask(1_000_000, 10, 10)
    assert planned(task, "landmarks").n_landmarks == RANKS[0]
    small = planned(task, "landmarks", budget=Budget(20_000_000))
    assert 32 <= small.n_landmarks < RANKS[0]
    assert small.bytes <= 20_000_000
    assert planned(task, "landmarks", seconds=1e-3).n_landmarks == RANKS[-1]
    assert planned(PCATask(1_000_000, 10, 400), "landmarks", seconds=1e-3).n_landmarks == 400
    assert planned(PCATask(1_000_000, 10, 4_000), "landmarks").n_landmarks == 4_000


def test_time_and_memory_lead_away_from_the_exact_ways():
    task = PCATask(20_000, 10, 10)
    exact = planned(task)
    assert planned(task, seconds=exact.seconds).method == "landmarks"  # half of it may be planned with
    assert planned(task, seconds=2.1 * exact.seconds).method == "krylov"
    assert planned(task, budget=Budget(exact.bytes)).method == "krylov"
    assert planned(task, budget=Budget(exact.bytes - 1)).method == "landmarks"
    assert exact.bytes < 8 * 20_000**2 / 4
    assert planned(PCATask(100_000, 10, 10), budget=Budget(2 * 10**9)).method == "krylov"


def test_what_does_not_fit_is_refused_with_what_would():
    tasks = {
        "krylov": (PCATask(10**6, 10, 10), 'Use method="landmarks"'),
        "exact": (PCATask(10**6, 10, None), "Ask for fewer components"),
        "landmarks": (PCATask(10**6, 10, 2_000), "Use fewer landmarks"),
    }
    for way, (task, remedy) in tasks.items():
        with pytest.raises(BudgetError, match=f"needs .* for {way} components of 1,000,000 rows.*{remedy}"):
            planned(task, way, budget=Budget(10**7))
    given = PCATask(10**4, 10**4, 5, approximable=False, given=True)
    with pytest.raises(BudgetError, match="Use fewer rows, or ask for fewer components"):
        planned(given, budget=Budget(10**7))
    with pytest.raises(
        BudgetError, match=r"for features components of 1,000 rows \(5,000 per row\).* Use fewer features"
    ):
        planned(PCATask(1_000, 5, 3, n_features=5_000, lift_given=True), budget=Budget(10**7))


def test_landmarks_need_a_kernel():
    with pytest.raises(InputError, match="a kernel that landmarks can stand for; the kernel is precomputed"):
        planned(PCATask(100, 100, 3, approximable=False, given=True), "landmarks")
    with pytest.raises(InputError, match="it is not known to be one for so many columns"):
        planned(PCATask(100, 5, 3, approximable=False, stored=False))


def test_a_start_has_enough_landmarks_and_not_too_many():
    assert opening(1_000, 3) == 4 * 9
    assert opening(20_000, 10) == 416
    assert opening(10**6, 10) == 1024
    assert opening(50, 40) == 50


def test_a_plan_tells_itself():
    plan = planned(PCATask(20_000, 10, 10))
    assert str(plan).startswith("principal components on 20,000 rows x 10 columns, 10 components: krylov\n")
    all_of_them = planned(PCATask(100_000, 10, None))
    assert "all components: landmarks (1,000)\n" in str(all_of_them)
    assert [stage.name for stage in plan.stages] == ["landmarks", "components"]
    assert [stage.name for stage in all_of_them.stages] == ["landmarks", "pass", "decompose", "signs"]


def test_small_tasks_measure_no_machine(monkeypatch):
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: pytest.fail("it was measured")))
    planned(PCATask(5_000, 10, 10), budget=GIGABYTE)
    assert MANY_PAIRS == 1e8
