"""`mercer show`: the lectures' exercises and examples from the command."""

import pytest
from command import run, told

from mercer import lectures

pytest.importorskip("matplotlib")


def test_it_lists_what_there_is():
    names = told("show", "--list")["names"]
    assert list(names) == [f"ex{number}" for number in lectures.exercises()] + list(lectures.examples())
    assert run("show").stdout == run("show", "--list").stdout
    assert all(name in run("show").stdout for name in names)


def test_it_shows_question_and_answer():
    exercise = lectures.exercise(20)
    assert run("show", "ex20").stdout == f"{exercise}\n\n{exercise.explanation}\n"
    assert run("show", "20", "--question").stdout == f"{exercise}\n"
    found = told("show", "20")
    assert (found["number"], found["answer"], found["stated"]) == (20, "C", "C")
    assert list(found["verdicts"]) == list("ABCD")
    assert "answer" not in told("show", "20", "--question")
    assert "verdicts" not in told("show", "20", "--question")


def test_it_marks():
    assert run("show", "ex20", "--mark", "B").stdout == f"{lectures.exercise(20).mark('B')}\n"
    right = lectures.exercise(20).mark("C")
    assert told("show", "20", "--mark", "C")["mark"] == {"right": True, "remarks": list(right.remarks)}
    assert "answer" not in told("show", "20", "--mark", "B")


def test_an_example():
    example = lectures.example("induced")
    assert run("show", "induced").stdout == f"{example}\n"
    assert list(told("show", "induced")["verdicts"]) == list(example.verdicts)


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>")]
)
def test_it_writes_a_picture(tmp_path, ending, start):
    path = tmp_path / f"ex19.{ending}"
    assert run("show", "ex19", "--out", path, "--style", "slide", "--quiet").exit_code == 0
    first = path.read_bytes()
    assert first.startswith(start)
    again = run("show", "ex19", "--out", path, "--quiet")
    assert again.exit_code == (2 if ending == "pdf" else 0)  # of a PDF one cannot see at its beginning who wrote it
    if ending != "pdf":
        assert path.read_bytes() != first  # a page is no slide
    if ending == "html":
        assert b"data:image/png;base64," in first
        assert b"<script" not in first


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ex99",), "There are 17, 18, 19, 20, 21"),
        (("apl",), "Did you mean 'aapl'?"),
        (("aapl", "--mark", "B"), "need an exercise; aapl is a worked example"),
        (("ex20", "--mark", "Z"), "letters from A to D"),
        (("ex20", "--style", "poster"), "--style needs one of page slide"),
        (("ex20", "--out", "ex20.xlsx"), "ends with .png, .svg, .pdf, .html"),
        (("ex20", "--out", "-"), "a picture needs a file"),
    ],
)
def test_what_is_wrong_is_said(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("show", *words)
    assert (done.exit_code, said in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_somebody_else_stays(tmp_path):
    path = tmp_path / "mine.svg"
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    assert run("show", "ex20", "--out", path).exit_code == 2
    assert path.read_text().startswith("<svg")
    assert run("show", "ex20", "--out", path, "--force").exit_code == 0
