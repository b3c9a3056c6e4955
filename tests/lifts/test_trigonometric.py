"""The trigonometric lift, against mpmath and NumPy."""

from itertools import chain

import mpmath
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from mercer import kernels
from mercer.errors import KernelError
from mercer.kernels.coordinate import trigonometric
from mercer.lifts.trigonometric import Trigonometric
from mercer.testing.lift import check_lift

mp = mpmath.MPContext()
mp.dps = 60
X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize("lift", [Trigonometric(), Trigonometric(4, 0.7)], ids=repr)
def test_the_laws_of_lifts(lift):
    check_lift(lift)


def test_the_layout():
    """Column by column, then turn by turn, the sine before the cosine."""
    found = Trigonometric(2).fit_transform(X[:, :2])
    x, z = X[:, 0], X[:, 1]
    wanted = [f(j * column) for column in (x, z) for j in (1, 2) for f in (np.sin, np.cos)]
    np.testing.assert_allclose(found, np.stack(wanted, axis=1), atol=4e-16)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e4, 1e9, 1e17])
@pytest.mark.parametrize(("order", "period"), [(3, None), (2, 12.0), (5, 0.3), (60, 365.25)])
def test_whole_periods_cost_no_digits(order, period, size):
    """None is the default, which stands for 2 pi itself."""
    lift = Trigonometric(order) if period is None else Trigonometric(order, period)
    rows = size * X
    turn = mp.mpf(1) if period is None else 2 * mp.pi / mp.mpf(period)
    wanted = [
        [f(j * turn * mp.mpf(x)) for x in row for j in range(1, order + 1) for f in (mp.sin, mp.cos)]
        for row in rows.tolist()
    ]
    found = lift.fit_transform(rows)
    pairs = zip(found.ravel().tolist(), chain.from_iterable(wanted), strict=True)
    errors = [float(abs(mp.mpf(a) - b)) for a, b in pairs]
    assert max(errors) < 2.3e-16 * order


def test_quarters_of_a_period_are_exact():
    found = Trigonometric(1, 0.7).fit_transform(0.7 * np.array([[0.0], [0.25], [0.5], [-0.25], [-0.5]]))
    np.testing.assert_array_equal(found, [[0, 1], [1, 0], [0, -1], [-1, 0], [0, -1]])


def test_sines_of_tiny_numbers_keep_their_digits():
    tiny = np.array([[1e-30], [-1e-30], [-3e-200]])
    np.testing.assert_allclose(
        Trigonometric(2, 4.0).fit_transform(tiny)[:, [0, 2]], tiny * [[np.pi / 2, np.pi]], rtol=1e-15
    )


def test_single_precision_is_that_of_the_result():
    """A period of 0.1 is no float32, and 10^5 of them are no reason to lose digits."""
    narrow = (1e4 * X).astype(np.float32)
    found = Trigonometric(3, 0.1).fit_transform(narrow)
    assert found.dtype == np.float32
    wanted = Trigonometric(3, 0.1).fit_transform(narrow.astype(np.float64))
    assert np.abs(found - wanted).max() < 6.1e-8


def test_blocks_do_not_change_the_features(monkeypatch):
    whole = Trigonometric(2).fit_transform(X)
    monkeypatch.setattr(trigonometric, "BLOCK", 30)
    np.testing.assert_array_equal(Trigonometric(2).fit_transform(X), whole)


@pytest.mark.parametrize(
    ("lift", "names"),
    [
        (Trigonometric(2), ["sin(x1)", "cos(x1)", "sin(2 x1)", "cos(2 x1)"]),
        (Trigonometric(1, 12), ["sin(2 pi x1 / 12)", "cos(2 pi x1 / 12)"]),
        (Trigonometric(2, 365.25), [f"{f}({j} pi x1 / 365.25)" for j in (2, 4) for f in ("sin", "cos")]),
    ],
)
def test_names(lift, names):
    assert lift.fit(X[:, :1]).get_feature_names_out().tolist() == names


def test_names_of_columns():
    frame = pd.DataFrame({"day": X[:, 0], "hour": X[:, 1]})
    found = Trigonometric(1).fit(frame).get_feature_names_out().tolist()
    assert found == ["sin(day)", "cos(day)", "sin(hour)", "cos(hour)"]


def test_its_kernel():
    lift = Trigonometric(3, 2.5).fit(X)
    assert lift.kernel == kernels.Trigonometric(3, 2.5)
    features = lift.transform(X)
    np.testing.assert_allclose(features @ features.T, lift.kernel(X), atol=1e-14)
    np.testing.assert_allclose(lift.induced(X), lift.kernel(X), atol=1e-14)
    assert lift.certificate(X).bound < 1e-12


def test_least_squares_finds_a_wave():
    """The trigonometric regression of the lectures: coefficients come back."""
    day = np.arange(400.0)[:, None]
    y = 3 + 2 * np.sin(2 * np.pi * day[:, 0] / 29.5) - 0.5 * np.cos(4 * np.pi * day[:, 0] / 29.5)
    model = make_pipeline(Trigonometric(2, 29.5), LinearRegression()).fit(day, y)
    np.testing.assert_allclose(model[-1].coef_, [2, 0, 0, -0.5], atol=1e-12)
    np.testing.assert_allclose(model[-1].intercept_, 3, atol=1e-12)


@pytest.mark.parametrize(
    ("lift", "message"),
    [
        (Trigonometric(0), "Trigonometric needs an integer from 1 to 10000 for order; got 0"),
        (Trigonometric(1.5), "Trigonometric needs an integer from 1 to 10000 for order; got 1.5"),
        (Trigonometric(1, -2.0), "Trigonometric needs a positive period; got -2.0"),
        (Trigonometric(1, "month"), "Trigonometric needs a number for period; got 'month'"),
    ],
)
def test_mistakes(lift, message):
    with pytest.raises(KernelError, match=message):
        lift.fit(X)
