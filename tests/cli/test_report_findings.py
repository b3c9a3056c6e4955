"""What may be wrong is found where it is, and not where it is not."""

import datetime
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
from command import run, told
from hypothesis import given
from hypothesis import strategies as st
from report_pages import clean_classes, clean_regression, write

from mercer.cli.diagnostics.examine import CHECKS
from mercer.cli.diagnostics.fit import beaten, beats, rounded
from mercer.cli.diagnostics.leaks import given_away
from mercer.cli.diagnostics.rows import row_keys
from mercer.cli.metrics import Score
from mercer.tables.read import Sheet

pytestmark = pytest.mark.slow


def found(tmp_path, data, target, *words):
    """Findings by their kind."""
    table = write(tmp_path / "t.parquet", **data)
    findings = told("fit", table, "--target", target, *words)["findings"]
    return {finding["kind"]: finding for finding in findings}


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_found_in_clean_tables(tmp_path, seed):
    assert found(tmp_path, clean_regression(seed=seed), "y") == {}
    assert found(tmp_path, clean_classes(seed=seed), "c") == {}


def test_checks_have_words():
    assert len({text for text, _ in CHECKS}) == len(CHECKS)


# -- leaks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leak", "word"),
    [
        (lambda y: y, "equals"),
        (lambda y: np.exp(y / 3), "rises and falls with"),
        (lambda y: -5 * y + 2, "rises and falls with"),
    ],
)
def test_copies_of_a_number(tmp_path, leak, word):
    data = clean_regression()
    data["leak"] = leak(data["y"])
    finding = found(tmp_path, data, "y")["leak"]
    assert finding["severity"] == "serious"
    assert f"'leak' {word} the target 'y'" in finding["text"]
    assert "--drop leak" in finding["remedy"]


def test_a_leak_is_said_aloud_and_dropping_it_helps(tmp_path):
    data = clean_regression()
    data["leak"] = data["y"]
    table = write(tmp_path / "t.parquet", **data)
    done = run("fit", table, "--target", "y", "--quiet")
    assert "warning: Column 'leak' equals the target 'y'" in done.stderr
    assert run("fit", table, "--target", "y", "--quiet", "--drop", "leak").stderr == ""


def test_copies_of_a_class(tmp_path):
    data = clean_classes(classes=3)
    data["code"] = [{"class 0": "p", "class 1": "q", "class 2": "r"}[c] for c in data["c"]]
    assert "'code' determines" in found(tmp_path, data, "c")["leak"]["text"]
    del data["code"]
    data["risk"] = [
        int(c[-1]) + u for c, u in zip(data["c"], np.random.default_rng(1).uniform(0, 0.9, 160), strict=True)
    ]
    assert "'risk' separates the classes of" in found(tmp_path, data, "c")["leak"]["text"]


def test_a_group_that_determines_a_number():
    y = np.repeat(np.random.default_rng(0).normal(size=10), 20)
    groups = pyarrow.array([f"g{k}" for k in np.repeat(np.arange(10), 20)])
    assert given_away(groups, y, False) == "determines"
    assert given_away(groups, y + 0.1 * np.random.default_rng(1).normal(size=200), False) == ""


def test_what_is_strong_but_no_leak():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    assert given_away(pyarrow.array(y + 0.1 * rng.normal(size=500)), y, False) == ""
    label = np.where(y > 0, "a", "b")
    noisy = np.where(rng.uniform(size=500) < 0.02, -y, y)
    assert given_away(pyarrow.array(noisy), label, True) == ""
    assert given_away(pyarrow.array([str(i) for i in range(500)]), label, True) == ""  # names know everything
    assert given_away(pyarrow.array(y), np.array(["a"] * 500), True) == ""


@given(st.integers(0, 1000), st.booleans())
def test_chance_is_no_leak(seed, classes):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b"], 60) if classes else rng.normal(size=60)
    for values in (rng.normal(size=60), rng.integers(0, 4, 60)):
        assert given_away(pyarrow.array(values), y, classes) == ""


