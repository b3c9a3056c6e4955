"""The decision boundary, its margins and the support vectors."""

import numpy as np
import pytest
from planes import CIRCLES, SIDES, Slope, blobs, corners, offsets
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer import KernelLogisticRegression, KernelOneClassSVM, KernelPerceptron, KernelRidge, KernelSVC
from mercer.displays import BoundaryDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
X = np.random.default_rng(0).uniform(-1, 1, size=(50, 2))
Y = Slope().predict(X)


def test_levels_are_where_the_decision_function_has_them():
    drawn = BoundaryDisplay.from_estimator(Slope(), X, Y, margins=True, grid=30)
    assert drawn.boundary_.levels.tolist() == [-1, 0, 1]
    for level in (-1, 0, 1):
        values = Slope().decision_function(corners(drawn.boundary_, level))
        np.testing.assert_allclose(values, level, atol=1e-9)  # it is linear, and so are contours between places


def test_the_boundary_of_a_machine_is_where_it_is_zero_and_where_labels_change():
    X, y = blobs()
    model = KernelSVC("gaussian(2)", C=10).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y, grid=150)
    for level in (-1, 0, 1):
        assert np.abs(model.decision_function(corners(drawn.boundary_, level)) - level).max() < 0.01
    inside = drawn.scores > 0
    np.testing.assert_array_equal(drawn.regions == "right", inside)
    oracle = SVC(kernel="rbf", gamma=1 / 8, C=10).fit(X, y)
    assert np.abs(oracle.decision_function(corners(drawn.boundary_, 0))).max() < 0.02


def test_rows_and_support_vectors():
    X, y = blobs()
    model = KernelSVC("linear", C=10).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y, grid=20)
    oracle = SVC(kernel="linear", C=10).fit(X, y)
    np.testing.assert_array_equal(offsets(drawn.support_), X[np.sort(oracle.support_)])
    for label, points in zip(("left", "right"), drawn.points_, strict=True):
        np.testing.assert_array_equal(offsets(points), X[y == label])
    shown = [text.get_text() for text in drawn.legend_.get_texts()]
    assert shown == ["left", "right", f"support vectors ({len(oracle.support_)})"]


def test_support_can_be_left_out_as_for_new_rows():
    X, y = blobs()
    model = KernelSVC("linear").fit(X, y)
    assert BoundaryDisplay.from_estimator(model, X[:3], y[:3], support=False, grid=10).support_ is None
    with pytest.raises(InputError, match=r"needs the rows of the fit, .*; got 3 rows\. Give these rows, or use supp"):
        BoundaryDisplay.from_estimator(model, X[:3], y[:3], grid=10)


def test_a_pipeline_rings_the_rows_of_its_last_step():
    X, y = blobs()
    model = make_pipeline(StandardScaler(), KernelSVC("linear")).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y, grid=10)
    np.testing.assert_array_equal(offsets(drawn.support_), X[model[-1].support_])
    np.testing.assert_allclose(model.decision_function(corners(drawn.boundary_, 0)), 0, atol=1e-9)


def test_more_classes_are_regions():
    y = np.digitize(X[:, 0], [-0.3, 0.3])
    model = KernelSVC("gaussian(1)", C=10).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y, grid=25)
    assert drawn.scores is None
    assert len(drawn.boundary_) == 3
    np.testing.assert_array_equal(np.asarray(drawn.regions_.get_array()).reshape(25, 25), drawn.regions)
    places = np.array([(x, y) for y in drawn.up for x in drawn.across])
    np.testing.assert_array_equal(drawn.regions.ravel(), model.predict(places))


