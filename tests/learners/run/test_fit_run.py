"""The run of a fit: limits, Ctrl-C, what is shown and how often, checkpoints; on a clock that tests move."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.compute.runtime.run import Stopped
from mercer.compute.runtime.threads import Progress
from mercer.errors import InputError, speaking
from mercer.learners.ridge import least_squares
from mercer.learners.ridge.problem import from_rows
from mercer.learners.run import fit_run
from mercer.learners.run.fit_run import Terms, watched
from mercer.lifts import Nystrom, Polynomial
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge import RidgeDetails
from mercer.solvers import Cholesky

PARTS = {"version": "1", "settings": "abc", "data": "def"}


@pytest.fixture(autouse=True)
def _learner():
    """The learner that is fitted."""
    with speaking("KernelRidge"):
        yield


class Clock:
    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(autouse=True)
def _quiet_handler():
    """Whatever a test does, Ctrl-C is as it was."""
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


def plan(*stages):
    stages = tuple(Stage(name, seconds) for name, seconds in stages)
    return Plan("one pass", 9, 2, 1, 1, 7.0, stages, RidgeDetails("primal", Cholesky()), n_features=5)


def run_of(clock, time_limit=None, on_interrupt="raise", verbose=False, checkpoint=None):
    return watched("KernelRidge", None, Terms.of(time_limit, on_interrupt, verbose, checkpoint), clock)


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, True, "5", [5]])
def test_a_time_limit_is_a_number_of_seconds(bad):
    with pytest.raises(InputError, match="KernelRidge needs a positive number of seconds, or None, for time_limit"):
        Terms.of(bad, "raise", "auto", None)


@pytest.mark.parametrize("good", [1, 0.5, np.float32(2.0), np.int64(3)])
def test_time_limits_of_all_kinds(good):
    assert Terms.of(good, "raise", "auto", None).time_limit == float(good)


@pytest.mark.parametrize("bad", ["stop", None, True, 1])
def test_on_interrupt_is_one_of_two_words(bad):
    with pytest.raises(InputError, match='KernelRidge needs on_interrupt that is "raise" or "keep"'):
        Terms.of(None, bad, "auto", None)


@pytest.mark.parametrize("bad", ["yes", None, 1, 0, np.ones(2)])
def test_verbose_is_a_truth_or_auto(bad):
    with pytest.raises(InputError, match='KernelRidge needs verbose that is True, False or "auto"'):
        Terms.of(None, "raise", bad, None)


@pytest.mark.parametrize("bad", [3, b"fit", "", True, ["fit"]])
def test_a_checkpoint_is_a_path(bad):
    with pytest.raises(InputError, match="KernelRidge needs the path of a file, or None, for checkpoint"):
        Terms.of(None, "raise", "auto", bad)


def test_a_checkpoint_is_a_file_in_a_folder_that_exists(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        Terms.of(None, "raise", "auto", tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        Terms.of(None, "raise", "auto", tmp_path / "no" / "fit")
    assert Terms.of(None, "raise", "auto", str(tmp_path / "fit")).checkpoint == tmp_path / "fit"
    assert Terms.of(None, "raise", "auto", Path("fit")).checkpoint == Path("fit").absolute()


# -- the time limit ---------------------------------------------------------------------------------------------------


def test_the_limit_counts_from_the_start_and_stops_where_there_is_something_to_use(clock):
    with run_of(clock, time_limit=5) as run:
        clock.now += 3.0  # reading and planning
        run.follow(plan(("pass", 10.0)))
        with run.stage("pass", 100):
            clock.now += 4.0
            run.tell(1)  # over, but there is nothing yet
            with run.stoppable(), pytest.raises(Stopped, match=r"^the time limit of 5 s was reached$"):
                run.tell(2)
            run.tell(3)  # nor here
            with run.stoppable(), pytest.raises(Stopped):
                run.watch(Progress(1, 2, 0.1))


def test_before_the_limit_nothing_stops(clock):
    with run_of(clock, time_limit=5.0) as run:
        run.follow(plan(("pass", 10.0)))
        with run.stage("pass", 100), run.stoppable():
            for step in range(499):
                clock.now = 50.0 + step / 100
                run.tell(step / 5)
            clock.now = 55.0
            with pytest.raises(Stopped):
                run.tell(100)
    assert run.stopped


def test_without_a_plan_a_limit_holds_too(clock):
    with run_of(clock, time_limit=5.0) as run, run.stage("anything"), run.stoppable():
        clock.now += 6.0
        with pytest.raises(Stopped):
            run.tell(1)


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------


def interrupt():
    signal.raise_signal(signal.SIGINT)


def test_keep_stops_at_the_next_word_where_there_is_something_to_use(clock):
    with run_of(clock, on_interrupt="keep") as run:
        run.follow(plan(("pass", 10.0)))
        with run.stage("pass"), run.stoppable():
            run.tell(0.1)
            interrupt()
            with pytest.raises(Stopped, match=r"^the fit was interrupted$"):
                run.tell(0.2)
    assert run.stopped


def test_keep_stops_a_product_too(clock):
    with run_of(clock, on_interrupt="keep") as run, run.stoppable():
        interrupt()
        with pytest.raises(Stopped, match="interrupted"):
            run.watch(Progress(1, 10, 0.1))


def interrupted_at_once(run, clock):
    run.follow(plan(("pass", 10.0)))
    with run.stage("pass"):
        interrupt()


def interrupted_twice(run, clock):
    with run.stoppable():
        interrupt()
        interrupt()


def interrupted_afterwards(run, clock):
    with run.stoppable():
        run.tell(1)
    interrupt()


def fitted(work, clock, **settings):
    with run_of(clock, **settings) as run:
        work(run, clock)


@pytest.mark.parametrize("work", [interrupted_at_once, interrupted_twice, interrupted_afterwards])
def test_where_there_is_nothing_to_use_and_the_second_time_it_raises(clock, work):
    with pytest.raises(KeyboardInterrupt):
        fitted(work, clock, on_interrupt="keep")


def test_raise_leaves_python_alone(clock):
    before = signal.getsignal(signal.SIGINT)

    def work(run, clock):
        with run.stoppable():
            assert signal.getsignal(signal.SIGINT) is before
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        fitted(work, clock)


def test_a_signal_during_a_look_is_not_lost(clock, monkeypatch):
    with run_of(clock, on_interrupt="keep", verbose=True) as run:
        monkeypatch.setattr("mercer.learners.run.progress.Lines.show", lambda *_: interrupt() if run._usable else None)
        run.follow(plan(("pass", 10.0)))
        with run.stage("pass"), run.stoppable():
            clock.now += 1.0
            with pytest.raises(Stopped, match="interrupted"):
                run.tell(0.1)


def test_an_error_gives_the_handler_back(clock):
    def work(run, clock):
        assert signal.getsignal(signal.SIGINT).__qualname__.startswith("Watched")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fitted(work, clock, on_interrupt="keep")


def test_in_another_thread_no_handler_is_set(clock):
    seen = []

    def work():
        with run_of(clock, on_interrupt="keep") as run, run.stoppable():
            run.tell(1)
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


CHILD = """
import sys, time
from mercer.compute.runtime.run import Stopped
from mercer.learners.run.fit_run import Terms, watched
try:
    with watched("Child", None, Terms.of(None, sys.argv[1], False, None)) as run, run.stoppable():
        print("ready", flush=True)
        while True:
            time.sleep(0.01)
            run.tell(0)
