"""Scores in two dimensions, coloured by labels."""

import numpy as np
import pytest
from stand_ins import Components

from mercer import KernelPCA
from mercer.displays import ComponentsDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
X = np.random.default_rng(0).normal(size=(30, 3))
LABELS = np.array(["a", "b", "c"])[np.arange(30) % 3]


def offsets(points):
    return np.asarray(points.get_offsets())


def test_scores_of_the_first_two_components():
    drawn = ComponentsDisplay.from_estimator(Components(), X)
    (points,) = drawn.points_
    np.testing.assert_allclose(offsets(points), 10 * X[:, :2], rtol=1e-15)
    assert drawn.labels_ is drawn.legend_ is None


def test_components_are_chosen():
    drawn = ComponentsDisplay.from_estimator(Components([0.5, 0.25, 0.125]), X, components=(2, 0))
    np.testing.assert_allclose(offsets(drawn.points_[0]), 10 * X[:, [2, 0]], rtol=1e-15)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("component 3 (12.5 %)", "component 1 (50 %)")


def test_axes_are_named_without_ratios():
    ax = ComponentsDisplay.from_estimator(Components(), X).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 1", "component 2")


def test_one_colour_a_label():
    drawn = ComponentsDisplay.from_estimator(Components(), X, LABELS)
    assert drawn.labels_.tolist() == ["a", "b", "c"]
    assert len(drawn.points_) == 3
    for label, points in zip("abc", drawn.points_, strict=True):
        np.testing.assert_allclose(offsets(points), 10 * X[label == LABELS, :2], rtol=1e-15)
        assert len(points.get_facecolors()) == 1
    assert len({tuple(points.get_facecolors()[0]) for points in drawn.points_}) == 3
    assert [text.get_text() for text in drawn.legend_.get_texts()] == ["a", "b", "c"]


@pytest.mark.parametrize("count", [10, 11, 20])
def test_colours_differ_however_many_labels_there_are(count):
    rows = np.random.default_rng(1).normal(size=(count, 2))
    drawn = ComponentsDisplay(rows, y=np.arange(count)).plot()
    assert len({tuple(points.get_facecolors()[0]) for points in drawn.points_}) == count


def test_many_numbers_are_a_scale():
    y = np.linspace(-1, 1, 30)
    drawn = ComponentsDisplay.from_estimator(Components(), X, y)
    (points,) = drawn.points_
    np.testing.assert_array_equal(points.get_array(), y)
    assert drawn.legend_.ax in drawn.figure_.axes
    assert drawn.labels_ is None


def test_axes_that_are_given():
    figure = figures.Figure()
    left, right = figure.subplots(1, 2)
    drawn = ComponentsDisplay.from_estimator(Components(), X, LABELS, ax=right)
    assert drawn.ax_ is right
    assert drawn.figure_ is figure
    assert len(right.collections) == 3
    assert not left.has_data()


@pytest.mark.parametrize("components", [(0, 3), (-1, 0), (0,), (0, 1, 2), (0, 0.5)])
def test_components_that_there_are_not(components):
    with pytest.raises(InputError, match=r"ComponentsDisplay needs two components from 0 to 2; got .*\."):
        ComponentsDisplay.from_estimator(Components(), X, components=components)


def test_what_cannot_be_drawn():
    with pytest.raises(InputError, match=r"one label per row; y has shape \(29,\) for 30 rows\."):
        ComponentsDisplay.from_estimator(Components(), X, LABELS[1:])
    with pytest.raises(InputError, match=r"two scores per row; got an array of shape \(30, 3\)\."):
        ComponentsDisplay(X).plot()
    with pytest.raises(InputError, match=r"something that has transform; object has none\."):
        ComponentsDisplay.from_estimator(object(), X)


def test_a_fitted_model():
    model = KernelPCA("gaussian(1)", n_components=3).fit(X)
    drawn = ComponentsDisplay.from_estimator(model, X, LABELS, components=(0, 2))
    scores = model.transform(X)[:, [0, 2]]
    for label, points in zip("abc", drawn.points_, strict=True):
        np.testing.assert_allclose(offsets(points), scores[label == LABELS], rtol=1e-12)
    assert f"{100 * model.explained_variance_ratio_[2]:.3g} %" in drawn.ax_.get_ylabel()