@pytest.mark.parametrize(
    "model",
    [KernelLogisticRegression("gaussian(1)"), KernelPerceptron("gaussian(1)"), KNeighborsClassifier(3)],
    ids=["logistic", "perceptron", "neighbours"],
)
def test_other_classifiers(model):
    drawn = BoundaryDisplay.from_estimator(model.fit(CIRCLES, SIDES), CIRCLES, SIDES, grid=30)
    assert (drawn.scores is None) == (not hasattr(model, "decision_function"))
    middle = drawn.regions[len(drawn.up) // 2, len(drawn.across) // 2]
    assert (middle, drawn.regions[0, 0]) == ("inner", "outer")


def test_one_class_colours_rows_by_what_is_predicted():
    model = KernelOneClassSVM("gaussian(1)").fit(CIRCLES[:30])
    drawn = BoundaryDisplay.from_estimator(model, CIRCLES[:30], grid=20)
    assert drawn.labels_.tolist() == [-1, 1]
    assert len(offsets(drawn.points_[1])) == np.sum(model.predict(CIRCLES[:30]) == 1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    rows, y = blobs()
    table = frames.DataFrame({"width": rows[:, 0], "height": rows[:, 1]})
    model = KernelSVC("linear").fit(table, y)
    drawn = BoundaryDisplay.from_estimator(model, table, frames.Series(values=y) if library == "polars" else y, grid=10)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("width", "height")
    np.testing.assert_array_equal(offsets(drawn.points_[0]), rows[y == "left"])


def test_frames_that_may_miss_values():
    frames = pytest.importorskip("pandas")
    rows, y = blobs()
    table = frames.DataFrame(rows, columns=["width", "height"])
    model = KernelSVC("linear").fit(table, y)
    drawn = BoundaryDisplay.from_estimator(model, table.convert_dtypes(), frames.Series(y, dtype="category"), grid=10)
    np.testing.assert_array_equal(offsets(drawn.points_[0]), rows[y == "left"])
    table.loc[3, "width"] = None
    with pytest.raises(InputError, match=r"finite numbers; got others"):
        BoundaryDisplay.from_estimator(model, table.convert_dtypes(), y, grid=10)


@pytest.mark.parametrize(
    "rows",
    [X[:1], np.ones((4, 2)), 1e12 + np.arange(8.0).reshape(4, 2), 1e90 * X, np.array([[True, False], [False, True]])],
    ids=["one row", "constant", "offset", "huge", "booleans"],
)
def test_odd_rows_are_drawn(rows, tmp_path):
    drawn = BoundaryDisplay.from_estimator(Slope(), rows, ["one"] * len(rows), grid=10)
    assert (np.diff(drawn.across) > 0).all()
    assert (np.diff(drawn.up) > 0).all()
    drawn.figure_.savefig(tmp_path / "odd.png")


def test_a_boundary_out_of_sight():
    drawn = BoundaryDisplay.from_estimator(Slope(), X + np.array([100, 0]), grid=10)
    assert drawn.boundary_ == []
    assert drawn.labels_.tolist() == ["up"]


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (np.ones((4, 3)), Y, r"BoundaryDisplay needs rows of two columns; got an array of shape \(4, 3\)\."),
        (np.array([[0.0, np.nan]]), Y[:1], r"BoundaryDisplay needs finite numbers; got others\."),
        (1e200 * X, Y, r"numbers of at most 1e\+100; got .*\. Scale the columns down\."),
        (X, Y[1:], r"one label per row; y has shape \(49,\) for 50 rows\."),
        (X, np.where(X[:, 0] > 0, np.nan, 1.0), r"a label for every row; got NaN or None\."),
        (X, [None, *Y[1:]], r"a label for every row; got NaN or None\."),
        (X, np.array([1, *Y[1:]], dtype=object), r"labels of one kind; got texts and others\. Write all as texts"),
    ],
    ids=["three columns", "NaN", "too large", "few labels", "NaN label", "no label", "mixed labels"],
)
def test_what_cannot_be_drawn(rows, y, message):
    with pytest.raises(InputError, match=message):
        BoundaryDisplay.from_estimator(Slope(), rows, y, grid=5)


def test_what_is_not_fitted():
    with pytest.raises(
        InputError, match=r"something that has n_features_in_; KernelSVC has none\. Fit the model first"
    ):
        BoundaryDisplay.from_estimator(KernelSVC(), X, Y)
    with pytest.raises(InputError, match=r"Pipeline has none\. Fit the model first\."):
        BoundaryDisplay.from_estimator(make_pipeline(StandardScaler(), KernelSVC()), X, Y)
    with pytest.raises(InputError, match=r"labels of one kind; the model has texts and the rows have numbers"):
        BoundaryDisplay.from_estimator(Slope(), X, np.arange(50) % 2, grid=5)
    regression = KernelRidge("gaussian(1)", alpha=0.1).fit(X, X[:, 0])
    with pytest.raises(InputError, match=r"at most 200 different labels; got 950\. Use a classifier"):
        BoundaryDisplay.from_estimator(regression, X, X[:, 0], grid=30)
    wide = KernelSVC().fit(np.column_stack([X, X]), Y)
    with pytest.raises(InputError, match=r"a model of 2 columns; KernelSVC was fitted to 4\. Fit it to the columns"):
        BoundaryDisplay.from_estimator(wide, X, Y)
    with pytest.raises(InputError, match=r"a grid of two places or more; got 1"):
        BoundaryDisplay.from_estimator(Slope(), X, Y, grid=1)
