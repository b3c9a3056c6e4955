"""The path of leave-one-out errors, and the penalty that was chosen."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.displays import LeaveOneOutDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
RNG = np.random.default_rng(0)
X = RNG.uniform(0, 6, size=(30, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=30)
ALPHAS = [0.01, 0.1, 1.0]


def left_out(lengthscale, alpha):
    """The mean squared error of rows that were left out one by one, and fitted without."""
    K, total = np.exp(-((X - X.T) ** 2) / (2 * lengthscale**2)), 0.0
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        system = np.block([[K[np.ix_(rest, rest)] + alpha * np.eye(29), np.ones((29, 1))], [np.ones((1, 29)), 0]])
        found = np.linalg.solve(system, np.append(Y[rest], 0.0))
        total += (Y[i] - K[i, rest] @ found[:29] - found[29]) ** 2
    return total / 30


def test_the_line_is_what_left_out_rows_cost():
    model = KernelRidge("gaussian(1)", alpha=ALPHAS).fit(X, Y)
    drawn = LeaveOneOutDisplay.from_estimator(model)
    (line,) = drawn.lines_
    assert line.get_xdata().tolist() == ALPHAS
    np.testing.assert_allclose(line.get_ydata(), [left_out(1.0, alpha) for alpha in ALPHAS], rtol=1e-8)
    best = int(np.argmin(line.get_ydata()))
    assert drawn.chosen_[0].get_xdata()[0] == ALPHAS[best] == model.alpha_
    assert drawn.chosen_[0].get_ydata()[0] == line.get_ydata()[best]
    assert [text.get_text() for text in drawn.legend_.get_texts()] == [f"chosen: {model.alpha_:.3g}"]
    assert (drawn.ax_.get_xscale(), drawn.ax_.get_yscale()) == ("log", "log")


def test_one_line_an_output():
    model = KernelRidge("gaussian(1)").fit(X, np.column_stack([Y, X[:, 0] ** 2, Y]))
    drawn = LeaveOneOutDisplay.from_estimator(model)
    assert len(drawn.lines_) == 3
    np.testing.assert_array_equal(drawn.lines_[0].get_ydata(), drawn.lines_[2].get_ydata())
    assert [mark.get_xdata()[0] for mark in drawn.chosen_] == model.alpha_.tolist()
    assert [text.get_text() for text in drawn.legend_.get_texts()][:3] == ["output 1", "output 2", "output 3"]


def test_labels_have_the_share_of_wrong_ones():
    model = KernelRidgeClassifier("gaussian(1)").fit(X, np.where(Y > 0, "up", "down"))
    drawn = LeaveOneOutDisplay.from_estimator(
        make_pipeline(StandardScaler(), model).fit(X, np.where(Y > 0, "up", "down"))
    )
    shares = drawn.lines_[0].get_ydata() * 30
    np.testing.assert_allclose(shares, np.round(shares), atol=1e-9)  # of 30 rows
    assert drawn.ax_.get_ylabel() == "wrong labels, left out"
    assert drawn.ax_.get_yscale() == "linear"


def test_lengthscales_are_lines_and_the_best_is_marked():
    model = KernelRidge("gaussian('median')")
    drawn = LeaveOneOutDisplay.from_lengthscales(model, X, Y, [0.3, 1.0, 3.0])
    assert len(drawn.lines_) == 3
    for line, lengthscale in zip(drawn.lines_, (0.3, 1.0, 3.0), strict=True):
        alpha, error = line.get_xdata()[25], line.get_ydata()[25]
        assert error == pytest.approx(left_out(lengthscale, alpha), rel=1e-6)
    (mark,) = drawn.chosen_
    least = [np.min(line.get_ydata()) for line in drawn.lines_]
    assert mark.get_ydata()[0] == pytest.approx(min(least), rel=1e-6)
    assert drawn.legend_.get_texts()[0].get_text() == "lengthscale 0.3"


def test_no_penalty_and_errors_that_are_infinite():
    drawn = LeaveOneOutDisplay([0.0, 0.1, 1.0], [[np.inf], [0.5], [0.7]], chosen=[0.1]).plot()
    assert drawn.ax_.get_xscale() == "symlog"
    assert np.isnan(drawn.lines_[0].get_ydata()[0])
    assert drawn.chosen_[0].get_ydata()[0] == 0.5
    single = LeaveOneOutDisplay([0.0], [[0.0]]).plot()
    assert single.chosen_ == []
    assert single.legend_ is None


def test_what_cannot_be_drawn():
    with pytest.raises(
        InputError, match=r"something that has loo_; KernelRidge has none\. Fit a KernelRidge with alpha="
    ):
        LeaveOneOutDisplay.from_estimator(KernelRidge(alpha=0.1).fit(X, Y))
    with pytest.raises(InputError, match=r"something that has loo_"):
        LeaveOneOutDisplay.from_estimator(KernelRidge())
    with pytest.raises(InputError, match=r"LeaveOneOutDisplay needs lengthscales; got none"):
        LeaveOneOutDisplay.from_lengthscales(KernelRidge(), X, Y, [])
    with pytest.raises(InputError, match=r"needs one output; got several"):
        LeaveOneOutDisplay.from_lengthscales(KernelRidge(), X, np.column_stack([Y, Y]), [1.0])


@pytest.mark.parametrize(
    ("alphas", "errors", "chosen", "message"),
    [
        ([1.0], [[0.1], [0.2]], None, r"an error for each alpha and line; got \(1,\) and \(2, 1\)"),
        ([], np.zeros((0, 1)), None, r"an error for each alpha and line"),
        ([1.0], [[np.inf]], None, r"finite errors, and alphas of at least 0; got others"),
        ([-1.0], [[0.1]], None, r"finite errors, and alphas of at least 0; got others"),
        ([1.0], [[0.1]], [1.0, 2.0], r"one chosen alpha and one name per line; got \(2,\) for 1 lines"),
    ],
    ids=["shapes", "none", "infinite", "negative", "chosen"],
)
def test_numbers_that_cannot_be_drawn(alphas, errors, chosen, message):
    with pytest.raises(InputError, match=message):
        LeaveOneOutDisplay(alphas, errors, chosen=chosen).plot()
