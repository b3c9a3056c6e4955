"""Lengthscales of a proposed kernel: which are found, when they are taken, and when nothing is tried."""

import numpy as np
import pytest
from command import run, told
from pyarrow import csv, table

import mercer
from mercer.cli.fit import FitOptions
from mercer.cli.lengthscales import MAX_CLASSES, MAX_LENGTHSCALES, MIN_ROWS, Sample, suited
from mercer.kernels import Gaussian, Linear, Periodic

pytestmark = pytest.mark.slow


def rows(count, columns=12, seed=0):
    """Numbers of which two columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, columns))
    return X, np.sin(2 * X[:, 3]) + X[:, 7] + 0.1 * rng.normal(size=count)


def found_for(kernel, X, y, dated=False, **options):
    """The kernel, and what is said of it where it is another one."""
    found = whole(kernel, X, y, dated, **options)
    return found.kernel, found.taken


def whole(kernel, X, y, dated=False, **options):
    return suited(FitOptions(table="", target="y", **options), kernel, lambda positions: X[positions], y, dated)


def scaled(columns):
    return Gaussian(columns**0.5).scaled([1.0] * columns)


def test_columns_that_matter_get_short_lengthscales():
    X, y = rows(900)
    kernel, said = found_for(scaled(12), X, y)
    assert set(np.argsort(kernel.lengthscales)[:2]) == {3, 7}
    assert said.startswith("12 lengthscales, one per column, by the likelihood of 450 rows. On 450 other rows")
    part = float(said.split("error is ")[1].split()[0])
    assert part < 0.5


def test_dates_ask_for_the_next_rows_and_not_for_those_in_between():
    """Weeks of a rising wave: shorter lengthscales would fit the gaps, and know nothing of next year."""
    week = 7.0 * np.arange(400)[:, None]
    y = 0.01 * week[:, 0] + np.sin(2 * np.pi * week[:, 0] / 365.25)
    kernel = Gaussian(1.41).scaled([800.0]) * Periodic(365.25, 1.41)
    assert found_for(kernel, week, y, dated=True) == (kernel, "")
    assert found_for(kernel, week, y)[0] != kernel


def test_classes_are_told_apart_as_well():
    X, y = rows(900)
    kernel, _ = found_for(scaled(12), X, np.array(["low", "mid", "high"])[np.digitize(y, [-0.7, 0.7])])
    assert set(np.argsort(kernel.lengthscales)[:2]) == {3, 7}


def test_what_does_not_prove_itself_on_other_rows_is_not_taken():
    """No column matters: nothing is won, and nothing is said."""
    X, _ = rows(600)
    assert found_for(scaled(12), X, np.random.default_rng(5).normal(size=600)) == (scaled(12), "")


@pytest.mark.parametrize(
    ("kernel", "count", "classes", "options"),
    [
        (scaled(12), MIN_ROWS - 2, 0, {}),
        (scaled(MAX_LENGTHSCALES + 1), 600, 0, {}),
        (scaled(12), 600, MAX_CLASSES + 1, {}),
        (Linear(), 600, 0, {}),
        (scaled(12), 600, 1, {}),
        (scaled(12), 600, 0, {"time_limit": "10s"}),
        (scaled(12), 600, 0, {"memory_limit": "100MB"}),
    ],
    ids=["few rows", "many columns", "many classes", "no lengthscale", "one class", "no time", "no memory"],
)
def test_nothing_is_tried_where_it_would_be_of_no_use(kernel, count, classes, options):
    X, y = rows(count, kernel.width or 12)
    y = y if not classes else np.argsort(np.argsort(y)) * classes // count
    assert found_for(kernel, X, y, **options) == (kernel, "")


@pytest.mark.parametrize(
    ("kernel", "count", "more", "words"),
    [
        (scaled(12), 600, {}, "per column was tried: on 300 other rows the squared leave-one-out error is "),
        (scaled(12), MIN_ROWS - 2, {}, "not tried: fewer than 300 rows are fitted"),
        (scaled(MAX_LENGTHSCALES + 1), 600, {}, "not tried: there would be 65, more than 64"),
        (scaled(12), 600, {"dated": True}, "not tried: there are dates"),
        (scaled(12), 600, {"time_limit": "10s"}, "no other lengthscales were tried: --time-limit is below a minute"),
        (
            scaled(12),
            600,
            {"learner": "svm"},
            "; lengthscales 0.125 to 2 times as long, 600 rows: none leaves 3 % less",
        ),
        (Gaussian(1.0), 600, {}, ""),
        (Linear(), 600, {}, ""),
    ],
    ids=["no better", "few rows", "many columns", "dates", "no time", "together", "one lengthscale", "none"],
)
def test_what_was_refused_is_told_to_those_who_ask(kernel, count, more, words):
    """Said by --verbose, in the report and to programs; a fit is silent on it."""
    rng = np.random.default_rng(5)
    found = whole(kernel, rng.normal(size=(count, kernel.width or 1)), rng.normal(size=count), **more)
    assert (found.kernel, found.taken) == (kernel, "")
    assert words in found.refused
    assert bool(words) == bool(found.refused)


def test_refusing_gives_the_error_and_its_bound(tmp_path):
    X, _ = rows(600)
    path, page = tmp_path / "table.csv", tmp_path / "r.html"
    noise = np.random.default_rng(5).normal(size=600)
    csv.write_csv(table({f"c{j}": X[:, j] for j in range(12)} | {"y": noise}), path)
    words = "one lengthscale per column was tried"
    (tried,) = told("fit", path, "--target", "y", "--report", page)["kernel"]["tried"]
    assert tried.startswith(words)
    assert float(tried.split("error is ")[1].split()[0]) >= 0.95
    assert tried.endswith("from 0.95 on, the common one is kept")
    assert tried in page.read_text()
    assert tried in run("fit", path, "--target", "y", "--verbose").stderr
    assert words not in run("fit", path, "--target", "y").stderr


def test_many_rows_stretch_all_lengthscales_together():
    """A short wave of one column: there is no column to choose, and the proposal is too wide."""
    X = np.random.default_rng(0).uniform(-3, 3, size=(1_600, 1))
    y = np.sin(8 * X[:, 0])
    kernel, said = found_for(Gaussian(4.0), X, y)
    assert kernel.lengthscale < 2
    assert said.startswith("lengthscales by leave-one-out on 1,000 rows: gaussian")


def test_targets_become_numbers():
    y = np.array(["a", "b", "a", "c"])
    sample = Sample(lambda positions: positions, y, np.array([0, 1, 3]))
    np.testing.assert_array_equal(sample.numbers(), [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def test_a_fit_says_so_and_the_report_of_its_kernel_can_be_parsed(tmp_path):
    X, y = rows(500)
    path = tmp_path / "table.csv"
    csv.write_csv(table({f"c{j}": X[:, j] for j in range(12)} | {"y": y}), path)
    assert (
        "12 lengthscales, one per column"
        in run("fit", path, "--target", "y", "--out", tmp_path / "m", "--verbose").stderr
    )
    found = told("fit", path, "--target", "y", "--out", tmp_path / "m2")
    kernel = mercer.parse(found["kernel"]["text"])
    assert mercer.prove(kernel).status == "proven"
    ours = {score["metric"]: score["value"] for score in found["scores"] if score["model"] == "mercer"}
    assert ours["r2"] > 0.95
