"""Which columns matter, and how much more rows would help: of tables whose answers are known."""

import time

import numpy as np
import pytest
from command import told
from report_pages import clean_classes, clean_regression, write

from mercer.cli.fit import FitOptions
from mercer.cli.metrics import regression_scores
from mercer.cli.output import Voice
from mercer.cli.pipeline import fitted
from mercer.cli.report import curve as curves
from mercer.cli.report import importance as shuffling
from mercer.cli.report.curve import learning_curve
from mercer.cli.report.importance import importance


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """No test depends on how fast the machine is."""
    monkeypatch.setattr(shuffling, "MAX_SECONDS", 1e6)
    monkeypatch.setattr(curves, "MIN_SECONDS", 1e6)
    monkeypatch.setattr(curves, "MAX_SECONDS", 1e6)


def fit(path, target, **more):
    return fitted(FitOptions(table=str(path), target=target, quiet=True, **more), Voice("fit", quiet=True))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return fit(write(tmp_path_factory.mktemp("t") / "t.parquet", **clean_regression(400)), "y")


def test_the_column_that_tells_most_is_first(done):
    found = importance(done, 0)
    assert [found.names[i] for i in found.order] == ["a", "b", "noise"]
    mean = dict(zip(found.names, found.losses.mean(axis=1), strict=True))
    assert mean["a"] > 2.5  # without a, 3 a is off by 3 sqrt(2)
    assert abs(mean["noise"]) < 0.1
    assert found.losses.shape == (3, shuffling.REPEATS)
    assert found.whole == pytest.approx(next(s.value for s in done.scores[0][1] if s.metric == "rmse"))


def test_the_same_seed_shuffles_the_same_way(done):
    first, again, other = importance(done, 1), importance(done, 1), importance(done, 2)
    np.testing.assert_array_equal(first.losses, again.losses)
    assert (first.losses != other.losses).any()


def test_accuracy_falls(tmp_path):
    data = clean_classes(200)
    data["word"] = np.random.default_rng(0).choice(["p", "q"], 200)
    found = importance(fit(write(tmp_path / "t.parquet", **data), "c"), 0)
    assert found.metric == "accuracy"
    assert found.names[found.order[-1]] == "word"
    assert found.losses[found.order[0]].mean() > 0.2


def test_sparse_columns_have_their_numbers(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{x + 0.01 * rng.normal():.4f} 3:{x:.4f} 7:{rng.normal():.4f}" for x in rng.normal(size=150)]
    (tmp_path / "t.svm").write_text("\n".join(lines))
    found = importance(fit(tmp_path / "t.svm", "target"), 0)
    assert (found.names[found.order[0]], sorted(found.names), found.total) == ("3", ["3", "7"], 7)


def test_of_very_many_columns_some_are_drawn(done, monkeypatch):
    monkeypatch.setattr(shuffling, "MAX_COLUMNS", 2)
    found = importance(done, 0)
    assert (len(found.names), found.total) == (2, 3)


def test_rows_are_bounded(done, monkeypatch):
    monkeypatch.setattr(shuffling, "MAX_ROWS", 30)
    assert importance(done, 0).rows == 30


def test_nothing_is_shuffled_where_nothing_is_held_out(tmp_path):
    nothing = fit(write(tmp_path / "t.parquet", **clean_regression()), "y", test=0.0)
    assert importance(nothing, 0) is None
    assert learning_curve(nothing, 0) is None


# -- more rows --------------------------------------------------------------------------------------------------------


def test_more_rows_help(done):
    found = learning_curve(done, 0)
    assert found.sizes == sorted(set(found.sizes))
    assert found.sizes[-1] == 320
    values = [score.value for score in found.scores["mercer"]]
    assert values[-1] < 0.5 * values[0]
    assert values[-1] == pytest.approx(regression_scores(done.parts.truth, done.judged.predicted, 0)[0].value)
    flat = [score.value for score in found.scores["linear"]]
    assert flat[-1] > values[-1]  # a sine is no line


def test_patience_is_bounded(done, monkeypatch):
    monkeypatch.setattr(curves, "MIN_SECONDS", -1.0)
    monkeypatch.setattr(curves, "MAX_SECONDS", -1.0)
    assert learning_curve(done, 0).sizes == [320]  # what is known without a fit


def test_a_fit_that_would_take_too_long_is_not_begun():
    clock = curves._Clock(time.perf_counter() + 100.0)
    clock.since -= 1.0
    clock.passed(100)  # 100 rows took a second: 400 will take 32, 1,000 more than 300
    assert clock.rate * 400**2.5 == pytest.approx(32.0, rel=0.1)
    assert clock.allows(400)
    assert not clock.allows(1000)


def test_few_rows_have_no_curve(tmp_path):
    small = write(tmp_path / "t.parquet", **clean_regression(40))
    assert learning_curve(fit(small, "y"), 0) is None
    told("fit", small, "--target", "y", "--report", tmp_path / "report.html")


def test_texts_have_no_line_to_compare(tmp_path):
    words = np.random.default_rng(0).choice(["sun", "rain", "wind", "fog"], (120, 6))
    data = {"text": [" ".join(row) for row in words], "y": (words == "sun").sum(axis=1) + 0.5}
    found = learning_curve(fit(write(tmp_path / "t.parquet", **data), "y", task="regression"), 0)
    assert list(found.scores) == ["mercer"]
