"""The plan of least squares with stored matrices: by time, among what fits the memory, and in words."""

import re
import sys
from dataclasses import asdict

import numpy as np
import pytest
from machines import PLENTY, plan

from mercer import KernelRidge
from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError, speaking
from mercer.kernels import Gaussian
from mercer.planner import RidgeTask, choose
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.ridge.direct import WORKED
from mercer.planner.ridge.no_fit_error import landmarks_that_fit
from mercer.planner.ridge.task import JUDGED_BY, STARTED
from mercer.solvers import Cholesky, Eigen, GradientDescent

ORDER = RidgeTask(1, 1, 1, None).order

# -- by time --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [False, True], ids=["given", "chosen"])
def test_the_smaller_side_is_taken(path):
    more = {"path": path, "alphas": 45 if path else 1}
    assert plan(10_000, 50, **more).details.side == "primal"
    assert plan(50, 10_000, **more).details.side == "dual"
    assert plan(10_000, None, **more).details.side == "dual"


def test_operations_are_those_of_the_textbook():
    """n p^2 for the features and p^3 / 3 for the factor, against n^2 pairs and n^3 / 3."""
    primal, dual = plan(10_000, 500), plan(10_000, None)
    assert primal.details.operations == pytest.approx(10_000 * 500**2 + 500**3 / 3, rel=0.01)
    assert dual.details.operations == pytest.approx(10_000**3 / 3, rel=0.02)
    assert dual.bytes == pytest.approx(8 * 10_000**2, rel=0.01)
    assert primal.bytes == pytest.approx(8 * (500**2 + 10_000 * 500 + WORKED), rel=0.01)  # one table, and a block
    assert (primal.n_features, dual.n_features) == (500, 0)


def test_seconds_are_operations_by_the_rates_of_the_machine():
    """With 50 billion operations per second, n^3 / 3 of them, and the pairs, and the matrix read some times."""
    n = 10_000
    dual = plan(n, None)
    pairs = n**2 / 2 * (ROUGH.pair + 10 * ROUGH.pair_column) + 8 * n**2 / ROUGH.fresh
    assert [stage.name for stage in dual.stages] == ["kernel matrix", "solve"]
    assert dual.stages[0].seconds == pytest.approx(pairs + STARTED * ROUGH.call)
    assert n**3 / 3 / 5e10 < dual.stages[1].seconds < 1.5 * n**3 / 3 / 5e10
    assert dual.seconds == pytest.approx(sum(stage.seconds for stage in dual.stages))
    assert [stage.name for stage in plan(n, 500).stages] == ["features", "solve"]


@pytest.mark.parametrize(
    ("rows", "alpha", "single"),
    [(10_000, 1.0, True), (10_000, 1e-4, False), (3_000, 1.0, False), (10_000, None, False)],
)
def test_a_factor_in_float32_is_foreseen_where_alpha_is_above_its_rounding(rows, alpha, single):
    """The largest eigenvalue of a sample says what rounding is."""
    unknown, known = plan(rows), plan(rows, spectrum=(2000.0, 1.0), alpha=alpha)
    saved = unknown.stages[1].seconds - known.stages[1].seconds
    if not single:
        assert saved == 0
    else:
        products = rows**3 / 3 * (1 / ROUGH.products - 1 / ROUGH.products32)
        assert 0.8 * products < saved < products


def test_small_problems_are_planned_by_operations():
    """Their times are alike, and what is chosen depends on no machine."""
    other = Machine(**{name: rate * (1 + k) for k, (name, rate) in enumerate(asdict(ROUGH).items())})
    for rows, features in ((10, 7), (10, 13), (24, 10), (100, 90), (100, 1000)):
        found = plan(rows, features)
        assert found.details.operations == min(way.details.operations for way in (found, *found.others))
        assert plan(rows, features, machine=other).details.side == found.details.side
    assert plan(24, 10).others[0].reason == "more operations"


def test_the_least_time_wins_among_all_ways():
    for rows, features in ((10, 7), (10, 13), (300, 290), (300, 1000), (5000, 4999)):
        for path in (False, True):
            found = plan(rows, features, path=path)
            everything = [found, *found.others]
            assert ORDER(found) == min(map(ORDER, everything))
            assert {(way.method, way.details.side, type(way.details.solver)) for way in everything} == {
                ("direct", side, solver)
                for side in ("primal", "dual")
                for solver in ([Eigen] if path else [Cholesky, Eigen])
            }


def test_a_whole_path_takes_a_decomposition_that_serves_every_alpha():
    found = plan(1000, None, path=True, alphas=45)
    assert found.details.solver == Eigen()
    assert "One decomposition serves all alphas." in found.reason
    assert plan(1000, None).details.solver == Cholesky()


