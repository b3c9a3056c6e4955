"""Columns that a fit reads by itself: strings of one length, graphs, many classes."""

import json
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from command import run, told
from pyarrow import parquet

from mercer.planner import Plan
from mercer.planner.machine import ROUGH, Machine

pytestmark = pytest.mark.slow


def write(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def strings(count=240, length=30, seed=0):
    """Random letters, and a number for each string."""
    rng = np.random.default_rng(seed)
    return ["".join(row) for row in rng.choice(list("acgt"), (count, length))], rng


def first(found):
    return next(score["value"] for score in found["scores"] if score["model"] == "mercer")


def test_letters_at_their_places_are_read_where_places_matter(tmp_path):
    """A motif that half of all strings have, the others one letter further on: runs of letters tell nothing."""
    texts, _ = strings()
    moved = [text[: 10 + i % 2] + "gattac" + text[16 + i % 2 :] for i, text in enumerate(texts)]
    path = write(tmp_path / "t.parquet", text=moved, y=["ab"[i % 2] for i in range(len(texts))])
    assert "all of 30 letters: read by letters at their places" in run("fit", path, "--target", "y").stderr
    done = run("fit", path, "--target", "y", "--out", tmp_path / "m", "--verbose")
    assert "all of 30 letters: read by letters at their places" in done.stderr
    assert "Taken: letters at their places\n" in done.stderr
    assert first(told("fit", path, "--target", "y")) > 0.95
    new = write(tmp_path / "new.parquet", text=moved[:4])
    assert run("predict", tmp_path / "m", new).stdout.split() == ['"y"', '"a"', '"b"', '"a"', '"b"']


def test_runs_of_letters_are_read_where_places_do_not_matter(tmp_path):
    texts, rng = strings(seed=1)
    at = rng.integers(0, 24, len(texts))
    moved = [text[:k] + ("gggggg" if i % 2 else "cccccc") + text[k + 6 :]
             for i, (text, k) in enumerate(zip(texts, at, strict=True))]  # fmt: skip
    path = write(tmp_path / "t.parquet", text=moved, y=["ab"[i % 2] for i in range(len(texts))])
    done = run("fit", path, "--target", "y", "--verbose")
    assert "Taken: letters at their places\n" not in done.stderr
    assert "runs of three letters, which has the least leave-one-out error" in done.stderr


def rings(count):
    """Rings and paths of atoms, as a table has them."""
    sizes = [5 + i % 4 for i in range(count)]
    nodes = [["C"] * (n - 1) + ["O"] for n in sizes]
    closed = [i % 3 == 0 for i in range(count)]
    edges = [[v for u in range(n - 1) for v in (u, u + 1)] + [0, n - 1] * ring
             for n, ring in zip(sizes, closed, strict=True)]  # fmt: skip
    return nodes, edges, ["ring" if ring else "path" for ring in closed]


def test_graphs_in_columns_of_lists_are_fitted_and_predicted(tmp_path):
    nodes, edges, labels = rings(60)
    path = write(tmp_path / "t.parquet", nodes=nodes, edges=edges, y=labels)
    model, page = tmp_path / "m.mercer", tmp_path / "r.html"
    done = run("fit", path, "--target", "y", "--out", model, "--report", page)
    assert done.exit_code == 0, done.stderr
    assert "'nodes', 'edges': read as one graph per row, the column 'graph'" in done.stderr
    assert "weisfeiler_lehman(iterations=" in done.stderr
    new = write(tmp_path / "new.parquet", nodes=nodes[:6], edges=edges[:6])
    wanted = ['"y"', *(f'"{label}"' for label in labels[:6])]
    assert run("predict", model, new).stdout.split() == wanted
    assert told("score", model, path)["scores"]
    told_kernel = run("fit", path, "--target", "y", "--kernel", "vertex_histogram")
    assert told_kernel.exit_code == 0, told_kernel.stderr


def test_numbers_of_nodes_will_do_and_a_row_without_a_graph_is_said(tmp_path):
    nodes, edges, labels = rings(40)
    path = write(tmp_path / "t.parquet", nodes=[len(each) for each in nodes], edges=edges, y=labels)
    assert run("fit", path, "--target", "y").exit_code == 0
    path = write(tmp_path / "t.parquet", nodes=[*nodes[:-1], None], edges=edges, size=list(range(40)), y=labels)
    done = run("fit", path, "--target", "y", "--test", "0")
    assert done.exit_code == 0, done.stderr
    assert "graphs, 1 missing: drop these rows to have it read" in done.stderr


def test_many_classes_give_no_warning_of_others(tmp_path):
    """A learning curve that starts with 30 rows of 26 classes would have scikit-learn warn."""
    rng = np.random.default_rng(0)
    X, letter = rng.normal(size=(270, 2)), np.arange(270) % 26
    y = [chr(97 + k) for k in letter]
    path = write(tmp_path / "t.parquet", a=X[:, 0] + letter, b=X[:, 1], y=y)
    done = run("fit", path, "--target", "y", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.stderr
    assert "number of unique classes" not in done.stderr


def test_what_is_missing_in_a_later_table_is_filled_and_said(tmp_path):
    rng = np.random.default_rng(0)
    size, town, day = rng.uniform(1, 9, 60), rng.choice(["north", "south"], 60), rng.integers(0, 700, 60)
    note = rng.choice(["good and cheap house", "old house by the sea", "near the noisy road"], 60)
    path, model = tmp_path / "t.csv", tmp_path / "m.mercer"
    days = np.datetime64("2020-01-01") + day
    lines = [f"{size[i]:.3f},{town[i]},{days[i]},{note[i]} {i},{2 * size[i]:.2f}" for i in range(60)]
    path.write_text("\n".join(["size,town,day,note,price", *lines]))
    assert run("fit", path, "--target", "price", "--out", model).exit_code == 0
    new = tmp_path / "new.csv"
    middle = np.median(size)
    new.write_text(
        "size,town,day,note\n3.5,north,2020-05-05,good house\n,north,2020-05-05,good house\n"
        "see note,south,,\n4.5,,2020-05-06,old\n2.5,south,2020-05-06,old\n5.5,south,2020-05-06,old\n"
    )
    done = run("predict", model, new)
    assert done.exit_code == 0, done.stderr
    values = [float(line) for line in done.stdout.split()[1:]]
    assert len(values) == 6
    assert np.isfinite(values).all()
    assert abs(values[1] - 2 * middle) < 6
    said = " ".join(done.stderr.split())
    assert "'size' in 2 rows, 'town' in 1 row, 'day' in 1 row, 'note' in 1 row" in said
    assert "the median of the fit" in said
    assert "missing" in told("predict", model, new, "--out", tmp_path / "p.csv")["warnings"][0]


def test_a_fit_with_units_codes_and_spellings_is_read_alike_later(tmp_path):
    rng = np.random.default_rng(1)
    kilos = rng.uniform(0.5, 9, 80)
    weight = [f"{x:.3f} kg" if i % 3 else f"{1000 * x:.0f} g" for i, x in enumerate(kilos)]
    mode = rng.choice(["air", " air", "Sea", "SEA ", "sea"], 80)
    sea = np.array([each.strip().lower() == "sea" for each in mode])
    cost = 3 * kilos + 20 * sea
    path, model = tmp_path / "t.csv", tmp_path / "m.mercer"
    lines = [f"C-{i:05d},{weight[i]},{mode[i]},{weight[i]},{cost[i]:.3f}" for i in range(80)]
    path.write_text("\n".join(["customer,weight,mode,weight too,cost", *lines]))
    done = run("fit", path, "--target", "cost", "--out", model)
    assert done.exit_code == 0, done.stderr
    for words in ("numbers in 'kg', 'g' converted", "differ from others by case", "it equals column 'weight'", "C-000"):
        assert words in done.stderr
    new = tmp_path / "new.csv"
    new.write_text("customer,weight,mode,weight too\nx,2.0 kg,sea,\nx,2000 g,SEA,\nx,2.0, Sea ,\n")
    values = [float(line) for line in run("predict", model, new).stdout.split()[1:]]
    assert values == pytest.approx([values[0]] * 3, rel=1e-8)
    assert abs(values[0] - 26) < 2


def test_classes_have_their_most_frequent_spelling(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=90)
    words = [["Cafe", "CAFE", " Cafe "][i % 3 if i % 2 else 0] if v > 0 else "Bar" for i, v in enumerate(x)]
    path, model = tmp_path / "t.csv", tmp_path / "m.mercer"
    path.write_text("\n".join(["x,place", *(f"{v:.3f},{word}" for v, word in zip(x, words, strict=True))]))
    assert run("fit", path, "--target", "place", "--out", model).exit_code == 0
    assert set(run("predict", model, path).stdout.split()[1:]) == {'"Bar"', '"Cafe"'}
    assert told("score", model, path)["scores"][0]["value"] > 0.9


def test_a_large_vocabulary_is_saved_and_predicts(tmp_path):
    """A kernel of 20,000 words was fitted, and could not be saved."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 20_000, (900, 40))
    text = [" ".join(f"word{k}" for k in row) for row in words]
    path = write(tmp_path / "t.parquet", review=text, stars=(words < 4_000).sum(axis=1) + 0.5)
    model = tmp_path / "m.mercer"
    done = run("fit", path, "--target", "stars", "--task", "regression", "--out", model, "--time-limit", "20s")
    assert done.exit_code == 0, done.stderr
    assert len(run("predict", model, path).stdout.split()) == 901


def test_a_kernel_that_no_file_holds_is_refused_before_the_fit(tmp_path):
    path = write(tmp_path / "t.parquet", a=np.arange(60.0), y=np.arange(60.0) + 0.5)
    kernel = " + ".join(["gaussian(lengthscale=1.2345678901234567)"] * 4_000)
    done = run("fit", path, "--target", "y", "--kernel", kernel, "--out", tmp_path / "m.mercer")
    assert done.exit_code == 3, done.stderr
    assert "at most 131,072 letters" in done.stderr
    assert "plan:" not in done.stderr


@pytest.mark.parametrize("more", [(), ("--learner", "svm"), ("--refit",)])
def test_the_plan_that_is_shown_is_the_one_that_is_fitted(tmp_path, monkeypatch, more):
    """A machine whose rates change from one look to the next."""
    looks = iter(range(1, 1_000))
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: replace(ROUGH, eigen=ROUGH.eigen * next(looks))))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_600, 2))
    path = write(tmp_path / "t.parquet", a=X[:, 0], b=X[:, 1], y=np.sin(X[:, 0]) + X[:, 1])
    done = run("fit", path, "--target", "y", "--json", "--verbose", "--kernel", "gaussian", *more)
    assert done.exit_code == 0, done.stderr
    fitted = json.loads(done.stdout)["plan"]
    text = str(Plan.restored(fitted))  # without the other methods
    shown = " ".join(done.stderr.split("plan: ")[-1].split())
    assert all(" ".join(line.split()) in shown for line in text.split("\n") if "->" in line or "stages:" in line)
    assert done.stderr.count("plan: ") == 1 + ("--refit" in more)


def test_a_leave_one_out_score_of_a_sample_says_so(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 4))  # of three columns and fewer a grid would let all rows judge
    path = write(tmp_path / "t.parquet", a=X[:, 0], b=X[:, 1], c=X[:, 2], d=X[:, 3], y=np.sin(X[:, 0]) + X[:, 1])
    done = run("fit", path, "--target", "y", "--kernel", "gaussian", "--memory-limit", "60MB")
    assert done.exit_code == 0, done.stderr
    assert " of the fitted rows, by models of " in done.stdout


def test_durations_are_hours_in_the_fit_and_later(tmp_path):
    """They were read as runs of letters, without a word."""
    rng = np.random.default_rng(5)
    minutes = rng.integers(0, 200, 120)
    path, model, new = tmp_path / "t.csv", tmp_path / "m.mercer", tmp_path / "new.csv"
    lines = [f"{m // 60}:{m % 60:02d}{':00' * (i % 2)},{m / 30:.3f}" for i, m in enumerate(minutes)]
    path.write_text("\n".join(["took,cost", *lines]))
    said = run("fit", path, "--target", "cost", "--out", model).stderr
    assert "'took': times such as 9:05 read as hours\n" in said
    assert "number     gaussian" in run("fit", path, "--target", "cost", "--verbose").stderr
    new.write_text("took\n1:30\n2:00:30\n1.5\n0:75\n")
    values = [float(line) for line in run("predict", model, new).stdout.split()[1:]]
    assert values[:2] == pytest.approx([3.0, 4.0], abs=0.3)
    assert np.isfinite(values).all()
    path.write_text("\n".join(["took,cost", *(line.replace(":", ":6", 1) for line in lines)]))  # 1:645 is no time
    assert "read as hours" not in run("fit", path, "--target", "cost", "--task", "regression").stderr