@pytest.mark.parametrize("values", [lambda y: 2 * y + 1, lambda y: np.where(y > 0, 5, 0)])
def test_sparse_columns(tmp_path, values):
    rng = np.random.default_rng(0)
    y = rng.normal(size=120) if values(1.0) != 5 else rng.choice([-1, 1], 120)
    lines = [f"{v} 2:{rng.normal():.4f} 4:{w} 6:{v + rng.normal():.4f}" for v, w in zip(y, values(y), strict=True)]
    (tmp_path / "t.svm").write_text("\n".join(lines))
    findings = told("fit", tmp_path / "t.svm", "--target", "target")["findings"]
    leaks = [finding["text"] for finding in findings if finding["kind"] == "leak"]
    assert len(leaks) == 1
    assert leaks[0].startswith("Column 4 ")


# -- rows -------------------------------------------------------------------------------------------------------------


def test_copies_between_both_parts(tmp_path):
    data = {name: np.concatenate([values, values[:60]]) for name, values in clean_regression().items()}
    finding = found(tmp_path, data, "y")["copies"]
    assert finding["severity"] == "serious"
    share = float(finding["text"].split(" %")[0])
    assert 30 < share < 60  # of 220 rows 120 have a twin, which is fitted four times of five
    assert "Of the others the rmse is" in finding["text"]


def test_equal_rows_by_chance_are_only_told(tmp_path):
    rng = np.random.default_rng(0)
    data = {"a": rng.choice(list("pq"), 200), "b": rng.choice(list("rst"), 200)}
    data["c"] = np.where(rng.uniform(size=200) < 0.3, "no", np.where(data["a"] == "p", "yes", "no"))
    findings = found(tmp_path, data, "c")
    assert findings["copies"]["severity"] == "note"
    assert findings["contradictions"]["severity"] == "look"


def test_equal_rows_with_other_targets(tmp_path):
    data = {name: np.concatenate([values, values[:40]]) for name, values in clean_regression().items()}
    data["y"][-40:] += 1.0
    findings = found(tmp_path, data, "y")
    assert "copies" not in findings
    assert findings["contradictions"]["text"].startswith("40 %")  # 80 of 200


@given(st.integers(0, 10_000))
def test_keys_are_equal_where_rows_are(seed):
    rng = np.random.default_rng(seed)
    numbers, words = rng.choice([0.0, -0.0, 1.5, np.nan], 30), rng.choice(["a", "b", ""], 30)
    flags = rng.choice([True, False], 30)
    table = pyarrow.table({"n": numbers, "w": words, "f": flags, "g": pyarrow.array(words).dictionary_encode()})
    keys = row_keys(Sheet("t", "arrow", table), ("n", "w", "f", "g"))
    rows = [(repr(n + 0.0), w, f) for n, w, f in zip(numbers, words, flags, strict=True)]
    assert len(set(keys.tolist())) == len(set(rows))
    assert len(set(zip(keys.tolist(), rows, strict=True))) == len(set(rows))


# -- columns and the target -------------------------------------------------------------------------------------------


def test_columns_that_tell_nothing(tmp_path):
    data = clean_regression()
    data |= {"same": np.ones(160), "row_id": np.arange(160), "gone": pyarrow.array([None] * 100 + [1.0, 2.0] * 30)}
    findings = found(tmp_path, data, "y")
    assert {
        kind: "'" + name + "'" in findings[kind]["text"]
        for kind, name in (("constant", "same"), ("identifier", "row_id"), ("missing", "gone"))
    } == {"constant": True, "identifier": True, "missing": True}
    assert {finding["severity"] for finding in findings.values()} == {"note"}
    told_kernel = found(tmp_path, data, "y", "--kernel", "linear.on(['a', 'row_id'])")
    assert told_kernel["counter"]["severity"] == "look"


def test_offsets(tmp_path):
    data = clean_regression()
    data["a"] = data["a"] + 1e6
    assert "'a'" in found(tmp_path, data, "y")["offset"]["text"]


