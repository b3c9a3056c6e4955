"""Tables with figures: made of a record, and standing on their pages."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import figures  # noqa: E402
import misses  # noqa: E402
import speed_ups  # noqa: E402
from lines import Line, Run, Spread  # noqa: E402

sys.path.remove(str(BENCHMARKS))  # a script there has the name of a folder of tests

RECORD = BENCHMARKS / "results" / "suite.json"
SMALL = Line(
    "part", "fits", "small, 10 rows", "them", Spread.of([0.5, 0.4]), Spread.of([2.0]), 5.0, memory=(12.3, 4321.0)
)
LARGE = Line("part", "fits", "large, 10 rows", "them", ratio=50.0, accuracy=("error", 1.0, 4.0))
FAILED = Line("part", "fits", "large, 10 rows", "others", failed="no | memory", goal=3.0, met=False)
RUN = Run((SMALL, LARGE, FAILED))
PAGE = "It is\n\n<!-- figures: speed -->\nslow\n<!-- end of figures -->\n\nas one sees.\n"


@pytest.fixture
def tables(monkeypatch):
    known = {"speed": (lambda run: f"| {speed_ups.measure(run.lines[0]):g} times |", ("part",))}
    monkeypatch.setattr(figures, "TABLES", known)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "README.md").write_text("no figures here\n")
    (tmp_path / "docs" / "sub" / "page.md").write_text(PAGE)
    return tmp_path


def test_every_page_says_what_the_last_whole_run_found():
    if not RECORD.exists():
        pytest.skip("there is no record of a whole run")
    record = json.loads(RECORD.read_text())
    assert not record["quick"]
    assert list(figures.differing(figures.recorded(RECORD))) == []
    assert {"README.md", "speed.md", "others_ahead.md"} <= {page.name for page in figures.pages()}


@pytest.mark.usefixtures("tables")
def test_a_page_with_other_figures_is_found_and_filled(root):
    page = root / "docs" / "sub" / "page.md"
    assert list(figures.differing(RUN, root)) == [page]
    text = figures.filled(PAGE, RUN)
    assert text == PAGE.replace("slow", "| 5 times |")
    page.write_text(text)
    assert list(figures.differing(RUN, root)) == []


@pytest.mark.usefixtures("tables")
def test_a_table_stays_where_the_record_lacks_a_part():
    assert figures.filled(PAGE, Run((Line("another", "fits", "small", ratio=2.0),))) == PAGE


def test_lines_of_a_part_or_of_one_of_its_tables_are_a_table_without_empty_columns():
    place = PAGE.replace("figures: speed", "figures: rows of part")
    table = [line for line in figures.filled(place, RUN).splitlines() if line.startswith("|")]
    assert table[0].startswith("| work | against | ours | theirs | measure | how good, ours / theirs | MB")
    assert len(table) == 5
    only = Run((LARGE, Line("part", "others", "small, 20 rows", ratio=2.0)))
    found = figures.filled(place.replace("of part", "of part others"), only).splitlines()
    assert found[3:6] == ["| work | measure |", "| --- | --- |", "| small, 20 rows | 2 times |"]
    with pytest.raises(LookupError, match="'nobody'"):
        figures.filled(place.replace("of part", "of part nobody"), RUN)
    absent = place.replace("of part", "of another")
    assert figures.filled(absent, RUN) == absent


@pytest.mark.usefixtures("tables")
def test_a_place_of_another_name_is_a_mistake():
    with pytest.raises(LookupError, match="'sped'"):
        figures.filled(PAGE.replace("speed", "sped"), RUN)


def test_goals_that_were_missed_are_a_table_with_reasons(monkeypatch):
    monkeypatch.setitem(misses.WHY, ("part", "large"), "it is large")
    assert misses.missed(RUN).splitlines()[2:] == [
        "| [part](benchmarks.md#part) | large, 10 rows | others | failed: no / memory | at least 3 | it is large |"
    ]
    worse = Line(
        "part", "fits", "x", "them", ratio=4.0, accuracy=("error", 2.0, 1.0), goal=3.0, met=False, note="be true"
    )
    assert misses.missed(Run((worse,))).splitlines()[2:] == [
        "| [part](benchmarks.md#part) | x | them | 4 times faster; error 2 / 1; be true | at least 3 | "
        f"{misses.UNKNOWN} |"
    ]
    assert misses.why(SMALL) == misses.UNKNOWN
    assert misses.missed(Run((SMALL,))) == "Every goal was reached."


def test_lines_are_found_by_words_and_must_be_the_only_ones():
    assert RUN.one("part", "small") is SMALL
    assert RUN.one("part", "large", peer="them") is LARGE
    assert RUN.all("part", "fits: ", without="small") == [LARGE, FAILED]
    with pytest.raises(LookupError, match="2 lines"):
        RUN.one("part", "large")
    with pytest.raises(LookupError, match="no line"):
        RUN.one("part", "huge")


def test_figures_are_short_and_missing_ones_are_no_figures():
    assert speed_ups.span([5.04, 50.2, 7.0]) == "5 to 50"
    assert speed_ups.span([0.337, 0.342]) == "0.34"
    with pytest.raises(LookupError):
        speed_ups.measure(FAILED)
