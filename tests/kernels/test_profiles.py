"""Every profile, given its argument, within 8 units in the last place of mpmath.

10,000 log-spaced arguments each, and special points: zero, the smallest float, huge numbers, infinity. The formulas of
the oracle are written a second time here, from the definition, at 80 digits.
"""

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from mercer import kernels as k
from mercer import parse
from mercer.compute.codegen import formula
from mercer.compute.codegen.symbols import Level, Symbol
from mercer.errors import NumericalWarning
from mercer.kernels.precision.mpmath_arrays import precisely

ULPS = 8
mp = mpmath.MPContext()
mp.dps = 80  # angles near pi cancel 48 digits

SPECIAL = [0.0, 5e-324, 1e-300, 1e-160, 1e-16, 1.0, 2.0, 1e16, 1e160, 1e300]
FAR = np.concatenate([SPECIAL, np.geomspace(1e-12, 1.5e3, 10_000)])
SIGNED = np.concatenate([FAR, -FAR])
ANGLES = np.concatenate(
    [[0.0, np.pi / 2, np.pi], np.geomspace(1e-12, np.pi, 5_000), np.pi - np.geomspace(1e-15, 3, 5_000)]
)
SHORT = np.concatenate([SPECIAL, [np.nextafter(1.0, 0)], np.geomspace(1e-12, 1.0, 10_000)])


def worst(found, wanted):
    """The largest error in units in the last place of the true value, and where."""
    ulps = np.empty(len(wanted))
    for i, (ours, true) in enumerate(zip(found.tolist(), wanted, strict=True)):
        if abs(true) > mp.mpf(np.finfo(float).max):
            ulps[i] = 0.0 if ours == np.copysign(np.inf, float(mp.sign(true))) else np.inf
            continue
        unit = np.spacing(abs(float(true)))
        ulps[i] = float(abs(mp.mpf(ours) - true) / mp.mpf(float(unit))) if np.isfinite(ours) else np.inf
    return ulps.max(), int(ulps.argmax())


def wendland(dimension, smoothness):
    """From the definition: Askey's function, then r phi(r) integrated from u to 1, as often as the smoothness."""
    order = dimension // 2 + smoothness + 1
    polynomial = np.polynomial.Polynomial([1])
    for _ in range(order):
        polynomial = polynomial * np.polynomial.Polynomial([1, -1])
    coefficients = [Fraction(int(c)) for c in polynomial.coef]
    for _ in range(smoothness):
        raised = [Fraction(0), Fraction(0)] + [c / (i + 2) for i, c in enumerate(coefficients)]
        coefficients = [sum(raised)] + [-c for c in raised[1:]]

    def value(u):
        exact = Fraction(float(u))
        total = sum(c * exact**i for i, c in enumerate(coefficients)) / coefficients[0] if exact < 1 else Fraction(0)
        return mp.mpf(total.numerator) / total.denominator

    return value


def matern(nu):
    t = lambda r: mp.sqrt(2 * mp.mpf(nu)) * r  # noqa: E731
    closed = {
        0.5: lambda r: mp.exp(-t(r)),
        1.5: lambda r: (1 + t(r)) * mp.exp(-t(r)),
        2.5: lambda r: (1 + t(r) + t(r) ** 2 / 3) * mp.exp(-t(r)),
    }
    if nu in closed:
        return closed[nu]
    front = mp.mpf(2) ** (1 - mp.mpf(nu)) / mp.gamma(nu)
    return lambda r: front * t(r) ** nu * mp.besselk(nu, t(r)) if r else mp.mpf(1)


def periodic(s):
    return mp.exp(-2 * s / mp.mpf(0.3) ** 2)