def test_many_different_alphas_are_cheaper_by_one_decomposition():
    """A Cholesky factor takes its time once an alpha: they meet where so many take as long as one decomposition."""
    many = int(ROUGH.eigenvectors(2000) / ROUGH.cholesky(2000))
    assert plan(2000, None, outputs=many // 2, alphas=many // 2).details.solver == Cholesky()
    assert plan(2000, None, outputs=2 * many, alphas=2 * many).details.solver == Eigen()


def test_every_lengthscale_costs_a_fit():
    one, seven = plan(1000, None, path=True, alphas=45), plan(1000, None, path=True, alphas=45, lengthscales=7)
    assert seven.details.operations == pytest.approx(7 * one.details.operations)
    start = (STARTED + JUDGED_BY) * ROUGH.call
    assert seven.seconds - start == pytest.approx(7 * (one.seconds - start), rel=0.01)
    assert one.bytes < seven.bytes < 2 * one.bytes  # the best so far is kept


def test_more_of_anything_costs_more():
    base = {"rows": 1000, "features": None}
    for more in ({"rows": 2000}, {"outputs": 50}, {"path": True}, {"lengthscales": 7}):
        assert plan(**{**base, **more}).details.operations > plan(**base).details.operations
        assert plan(**{**base, **more}).bytes >= plan(**base).bytes


def test_features_that_nobody_can_count_are_no_way():
    found = plan(20, 10**5000)
    assert {way.details.side for way in (found, *found.others)} == {"dual"}
    assert found.reason == "The lift has 10^5000 features, which is no cheaper than 20 rows."


# -- by memory ------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_not_chosen():
    """With 4,250 features a path takes less time than with 5,000 rows, and more memory: their table."""
    task = RidgeTask(5000, 10, 1, 4250, 45, path=True)
    ways = {way.details.side: way for way in task.candidates(Limits())}
    assert ways["dual"].bytes < ways["primal"].bytes
    assert ways["dual"].seconds > ways["primal"].seconds
    assert choose(task, PLENTY, machine=ROUGH).details.side == "primal"
    found = choose(task, Budget(ways["dual"].bytes), machine=ROUGH)
    assert found.details.side == "dual"
    assert [other.details.side for other in found.others] == ["primal"]
    assert found.reason.startswith(
        "The lift has 4,250 features, and there are 5,000 rows. What is faster does not fit the memory."
    )


def test_faster_ways_that_do_not_fit_are_told():
    task = RidgeTask(1000, 10, 60, None, 60)
    ways = sorted(task.candidates(Limits()), key=lambda way: way.seconds)
    assert [type(way.details.solver) for way in ways] == [Eigen, Cholesky]
    found = choose(task, Budget(ways[1].bytes))
    assert found.details.solver == Cholesky()
    assert "What is faster does not fit the memory." in found.reason
    assert found.others[0].reason.startswith("does not fit the memory, ")
    assert "does not fit" not in choose(task, PLENTY).reason


def test_a_budget_that_only_the_primal_fits():
    task = RidgeTask(20_000, 3, 1, 100)
    found = choose(task, Budget.of("50 MB"))
    assert found.details.side == "primal"
    assert found.bytes <= 50_000_000
    assert all(not Budget.of("50 MB").allows(way.bytes) for way in found.others if way.details.side == "dual")
    with pytest.raises(BudgetError):
        choose(RidgeTask(20_000, 3, 1, None), Budget.of("50 MB"))


def test_what_fits_nowhere_is_refused_with_what_would_fit():
    with speaking("plan"), pytest.raises(BudgetError) as caught:
        choose(RidgeTask(100_000, 10, 1, None), Budget.of("1 GiB"))
    told, _, less = str(caught.value).partition(" 4,000 landmarks fit in ")  # the more cores, the more memory
    assert told == (
        "plan needs 74.5 GiB for the dual with Cholesky() on 100,000 rows; 1.0 GiB may be used. Up to 11,578 rows fit."
    )
    assert re.fullmatch(r"[67]\d\d\.\d MiB: Nystrom\(\"gaussian\('median'\)\", 4000\)\.", less)
    with pytest.raises(BudgetError, match=r"needs 223\.5 GiB for the dual with Eigen\(\) on 100,000 rows"):
        choose(RidgeTask(100_000, 10, 1, None, 45, path=True), Budget.of("1 GiB"))


def test_the_rows_that_are_said_to_fit_do_and_one_more_does_not():
    budget = Budget.of("1 GiB")
    assert choose(RidgeTask(11_578, 10, 1, None), budget, machine=ROUGH).bytes <= budget.bytes
    with pytest.raises(BudgetError):
        choose(RidgeTask(11_579, 10, 1, None), budget, machine=ROUGH)


def test_what_is_copied_counts_for_what_is_said_to_fit():
    """A thousand numbers per row beside every way."""
    budget = Budget.of("1 GiB")
    with pytest.raises(BudgetError) as caught:
        choose(RidgeTask(100_000, 10, 1, None, copied=10**8), budget)
    rows = int(re.search(r"Up to (\S+) rows fit", str(caught.value))[1].replace(",", ""))
    found = choose(RidgeTask(rows, 10, 1, None, copied=1000 * rows), budget, machine=ROUGH)
    assert found.bytes <= budget.bytes
    with pytest.raises(BudgetError):
        choose(RidgeTask(rows + 1, 10, 1, None, copied=1000 * (rows + 1)), budget, machine=ROUGH)
    landmarks = landmarks_that_fit(RidgeTask(100_000, 10, 1, None, copied=10**8), Limits(budget.bytes))
    assert 8 * 10**8 < landmarks.bytes <= budget.bytes
    assert landmarks.n_landmarks < landmarks_that_fit(RidgeTask(100_000, 10, 1, None), Limits(budget.bytes)).n_landmarks


def test_what_is_copied_counts_once_in_words():
    task = RidgeTask(1000, 10, 1, None, copied=10**6)
    most = max(way.bytes for way in task.candidates(Limits()))
    found = choose(task, Budget(most))
    assert not any("the memory" in way.reason for way in (found, *found.others))
    small = choose(task, Budget(most - 1))
    assert [way.reason for way in small.others] == [f"does not fit the memory, {Budget(most - 1)}"]


def test_a_budget_that_nothing_fits_names_the_smallest_way():
    task = RidgeTask(100_000, 10, 1, None, products=True, approximable=True)
    with pytest.raises(
        BudgetError, match=r"for nystrom, iterative, 100 landmarks on 100,000 rows; 97\.7 KiB may be used"
    ):
        choose(task, Budget.of("100 kB"), machine=ROUGH)


def test_a_fit_that_is_too_large_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls, fraction=0.8: cls(100_000)))
    monkeypatch.setattr(
        sys.modules["mercer.planner.choose"], "MAX_UNASKED_BYTES", 0
    )  # so little is taken without asking otherwise
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(
        BudgetError, match=r"^KernelRidge needs 3\d\d\.\d KiB for the dual with Cholesky\(\) on 200 rows"
    ):
        KernelRidge(Gaussian(1.0), alpha=1.0, solver=Cholesky()).fit(X, X[:, 0])
    assert KernelRidge("polynomial(degree=2)", alpha=1.0).fit(X, X[:, 0]).plan_.details.side == "primal"


