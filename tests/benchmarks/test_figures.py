"""Sentences with figures: made of a record, and standing on their pages."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import figures  # noqa: E402
from lines import Line, Spread  # noqa: E402

sys.path.remove(str(BENCHMARKS))  # a script there has the name of a folder of tests

RECORD = BENCHMARKS / "results" / "suite.json"
LINES = (
    Line(
        "part", "fits", "small, 10 rows", "them", Spread.of([0.5, 0.4]), Spread.of([2.0]), 5.0, memory=(12.3, 4_321.0)
    ),
    Line("part", "fits", "large, 10 rows", "them", ratio=50.0, accuracy=("error", 1.0, 4.0)),
    Line("part", "fits", "large, 10 rows", "others", failed="no memory"),
)


@pytest.mark.skipif(not RECORD.exists(), reason="there is no record of a whole run")
def test_every_page_says_what_the_last_whole_run_found():
    record = json.loads(RECORD.read_text())
    assert not record["quick"]
    assert list(figures.missing(figures.Run.read(record))) == []


def test_a_sentence_that_a_page_does_not_have_is_told(tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text("It takes\n1/5 of their time.")
    run = figures.Run(LINES)
    monkeypatch.setattr(figures, "PAGES", {"page.md": lambda run: iter(["takes 1/5 of their", "takes 1/6 of their"])})
    assert list(figures.missing(run, tmp_path)) == [("page.md", "takes 1/6 of their")]


def test_lines_are_found_by_words_and_must_be_the_only_ones():
    run = figures.Run(LINES)
    assert run.one("part", "small") is LINES[0]
    assert run.one("part", "large", peer="them") is LINES[1]
    assert run.all("part", "fits: ", without="small") == list(LINES[1:])
    with pytest.raises(LookupError, match="2 lines"):
        run.one("part", "large")
    with pytest.raises(LookupError, match="no line"):
        run.one("part", "huge")


def test_figures_are_short_and_missing_ones_are_no_figures():
    small, large, failed = LINES
    assert (figures.seconds(small), figures.seconds(small, True)) == ("0.4 s", "2 s")
    assert (figures.memory(small), figures.memory(small, True)) == ("12 MB", "4.3 GB")
    assert figures.span([5.04, 50.2, 7.0], "1/") == "1/5 to 1/50"
    assert figures.span([0.337, 0.342]) == "0.34"
    assert list(figures.errors([large])) == [0.25]
    for call in (lambda: figures.measure(failed), lambda: figures.seconds(large), lambda: figures.memory(large)):
        with pytest.raises(LookupError):
            call()
    with pytest.raises(LookupError):
        list(figures.errors([small]))
