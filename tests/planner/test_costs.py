"""What each way takes: stages by name, time and memory as their formulas say."""

from dataclasses import replace

import pytest
from machines import kernel, plan

from mercer.backends.lanes import height
from mercer.compute.runtime.memory import Budget
from mercer.planner import RidgeTask, choose
from mercer.planner.batches import BLOCK, LEAST, MOST, WORK, squaring
from mercer.planner.limits import Limits
from mercer.planner.machine import ROUGH
from mercer.planner.ridge import streaming
from mercer.planner.ridge.conjugate_gradients import CHECKS, RANKS, product_seconds, ranks
from mercer.planner.ridge.details import size_of
from mercer.planner.ridge.given_landmarks import GIVEN, learning
from mercer.planner.ridge.streaming import SIZES, STEPS, nystrom, nystrom_iterative, one_pass, random_features, sizes
from mercer.planner.ridge.tuning_cost import SAMPLES, tuning
from mercer.solvers import ConjugateGradient, Eigen

FREE = Limits()
TASK = RidgeTask(200_000, 10, 1, None, approximable=True, products=True)
PATH = replace(TASK, path=True, alphas=45)


def named(way):
    return [stage.name for stage in way.stages]


def seconds(way, name):
    return next(stage.seconds for stage in way.stages if stage.name == name)


def solver(task, **limits):
    return kernel(task.rows, solver=ConjugateGradient(), path=task.path, alphas=task.alphas, **limits)


# -- stages -----------------------------------------------------------------------------------------------------------


def test_the_stages_of_every_way():
    assert named(nystrom(PATH, 1000, FREE)) == ["landmarks", "pass", "solve", "check"]
    assert named(random_features(PATH, 1000, FREE)) == ["features", "pass", "solve", "check"]
    assert named(one_pass(replace(PATH, n_features=100), FREE)) == ["features", "pass", "solve", "check"]
    given = replace(PATH, n_features=100, n_landmarks=100, lift_given=True)
    assert named(one_pass(given, FREE)) == ["landmarks", "pass", "solve", "check"]
    assert named(nystrom_iterative(TASK, 1000, ConjugateGradient(), FREE)) == ["landmarks", "iterations"]
    assert named(nystrom_iterative(PATH, 1000, ConjugateGradient(), FREE)) == ["tuning", "landmarks", "iterations"]
    assert named(solver(TASK)) == ["preconditioner", "iterations"]
    assert named(solver(PATH)) == ["tuning", "preconditioner", "iterations"]


def test_lengthscales_are_chosen_from_a_sample_before_a_pass():
    way = nystrom(replace(PATH, lengthscales=7), 1000, FREE)
    assert named(way) == ["tuning", "landmarks", "pass", "solve", "check"]
    assert way.details.sample == SAMPLES[0]
    assert way.gives_up.endswith("alpha and lengthscale chosen on 3,000 rows")


def test_seconds_are_those_of_the_stages():
    for way in (nystrom(PATH, 1000, FREE), solver(PATH), one_pass(replace(PATH, n_features=9), FREE)):
        assert way.seconds == pytest.approx(sum(stage.seconds for stage in way.stages))
        assert all(stage.seconds >= 0 for stage in way.stages)


# -- conjugate gradients ----------------------------------------------------------------------------------------------


def test_an_iteration_is_a_product_with_half_of_the_pairs():
    pair = ROUGH.pair + 10 * ROUGH.pair_column
    assert product_seconds(TASK, FREE) == pytest.approx(pair * 200_000**2 / 2)
    assert product_seconds(replace(TASK, pair=1e-9), FREE) == pytest.approx(1e-9 * 200_000**2 / 2)
    single = replace(TASK, single=True, pair=1e-9)
    assert product_seconds(single, FREE, double=True) == pytest.approx(2 * product_seconds(single, FREE))
    assert product_seconds(replace(TASK, outputs=7), FREE) > 1.5 * product_seconds(TASK, FREE)


