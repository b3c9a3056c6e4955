"""Plans of clusters: the kernel itself where memory and time allow, and what is left of it where they do not."""

from dataclasses import replace

import pytest
from machines import PLENTY

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.planner import clustering
from mercer.planner.clustering import ClusterTask, kmeans, spectral
from mercer.planner.machine import ROUGH

TASK = ClusterTask(rows=20_000, columns=10, clusters=10, runs=10, filled=10.0)


@pytest.fixture(autouse=True)
def _same_machine(monkeypatch):
    """No test measures a machine."""
    monkeypatch.setattr(clustering.Machine, "here", classmethod(lambda cls: ROUGH))


def plan(solver="auto", rank=None, budget=PLENTY, seconds=None, **changes):
    return kmeans("KernelKMeans", replace(TASK, **changes), solver, rank, budget, seconds)


def test_the_way_follows_the_rows():
    assert plan(rows=2000).way == "kernel matrix"
    assert plan(rows=2001).way == "products"
    assert plan().way == "products"
    assert plan(rows=2_000_000).way == "landmarks"
    assert [plan(rows=n).exact for n in (100, 20_000, 2_000_000)] == [True, True, False]


def test_a_lift_is_used_where_there_is_one():
    assert plan(features=10).way == "features"
    assert plan(features=10, rows=2_000_000).way == "features"
    assert plan(features=10, solver="landmarks").way == "features"
    assert plan(features=5000).way == "products"
    assert plan(features=10, rows=5).way == "kernel matrix"  # more features than rows
    given = plan(features=5000, lift_given=True)
    assert (given.way, given.features) == ("features", 5000)


def test_a_matrix_that_was_given_is_stored():
    assert plan(approximable=False).way == "kernel matrix"
    assert plan(approximable=False, solver="exact").way == "kernel matrix"


def test_what_is_asked_for_is_done():
    assert plan("exact", rows=2_000_000).way == "products"
    assert plan("landmarks", rows=100).way == "landmarks"
    assert plan("landmarks", rank=77).features == 77
    assert plan("landmarks", rank=77, rows=50).features == 50
    assert plan(rank=300).features == 300
    assert plan().features == clustering.FIRST


def test_memory_decides():
    small = plan(rows=2000, budget=Budget(45_000_000))
    assert small.way == "products"
    assert small.bytes <= 45_000_000
    sizes = (8 * 10**9, 3 * 10**9, 15 * 10**8)
    ranks = [plan("landmarks", rows=10**6, budget=Budget(size), seconds=1e6).features for size in sizes]
    assert ranks == sorted(ranks, reverse=True)
    assert len(set(ranks)) > 1
    with pytest.raises(BudgetError, match=r"needs .* for k-means of 20,000 rows \(.*\); .* may be used"):
        plan(budget=Budget(1_000_000))


def test_time_decides():
    assert plan(seconds=1e-3).way == "landmarks"
    assert plan(seconds=1e-3).features == min(clustering.RANKS)
    slow = plan(rows=2_000_000, seconds=1e6)
    assert slow.way == "products"


def test_a_plan_adds_up_and_says_what_it_is():
    found = plan()
    assert found.seconds == pytest.approx(sum(stage.seconds for stage in found.stages))
    assert [stage.name for stage in found.stages] == ["landmarks", "restarts", "steps"]
    begin = "k-means on 20,000 rows x 10 columns, 10 clusters: products (128 landmarks first), about "
    assert str(found).startswith(begin)
    assert "1 cluster: kernel matrix, about" in str(plan(rows=10, clusters=1))


def test_more_work_takes_longer():
    base = plan("exact")
    assert plan("exact", clusters=20).seconds > base.seconds
    assert plan("exact", runs=20).seconds > base.seconds
    assert plan("exact", rows=200_000).seconds > 30 * base.seconds  # pairs
    assert plan("exact", clusters=20).bytes > base.bytes
    assert plan("exact", rows=40_000).bytes < 3 * base.bytes  # nothing of n^2


def graph(budget=PLENTY, components=10, **changes):
    return spectral("SpectralClustering", replace(TASK, **changes), components, budget)


def test_the_plan_of_a_graph():
    assert graph(rows=2000).way == "kernel matrix"
    assert graph().way == "products"
    assert [stage.name for stage in graph().stages] == ["degrees", "components", "k-means"]
    assert [stage.name for stage in graph(rows=500).stages] == ["degrees", "decompose", "k-means"]
    assert graph(rows=40_000).bytes < 3 * graph().bytes
    assert graph(rows=2000, budget=Budget(70_000_000)).way == "products"
    assert graph(approximable=False).bytes > 8 * 20_000**2
    assert str(graph()).startswith("spectral clustering on 20,000 rows x 10 columns, 10 clusters: products, about")
    with pytest.raises(BudgetError, match=r"needs .* for spectral clustering of 20,000 rows"):
        graph(budget=Budget(1_000_000))
