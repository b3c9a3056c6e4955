"""Relative errors of distances: the proof's steps by quadrature, its constants by mpmath, its promise on many draws."""

import math

import mpmath
import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.special import factorial, factorial2
from scipy.stats import binom

from mercer.errors import KernelError
from mercer.kernels import Gaussian, Laplace, Matern, ProductLaplace, Sinc
from mercer.lifts.components import FORMS, components_for
from mercer.lifts.distances import exponent
from mercer.lifts.fourier import RandomFourier

POINTS = np.array([[0.0], [0.01], [0.3], [1.0], [5.0]])
DRAWS = 300
LENGTHS = np.geomspace(1e-3, 50, 20)
"""Of differences, in lengthscales: from near-duplicates on."""

# The integrals over the normal law and over the turn: trapezoids, which for such functions are exact to rounding.
NORMAL = np.linspace(-12, 12, 12_001)
WEIGHT = np.exp(-(NORMAL**2) / 2) / math.sqrt(2 * math.pi) * (NORMAL[1] - NORMAL[0])
TURN = 2 * np.sin(np.arange(128) * np.pi / 128) ** 2
"""W at equally spaced v."""


def ratio(r):
    """Y / u at the normal numbers."""
    return 2 * np.sin(r * NORMAL / 2) ** 2 / -math.expm1(-(r**2) / 2)


