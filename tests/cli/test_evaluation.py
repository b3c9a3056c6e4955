"""Scores against scikit-learn and SciPy, and rows that are held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import log_loss, r2_score

from mercer.cli.baselines import _labels, constant
from mercer.cli.metrics import classification_scores, regression_scores, split, table_of_scores, wilson


@given(st.integers(1, 500), st.data())
def test_property_wilson_is_scipys(count, data):
    right = data.draw(st.integers(0, count))
    known = binomtest(right, count).proportion_ci(method="wilson")
    found = wilson("accuracy", right, count)
    assert (found.value, found.low, found.high) == pytest.approx((right / count, known.low, known.high), abs=1e-12)


def test_intervals_of_the_error_cover_the_truth():
    """Errors of deviation 2: in 100 samples the interval of 95 % holds it about 95 times."""
    rng = np.random.default_rng(0)
    held = 0
    for seed in range(100):
        errors = rng.normal(scale=2.0, size=150)
        rmse = regression_scores(errors, np.zeros(150), seed)[0]
        held += rmse.low <= 2.0 <= rmse.high
    assert 85 <= held <= 99


def test_the_mean_explains_nothing_and_the_truth_everything():
    y = np.arange(20.0)
    scores = {score.metric: score.value for score in regression_scores(y, y, 0)}
    assert scores == {"rmse": 0.0, "mae": 0.0, "r2": 1.0}
    assert {s.metric: s.value for s in regression_scores(y, np.full(20, y.mean()), 0)}["r2"] == pytest.approx(0)


def test_log_loss_is_scikit_learns_and_new_labels_cost_most():
    rng = np.random.default_rng(1)
    classes, chances = np.array(["a", "b", "c"]), rng.dirichlet(np.ones(3), 50)
    y = rng.choice(classes, 50)
    found = classification_scores(y, classes[chances.argmax(axis=1)], chances, classes, 0)[-1]
    assert found.value == pytest.approx(log_loss(y, chances, labels=classes))
    strange = classification_scores(np.array(["z"]), np.array(["a"]), np.array([[1.0, 0, 0]]), classes, 0)[-1]
    assert strange.value == pytest.approx(-np.log(1e-15))


@given(st.integers(0, 300), st.sampled_from([0.0, 0.1, 0.2, 0.5]), st.integers(1, 6), st.integers(0, 3))
def test_property_rows_are_fitted_or_held_out(count, share, classes, seed):
    y = np.random.default_rng(seed).integers(0, classes, count)
    train, test = split(y, True, share, seed)
    assert sorted([*train, *test]) == list(range(count))
    assert set(y[test]) <= set(y[train])  # no class is held out as a whole
    if len(test):
        assert len(test) == np.ceil(share * count)
        for label in range(classes):
            assert abs((y[test] == label).sum() - share * (y == label).sum()) <= 1.5


def test_regressions_hold_out_by_chance():
    train, test = split(np.arange(100.0), False, 0.2, 0)
    assert (len(train), len(test)) == (80, 20)
    assert not np.array_equal(test, split(np.arange(100.0), False, 0.2, 1)[1])


def test_constants():
    assert constant(np.array([1.0, 2.0, 6.0]), 2, classes=False).tolist() == [3.0, 3.0]
    assert constant(np.array(["a", "b", "b"]), 2, classes=True).tolist() == ["b", "b"]


def test_labels_that_were_not_fitted_are_zeros():
    fitted, new = _labels(["a", "b", None], ["b", "z"])
    assert fitted.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert new.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert _labels(["a", "a"], ["a"]) is None


def test_scores_stand_side_by_side():
    lines = table_of_scores([("one", [wilson("accuracy", 1, 2)]), ("two", [])]).splitlines()
    assert lines[0].split() == ["model", "accuracy"]
    assert lines[1].startswith("one    0.5 [")
    assert lines[2] == "two"


def test_the_explained_part_does_not_depend_on_where_zero_is():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    predicted = y + 0.5 * rng.normal(size=400)
    near, far = (regression_scores(y + shift, predicted + shift, 0)[2] for shift in (0.0, 2.0**30))
    assert near.value == pytest.approx(r2_score(y, predicted))
    assert far.value == pytest.approx(near.value, abs=1e-6)
    assert (far.low, far.high) == pytest.approx((near.low, near.high), abs=1e-6)
