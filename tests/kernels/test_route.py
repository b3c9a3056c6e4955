"""The fused pass keeps what is promised of numbers, whichever way it takes: by products or by differences."""

import math

import mpmath
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer.kernels import (
    ArcCosine,
    Cosine,
    Exponential,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Min,
    Periodic,
    Polynomial,
    ProductLaplace,
    RationalQuadratic,
    Sinc,
    Subsets,
    Wendland,
)
from mercer.kernels.evaluation import dispatch
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import points_from

pytestmark = pytest.mark.slow

STATIONARY = {
    "gaussian": (Gaussian(1.5), lambda r: np.exp(-r * r / 4.5)),
    "laplace": (Laplace(1.5), lambda r: np.exp(-r / 1.5)),
    "matern": (Matern(1.5, 1.5), lambda r: (1 + math.sqrt(3) * r / 1.5) * np.exp(-math.sqrt(3) * r / 1.5)),
    "rational": (RationalQuadratic(0.7, 1.5), lambda r: (1 + r * r / 2.25 / 1.4) ** -0.7),
    "wendland": (Wendland(50, 0, 9.0), lambda r: np.maximum(0, 1 - r / 9) ** 26),
    "sinc": (Sinc(1.5), lambda r: np.sinc(r / 1.5 / np.pi)),
    "composed": (
        0.5 * Gaussian(3.0) * Laplace(2.0) + 0.2 * Matern(2.5),
        lambda r: (
            0.5 * np.exp(-r * r / 18 - r / 2) + 0.2 * (1 + math.sqrt(5) * r + 5 / 3 * r * r) * np.exp(-math.sqrt(5) * r)
        ),
    ),
}
"""Kernels of the distance, and what they are."""


def fused_gram(kernel, X, Z=None):
    left = points_from(X)
    assert dispatch.bound(kernel, left, left if Z is None else points_from(Z)) is not None
    with fused_from(0):
        return kernel(X, Z)


def draw(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# -- translation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 10, 40])
@pytest.mark.parametrize("name", STATIONARY)
def test_a_translation_changes_nothing(name, d):
    """Against distances from differences of the rounded rows, which are exact to a few units."""
    kernel, wanted = STATIONARY[name]
    for offset in (0.0, 1.0, 1e3, 1e6, 1e9, -1e9):
        X, Z = draw(60, d) + offset, draw(40, d, seed=1) + offset
        assert np.abs(fused_gram(kernel, X) - wanted(cdist(X, X))).max() <= 1e-9
        assert np.abs(fused_gram(kernel, X, Z) - wanted(cdist(X, Z))).max() <= 1e-9


@pytest.mark.parametrize("d", [2, 10, 40])
@pytest.mark.parametrize("kernel", [Periodic(2.0, 1.5), ProductLaplace(3.0)], ids=str)
def test_a_translation_changes_nothing_coordinatewise(kernel, d):
    for offset in (0.0, 1e3, 1e9):
        X = draw(60, d) + offset
        gaps = X[:, None, :] - X[None, :, :]
        terms = np.abs(gaps) / 3 if isinstance(kernel, ProductLaplace) else 2 * np.sin(np.pi * gaps / 2) ** 2 / 2.25
        assert np.abs(fused_gram(kernel, X) - np.exp(-terms.sum(axis=2))).max() <= 1e-9


@pytest.mark.parametrize("d", [2, 10, 40])
@pytest.mark.parametrize("name", STATIONARY)
def test_two_clusters_far_apart(name, d):
    """No origin is near to both; pairs within a cluster need differences."""
    kernel, wanted = STATIONARY[name]
    sides = np.where(np.arange(80) % 2, 1e6, -1e6)[:, None]
    X = draw(80, d) + sides
    assert np.abs(fused_gram(kernel, X) - wanted(cdist(X, X))).max() <= 1e-9
    assert np.abs(fused_gram(kernel, X[:30], X[30:]) - wanted(cdist(X[:30], X[30:]))).max() <= 1e-9


def test_one_row_far_away_does_not_spoil_the_others():
    X = draw(600, 20)
    X[417] = 1e8
    for name in ("gaussian", "laplace", "matern"):
        kernel, wanted = STATIONARY[name]
        assert np.abs(fused_gram(kernel, X) - wanted(cdist(X, X))).max() <= 1e-9


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0), Linear() * Gaussian(2.0)], ids=str)
def test_an_offset_does_not_spoil_inner_products(kernel):
    """They are measured from a common origin too, and must undo that."""
    for offset in (0.0, 10.0, 1e6):
        X = draw(50, 10) + offset
        dots = np.array([[math.sumprod(x, z) if hasattr(math, "sumprod") else math.fsum(x * z) for z in X] for x in X])
        wanted = {
            "linear": dots,
            "polynomial": (1 + dots) ** 2,
        }.get(kernel.name, dots * np.exp(-(cdist(X, X) ** 2) / 8))
        scale = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
        assert (np.abs(fused_gram(kernel, X) - wanted) / scale).max() <= 1e-12


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("other", [Min(), Subsets(), ProductLaplace(2.0)], ids=str)
def test_an_origin_is_for_distances_only(other, d):
    """A kernel of coordinates beside one of distances must see the rows where they are."""
    X = np.random.default_rng(0).uniform(2.0, 2.5, size=(30, d))
    for kernel in (Gaussian(), Laplace(), Gaussian() * Linear()):
        with fused_from(1 << 60):
            alone = kernel(X), other(X), kernel(X, X[:9]), other(X, X[:9])
        np.testing.assert_allclose(fused_gram(kernel + other, X), alone[0] + alone[1], rtol=1e-12)
        np.testing.assert_allclose(fused_gram(kernel + other, X, X[:9]), alone[2] + alone[3], rtol=1e-12)


