"""Which lifts separate two classes, a panel for each: exercise 17."""

import numpy as np
import pytest
from planes import offsets
from scipy.optimize import linprog
from sklearn.preprocessing import PolynomialFeatures

from mercer.displays import SeparationDisplay
from mercer.errors import InputError
from mercer.kernels import Linear
from mercer.lifts import Monomials, Parabolic

figures = pytest.importorskip("matplotlib.figure")


def squares(*columns):
    """A lift of some of x1, x2, x1^2, x1 x2, x2^2 and of their sums."""

    def phi(X):
        five = [X[:, 0], X[:, 1], X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2]
        return np.column_stack([sum(weight * five[k] for k, weight in each.items()) for each in columns])

    return phi


EXERCISE = {
    "A": "linear",
    "B": squares({0: 1}, {1: 1}, {3: 1}),
    "C": Parabolic(),
    "D": squares({0: 1}, {1: 1}, {2: 1, 4: 2}),
    "E": Monomials(degree=2, include_bias=False),
}
TURN = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
AXES = {"turned": (2.0, 1.0, TURN), "circle": (1.5, 1.5, np.eye(2)), "twice": (1.5 * np.sqrt(2), 1.5, np.eye(2))}


def ellipse(name, count=200):
    wide, high, turn = AXES[name]
    X = np.random.default_rng(17).uniform(-3, 3, size=(count, 2))
    size = ((X @ turn / [wide, high]) ** 2).sum(axis=1)
    kept = np.abs(size - 1) > 0.05
    return X[kept], np.where(size[kept] < 1, "within", "outside")


def separable(features, y):
    """An oracle: whether a linear programme has a solution."""
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    rows = -sign[:, None] * np.column_stack([features, np.ones(len(features))])
    return linprog(np.zeros(rows.shape[1]), rows, -np.ones(len(rows)), bounds=(None, None)).status == 0


@pytest.mark.parametrize("name", AXES)
def test_exercise_17(name):
    X, y = ellipse(name)
    drawn = SeparationDisplay.from_lifts(EXERCISE, X, y, grid=60)
    tables = [X, EXERCISE["B"](X), Parabolic().fit_transform(X), EXERCISE["D"](X), Monomials(2).fit_transform(X)]
    expected = ["separates" if separable(table, y) else "does not separate" for table in tables]
    assert [axes.get_title() for axes in drawn.axes_] == [f"{k}: {v}" for k, v in zip("ABCDE", expected, strict=True)]
    assert expected[4] == "separates"
    assert expected[:2] == ["does not separate"] * 2
    for axes, answer, rings in zip(drawn.axes_, expected, drawn.wrong_, strict=True):
        assert (rings is None) == (answer == "separates")
        assert axes.get_legend() is None
    shown = [text.get_text() for text in drawn.legend_.get_texts()]
    assert shown == ["outside", "within", "on the wrong side"]


def test_the_boundary_is_that_of_the_labels():
    X, y = ellipse("turned")
    drawn = SeparationDisplay.from_lifts({"E": EXERCISE["E"]}, X, y, grid=80)
    features = PolynomialFeatures(2)
    table = features.fit_transform(np.vstack(drawn.boundaries_[0].allsegs[0]))
    values = drawn.scores[0].ravel()
    places = np.column_stack([each.ravel() for each in np.meshgrid(drawn.across, drawn.up)])
    weights = np.linalg.lstsq(features.transform(places), values)[0]
    np.testing.assert_allclose(table @ weights, 0, atol=0.01 * np.abs(values).max())
    np.testing.assert_array_equal(features.transform(X) @ weights > 0, y == "within")


def test_a_plane_with_all_on_one_side_has_no_boundary():
    X, y = ellipse("circle")
    drawn = SeparationDisplay.from_lifts({"A": "linear"}, X, y, grid=30)
    assert drawn.boundaries_ == [None]
    np.testing.assert_array_equal(offsets(drawn.wrong_[0]), X[y == "within"])


def test_the_plane_of_least_violations():
    """On one feature the best threshold can be tried."""
    X = np.column_stack([np.arange(8.0), np.zeros(8)])
    y = np.array(["a", "a", "a", "b", "a", "b", "b", "b"])
    drawn = SeparationDisplay.from_lifts({"x1": lambda X: X[:, 0]}, X, y, grid=200)
    wrong = [np.sum((X[:, 0] > t) != (y == "b")) for t in np.arange(-0.5, 8)]
    assert min(wrong) == 1
    assert len(offsets(drawn.wrong_[0])) in (1, 2)
    assert drawn.answers == ["no"]


@pytest.mark.parametrize("lift", ["gaussian(1)", Linear() ** 2 + Linear()], ids=["no finite lift", "kernel"])
def test_kernels(lift):
    X, y = ellipse("turned")
    drawn = SeparationDisplay.from_lifts({"k": lift}, X, y, grid=30)
    assert drawn.answers == ["yes"]


def test_frames_and_axes_of_others():
    pandas = pytest.importorskip("pandas")
    X, y = ellipse("circle", 60)
    table = pandas.DataFrame(X, columns=["width", "height"])
    axes = figures.Figure().subplots(1, 3)
    drawn = SeparationDisplay.from_lifts({"C": Parabolic(), "A": "linear"}, table, pandas.Series(y), grid=10, ax=axes)
    assert drawn.axes_ == list(axes[:2])
    assert not axes[2].has_data()
    assert (axes[1].get_xlabel(), axes[1].get_ylabel()) == ("width", "height")
    assert drawn.legend_.axes is axes[0]


def test_what_cannot_be_asked():
    X, y = ellipse("circle", 40)
    for lifts, got in (({}, "got none"), ([Parabolic()], "got list")):
        with pytest.raises(InputError, match=rf"SeparationDisplay needs lifts by name; {got}\. Use"):
            SeparationDisplay.from_lifts(lifts, X, y)
    with pytest.raises(InputError, match=r"two classes; got 1\. Ask for one against the rest"):
        SeparationDisplay.from_lifts(EXERCISE, X, ["a"] * len(X))
    with pytest.raises(InputError, match=r"a lift, another transformer, a kernel, formulas or a fun.*; got 3\."):
        SeparationDisplay.from_lifts({"A": 3}, X, y, grid=5)
    with pytest.raises(InputError, match=r"a row of features for each of \d+ rows; .* an array of shape \(2, 1\)"):
        SeparationDisplay.from_lifts({"A": lambda X: np.ones(2)}, X, y, grid=5)
    with pytest.raises(InputError, match=r"2 axes; got 1\. Use figure\.subplots\(1, 2\)"):
        SeparationDisplay.from_lifts({"A": "linear", "C": Parabolic()}, X, y, grid=5, ax=figures.Figure().add_subplot())
    with pytest.raises(InputError, match=r"names, scores, answers and wrong rows of each lift; got 1, 1, 0 and 0"):
        SeparationDisplay(X, y, [0, 1], [0, 1], ["A"], np.ones((1, 2, 2)), [], []).plot()
    with pytest.raises(InputError, match=r"answers of 'yes', 'no', 'not resolved'; got \['maybe'\]"):
        SeparationDisplay(X, y, [0, 1], [0, 1], ["A"], np.ones((1, 2, 2)), ["maybe"], [[]]).plot()
