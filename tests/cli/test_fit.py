"""From a table to a model and back: scores, files, configurations."""

import json
import tomllib
import warnings

import numpy as np
import pyarrow
import pytest
from command import run, told, write_houses, write_rings
from pyarrow import csv, parquet
from sklearn.svm import SVC

import mercer
from mercer.cli import pipeline
from mercer.cli.fit import FitOptions
from mercer.cli.models import load_model
from mercer.cli.output import Voice
from mercer.cli.pipeline import fitted
from mercer.cli.telling import short_plan
from mercer.errors import NumericalWarning
from mercer.kernels import tables
from mercer.tables.read import read_table


@pytest.fixture
def houses(tmp_path):
    return write_houses(tmp_path / "houses.csv")


@pytest.fixture
def rings(tmp_path):
    return write_rings(tmp_path / "rings.csv")


def test_a_regression_from_csv_to_predictions(houses, tmp_path):
    model = tmp_path / "houses.mercer"
    found = told("fit", houses, "--target", "price", "--out", model)
    assert found["table"] == {"name": "houses.csv", "format": "csv", "rows": 76}
    assert found["target"] == {
        "name": "price",
        "task": "regression",
        "why": "it holds numbers that are not whole",
        "dropped_rows": 4,
    }
    assert (found["learner"], found["converged"], found["held_out_rows"]) == ("KernelRidge", True, 16)
    assert found["kernel"]["proof"] == "proven"
    assert {column["name"]: column["taken_for"] for column in found["columns"]} == {
        "id": "id",
        "size": "number",
        "town": "category",
    }
    assert found["plan"]["rows"] == 60
    rmse = {score["model"]: score["value"] for score in found["scores"] if score["metric"] == "rmse"}
    assert rmse["mercer"] < 10 < 60 < rmse["mean"]
    assert rmse["linear"] < rmse["mean"]
    assert all(s["low"] <= s["value"] <= s["high"] for s in found["scores"])
    assert 0 < found["leave_one_out"]["rmse"] < 20
    assert found["model"] == {"path": str(model), "bytes": model.stat().st_size}
    done = run("predict", model, houses)
    prices = csv.read_csv(pyarrow.BufferReader(done.stdout.encode())).column("price").to_numpy()
    true = csv.read_csv(houses).column("price").to_numpy()
    assert np.nanmedian(np.abs(prices - true)) < 5


def test_predictions_of_the_file_are_those_before(rings, tmp_path):
    """The same fit in Python, on the same rows, with the kernel that the command names."""
    path = tmp_path / "rings.mercer"
    found = told("fit", rings, "--target", "ring", "--test", "0", "--out", path)
    table = csv.read_csv(rings)
    frame = table.select(["x", "z"]).to_pandas()
    model = mercer.KernelRidgeClassifier(mercer.parse(found["kernel"]["text"]), lengthscale="loo", random_state=0)
    model.fit(frame, np.array(table.column("ring").to_pylist()))
    loaded = load_model(path)
    values = loaded.learner.decision_function(loaded.rows(read_table(rings)))
    np.testing.assert_array_equal(values, model.decision_function(frame))
    assert set(model.predict(frame)) == {"in", "out"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "table", "settings"),
    [
        (["--alpha", "0.5"], "houses", {"alpha": 0.5}),
        (["--alpha", "0.5", "--learner", "logistic"], "rings", {"alpha": 0.5}),
        (["--C", "3", "--learner", "svm"], "rings", {"C": 3.0}),
        (["--C", "700", "--learner", "svm"], "houses", {"C": 700.0}),
    ],
)
def test_a_penalty_may_be_given(words, table, settings, houses, rings, tmp_path):
    path, target = (houses, "price") if table == "houses" else (rings, "ring")
    told("fit", path, "--target", target, *words, "--out", tmp_path / "m")
    params = load_model(tmp_path / "m").learner.get_params(deep=False)
    assert {name: params[name] for name in settings} == settings


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--alpha", "1", "--learner", "svm"], "--alpha is for ridge and logistic"),
        (["--C", "1"], "--C is for svm"),
        (["--alpha", "0"], "--alpha needs a positive, finite number; got 0"),
        (["--C", "nan", "--learner", "svm"], "--C needs a positive, finite number, or inf for a hard margin"),
    ],
)
def test_a_penalty_that_is_none_is_refused(words, reason, rings):
    done = run("fit", rings, "--target", "ring", *words)
    assert (done.exit_code, reason in done.stderr) == (2, True)


