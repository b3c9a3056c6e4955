"""Conics and quadrics: textbook examples, every kind, and membership against the polynomial itself."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

from mercer.errors import InputError
from mercer.geometry import Ball, Ellipse, Ellipsoid, Inequality, Quadric, preimage


def lift(d, degree=2):
    return PolynomialFeatures(degree, include_bias=False).fit(np.zeros((1, d)))


PLANE = ["x1", "x2", "x1^2", "x1 x2", "x2^2"]
SPACE = ["x1", "x2", "x3", "x1^2", "x1 x2", "x1 x3", "x2^2", "x2 x3", "x3^2"]


def shape(order, constant, **weights):
    """The shape of a polynomial: numbers by the names of monomials, with _ for a blank."""
    names = [name.replace(" ", "_").replace("^2", "2") for name in order]
    assert set(weights) <= set(names)
    return preimage(lift(2 if order is PLANE else 3), [weights.get(name, 0.0) for name in names], constant)


def plane(constant=0.0, **weights):
    return shape(PLANE, constant, **weights)


def space(constant=0.0, **weights):
    return shape(SPACE, constant, **weights)


# -- textbook examples ------------------------------------------------------------------------------------------------


def test_a_rotated_ellipse():
    """5 x^2 - 4 x y + 8 y^2 = 36: eigenvalues 4 and 9, so semi-axes 3 and 2; the long one along (2, 1)."""
    found = plane(36, x12=-5, x1_x2=4, x22=-8)
    assert isinstance(found, Ellipse)
    assert found.inside
    np.testing.assert_allclose(found.axes, [3, 2], rtol=1e-15)
    np.testing.assert_allclose(found.center, [0, 0], atol=1e-15)
    assert found.angle == pytest.approx(math.atan2(1, 2), rel=1e-15)
    assert str(found) == "inside the ellipse of center (x1, x2) = (0, 0), semi-axes 3, 2 and angle 0.463648"
    assert not plane(-36, x12=5, x1_x2=-4, x22=8).inside


def test_a_rotated_hyperbola():
    """x y = 2 is u^2 - v^2 = 4 in axes turned by 45 degrees: both semi-axes are 2, and the branches lie outside."""
    found = plane(-2, x1_x2=1)
    assert (found.kind, found.signature, found.inside) == ("hyperbola", (1, 1, 0), False)
    np.testing.assert_allclose(found.axes, [2, 2], rtol=1e-15)
    assert found.angle == pytest.approx(math.pi / 4)
    assert str(found) == "hyperbola: 0.5 x1 x2 - 1 >= 0"


def test_a_parabola():
    """y >= x^2 - 2 x + 4 has its vertex at (1, 3), opens upwards, and is (x - 1)^2 <= y - 3."""
    found = plane(-4, x1=2, x2=1, x12=-1)
    assert (found.kind, found.right, found.inside) == ("parabola", "height", True)
    np.testing.assert_allclose(found.center, [1, 3], rtol=1e-15)
    np.testing.assert_allclose(found.axes, [1], rtol=1e-15)
    np.testing.assert_allclose(found.directions, [[1, 0], [0, 1]], atol=1e-15)
    assert str(found) == "parabola: -(x1 - 1)^2 + (x2 - 3) >= 0"
    below = plane(4, x1=-2, x2=-1, x12=1)
    assert not below.inside
    np.testing.assert_allclose(below.directions, found.directions, atol=1e-15)


def test_an_ellipsoid():
    """x^2/9 + (y - 1)^2/4 + z^2 <= 1."""
    found = space(1 - 1 / 4, x12=-1 / 9, x22=-1 / 4, x2=1 / 2, x32=-1)
    assert isinstance(found, Ellipsoid)
    np.testing.assert_allclose(found.axes, [3, 2, 1], rtol=1e-15)
    np.testing.assert_allclose(found.center, [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(found.directions, np.eye(3))
    assert str(found) == "inside the ellipsoid of center (x1, x2, x3) = (0, 1, 0) and semi-axes 3, 2, 1"


# -- every kind -------------------------------------------------------------------------------------------------------

KINDS = {
    "circle": plane(1, x12=-1, x22=-1),
    "ellipse": plane(1, x12=-1, x22=-2),
    "hyperbola": plane(1, x12=-1, x22=2, x1=1),
    "parabola": plane(1, x12=-1, x1_x2=-2, x22=-1, x1=1),
    "crossing lines": plane(2, x12=2, x1_x2=1, x22=-3, x1=5, x2=5),  # (x1 - x2 + 2)(2 x1 + 3 x2 + 1)
    "parallel lines": plane(-5, x12=1, x1_x2=6, x22=9),
    "line": plane(-1, x12=-1, x1_x2=-2, x22=-1, x1=2, x2=2),
    "point": plane(-0.29, x12=-1, x22=-1, x1=0.4, x2=1.0),
    "halfplane": plane(1, x1=1),
    "empty": plane(-1, x12=-1, x1_x2=-2, x22=-1),
    "everything": plane(1, x12=1, x22=0.5),
    "ball": space(1, x12=-1, x22=-1, x32=-1),
    "ellipsoid": space(1, x12=-1, x22=-1, x32=-1, x1_x2=0.2),
    "hyperboloid": space(1, x12=1, x22=-1, x32=-1),
    "cone": space(0, x12=-1, x22=-1, x32=1),
    "paraboloid": space(1, x12=-1, x22=-3, x3=1),
    "cylinder": space(1, x12=-1, x22=-2),
    "parallel planes": space(1, x12=-1),
    "crossing planes": space(0, x1_x3=1),
    "plane": space(0, x12=-1),
    "halfspace": space(0, x3=-1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    assert KINDS[kind].kind == kind


@pytest.mark.parametrize(
    ("found", "kind", "signature"),
    [
        (space(-1, x12=1, x22=-1), "cylinder", (1, 1, 1)),  # hyperbolic
        (space(0, x12=1, x2=-1), "cylinder", (1, 0, 2)),  # parabolic
        (space(0, x12=1, x22=-1, x3=1), "paraboloid", (1, 1, 1)),  # a saddle
        (space(-1, x12=1, x22=-1, x32=-1), "hyperboloid", (1, 2, 0)),  # of two sheets
        (space(1, x12=1, x22=-1, x32=-1), "hyperboloid", (2, 1, 0)),  # of one sheet
        (space(0, x12=-1, x22=-1), "line", (2, 0, 1)),
        (plane(0, x12=1, x22=-1), "crossing lines", (1, 1, 0)),
        (plane(0, x12=2, x1_x2=1, x22=-3), "crossing lines", (1, 1, 0)),
    ],
)
def test_signatures(found, kind, signature):
    assert (found.kind, found.signature) == (kind, signature)


def test_one_column_has_intervals():
    assert preimage(lift(1), [4.0, -1.0], -3.0) == Ball([2.0], 1.0)
    assert preimage(lift(1), [-4.0, 1.0], 3.0) == Ball([2.0], 1.0, inside=False)
    assert preimage(lift(1), [0.0, 1.0], 3.0).kind == "everything"
    assert str(preimage(lift(1), [2.0, 0.0], -3.0)) == "x1 >= 1.5"


def test_a_circle_is_a_circle_within_a_stated_part():
    assert plane(1, x12=-1, x22=-(1 + 1e-9)).kind == "circle"
    assert plane(1, x12=-1, x22=-(1 + 1e-8)).kind == "ellipse"


def test_terms_of_a_higher_degree_count_when_they_reach_a_stated_part():
    order = list(PolynomialFeatures(3, include_bias=False).fit(np.zeros((1, 2))).get_feature_names_out())
    weights = np.zeros(9)
    weights[[order.index("x0^2"), order.index("x1^2")]] = -1
    weights[order.index("x0^3")] = 1e-16
    assert preimage(lift(2, 3), weights, 1.0) == Ball([0, 0], 1)
    weights[order.index("x0^3")] = 1e-12
    assert isinstance(preimage(lift(2, 3), weights, 1.0), Inequality)


def test_a_long_ellipse_is_no_pair_of_lines():
    found = plane(1, x12=-1e6, x22=-1e-6)
    np.testing.assert_allclose(found.axes, [1e3, 1e-3], rtol=1e-15)
    assert plane(1, x12=-1, x22=-1e-17).kind == "parallel lines"


# -- membership -------------------------------------------------------------------------------------------------------

numbers = st.integers(-3, 3).map(float)


@given(st.lists(numbers, min_size=10, max_size=10), st.integers(2, 3), st.integers(0, 10**6))
def test_membership_is_the_sign_of_the_polynomial(weights, d, seed):
    """Small integers meet every degenerate kind; the oracle is the polynomial, evaluated by scikit-learn."""
    count = len(PLANE) if d == 2 else len(SPACE)
    found = preimage(lift(d), weights[:count], weights[-1])
    X = np.random.default_rng(seed).normal(size=(200, d)) * 2
    values = lift(d).transform(X) @ weights[:count] + weights[-1]
    clear = np.abs(values) > 1e-9
    np.testing.assert_array_equal(found.contains(X)[clear], values[clear] >= 0)
    np.testing.assert_allclose(found.terms.value(X), found.value(X), rtol=1e-9, atol=1e-9)


@given(st.integers(2, 4), st.integers(0, 10**6), st.sampled_from(["one", "zero", "height"]), st.booleans())
def test_quadrics_come_back(d, seed, right, inside):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, d + 1 - (right == "height")))
    directions, _ = np.linalg.qr(rng.normal(size=(d, d)))
    signs = np.sort(rng.choice([-1.0, 1.0], size=rank))[::-1]
    assume(signs[0] > 0)
    wanted = Quadric(rng.normal(size=d), rng.uniform(0.5, 2, size=rank), signs, directions, right, inside)
    found = preimage(lift(d), *wanted.halfspace(lift(d)))
    X = rng.normal(size=(300, d)) * 3
    clear = np.abs(wanted.value(X)) > 1e-9
    np.testing.assert_array_equal(found.contains(X)[clear], wanted.contains(X)[clear])
    if isinstance(found, Quadric):
        assert found.kind == wanted.kind
        assert sorted(found.signature[:2]) == sorted(wanted.signature[:2])
    else:
        definite = (signs > 0).all() and rank == d
        assert definite or (right == "zero" and not inside and (signs > 0).all())


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: Quadric([0, 0], [1, 1], [1, 2]), r"signs of 1 or -1.*\[1.0, 2.0\] and 'one'"),
        (lambda: Quadric([0, 0], [1], [1], right="two"), "'two'"),
        (
            lambda: Quadric([0, 0], [1, 1], [1, -1], right="height"),
            "no more than 2 coordinates; got 2 axes and the right side",
        ),
        (lambda: Quadric([0, 0], [1, 1, 1], [1, 1, 1]), "no more than 2 coordinates"),
        (lambda: Quadric([0, 0], [1], [1, 1]), r"2 positive semi-axes; got \[1.0\]"),
        (lambda: KINDS["cone"].angle, "a shape in the plane to have an angle; this is in 3 dimensions"),
    ],
)
def test_refusals_of_quadrics(action, words):
    with pytest.raises(InputError, match=words):
        action()
