"""Scores against scikit-learn and SciPy, and rows that are held out."""

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, log_loss, r2_score

from mercer.cli.baselines import constant, linear
from mercer.cli.features import Look
from mercer.cli.metrics import classification_scores, regression_scores, split, table_of_scores, wilson
from mercer.tables.read import Sheet


@given(st.integers(1, 500), st.data())
def test_property_shares_have_wilsons_interval(count, data):
    right = data.draw(st.integers(0, count))
    found, z = wilson("accuracy", right, count), 1.959963984540054
    middle = (right + z**2 / 2) / (count + z**2)
    half = z / (count + z**2) * np.sqrt(right * (count - right) / count + z**2 / 4)
    known = (right / count, middle - half, middle + half)
    assert (found.value, found.low, found.high) == pytest.approx(known, abs=1e-12)


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
    assert strange.value == pytest.approx(-np.log(np.finfo(float).eps))


def test_balanced_accuracy_is_scikit_learns():
    rng = np.random.default_rng(2)
    y, said = rng.choice(["a", "b", "c"], 200, p=[0.7, 0.2, 0.1]), rng.choice(["a", "b", "c"], 200)
    found = classification_scores(y, said, None, np.unique(y), 0)[1]
    assert found.metric == "balanced accuracy"
    assert found.value == pytest.approx(balanced_accuracy_score(y, said))
    assert found.low < found.value < found.high
    none = classification_scores(np.array(["a", "b"]), np.array(["z", "z"]), None, np.unique(y), 0)[1]
    assert (none.value, none.low, none.high) == (0.0, 0.0, 0.0)


def test_a_target_that_never_varies_is_not_explained():
    same = np.full(10, 3.0)
    found = regression_scores(same, np.linspace(2, 4, 10), 0)[2]
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    alone = regression_scores(np.array([1.0]), np.array([2.0]), 0)
    assert alone[0].value == 1.0
    assert np.isnan([alone[2].value, *(end for score in alone for end in (score.low, score.high))]).all()


@given(st.integers(0, 300), st.sampled_from([0.0, 0.1, 0.2, 0.5]), st.integers(1, 6), st.integers(0, 3))
def test_property_rows_are_fitted_or_held_out(count, share, classes, seed):
    y = np.random.default_rng(seed).integers(0, classes, count)
    train, test = split(y, True, share, seed)
    assert sorted([*train, *test]) == list(range(count))
    assert set(y[test]) <= set(y[train])  # no class is held out as a whole
    held = int(np.ceil(share * count))
    assert len(test) <= held
    if len(test) and np.bincount(y).min() > 1 and held >= classes:
        assert len(test) >= held - 1
        for label in range(classes):
            assert abs((y[test] == label).sum() - share * (y == label).sum()) <= 1.5


def test_a_class_of_one_row_is_fitted_and_the_others_keep_their_shares():
    y = np.array(["a"] * 60 + ["b"] * 39 + ["c"])
    for seed in range(20):
        train, test = split(y, True, 0.2, seed)
        assert "c" in y[train]
        assert abs((y[test] == "b").sum() - 8) <= 1
        assert len(test) >= 19


def test_regressions_hold_out_by_chance():
    train, test = split(np.arange(100.0), False, 0.2, 0)
    assert (len(train), len(test)) == (80, 20)
    assert not np.array_equal(test, split(np.arange(100.0), False, 0.2, 1)[1])


def test_constants():
    assert constant(np.array([1.0, 2.0, 6.0]), 2, classes=False).tolist() == [3.0, 3.0]
    assert constant(np.array(["a", "b", "b"]), 2, classes=True).tolist() == ["b", "b"]


def sheet_of(**columns):
    return Sheet("t", "csv", pyarrow.table(columns))


def test_a_linear_model_reads_numbers_and_labels():
    """y = 2 size + 5 for red: the ridge on standardised columns, as its definition has it."""
    rng = np.random.default_rng(0)
    size, red = rng.normal(10, 3, 200), rng.integers(0, 2, 200)
    colours = np.where(red, "red", "blue").astype(object)
    y = 2 * size + 5 * red
    train, test = (
        sheet_of(size=[*size, None], colour=[*colours, "red"]),
        sheet_of(size=[10.0, None], colour=["green", None]),
    )
    look = Look(None, ("size", "colour"), ("number", "text"))
    found = linear(look, train, np.append(y, 2 * size.mean() + 5), test, 0)
    z = np.column_stack([(np.append(size, size.mean()) - size.mean()), np.append(red, 1) == 0, np.append(red, 1) == 1])
    z[:, 0] /= z[:, 0].std()
    target = np.append(y, 2 * size.mean() + 5)
    centred = z - z.mean(axis=0)
    theta = np.linalg.solve(centred.T @ centred + np.eye(3), centred.T @ (target - target.mean()))
    new = np.array([[(10.0 - size.mean()) / np.append(size, size.mean()).std(), 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(found, target.mean() + (new - z.mean(axis=0)) @ theta, rtol=1e-10)


def test_texts_of_many_words_have_no_linear_model():
    many = sheet_of(text=[f"text {i}" for i in range(60)])
    assert linear(Look(None, ("text",), ("text",)), many, np.arange(60.0), many, 0) is None


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