# -- eigenvalues -------------------------------------------------------------------------------------------------------

PROVEN = [
    Gaussian(0.5), Gaussian(30.0), Laplace(2.0), Matern(2.5, 5.0), RationalQuadratic(1.0, 8.0), Linear(),
    Polynomial(3, 1.0), Exponential(3.0), Cosine(), ArcCosine(0), ArcCosine(1), Periodic(3.0, 4.0), ProductLaplace(4.0),
    Gaussian(3.0) + 0.5 * Linear() * Matern(1.5),
]  # fmt: skip


@pytest.mark.parametrize("kernel", PROVEN, ids=str)
@pytest.mark.parametrize("d", [2, 20])
def test_no_eigenvalue_is_below_what_rounding_explains(kernel, d):
    n = 150
    for offset in (0.0,) if isinstance(kernel, Exponential) else (0.0, 1e4):  # exp(1e8) is beyond all floats
        X = draw(n, d) + offset
        X[1], X[3] = X[0], X[2] + 1e-9
        K = fused_gram(kernel, X)
        values = np.linalg.eigvalsh(K)
        assert values[0] >= -n * np.finfo(float).eps * values[-1]


# -- float32 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 10, 30, 90])
@pytest.mark.parametrize("lengthscale", [1e-6, 0.05, 0.3, 1.0, 3.0, 100.0, 1e6])
def test_float32_is_within_a_millionth_above_the_tail(d, lengthscale):
    """Relative to each value whose exponent is above -20; far offsets and tiny lengthscales included."""
    for offset in (0.0, 5.0, 1e4):
        X = (draw(300, d) + offset).astype(np.float32)
        X[100:200] = X[:100] + (lengthscale * draw(100, d, seed=1) / math.sqrt(d)).astype(np.float32)
        K = fused_gram(Gaussian(lengthscale), X)
        assert K.dtype == np.float32
        exponents = -(cdist(X.astype(float), X.astype(float)) ** 2) / 2 / lengthscale**2
        kept = exponents > -20
        wanted = np.exp(exponents)
        assert (np.abs(K - wanted)[kept] / wanted[kept]).max() <= 1e-6
        assert np.abs(K - wanted).max() <= 1e-6


@pytest.mark.parametrize("name", STATIONARY)
@pytest.mark.parametrize("d", [3, 20])
def test_float32_of_other_kernels_is_within_a_millionth_of_the_largest(name, d):
    kernel, wanted = STATIONARY[name]
    for offset in (0.0, 100.0):
        X = (draw(200, d) + offset).astype(np.float32)
        X[1] = X[0]
        X[3] = np.nextafter(X[2], np.float32(1e9))
        K = fused_gram(kernel, X)
        assert np.abs(K - wanted(cdist(X.astype(float), X.astype(float)))).max() <= 1e-6