def test_a_hard_margin(rings, tmp_path):
    words = ("fit", rings, "--target", "ring", "--learner", "svm", "--C", "inf", "--kernel", "polynomial(2)")
    run(*words, "--test", "0", "--out", tmp_path / "hard.mercer")
    table = csv.read_csv(rings)
    X, y = table.select(["x", "z"]).to_pandas().to_numpy(), table["ring"].to_numpy()
    model = SVC(kernel="poly", degree=2, gamma=1, coef0=1, C=1e9, tol=1e-8).fit(X, y)
    assert (model.predict(X) == y).all()
    a, V = model.dual_coef_[0], model.support_vectors_
    margin = 1 / np.sqrt(a @ (1 + V @ V.T) ** 2 @ a)
    assert load_model(tmp_path / "hard.mercer").learner.margin_ == pytest.approx(margin, rel=1e-4)
    assert tomllib.loads(run(*words, "--dump-config").stdout)["fit"]["C"] == np.inf


@pytest.mark.parametrize("learner", ["ridge", "svm", "logistic", "perceptron"])
def test_all_learners_classify(learner, rings):
    found = told("fit", rings, "--target", "ring", "--learner", learner)
    assert found["target"]["task"] == "classification"
    accuracy = {score["model"]: score["value"] for score in found["scores"] if score["metric"] == "accuracy"}
    assert accuracy["mercer"] >= 0.9 > accuracy["largest class"]
    assert ("log loss" in {score["metric"] for score in found["scores"]}) == (learner == "logistic")


def test_support_vectors_regress(houses):
    found = told("fit", houses, "--target", "price", "--learner", "svm")
    assert found["learner"] == "KernelSVR"
    assert found["leave_one_out"] is None
    r2 = next(s["value"] for s in found["scores"] if (s["model"], s["metric"]) == ("mercer", "r2"))
    assert r2 > 0.9


def test_a_kernel_that_is_told(houses):
    found = told("fit", houses, "--target", "price", "--kernel", "linear + 1")
    assert [column["name"] for column in found["columns"]] == ["id", "size"]
    found = told("fit", houses, "--target", "price", "--kernel", "gaussian(50).on(['size'])", "--drop", "id")
    assert [column["name"] for column in found["columns"]] == ["size"]
    found = told("fit", houses, "--target", "price", "--kernel", "gaussian(50).on([1])")  # the second feature
    assert found["kernel"]["text"] == "gaussian(lengthscale=50.0).on(['size'])"


def test_the_same_seed_gives_the_same_run(houses):
    first, again, other = (told("fit", houses, "--target", "price", "--random-state", seed) for seed in (1, 1, 2))
    assert first["scores"] == again["scores"] != other["scores"]


def test_refit_takes_all_rows(houses, tmp_path):
    path = tmp_path / "model.mercer"
    told("fit", houses, "--target", "price", "--refit", "--out", path)
    assert len(load_model(path).learner.X_fit_) == 76
    told("fit", houses, "--target", "price", "--out", path)
    assert len(load_model(path).learner.X_fit_) == 60


