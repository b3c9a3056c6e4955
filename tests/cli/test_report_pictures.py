"""Pictures of predictions in a report."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from mercer.cli.metrics import Score
from mercer.cli.report.curve import Curve
from mercer.cli.report.pictures import MAX_POINTS, confusion, learning_curve_lines, prediction_errors

pytest.importorskip("matplotlib.figure")
Y, SAID = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])


def points(figure):
    return np.asarray(figure.axes[0].collections[0].get_offsets())


def test_truth_and_residuals_over_prediction():
    whole, left = (prediction_errors(Y, SAID, kind, "price", 0) for kind in ("predicted", "residuals"))
    np.testing.assert_allclose(points(whole), np.column_stack([SAID, Y]))
    np.testing.assert_allclose(points(left), np.column_stack([SAID, Y - SAID]))
    assert whole.axes[0].get_xlabel() == "predicted price"
    assert (whole.axes[0].get_ylabel(), left.axes[0].get_ylabel()) == ("true price", "true - predicted")


def test_of_many_rows_some_are_drawn_as_a_bitmap():
    y = np.arange(5_000.0)
    figure = prediction_errors(y, y, "residuals", "y", 0)
    assert len(points(figure)) == MAX_POINTS
    assert figure.axes[0].collections[0].get_rasterized()
    assert not prediction_errors(y[:10], y[:10], "residuals", "y", 0).axes[0].collections[0].get_rasterized()


def test_counts_stand_in_cells_shaded_by_their_part_of_the_true_class():
    rng = np.random.default_rng(0)
    y, said = rng.choice(list("abcd"), 3_000), rng.choice(list("abc"), 3_000)
    axes = confusion(y, said).axes[0]
    counts = confusion_matrix(y, said)
    assert [text.get_text() for text in axes.texts] == [f"{n:,}" for n in counts.ravel()]
    np.testing.assert_allclose(axes.images[0].get_array(), counts / counts.sum(axis=1, keepdims=True))
    assert axes.images[0].get_clim() == (0, 1)
    assert [label.get_text() for label in axes.get_yticklabels()] == list("abcd")


def test_a_class_that_was_only_predicted_and_many_classes():
    only = confusion(np.array(["a", "a"]), np.array(["a", "b"])).axes[0]
    np.testing.assert_array_equal(only.images[0].get_array(), [[0.5, 0.5], [0, 0]])
    assert not confusion(np.arange(16), np.arange(16)).axes[0].texts


def test_names_are_no_formulas_and_not_long():
    figure = confusion(np.array(["$a_{", "b" * 50]), np.array(["$a_{", "b" * 50]))
    other = prediction_errors(Y, SAID, "predicted", "$cost_{$", 0)
    for drawn in (figure, other):
        drawn.canvas.draw()  # mathtext would complain
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["$a_{", "b" * 17 + "..."]
    assert other.axes[0].get_xlabel() == "predicted $cost_{$"


def test_a_line_per_model_and_a_band_of_its_intervals():
    scores = {"mercer": [Score("rmse", 2.0, 1.5, 2.5), Score("rmse", 1.0, 0.5, 1.5)], "linear": [None, None]}
    axes = learning_curve_lines(Curve([10, 100], scores, 50), "rmse").axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[10, 2], [100, 1]])
    assert [line.get_label() for line in axes.lines] == ["mercer", "linear"]
    assert len(axes.collections) == 1
    box = axes.collections[0].get_datalim(axes.transData)
    assert (box.y0, box.y1) == (0.5, 2.5)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "100"]
    assert axes.get_ylabel() == "rmse"
