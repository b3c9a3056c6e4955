"""Sums, singular values and recentred polynomials against exact fractions and 60 digits; shapes from exact weights."""

import math
import warnings
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import cholesky

from mercer.errors import NumericalWarning
from mercer.geometry import Ball, Ellipse, Ellipsoid, HalfSpace, preimage, region
from mercer.geometry.accurate import dot, precise_dot, singular_values
from mercer.geometry.quadratic import Quadratic
from mercer.kernels.precision.double_double import two_product
from mercer.lifts.polynomial import Polynomial

seeds = st.integers(0, 10**6)
sizes = st.floats(-3, 3).map(lambda power: 10.0**power)


def quadratic_lift(d):
    """All monomials up to the second degree, weighted as the polynomial kernel weights them."""
    return Polynomial(2).fit(np.zeros((1, d)))


def scaled_model(shape, origin, unit):
    """A pipeline whose scaler is (x - origin) / unit and whose model is a shape in the scaled columns."""
    lift = quadratic_lift(shape.width)
    weights, intercept = shape.halfspace(lift)
    scaler = SimpleNamespace(mean_=np.asarray(origin), scale_=np.asarray(unit))
    model = SimpleNamespace(coef_=weights[None], intercept_=[intercept], classes_=np.array([0, 1]))
    return SimpleNamespace(steps=[("scaler", scaler), ("lift", lift), ("model", model)])


# -- the arithmetic ---------------------------------------------------------------------------------------------------


@given(seeds)
def test_products_and_dots_are_exact(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 9)) * 10.0 ** rng.integers(-12, 12, size=(2, 9))
    high, low = two_product(a, b)
    exact = [Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert [Fraction(h) + Fraction(rest) for h, rest in zip(high.tolist(), low.tolist(), strict=True)] == exact
    assert dot(a, b, 0.1) == float(sum(exact, Fraction(0.1)))
    first, second = precise_dot(a, b, 0.1)
    assert first == dot(a, b, 0.1)
    assert second == float(sum(exact, Fraction(0.1)) - Fraction(first))


@given(seeds)
def test_a_polynomial_about_another_point(seed):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(3, 3))
    q = Quadratic(M + M.T, -2 * (M + M.T) @ np.full(3, 1e6), float(np.full(3, 1e6) @ (M + M.T) @ np.full(3, 1e6)))
    p = 1e6 + rng.normal(size=3)
    A, b, x = ([[Fraction(v) for v in row] for row in np.atleast_2d(part).tolist()] for part in (q.matrix, q.linear, p))
    slopes = [b[0][i] + 2 * sum(A[i][j] * x[0][j] for j in range(3)) for i in range(3)]
    value = Fraction(q.constant) + sum((b[0][i] + slopes[i]) / 2 * x[0][i] for i in range(3))
    moved = q.about(p)
    assert moved.linear.tolist() == [float(s) for s in slopes]
    assert moved.constant == pytest.approx(float(value), rel=1e-15, abs=1e-18)


@given(seeds, st.integers(1, 7))
def test_singular_values_are_right_to_their_own_digits(seed, d):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    units = 10.0 ** rng.uniform(-4, 4, size=d)
    A = units[:, None] * ((Q * np.linspace(1, 5, d)) @ Q.T) * units
    A = (A + A.T) / 2
    found, vectors = singular_values(cholesky(A))
    with mpmath.workdps(60):
        exact = sorted(mpmath.eigsy(mpmath.matrix(A.tolist()), eigvals_only=True))
        errors = [abs(mpmath.mpf(s) ** 2 / e - 1) for s, e in zip(sorted(found.tolist()), exact, strict=True)]
    assert max(errors) < 3e-14
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(d), atol=1e-14)


# -- shapes from weights ----------------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 4), sizes, st.booleans())
def test_balls_come_back(seed, d, radius, inside):
    center = np.random.default_rng(seed).uniform(-300, 300, size=d) * radius
    found = preimage(quadratic_lift(d), *Ball(center, radius, inside).halfspace(quadratic_lift(d)))
    assert isinstance(found, Ball)
    assert found.inside is inside
    assert found.radius == pytest.approx(radius, rel=1e-9)
    np.testing.assert_allclose(found.center, center, rtol=1e-12, atol=1e-12 * radius)


@given(seeds, sizes, st.floats(1.001, 30.0), st.floats(-1.57, 1.57), st.booleans())
def test_ellipses_come_back(seed, size, ratio, angle, inside):
    center = np.random.default_rng(seed).uniform(-10, 10, size=2) * size
    wanted = Ellipse(center, [size * ratio, size], angle, inside)
    found = preimage(quadratic_lift(2), *wanted.halfspace(quadratic_lift(2)))
    assert isinstance(found, Ellipse)
    assert found.inside is inside
    np.testing.assert_allclose(found.axes, wanted.axes, rtol=1e-9)
    np.testing.assert_allclose(found.center, center, rtol=1e-9, atol=1e-9 * size)
    assert math.sin(found.angle - angle) == pytest.approx(0, abs=1e-9)


