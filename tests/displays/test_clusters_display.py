"""Regions of clusters, and rows in their colours."""

import numpy as np
import pytest
from stand_ins import Labelled, Quadrants

from mercer import KernelKMeans, SpectralClustering
from mercer.displays import ClusterDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
X = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))


def offsets(points):
    return np.asarray(points.get_offsets())


def test_rows_have_the_colour_of_their_region():
    drawn = ClusterDisplay.from_estimator(Quadrants(), X, grid=20)
    assert drawn.labels_.tolist() == sorted(Quadrants.names)
    labels = Quadrants().predict(X)
    for label, points in zip(drawn.labels_, drawn.points_, strict=True):
        np.testing.assert_allclose(offsets(points), X[labels == label], rtol=1e-15)
    colours = [tuple(points.get_facecolors()[0]) for points in drawn.points_]
    assert len(set(colours)) == 4
    mesh = drawn.regions_
    codes = np.asarray(mesh.get_array()).ravel()
    assert [tuple(colour) for colour in mesh.cmap(mesh.norm(np.arange(4)))] == colours
    expected = Quadrants().predict(model_grid(drawn))
    assert drawn.labels_[codes.astype(int)].tolist() == expected.tolist()


def model_grid(drawn):
    return np.array([(x, y) for y in drawn.up for x in drawn.across])


def test_the_grid_covers_the_rows():
    model = Quadrants()
    drawn = ClusterDisplay.from_estimator(model, X, grid=15)
    assert [len(asked) for asked in model.asked] == [225, 60]
    grid = model.asked[0]
    assert (grid.min(axis=0) < X.min(axis=0)).all()
    assert (grid.max(axis=0) > X.max(axis=0)).all()
    assert drawn.regions.shape == (15, 15)


def test_boundaries_are_between_the_regions():
    drawn = ClusterDisplay.from_estimator(Quadrants(), X, grid=41)
    assert len(drawn.boundaries_) == 4
    step = drawn.across[1] - drawn.across[0], drawn.up[1] - drawn.up[0]
    for contours in drawn.boundaries_:
        corners = np.vstack(contours.allsegs[0])
        near = (np.abs(corners) <= step).any(axis=1)  # of one of the axes, which part the quadrants
        assert near.all()


def test_one_region_has_no_boundary():
    drawn = ClusterDisplay.from_estimator(Quadrants(), 1.0 + X / 10, grid=10)
    assert drawn.labels_.tolist() == ["ne"]
    assert drawn.boundaries_ == []


def test_a_column_that_is_constant():
    drawn = ClusterDisplay.from_estimator(Quadrants(), np.column_stack([X[:, 0], np.ones(60)]), grid=10)
    assert drawn.up[0] < 1 < drawn.up[-1]
    assert drawn.labels_.tolist() == ["ne", "nw"]


def test_a_model_without_predict_has_labels_alone():
    drawn = ClusterDisplay.from_estimator(Labelled(np.arange(60) % 3), X)
    assert drawn.regions_ is drawn.regions is None
    assert drawn.boundaries_ == []
    assert [len(offsets(points)) for points in drawn.points_] == [20, 20, 20]


def test_axes_are_named_and_respected():
    figure = figures.Figure()
    left, right = figure.subplots(1, 2)
    drawn = ClusterDisplay.from_estimator(Quadrants(), X, ax=left, grid=10)
    assert drawn.ax_ is left
    assert drawn.figure_ is figure
    assert (left.get_xlabel(), left.get_ylabel()) == ("x1", "x2")
    assert not right.has_data()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_asked_with_their_names(library):
    frames = pytest.importorskip(library)
    table, model = frames.DataFrame({"width": X[:, 0], "height": X[:, 1]}), Quadrants()
    drawn = ClusterDisplay.from_estimator(model, table, grid=10)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("width", "height")
    grid, rows = model.asked
    assert isinstance(grid, frames.DataFrame)
    assert list(grid.columns) == ["width", "height"]
    assert rows is table


def test_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    drawn = ClusterDisplay.from_estimator(Labelled(np.zeros(60)), sparse.csr_array(X))
    np.testing.assert_allclose(offsets(drawn.points_[0]), X, rtol=1e-15)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((4, 3)), r"rows of two columns; got an array of shape \(4, 3\)\. Draw scores of the rows"),
        (np.ones((0, 2)), r"rows of two columns; got an array of shape \(0, 2\)\."),
        (np.array([[0.0, np.nan]]), r"ClusterDisplay needs finite numbers; got others\."),
    ],
)
def test_rows_that_cannot_be_drawn(rows, message):
    with pytest.raises(InputError, match=message):
        ClusterDisplay.from_estimator(Quadrants(), rows)


def test_what_cannot_be_drawn():
    with pytest.raises(InputError, match=r"one label per row; got labels of shape \(3,\) for 60 rows\."):
        ClusterDisplay.from_estimator(Labelled([0, 1, 2]), X)
    with pytest.raises(InputError, match=r"something that has labels_; object has none\. Fit the model first\."):
        ClusterDisplay.from_estimator(object(), X)
    with pytest.raises(InputError, match=r"a grid of two places or more; got 1\."):
        ClusterDisplay.from_estimator(Quadrants(), X, grid=1)


def test_fitted_models():
    rows = np.vstack([X - 3, X + 3])
    sides = np.repeat([0, 1], 60)
    model = KernelKMeans(2, kernel="gaussian(3)", random_state=0).fit(rows)
    drawn = ClusterDisplay.from_estimator(model, rows, grid=20)
    assert sorted(len(offsets(points)) for points in drawn.points_) == [60, 60]
    assert len(drawn.boundaries_) == 2
    spectral = SpectralClustering(2, kernel="gaussian(1)", random_state=0).fit(rows)
    alone = ClusterDisplay.from_estimator(spectral, rows)
    assert alone.regions_ is None
    found = {tuple(sorted(map(tuple, offsets(points)))) for points in alone.points_}
    assert found == {tuple(sorted(map(tuple, rows[sides == side]))) for side in (0, 1)}
