"""Plans in words: a table of ways, stages, reasons; and plans as plain values."""

import json
from dataclasses import replace

import pytest
from machines import kernel, plan

from mercer.errors import InputError, speaking
from mercer.planner import Plan, Stage
from mercer.planner.explain import duration, named
from mercer.planner.plan import Compared
from mercer.planner.ridge import RidgeDetails
from mercer.solvers import Cholesky, ConjugateGradient, Eigen, GradientDescent

DUAL = RidgeDetails("dual", Eigen(), 1e18)
METHODS = [
    plan(1000, 20),
    plan(1000, solver=GradientDescent(max_iter=5, step=0.1)),
    kernel(20_000, solver=ConjugateGradient(tol=1e-4), path=True, alphas=45),
    kernel(10**6),
    plan(10**6, spectral=True, products=True),
    plan(10**6, 50, lift_given=True, path=True, alphas=45, stored=False),
]


def test_a_plan_reads_like_a_table():
    shape = {"rows": 581_012, "columns": 54, "outputs": 7}
    no = Compared("does not fit")
    slow = Plan("direct", **shape, bytes=8 * 10**12, seconds=3e7, stages=(), details=DUAL, comparison=no)
    chosen = Plan(
        method="nystrom",
        **shape,
        bytes=400_000_000,
        seconds=41.2,
        stages=(Stage("landmarks", 0.2), Stage("pass", 41.0)),
        details=RidgeDetails("primal", Eigen(), 1e12),
        n_landmarks=2000,
        gives_up="exactness (certified)",
        comparison=Compared("No exact method fits the memory.", (slow,)),
    )
    assert str(chosen).splitlines() == [
        "least squares on 581,012 rows x 54 columns, 7 outputs: nystrom, one pass, 2,000 landmarks",
        "     method                                  time     memory  gives up",
        "  -> nystrom, one pass, 2,000 landmarks      41 s  381.5 MiB  exactness (certified)",
        "     direct, kernel matrix, Eigen        347 days    7.3 TiB  nothing",
        "  stages: landmarks 0.2 s, pass 41 s",
        "  why: No exact method fits the memory.",
        "  why not direct, kernel matrix, Eigen: does not fit",
    ]


@pytest.mark.parametrize("found", METHODS, ids=lambda found: found.method)
def test_every_way_is_listed_with_its_reason(found):
    lines = str(found).splitlines()
    assert str(found).isascii()
    assert lines[0].endswith(named(found))
    assert lines[2].startswith(f"  -> {named(found)} ")
    listed = zip(lines[3 : 3 + len(found.others)], found.others, strict=True)
    assert all(line.startswith(f"     {named(way)} ") for line, way in listed)
    assert [line for line in lines if line.startswith("  why not ")] == [
        f"  why not {named(way)}: {way.reason}" for way in found.others
    ]
    assert all(way.reason for way in (found, *found.others))
    assert str(found) == str(replace(found))


def test_names_of_ways():
    assert named(plan(1000, 20)) == "direct, 20 features, Cholesky"
    assert named(plan(1000, solver=GradientDescent())) == "direct, kernel matrix, GradientDescent"
    assert named(kernel(10**5, solver=ConjugateGradient(preconditioner_rank=1000))) == "conjugate gradients, rank 1,000"
    assert named(METHODS[-1]) == "one pass, 50 features"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "< 0.1 s"),
        (0.0949, "< 0.1 s"),
        (0.1, "0.1 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (99.4, "99 s"),
        (99.6, "1.7 min"),
        (3600.0, "60 min"),
        (10_800.0, "3.0 h"),
        (777_600.0, "9.0 days"),
        (1e12, "31,688 years"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


# -- plain values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", METHODS, ids=lambda found: found.method)
def test_a_plan_comes_back_from_its_record(found):
    record = json.loads(json.dumps(found.record()))
    assert all(value is None or isinstance(value, str | int | float) for value in record.values())
    assert Plan.restored(record) == found
    assert Plan.restored(record).reason == found.reason


@pytest.mark.parametrize(
    "change",
    [
        {"method": "by magic"},
        {"task": "magic"},
        {"task": ["SVM"]},
        {"side": "left"},
        {"solver": "Solver"},
        {"solver": "System"},
        {"solver": "os"},
        {"solver.speed": 3},
        {"rows": "many"},
        {"seconds": None},
        {"bytes": float("inf")},
    ],
    ids=str,
)
def test_records_that_hold_no_plan_are_refused(change):
    with speaking("KernelRidge"), pytest.raises(InputError, match=r"^KernelRidge needs the record of a plan"):
        Plan.restored({**plan(1000, 20).record(), **change})


def test_a_record_without_a_field_is_refused():
    record = plan(1000).record()
    for name in ("task", "method", "solver", "rows", "sample", "operations"):
        with pytest.raises(InputError, match="KeyError"):
            Plan.restored({key: value for key, value in record.items() if key != name})


def test_the_solver_keeps_its_settings():
    found = plan(1000, solver=GradientDescent(max_iter=5, step=0.1))
    assert Plan.restored(found.record()).details.solver == GradientDescent(max_iter=5, step=0.1)
    assert Plan.restored(plan(1000).record()).details.solver == Cholesky()