# -- a solver that was given ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [Cholesky(), Eigen(), GradientDescent(max_iter=5)], ids=lambda s: type(s).__name__)
def test_a_solver_that_was_given_is_kept(solver):
    for features in (None, 5, 5000):
        for known in (False, True):
            found = plan(100, features, solver, products=known, approximable=known)
            assert (found.method, found.details.solver) == ("direct", solver)
            assert all(other.details.solver is solver and other.method == "direct" for other in found.others)
            assert found.reason.endswith("The solver was given.")


def test_a_solver_of_one_alpha_cannot_choose():
    with pytest.raises(InputError, match=r"needs a solver of whole paths where something is chosen"):
        plan(100, 5, Cholesky(), path=True)


# -- words ----------------------------------------------------------------------------------------------------------


def test_a_reason_in_words():
    assert plan(1000, 20).reason == "The lift has 20 features, and there are 1,000 rows."
    assert plan(20, 1000).reason == "The lift has 1,000 features, which is no cheaper than 20 rows."
    assert plan(20, None).reason == "This kernel has no finite feature map that is known."


def test_the_ways_not_chosen_are_listed_by_time():
    found = plan(1000, 20)
    times = [ORDER(way) for way in (found, *found.others)]
    assert len(times) == 4
    assert times == sorted(times)
    assert [way.reason for way in found.others] == ["more operations", "more operations", "slower"]


def test_plans_are_records():
    found = plan(1000, 20)
    assert found == plan(1000, 20)
    assert hash(found) == hash(plan(1000, 20))
    assert "others" not in repr(found)
    with pytest.raises(AttributeError):
        found.details.side = "dual"


# -- what was requested ---------------------------------------------------------------------------------------------

KNOWN = {"products": True, "approximable": True, "spectral": True}


@pytest.mark.parametrize("rows", [2, 300, 20_000, 3_000_000])
def test_only_methods_that_were_requested_are_planned(rows):
    exact, few = (plan(rows, **KNOWN, method=method) for method in ("exact", "landmarks"))
    assert all(one.exact for one in (exact, *exact.others))
    assert {one.method for one in (few, *few.others)} == {"nystrom", "nystrom iterative"}


@pytest.mark.parametrize("method", ["auto", "landmarks"])
def test_as_many_landmarks_as_are_wanted_and_no_more_than_rows(method):
    found = plan(3_000_000, **KNOWN, method=method, wanted_landmarks=123)
    assert {one.n_landmarks for one in (found, *found.others) if not one.exact} == {123}
    assert plan(50, **KNOWN, method="landmarks", wanted_landmarks=123).n_landmarks == 50


def test_landmarks_need_a_kernel_that_they_can_stand_for():
    with pytest.raises(InputError, match='a kernel for method="landmarks"; landmarks cannot stand for this one'):
        plan(300, method="landmarks")
