"""Two runs of the benchmarks that were made up: what is called slower, and what is called noise."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from lines import SCHEMA, Line, Spread, package_of, quartiles, ratios  # noqa: E402
from regress import Run, compared, drift  # noqa: E402
from seconds import Seconds, every_turn, turns  # noqa: E402

sys.path.remove(str(BENCHMARKS))  # a script there has the name of a folder of tests


@pytest.fixture(autouse=True, scope="module")
def _scripts():
    """What scripts import when they are used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield


MACHINE = {"processor": "a processor of 2 cores"}
PEERS = [{"name": "scikit-learn", "version": "1.9"}, {"name": "pykeops", "version": "2.3"}]


def timed(ours, theirs=(), peer="scikit-learn", work="fit", **more):
    """A line from the times of both sides."""
    both = {"ours": list(ours), "theirs": list(theirs)}
    ratio = min(theirs) / min(ours) if theirs else min(ours)
    unit = "times faster" if theirs else "s"
    spread = ratios(both) if theirs else None
    known = {"ours": Spread.of(ours), "theirs": Spread.of(theirs), "ratio": ratio, "unit": unit, "spread": spread}
    return Line("part", "table", work, peer if theirs else "", **known | more)


def written(path, *lines, machine=MACHINE, peers=PEERS, schema=SCHEMA):
    record = {"schema": schema, "machine": machine, "peers": peers, "rows": [line.record() for line in lines]}
    path.write_text(json.dumps(record))
    return path


def kinds(tmp_path, old, new, **more):
    """What is said of two runs of the same works."""
    before, after = written(tmp_path / "old.json", *old), written(tmp_path / "new.json", *new, **more)
    return [change.kind for change in compared(Run.read(before), Run.read(after))]


def test_the_same_run_twice_shows_nothing(tmp_path):
    lines = [timed([1.0, 1.1, 1.2], [5.0, 5.1, 5.2]), timed([0.3], work="other")]
    assert kinds(tmp_path, lines, lines) == []


def test_a_ratio_that_fell_beyond_both_spreads_is_slower(tmp_path):
    old, new = timed([1.0, 1.02, 1.04], [6.0, 6.1, 6.2]), timed([1.5, 1.52, 1.54], [6.0, 6.1, 6.2])
    assert kinds(tmp_path, [old], [new]) == ["slower"]
    assert kinds(tmp_path, [new], [old]) == ["faster"]


def test_a_ratio_whose_spreads_overlap_is_noise(tmp_path):
    old, new = timed([1.0, 1.3, 1.6], [6.0, 6.0, 6.0]), timed([1.2, 1.5, 1.8], [6.0, 6.0, 6.0])
    assert kinds(tmp_path, [old], [new]) == []


def test_a_slow_day_slows_both_sides_and_is_no_slowdown(tmp_path):
    old, new = timed([1.0, 1.01, 1.02], [6.0, 6.1, 6.2]), timed([2.0, 2.02, 2.04], [12.0, 12.2, 12.4])
    assert kinds(tmp_path, [old], [new]) == []


def test_work_without_a_peer_is_measured_by_the_day_of_the_others(tmp_path):
    old = [timed([1.0, 1.01, 1.02], [6.0, 6.1, 6.2]), timed([3.0, 3.1, 3.2], work="alone")]
    slow_day = [timed([2.0, 2.02, 2.04], [12.0, 12.2, 12.4]), timed([6.0, 6.2, 6.4], work="alone")]
    slower = [timed([1.0, 1.01, 1.02], [6.0, 6.1, 6.2]), timed([6.0, 6.2, 6.4], work="alone")]
    assert kinds(tmp_path, old, slow_day) == []
    assert kinds(tmp_path, old, slower) == ["slower"]


def test_a_single_turn_has_to_be_slower_by_a_third(tmp_path):
    old = [timed([1.0], work="alone")]
    assert kinds(tmp_path, old, [timed([1.25], work="alone")]) == []
    assert kinds(tmp_path, old, [timed([1.4], work="alone")]) == ["slower"]


def test_another_processor_leaves_ratios_alone_comparable(tmp_path):
    old = [timed([1.0, 1.01, 1.02], [6.0, 6.1, 6.2]), timed([1.0], work="alone")]
    new = [timed([2.0, 2.01, 2.02], [6.0, 6.1, 6.2]), timed([9.0], work="alone")]
    other = {"processor": "another one"}
    assert kinds(tmp_path, old, new, machine=other) == ["slower"]  # the ratio; seconds tell nothing
    assert kinds(tmp_path, old, new) == ["slower", "slower"]


def test_a_peer_that_became_faster_does_not_make_us_slower(tmp_path):
    old, new = timed([1.0, 1.01, 1.02], [6.0, 6.1, 6.2]), timed([1.0, 1.01, 1.02], [2.0, 2.1, 2.2])
    newer = [{"name": "scikit-learn", "version": "2.0"}]
    assert kinds(tmp_path, [old], [new]) == ["slower"]  # of the same version: then it is the machine, or us
    assert kinds(tmp_path, [old], [new], peers=newer) == []


