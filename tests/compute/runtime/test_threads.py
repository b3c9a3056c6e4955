"""Workers: what they do, how they are stopped, and that BLAS gets its threads back."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mercer.compute.runtime import threads
from mercer.errors import InputError

# -- how many ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", [0, -1, True, False, 1.0, 1.5, "2", [2]])
def test_a_number_of_threads_is_a_whole_number_above_zero(request_):
    with pytest.raises(InputError, match=re.escape(f"got {request_!r}")):
        threads.count(request_)


def test_none_stands_for_all_that_are_available(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads.count(None)
    assert cores == len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores >= 1
    assert threads.count(7) == 7
    for text, wanted in (("1", 1), ("0", 1), ("100000", cores), ("many", cores), ("", cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert threads.count(None) == wanted


# -- what they do ------------------------------------------------------------------------------------------------------


def sleeper(seconds=0.02):
    def work(worker, piece, stop):
        time.sleep(seconds)
        stop.step(worker, 1)

    return work


def test_each_worker_does_its_own_pieces_in_order():
    seen = {0: [], 1: []}

    def work(worker, piece, stop):
        seen[worker].append((piece, threading.get_ident()))

    threads.run(work, [[0, 2, 4], [1, 3]], 5)
    assert [piece for piece, _ in seen[0]] == [0, 2, 4]
    assert [piece for piece, _ in seen[1]] == [1, 3]
    assert threading.get_ident() not in {ident for pairs in seen.values() for _, ident in pairs}


def test_a_watch_is_told_of_growing_progress_up_to_the_end():
    told = []
    threads.run(sleeper(), [list(range(20)), list(range(15))], 35, told.append)
    done, seconds = [p.done for p in told], [p.seconds for p in told]
    assert len(told) >= 2  # the work takes 0.4 s or more, and the watch is told every tenth of a second
    assert done == sorted(done)
    assert seconds == sorted(seconds)
    assert done[0] < 35
    assert done[-1] == 35
    assert {p.total for p in told} == {35}


def test_a_short_computation_tells_its_end():
    told = []
    threads.run(sleeper(0.0), [[0]], 1, told.append)
    assert [p.done for p in told] == [1]


# -- how they are stopped ----------------------------------------------------------------------------------------------


class Enough(Exception):  # noqa: N818
    pass


def test_a_watch_may_stop_the_work():
    done = []

    def work(worker, piece, stop):
        time.sleep(0.01)
        done.append(piece)
        stop.step(worker, 1)

    def watch(progress):
        raise Enough

    with pytest.raises(Enough):
        threads.run(work, [list(range(1000)), list(range(1000))], 2000, watch)
    stopped = len(done)
    assert 0 < stopped < 2000
    time.sleep(0.1)
    assert len(done) == stopped  # nobody works on


def test_an_error_in_a_worker_surfaces_and_stops_the_others():
    done = []

    def work(worker, piece, stop):
        if worker == 1 and piece == 3:
            raise Enough("in worker 1")
        time.sleep(0.01)
        done.append(piece)
        stop.step(worker, 1)

    with pytest.raises(Enough, match="in worker 1"):
        threads.run(work, [list(range(1000)), list(range(1000))], 2000)
    assert 3 <= len(done) < 1000


def test_a_long_piece_looks_at_the_flag_between_its_tiles():
    steps = []

    def work(worker, piece, stop):
        for tile in range(10_000):
            time.sleep(0.001)
            steps.append(tile)
            if not stop.step(worker, 1):
                return

    def watch(progress):
        raise Enough

    with pytest.raises(Enough):
        threads.run(work, [[0]], 10_000, watch)
    assert len(steps) < 5_000


LONG_WORK = """
import sys, threading, time
import numpy as np
from mercer.operators import Gram
from mercer.kernels.evaluation.evaluate import fused_from

X = np.random.default_rng(0).normal(size=({rows}, 10))
begun = []
def watch(progress):
    if not begun:
        begun.append(1)
        print("begun", flush=True)
