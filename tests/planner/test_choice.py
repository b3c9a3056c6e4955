"""The choice among all ways: exact before approximate, direct where that is quick, within memory and time."""

from dataclasses import replace

import pytest
from machines import PLENTY, kernel, names, plan

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError
from mercer.planner import Machine, RidgeTask, choose
from mercer.planner.limits import DIRECT, PATIENCE, UNSAVED, Limits
from mercer.planner.machine import ROUGH
from mercer.planner.ridge.details import size_of
from mercer.planner.ridge.reasons import why_not
from mercer.planner.ridge.task import BRIEF
from mercer.solvers import Cholesky, ConjugateGradient, Eigen

PATH = {"path": True, "alphas": 45}


# -- which ways there are -------------------------------------------------------------------------------------------


def test_without_being_told_more_only_stored_matrices_are_offered():
    assert names(plan(1000)) == names(plan(1000, 20)) == names(plan(10**6, 20, **PATH)) == {"direct"}


def test_a_known_kernel_has_every_way():
    everything = {"direct", "conjugate gradients", "nystrom", "nystrom iterative"}
    assert names(kernel(10_000)) == everything
    assert names(kernel(10_000, spectral=True)) == everything | {"random features"}
    assert names(kernel(10_000, features=50)) == everything | {"one pass"}


def test_a_lift_that_was_given_is_not_approximated():
    assert names(plan(10_000, 50, lift_given=True)) == {"direct", "one pass"}
    found = plan(10_000, 500, lift_given=True, n_landmarks=500)
    assert names(found) == {"direct", "one pass", "nystrom iterative"}
    assert {size_of(way) for way in (found, *found.others) if way.details.side == "primal"} == {500}
    assert {way.gives_up for way in (found, *found.others)} == {""}


def test_rows_that_stream_have_only_ways_that_read_pieces():
    streaming = {"stored": False, "approximable": True, "products": True}
    assert names(plan(10**6, **streaming)) == {"nystrom", "nystrom iterative"}
    assert names(plan(10**6, 20, stored=False, lift_given=True)) == {"one pass"}
    assert "Rows come in pieces." in plan(10**6, **streaming).reason
    with pytest.raises(InputError, match="they come in pieces"):
        plan(10**6, stored=False)
    with pytest.raises(InputError, match="and Cholesky needs them all"):
        plan(10**6, solver=Cholesky(), **streaming)


def test_a_precomputed_matrix_is_solved_by_what_was_given():
    found = plan(1000, solver=ConjugateGradient())
    assert (found.method, found.details.solver) == ("direct", ConjugateGradient())


def test_conjugate_gradients_that_were_given_are_the_only_way():
    for rows in (50, 10_000, 10**6):
        found = kernel(rows, solver=ConjugateGradient(tol=1e-3), **PATH)
        assert names(found) == {"conjugate gradients"}
        assert found.details.solver == ConjugateGradient(tol=1e-3)
        assert found.reason.endswith("The solver was given.")
    assert kernel(10_000, solver=ConjugateGradient(preconditioner_rank=7)).details.rank == 7


# -- which is chosen ------------------------------------------------------------------------------------------------


def test_small_problems_are_solved_directly():
    for more in ({}, PATH, {"spectral": True}):
        assert kernel(1000, **more).method == "direct"


def test_direct_up_to_half_a_minute_then_iterative_then_landmarks():
    """With one alpha, as rows grow: each change comes where the rule says it does."""
    seen = [kernel(rows) for rows in (5000, 10_000, 20_000, 40_000, 80_000, 160_000, 10**6)]
    ways = [found.method for found in seen]
    assert ways[0] == "direct"
    assert "conjugate gradients" in ways
    assert ways[-1] in ("nystrom", "nystrom iterative")
    order = {"direct": 0, "conjugate gradients": 1, "nystrom": 2, "nystrom iterative": 2}
    assert [order[way] for way in ways] == sorted(order[way] for way in ways)
    for found in seen:
        direct = min(way.seconds for way in (found, *found.others) if way.method == "direct")
        assert (direct <= DIRECT) == (found.method == "direct")
        assert found.seconds <= PATIENCE


def test_a_time_limit_is_kept_to_and_direct_ways_get_half_of_it():
    direct = plan(10_000).seconds
    assert kernel(10_000, seconds=2.1 * direct).method == "direct"
    assert kernel(10_000, seconds=1.9 * direct).method != "direct"
    for seconds in (0.5, 2.0, 10.0, 100.0, 1000.0):
        assert kernel(50_000, seconds=seconds).seconds <= seconds


def test_a_longer_limit_never_gives_a_worse_model():
    def rank(found):
        return (found.exact, size_of(found))

    ranks = [rank(kernel(50_000, seconds=seconds)) for seconds in (1, 3, 10, 30, 100, 300, 1000)]
    assert ranks == sorted(ranks)
    assert ranks[-1][0]


def test_of_equal_landmarks_the_faster_way_is_taken():
    found = kernel(300_000)
    same = [way for way in (found, *found.others) if size_of(way) == size_of(found) and not way.exact]
    assert found.seconds == min(way.seconds for way in same)