except Stopped as stopped:
    print(stopped, flush=True)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""


def test_a_signal_from_outside():
    command = [sys.executable, "-c", CHILD, "keep"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "the fit was interrupted\n"
    assert child.returncode == 0


# -- progress ---------------------------------------------------------------------------------------------------------


class Screen:
    """What was written to standard error so far."""

    def __init__(self, captured):
        self.captured, self.text = captured, ""

    def lines(self):
        self.text += self.captured.readouterr().err
        return self.text.splitlines()


@pytest.fixture
def screen(capsys):
    return Screen(capsys)


def test_the_time_left_is_told_before_the_work_begins(clock, screen):
    with run_of(clock, verbose=True) as run:
        run.follow(plan(("search", 20.0), ("solve", 40.0)))
        assert screen.lines() == ["KernelRidge: search 0 %, 60 s left"]
        with run.stage("search", 50):
            for step in range(50):
                clock.now += 0.4
                run.tell(step + 1)
        with run.stage("solve"):
            clock.now += 20.0
            run.tell(0.5)
    assert screen.lines() == [
        "KernelRidge: search 0 %, 60 s left",
        "KernelRidge: search 9 %, 55 s left",
        "KernelRidge: search 26 %, 44 s left",
        "KernelRidge: solve 67 %, 20 s left",
        "KernelRidge: done in 40 s",
    ]


def test_what_is_foreseen_is_shown_before_the_plan_is_made_and_the_plan_takes_over(clock, screen):
    with run_of(clock, verbose=True) as run:
        run.foresee(lambda: plan(("solve", 30.0)))
        assert screen.lines() == ["KernelRidge: solve 0 %, 30 s left"]
        clock.now += 8.0
        run.follow(plan(("search", 20.0), ("solve", 40.0)))
    assert screen.lines()[1:] == ["KernelRidge: search 0 %, 60 s left", "KernelRidge: done in 8 s"]


def test_nothing_is_foreseen_where_nobody_looks_or_nothing_fits(clock, screen):
    with run_of(clock, verbose=False) as run:
        run.foresee(lambda: pytest.fail("asked for a plan that nobody sees"))
    with run_of(clock, verbose=True) as run:
        run.foresee(lambda: None)
    assert screen.lines() == []


@pytest.mark.parametrize("kernel", ["gaussian(1)", Nystrom("gaussian(1)", 5, random_state=0), Polynomial(2)], ids=str)
def test_the_first_line_comes_before_lifts_are_fitted_and_samples_are_looked_at(kernel, screen, monkeypatch):
    seen = []
    monkeypatch.setattr(least_squares, "from_rows", lambda *given: seen.append(screen.lines()) or from_rows(*given))
    X = np.random.default_rng(0).normal(size=(30, 2))
    KernelRidge(kernel, verbose=True).fit(X, X[:, 0])
    assert len(seen[0]) == 1
    assert seen[0][0].startswith("KernelRidge: ")
    assert seen[0][0].endswith(" left")


def test_a_product_moves_the_step_at_hand(clock, screen):
    with run_of(clock, verbose=True) as run:
        run.follow(plan(("solve", 100.0)))
        with run.stage("solve", 4):
            run.tell(1)
            clock.now += 37.5
            run.watch(Progress(50, 100, 1.0))
            assert screen.lines()[1] == "KernelRidge: solve 38 %, 62 s left"


def test_quiet_is_quiet_and_so_is_auto_without_a_terminal(clock, screen):
    for verbose in (False, "auto"):
        with run_of(clock, verbose=verbose) as run:
            run.follow(plan(("pass", 1000.0)))
            with run.stage("pass", 100):
                for step in range(100):
                    clock.now += 10.0
                    run.tell(step)
    assert screen.lines() == []


def test_a_plan_without_stages_is_shown_as_one(clock, screen):
    with run_of(clock, verbose=True) as run:
        run.follow(plan())
        with run.stage("factor", 3):
            run.tell(1)
    assert screen.lines() == ["KernelRidge: fit 0 %, 7 s left", "KernelRidge: done in 1 s"]


def test_a_stopped_fit_says_so_and_a_failed_one_says_nothing_more(clock, screen):
    def stopped(run, clock):
        run.follow(plan(("pass", 10.0)))
        with run.stoppable(), run.stage("pass"):
            clock.now += 4.0
            with pytest.raises(Stopped):
                run.tell(0.4)

    def failed(run, clock):
        run.follow(plan(("pass", 10.0)))
        raise ZeroDivisionError

    fitted(stopped, clock, verbose=True, time_limit=3.0)
    assert screen.lines()[-1] == "KernelRidge: stopped after 4 s"
    with pytest.raises(ZeroDivisionError):
        fitted(failed, clock, verbose=True)
    assert screen.lines()[-1] == "KernelRidge: pass 0 %, 10 s left"


def test_looks_are_rare_and_rarer_where_they_are_slow(clock, monkeypatch):
    looks = []

    class Slow:
        cost = 0.0

        def look(self, pace, elapsed, now):
            looks.append(now)
            clock.now += self.cost

        def close(self, ending, whole=False):
            pass

    display = Slow()
    monkeypatch.setattr(fit_run, "display_of", lambda *_: display)
    for cost, most in [(0.0, 101), (0.002, 27), (0.1, 4)]:
        looks.clear()
        display.cost, clock.now = cost, 0.0
        with run_of(clock, verbose=True) as run:
            run.follow(plan(("pass", 10.0)))
            with run.stage("pass", 10_000):
                for step in range(10_000):
                    clock.now += 0.001
                    run.tell(step)
        assert 3 <= len(looks) <= most


def test_stages_inside_others_and_repeated_ones_do_no_harm(clock, screen):
    with run_of(clock, verbose=True) as run:
        run.follow(plan(("pass", 10.0), ("solve", 10.0)))
        with run.stage("pass", 10):
            run.tell(5)
            with run.stage("solve", 10):
                run.tell(10)
            with run.stage("unknown", 0):
                run.tell(1)
            clock.now += 5.0
            run.tell(5)
        with run.stage("pass", 10):
            clock.now += 10.0
            run.tell(1)
    assert screen.lines()[1] == "KernelRidge: pass 25 %, 15 s left"
    assert screen.lines()[2].startswith("KernelRidge: solve 50 %")


def test_a_stage_that_fails_and_is_tried_otherwise(clock, screen):
    with run_of(clock, verbose=True) as run:
        run.follow(plan(("factor", 10.0), ("solve", 10.0)))
        with pytest.raises(np.linalg.LinAlgError), run.stage("factor"):
            raise np.linalg.LinAlgError
        clock.now += 10.0
        with run.stage("solve"):
            run.tell(0.0)
    assert screen.lines()[1] == "KernelRidge: solve 50 %, 10 s left"


# -- checkpoints ------------------------------------------------------------------------------------------------------


def steps(run, clock, count=20, until=None):
    """Half of a sum, and a number, at each step; five seconds each."""
    saved = run.saved("steps")
    first, total = (0, np.zeros(1)) if saved is None else (int(saved["step"]), saved["total"])
    with run.stage("pass", count):
        for step in range(first, count):
            if step == until:
                raise ZeroDivisionError
            clock.now += 5.0
            total = total / 2 + step
            run.offer("steps", lambda step=step, total=total: {"step": np.array(step + 1), "total": total})
            run.tell(step + 1)
    return first, total


def cut_off(run, clock):
    run.resume(lambda: PARTS)
    assert run.recall("seed", lambda: 11) == 11
    run.follow(plan(("pass", 100.0)))
    steps(run, clock, until=15)


def test_a_fit_goes_on_where_another_was_cut_off(clock, tmp_path, screen):
    path = tmp_path / "fit"
    with pytest.raises(ZeroDivisionError):
        fitted(cut_off, clock, checkpoint=path)
    assert path.exists()
    with run_of(clock, verbose=True, checkpoint=path) as run:
        run.resume(lambda: PARTS)
        assert run.recall("seed", lambda: 12) == 11
        run.follow(plan(("pass", 100.0)))
        first, total = steps(run, clock)
    assert first == 14  # written each 10 s, of two steps
    assert total == sum(step / 2 ** (19 - step) for step in range(20))
    assert not path.exists()
    assert "KernelRidge: pass 75 %, 25 s left" in screen.lines()  # by the plan: nothing was seen yet


def test_other_data_is_refused_and_the_file_stays(clock, tmp_path):
    path = tmp_path / "fit"
    with pytest.raises(ZeroDivisionError):
        fitted(cut_off, clock, checkpoint=path)
    with pytest.raises(InputError, match="written for other data"):
        fitted(lambda run, _: run.resume(lambda: {**PARTS, "data": "other"}), clock, checkpoint=path)
    assert path.exists()


def test_a_limited_fit_keeps_its_last_state(clock, tmp_path):
    """Time limits much shorter than the time between two writes, again and again, reach the end."""
    path, firsts = tmp_path / "fit", []
    for _ in range(10):
        try:
            with run_of(clock, checkpoint=path, time_limit=7.0) as run, run.stoppable():
                run.resume(lambda: PARTS)
                run.follow(plan(("pass", 100.0)))
                firsts.append(int((run.saved("steps") or {"step": 0})["step"]))
                steps(run, clock, 6)
        except Stopped:
            assert path.exists()
        else:
            break
    assert not path.exists()
    assert firsts == sorted(set(firsts))


def test_what_is_offered_after_the_stop_is_written(clock, tmp_path):
    path = tmp_path / "fit"
    with run_of(clock, checkpoint=path, on_interrupt="keep") as run:
        run.resume(lambda: PARTS)
        run.follow(plan(("pass", 100.0)))
        try:
            with run.stage("pass"), run.stoppable():
                run.offer("steps", lambda: {"x": np.zeros(2)})
                assert not path.exists()
                interrupt()
                run.tell(0.5)
        except Stopped:
            run.offer("steps", lambda: {"x": np.ones(2)})
    with run_of(clock, checkpoint=path) as run:
        run.resume(lambda: PARTS)
        assert run.saved("steps")["x"].tolist() == [1.0, 1.0]


def test_without_a_checkpoint_nothing_is_asked(clock):
    def never():
        raise AssertionError

    with run_of(clock) as run:
        run.resume(never)
        run.offer("steps", never)
        assert run.saved("steps") is None
        assert run.recall("seed", lambda: 3) == 3
