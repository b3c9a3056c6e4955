"""The null distribution of a test, and its statistic."""

import numpy as np
import pytest
from scipy.stats import norm
from stand_ins import Result

from mercer import hsic, mmd
from mercer.displays import NullDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
SAMPLE = np.random.default_rng(0).normal(size=400)


def edges(bars):
    return np.array([bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()])


def test_the_histogram_is_that_of_the_sample():
    drawn = NullDisplay.from_result(Result(null_sample=SAMPLE))
    heights, ends = np.array([bar.get_height() for bar in drawn.bars_]), edges(drawn.bars_)
    assert (ends[0], ends[-1]) == pytest.approx((SAMPLE.min(), SAMPLE.max()))
    assert (heights * np.diff(ends)).sum() == pytest.approx(1)
    inside = np.mean((ends[3] <= SAMPLE) & (ends[4] > SAMPLE))
    assert heights[3] * (ends[4] - ends[3]) == pytest.approx(inside)
    assert drawn.curve_ is None


def test_the_line_is_where_the_statistic_is():
    drawn = NullDisplay.from_result(Result(statistic=1.25, p_value=0.125, null_sample=SAMPLE))
    assert list(drawn.line_.get_xdata()) == [1.25, 1.25]
    shown = [text.get_text() for text in drawn.ax_.get_legend().get_texts()]
    assert sorted(shown) == ["found: 1.25, p = 0.125", "null"]


def test_a_law_without_a_sample_is_a_normal_curve():
    drawn = NullDisplay([], 0.3, spread=0.2).plot()
    x, density = drawn.curve_.get_data()
    np.testing.assert_allclose(density, norm(scale=0.2).pdf(x), rtol=1e-12)
    assert x[0] == pytest.approx(-0.8)
    assert drawn.bars_ is None


def test_axes_are_named_and_respected():
    ax = figures.Figure().add_subplot()
    drawn = NullDisplay.from_result(Result(null_sample=SAMPLE), ax=ax)
    assert drawn.ax_ is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("statistic", "density")


def test_a_sample_of_equal_values():
    assert len(NullDisplay(np.zeros(20), 0.0).plot().bars_) == 5


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (Result(), r"something that has null_sample; Result has none\. Give the result of mercer\.mmd"),
        (Result(None, null_sample=SAMPLE), r"something that has statistic; Result has none\."),
        (Result(null_sample=[]), r"a sample, or a positive spread; got no sample and the spread None\."),
        (Result(null_sample=[[0.0]]), r"a list of numbers; got an array of shape \(1, 1\)\."),
        (Result(null_sample=[0.0, np.nan]), r"NullDisplay needs finite numbers; got NaN or infinity\."),
        (Result(np.inf, null_sample=[0.0]), r"NullDisplay needs finite numbers; got NaN or infinity\."),
    ],
)
def test_what_cannot_be_drawn(result, message):
    with pytest.raises(InputError, match=message):
        NullDisplay.from_result(result)


@pytest.mark.parametrize("test", [mmd, hsic])
def test_the_result_of_a_test(test):
    rng = np.random.default_rng(1)
    result = test(rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), null="permutation", random_state=0)
    drawn = NullDisplay.from_result(result)
    assert list(drawn.line_.get_xdata()) == [result.statistic] * 2
    assert edges(drawn.bars_)[-1] == pytest.approx(np.max(result.null_sample))
    assert drawn.ax_.get_xlabel() == f"{test.__name__} statistic"


def test_the_result_of_a_test_with_a_normal_null():
    rng = np.random.default_rng(1)
    result = mmd(rng.normal(size=(400, 2)), rng.normal(size=(400, 2)), null="normal", random_state=0)
    x, density = NullDisplay.from_result(result).curve_.get_data()
    np.testing.assert_allclose(density, norm(scale=result.spread).pdf(x), rtol=1e-12)
