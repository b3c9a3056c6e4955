"""From records of parts that were made up to lines of one form, and from lines to the page."""

import json
import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import page  # noqa: E402
from lines import SCHEMA, Line, Spread  # noqa: E402
from readers import READERS  # noqa: E402
from scaling import Row, failure  # noqa: E402
from seconds import Seconds  # noqa: E402

sys.path.remove(str(BENCHMARKS))  # a script there has the name of a folder of tests


@pytest.fixture(autouse=True, scope="module")
def _scripts():
    """What scripts import when they are used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield


OURS, THEIRS = Seconds.best_of(1.0, 1.2, 1.1), Seconds.best_of(5.0, 6.0, 5.5)


def read(part, record):
    return list(READERS[part](json.loads(json.dumps(record))))


# -- readers ----------------------------------------------------------------------------------------------------------


def shared(*rows):
    return {"exact": {"rows": [row.record() for row in rows]}}


def test_a_comparison_keeps_its_turns_its_memory_and_its_accuracy():
    row = Row(
        "fit", "LIBSVM", OURS, THEIRS, 5.0, "times faster", 4.0, True, True, "fine", (10.0, 90.0), ("R^2", 0.9, 0.8)
    )
    (line,) = read("margins", shared(row))
    assert line.key == ("margins", "exact", "fit", "LIBSVM")
    assert line.ours == Spread(1.0, (1.05, 1.1, 1.15), 3)
    assert line.spread == pytest.approx((5.0, 5.0, 5.0))  # turn by turn: 5 / 1, 6 / 1.2, 5.5 / 1.1
    assert (line.memory, line.accuracy, line.met) == ((10.0, 90.0), ("R^2", 0.9, 0.8), True)


def test_results_that_are_wrong_do_not_meet_a_goal():
    row = Row("fit", "LIBSVM", OURS, THEIRS, 5.0, "times faster", 4.0, True, False, "labels differ")
    assert [line.met for line in read("margins", shared(row))] == [False]


def test_a_failure_keeps_its_reason():
    (line,) = read("structured", shared(failure("matrix", "GraKeL", ["GraKeL: cannot be loaded: no module"])))
    assert "cannot be loaded" in line.failed
    assert (line.ratio, line.met, line.peer) == (None, None, "GraKeL")
    (line,) = read("structured", shared(failure("matrix", "GraKeL", ["ours: out of memory"])))
    assert line.met is False


def test_memory_as_the_measure_is_no_ratio():
    row = Row("fit: peak memory", "", OURS, None, 120.0, "MB", 100.0, False, True, "")
    (line,) = read("scale", shared(row))
    assert (line.memory[0], line.better, line.met, line.spread) == (120.0, "less", False, None)


def gram_row(**more):
    row = {"work": "K @ v", "dtype": "float32", "ours": 1.0, "against": "KeOps", "theirs": 8.0, "measure": 8.0}
    row |= {"unit": "times faster", "goal": 4.0, "error": 1e-7, "built": 1.1, "memory": [3.0, 9.0], "failed": ""}
    return row | {"verdict": "yes", "turns": {"ours": [1.0, 1.0], "theirs": [8.0, 9.0]}} | more


def test_a_peer_that_is_absent_is_a_line_with_the_reason():
    gone = {"theirs": None, "measure": 0.0, "failed": "not installed", "verdict": "FAILED", "turns": None}
    there, absent = read("gram", {"sections": {"products": [gram_row(), gram_row(**gone)]}})
    assert (there.ratio, there.met, there.failed) == (8.0, True, "")
    assert (absent.ratio, absent.met, absent.failed) == (None, False, "not installed")


def test_a_cost_has_the_spread_of_ours_over_theirs():
    (line,) = read("gram", {"sections": {"columns": [gram_row(unit="times its cost", measure=0.125)]}})
    assert (line.better, line.ratio) == ("less", 0.125)
    assert line.spread == pytest.approx((1 / 8 - 1 / 288, 17 / 144, 1 / 9 + 1 / 288)[::-1])  # of 1 / 8 and 1 / 9


def test_part_of_their_time_has_the_spread_of_the_inverse_ratio():
    row = {"work": "fit", "against": "scikit-learn", "ours": 2.0, "theirs": 4.0, "unit": "s", "ratio": 0.5, "goal": 0.6}
    row |= {"more_is_better": False, "agree": "", "turns": {"ours": [2.0, 2.0], "theirs": [4.0, 8.0]}}
    (line,) = read("ridge", {"rows": [row]})
    assert (line.met, line.better) == (True, "less")
    assert line.spread == pytest.approx((0.3125, 0.375, 0.4375))  # of 2 / 4 and 2 / 8


def test_growth_tells_how_far_each_came_and_why_it_ended():
    points = [{"rows": n, "seconds": 1e-9 * n**2, "megabytes": 1.0} for n in (10_000, 20_000, 40_000, 80_000)]
    curves = [
        {"learner": "SVC", "who": "ours", "points": points, "end": "no more rows were asked for"},
        {"learner": "SVC", "who": "thundersvm", "points": [], "end": "1,000 rows: cannot be loaded"},
    ]
    ours, theirs = read("growth", {"curves": curves})
    assert (ours.ratio, ours.failed) == (80_000.0, "")
    assert "n^2.00; no more rows were asked for" in ours.unit
    assert (theirs.ratio, theirs.failed) == (0.0, "1,000 rows: cannot be loaded")


def test_levels_that_are_too_high_miss_their_goal_and_powers_have_none():
    def row(share, different):
        return {"test": "mmd", "data": "normal", "different": different, "repeats": 100, "shares": {"full": share},
                "errors": {"full": 0.02}}  # fmt: skip

    rows = [row(0.05, False), row(0.2, False), row(0.9, True)]
    assert [line.met for line in read("levels", {"levels": {"level": 0.05, "rows": rows}})] == [True, False, None]


def test_every_plan_is_a_line_with_what_came_of_it():
    shares = ["times within a factor of two", "the same of those that take 0.1 s or more", "memory within 15 %"]
    shares += ["the same with what the system keeps in hand"]
    summary = {"cases": 2, "failed": 0, "limits kept": True} | dict.fromkeys(shares, 0.5)
    case = {"rows": 9_000, "columns": 3, "outputs": 2, "kernel": "linear", "lift": "nystrom", "features": 40}
    case |= {"dtype": "float32", "alpha": 0.01, "limit": "50MB"}
    found = {
        "way": "direct",
        "rows": 4_500,
        "seconds": 3.0,
        "planned seconds": 2.0,
        "megabytes": 12.0,
        "held MB": 8.0,
        "planned MB": 9.0,
    }
    plain = case | {"lift": "", "outputs": 1, "alpha": "auto", "limit": None, "found": {"refused": "too large"}}
    *_, kept, done, refused = read("plans", {"summary": summary, "rows": [case | {"found": found}, plain]})
    assert kept.met
    assert done.work == "direct: 4,500 x 3, 2 outputs, linear by nystrom 40, float32, alpha 0.01, limit 50MB"
    assert (done.ratio, done.unit, done.memory) == (1.5, "of the plan", (8.0, 9.0))
    assert (refused.work, refused.failed) == ("9,000 x 3, 1 output, linear, float32, alpha auto", "too large")


def test_every_part_of_the_suite_has_a_script_and_a_reader():
    import suite

    names = [part.name for part in suite.PARTS]
    assert set(names) == set(READERS)
    assert len(names) == len(set(names))
    assert all((BENCHMARKS / f"{name}.py").exists() for name in names)


# -- the page ---------------------------------------------------------------------------------------------------------

TIMED = {"ours": Spread.of([1.0, 1.2]), "theirs": Spread.of([5.0, 5.5]), "ratio": 5.0, "spread": (4.5, 4.7, 5.0)}
LINES = [
    Line("margins", "exact", "fit | one", "LIBSVM", **TIMED, accuracy=("accuracy", 0.91234, 0.9), memory=(11.0, 99.0),
         goal=4.0, met=True),
    Line("margins", "exact", "fit, two", "scikit-learn", **TIMED, goal=8.0, met=False),
    Line("margins", "exact", "fit, three", "thundersvm", failed="crashed with signal 11"),
]  # fmt: skip


@pytest.fixture
def written(tmp_path):
    points = [{"rows": 1_000, "seconds": 0.1, "megabytes": 5.0}, {"rows": 2_000, "seconds": 0.4, "megabytes": 20.0}]
    limits = {"seconds": 20.0, "gigabytes": 16.0}
    curves = [{"learner": "SVC, all", "who": who, "points": points, "end": "x"} for who in ("ours", "LIBSVM")]
    done = {"seconds": 90.0, "trouble": ""}
    record = {
        "schema": SCHEMA, "date": "2026-01-01", "quick": False, "machine": {"processor": "of two cores"},
        "peers": [{"name": "grakel", "version": "not installed", "trouble": "error: no compiler | at all"}],
        "parts": {"margins": done, "growth": done, "tool": {"seconds": 3.0, "trouble": "exit code 1: no"}},
        "rows": [line.record() for line in LINES], "growth": {"limits": limits, "curves": curves},
    }  # fmt: skip
    page.write(json.loads(json.dumps(record)), "suite.json", tmp_path)
    return tmp_path


def test_the_page_names_the_machine_the_peers_and_every_failure(written):
    text = (written / "benchmarks.md").read_text(encoding="utf-8")
    for told in ("of two cores", "no compiler / at all", "FAILED: crashed with signal 11", "exit code 1: no"):
        assert told in text


def test_the_page_shows_best_quartiles_memory_and_accuracy(written):
    text = (written / "benchmarks.md").read_text(encoding="utf-8")
    row = "| fit / one | LIBSVM | 1 s (1.05 to 1.15) | 5 s (5.12 to 5.38) | 5 (4.5 to 5) times |"
    assert f"{row} accuracy 0.9123 / 0.9 | 11 / 99 | ≥ 4 | yes |" in text


def test_goals_that_are_missed_are_counted_and_listed(written):
    text = (written / "benchmarks.md").read_text(encoding="utf-8")
    assert "1 of 2 goals are not met:" in text
    assert text.count("fit, two") == 2  # in its part, and in the list


def test_every_table_is_one_and_every_picture_exists(written):
    text = (written / "benchmarks.md").read_text(encoding="utf-8")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1
    named = set(re.findall(r"\(pictures/(.+?)\)", text))
    assert named == {path.name for path in (written / "pictures").iterdir()}
    assert named == {"bench_margins.png", "bench_all.png", "bench_growth_svc_all.png"}


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (1234.5, "1,234"), (12.345, "12.3"), (0.00123, "0.00123"), (2.5e-7, "2.5e-07")]
)
def test_numbers_have_three_digits(value, text):
    assert page.short(value) == text


def test_a_ratio_with_one_who_was_stopped_is_a_bound():
    line = Line("part", "fits", "work", "them", ratio=4.0, note="them was stopped, not done after 30 s")
    assert page.cells(line)[4] == "at least 4 times"