def test_times_of_the_clock_are_not_compared(tmp_path):
    assert kinds(tmp_path, [timed([1e-4], work="alone")], [timed([1e-3], work="alone")]) == []


def test_more_memory_a_lower_score_and_a_failure_are_named(tmp_path):
    good = {"memory": (100.0, 900.0), "accuracy": ("R^2", 0.95, 0.94)}
    old = timed([1.0, 1.0], [6.0, 6.0], **good)
    assert kinds(tmp_path, [old], [timed([1.0, 1.0], [6.0, 6.0], **good | {"memory": (150.0, 900.0)})]) == ["heavier"]
    assert kinds(tmp_path, [old], [timed([1.0, 1.0], [6.0, 6.0], **good | {"memory": (130.0, 900.0)})]) == []
    less = timed([1.0, 1.0], [6.0, 6.0], **good | {"accuracy": ("R^2", 0.93, 0.94)})
    assert kinds(tmp_path, [old], [less]) == ["worse"]
    gone = Line("part", "table", "fit", "scikit-learn", failed="out of memory")
    assert kinds(tmp_path, [old], [gone]) == ["fails now"]
    assert kinds(tmp_path, [gone], [old]) == []


def test_drift_is_the_median_over_unchanged_peers(tmp_path):
    old = [timed([1.0], [float(i + 1)], work=str(i)) for i in range(5)]
    new = [timed([1.0], [(i + 1) * factor], work=str(i)) for i, factor in enumerate((1.0, 1.1, 1.2, 1.3, 9.0))]
    before, after = Run.read(written(tmp_path / "a", *old)), Run.read(written(tmp_path / "b", *new))
    assert drift(before, after) == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("new", "code", "said"),
    [
        (timed([1.0, 1.01], [6.0, 6.1]), 0, "0 got worse"),
        (timed([2.0, 2.01], [6.0, 6.1]), 1, "slower: part, fit against scikit-learn"),
        (timed([1.0, 1.01], [6.0, 6.1], work="another"), 2, "no result in common"),
    ],
    ids=["same", "slower", "nothing in common"],
)
def test_the_exit_code_says_whether_something_got_worse(tmp_path, new, code, said):
    old = written(tmp_path / "old.json", timed([1.0, 1.01], [6.0, 6.1]))
    done = _regress(old, written(tmp_path / "new.json", new))
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


def test_another_schema_is_refused(tmp_path):
    old = written(tmp_path / "old.json", timed([1.0]), schema=0)
    done = _regress(old, written(tmp_path / "new.json", timed([1.0])))
    assert done.returncode == 2
    assert "schema" in done.stdout


def _regress(old, new):
    command = [sys.executable, str(BENCHMARKS / "regress.py"), str(old), str(new)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# -- what it stands on -----------------------------------------------------------------------------------------------


def test_a_line_comes_back_from_json():
    line = timed([1.0, 2.0], [3.0, 4.0], accuracy=("R^2", 0.9, None), memory=(1.0, None), goal=2.0, met=True)
    assert Line.read(json.loads(json.dumps(line.record()))) == line


def test_ratios_go_turn_by_turn_where_both_had_as_many():
    assert ratios({"ours": [1.0, 2.0], "theirs": [4.0, 8.0]}) == (4.0, 4.0, 4.0)  # every pair would give 2 to 8
    assert ratios({"ours": [1.0, 2.0], "theirs": [4.0, 8.0]}, inverse=True) == (0.25, 0.25, 0.25)
    low, middle, high = ratios({"ours": [1.0, 2.0, 4.0], "theirs": [4.0, 8.0]})
    assert (low, middle, high) == quartiles([4.0, 2.0, 1.0, 8.0, 4.0, 2.0])
    assert ratios({"ours": [1.0], "theirs": [4.0]}) is None


def test_quartiles_are_numpys():
    values = np.random.default_rng(0).exponential(size=11)
    assert quartiles(values) == pytest.approx(tuple(np.percentile(values, [25, 50, 75])))


def test_seconds_are_a_number_that_remembers():
    best = Seconds.best_of(3.0, Seconds.best_of(2.0, 5.0))
    assert best == 2.0
    assert every_turn(best) == [3.0, 2.0, 5.0]
    assert turns(best, None) == {"ours": [3.0, 2.0, 5.0], "theirs": []}
    assert turns(4.0, best)["ours"] == [4.0]
    assert json.loads(json.dumps({"s": best})) == {"s": 2.0}


@pytest.mark.parametrize(
    ("peer", "package"),
    [
        ("scikit-learn-intelex", "scikit-learn-intelex"),
        ("scikit-learn", "scikit-learn"),
        ("SciPy cg on KeOps", "pykeops"),
        ("KernelPCA, arpack", "scikit-learn"),
        ("LIBSVM", "libsvm-official"),
        ("GraKeL, 2 jobs", "grakel"),
    ],
)
def test_the_package_of_a_peer(peer, package):
    assert package_of(peer) == package