@given(seeds, st.integers(3, 5), st.booleans())
def test_ellipsoids_come_back_through_a_scaler(seed, d, inside):
    """Offsets of 1e3 and units from 1e-3 to 1e3, which the weights alone could not hold: axes are right to 1e-9."""
    rng = np.random.default_rng(seed)
    directions, _ = np.linalg.qr(rng.normal(size=(d, d)))
    inner = Ellipsoid(rng.normal(size=d), rng.uniform(0.5, 3, size=d), directions, inside)
    origin, unit = rng.uniform(-1e3, 1e3, size=d), 10.0 ** rng.uniform(-3, 3, size=d)
    found = region(scaled_model(inner, origin, unit))
    assert isinstance(found, Ellipsoid)
    assert found.inside is inside
    with mpmath.workdps(60):  # the image of the unit ball under x = unit directions' diag(axes) t
        G = mpmath.diag(unit.tolist()) * mpmath.matrix(directions.T.tolist()) * mpmath.diag(inner.axes.tolist())
        squares, vectors = mpmath.eigsy(G * G.T)
        axes = [float(mpmath.sqrt(s)) for s in squares]
    order = np.argsort(axes)[::-1]
    np.testing.assert_allclose(found.axes, np.array(axes)[order], rtol=1e-9)
    np.testing.assert_allclose(found.center, origin + unit * inner.center, rtol=1e-12, atol=1e-12)
    exact = np.array(vectors.tolist(), dtype=float).T[order]
    gap = np.min(np.abs(np.diff(found.axes)) / found.axes[1:])
    np.testing.assert_allclose(np.abs(np.sum(exact * found.directions, axis=1)), 1, atol=1e-12 / gap**2)


@given(seeds, sizes)
def test_a_small_circle_far_away_is_exact_behind_a_scaler(seed, radius):
    center = np.random.default_rng(seed).uniform(-1e3, 1e3, size=2)
    found = region(scaled_model(Ball([0.25, -0.5], 1.5), center, [radius, radius]))
    assert isinstance(found, Ball)
    assert found.radius == pytest.approx(1.5 * radius, rel=1e-12)
    np.testing.assert_allclose(found.center, center + np.array([0.25, -0.5]) * radius, rtol=1e-15)


def test_weights_that_are_exact_give_exact_shapes():
    lift = quadratic_lift(2)
    weights = [0, 2 * 1024 / math.sqrt(2), 2 * 512 / math.sqrt(2), -1, 0, -1]
    assert lift.expansion_.combined(np.array(weights))[1:3].tolist() == [2048, 1024]
    with pytest.warns(NumericalWarning, match="leaves the sizes here .circle. in doubt by"):
        found = preimage(lift, weights, 2.0**-20 - 1024**2 - 512**2)
    assert found == Ball([1024, 512], 2.0**-10)


@given(seeds, sizes, st.floats(0, 1e4), st.floats(1.001, 1e4))
def test_what_is_not_warned_of_is_accurate(seed, size, offset, ratio):
    rng = np.random.default_rng(seed)
    wanted = Ellipse(rng.normal(size=2) * offset, [size * ratio, size], rng.uniform(-1.5, 1.5))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = preimage(quadratic_lift(2), *wanted.halfspace(quadratic_lift(2)))
    if heard:
        assert [entry.category for entry in heard] == [NumericalWarning]
    else:
        np.testing.assert_allclose(found.axes, wanted.axes, rtol=1e-6)


def test_a_shape_that_rounding_hides_is_announced():
    with pytest.warns(NumericalWarning, match="hides shapes up to 0.0002 units; what looks like 'point' may be one"):
        assert preimage(quadratic_lift(2), *Ball([1e3, 1e3], 1e-6).halfspace(quadratic_lift(2))).kind == "point"


def test_halfspaces_keep_their_digits_far_away():
    model = SimpleNamespace(coef_=np.array([1.0, 1.0]), intercept_=0.5)
    scaler = SimpleNamespace(mean_=np.array([1e8, -1e8]), scale_=np.array([2.0, 2.0]))
    found = region(SimpleNamespace(steps=[("scaler", scaler), ("model", model)]))
    assert isinstance(found, HalfSpace)
    assert found.offset == pytest.approx(-1 / math.sqrt(2), rel=1e-15)