def test_sparse_rows(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{1 if i % 2 else -1} {1 + i % 2}:{rng.uniform(1, 2):.3f} 5:{rng.normal():.3f}" for i in range(60)]
    table, model = tmp_path / "t.svm", tmp_path / "t.mercer"
    table.write_text("\n".join(lines))
    found = told("fit", table, "--target", "target", "--out", model)
    assert (found["table"]["format"], found["target"]["task"]) == ("libsvm", "classification")
    narrow = run("predict", model, "-", data="1 1:1.5\n-1 2:1.5\n")
    assert narrow.stdout.split() == ['"target"', "-1", "1"]
    assert run("predict", model, "-", data="1 9:1.5\n").exit_code == 3


def test_texts_with_missing_entries_are_read_as_empty(tmp_path):
    good, bad = "what a very good thing", "never such a bad day again"
    lines = [f'"{good if i % 2 else bad} {i}",{i % 2}' for i in range(40)] + [",1"]
    table, model = tmp_path / "t.csv", tmp_path / "t.mercer"
    table.write_text("\n".join(["text,mark", *lines]))
    found = told("fit", table, "--target", "mark", "--out", model)
    assert found["columns"][0]["taken_for"] == "text"
    assert load_model(model).filled == ("text",)
    done = run("predict", model, "-", data=f'text\n{good}\n{bad}\n""\n')
    assert done.stdout.split()[1:3] == ["1", "0"]


def test_notes_about_rows_are_no_features(tmp_path):
    path = write_rings(tmp_path / "rings.csv")
    table = csv.read_csv(path)
    parquet.write_table(table.append_column("_leak", table.column("ring")), tmp_path / "t.parquet")
    found = told("fit", tmp_path / "t.parquet", "--target", "ring")
    assert [column["name"] for column in found["columns"]] == ["x", "z"]


def test_few_rows_hold_nothing_out(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{i},{i / 3}\n" for i in range(8)))
    done = run("fit", tmp_path / "t.csv", "--target", "b")
    assert "too few rows" in done.stdout
    assert "leave-one-out" in done.stdout


def test_rows_that_nobody_asked_to_hold_out_are_not_too_few(tmp_path):
    lines = "".join(f"{i},{(7 * i) % 11},{i / 3}\n" for i in range(87))
    (tmp_path / "t.csv").write_text("a,c,b\n" + lines)
    done = run("fit", tmp_path / "t.csv", "--target", "b", "--test", "0", "--report", tmp_path / "t.html")
    assert "no rows were held out, as --test 0 says; leave-one-out" in done.stdout
    assert "too few" not in done.stdout
    page = (tmp_path / "t.html").read_text()
    assert "No rows were held out, as --test 0 says." in page
    assert "too few rows" not in page


# -- where words go ---------------------------------------------------------------------------------------------------


def test_data_on_one_side_and_words_on_the_other(rings):
    done = run("fit", rings, "--target", "ring")
    assert done.stdout.startswith("model ")
    assert "largest class" in done.stdout
    assert "plan: least squares" in done.stderr
    assert "kernel: gaussian" in done.stderr
    assert "proven" in done.stderr
    quiet = run("fit", rings, "--target", "ring", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout == done.stdout


def test_a_fit_says_what_is_odd_in_ten_lines_and_all_of_it_when_asked(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 12))
    names = [f"c{j}" for j in range(12)]
    lines = [f"{','.join(f'{x:.4f}' for x in row)},1,{row[0] + rng.normal():.4f}" for row in X]
    table = tmp_path / "t.csv"
    table.write_text("\n".join([",".join([*names, "flat", "y"]), *lines]))
    short = run("fit", table, "--target", "y")
    said = short.stderr.splitlines()
    findings = [line for line in said if line.startswith(("warning: ", "worth a look: "))]
    assert len(said) - len(findings) + len(short.stdout.splitlines()) == 10
    assert said[0] == "t.csv: csv, 250 rows x 14 columns; 'y' gives a regression: it holds numbers that are not whole"
    assert said[1] == "left out: 'flat' (constant: all entries are equal, which tells nothing)"
    assert said[2].startswith("kernel: gaussian(")
    assert said[2].endswith(".on(['c0', 'c1', 'c2', and 9 more]); valid: proven")
    assert said[3].startswith(
        "plan: least squares on 200 rows x 12 columns, 1 output: direct, kernel matrix, Eigen, about "
    )
    (tmp_path / "run.toml").write_text("[fit]\nverbose = true\n")
    for words in (("--verbose",), ("-v",), ("--config", tmp_path / "run.toml")):
        whole = run("fit", table, "--target", "y", *words)
        assert whole.stdout == short.stdout
        for part in (
            "  c11     number     gaussian, divided by ",
            "    -> direct",
            "    why not ",
            "proven, in 3 steps",
        ):
            assert part in whole.stderr
    quiet = run("fit", table, "--target", "y", "--verbose", "--quiet")
    assert [line for line in quiet.stderr.splitlines() if not line.startswith("warning: ")] == []


def test_many_columns_that_are_odd_are_counted(tmp_path):
    table = tmp_path / "t.csv"
    flat = [f"flat{j}" for j in range(9)]
    lines = [f"{i},{i * i % 17},{'1,' * 9}{i % 7}.5" for i in range(60)]
    table.write_text("\n".join([",".join(["_fold", "a", *flat, "y"]), *lines]))
    said = run("fit", table, "--target", "y").stderr
    assert "no features, as their names begin with _: '_fold'\n" in said
    assert "left out: 'flat0', 'flat1', 'flat2', and 6 more (" in said


def test_a_warning_is_told_to_the_quiet_and_to_programs(rings, monkeypatch):
    fit = mercer.KernelRidgeClassifier.fit

    def doubtful(self, X, y):
        warnings.warn("take care", NumericalWarning, stacklevel=2)
        return fit(self, X, y)

    monkeypatch.setattr(mercer.KernelRidgeClassifier, "fit", doubtful)
    assert "warning: take care" in run("fit", rings, "--target", "ring", "--quiet").stderr
    assert told("fit", rings, "--target", "ring")["warnings"] == ["take care"]


# -- configurations ---------------------------------------------------------------------------------------------------


def test_a_run_is_dumped_and_run_again(rings, tmp_path):
    words = (
        "fit",
        rings,
        "--target",
        "ring",
        "--learner",
        "svm",
        "--drop",
        "z",
        "--random-state",
        "3",
        "--test",
        "0.3",
    )
    dumped = run(*words, "--dump-config")
    assert dumped.exit_code == 0
    section = tomllib.loads(dumped.stdout)["fit"]
    assert (section["target"], section["drop"], section["random_state"], section["test"]) == ("ring", ["z"], 3, 0.3)
    (tmp_path / "run.toml").write_text(dumped.stdout)
    assert run("fit", "--config", tmp_path / "run.toml", "-q").stdout == run(*words, "-q").stdout
    assert run("fit", "--config", tmp_path / "run.toml", "--dump-config").stdout == dumped.stdout


def test_the_command_line_counts_more_than_a_file(rings, tmp_path):
    (tmp_path / "run.toml").write_text(f'[fit]\ntable = "{rings}"\ntarget = "x"\nlearner = "svm"\nmax-rows = 1000\n')
    dumped = tomllib.loads(run("fit", "--config", tmp_path / "run.toml", "--target", "ring", "--dump-config").stdout)
    assert (dumped["fit"]["target"], dumped["fit"]["learner"], dumped["fit"]["max_rows"]) == ("ring", "svm", 1000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fit]\nlearnerr = 'svm'\n", "learnerr"),
        ("[score]\n", "section"),
        ("fit", "TOML"),
        ("[fit]\ntable = 't.csv'\n", "target"),
        ("[fit]\ntable = 't.csv'\ntarget = 'a'\nrandom_state = 'one'\n", "--random-state"),
    ],
)
def test_files_of_options_that_are_wrong(text, words, tmp_path):
    (tmp_path / "run.toml").write_text(text)
    done = run("fit", "--config", tmp_path / "run.toml")
    assert done.exit_code == 2
    assert words in done.stderr


