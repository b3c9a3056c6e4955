"""Bars of columns."""

import numpy as np
import pytest
from sklearn.inspection import permutation_importance

from mercer import KernelRidge
from mercer.displays import ImportanceDisplay
from mercer.errors import InputError

pytest.importorskip("matplotlib.figure")


def test_the_most_important_is_on_top():
    drawn = ImportanceDisplay(["a", "b", "c"], [0.1, 0.5, -0.2], spreads=[0.0, 0.1, 0.1]).plot()
    assert drawn.names_ == ["b", "a", "c"]
    assert [bar.get_width() for bar in drawn.bars_] == [0.5, 0.1, -0.2]
    low, high = drawn.ax_.get_ylim()
    assert low > high  # the first bar is on top


def test_only_the_first_are_drawn():
    drawn = ImportanceDisplay([f"x{i}" for i in range(9)], np.arange(9.0), most=3).plot()
    assert drawn.names_ == ["x8", "x7", "x6"]


def test_what_scikit_learn_found():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = KernelRidge("gaussian(1)").fit(X, X[:, 1])
    found = permutation_importance(model, X, X[:, 1], n_repeats=3, random_state=0)
    drawn = ImportanceDisplay.from_result(found, ["noise", "signal"])
    assert drawn.names_[0] == "signal"
    assert drawn.bars_[0].get_width() == found.importances_mean[1]


def test_names_are_no_formulas_and_not_long():
    drawn = ImportanceDisplay(["$x_{", "y" * 99], [2.0, 1.0]).plot()
    drawn.figure_.canvas.draw()
    assert drawn.names_ == ["$x_{", "y" * 25 + "..."]


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [(["a"], [1, 2], "a value per name"), ([], [], "finite values; got none"), (["a"], [np.nan], "NaN or infinity")],
)
def test_what_cannot_be_drawn(names, values, message):
    with pytest.raises(InputError, match=message):
        ImportanceDisplay(names, values).plot()
