"""Predictions beside the truth."""

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.displays import ResidualsDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
Y, SAID = [1.0, 2.0, 4.0], [1.5, 2.0, 3.0]


def test_truth_over_prediction():
    drawn = ResidualsDisplay(Y, SAID, name="price").plot()
    np.testing.assert_array_equal(drawn.points_.get_offsets(), np.column_stack([SAID, Y]))
    np.testing.assert_array_equal(drawn.line_.get_xdata(), drawn.line_.get_ydata())
    assert (min(drawn.line_.get_xdata()), max(drawn.line_.get_xdata())) == (1.0, 4.0)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("predicted price", "true price")


def test_residuals_over_prediction():
    drawn = ResidualsDisplay(Y, SAID, kind="residuals").plot()
    np.testing.assert_allclose(drawn.points_.get_offsets()[:, 1], [-0.5, 0.0, 1.0])
    assert list(drawn.line_.get_ydata()) == [0.0, 0.0]


def test_a_fitted_model_on_axes_of_somebody_else():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model, ax = KernelRidge("gaussian(1)").fit(X, X[:, 0]), figures.Figure().add_subplot()
    drawn = ResidualsDisplay.from_estimator(model, X, X[:, 0], ax=ax)
    assert drawn.ax_ is ax
    np.testing.assert_allclose(drawn.points_.get_offsets()[:, 0], model.predict(X))


def test_of_many_rows_some_are_drawn_as_a_bitmap():
    y = np.arange(5_000.0)
    drawn = ResidualsDisplay(y, y, most=2_000).plot()
    shown = drawn.points_.get_offsets()[:, 0]
    assert len(shown) == 2_000
    assert (shown[0], shown[-1]) == (0, 4_999)
    assert drawn.points_.get_rasterized()
    assert not ResidualsDisplay(y[:10], y[:10], most=2_000).plot().points_.get_rasterized()


def test_a_name_is_no_formula():
    drawn = ResidualsDisplay(Y, SAID, name="$cost_{").plot()
    drawn.figure_.canvas.draw()  # mathtext would complain
    assert drawn.ax_.get_xlabel() == "predicted $cost_{"


@pytest.mark.parametrize(
    ("y", "said", "kind", "message"),
    [
        (Y, SAID[:2], "predicted", r"one prediction per row; got shapes \(3,\) and \(2,\)"),
        ([], [], "predicted", "one prediction per row"),
        (Y, [1.0, np.nan, 2.0], "residuals", "finite numbers"),
        (Y, SAID, "other", "a kind of"),
    ],
)
def test_what_cannot_be_drawn(y, said, kind, message):
    with pytest.raises(InputError, match=message):
        ResidualsDisplay(y, said, kind).plot()