@pytest.mark.parametrize("seed", range(6))
def test_a_gap_may_fall_among_the_rows_held_out(tmp_path, seed):
    """With one gap in a hundred rows, one seed in five holds it out."""
    rng = np.random.default_rng(1)
    lines = [f"{'' if i == 40 else f'{x:.2f}'},{2 * x:.3f}" for i, x in enumerate(rng.uniform(1, 9, 60))]
    path = tmp_path / "gap.csv"
    path.write_text("\n".join(["size,price", *lines]) + "\n")
    done = told("fit", path, "--target", "price", "--random-state", seed, "--test", "0.4")
    assert done["held_out_rows"] == 24


def test_a_kernel_of_plain_numbers_refuses_gaps_in_words(tmp_path):
    path = tmp_path / "gap.csv"
    path.write_text("a,y\n" + "".join(f"{'' if i == 3 else i},{i * i % 7}.5\n" for i in range(40)))
    done = run("fit", path, "--target", "y", "--kernel", "gaussian", "--test", "0")
    assert done.exit_code == 3
    assert "column 'a' holds nan in row 4" in done.stderr


@pytest.mark.parametrize("words", [("true", "false"), ("TRUE", "FALSE"), ("True", "False")])
def test_truths_are_scored_as_they_were_fitted(tmp_path, words):
    path, model = tmp_path / "booleans.csv", tmp_path / "booleans.mercer"
    rng = np.random.default_rng(0)
    path.write_text("a,y\n" + "".join(f"{x:.3f},{words[int(x > 0)]}\n" for x in rng.normal(size=80)))
    told("fit", path, "--target", "y", "--out", model)
    scores = {score["metric"]: score["value"] for score in told("score", model, path)["scores"]}
    assert scores["accuracy"] > 0.9


