"""The parabolic lift in three dimensions: the plane, its circle, and the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planes import CIRCLES, SIDES, Slope, blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelSVC, Perceptron, region
from mercer.displays import ParabolicDisplay
from mercer.displays.lifted import Level, cut
from mercer.errors import InputError
from mercer.lifts import Parabolic

figures = pytest.importorskip("matplotlib.figure")


def lifted(artist):
    """The points of an artist of three dimensions, (m, 3)."""
    return np.stack([np.asarray(each, dtype=float) for each in artist._offsets3d], axis=1)


def curve(line):
    """The points of a line of three dimensions that are drawn."""
    found = np.stack([np.asarray(each, dtype=float) for each in line.get_data_3d()], axis=1)
    return found[np.isfinite(found).all(axis=1)]


def polygon(artist):
    """The corners of a polygon of three dimensions, wherever this matplotlib keeps them."""
    faces = getattr(artist, "_faces", None)
    return np.asarray(artist._vec[:3].T if faces is None else faces[0], dtype=float)


class Far(Slope):
    """The circle of radius 2 around a point far away, by sums of squares that cancel."""

    middle = np.array([1e5, -3e4])

    def decision_function(self, X):
        rows = np.asarray(X)
        return (rows**2).sum(axis=1) - 2 * rows @ self.middle + (self.middle @ self.middle - 4)


@pytest.fixture(scope="module")
def shifted():
    """Circles around (5, -2), and a linear model on their lift."""
    X = CIRCLES + np.array([5.0, -2.0])
    model = make_pipeline(Parabolic(), StandardScaler(), LogisticRegression(C=100)).fit(X, SIDES)
    return X, model, ParabolicDisplay.from_estimator(model, X, SIDES)


def test_the_plane_has_the_weights_of_the_model(shifted):
    _, model, drawn = shifted
    scaler, line = model[1], model[2]
    weights = line.coef_[0] / scaler.scale_
    np.testing.assert_allclose(drawn.weights, weights, rtol=1e-7)
    assert drawn.intercept == pytest.approx(line.intercept_[0] - weights @ scaler.mean_, rel=1e-7)
    np.testing.assert_allclose(polygon(drawn.plane_) @ weights + drawn.intercept, 0, atol=1e-6)


def test_the_circle_is_the_region_of_the_model(shifted):
    _, model, drawn = shifted
    ball = region(model)
    points = curve(drawn.circle_)
    distances = np.linalg.norm(points[:, :2] - ball.center, axis=1)
    np.testing.assert_allclose(distances, ball.radius, rtol=1e-6)
    assert len(np.unique(points[:, 2])) == 1  # on the floor
    assert drawn.circle_.get_label() == f"circle of radius {ball.radius:.3g}"


def test_the_cut_lies_on_the_paraboloid_and_on_the_plane(shifted):
    _, _, drawn = shifted
    points = curve(drawn.cut_)
    np.testing.assert_allclose(points[:, 2], (points[:, :2] ** 2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(points @ drawn.weights + drawn.intercept, 0, atol=1e-6)


def test_rows_are_lifted_and_stand_on_the_floor(shifted):
    X, _, drawn = shifted
    for label, points, shadows in zip(("inner", "outer"), drawn.points_, drawn.shadows_, strict=True):
        rows = X[label == SIDES]
        np.testing.assert_allclose(np.sort(lifted(points)[:, 2]), np.sort((rows**2).sum(axis=1)), rtol=1e-12)
        np.testing.assert_allclose(np.sort(lifted(shadows)[:, 0]), np.sort(rows[:, 0]), rtol=1e-12)
    assert drawn.ax_.get_zlabel() == "x1² + x2²"


@pytest.mark.parametrize(
    "model",
    [KernelSVC("parabolic", C=10), Perceptron(Parabolic(), max_iter=200)],
    ids=["svc", "perceptron"],
)
def test_models_of_mercer(model):
    drawn = ParabolicDisplay.from_estimator(model.fit(CIRCLES, SIDES), CIRCLES, SIDES)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    features = np.column_stack([rows, (rows**2).sum(axis=1)])
    np.testing.assert_allclose(features @ drawn.weights + drawn.intercept, model.decision_function(rows), atol=1e-8)


def test_rows_far_from_zero():
    drawn = ParabolicDisplay.from_estimator(Far(), CIRCLES + Far.middle, SIDES)
    np.testing.assert_allclose(np.linalg.norm(curve(drawn.circle_)[:, :2] - Far.middle, axis=1), 2, rtol=1e-4)


def test_an_upright_plane_stands_above_a_line():
    X, y = blobs()
    drawn = ParabolicDisplay.from_estimator(KernelSVC("linear").fit(X, y), X, y)
    points = curve(drawn.circle_)
    np.testing.assert_allclose(points[:, :2] @ drawn.weights[:2] + drawn.intercept, 0, atol=1e-9)
    assert drawn.circle_.get_label() == "line"
    assert len(polygon(drawn.plane_)) == 4


def test_a_plane_that_misses_everything():
    drawn = ParabolicDisplay(CIRCLES, SIDES, [0.0, 0.0, 1.0], 1000.0).plot()
    assert drawn.plane_ is drawn.circle_ is drawn.cut_ is None


@given(st.integers(0, 2**32 - 1))
def test_a_plane_cut_to_a_box_is_a_polygon_in_both(seed):
    rng = np.random.default_rng(seed)
    low, high = -rng.uniform(0.5, 2, 3), rng.uniform(0.5, 2, 3)
    level = Level(rng.normal(size=3), 0.2 * rng.normal())
    points = cut(level, low, high)
    np.testing.assert_allclose(points @ level.weights + level.intercept, 0, atol=1e-9)
    assert ((points > low - 1e-9) & (points < high + 1e-9)).all()
    sides = np.roll(points, -1, axis=0) - points
    turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ level.weights
    assert (turns > -1e-9).all() or (turns < 1e-9).all()  # convex, and in order


def test_axes_of_three_dimensions():
    figure = figures.Figure()
    ax = figure.add_subplot(1, 2, 1, projection="3d")
    drawn = ParabolicDisplay(CIRCLES, SIDES, [0.0, 0.0, 1.0], -4.0).plot(ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is figure
    with pytest.raises(InputError, match=r"axes of three dimensions; got others\. Use figure\.add_subplot\(projection"):
        ParabolicDisplay(CIRCLES, SIDES, [0.0, 0.0, 1.0], -4.0).plot(figure.add_subplot(1, 2, 2))


@pytest.mark.parametrize(
    "rows", [CIRCLES[:1], np.ones((3, 2)), 1e6 + CIRCLES, 1e20 * CIRCLES], ids=["one row", "constant", "offset", "huge"]
)
def test_odd_rows_are_drawn(rows, tmp_path):
    drawn = ParabolicDisplay(rows, ["one"] * len(rows), [0.0, 0.0, 1.0], -1.0).plot()
    drawn.figure_.savefig(tmp_path / "odd.png")
    assert len(lifted(drawn.points_[0])) == len(rows)


def test_what_cannot_be_drawn():
    wave = KernelSVC("gaussian(1)").fit(CIRCLES, SIDES)
    message = r"a decision function that is linear in x1, x2 and x1\^2 \+ x2\^2; got another\. Use KernelSVC"
    with pytest.raises(InputError, match=message):
        ParabolicDisplay.from_estimator(wave, CIRCLES, SIDES)
    wide = make_pipeline(StandardScaler(), KernelSVC("parabolic")).fit(CIRCLES * np.array([1.0, 9.0]), SIDES)
    with pytest.raises(InputError, match=message):  # an ellipse in these columns
        ParabolicDisplay.from_estimator(wide, CIRCLES * np.array([1.0, 9.0]), SIDES)
    three = KernelSVC("parabolic").fit(CIRCLES, np.arange(60) % 3)
    with pytest.raises(InputError, match=r"two classes; got 3 scores per row"):
        ParabolicDisplay.from_estimator(three, CIRCLES)
    with pytest.raises(InputError, match=r"rows of two columns; got an array of shape \(4, 3\)"):
        ParabolicDisplay.from_estimator(Slope(), np.ones((4, 3)))
    with pytest.raises(InputError, match=r"KernelSVC has none\. Fit the model first"):
        ParabolicDisplay.from_estimator(KernelSVC(), CIRCLES)


@pytest.mark.parametrize(
    ("weights", "intercept"), [([0.0, 0.0, 0.0], 1.0), ([1.0, 2.0], 0.0), ([1.0, 2.0, np.nan], 0.0)]
)
def test_weights_that_are_no_plane(weights, intercept):
    with pytest.raises(InputError, match=r"three finite weights, not all zero, and an intercept; got .*\."):
        ParabolicDisplay(CIRCLES, SIDES, weights, intercept).plot()