@pytest.mark.parametrize("form", ["", "%d.%m.%Y", "%m/%d/%Y"])
def test_dates(tmp_path, form):
    data = clean_regression()
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(160)]
    data["day"] = [day.strftime(form) for day in days] if form else days
    finding = found(tmp_path, data, "y")["dates"]
    assert "'day'" in finding["text"]
    assert finding["severity"] == "serious"


def waves(rows=200, seed=0):
    """Targets that follow their neighbours, beside a column that knows the place of a row."""
    rng, place = np.random.default_rng(seed), np.arange(rows)
    y = np.sin(place / 8) + 0.2 * rng.normal(size=rows)
    return {"u": np.sin(place / 8 + 0.3) + 0.1 * rng.normal(size=rows), "v": rng.normal(size=rows), "y": y}


def test_a_table_that_is_ordered_without_a_date(tmp_path):
    data = waves()
    labels = {**data, "y": np.where(data["y"] > 0, "up", "down")}
    for table in (data, labels):
        finding = found(tmp_path, table, "y")["ordered"]
        assert finding["severity"] == "look"
        assert "random rows" in finding["text"]
    shuffled = np.random.default_rng(1).permutation(200)
    assert "ordered" not in found(tmp_path, {name: values[shuffled] for name, values in data.items()}, "y")


def test_a_table_that_is_sorted_by_its_target_is_not_taken_for_one_in_time(tmp_path):
    for data in (clean_regression(), clean_classes()):
        target = "y" if "y" in data else "c"
        order = np.argsort(data[target], kind="stable")
        table = {name: np.asarray(values)[order] for name, values in data.items()}
        assert "ordered" not in found(tmp_path, table, target)


