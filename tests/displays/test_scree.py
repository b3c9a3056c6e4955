"""The scree: bars, their sum, and the certificate."""

import numpy as np
import pytest
from stand_ins import Components

from mercer import KernelPCA
from mercer.displays import ScreeDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
RATIOS = [0.5, 0.2, 0.1]


def test_a_bar_a_component_as_high_as_its_ratio():
    drawn = ScreeDisplay.from_estimator(Components(RATIOS))
    assert len(drawn.bars_) == 3
    assert [bar.get_height() for bar in drawn.bars_] == RATIOS
    assert [bar.get_x() + bar.get_width() / 2 for bar in drawn.bars_] == pytest.approx([1, 2, 3])


def test_the_line_is_the_sum():
    line = ScreeDisplay.from_estimator(Components(RATIOS)).line_
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(line.get_ydata(), [0.5, 0.7, 0.8], rtol=1e-15)


def test_the_band_is_what_is_left():
    drawn = ScreeDisplay.from_estimator(Components(RATIOS, unexplained=0.2))
    box = drawn.band_.get_extents().transformed(drawn.ax_.transData.inverted())
    assert (box.y0, box.y1) == pytest.approx((0.8, 1.0))
    assert drawn.text_.get_text() == "unexplained: 20 %"


def test_without_a_certificate_there_is_no_band():
    drawn = ScreeDisplay.from_estimator(Components(RATIOS))
    assert drawn.band_ is None
    assert drawn.text_ is None


def test_a_display_can_be_drawn_again_elsewhere():
    drawn = ScreeDisplay(RATIOS, unexplained=0.2).plot()
    first, ax = drawn.ax_, figures.Figure().add_subplot()
    assert drawn.plot(ax) is drawn
    assert drawn.ax_ is ax is not first
    assert len(ax.patches) == len(first.patches) == 4  # three bars and the band
    drawn.unexplained = None
    assert drawn.plot().band_ is None


def test_axes_are_named():
    ax = ScreeDisplay(RATIOS).plot().ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component", "explained variance ratio")
    ax.figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


@pytest.mark.parametrize(
    ("ratios", "left", "message"),
    [
        ([], None, r"ScreeDisplay needs one ratio per component; got an array of shape \(0,\)\."),
        ([[0.5]], None, r"one ratio per component; got an array of shape \(1, 1\)\."),
        ([0.5, np.nan], None, r"finite ratios; got NaN or infinity\."),
        ([0.5], 1.5, r"unexplained from 0 to 1; got 1\.5\."),
        ([0.5], np.nan, r"unexplained from 0 to 1; got nan\."),
    ],
)
def test_what_cannot_be_drawn(ratios, left, message):
    with pytest.raises(InputError, match=message):
        ScreeDisplay(ratios, unexplained=left).plot()


def test_what_is_not_fitted():
    message = r"needs something that has explained_variance_ratio_; KernelPCA has none\. Fit a KernelPCA first\."
    with pytest.raises(InputError, match=message):
        ScreeDisplay.from_estimator(KernelPCA())


def test_a_fitted_model():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = KernelPCA("gaussian(1)", n_components=4).fit(X)
    drawn = ScreeDisplay.from_estimator(model)
    np.testing.assert_allclose([bar.get_height() for bar in drawn.bars_], model.explained_variance_ratio_, rtol=1e-15)
    box = drawn.band_.get_extents().transformed(drawn.ax_.transData.inverted())
    assert box.y0 == pytest.approx(drawn.line_.get_ydata()[-1], abs=1e-6)  # the band begins where the sum ends
    assert box.y1 == pytest.approx(1)
