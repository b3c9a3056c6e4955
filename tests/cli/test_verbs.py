"""The other verbs: predict, score, transform, plan, prove, show, inspect, doctor, demo."""

import io
import json
from importlib.resources import files

import numpy as np
import pytest
from command import run, told, write_houses, write_rings
from pyarrow import csv, feather, parquet
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

import mercer
from mercer.cli import demo, doctor
from mercer.cli.models import load_model


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Houses and rings, their tables and their models."""
    folder = tmp_path_factory.mktemp("fitted")
    write_houses(folder / "houses.csv")
    write_rings(folder / "rings.csv")
    assert run("fit", folder / "houses.csv", "--target", "price", "--out", folder / "houses.mercer").exit_code == 0
    words = ("fit", folder / "rings.csv", "--target", "ring", "--learner", "logistic", "--out", folder / "rings.mercer")
    assert run(*words).exit_code == 0
    return folder


def columns_of(text):
    return csv.read_csv(io.BytesIO(text.encode())).to_pydict()


# -- predict ----------------------------------------------------------------------------------------------------------


def test_predictions_are_those_of_python(fitted):
    model = load_model(fitted / "houses.mercer")
    table = csv.read_csv(fitted / "houses.csv")
    expected = model.learner.predict(table.select(list(model.columns)))
    found = columns_of(run("predict", fitted / "houses.mercer", fitted / "houses.csv").stdout)
    np.testing.assert_array_equal(found["price"], expected)


def test_predict_keeps_columns_and_gives_deviations(fitted):
    found = columns_of(run("predict", fitted / "houses.mercer", fitted / "houses.csv", "--keep", "id", "--std").stdout)
    assert list(found) == ["id", "price", "std"]
    assert found["id"] == list(range(80))
    assert min(found["std"]) > 0


def test_predict_keeps_the_target_beside_the_predictions(fitted):
    words = ("predict", fitted / "houses.mercer", fitted / "houses.csv", "--keep")
    found = columns_of(run(*words, " price", "--std").stdout)
    assert list(found) == ["price", "predicted price", "std"]
    assert found["price"] == csv.read_csv(fitted / "houses.csv").column("price").to_pylist()
    table = csv.read_csv(fitted / "houses.csv").rename_columns(["std", "size", "town", "price"])
    out = io.BytesIO()
    csv.write_csv(table, out)
    done = run("predict", fitted / "houses.mercer", "-", "--keep", "std", "--std", data=out.getvalue())
    assert done.exit_code == 2
    assert "--keep std" in done.stderr


def test_new_rows_may_write_their_dates_otherwise(tmp_path):
    lines = [f"2020-{1 + i % 12:02d}-{1 + i % 28:02d},{i % 12}.5" for i in range(60)]
    (tmp_path / "days.csv").write_text("\n".join(["day,y", *lines]) + "\n")
    assert run("fit", tmp_path / "days.csv", "--target", "y", "--out", tmp_path / "m.mercer").exit_code == 0
    (tmp_path / "new.csv").write_text("day\n01/02/2020\n")
    done = run("predict", tmp_path / "m.mercer", tmp_path / "new.csv")
    assert (done.exit_code, "give --dates" in done.stderr) == (3, True)
    (tmp_path / "iso.csv").write_text("day\n2020-02-01\n")
    found, wanted = (
        columns_of(run("predict", tmp_path / "m.mercer", tmp_path / name, *more).stdout)
        for name, more in (("new.csv", ("--dates", "day-first")), ("iso.csv", ()))
    )
    assert found == wanted


def test_predict_gives_probabilities(fitted):
    found = columns_of(run("predict", fitted / "rings.mercer", fitted / "rings.csv", "--probabilities").stdout)
    assert list(found) == ["ring", "p(in)", "p(out)"]
    np.testing.assert_allclose(np.array(found["p(in)"]) + found["p(out)"], 1)
    assert [name == "in" for name in found["ring"]] == [p > 0.5 for p in found["p(in)"]]


def test_predict_as_json_and_into_files(fitted, tmp_path):
    words = ("predict", fitted / "rings.mercer", fitted / "rings.csv")
    labels = told(*words)["columns"]["ring"]
    assert run(*words, "--out", tmp_path / "p.parquet").stdout == ""
    assert parquet.read_table(tmp_path / "p.parquet").to_pydict() == {"ring": labels}
    assert told(*words, "--out", tmp_path / "p.arrow")["out"] == str(tmp_path / "p.arrow")
    assert feather.read_table(tmp_path / "p.arrow").to_pydict() == {"ring": labels}
    run(*words, "--out", tmp_path / "p.csv")
    assert csv.read_csv(tmp_path / "p.csv").to_pydict() == {"ring": labels}


def test_predict_reads_columns_in_any_order_and_from_a_pipe(fitted):
    table = csv.read_csv(fitted / "houses.csv")
    expected = columns_of(run("predict", fitted / "houses.mercer", fitted / "houses.csv").stdout)
    out = io.BytesIO()
    csv.write_csv(table.select(["town", "size"]), out)
    assert columns_of(run("predict", fitted / "houses.mercer", "-", data=out.getvalue()).stdout) == expected
    feather.write_feather(table.select(["town", "size"]), fitted / "t.arrow")
    assert columns_of(run("predict", fitted / "houses.mercer", fitted / "t.arrow").stdout) == expected


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("size,town\n100,5\n", 0, ""),  # a label that looks like a number is one that was never seen
        ("size,town\n100,\n", 0, ""),
        ("size\n100\n", 3, "'town'"),
        ("size,town\nlarge,north\n", 3, "'size'"),
        ("size,town\n,north\n", 0, "'size' in 1 row)"),
    ],
)
def test_predict_on_tables_that_are_not_alike(fitted, text, code, said):
    done = run("predict", fitted / "houses.mercer", "-", data=text)
    assert done.exit_code == code, done.stderr
    assert said in done.stderr


def test_predict_refuses_what_a_model_has_not(fitted):
    assert run("predict", fitted / "rings.mercer", fitted / "rings.csv", "--std").exit_code == 2
    assert run("predict", fitted / "houses.mercer", fitted / "houses.csv", "--probabilities").exit_code == 2


def test_a_model_that_was_fitted_in_python(tmp_path, fitted):
    path = tmp_path / "own.mercer"
    from mercer.models import save

    save(mercer.KernelRidge("linear").fit([[0.0], [1.0]], [0.0, 1.0]), path)
    done = run("predict", path, fitted / "houses.csv")
    assert done.exit_code == 4
    assert "mercer.load" in done.stderr


# -- score ------------------------------------------------------------------------------------------------------------


def test_scores_of_a_regression_are_scikit_learns(fitted):
    found = {
        score["metric"]: score["value"]
        for score in told("score", fitted / "houses.mercer", fitted / "houses.csv")["scores"]
    }
    true = np.array(columns_of((fitted / "houses.csv").read_text())["price"], dtype=float)
    guess = np.array(columns_of(run("predict", fitted / "houses.mercer", fitted / "houses.csv").stdout)["price"])
    true, guess = true[~np.isnan(true)], guess[~np.isnan(true)]
    assert found["rmse"] == pytest.approx(root_mean_squared_error(true, guess))
    assert found["mae"] == pytest.approx(mean_absolute_error(true, guess))
    assert found["r2"] == pytest.approx(r2_score(true, guess))


def test_scores_of_classes_are_scikit_learns(fitted, tmp_path):
    write_rings(tmp_path / "more.csv", count=41, seed=1)
    (tmp_path / "more.csv").write_text((tmp_path / "more.csv").read_text() + "0.1,0.1,out\n0.0,0.0,\n")
    record = told("score", fitted / "rings.mercer", tmp_path / "more.csv")
    assert (record["rows"], record["dropped_rows"], record["task"]) == (42, 1, "classification")
    found = {score["metric"]: score for score in record["scores"]}
    true = columns_of((tmp_path / "more.csv").read_text())["ring"][:42]
    guess = columns_of(run("predict", fitted / "rings.mercer", tmp_path / "more.csv").stdout)["ring"][:42]
    assert found["accuracy"]["value"] == pytest.approx(accuracy_score(true, guess))
    assert found["balanced accuracy"]["value"] == pytest.approx(balanced_accuracy_score(true, guess))
    assert found["accuracy"]["low"] < found["accuracy"]["value"] < found["accuracy"]["high"]
    said = run("score", fitted / "rings.mercer", tmp_path / "more.csv")
    assert "log loss" in said.stdout
    assert "1 row has no 'ring', and is left out" in said.stderr


def test_score_needs_a_target_of_the_same_kind(fitted):
    assert run("score", fitted / "houses.mercer", "-", data="size,town,price\n1,north,cheap\n").exit_code == 3
    assert run("score", fitted / "houses.mercer", "-", data="size,town\n1,north\n").exit_code == 3


# -- transform --------------------------------------------------------------------------------------------------------


def test_features_have_the_inner_products_of_the_kernel(fitted, tmp_path):
    words = ("transform", fitted / "rings.csv", "--kernel", "gaussian(2.0)", "--drop", "ring", "--n-components", "60")
    features = np.column_stack(list(columns_of(run(*words).stdout).values()))
    points = csv.read_csv(fitted / "rings.csv").select(["x", "z"]).to_pandas().to_numpy()
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(features @ features.T, np.exp(-distances / 8), atol=1e-6)


@pytest.mark.parametrize("table", ["rings.csv", "houses.csv"])
def test_a_lift_is_saved_and_used_for_new_rows(fitted, tmp_path, table):
    """Of numbers alone, and of numbers and labels."""
    path = tmp_path / "lift.mercer"
    words = ("transform", fitted / table, "--drop", "ring" if table == "rings.csv" else "price", "--n-components", "5")
    first = run(*words, "--save", path)
    assert first.exit_code == 0, first.stderr
    again = run("transform", fitted / table, "--lift", path)
    assert again.stdout == first.stdout
    assert len(first.stdout.splitlines()[0].split(",")) == 5
    assert run("predict", path, fitted / table).exit_code == 2
    assert run("transform", fitted / table, "--lift", fitted / "rings.mercer").exit_code == 2
    assert run("transform", fitted / table, "--lift", path, "--kernel", "linear").exit_code == 2


def test_features_as_an_array(fitted, tmp_path):
    run("transform", fitted / "rings.csv", "--drop", "ring", "-d", "4", "--out", tmp_path / "f.npy")
    assert np.load(tmp_path / "f.npy").shape == (60, 4)


# -- plan, prove, inspect ---------------------------------------------------------------------------------------------


def test_plan_is_that_of_python():
    found = told("plan", "--rows", "1e5", "--columns", "20", "--memory-limit", "4GB", "--kernel", "gaussian")
    plan = mercer.plan(100_000, 20, kernel="gaussian", memory_limit="4GB")
    assert (found["plan"]["method"], found["plan"]["rows"], found["plan"]["columns"]) == (plan.method, 100_000, 20)
    assert len(found["others"]) == len(plan.others)
    assert "why" in run("plan", "--rows", "1000", "--columns", "2", "--time-limit", "1min").stdout


@pytest.mark.parametrize("learner", ["ridge", "svm"])
def test_plan_of_a_table_is_that_of_its_fit(tmp_path, learner):
    table = write_houses(tmp_path / "houses.csv")
    found = told("plan", table, "--target", "price", "--learner", learner)
    fit = told("fit", table, "--target", "price", "--learner", learner)
    assert (found["plan"]["method"], found["plan"]["rows"]) == (fit["plan"]["method"], fit["plan"]["rows"])
    assert found["plan"]["rows"] == 60  # a fifth is held out, and four have no price
    said = run("plan", table, "--target", "price")
    assert "houses.csv: csv, 80 rows" in said.stderr
    assert said.stdout.startswith("least squares on 60 rows")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--target", "price", "--rows", "10", "--columns", "2"], "--target is a column of a table"),
        (["TABLE", "--rows", "10"], "--rows is for plans without a table"),
        (["TABLE", "--target", "price", "--outputs", "3"], "--outputs is for plans without a table"),
        (["TABLE"], "needs its --target"),
        (["TABLE", "--target", "price", "--learner", "tree"], "--learner needs one of"),
        (["--columns", "2"], "--rows needs a positive integer"),
    ],
)
def test_plan_takes_a_table_or_shapes(tmp_path, words, reason):
    table = write_houses(tmp_path / "houses.csv")
    done = run("plan", *(table if word == "TABLE" else word for word in words))
    assert (done.exit_code, reason in done.stderr) == (2, True)


def test_prove_is_that_of_python():
    found = told("prove", "min", "--domain", "integers")
    assert (found["status"], found["dimension"], found["domain"]) == ("refuted", 1, "integers")
    assert "x1 = (-1)" in found["witness"]
    assert told("prove", "sinc", "--columns", "3")["status"] == "proven"
    hurried = told("prove", "sinc+linear", "--columns", "6", "--time-limit", "1e-9")
    assert hurried["status"] == "unknown"
    assert "the time limit of 1e-09 s was up" in hurried["steps"][-1]
    assert run("prove", "gaussian*linear").stdout == f"{mercer.prove('gaussian*linear')}\n"


def test_inspect_shows_the_kernel_and_the_target(fitted):
    shown = run("inspect", fitted / "houses.mercer").stdout
    assert "price" in shown
    assert "gaussian" in shown
    assert "gaussian" in json.dumps(told("inspect", fitted / "houses.mercer")["model"])


# -- doctor and demo --------------------------------------------------------------------------------------------------


def test_doctor_finds_this_machine_healthy():
    found = told("doctor")
    assert found["healthy"]
    assert {"python", "numpy", "memory", "values"} <= {check["name"] for check in found["checks"]}


def test_doctor_finds_what_is_missing(monkeypatch):
    monkeypatch.setattr(doctor, "NEEDED", ("numpy", "no-such-library"))
    done = run("doctor")
    assert done.exit_code == 1
    assert "FAIL  no-such-library" in done.stdout
    assert "no-such-library" in done.stderr


@pytest.mark.slow
def test_demo_leaves_a_model_and_a_picture(tmp_path, monkeypatch):
    """On every eighth week: the whole demo is what `make demo` runs."""
    lines = (files("mercer.cli") / "data" / demo.DATA).read_text().splitlines()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / demo.DATA).write_text("\n".join([lines[0], *lines[1::8]]) + "\n")
    monkeypatch.setattr(demo, "files", lambda package: tmp_path)
    found = told("demo", "--out", tmp_path / "here")
    assert found["model"] == str(tmp_path / "here" / "co2.mercer")
    assert (tmp_path / "here" / "co2.png").read_bytes().startswith(b"\x89PNG")
    rmse = {score["model"]: score["value"] for score in found["scores"] if score["metric"] == "rmse"}
    assert rmse["mercer"] < 1 < 2 < rmse["linear"] < rmse["mean"]
    data = "week\n1990-05-05\n1990-10-06\n"
    spring, autumn = columns_of(run("predict", found["model"], "-", data=data).stdout)["co2"]
    assert spring == pytest.approx(357.3, abs=1.5)  # as measured in these weeks
    assert autumn == pytest.approx(351.1, abs=1.5)
