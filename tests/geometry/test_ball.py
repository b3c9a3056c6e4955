"""Balls and halfspaces: the lecture's formula, constructors, texts, refusals."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

from mercer.errors import InputError, NumericalWarning
from mercer.geometry import Ball, Ellipse, Ellipsoid, Empty, Everything, HalfSpace, preimage
from mercer.lifts.parabolic import Parabolic


def parabolic(d):
    return Parabolic().fit(np.zeros((1, d)))


@given(st.integers(1, 4), st.integers(0, 10**6), st.floats(0.1, 10))
def test_the_ball_of_the_lecture(d, seed, radius):
    """|x - c|^2 <= r^2 is <(2c, -1), phi(x)> >= |c|^2 - r^2, with phi(x) = (x, |x|^2)."""
    center = np.random.default_rng(seed).normal(size=d)
    weights, intercept = Ball(center, radius).halfspace(parabolic(d))
    np.testing.assert_allclose(weights, [*(2 * center), -1], rtol=1e-15)
    assert -intercept == pytest.approx(center @ center - radius**2, rel=1e-14, abs=1e-14)
    outside = Ball(center, radius, inside=False).halfspace(parabolic(d))
    np.testing.assert_array_equal(outside.weights, -weights)
    assert outside.intercept == -intercept


def test_the_paraboloid_has_balls_halfspaces_nothing_and_everything():
    lift = parabolic(2)
    assert preimage(lift, [2, 4, -1], 4) == Ball([1, 2], 3)
    assert preimage(lift, [-2, -4, 1], -4) == Ball([1, 2], 3, inside=False)
    assert preimage(lift, [3, 4, 0], -10) == HalfSpace([0.6, 0.8], 2)
    assert preimage(lift, [3, 4, 1e-16], -10) == HalfSpace([0.6, 0.8], 2)
    assert preimage(lift, [0, 0, -1], -1) == Empty(["x1", "x2"])  # a squared radius of -1
    assert preimage(lift, [0, 0, 1], 1) == Everything(["x1", "x2"])
    assert preimage(lift, [0, 0, 0], -1) == Empty(["x1", "x2"])
    assert preimage(lift, [0, 0, 0], 0) == Everything(["x1", "x2"])
    assert preimage(lift, [2, 4, -1], -5) == Ball([1, 2], 0)
    assert preimage(lift, [-2, -4, 1], 5) == Everything(["x1", "x2"])


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e200])
def test_the_size_of_the_weights_does_not_matter(scale):
    found = preimage(parabolic(2), np.array([2, 4, -1]) * scale, 4 * scale)
    assert found.radius == pytest.approx(3, rel=1e-14)
    np.testing.assert_allclose(found.center, [1, 2], rtol=1e-14)
    side = preimage(parabolic(2), np.array([3, 4, 0]) * scale, -10 * scale)
    assert side.offset == pytest.approx(2, rel=1e-14)


@pytest.mark.parametrize("curvature", [1e-13, 3e-14, 1.5e-14])
def test_a_ball_whose_center_is_too_far_away_is_announced(curvature):
    with pytest.warns(
        NumericalWarning, match="so far away that its rounding moves the boundary by 0.00.* the pipeline"
    ):
        found = preimage(parabolic(2), [1, 0, -curvature], 0.0)
    assert found.kind == "circle"
    assert found.contains([[1, 1], [-1, 1]]).tolist() == [True, False]
    assert preimage(parabolic(2), [1, 0, 0.9e-14], 0.0) == HalfSpace([1, 0], 0)


def test_a_large_ball_is_no_halfspace():
    found = preimage(parabolic(2), [2e6, 0, -1], 0.0)  # through zero, of radius 1e6
    assert found == Ball([1e6, 0], 1e6)


def test_balls_of_many_columns():
    center = np.arange(300.0)
    found = preimage(parabolic(300), *Ball(center, 7.0).halfspace(parabolic(300)))
    assert found == Ball(center, 7.0)
    assert str(found) == ("inside the ball of center (x1, x2, x3, ..., x300) = (0, 1, 2, ..., 299) and radius 7")


@pytest.mark.parametrize("inside", [True, False])
def test_membership_is_that_of_the_formula(inside):
    X = np.random.default_rng(0).normal(size=(500, 3))
    ball = Ball([0.3, 0.0, -0.2], 1.2, inside)
    distances = np.sqrt(((X - [0.3, 0, -0.2]) ** 2).sum(axis=1))
    np.testing.assert_array_equal(ball.contains(X), distances <= 1.2 if inside else distances >= 1.2)
    np.testing.assert_allclose(ball.value(X), (1 if inside else -1) * (1.44 - distances**2), atol=1e-14)
    np.testing.assert_allclose(ball.terms.value(X), ball.value(X), atol=1e-14)
    assert ball.contains(X.astype(np.float32)).shape == (500,)
    assert ball.contains(np.empty((0, 3))).shape == (0,)


def test_words():
    assert str(Ball([1.5], 2)) == "inside the interval of center x1 = 1.5 and radius 2"
    assert (
        str(Ball([1, 2, 3], 2, False, ["a", "b", "c"]))
        == "outside the ball of center (a, b, c) = (1, 2, 3) and radius 2"
    )
    assert str(Ball([1, 1e-18], 2)) == "inside the circle of center (x1, x2) = (1, 0) and radius 2"
    assert str(Ball([1, 2], 0)) == "the point (x1, x2) = (1, 2)"
    assert str(Ball([1, 2], 0, inside=False)) == "outside the point (x1, x2) = (1, 2)"
    assert str(HalfSpace([-2.0], 3.0)) == "x1 <= -1.5"
    assert str(HalfSpace([0.0, 2.0, 0.0], 3.0, ["a", "b", "c"])) == "b >= 1.5"
    kinds = [Ball(np.zeros(d), 1).kind for d in (1, 2, 3)] + [HalfSpace(np.ones(d), 1).kind for d in (1, 2, 3)]
    assert kinds == ["interval", "circle", "ball", "halfline", "halfplane", "halfspace"]
    assert [Empty(["a"]).kind, Everything(["a"]).kind] == ["empty", "everything"]


def test_shapes_are_frozen_values():
    ball = Ball([1, 2], 3)
    with pytest.raises(FrozenInstanceError):
        ball.radius = 4
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 4
    assert ball == pickle.loads(pickle.dumps(ball))  # noqa: S301
    assert ball != Ball([1, 2], 3, names=["a", "b"])
    assert ball != Ellipse([1, 2], [3, 3], 0.0)
    assert ball != 3
    assert repr(HalfSpace([1], 2)) == "HalfSpace(normal=array([1.]), offset=2.0, names=('x1',))"


def test_nothing_and_everything():
    X = np.zeros((3, 2))
    assert not Empty(["a", "b"]).contains(X).any()
    assert Everything(["a", "b"]).contains(X).all()
    lift = PolynomialFeatures(2).fit(X)
    for whole in (Empty(["x1", "x2"]), Everything(["x1", "x2"])):
        weights, intercept = whole.halfspace(lift)
        assert not weights.any()
        assert preimage(lift, weights, intercept) == whole


def test_halfspaces_go_both_ways():
    side = HalfSpace([3, 4], 10)
    weights, intercept = side.halfspace(parabolic(2))
    np.testing.assert_allclose(weights, [0.6, 0.8, 0], rtol=1e-15)
    assert intercept == -2
    X = np.random.default_rng(0).normal(size=(50, 2)) * 4
    np.testing.assert_array_equal(side.contains(X), 3 * X[:, 0] + 4 * X[:, 1] >= 10)
    assert HalfSpace([3e-300, 4e-300], 1e-300).offset == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: Ball([1, 2], -1), "Ball needs a finite radius from zero on; got -1. Its outside is inside=False."),
        (lambda: Ball([1, 2], np.inf), "a finite radius from zero on; got inf"),
        (lambda: Ball([1, np.nan], 1), r"a center: a list of finite numbers; got \[1.0, nan\]. Give one per column."),
        (lambda: Ball([[1, 2]], 1), r"a list of finite numbers; got shape \(1, 2\)"),
        (lambda: Ball([1, 2], 1, names=["a"]), "2 names of columns; got 1"),
        (lambda: HalfSpace([0, 0], 1), r"a normal that is not zero, and a finite offset; got the normal \[0.0, 0.0\]"),
        (lambda: Ellipse([1, 2, 3], [1, 1, 1], 0), r"a center of two numbers and a finite angle.*use Ellipsoid"),
        (lambda: Ellipse([1, 2], [1, 0], 0), r"2 positive semi-axes; got \[1.0, 0.0\]"),
        (lambda: Ellipsoid([1, 2], [1, 2, 3]), r"2 positive semi-axes; got \[1.0, 2.0, 3.0\]"),
        (lambda: Ellipsoid([1, 2], [1, 2], [[1, 0], [1, 1]]), "rows of length one at right angles.*; these are not"),
        (lambda: Ellipsoid([1, 2], [1, 2], [[1, 0]]), r"2 directions.*shape \(1, 2\)"),
        (
            lambda: Ball([1, 2], 1).contains([1, 2]),
            r"This circle needs rows of 2 columns \(x1, x2\); got .* shape \(2,\)",
        ),
        (lambda: Ball([1, 2], 1).contains([[1, 2, 3]]), r"shape \(1, 3\). Write one row as \[\[...\]\]"),
        (lambda: Ball([1, 2], 1).halfspace(parabolic(3)), "a lift of 2 columns; the lift has 3"),
        (lambda: Ball([1, 2], 1).halfspace("lift"), "a fitted lift whose features are polynomials; got str"),
        (lambda: Ball([1, 2], 1).halfspace(PolynomialFeatures()), "polynomials; got PolynomialFeatures"),
        (
            lambda: Ellipse([0, 0], [2, 1], 0).halfspace(parabolic(2)),
            "Parabolic needs features that can express this ellipse; no weights of its features give this polynomial",
        ),
        (lambda: Ellipse([0, 0], [2, 1], 0.3).halfspace(parabolic(2)), "its features hold no x1 x2. Use Polynomial"),
    ],
)
def test_refusals(action, words):
    with pytest.raises(InputError, match=words):
        action()
