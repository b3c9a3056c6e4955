"""Counts of pairs of classes."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from mercer.displays import ConfusionDisplay
from mercer.errors import InputError

pytest.importorskip("matplotlib.figure")


def test_counts_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, said = rng.choice(list("abcd"), 200), rng.choice(list("abc"), 200)
    drawn = ConfusionDisplay.from_predictions(y, said)
    np.testing.assert_array_equal(drawn.counts, confusion_matrix(y, said))
    assert list(drawn.labels) == ["a", "b", "c", "d"]
    assert [text.get_text() for text in drawn.texts_] == [str(n) for n in drawn.counts.ravel()]


def test_shades_are_parts_of_the_true_class():
    drawn = ConfusionDisplay([[3, 1], [0, 0]], ["a", "b"]).plot()
    np.testing.assert_allclose(drawn.image_.get_array(), [[0.75, 0.25], [0, 0]])


def test_a_class_that_was_only_said():
    drawn = ConfusionDisplay.from_predictions([1, 1], [1, 2])
    np.testing.assert_array_equal(drawn.counts, [[1, 1], [0, 0]])


def test_labels_are_no_formulas_and_not_long():
    drawn = ConfusionDisplay([[1, 0], [0, 1]], ["$a_{", "b" * 50]).plot()
    drawn.figure_.canvas.draw()
    assert [label.get_text() for label in drawn.ax_.get_yticklabels()] == ["$a_{", "b" * 17 + "..."]


def test_many_classes_have_no_digits():
    assert not ConfusionDisplay(np.eye(16, dtype=int), range(16)).plot().texts_


def test_a_model():
    class Says:
        def predict(self, X):
            return np.array(["a", "b"])

    drawn = ConfusionDisplay.from_estimator(Says(), None, ["a", "a"])
    np.testing.assert_array_equal(drawn.counts, [[1, 1], [0, 0]])


@pytest.mark.parametrize(
    ("counts", "labels", "message"),
    [
        ([[1, 2]], ["a"], "a row and a column per label"),
        ([[0.5]], ["a"], "counts; got float64"),
        ([[-1]], ["a"], "counts; got int64 with -1"),
    ],
)
def test_what_cannot_be_drawn(counts, labels, message):
    with pytest.raises(InputError, match=message):
        ConfusionDisplay(counts, labels).plot()