context = fused_from({least})
context.__enter__()
Gram("{kernel}", X[:300], threads=2) @ np.ones(300)  # loads or compiles the code
try:
    Gram("{kernel}", X, threads=2, watch=watch) @ np.ones({rows})
    print("ended")
except KeyboardInterrupt:
    alive = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    print("interrupted", alive)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a process alone")
@pytest.mark.parametrize(("path", "least", "rows"), [("fused", 0, 400_000), ("plain", 1 << 60, 60_000)])
def test_an_interruption_ends_a_long_product_soon(path, least, rows):
    text = LONG_WORK.format(rows=rows, least=least, kernel="gaussian")
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
    assert answer == "interrupted []\n"  # it did not end, and no worker was left
    assert process.returncode == 0


# -- BLAS --------------------------------------------------------------------------------------------------------------


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return [entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("BLAS has one thread here")
        yield


@pytest.mark.usefixtures("two_blas_threads")
class TestBlas:
    def test_it_has_one_thread_inside_and_gets_them_back(self):
        with threads.one_thread_blas():
            assert set(blas_threads()) == {1}
            with threads.one_thread_blas():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}

    def test_an_error_gives_them_back(self):
        with pytest.raises(Enough), threads.one_thread_blas():
            raise Enough
        assert set(blas_threads()) == {2}

    def test_two_computations_that_overlap_give_them_back_at_the_end_of_the_last(self):
        events = {name: threading.Event() for name in ("first in", "second in", "first out", "second may leave")}
        seen = {}

        def first():
            with threads.one_thread_blas():
                events["first in"].set()
                events["second in"].wait(10)
            seen["after the first"] = blas_threads()
            events["first out"].set()

        def second():
            events["first in"].wait(10)
            with threads.one_thread_blas():
                events["second in"].set()
                events["first out"].wait(10)
                seen["in the second"] = blas_threads()
                events["second may leave"].wait(10)

        pool = [threading.Thread(target=target) for target in (first, second)]
        for thread in pool:
            thread.start()
        assert events["first out"].wait(10)
        events["second may leave"].set()
        for thread in pool:
            thread.join(10)
        assert set(seen["after the first"]) == set(seen["in the second"]) == {1}
        assert set(blas_threads()) == {2}

    def test_a_run_holds_it(self):
        seen = []
        threads.run(lambda worker, piece, stop: seen.extend(blas_threads()), [[0]], 1)
        assert set(seen) == {1}
        assert set(blas_threads()) == {2}


def test_little_work_has_one_thread_of_blas_and_much_work_all():
    def counts():
        return [library.get_num_threads() for library in threads._libraries()]

    before = counts()
    with threads.few_threads(150, 10):
        assert set(counts()) == {1}
        with threads.few_threads(100, 10):
            assert set(counts()) == {1}
        assert set(counts()) == {1}
    assert counts() == before
    for rows, columns in ((1, 10), (5000, 10), (100, 10**6)):
        with threads.few_threads(rows, columns):
            assert counts() == before


@pytest.mark.usefixtures("two_blas_threads")
class TestSoManyThreadsOfBlas:
    def test_the_least_counts(self):
        with threads.blas_threads(3):
            assert set(blas_threads()) == {3}
            with threads.one_thread_blas(), threads.blas_threads(2):
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {3}
        assert set(blas_threads()) == {2}

    def test_whoever_leaves_first_they_are_given_back(self):
        for first in (1, 2, 3):
            outer, inner = threads.blas_threads(first), threads.blas_threads(4 - first)
            outer.__enter__()
            inner.__enter__()
            outer.__exit__(None, None, None)
            inner.__exit__(None, None, None)
            assert set(blas_threads()) == {2}


def test_inside_of_a_plan_its_threads_work_also_in_other_threads():
    before = threads.available()
    with threads.as_planned(3, 0):
        assert threads.available() == threads.count(None) == 3
        seen = set()
        threads.run(lambda worker, piece, stop: seen.add(threads.available()), [[0], [1]], 2)
        assert seen == {3}
        with threads.as_planned(0, 0):  # a plan that does not say
            assert threads.available() == before
    assert threads.available() == before