def test_a_direct_way_that_is_brief_comes_before_one_pass():
    found = kernel(40_000, features=100, **PATH)
    assert (found.method, found.details.side, found.gives_up) == ("direct", "primal", "")
    one = next(way for way in found.others if way.method == "one pass")
    assert one.seconds < found.seconds <= BRIEF
    small = kernel(40_000, features=100, budget=Budget(found.bytes - 1), **PATH)
    assert (small.method, small.details.sample) == ("one pass", 16_384)


def test_one_pass_comes_before_a_direct_way_that_is_slower():
    found = kernel(1_000_000, features=100, **PATH)
    direct = next(way for way in found.others if way.method == "direct" and way.details.side == "primal")
    assert found.method == "one pass"
    assert direct.seconds > max(BRIEF, found.seconds)


def test_what_fits_no_time_is_the_fastest():
    found = kernel(10**6, seconds=0.001)
    assert found.seconds == min(way.seconds for way in (found, *found.others))
    assert found.reason.endswith("Nothing that fits the memory meets a limit of 0.001 s.")


def test_memory_decides_before_time():
    for limit in ("300 MB", "1 GB", "4 GB"):
        found = kernel(100_000, budget=Budget.of(limit), seconds=10_000.0)
        assert found.bytes <= Budget.of(limit).bytes
        assert all(way.bytes <= Budget.of(limit).bytes or "memory" in way.reason for way in found.others)


def test_a_fit_that_is_saved_does_nothing_long_that_cannot_be():
    rows = next(rows for rows in range(5000, 50_000, 500) if UNSAVED < plan(rows).seconds < DIRECT)
    assert kernel(rows).method == "direct"
    found = kernel(rows, resumable=True)
    assert found.method == "conjugate gradients"
    slow = replace(ROUGH, products=4e9)
    saved, free = (kernel(200_000, solver=ConjugateGradient(), resumable=each, machine=slow) for each in (True, False))
    assert saved.stages[0].seconds <= UNSAVED < free.stages[0].seconds
    assert saved.details.rank < free.details.rank


def test_random_features_are_taken_where_there_are_no_landmarks():
    found = plan(10**6, spectral=True, products=True)
    assert found.method == "random features"
    both = kernel(10**6, spectral=True)
    assert both.method != "random features"
    reasons = [way.reason for way in both.others if way.method == "random features"]
    assert reasons == ["landmarks follow the data, random features do not"]


# -- whether the machine is measured ----------------------------------------------------------------------------------


def test_small_problems_do_not_measure_the_machine(monkeypatch):
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: pytest.fail("measured")))
    for more in ({}, PATH):
        choose(RidgeTask(1000, 10, 1, None, products=True, approximable=True, **more), PLENTY)
        choose(RidgeTask(1000, 10, 1, None, stored=False, approximable=True, **more), PLENTY)


def test_what_does_not_fit_is_refused_without_measuring(monkeypatch):
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: pytest.fail("measured")))
    with pytest.raises(BudgetError):
        choose(RidgeTask(100_000, 10, 1, None), Budget.of("1 GiB"))


def test_large_problems_are_planned_with_the_rates_of_this_machine(monkeypatch):
    fast = replace(ROUGH, products=1e15, factor=0.0, bandwidth=1e15, fresh=1e15, pair=0.0, pair_column=0.0)
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: fast))
    found = choose(RidgeTask(30_000, 10, 1, None, products=True, approximable=True), PLENTY)
    assert (found.method, found.details.solver) == ("direct", Cholesky())
    assert found.seconds < 1


def test_with_a_path_the_decomposition_is_what_takes_the_time():
    direct = plan(5000, **PATH)
    assert direct.details.solver == Eigen()
    assert direct.stages[1].seconds > 10 * direct.stages[0].seconds
    found = kernel(10_000, **PATH)
    assert (found.method, found.details.sample) == ("conjugate gradients", 3000)
    assert found.gives_up == "alpha chosen on 3,000 rows"
    assert [stage.name for stage in found.stages] == ["tuning", "preconditioner", "iterations"]


# -- why not ----------------------------------------------------------------------------------------------------------


def test_a_direct_way_that_is_quicker_says_why_it_was_not_taken():
    direct = plan(8000)
    best = replace(kernel(8000, solver=ConjugateGradient()), seconds=2 * direct.seconds)
    task = RidgeTask(8000, 10, 1, None, products=True)
    assert why_not(task, direct, best, Limits(seconds=100.0)) == "cannot be stopped, for a limit of 100 s"
    assert why_not(task, best, direct, Limits(seconds=100.0)) == "slower"


def test_a_direct_way_that_cannot_be_saved_says_so():
    fast = replace(ROUGH, products=1e12, pair=3e-8)
    found = kernel(40_000, machine=fast, resumable=True, seconds=10_000.0)
    direct = next(way for way in found.others if type(way.details.solver) is Cholesky)
    assert UNSAVED < direct.seconds < found.seconds
    assert direct.reason == "its state is too large to save"


def test_an_iterative_way_that_is_quicker_says_less():
    found = kernel(8000, machine=replace(ROUGH, products=5e10))
    other = next(way for way in found.others if way.method == "conjugate gradients")
    assert other.seconds < found.seconds
    assert other.reason == "says less about the model"
