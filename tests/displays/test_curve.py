"""The regression curve, its band and the rows."""

import numpy as np
import pytest
from planes import offsets
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge, KernelSVR
from mercer.displays import CurveDisplay
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
RNG = np.random.default_rng(0)
X = RNG.uniform(0, 6, size=(40, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=40)


def ends(band, places):
    """The lower and the upper end of a band at each of these places."""
    path = band.get_paths()[0].vertices
    found = [path[np.isclose(path[:, 0], place), 1] for place in places]
    return np.array([(each.min(), each.max()) for each in found]).T


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_the_band_is_that_of_the_deviations(level):
    model = KernelRidge("gaussian(1)", alpha=0.1).fit(X, Y)
    drawn = CurveDisplay.from_estimator(model, X, Y, level=level, grid=40)
    places = drawn.curve_.get_xdata()
    mean, deviation = model.predict(places[:, None], return_std=True)
    np.testing.assert_allclose(drawn.curve_.get_ydata(), mean, rtol=1e-12)
    low, high = ends(drawn.band_, places)
    half = norm.ppf(0.5 + level / 2) * deviation
    np.testing.assert_allclose(high, mean + half, rtol=1e-9)
    np.testing.assert_allclose(low, mean - half, rtol=1e-9)
    assert drawn.band_.get_label() == f"{100 * level:g} % band"


def test_the_curve_covers_the_rows():
    drawn = CurveDisplay.from_estimator(KernelRidge(alpha=0.1).fit(X, Y), X, Y)
    places = drawn.curve_.get_xdata()
    assert len(places) == 200
    assert places[0] < X.min() < X.max() < places[-1]
    np.testing.assert_array_equal(offsets(drawn.points_), np.column_stack([X[:, 0], Y]))


@pytest.mark.parametrize(
    ("model", "sure"),
    [
        (GaussianProcessRegressor(alpha=0.1), True),
        (LinearRegression(), False),
        (KernelSVR("gaussian(1)"), False),
        (make_pipeline(StandardScaler(), KernelRidge("gaussian(1)", alpha=0.1)), True),
    ],
    ids=["process", "line", "svr", "pipeline"],
)
def test_models_with_and_without_deviations(model, sure):
    drawn = CurveDisplay.from_estimator(model.fit(X, Y), X, Y, grid=20)
    assert (drawn.band_ is not None) == sure
    np.testing.assert_allclose(drawn.curve_.get_ydata(), model.predict(drawn.curve_.get_xdata()[:, None]), rtol=1e-12)


def test_without_y_there_are_no_points():
    drawn = CurveDisplay.from_estimator(LinearRegression().fit(X, Y), X, grid=5)
    assert drawn.points_ is None
    assert drawn.band_ is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_names(library):
    frames = pytest.importorskip(library)
    table, y = frames.DataFrame({"age": X[:, 0]}), frames.Series(name="height", **_values(library))
    model = KernelRidge(alpha=0.1).fit(table, y)
    drawn = CurveDisplay.from_estimator(model, table, y, grid=10)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("age", "height")


def _values(library):
    return {"data": Y} if library == "pandas" else {"values": Y}


@pytest.mark.parametrize(
    ("rows", "y"),
    [(X[:1], Y[:1]), (np.ones((5, 1)), np.arange(5.0)), (X * 1e80, Y), (X, np.ones(40)), (X + 1e9, Y)],
    ids=["one row", "constant column", "huge", "constant y", "offset"],
)
def test_odd_rows_are_drawn(rows, y, tmp_path):
    drawn = CurveDisplay.from_estimator(LinearRegression().fit(rows, y), rows, y, grid=10)
    assert (np.diff(drawn.places) > 0).all()
    drawn.figure_.savefig(tmp_path / "odd.png")


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (
            np.ones((4, 2)),
            Y,
            r"CurveDisplay needs rows of one column; got an array of shape \(4, 2\)\. Fit one column",
        ),
        (X[:, 0], Y, r"rows of one column; got an array of shape \(40,\)\..* write a list of numbers as X\[:, None\]"),
        (np.array([[np.nan]]), Y, r"CurveDisplay needs finite numbers; got others\."),
        (X, Y[1:], r"one number per row in y; y has shape \(39,\) for 40 rows\."),
        (X, np.where(Y > 0, np.inf, Y), r"finite numbers in y; got others\."),
        (X, 1e200 * Y, r"numbers of at most 1e\+100"),
    ],
    ids=["two columns", "flat", "NaN", "few", "infinite", "too large"],
)
def test_what_cannot_be_drawn(rows, y, message):
    model = LinearRegression().fit(X, Y)
    with pytest.raises(InputError, match=message):
        CurveDisplay.from_estimator(model, rows, y)


def test_what_else_cannot_be_drawn():
    with pytest.raises(InputError, match=r"n_features_in_; KernelRidge has none\. Fit the model first\."):
        CurveDisplay.from_estimator(KernelRidge(), X, Y)
    two = LinearRegression().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(InputError, match=r"one prediction a place; got predictions of shape \(9, 2\) for 9 places"):
        CurveDisplay.from_estimator(two, X, grid=9)
    with pytest.raises(InputError, match=r"a level between 0 and 1; got 95\. Use 0\.95\."):
        CurveDisplay.from_estimator(LinearRegression().fit(X, Y), X, Y, level=95)
    with pytest.raises(InputError, match=r"finite predictions; got NaN or infinity"):
        CurveDisplay(np.arange(2.0), np.array([0.0, np.nan])).plot()
