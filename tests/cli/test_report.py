"""The report: one file, whole, safe, with every section for every kind of table."""

import os
from pathlib import Path

import numpy as np
import pytest
from command import run, told, write_houses, write_rings
from report_pages import EVIL, clean_classes, clean_regression, page, write

from mercer.cli.report.numbers import number

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")
DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
SECTIONS = ["summary", "data", "choice", "quality", "matters", "doubts", "reproduce"]


def reported(table, target, tmp_path, *words):
    path = tmp_path / "report.html"
    found = told("fit", table, "--target", target, "--report", path, *words)
    assert found["report"] == {"path": str(path), "bytes": path.stat().st_size}
    read = page(path)
    assert list(read.sections) == SECTIONS
    return found, read


def test_a_regression(tmp_path):
    found, read = reported(write_houses(tmp_path / "houses.csv"), "price", tmp_path, "--random-state", 2)
    scores = {(s["model"], s["metric"]): s["value"] for s in found["scores"]}
    assert "76 rows and 4 columns" in read.sections["data"]
    assert "4 rows without a target were left out" in read.sections["data"]
    assert number(scores["mercer", "rmse"]) in read.sections["summary"]
    assert "clearly better than a linear model" not in read.sections["summary"]  # the truth is linear
    assert "clearly better than always saying the mean" in read.sections["summary"]
    assert found["kernel"]["text"] in read.sections["choice"]
    assert "proven" in read.sections["choice"]
    assert "Leave-one-out rmse" in read.sections["quality"]
    assert "hold the truth of" in read.sections["quality"]
    assert "true - predicted" in read.sections["quality"]
    assert "rows fitted" in read.sections["quality"]
    assert read.tags.count("svg") == 5  # the target, two of residuals, the curve, importance


def test_two_classes(tmp_path):
    _, read = reported(write_rings(tmp_path / "rings.csv"), "ring", tmp_path)
    assert "clearly better than a linear model" in read.sections["summary"]  # no line separates rings
    assert "recall" in read.sections["quality"]
    assert "out" in read.sections["quality"]
    assert "loss of accuracy" in read.sections["matters"]


def test_probabilities_are_held_to_shares(tmp_path):
    _, read = reported(write_rings(tmp_path / "rings.csv"), "ring", tmp_path, "--learner", "logistic")
    assert "Are its probabilities right?" in read.sections["quality"]
    assert "duality gap" in read.sections["doubts"] or "Nothing was found" in read.sections["doubts"]


@pytest.mark.parametrize("learner", ["svm", "perceptron"])
def test_other_learners(learner, tmp_path):
    reported(write_rings(tmp_path / "rings.csv"), "ring", tmp_path, "--learner", learner)


def test_many_classes(tmp_path):
    _, read = reported(write(tmp_path / "t.parquet", **clean_classes(200, classes=5)), "c", tmp_path)
    assert all(f"class {k}" in read.sections["quality"] for k in range(5))
    assert "5 classes" in read.sections["summary"]