def test_json_is_one_object_also_where_the_end_is_bad(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.cli.result.Fitted.converged", False)
    path = write_rings(tmp_path / "rings.csv")
    done = run("fit", path, "--target", "ring", "--strict", "--json")
    assert done.exit_code == 6
    assert json.loads(done.stdout)["target"]["name"] == "ring"


@pytest.mark.parametrize(
    ("limits", "way"), [({}, "loo"), ({"time_limit": "20s"}, "median"), ({"memory_limit": "64MB"}, "median")]
)
def test_no_stretches_are_tried_where_limits_leave_no_room(houses, limits, way):
    options = FitOptions(table=str(houses), target="price", quiet=True, **limits)
    assert fitted(options, Voice("fit", quiet=True)).model.learner.lengthscale == way


@pytest.mark.parametrize("learner", ["ridge", "svm"])
def test_a_fit_reads_proposes_and_plans_once(learner, tmp_path, monkeypatch):
    """And what is fitted is the plan that was shown."""
    rng = np.random.default_rng(0)
    words = [None if i % 9 == 4 else " ".join(rng.choice(["sun", "rain", "wind", "fog"], 5)) for i in range(60)]
    size = rng.normal(size=60)
    table = pyarrow.table({"size": size, "text": words, "y": size + 0.1 * rng.normal(size=60)})
    parquet.write_table(table, tmp_path / "t.parquet")
    calls = {"read": 0, "propose": 0, "plan": []}

    def counted(name, function):
        def call(*given, **named):
            calls[name] += 1
            return function(*given, **named)

        return call

    def planned(cls, plan):
        def call(self, problem, run):
            found = plan(self, problem, run)
            calls["plan"].append(found)
            return found

        monkeypatch.setattr(cls, "_plan", call)

    monkeypatch.setattr(pipeline, "read_table", counted("read", pipeline.read_table))
    monkeypatch.setattr(tables, "kernel_for", counted("propose", tables.kernel_for))
    for cls in (mercer.KernelRidge, mercer.KernelSVR):
        planned(cls, cls._plan)
    voice = Voice("fit", quiet=True)
    said = []
    monkeypatch.setattr(Voice, "tell", lambda self, short, long="": said.append(short))
    options = FitOptions(table=str(tmp_path / "t.parquet"), target="y", learner=learner, time_limit="50s")
    done = fitted(options, voice)  # so little time that no lengthscales are tried
    assert (calls["read"], calls["propose"], len(calls["plan"])) == (1, 1, 1)
    assert done.model.learner.plan_ == calls["plan"][0]
    assert f"plan: {short_plan(done.model.learner.plan_)}" in said
    assert done.look.filled == ("text",)
