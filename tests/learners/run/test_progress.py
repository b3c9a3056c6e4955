"""The time left, against plain arithmetic; what is shown, and how often."""

from __future__ import annotations

import io
import sys
from itertools import pairwise

import pytest

from mercer.learners.run import progress
from mercer.learners.run.progress import Lines, Pace, display_of, duration
from mercer.planner.plan import Stage


def test_before_anything_is_seen_the_plan_speaks():
    pace = Pace([Stage("pass", 30.0), Stage("solve", 10.0)], now=100.0)
    assert pace.left(100.0) == pytest.approx(40.0)
    assert pace.left(102.0) == pytest.approx(38.0)
    assert pace.fraction() == 0.0
    assert pace.name == "pass"


def test_a_pace_as_predicted_is_kept_all_the_way():
    pace = Pace([Stage("pass", 30.0), Stage("solve", 10.0)], now=0.0)
    pace.begin("pass", 0.0)
    for second in range(1, 30):
        pace.tell(second / 30, float(second))
        assert pace.left(float(second)) == pytest.approx(40.0 - second)
        assert pace.fraction() == pytest.approx(second / 40)
    pace.end(30.0)
    assert pace.left(30.0) == pytest.approx(10.0)
    assert pace.name == "solve"
    pace.begin("solve", 30.0)
    pace.end(40.0)
    assert (pace.fraction(), pace.left(40.0)) == (1.0, 0.0)


@pytest.mark.parametrize("factor", [0.2, 1.0, 5.0, 30.0])
def test_a_wrong_prediction_is_corrected_by_what_is_seen(factor):
    pace, true = Pace([Stage("pass", 30.0), Stage("solve", 10.0)], now=0.0), 40.0 * factor
    pace.begin("pass", 0.0)
    errors = []
    for percent in range(1, 101):
        now = percent / 100 * 30.0 * factor
        pace.tell(percent / 100, now)
        errors.append(abs(pace.left(now) - (true - now)) / true)
    assert errors[49] < 0.05
    assert errors[99] < 0.01


def test_what_an_earlier_run_did_says_nothing_about_the_pace():
    pace = Pace([Stage("pass", 100.0)], now=0.0)
    pace.begin("pass", 0.0)
    pace.resume()
    pace.tell(0.6, 0.5)  # restored within half a second: no pace of 60 % in 0.5 s
    assert pace.left(0.5) == pytest.approx(40.0)
    assert pace.fraction() == pytest.approx(0.6)
    pace.tell(0.8, 20.5)
    assert pace.left(20.5) == pytest.approx(20.0)


def test_a_stage_that_was_restored_whole_is_not_seen():
    pace = Pace([Stage("pass", 100.0), Stage("solve", 50.0)], now=0.0)
    pace.begin("pass", 0.0)
    pace.resume()
    pace.end(0.1)
    assert pace.left(0.1) == pytest.approx(50.0)


def test_a_stage_that_failed_says_nothing_about_others():
    pace = Pace([Stage("factor", 100.0), Stage("solve", 50.0)], now=0.0)
    pace.begin("factor", 0.0)
    pace.end(0.1, whole=False)
    assert pace.left(0.1) == pytest.approx(50.0)
    assert pace.fraction() == pytest.approx(2 / 3)


def test_stages_that_are_passed_over_are_done_and_unknown_ones_do_not_count():
    pace = Pace([Stage("search", 10.0), Stage("pass", 10.0), Stage("solve", 20.0)], now=0.0)
    assert not pace.begin("other", 0.0)
    assert pace.begin("pass", 0.0)
    assert pace.fraction() == pytest.approx(0.25)
    assert not pace.begin("solve", 0.0)  # inside another one
    pace.tell(0.5, 5.0)
    pace.tell(0.3, 6.0)  # never falls
    assert pace.fraction() == pytest.approx(15 / 40)
    pace.end(10.0)
    assert not pace.begin("search", 10.0)  # over
    assert pace.begin("solve", 10.0)


def test_a_silent_stage_that_is_late_is_never_said_to_be_over():
    pace = Pace([Stage("factor", 10.0)], now=0.0)
    pace.begin("factor", 0.0)
    assert pace.left(9.0) == pytest.approx(1.0)
    assert pace.left(50.0) == pytest.approx(5.0)


def test_durations_in_words():
    assert [duration(s) for s in (0.0, 59.6, 99.4, 100.0, 3599.0, 7261.0)] == [
        "1 s", "60 s", "99 s", "1 min 40 s", "59 min 59 s", "2 h 1 min"
    ]  # fmt: skip


def test_lines_come_at_once_and_then_ever_less_often():
    stream = io.StringIO()
    pace, lines = Pace([Stage("pass", 1000.0)], now=0.0), Lines("KernelRidge", 0.0, stream)
    pace.begin("pass", 0.0)
    times = []
    for tenth in range(10_000):
        now, before = tenth / 10, stream.tell()
        pace.tell(now / 1000, now)
        lines.look(pace, now, now)
        if stream.tell() > before:
            times.append(now)
    lines.close("done in 1000 s", whole=True)
    assert times[:6] == [0.0, 5.0, 15.0, 35.0, 75.0, 135.0]
    assert all(later - earlier <= 60.1 for earlier, later in pairwise(times))
    shown = stream.getvalue().splitlines()
    assert shown[0] == "KernelRidge: pass 0 %, 16 min 40 s left"
    assert shown[5] == "KernelRidge: pass 14 %, 14 min 25 s left"
    assert shown[-1] == "KernelRidge: done in 1000 s"


def test_auto_shows_nothing_of_a_short_fit_and_begins_when_it_turns_out_long():
    stream = io.StringIO()
    pace, lines = Pace([Stage("pass", 1.0)], now=0.0), Lines("KernelRidge", progress.MIN_SHOWN_SECONDS, stream)
    pace.begin("pass", 0.0)
    lines.look(pace, 0.0, 0.0)
    assert stream.getvalue() == ""
    pace.tell(0.05, 1.0)
    lines.look(pace, 1.0, 1.0)
    assert stream.getvalue().startswith("KernelRidge: pass 5 %")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_who_shows_it(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert display_of("KernelRidge", "auto", False) is None
    assert display_of("KernelRidge", False, False) is None
    assert isinstance(display_of("KernelRidge", True, False), Lines)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert display_of("KernelRidge", False, False) is None
    assert display_of("KernelRidge", "auto", True) is None
    assert display_of("KernelRidge", "auto", False).worth == progress.MIN_SHOWN_SECONDS
    assert display_of("KernelRidge", True, True).worth == 0.0
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    assert isinstance(display_of("KernelRidge", True, False), Lines)
    monkeypatch.setattr(sys, "stderr", None)
    assert display_of("KernelRidge", True, False) is None


def test_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    bar, pace = display_of("KernelRidge", "auto", False), Pace([Stage("pass", 40.0)], now=0.0)
    bar.close(None)
    assert terminal.getvalue() == ""  # never shown
    pace.begin("pass", 0.0)
    pace.tell(0.5, 20.0)
    bar.look(pace, 20.0, 20.0)
    assert "KernelRidge: pass" in terminal.getvalue()
    assert "20 s left" in terminal.getvalue()
    assert "50%" in terminal.getvalue()
    bar.close("done in 40 s", whole=True)
    assert "100%" in terminal.getvalue()
    assert "done in 40 s" in terminal.getvalue()
    assert sys.stderr is terminal
