"""Control characters of a stranger's table: none reaches a terminal raw, and none breaks a report."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import run

import mercer
from mercer.cli.output import STEERING, Voice

EVIL = "b\x1b]0;owned\x07\x9b2J\u202e\x7f"
LABELS = ("do\u2066wn", "u\x1b[31mp")


@pytest.fixture
def table(tmp_path):
    lines = [f"{i % 7},{i * i % 11},{LABELS[i % 3 > 0]},{i}.5" for i in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([f"a,{EVIL},label\x1b[0m,y", *lines]) + "\n")
    return path


def test_nothing_raw_is_said(table, tmp_path):
    done = run("fit", table, "--target", "y", "--out", tmp_path / "m")
    assert done.exit_code == 0, done.stderr
    assert not STEERING.search(done.stderr + done.stdout)
    assert "b\\x1b]0;owned" in done.stderr
    assert not STEERING.search(run("inspect", tmp_path / "m").stdout)
    told = run("fit", table, "--target", "nothing")
    assert told.exit_code == 3
    assert not STEERING.search(told.stderr)


def test_json_has_the_same_texts_without_raw_characters(table, tmp_path):
    done = run("fit", table, "--target", "label\x1b[0m", "--json", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert not STEERING.search(done.stdout)
    assert json.loads(done.stdout)["target"]["name"] == "label\x1b[0m"


@pytest.mark.parametrize(("terminal", "written"), [(True, "\\x1b[2J\tc\n"), (False, "\x1b[2J\tc\n")])
def test_lines_for_programs_are_escaped_for_a_terminal_only(terminal, written, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    Voice("predict").raw("\x1b[2J\tc\n")
    assert capsys.readouterr().out == written


def test_a_report_is_not_broken(table, tmp_path):
    path = tmp_path / "r.html"
    done = run("fit", table, "--target", "label\x1b[0m", "--report", path)
    assert done.exit_code == 0, done.stderr
    page = path.read_text()
    assert not set(map(chr, [*range(9), *range(11, 32), *range(127, 160)])) & set(page)
    pictures = [part.partition("</svg>")[0] for part in page.split("<svg ")[1:]]
    assert pictures
    for picture in pictures:
        ElementTree.fromstring(f"<svg {picture}</svg>")  # noqa: S314  # our own


def test_numbers_in_a_file_of_options(table, tmp_path):
    for line in (f"random_state = {2**70}", f"random_state = {'9' * 5000}", "random_state = -1", f"x = {'[' * 3000}"):
        (tmp_path / "run.toml").write_text(f"[fit]\n{line}\n")
        done = run("fit", table, "--target", "y", "--config", tmp_path / "run.toml")
        assert done.exit_code == 2
        assert "--random-state" in done.stderr or "no TOML" in done.stderr


def test_dumped_options_are_escaped(table):
    done = run("fit", table, "--target", "\u202ename\x9b\x7f", "--dump-config")
    assert done.exit_code == 0
    assert not STEERING.search(done.stdout)
    assert tomllib.loads(done.stdout)["fit"]["target"] == "\u202ename\x9b\x7f"


def test_letters_that_cannot_be_written_are_told(table):
    assert run("fit", table, "--target", "\udcff", "--dump-config").exit_code == 2
    source = "import sys, mercer.cli.output as v; v.Voice('prove').raw('\u00e4')"
    words = [sys.executable, "-c", source]
    there = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(mercer.__file__).parent.parent)}
    done = subprocess.run(words, capture_output=True, text=True, env=there, check=False)
    assert "Failure: standard output: ascii has no '\\xe4'" in done.stderr