def test_the_rank_is_the_one_of_least_time():
    found = solver(TASK)
    times = [kernel(200_000, solver=ConjugateGradient(preconditioner_rank=rank)).seconds for rank in RANKS]
    assert found.seconds == min(times)
    assert found.details.rank == RANKS[times.index(min(times))]


def test_the_rank_is_what_the_memory_leaves():
    found = solver(TASK)
    less = kernel(200_000, solver=ConjugateGradient(), budget=Budget(found.bytes // 2))
    assert less.details.rank < found.details.rank
    assert less.bytes <= found.bytes // 2
    assert found.bytes > 8 * 200_000 * found.details.rank


def test_ranks_are_at_most_a_quarter_of_the_rows():
    assert ranks(10**6) == list(RANKS)
    assert ranks(2000) == [250, 500]
    assert ranks(100) == [25]
    assert ranks(3) == [0]


def test_a_spectrum_says_how_many_iterations_there_are():
    falls = tuple(1e4 / (k + 1) ** 3 for k in range(1000))
    flat = tuple(1e4 / (k + 1) ** 0.5 for k in range(1000))
    quick, slow = (kernel(100_000, solver=ConjugateGradient(), spectrum=each, alpha=1e-2) for each in (falls, flat))
    assert quick.seconds < slow.seconds / 10
    assert quick.details.rank <= slow.details.rank
    pairs = product_seconds(replace(TASK, rows=100_000), FREE)
    assert seconds(quick, "iterations") >= (2 + CHECKS) * pairs


# -- one pass ---------------------------------------------------------------------------------------------------------


def test_a_pass_is_pairs_and_products():
    n, p = 200_000, 2000
    way = nystrom(TASK, p, FREE)
    pairs = n * p * (ROUGH.pair + 10 * ROUGH.pair_column)
    assert seconds(way, "pass") > n * p**2 / ROUGH.products + pairs
    assert pairs < seconds(way, "check") < seconds(way, "pass")
    assert way.details.operations == pytest.approx(n * p**2, rel=0.2)
    assert way.details.solver == Eigen()


def test_memory_grows_with_landmarks_and_not_with_rows():
    small, large = (nystrom(replace(PATH, rows=rows), 4000, FREE).bytes for rows in (10**6, 10**8))
    assert small == large
    assert 8 * 5 * 4000**2 < small < 8 * 5 * 4000**2 + 8 * 6 * BLOCK
    assert nystrom(PATH, 8000, FREE).bytes > 3 * small


def test_batches_shrink_where_memory_is_short():
    wide = nystrom(TASK, 1000, FREE)
    strips = squaring(1000).lanes * height(1000, squaring(1000))
    assert (
        wide.details.batch % strips == 0 or wide.details.batch == MOST
    )  # whole strips, or the cap: with one thread it is below them
    assert wide.details.batch * 1000**2 < 1.5 * max(WORK, strips * 1000**2)
    for room in (1e5, 1e6):
        short = nystrom(TASK, 1000, Limits(bytes=int(8 * (5 * 1000**2 + room))))
        assert LEAST <= short.details.batch < wide.details.batch
        assert short.bytes <= 8 * (6 * 1000**2 + room)
    assert nystrom(TASK, 1000, Limits(bytes=1)).details.batch == LEAST
    assert one_pass(replace(TASK, rows=50, n_features=3), FREE).details.batch == 50


def test_a_path_of_many_rows_is_judged_by_some():
    assert nystrom(PATH, 1000, FREE).details.sample == 16_384
    assert nystrom(replace(PATH, rows=10_000), 1000, FREE).details.sample is None
    assert nystrom(TASK, 1000, FREE).details.sample is None


def test_landmarks_are_the_most_that_keep_to_time_and_memory():
    for limit in (2.0, 20.0, 200.0):
        found = kernel(10**6, seconds=limit)
        ways = [way for way in (found, *found.others) if way.method == "nystrom"]
        fitting = [size for size in SIZES if nystrom(replace(TASK, rows=10**6), size, FREE).seconds <= limit]
        assert ways[0].n_landmarks == (fitting[-1] if fitting else SIZES[0])
    assert sizes(10**6) == list(SIZES)
    assert sizes(1000) == [100, 250, 500]
    assert sizes(90) == [45]
    assert sizes(1) == [1]


# -- Falkon -----------------------------------------------------------------------------------------------------------


def test_falkon_reads_all_pairs_at_every_step():
    way = nystrom_iterative(TASK, 4000, ConjugateGradient(), FREE)
    pairs = 200_000 * 4000 * (ROUGH.pair + 10 * ROUGH.pair_column)
    other = nystrom(TASK, 4000, FREE)
    step, check = (
        each - 200_000 / found.details.batch * streaming.OPENED * ROUGH.call
        for each, found in (
            (seconds(way, "iterations") / STEPS, way),
            (seconds(other, "check") / streaming.CHECKS, other),
        )
    )
    assert step == pytest.approx(check, rel=0.2)
    assert seconds(way, "iterations") > STEPS * pairs
    assert way.bytes >= 8 * 2 * 4000**2


def test_falkon_on_a_lift_that_was_given_learns_its_landmarks_as_one_pass_does():
    given = replace(TASK, n_landmarks=4000, requested=4000, n_features=4000, lift_given=True, stored=True)
    way, other = nystrom_iterative(given, 4000, ConjugateGradient(), FREE), one_pass(given, FREE)
    own = seconds(way, "landmarks") - seconds(other, "landmarks")
    assert own == pytest.approx(ROUGH.cholesky(4000) + ROUGH.multiply(4000.0**3))
    assert seconds(other, "landmarks") == learning(given, FREE)[0] > 0


def test_falkon_takes_less_time_than_one_pass_where_landmarks_are_many():
    few, many = ((nystrom(TASK, p, FREE), nystrom_iterative(TASK, p, ConjugateGradient(), FREE)) for p in (250, 16_000))
    assert few[0].seconds < few[1].seconds
    assert many[0].seconds > many[1].seconds


# -- tuning -----------------------------------------------------------------------------------------------------------


def test_tuning_is_a_decomposition_a_lengthscale():
    once, often = (tuning(replace(PATH, lengthscales=count), FREE, True) for count in (1, 7))
    assert often.stages[0].seconds == pytest.approx(7 * once.stages[0].seconds)
    assert once.stages[0].seconds > ROUGH.eigenvectors(SAMPLES[0])
    assert tuning(PATH, FREE, False) == (None, (), 0.0, "")


def test_samples_shrink_where_memory_is_short_and_never_exceed_the_rows():
    assert tuning(PATH, Limits(bytes=8 * 3 * 2000**2), True).sample == 1500
    assert tuning(PATH, Limits(bytes=1), True).sample == SAMPLES[-1]
    few = tuning(replace(PATH, rows=500), FREE, True)
    assert (few.sample, few.gives_up) == (500, "")
    assert plan(500, path=True, alphas=45).details.sample is None


# -- lifts that were given --------------------------------------------------------------------------------------------


def test_what_a_lift_looked_for_takes_memory_though_it_keeps_less():
    few = replace(TASK, n_features=6, n_landmarks=6, lift_given=True)
    numbers = [learning(replace(few, requested=sought), FREE)[1] for sought in (None, 500)]
    assert numbers[1] > 10 * numbers[0]
    assert numbers[1] >= GIVEN
    short = learning(replace(few, requested=500), Limits(bytes=10**8))[1]
    assert 8 * short == pytest.approx((1 + 6 / 500) * 10**8 / 4 + 8 * 500**2)  # a fourth, the six, and the triangle
    assert learning(TASK, FREE) == (0.0, 0.0)


def test_choosing_a_lengthscale_is_not_paid_for_with_landmarks():
    """4,700 rows on a slow machine: seven lengthscales on 3,000 rows took all the time, and 100 landmarks were left."""
    slow = replace(ROUGH, eigen=2.5e-10, products=1e10)
    task = replace(PATH, rows=4_700, lengthscales=7)
    found = choose(task, machine=slow, budget=Budget.of("4 GB"))
    assert found.seconds <= 60
    assert (size_of(found) or found.rows) >= 1_000
    assert tuning(task, replace(FREE, machine=slow), True).sample == 1_500
