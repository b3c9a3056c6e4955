"""Hard margins against closed forms in fractions: gaps down to 1e-9 of the width, far origins, overlaps."""

from fractions import Fraction

import numpy as np
import pytest

import mercer
from mercer import KernelSVC
from mercer.errors import InputError
from mercer.kernels import Gaussian
from mercer.lifts import Monomials, Polynomial

GAPS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]
TURN = np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]])


def with_gap(gap, d, offset=0.0):
    """100 rows of a width of 10, whose classes are a gap apart; the first two rows are the nearest."""
    random = np.random.default_rng(0)
    low, high = 5 - gap / 2, 5 + gap / 2
    x = np.concatenate([[low, high], random.uniform(0, low - 1e-3, 49), random.uniform(high + 1e-3, 10, 49)])
    y = np.repeat([0, 1, 0, 1], [1, 1, 49, 49])
    if d == 1:
        return x[:, None] + offset, y
    beside = np.append([3.0, 3.0], random.uniform(0, 10, 98))
    return np.column_stack([x, beside]) @ TURN + offset, y


def halfway(low, high):
    """w and b of the plane halfway between two points, in fractions: w = 2 (p - q) / |p - q|^2."""
    q, p = ([Fraction(number) for number in row] for row in (low.tolist(), high.tolist()))
    apart = [a - b for a, b in zip(p, q, strict=True)]
    square = sum(a * a for a in apart)
    bias = -sum((a - b) * (a + b) for a, b in zip(p, q, strict=True)) / square
    return np.array([float(2 * a / square) for a in apart]), float(bias)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("gap", GAPS)
def test_a_gap_has_its_plane_in_closed_form(gap, d, offset):
    X, y = with_gap(gap, d, offset)
    model = KernelSVC("linear", C=np.inf).fit(X, y)
    w, b = halfway(X[0], X[1])
    near = 1e-9 if d == 1 else max(1e-9, 1e-13 * (10 + offset) / gap)  # the digits that the rows have of the gap
    np.testing.assert_allclose(model.coef_[0], w, rtol=near)
    assert model.intercept_ == pytest.approx(b, rel=near)
    sign = np.where(y == 1, 1.0, -1.0)
    f = model.decision_function(X)
    assert (sign * f).min() == pytest.approx(1.0, abs=1e-7)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.converged_
    assert model.support_.tolist() == [0, 1]
    np.testing.assert_allclose(model.dual_coef_, [-w @ w / 2, w @ w / 2], rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("overlap", [1e-8, 1e-4])
def test_an_overlap_is_no_gap(overlap, d, offset):
    X, y = with_gap(-overlap, d, offset)
    with pytest.raises(
        InputError, match=r"rows of 0 and 1 that a function separates, .* their convex hulls meet, in exact"
    ):
        KernelSVC("linear", C=np.inf).fit(X, y)


@pytest.mark.parametrize("kernel", ["1 + linear", "powers(degree=2)", Monomials(2), Polynomial(2)], ids=str)
@pytest.mark.parametrize("gap", [1e-5, 1e-7])
def test_any_finite_lift_will_do(kernel, gap):
    X, y = with_gap(gap, 1)
    model = KernelSVC(kernel, C=np.inf).fit(X, y)
    assert model.score(X, y) == 1
    phi = mercer.lift(kernel, 1) if isinstance(kernel, str) else kernel.fit(X)
    f = phi.transform(X) @ model.coef_[0] + model.intercept_
    assert np.abs(f - model.decision_function(X)).max() < 1e-13 * np.abs(model.coef_).max() * 100
    exact = mercer.separable(phi, X, y)
    assert np.linalg.norm(model.coef_) == pytest.approx(1 / exact.margin, rel=1e-6)


@pytest.mark.parametrize("d", [1, 2])
def test_the_margin_is_kept_by_files_and_landmarks(d, tmp_path):
    X, y = with_gap(1e-7, d)
    model = KernelSVC("linear", C=np.inf).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    f = model.decision_function(X)
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").decision_function(X), f)
    for settings in ({}, {"polish": True}):
        other = KernelSVC("linear", C=np.inf, method="landmarks", n_landmarks=5, **settings).fit(X, y)
        np.testing.assert_allclose(other.decision_function(X), f, rtol=1e-6)
        np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-6)
        assert other.duality_gap_ >= 0


def test_classes_of_narrow_and_wide_gaps_share_a_model():
    X, y = with_gap(1e-7, 2)
    X, y = np.vstack([X, X[:20] + 30.0]), np.append(y, np.full(20, 2))
    model = KernelSVC("linear", C=np.inf).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    wide = KernelSVC("linear", C=np.inf).fit(X[y != 0], y[y != 0])
    np.testing.assert_allclose(model.coef_[2], -wide.coef_[0], rtol=1e-6)
    np.testing.assert_allclose(
        -model.coef_[0], KernelSVC("linear", C=np.inf).fit(X[y < 2], y[y < 2]).coef_[0], rtol=1e-9
    )


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 2e-5])
def test_without_a_lift_the_signs_decide(distance):
    X, y = np.array([[0.0], [distance], [2.0], [-2.0]]), np.array([0, 1, 1, 0])
    model = KernelSVC(Gaussian(1.0), C=np.inf).fit(X, y)
    assert model.score(X, y) == 1
    margin = 1 / np.sqrt(model.dual_coef_ @ Gaussian(1.0)(X[model.support_]) @ model.dual_coef_)
    assert margin == pytest.approx(distance / 2, rel=1e-3)


def test_what_rounding_hides_is_not_called_inseparable():
    X, y = np.array([[0.0], [1e-8], [2.0], [-2.0]]), np.array([0, 1, 1, 0])
    with pytest.raises(InputError, match=r"not resolved: .* apart in the function that was found, with a rounding of"):
        KernelSVC(Gaussian(1.0), C=np.inf).fit(X, y)
    K = X @ X.T
    with pytest.raises(InputError, match=r"not resolved"):
        KernelSVC("precomputed", C=np.inf).fit(K, y)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), "linear", "laplace"], ids=str)
def test_equal_rows_of_both_classes_are_told(kernel):
    X, y = with_gap(1.0, 2)
    rows, y = np.append(np.arange(len(X)), 7), np.append(y, 1 - y[7])
    with pytest.raises(InputError, match="a row of one class is equal to one of the other"):
        KernelSVC(kernel, C=np.inf).fit(X[rows], y)
    K = mercer.parse(str(kernel))(X)[np.ix_(rows, rows)]  # of X[rows], equal rows of K may differ by rounding
    with pytest.raises(InputError, match="a row of one class is equal to one of the other"):
        KernelSVC("precomputed", C=np.inf).fit(K, y)


def test_columns_far_apart_in_size():
    X, y = with_gap(1e-3, 2)
    X = X * [1.0, 1e-3]
    model = KernelSVC("linear", C=np.inf).fit(X, y)
    exact = mercer.separable("linear", X, y)
    np.testing.assert_allclose(model.coef_[0], exact.coef / exact.margin, rtol=1e-6)
    assert model.score(X, y) == 1
