"""Errors of approximated kernels against the number of features."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone

from mercer.displays import LiftErrorDisplay
from mercer.errors import InputError
from mercer.lifts import Nystrom, Parabolic, RandomFourier, Sketch

figures = pytest.importorskip("matplotlib.figure")
X = np.random.default_rng(0).normal(size=(80, 3))
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8)


def errors(lift):
    features = lift.fit(X).transform(X)
    return np.abs(features @ features.T - K)


@pytest.mark.parametrize("kind", [RandomFourier, Nystrom])
def test_errors_are_those_of_lifts_with_the_seeds(kind):
    drawn = LiftErrorDisplay.from_lift(kind("gaussian(2)", random_state=7), X, components=(8, 40), draws=3)
    for i, count in enumerate((8, 40)):
        found = [errors(kind("gaussian(2)", count, random_state=7 + j)) for j in range(3)]
        np.testing.assert_allclose(drawn.worst[i], [each.max() for each in found], rtol=1e-6)
        np.testing.assert_allclose(drawn.mean[i], [each.mean() for each in found], rtol=1e-6)
    np.testing.assert_allclose(drawn.worst_.get_ydata(), np.median(drawn.worst, axis=1))
    assert drawn.worst_.get_xdata().tolist() == drawn.mean_.get_xdata().tolist() == [8, 40]
    assert len(drawn.bands_) == 2
    assert (drawn.ax_.get_xscale(), drawn.ax_.get_yscale()) == ("log", "log")


def test_the_bound_of_waves_is_the_error_that_their_number_promises():
    drawn = LiftErrorDisplay.from_lift(RandomFourier("gaussian(2)"), X, components=(64, 1024), draws=2)
    for count, bound in zip((64, 1024), drawn.bound_.get_ydata(), strict=True):
        assert RandomFourier.components_for("gaussian(2)", bound * 1.0001, 0.01, 80) <= count
        assert RandomFourier.components_for("gaussian(2)", bound * 0.999, 0.01, 80) > count
    assert (drawn.worst < np.reshape(drawn.bounds, (-1, 1))).all()
    assert drawn.bound_.get_label() == "bound before the draw (99%)"


@pytest.mark.parametrize("form", ["pairs", "offset"])
def test_relative_errors_of_distances(form):
    lift = RandomFourier("gaussian(2)", form=form, sampling="iid", random_state=3)
    drawn = LiftErrorDisplay.from_lift(lift, X, components=(16, 128, 1024), draws=3, error="distance")
    exact = np.sqrt(-2 * np.expm1(-pdist(X, "sqeuclidean") / 8))
    for i, count in enumerate((16, 128, 1024)):
        for j in range(3):
            one = clone(lift).set_params(n_components=count, random_state=3 + j)
            found = np.abs(pdist(one.fit_transform(X)) / exact - 1)
            assert drawn.worst[i, j] == pytest.approx(found.max(), rel=1e-6)
            assert drawn.mean[i, j] == pytest.approx(found.mean(), rel=1e-6)
    assert np.isnan(drawn.bounds[0])  # sixteen promise no error below one
    for count, bound in zip((128, 1024), drawn.bounds[1:], strict=True):
        assert RandomFourier.components_for("gaussian(2)", bound * 1.0001, 0.01, 80, form, "distance") <= count
        assert RandomFourier.components_for("gaussian(2)", bound * 0.999, 0.01, 80, form, "distance") > count
    assert (drawn.worst[1:] < np.reshape(drawn.bounds[1:], (-1, 1))).all()
    assert drawn.ax_.get_ylabel() == "relative error of the distance"
    assert drawn.ax_.get_title().replace("\n", " ") == (
        "RandomFourier, gaussian(2): relative error of distances against the number of features"
    )


@pytest.mark.parametrize("lift", [RandomFourier("laplace(2)"), RandomFourier("matern(nu=1.5)"), Nystrom("gaussian(2)")])
def test_distances_without_a_guarantee(lift):
    drawn = LiftErrorDisplay.from_lift(lift, X, components=(16, 64), draws=2, error="distance")
    assert drawn.bound_ is None
    assert (drawn.mean > 0).all()


def test_distances_of_equal_rows_and_of_named_columns():
    frame = pd.DataFrame(np.vstack([X, X[:3]]), columns=["a", "b", "c"])
    lift = RandomFourier("gaussian(2).on(['c', 'a'])", error="distance", epsilon=0.3)
    drawn = LiftErrorDisplay.from_lift(lift, frame, components=(512,), draws=1, error="distance")
    assert 0 < drawn.worst[0, 0] < drawn.bounds[0] < 1
    with pytest.raises(InputError, match=r"LiftErrorDisplay needs rows that differ; got equal ones"):
        LiftErrorDisplay.from_lift(RandomFourier("gaussian(2)"), np.ones((4, 2)), error="distance")


def test_the_certificate_of_landmarks_is_above_every_error():
    drawn = LiftErrorDisplay.from_lift(Nystrom("gaussian(2)", random_state=0), X, components=(5, 20), draws=2)
    assert (drawn.worst <= np.reshape(drawn.bounds, (-1, 1))).all()
    lifts = [Nystrom("gaussian(2)", 5, random_state=j).fit(X) for j in range(2)]
    residuals = max((np.diag(K) - (lift.transform(X) ** 2).sum(axis=1)).max() for lift in lifts)
    assert drawn.bounds[0] == pytest.approx(residuals, rel=1e-6)


def test_a_sketch_has_no_bound_and_one_draw_no_band():
    drawn = LiftErrorDisplay.from_lift(Sketch("polynomial(degree=2)"), X, components=(16, 64), draws=1)
    assert drawn.bound_ is None
    assert drawn.bands_ == []
    assert [text.get_text() for text in drawn.legend_.get_texts()] == ["largest error", "mean error"]


def test_numbers_of_features_where_none_are_given():
    assert LiftErrorDisplay.from_lift(RandomFourier("gaussian(2)"), X, draws=1).components == [
        16,
        32,
        64,
        128,
        256,
        512,
    ]
    assert LiftErrorDisplay.from_lift(Nystrom("laplace(2)"), X, draws=1).components == [16, 32, 64]


def test_an_epsilon_of_the_lift_gives_way_to_numbers():
    drawn = LiftErrorDisplay.from_lift(RandomFourier("gaussian(2)", epsilon=0.3), X, components=(8,), draws=1)
    assert drawn.worst_.get_xdata().tolist() == [8]


def test_many_rows_are_a_sample():
    rows = np.random.default_rng(2).normal(size=(700, 2))
    drawn = LiftErrorDisplay.from_lift(Nystrom("gaussian(3)", random_state=0), rows, components=(3,), draws=1)
    part = rows[np.sort(np.random.default_rng(0).choice(700, size=500, replace=False))]
    features = Nystrom("gaussian(3)", 3, random_state=0).fit(part).transform(part)
    exact = np.exp(-((part[:, None] - part) ** 2).sum(axis=2) / 18)
    assert drawn.worst[0, 0] == pytest.approx(np.abs(features @ features.T - exact).max(), rel=1e-6)


def test_errors_of_zero():
    drawn = LiftErrorDisplay([1, 2], np.zeros((2, 1)), np.zeros((2, 1))).plot()
    assert drawn.ax_.get_yscale() == "linear"


@pytest.mark.parametrize("components", [(), (4, 4), (8, 4), (0, 4), (2.5,)], ids=str)
def test_numbers_that_cannot_be_drawn(components):
    with pytest.raises(
        InputError, match=r"LiftErrorDisplay needs numbers of features that grow, and positive numbers of draws"
    ):
        LiftErrorDisplay.from_lift(Nystrom("gaussian(2)"), X, components=components)


def test_what_cannot_be_drawn():
    with pytest.raises(InputError, match=r"a lift with n_components and a kernel; Parabolic has none\."):
        LiftErrorDisplay.from_lift(Parabolic(), X)
    with pytest.raises(InputError, match=r"something that has get_params; str has none\."):
        LiftErrorDisplay.from_lift("nystrom", X)
    with pytest.raises(InputError, match=r"errors of the shape \(numbers, draws\); got \(1, 1\) and \(1, 1\) for 2"):
        LiftErrorDisplay([1, 2], [[0.1]], [[0.1]]).plot()
    with pytest.raises(InputError, match=r"LiftErrorDisplay needs error 'kernel' or 'distance'; got 'angle'"):
        LiftErrorDisplay.from_lift(Nystrom("gaussian(2)"), X, error="angle")
    with pytest.raises(InputError, match=r"needs error 'kernel' or 'distance'; got 'angle'"):
        LiftErrorDisplay([1], [[0.1]], [[0.1]], error="angle").plot()
    with pytest.raises(InputError, match=r"finite errors; got NaN or infinity"):
        LiftErrorDisplay([1], [[np.nan]], [[0.1]]).plot()
