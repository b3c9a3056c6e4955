"""Plans of clusters: the kernel itself where memory and time allow, and what is left of it where they do not."""

from dataclasses import replace

import pytest
from machines import PLENTY

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.planner import KMeansTask, Machine, SpectralTask, choose, clustering
from mercer.planner.machine import ROUGH

TASK = KMeansTask(rows=20_000, columns=10, clusters=10, runs=10, filled=10.0)
GRAPH = SpectralTask(rows=20_000, columns=10, clusters=10, runs=10, filled=10.0, components=10)


@pytest.fixture(autouse=True)
def _same_machine(monkeypatch):
    """No test measures a machine."""
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: ROUGH))


def plan(method="auto", budget=PLENTY, seconds=None, **changes):
    return choose(replace(TASK, method=method, **changes), budget, seconds)


def test_the_method_follows_the_rows():
    assert plan(rows=2000).method == "exact"
    assert plan(rows=2001).method == "products"
    assert plan().method == "products"
    assert plan(rows=2_000_000).method == "landmarks"
    assert [plan(rows=n).exact for n in (100, 20_000, 2_000_000)] == [True, True, False]


def test_a_lift_is_used_where_there_is_one():
    assert plan(n_features=10).method == "features"
    assert plan(n_features=10, rows=2_000_000).method == "features"
    assert plan(n_features=10, method="landmarks").method == "features"
    assert plan(n_features=5000).method == "products"
    assert plan(n_features=10, rows=5).method == "exact"  # more features than rows
    given = plan(n_features=5000, lift_given=True)
    assert (given.method, given.n_features) == ("features", 5000)


def test_a_matrix_that_was_given_is_stored():
    assert plan(approximable=False).method == "exact"
    assert plan(approximable=False, method="exact").method == "exact"


def test_what_is_asked_for_is_done():
    assert plan("exact", rows=2_000_000).method == "products"
    assert plan("landmarks", rows=100).method == "landmarks"
    assert plan("landmarks", n_landmarks=77).n_landmarks == 77
    assert plan("landmarks", n_landmarks=77, rows=50).n_landmarks == 50
    assert plan(n_landmarks=300).n_landmarks == 300
    assert plan().n_landmarks == clustering.FIRST


def test_memory_decides():
    small = plan(rows=2000, budget=Budget(45_000_000))
    assert small.method == "products"
    assert small.bytes <= 45_000_000
    sizes = (8 * 10**9, 3 * 10**9, 15 * 10**8)
    ranks = [plan("landmarks", rows=10**6, budget=Budget(size), seconds=1e6).n_landmarks for size in sizes]
    assert ranks == sorted(ranks, reverse=True)
    assert len(set(ranks)) > 1
    with pytest.raises(BudgetError, match=r"needs .* for k-means of 20,000 rows \(.*\); .* may be used"):
        plan(budget=Budget(1_000_000))


def test_time_decides():
    assert plan(seconds=1e-3).method == "landmarks"
    assert plan(seconds=1e-3).n_landmarks == min(clustering.RANKS)
    slow = plan(rows=2_000_000, seconds=1e6)
    assert slow.method == "products"


def test_a_plan_adds_up_and_says_what_it_is():
    found = plan()
    assert found.seconds == pytest.approx(sum(stage.seconds for stage in found.stages))
    assert [stage.name for stage in found.stages] == ["landmarks", "restarts", "steps"]
    begin = "k-means on 20,000 rows x 10 columns, 10 clusters: products (128 landmarks first)\n"
    assert str(found).startswith(begin)
    assert "1 cluster: exact\n" in str(plan(rows=10, clusters=1))


def test_more_work_takes_longer():
    base = plan("exact")
    assert plan("exact", clusters=20).seconds > base.seconds
    assert plan("exact", runs=20).seconds > base.seconds
    assert plan("exact", rows=200_000).seconds > 30 * base.seconds  # pairs
    assert plan("exact", clusters=20).bytes > base.bytes
    assert plan("exact", rows=40_000).bytes < 3 * base.bytes  # nothing of n^2


def graph(budget=PLENTY, **changes):
    return choose(replace(GRAPH, **changes), budget)


def test_the_plan_of_a_graph():
    assert graph(rows=2000).method == "exact"
    assert graph().method == "krylov"
    assert [stage.name for stage in graph().stages] == ["degrees", "components", "k-means"]
    assert [stage.name for stage in graph(rows=500).stages] == ["degrees", "decompose", "k-means"]
    assert graph(rows=40_000).bytes < 3 * graph().bytes
    assert graph(rows=2000, budget=Budget(70_000_000)).method == "krylov"
    assert graph(approximable=False).bytes > 8 * 20_000**2
    assert str(graph()).startswith("spectral clustering on 20,000 rows x 10 columns, 10 clusters: krylov\n")
    with pytest.raises(BudgetError, match=r"needs .* for spectral clustering of 20,000 rows"):
        graph(budget=Budget(1_000_000))


def test_the_method_of_a_graph_is_the_one_that_was_asked_for():
    for rows in (100, 20_000):
        for method in ("exact", "krylov"):
            found = graph(rows=rows, method=method)
            assert (found.method, found.others) == (method, ())
    few = graph(rows=500)
    assert (graph(rows=500, method="exact"), graph(rows=500, method="krylov")) == (few, *few.others)
    with pytest.raises(BudgetError, match=r'of 20,000 rows \(exact\); .* Use method="krylov", or fewer rows'):
        graph(method="exact", budget=Budget(10**8))
