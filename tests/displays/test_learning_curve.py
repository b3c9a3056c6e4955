"""Scores over the number of rows."""

import numpy as np
import pytest

from mercer.displays import LearningCurveDisplay
from mercer.errors import InputError

pytest.importorskip("matplotlib.figure")


def test_a_line_a_model_and_a_band_where_there_is_one():
    curves = {"ridge": [2.0, 1.0], "linear": [3.0, np.nan]}
    drawn = LearningCurveDisplay([10, 100], curves, {"ridge": [(1.5, 2.5), (0.5, 1.5)]}, "rmse").plot()
    assert list(drawn.lines_) == ["ridge", "linear"]
    np.testing.assert_array_equal(drawn.lines_["ridge"].get_xydata(), [[10, 2], [100, 1]])
    assert list(drawn.bands_) == ["ridge"]
    box = drawn.bands_["ridge"].get_datalim(drawn.ax_.transData)
    assert (box.y0, box.y1) == (0.5, 2.5)
    assert drawn.ax_.get_ylabel() == "rmse"
    assert [text.get_text() for text in drawn.ax_.get_xticklabels()] == ["10", "100"]


@pytest.mark.parametrize(
    ("sizes", "curves", "message"),
    [
        ([10, 10], {"a": [1, 2]}, "numbers of rows that grow"),
        ([], {}, "numbers of rows that grow"),
        ([0, 1], {"a": [1, 2]}, "numbers of rows that grow"),
        ([1, 2], {"a": [1]}, r"a score per size; a has shape \(1,\) for 2 sizes"),
    ],
)
def test_what_cannot_be_drawn(sizes, curves, message):
    with pytest.raises(InputError, match=message):
        LearningCurveDisplay(sizes, curves).plot()