def test_sparse_rows(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{1 if i % 2 else -1} {1 + i % 2}:{rng.uniform(1, 2):.3f} 5:{rng.normal():.3f}" for i in range(90)]
    (tmp_path / "t.svm").write_text("\n".join(lines))
    _, read = reported(tmp_path / "t.svm", "target", tmp_path)
    assert "The rows are sparse" in read.sections["data"]
    matters = read.sections["matters"]
    assert "3 of 5 columns were shuffled" in matters


def test_texts_with_missing_entries(tmp_path):
    good, bad = "what a very good thing", "never such a bad day again"
    lines = [f'"{good if i % 2 else bad} {i}",{i % 2}' for i in range(80)] + [",1"]
    (tmp_path / "t.csv").write_text("\n".join(["text,mark", *lines]))
    _, read = reported(tmp_path / "t.csv", "mark", tmp_path)
    assert "1 (1.23 %)" in read.sections["data"]


def test_nothing_held_out(tmp_path):
    _, read = reported(write_houses(tmp_path / "houses.csv"), "price", tmp_path, "--test", "0")
    assert "No rows were held out" in read.sections["quality"]
    assert "No rows were held out" in read.sections["matters"]
    assert "Leave-one-out" in read.sections["quality"]


def test_refit_judges_the_model_of_the_fitted_rows(tmp_path):
    """Importance and curve are those of the model that was scored: rows held out were not seen by it."""
    houses = write_houses(tmp_path / "houses.csv")
    plain, first = reported(houses, "price", tmp_path)
    again, second = reported(houses, "price", tmp_path, "--refit")
    assert plain["scores"] == again["scores"]
    assert first.sections["matters"] == second.sections["matters"]
    assert "then fitted to all rows" in second.sections["summary"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("german_credit", "clearly better than always saying the largest class"), ("yacht", "clearly better")],
)
def test_real_tables(name, words, tmp_path):
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip("the shared data is not here")
    found, read = reported(path, "target", tmp_path)
    assert words in read.sections["summary"]
    assert not [finding for finding in found["findings"] if finding["severity"] == "serious"]


# -- what came with the data ------------------------------------------------------------------------------------------


def test_names_and_labels_are_text(tmp_path):
    data = clean_classes()
    data[EVIL] = data.pop("x")
    data["$z_{"] = data.pop("z")
    data['" onload="alert(2)'] = np.array([EVIL, "&amp;", "b", "\u202e\x00\x1b"] * 40)
    data["</title><svg/onload=alert(3)>"] = np.array([EVIL if c == "class 0" else "'\"" for c in data.pop("c")])
    table = write(tmp_path / "<b>t & u.parquet", **data)
    _, read = reported(table, "</title><svg/onload=alert(3)>", tmp_path, "--kernel", "linear + 1")
    assert EVIL in read.sections["data"]
    assert "&amp;" not in read.sections["summary"]
    _, read = reported(table, "</title><svg/onload=alert(3)>", tmp_path)
    assert EVIL in read.sections["matters"]
    assert EVIL in read.sections["quality"]


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_report_is_whole_or_the_old_one(tmp_path, monkeypatch):
    rings, path = write_rings(tmp_path / "rings.csv"), tmp_path / "report.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert run("fit", rings, "--target", "ring", "--report", path, "--force").exit_code == 1
    assert path.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "rings.csv"]


def test_a_report_needs_a_folder_and_a_name(tmp_path):
    rings = write_rings(tmp_path / "rings.csv")
    done = run("fit", rings, "--target", "ring", "--report", tmp_path / "none" / "report.html")
    assert (done.exit_code, "needs a folder that exists" in done.stderr) == (2, True)
    done = run("fit", rings, "--target", "ring", "--report", tmp_path)
    assert (done.exit_code, "is a folder" in done.stderr) == (2, True)


def test_without_a_report_there_is_none(tmp_path):
    assert told("fit", write_rings(tmp_path / "rings.csv"), "--target", "ring")["report"] is None


def test_without_matplotlib_there_are_words(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.cli.report.case.find_spec", lambda name: None)
    _, read = reported(write_houses(tmp_path / "houses.csv"), "price", tmp_path)
    assert "matplotlib is not installed" in read.sections["quality"]
    assert read.tags.count("svg") == 1  # the target, which needs none


def test_the_same_run_gives_the_same_report(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.cli.report.importance.MAX_SECONDS", 1e6)
    monkeypatch.setattr("mercer.cli.report.curve.MAX_SECONDS", 1e6)
    monkeypatch.setattr("mercer.cli.report.curve.MIN_SECONDS", 1e6)
    table, pages = write(tmp_path / "t.parquet", **clean_regression()), []
    for _ in range(2):
        reported(table, "y", tmp_path)
        pages.append(without_times((tmp_path / "report.html").read_text()))
    assert pages[0] == pages[1]


def without_times(text):
    return [line for line in text.splitlines() if " taken" not in line]