CASES = {
    "gaussian": (k.Gaussian(), FAR, lambda u: mp.exp(-u / 2)),
    "laplace": (k.Laplace(), FAR, lambda u: mp.exp(-u)),
    "matern 1/2": (k.Matern(0.5), FAR, matern(0.5)),
    "matern 3/2": (k.Matern(1.5), FAR, matern(1.5)),
    "matern 5/2": (k.Matern(2.5), FAR, matern(2.5)),
    "rational_quadratic 1": (k.RationalQuadratic(1.0), FAR, lambda u: 1 / (1 + u / 2)),
    "rational_quadratic 0.3": (k.RationalQuadratic(0.3), FAR, lambda u: (1 + u / (2 * mp.mpf(0.3))) ** -mp.mpf(0.3)),
    "rational_quadratic 70.7": (
        k.RationalQuadratic(70.7),
        FAR,
        lambda u: (1 + u / (2 * mp.mpf(70.7))) ** -mp.mpf(70.7),
    ),
    "sinc": (k.Sinc(), FAR, lambda u: mp.sin(u) / u if u else mp.mpf(1)),
    "triangle": (k.Wendland(1, 0), SHORT, wendland(1, 0)),
    "wendland 3,0": (k.Wendland(3, 0), SHORT, wendland(3, 0)),
    "wendland 3,1": (k.Wendland(3, 1), SHORT, wendland(3, 1)),
    "wendland 3,2": (k.Wendland(3, 2), SHORT, wendland(3, 2)),
    "wendland 5,3": (k.Wendland(5, 3), SHORT, wendland(5, 3)),
    "epanechnikov": (k.Epanechnikov(), SHORT, lambda u: max(mp.mpf(0), 1 - u)),
    "linear": (k.Linear(), SIGNED, lambda t: t),
    "polynomial 3": (k.Polynomial(3, 0.7), SIGNED, lambda t: (mp.mpf(0.7) + t) ** 3),
    "polynomial 40": (k.Polynomial(40, 1.3), SIGNED, lambda t: (mp.mpf(1.3) + t) ** 40),
    "exponential": (k.Exponential(1.3), SIGNED, lambda t: mp.exp(t / mp.mpf(1.3) ** 2)),
    "sigmoid": (k.Sigmoid(0.3, -0.7), SIGNED, lambda t: mp.tanh(mp.mpf(0.3) * t - mp.mpf(0.7))),
    "product_laplace": (k.ProductLaplace(1.3), FAR, lambda u: mp.exp(-u / mp.mpf(1.3))),
    "exponential_chi_squared": (k.ExponentialChiSquared(0.7), FAR, lambda u: mp.exp(-u / mp.mpf(0.7))),
    "periodic": (k.Periodic(2.0, 0.3), FAR, periodic),
    "geodesic": (k.Geodesic(1.0, 0.5), ANGLES, lambda a: mp.exp(-2 * a)),
    "geodesic, root": (k.Geodesic(0.5, 2.0), ANGLES, lambda a: mp.exp(-mp.sqrt(a / 2))),
    "arc_cosine 0": (k.ArcCosine(0), ANGLES, lambda a: 1 - a / mp.pi),
    "arc_cosine 1": (k.ArcCosine(1), ANGLES, lambda a: (mp.sin(a) + (mp.pi - a) * mp.cos(a)) / mp.pi),
    "cosine": (k.Cosine(), ANGLES, mp.cos),
}


@pytest.mark.parametrize("name", CASES)
def test_profile_within_eight_ulps(name):
    kernel, arguments, truth = CASES[name]
    with np.errstate(over="ignore", under="ignore"):
        found = kernel.profile(arguments)
    error, at = worst(found, [truth(mp.mpf(u)) for u in arguments.tolist()])
    assert error <= ULPS, f"{error:.1f} ulp at {arguments[at]!r}: {found[at]!r}"


@pytest.mark.parametrize("nu", [0.07, 0.8, 1.2, 4.2, 9.5, 33.3])
def test_matern_of_any_nu_within_eight_ulps(nu):
    arguments = np.concatenate([[0.0, 1e-300, 1e-12, 1e3], np.geomspace(1e-8, 30.0, 250)])
    truth = matern(nu)
    found = k.Matern(nu).profile(arguments)
    error, at = worst(found, [truth(mp.mpf(u)) for u in arguments.tolist()])
    assert error <= ULPS, f"{error:.1f} ulp at {arguments[at]!r}: {found[at]!r}"


TERMS = {
    "min": (k.Min(), lambda x, z: min(x, z)),
    "subsets": (k.Subsets(), lambda x, z: 1 + x * z),
    "powers": (k.Powers(3), lambda x, z: x * z + (x * z) ** 2 + (x * z) ** 3),
    "product_laplace": (k.ProductLaplace(), lambda x, z: abs(x - z)),
    "chi_squared": (k.ChiSquared(), lambda x, z: 2 * x * z / (x + z) if x + z else mp.mpf(0)),
    "exponential_chi_squared": (k.ExponentialChiSquared(), lambda x, z: (x - z) ** 2 / (x + z) if x + z else mp.mpf(0)),
}