# -- the range of floats -----------------------------------------------------------------------------------------------


RANGE = [Gaussian, Laplace, lambda s: Matern(1.5, s), lambda s: RationalQuadratic(1.0, s), lambda s: Wendland(50, 0, s)]


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("family", RANGE, ids=["gaussian", "laplace", "matern", "rational", "wendland"])
@pytest.mark.parametrize("lengthscale", [1e-150, 1e-100, 1e-30, 1.0, 1e30, 1e100, 1e150])
def test_nothing_is_nan_at_the_ends_of_the_range(d, family, lengthscale):
    kernel = family(lengthscale)
    for size in (1e-200, 1e-20, 1.0, 1e20, 1e153, 1e200):
        X = size * draw(40, d)
        K = fused_gram_or_plain(kernel, X)
        assert np.isfinite(K).all()
        with np.errstate(all="ignore"):
            apart = size / lengthscale
        if apart > 1e10:  # all others are beyond reach, except for the tail of a rational one
            np.testing.assert_allclose(K, np.eye(40), atol=1e-9)
        elif apart < 1e-10:
            np.testing.assert_allclose(K, 1.0, atol=1e-8)
        elif apart == 1.0:
            np.testing.assert_allclose(K, family(1.0)(draw(40, d)), atol=1e-12)


@pytest.mark.parametrize("lengthscale", [1e-30, 1e-10, 1.0, 1e10, 1e30])
@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("family", RANGE, ids=["gaussian", "laplace", "matern", "rational", "wendland"])
def test_nothing_is_nan_at_the_ends_of_the_range_of_float32(d, family, lengthscale):
    for size in (1e-36, 1e-30, 1e-10, 1.0, 1e10, 1e30, 1e37):
        X = (size * draw(40, d)).astype(np.float32)
        K = fused_gram_or_plain(family(lengthscale), X)
        assert K.dtype == np.float32
        with fused_from(1 << 60):
            np.testing.assert_allclose(K, family(lengthscale)(X), atol=1e-6)


def fused_gram_or_plain(kernel, X):
    """At the ends of the range a number may leave it on the way, and then plain NumPy serves."""
    with fused_from(0):
        return kernel(X)


# -- near-duplicates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 4, 5, 10, 25, 50])
@pytest.mark.parametrize("kernel", [Laplace(1.0), Matern(0.5, 2.0), Matern(1.5), Matern(2.5, 0.5)], ids=str)
def test_near_duplicates_of_kernels_of_the_root(kernel, d):
    """1 - k is about the distance there, so an error of the squared distance would show as its root."""
    X = 3.0 + draw(24, d)
    Z = X + 10.0 ** -np.arange(1, 13).repeat(2)[:, None] * draw(24, d, seed=1)
    found = fused_gram(kernel, np.vstack([X, Z]))
    assert np.abs(found - by_mpmath(kernel, np.vstack([X, Z]))).max() <= 1e-12
    assert np.abs(fused_gram(kernel, X, Z) - by_mpmath(kernel, np.vstack([X, Z]))[:24, 24:]).max() <= 1e-12


def by_mpmath(kernel, rows):
    """exp(-t), times 1 + t or 1 + t + t^2 / 3, with t = sqrt(2 nu) r / lengthscale, in 30 digits."""
    nu = getattr(kernel, "nu", 0.5)
    with mpmath.workdps(30):
        exact = [[mpmath.mpf(float(x)) for x in row] for row in rows]
        rate = mpmath.sqrt(2 * nu) / kernel.lengthscale
        factor = {0.5: lambda t: 1, 1.5: lambda t: 1 + t, 2.5: lambda t: 1 + t + t * t / 3}[nu]

        def value(x, z):
            t = rate * mpmath.sqrt(mpmath.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True)))
            return float(mpmath.exp(-t) * factor(t))

        lower = {(i, j): value(exact[i], exact[j]) for i in range(len(exact)) for j in range(i + 1)}
    return np.array([[lower[max(i, j), min(i, j)] for j in range(len(rows))] for i in range(len(rows))])