def drawn(kernel, D, form, points=POINTS):
    """The features of the points, for each of many draws: parts of one large one, since its waves are independent."""
    F = RandomFourier(kernel, DRAWS * D, form=form, sampling="iid", random_state=0).fit_transform(points)
    waves = 2 if form == "pairs" else 1
    split = F.reshape(len(points), waves, DRAWS, D // waves).transpose(2, 0, 1, 3)
    return math.sqrt(DRAWS) * split.reshape(DRAWS, len(points), D)


def most_failures(delta):
    """So many of the draws may fail but once in a million tests, if each fails with a probability of delta at most."""
    return binom.isf(1e-6, DRAWS, delta)


# -- the proof -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_features_are_what_the_proof_averages(form):
    """|phi(x) - phi(z)|^2 / 2 from the lift; Y and W from its frequencies, offsets and center."""
    X = np.array([[0.3, -1.0], [0.9, 0.4], [0.3001, -1.0]])
    lift = RandomFourier(4 * Gaussian(2.0), 600, form=form, random_state=0).fit(X)
    F = lift.transform(X)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        average = 1 - np.cos(lift.frequencies_ @ (X[i] - X[j]))
        if form == "offset":
            v = lift.frequencies_ @ ((X[i] + X[j]) / 2 - lift.center_) + lift.offsets_
            average = average * 2 * np.sin(v) ** 2
        assert np.square(F[i] - F[j]).sum() / 2 == pytest.approx(4 * average.mean(), rel=1e-9)


def test_the_moments():
    """E (Y / u)^k <= (2 k - 1)!!, E W^k = (2 k - 1)!! / k!, so E (Y W / u)^k <= ((2 k - 1)!!)^2 / k!: 1, 4.5, 37.5."""
    for k in range(1, 10):
        assert np.mean(TURN**k) == pytest.approx(factorial2(2 * k - 1) / factorial(k), rel=1e-12)
        for r in LENGTHS:
            assert (WEIGHT * ratio(r) ** k).sum() <= factorial2(2 * k - 1) * (1 + 1e-9)
    near = [(WEIGHT * ratio(1e-3) ** k).sum() * np.mean(TURN**k) for k in (1, 2, 3)]
    np.testing.assert_allclose(near, [1, 4.5, 37.5], rtol=1e-5)  # so that nothing smaller bounds them


def test_the_exponential_moments_of_both_signs():
    for r in LENGTHS:
        for b in (-1e3, -30.0, -1.0, -0.1, 0.1, 0.3, 0.45):
            assert (WEIGHT * np.exp(b * ratio(r))).sum() <= (1 - 2 * b) ** -0.5 * (1 + 1e-9)
    for r in LENGTHS[::4]:
        for b in (-10.0, -1.0, -0.1, 0.05, 0.15, 0.22):
            mean = np.mean([(WEIGHT * np.exp(b * w * ratio(r))).sum() for w in TURN])
            assert mean <= float(2 / mpmath.pi * mpmath.ellipk(4 * b)) * (1 + 1e-9)


@pytest.mark.parametrize("r", [0.001, 0.1, 1.0, 4.0])
def test_the_moments_of_drawn_features(r):
    """Each mean is above its bound by less than five of its deviations, which the moment of twice the order bounds."""
    D = 200_000
    F = RandomFourier(Gaussian(), D, form="offset", sampling="iid", random_state=1).fit_transform([[0.0], [r]])
    Z = D * np.square(F[0] - F[1]) / 2 / -math.expm1(-(r**2) / 2)

    def bound(k):
        return factorial2(2 * k - 1) ** 2 / factorial(k)

    assert Z.mean() == pytest.approx(1, abs=5 * math.sqrt((bound(2) - 1) / D))
    for k in (2, 3):
        assert np.mean(Z**k) <= bound(k) + 5 * math.sqrt(bound(2 * k) / D)


# -- the constants ---------------------------------------------------------------------------------------------------


def best_rates(epsilon, form):
    """Chernoff's exponents of both tails of g^2, or of g^2 W, with 30 digits: at the root of the derivative."""
    with mpmath.workdps(30):

        def log_moment(b):
            return -mpmath.log(1 - 2 * b) / 2 if form == "pairs" else mpmath.log(2 / mpmath.pi * mpmath.ellipk(4 * b))

        end, e, rates = mpmath.mpf("0.5" if form == "pairs" else "0.25"), mpmath.mpf(epsilon), []
        for x, low, high in ((1 + e, mpmath.mpf(0), end), (1 - e, -4 / (1 - e) ** 2, mpmath.mpf(0))):

            def rate(b, x=x):
                return b * x**2 - log_moment(b)

            for _ in range(200):  # the rate is concave: thirds
                left, right = low + (high - low) / 3, high - (high - low) / 3
                low, high = (left, high) if rate(left) < rate(right) else (low, right)
            rates.append(rate((low + high) / 2))
        return rates


@pytest.mark.parametrize("form", FORMS)
def test_the_exponent_is_the_best_of_chernoffs(form):
    """Never above, which would promise too much, and at most 0.01 % below; the upper tail asks for more features."""
    for epsilon in (0.001, 0.01, 0.1, 0.3, 0.7, 0.95):
        upper, lower = best_rates(epsilon, form)
        assert upper < lower
        assert float(upper) * (1 - 1e-4) <= exponent(epsilon, form) <= float(upper) * (1 + 1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_small_epsilons_by_the_series(form):
    """Below 1e-4 by the first terms, where doubles would lose the digits of differences: no more than the truth."""
    for epsilon in (1e-5, 9.9e-5):
        assert exponent(epsilon, form) == pytest.approx(float(best_rates(epsilon, form)[0]), rel=1e-4)
        assert exponent(epsilon, form) < float(best_rates(epsilon, form)[0])
    assert exponent(1e-4, form) == pytest.approx(exponent(0.99999e-4, form), rel=2e-4)
    square = (1 if form == "pairs" else 4 / 7) * 1e-40
    assert exponent(1e-20, form) == pytest.approx(square, rel=1e-12)


def test_the_bound_of_pairs_is_that_of_random_projections():
    n, delta, e = 1000, 0.01, 0.1
    h = (1 + e) ** 2 - 1 - 2 * math.log(1 + e)
    D = components_for(Gaussian(), e, delta, n, error="distance")
    assert 2 * math.ceil(2 * math.log(n * (n - 1) / delta) / h) == D == 3802
    assert components_for("gaussian", 1e-6, delta, n, error="distance") == pytest.approx(
        2 * math.log(n * (n - 1) / delta) / 1e-12, rel=1e-4
    )


def test_offsets_need_a_little_less():
    """3,353 for 0.1, 0.01 and 1,000 points; to first order 7/8 of what pairs need."""
    upper, _ = best_rates(0.1, "offset")
    n, delta = 1000, 0.01
    D = components_for(Gaussian(), 0.1, delta, n, form="offset", error="distance")
    assert D == math.ceil(math.log(n * (n - 1) / delta) / float(upper)) == 3353
    pairs, offset = (components_for(Gaussian(), 1e-3, delta, n, form=form, error="distance") for form in FORMS)
    assert offset / pairs == pytest.approx(7 / 8, rel=1e-3)


# -- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("points", [POINTS, POINTS[:2]], ids=["five", "near-duplicates"])
def test_distances_are_kept_for_the_gaussian_kernel_as_often_as_promised(points, form):
    """For pairs at a hundredth of a lengthscale and at five; an eighth of the features fails more often."""
    e, delta = 0.3, 0.1
    D = components_for(Gaussian(), e, delta, len(points), form, "distance")
    true = Gaussian().distance(points)[np.triu_indices(len(points), 1)]
    for count, holds in [(D, True), (D // 16 * 2, False)]:
        failures = sum(np.abs(pdist(F) / true - 1).max() > e for F in drawn(Gaussian(), count, form, points))
        assert (failures <= most_failures(delta)) == holds


@pytest.mark.parametrize("form", FORMS)
def test_and_are_lost_for_the_laplace_kernel(form):
    """Why it is refused: with the features that suffice for the Gaussian kernel, near points are mostly off."""
    D = components_for(Gaussian(), 0.3, 0.1, len(POINTS), form, "distance")
    true = Laplace().distance(POINTS)[np.triu_indices(len(POINTS), 1)]
    failures = sum(np.abs(pdist(F) / true - 1).max() > 0.3 for F in drawn(Laplace(), D, form))
    assert failures > DRAWS / 2 > most_failures(0.1)


# -- for which kernels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_what_is_gaussian_is_granted(form):
    wanted = components_for(Gaussian(), 0.1, 0.01, 100, form, "distance")
    for kernel in (3 * Gaussian(2.0), Gaussian() ** 2 * Gaussian().on(0), Gaussian().scaled([1.0, 2.0]).normalized()):
        assert components_for(kernel, 0.1, 0.01, 100, form, "distance") == wanted


@pytest.mark.parametrize("kernel", [Laplace(), ProductLaplace(2.0), Matern(0.5), 2 * Laplace() + Gaussian()], ids=str)
def test_the_laplace_kernel_is_refused_with_the_reason(kernel):
    reason = r"there is none.*\(1 \+ k\) / \(2 \(1 - k\)\).*Cheng, Jiang, Wei and Wei 2022.*error='kernel'; LiftError"
    with pytest.raises(KernelError, match=reason):
        components_for(kernel, 0.1, 0.01, 100, error="distance")


@pytest.mark.parametrize("form", FORMS)
def test_other_kernels_are_refused_as_not_proven(form):
    for kernel in (Matern(1.5), Gaussian() + Gaussian(2.0), Sinc()):
        with pytest.raises(KernelError, match=r"no bound is proven.*error='kernel'; of a fitted lift certificate"):
            components_for(kernel, 0.1, 0.01, 100, form, "distance")