@pytest.mark.parametrize("name", TERMS)
def test_terms_of_a_coordinate_within_eight_ulps(name):
    kernel, truth = TERMS[name]
    x = np.concatenate([[0.0, 1e-300, 0.3], np.geomspace(1e-8, 1e8, 10_000)])
    z = np.concatenate([[0.0, 1e300, 0.3], np.geomspace(1e8, 1e-8, 10_000)])
    found = kernel.term(x, z)
    error, at = worst(found, [truth(mp.mpf(a), mp.mpf(b)) for a, b in zip(x.tolist(), z.tolist(), strict=True)])
    assert error <= ULPS, f"{error:.1f} ulp at {x[at]!r}, {z[at]!r}: {found[at]!r}"


@pytest.mark.parametrize("name", ["chi_squared", "exponential_chi_squared"])
def test_terms_of_negative_coordinates_are_those_of_the_formula(name):
    """Of floats, of numbers of 50 digits, and of symbols: proofs speak of such arguments."""
    kernel, truth = TERMS[name]
    x, z = (side.ravel() for side in np.meshgrid(*[[-5.0, -0.7, 0.0, 0.3, 2.0]] * 2))
    wanted = [float(truth(mp.mpf(a), mp.mpf(b))) for a, b in zip(x.tolist(), z.tolist(), strict=True)]
    np.testing.assert_allclose(kernel.term(x, z), wanted, rtol=1e-14)
    np.testing.assert_allclose(kernel.term(precisely(x), precisely(z)).astype(float), wanted, rtol=1e-15)
    with np.errstate(divide="ignore"):
        assert np.isinf(kernel.term(np.array([-2.0]), np.array([2.0]))).all()  # a pole
    assert formula.unwrap(kernel.term(Symbol("x", level=Level.ROW), Symbol("z", level=Level.COLUMN))).parts


@pytest.mark.parametrize("kernel", [k.Periodic(0.7), k.Periodic(365.25)])
def test_periods_are_taken_off_exactly(kernel):
    """The gap of two floats is one float; from there on, nothing is lost, however many periods lie between."""
    gaps = np.concatenate([[0.0, 1e300], np.geomspace(1e-8, 1e15, 10_000)])
    found = kernel.term(gaps, np.zeros_like(gaps))
    with mp.workdps(350):
        wanted = [mp.sinpi(mp.mpf(g) / mp.mpf(kernel.period)) ** 2 for g in gaps.tolist()]
    errors = np.array([float(abs(mp.mpf(f) - w)) for f, w in zip(found.tolist(), wanted, strict=True)])
    assert errors.max() < 1e-15


def test_product_sinc_uses_the_same_word():
    gaps = np.geomspace(1e-3, 1e3, 100)
    np.testing.assert_array_equal(k.ProductSinc().term(gaps, np.zeros(100)), k.Sinc().profile(gaps))


@pytest.mark.parametrize("name", [n for n in CASES if isinstance(CASES[n][0], k.Radial)])
def test_infinity_is_the_limit(name):
    kernel = CASES[name][0]
    assert kernel.profile(np.array([np.inf]))[0] == 0.0
    assert kernel.profile(np.array([0.0]))[0] == 1.0


@pytest.mark.parametrize("name", ["product_laplace", "periodic", "exponential_chi_squared", "exponential"])
def test_a_lengthscale_whose_inverse_is_no_float(name):
    """Every difference is then infinitely many lengthscales, but for those of the least floats."""
    kernel, X = parse(f"{name}(lengthscale=5e-324)"), np.array([[0.0], [5e-324], [1e-310], [0.25], [1e300]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # exponential overflows where x z > 0
        K = kernel(X)
    if name == "exponential":
        np.testing.assert_array_equal(K[3:, 3:], np.full((2, 2), np.inf))
        np.testing.assert_array_equal(K[0], np.ones(5))
    else:
        np.testing.assert_array_equal(np.diag(K), np.ones(5))
        assert K[0, 3] == K[2, 3] == 0.0
    if name == "product_laplace":
        assert K[0, 1] == pytest.approx(math.exp(-1))
        np.testing.assert_array_equal(kernel(np.linspace(0.0, 1.0, 400)[:, None]), np.eye(400))  # compiled code