def test_a_score_that_is_too_good(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    finding = found(tmp_path, {"a": a, "b": b, "y": a + b}, "y")["too good"]
    assert "R^2 is 1" in finding["text"] or "R^2 is 0.999" in finding["text"]


def test_findings_worth_a_look_are_said_on_the_terminal(tmp_path):
    table = write(tmp_path / "t.parquet", **waves())
    done = run("fit", table, "--target", "y")
    assert "worth a look: Targets of rows next to each other" in done.stderr
    assert "worth a look" not in run("fit", table, "--target", "y", "--quiet").stderr


def test_a_model_that_finds_nobody_is_warned_of(tmp_path):
    rng = np.random.default_rng(0)
    data = {"a": rng.normal(size=400), "b": rng.normal(size=400), "c": np.where(np.arange(400) % 40 == 7, "yes", "no")}
    done = run("fit", write(tmp_path / "t.parquet", **data), "--target", "c")
    assert "warning: The model is no better than the baseline 'largest class'" in done.stderr


def test_outside_of_the_range(tmp_path):
    data = {f"x{i}": np.exp(6 * np.random.default_rng(i).normal(size=60)) for i in range(30)}
    data["y"] = np.log(data["x0"]) + np.random.default_rng(99).normal(size=60)
    assert "outside" in found(tmp_path, data, "y")


def test_rare_classes(tmp_path):
    data = clean_classes(300)
    data["c"] = np.where(np.arange(300) < 8, "rare", data["c"])
    assert "'rare' (8 rows)" in found(tmp_path, data, "c")["rare classes"]["text"]


def test_tails_and_ends_of_the_target(tmp_path):
    data = clean_regression(400)
    heavy = data | {"y": np.sinh(2 * data["y"])}
    assert "deviations away" in found(tmp_path, heavy, "y")["heavy tails"]["text"]
    cut = data | {"y": np.minimum(data["y"], 2.0)}
    assert "largest target, 2" in found(tmp_path, cut, "y")["cut off"]["text"]


@pytest.mark.parametrize(
    ("said", "verdict"), [([1.0, 2.0, 3.0, 4.0], "clearly"), ([1.0, 2.0, 3.0, 7.0], "perhaps"), ([9.0] * 4, "not")]
)
def test_a_model_beside_the_mean(said, verdict):
    """The baseline is off by 12.25, 6.25, 2.25 and 0.25, squared; one prediction that is off by 3 leaves a doubt."""
    truth = np.array([1.0, 2.0, 3.0, 4.0])
    judged = SimpleNamespace(predicted=np.array(said), others={"mean": np.full(4, 2.5) + 2})
    scores = [("mercer", [Score("rmse", 9, 9, 9)]), ("mean", [Score("rmse", 1, 1, 1)])]
    target = SimpleNamespace(task="regression")
    done = SimpleNamespace(parts=SimpleNamespace(truth=truth), judged=judged, scores=scores, target=target)
    assert beats(done, "mean") == verdict
    assert [finding.text.split("'")[1] for finding in beaten(done)] == (["mean"] if verdict == "not" else [])


def test_what_has_not_converged(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.cli.pipeline.Fitted.converged", False)
    assert found(tmp_path, clean_classes(), "c")["not converged"]["severity"] == "serious"


def test_conditions():
    def solved(rounding):
        learner = SimpleNamespace(rounding_=rounding, condition_=1e15)
        return SimpleNamespace(judged=SimpleNamespace(model=SimpleNamespace(learner=learner)))

    assert "1.0e+15" in next(iter(rounded(solved(1e-3)))).text
    assert list(rounded(solved(1e-12))) == []
    assert len(list(rounded(solved(float("nan"))))) == 1


# -- uneven classes and groups ----------------------------------------------------------------------------------------


def churn(tmp_path, count=1_000, yes=18):
    """A table that tells nothing of the few who left."""
    rng = np.random.default_rng(4)
    left = np.where(np.arange(count) % (count // yes) == 0, "yes", "no")
    return write(tmp_path / "t.parquet", tenure=rng.integers(1, 72, count), fee=rng.normal(size=count), churn=left)


def test_a_class_that_is_never_found_is_said_aloud_and_accuracy_is_no_headline(tmp_path):
    table, page = churn(tmp_path), tmp_path / "r.html"
    done = run("fit", table, "--target", "churn", "--random-state", 1, "--report", page)
    assert "warning: Recall 0: of the rows held out, none of class 'yes' (" in done.stderr
    assert "--learner logistic" in done.stderr
    assert done.stdout.split("\n")[0].split() == ["model", "balanced", "accuracy", "accuracy"]
    assert "mercer: balanced accuracy" in page.read_text()
    found = told("fit", table, "--target", "churn", "--random-state", 1)
    assert [score["metric"] for score in found["scores"]][:2] == ["balanced accuracy", "accuracy"]
    assert {finding["kind"]: finding["severity"] for finding in found["findings"]}["never found"] == "serious"


def test_a_rare_class_that_is_found_is_better_than_the_largest_class():
    truth = np.array(["no"] * 95 + ["yes"] * 5)
    said = np.array(["no"] * 90 + ["yes"] * 10)  # five found, five others taken for them
    judged = SimpleNamespace(predicted=said, others={"largest class": np.array(["no"] * 100)})
    done = SimpleNamespace(
        parts=SimpleNamespace(truth=truth), judged=judged, target=SimpleNamespace(task="classification")
    )
    assert beats(done, "largest class") == "clearly"


def subjects(name, jumps=True):
    rng = np.random.default_rng(0)
    who = rng.permutation(np.repeat(np.arange(20), 12))
    level = rng.normal(size=20) if jumps else np.linspace(-2, 2, 20)
    return {name: who, "day": rng.uniform(size=240), "y": 10 * level[who] + 0.5 * rng.normal(size=240)}


def test_rows_of_one_subject_on_both_sides_are_said(tmp_path):
    for name, jumps in (("subject#", False), ("PatientID", False), ("code", True)):
        finding = found(tmp_path, subjects(name, jumps), "y")["groups"]
        assert finding["text"].startswith(f"Column '{name}' has 20 different entries, each in 12 rows on average")
        assert finding["severity"] == "look"
    assert "groups" not in found(tmp_path, subjects("level", jumps=False), "y")
    assert "groups" not in found(tmp_path, {**subjects("code"), "y": np.random.default_rng(1).normal(size=240)}, "y")