@pytest.mark.parametrize("kernel", [Cosine(), ArcCosine(0), ArcCosine(1)], ids=str)
@pytest.mark.parametrize("d", [2, 20])
def test_small_angles(kernel, d):
    X = draw(12, d)
    Z = X * np.linspace(0.5, 2, 12)[:, None] + 10.0 ** -np.arange(1, 13)[:, None] * draw(12, d, seed=1)
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (X, Z)]
    angle = 2 * np.arctan2(cdist(*units), cdist(units[0], -units[1]))
    lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
    wanted = np.cos(angle)
    if isinstance(kernel, ArcCosine):
        ramp = lengths * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
        wanted = 1 - angle / np.pi if kernel.order == 0 else ramp
    np.testing.assert_allclose(fused_gram(kernel, X, Z), wanted, rtol=1e-12, atol=1e-12)


# -- what is chosen ----------------------------------------------------------------------------------------------------


def chosen(kernel, X):
    points = points_from(X)
    return dispatch.bound(kernel, points, points)


def kinds(fused):
    return [method.kind for method in fused.methods.values()]


def test_the_fast_way_is_taken_where_it_is_accurate():
    """Else every test above would pass by never using a product."""
    X = draw(500, 40)
    assert kinds(chosen(Gaussian(3.0), X)) == ["product"]
    assert kinds(chosen(Gaussian(3.0), X + 1e6)) == ["product"]  # an origin among the rows
    assert chosen(Gaussian(3.0), X.astype(np.float32)).dtype == np.float32
    assert chosen(Laplace(3.0), X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("d", [10, 30, 90])
def test_float32_rows_of_usual_lengths_are_multiplied_in_float32(d):
    """The error of a product is that of |x|^2 + |z|^2 at most: rows far apart are no reason for float64."""
    X, Z = draw(1500, d).astype(np.float32), draw(1500, d, seed=1).astype(np.float32)
    points = (points_from(side) for side in (X, Z))
    way = dispatch.bound(Gaussian(math.sqrt(d)), *points)
    assert (way.precision, kinds(way)) == ("float32", ["product"])
    wanted = np.exp(-cdist(X.astype(float), Z.astype(float), "sqeuclidean") / (2 * d))
    np.testing.assert_allclose(Gaussian(math.sqrt(d))(X, Z), wanted, rtol=1e-6)


def test_the_accurate_way_is_taken_where_the_fast_one_is_not():
    X = draw(500, 40)
    X[::2] += 1e9
    assert kinds(chosen(Gaussian(3.0), X)) == ["differences"]


@pytest.mark.parametrize("reach", [1.0, 30.0, 1000.0, 1e5])
def test_terms_of_float32_rows_keep_their_digits(reach):
    """Far from a period, x - z of float32 has too few digits for its sine: the work is done in float64 then."""
    X = (reach * np.random.default_rng(0).random((300, 2))).astype(np.float32)
    gap = X[:, None, :].astype(float) - X[None, :, :]
    wanted = np.exp(-2 * (np.sin(np.pi * np.remainder(gap, 1.0)) ** 2).sum(axis=2))
    assert np.abs(fused_gram(Periodic(1.0, 1.0), X) - wanted).max() <= 1e-6
    assert chosen(Periodic(1.0), X).dtype == (np.float32 if reach == 1.0 else np.float64)


# -- long rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian", "matern", "rational", "sinc"])
def test_long_rows_of_one_side_leave_products_and_lose_no_digits(name):
    kernel, truth = STATIONARY[name]
    X, Z = draw(300, 54), draw(200, 54, seed=1)
    Z[7] *= 700.0
    kinds = kinds_of(kernel, X, Z)
    assert kinds == kinds_of(kernel, X, np.delete(Z, 7, axis=0)) == ["product"]
    values = truth(cdist(X, Z))
    assert np.abs(fused_gram(kernel, X, Z) - values).max() <= 5e-13


def test_long_rows_of_both_sides_are_told_apart_by_differences():
    X, Z = draw(300, 54), draw(200, 54, seed=1)
    Z[7] *= 7000.0
    X[100] = Z[7] + 0.01 * X[100]
    kernel, truth = STATIONARY["gaussian"]
    assert kinds_of(kernel, X, Z) == ["differences"]
    assert np.abs(fused_gram(kernel, X, Z) - truth(cdist(X, Z))).max() <= 5e-13


def kinds_of(kernel, X, Z):
    """How the fused pass gets distances."""
    found = dispatch.bound(kernel, points_from(X), points_from(Z))
    return [method.kind for method in found.methods.values()]
