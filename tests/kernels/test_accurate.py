"""The formulas of `accurate` against mpmath with 50 digits, in units in the last place of the true value."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from mercer.kernels.precision import bessel, double_double, scalar

pytestmark = pytest.mark.slow

TINY = np.finfo(np.float64).tiny
LARGEST = np.finfo(np.float64).max
LIMIT = 8
NUS = (
    0.05,
    0.1,
    0.3,
    0.5,
    0.7,
    1.0,
    1.2,
    1.5,
    2.0,
    2.5,
    3.3,
    3.5,
    5.0,
    7.25,
    10.0,
    10.5,
    30.2,
    100.0,
    1000.0,
    12345.6,
    1e6,
)
CORNERS = (0.001, 0.011, 0.45, 0.74, 0.99, 0.999999, 1.000001, 9.5, 11.5, 1e14)


@pytest.fixture(autouse=True)
def strict():
    """Any floating-point trouble is an error, underflow included; the oracle has 50 digits."""
    with np.errstate(all="raise"), mpmath.workdps(50):
        yield


def ulps(computed, exact):
    """Errors in units in the last place of the exact values; those that are not normal numbers are left out."""
    errors = [
        (mpmath.mpf(value) - true) / mpmath.mpf(math.ulp(float(true)))
        for value, true in zip(np.ravel(computed).tolist(), exact, strict=True)
        if TINY <= abs(true) <= LARGEST
    ]
    return np.array([float(abs(error)) for error in errors])


def logspace(low, high, n=10_000):
    """Points that are no round numbers, evenly spread in the logarithm."""
    return np.exp(np.linspace(np.log(low), np.log(high), n))


def exactly(values):
    return [mpmath.mpf(value) for value in np.ravel(values).tolist()]


def test_ulps_see_an_error():
    true = [mpmath.mpf(3) / 7] * 2
    value = float(true[0])
    assert ulps([value, value + 9 * math.ulp(value)], true).max() > LIMIT


# pair, two_sum, two_product, quotient


def test_pair():
    digits = "1.7320508075688772935274463415058723669428"
    high, low = double_double.pair(digits)
    assert high == math.sqrt(3)
    assert abs(mpmath.mpf(high) + mpmath.mpf(low) - mpmath.mpf(digits)) < mpmath.mpf(10) ** -32
    assert double_double.pair(mpmath.sqrt(3)) == (high, low)
    assert double_double.pair("0.5") == double_double.pair(Fraction(1, 2)) == (0.5, 0.0)


def test_sums_and_products_are_exact():
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 2000)) * 2.0 ** random.integers(-60, 60, (2, 2000))
    for operate, name in ((double_double.two_sum, "__add__"), (double_double.two_product, "__mul__")):
        high, low = operate(a, b)
        for x, y, *parts in zip(a.tolist(), b.tolist(), high.tolist(), low.tolist(), strict=True):
            assert sum(map(Fraction, parts)) == getattr(Fraction(x), name)(Fraction(y))
            assert parts[0] == getattr(x, name)(y)


@pytest.mark.parametrize("a", [LARGEST, 2.0**996 * 1.1, -LARGEST / 3])
def test_product_of_huge_factors(a):
    for x, y in ((a, 1 / 3), (1 / 3, a), (a, 1e-300)):
        high, low = double_double.two_product(x, y)
        assert Fraction(float(high)) + Fraction(float(low)) == Fraction(x) * Fraction(y)


def test_quotient():
    u = logspace(1e-250, 1e250, 2000)
    high, low = double_double.quotient(u, 0.3)
    exact = [x / mpmath.mpf(0.3) for x in exactly(u)]
    total = map(sum, zip(exactly(high), exactly(low), strict=True))
    assert max(abs(t / e - 1) for t, e in zip(total, exact, strict=True)) < mpmath.mpf(10) ** -31
    high, low = double_double.quotient(np.array([0.0, np.inf, 1e308]), 0.01)
    assert high.tolist() == [0, np.inf, np.inf]
    assert low.tolist() == [0, 0, 0]


# decay


@pytest.mark.parametrize(
    "c",
    [
        "1",
        "1.7320508075688772935274463415058723669428",
        "0.33333333333333333333333333333333",
        "1e-300",
        "123456789.123456789123456789",
    ],
)
def test_decay(c):
    top = min(708 / float(c), LARGEST)
    for sign in (1, -1):
        u = sign * logspace(top * 1e-12, top)
        exact = [mpmath.exp(-mpmath.mpf(c) * x) for x in exactly(u)]
        assert ulps(scalar.decay(double_double.pair(c), u), exact).max() < LIMIT / 2


def test_decay_at_special_points():
    u = np.array([0.0, 5e-324, 1e-300, 745.2, 800.0, 1e300, np.inf, np.nan, -1e5])
    np.testing.assert_array_equal(scalar.decay((1.0, 0.0), u), [1, 1, 1, 0, 0, 0, 0, np.nan, np.inf])
    np.testing.assert_array_equal(scalar.decay((0.0, 0.0), u[:7]), np.ones(7))


# power_of_sum


@pytest.mark.parametrize("p", [200, 3, 2, 1, 0.5, -0.3, -1, -7, -50.5, -1e6, 1e9])
@pytest.mark.parametrize("a", [1.0, 0.0, 0.1])
def test_power_of_sum(a, p):
    reach = 700 / abs(p)
    b = logspace(1e-20, min(math.exp(min(reach, 700)), 1e300), 2000)
    b = np.concatenate([b, (1 - a) + reach * logspace(1e-5, 1, 500)])
    exact = [(a + x) ** mpmath.mpf(p) for x in exactly(b)]
    assert ulps(scalar.power_of_sum(a, b, p), exact).max() < LIMIT / 2


@pytest.mark.parametrize("p", [200, 3, -50.5])
def test_power_of_difference(p):
    b = -logspace(1e-10, 1 - 1e-12, 2000)
    exact = [(1 + x) ** mpmath.mpf(p) for x in exactly(b)]
    assert ulps(scalar.power_of_sum(1.0, b, p), exact).max() < LIMIT / 2


@pytest.mark.parametrize("p", [7, 2, -3])
def test_integer_power_of_negative_sum(p):
    b = -logspace(1.001, 1e30, 1000)
    exact = [(mpmath.mpf(1) + x) ** p for x in exactly(b)]
    computed = scalar.power_of_sum(1.0, b, p)
    assert np.all(np.sign(computed) == (-1) ** p)
    assert ulps(computed, exact).max() < LIMIT / 2


@pytest.mark.parametrize("p", [-50.5, -1e12, 30])
def test_power_of_sum_with_pair(p):
    u = logspace(1e-5, 1e3, 2000)
    exact = [(1 + x / (2 * mpmath.mpf(abs(p)))) ** mpmath.mpf(p) for x in exactly(u)]
    computed = scalar.power_of_sum(1.0, double_double.quotient(u, 2 * abs(p)), p)
    assert ulps(computed, exact).max() < LIMIT / 2


def test_power_of_sum_at_special_points():
    b = np.array([np.inf, 1e300, -1.0, np.nan])
    np.testing.assert_array_equal(scalar.power_of_sum(1.0, b, 2.5), [np.inf, np.inf, 0, np.nan])
    np.testing.assert_array_equal(scalar.power_of_sum(1.0, b, -2.5), [0, 0, np.inf, np.nan])
    np.testing.assert_array_equal(scalar.power_of_sum(1.0, b[:3], 0), [1, 1, 1])
    pair = (np.array([np.inf, -1.0, -1.0]), np.array([np.nan, 0.0, 2.0**-80]))
    np.testing.assert_array_equal(scalar.power_of_sum(1.0, pair, 2), [np.inf, 0, 2.0**-160])
    np.testing.assert_array_equal(scalar.power_of_sum(0.0, np.array([-np.inf, -2.0]), 3), [-np.inf, -8])


# sin_over, sin_minus_cos


def test_sin_over():
    with mpmath.workdps(380):  # the argument has up to 309 digits before the point
        u = np.concatenate([logspace(1e-300, 1e6, 3000), logspace(1.0, 1e308, 3000), np.arange(1, 3000) * np.pi])
        exact = [mpmath.sin(x) / x for x in exactly(u)]
        assert ulps(scalar.sin_over(u), exact).max() < LIMIT / 2
    special = np.array([0.0, 5e-324, np.inf, np.nan])
    np.testing.assert_array_equal(scalar.sin_over(special), [1, 1, 0, np.nan])


def test_sin_minus_cos():
    b = np.concatenate([logspace(1e-102, math.pi * (1 - 1e-15)), np.linspace(1.2, math.pi, 5000)])
    with mpmath.workdps(350):  # the difference of two numbers near b is b^3/3
        exact = [mpmath.sin(x) - x * mpmath.cos(x) for x in exactly(b)]
        assert ulps(scalar.sin_minus_cos(b), exact).max() < LIMIT / 2
    assert scalar.sin_minus_cos(np.array([0.0, 1e-200])).tolist() == [0, 0]


# matern


@cache
def debye(k):
    """Coefficients of U_k(p), upwards: U_k+1 = p^2 (1 - p^2) U_k'/2 + Int_0^p (1 - 5 t^2) U_k(t) dt / 8."""
    if k == 0:
        return (Fraction(1),)
    out = [Fraction(0)] * (3 * k + 1)
    for i, c in enumerate(debye(k - 1)):
        out[i + 1] += c * (Fraction(i, 2) + Fraction(1, 8 * (i + 1)))
        out[i + 3] -= c * (Fraction(i, 2) + Fraction(5, 8 * (i + 3)))
    return tuple(out)


@cache
def debye_floats(k):
    """The same with 50 digits."""
    return [mpmath.mpf(c.numerator) / c.denominator for c in debye(k)]


def true_matern(nu, r, large=60):
    """2^(1-nu) / Gamma(nu) z^nu K_nu(z); for large nu by the uniform expansion of DLMF 10.41(ii)."""
    nu, r = mpmath.mpf(nu), mpmath.mpf(r)
    z = mpmath.sqrt(2 * nu) * r
    if nu < large:
        return mpmath.mpf(2) ** (1 - nu) / mpmath.gamma(nu) * z**nu * mpmath.besselk(nu, z)
    x = z / nu
    root = mpmath.sqrt(1 + x * x)
    terms = [c / root**i / (-nu) ** k for k in range(21) for i, c in enumerate(debye_floats(k)) if c]
    log = nu * mpmath.log(z / 2) - nu * (root + mpmath.log(x / (1 + root))) - mpmath.loggamma(nu)
    return mpmath.exp(log) * mpmath.sqrt(2 * mpmath.pi / nu / root) * mpmath.fsum(terms)


def underflow_point(nu):
    """The last r, nearly, where the correlation is a normal number."""
    low, high = 1.0, 1e5
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if bessel.matern(nu, np.array(middle)) > TINY else (low, middle)
    return low


def matern_errors(nu, n):
    r = logspace(1e-10, underflow_point(nu), n)
    return ulps(bessel.matern(nu, r), [true_matern(nu, x) for x in r.tolist()])


def test_matern_oracles_agree():
    for x in (0.01, 1.0, 30.0):
        assert mpmath.almosteq(true_matern(100.3, x), true_matern(100.3, x, large=200), mpmath.mpf(10) ** -30)


@pytest.mark.parametrize("nu", NUS + CORNERS)
def test_matern(nu):
    # mpmath takes limits at integers, slowly
    n = 40 if nu < 60 and nu == int(nu) else 300
    assert matern_errors(nu, n).max() < LIMIT


@pytest.mark.parametrize("nu", [*NUS, 1e12])
def test_matern_at_special_points(nu):
    r = np.array([0.0, np.inf, 1e300, 1e5, np.nan])
    np.testing.assert_array_equal(bessel.matern(nu, r), [1, 0, 0, 0, np.nan])
    r = [5e-324, 1e-300, 1e-160, 1e-30]
    assert ulps(bessel.matern(nu, np.array(r)), [small_matern(nu, x) for x in r]).max() < LIMIT


def small_matern(nu, r):
    """1 - Gamma(1-nu) / Gamma(1+nu) (z/2)^(2 nu), all that counts for tiny r."""
    if nu >= 1:
        return mpmath.mpf(1)
    nu, half = mpmath.mpf(nu), mpmath.sqrt(mpmath.mpf(nu) / 2) * mpmath.mpf(r)
    return 1 - mpmath.gamma(1 - nu) / mpmath.gamma(1 + nu) * half ** (2 * nu)


def test_matern_tends_to_the_gaussian():
    r = np.linspace(0, 30, 50)
    np.testing.assert_allclose(bessel.matern(1e25, r), np.exp(-r * r / 2), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.3, 1.2, 2.5, 30.2])
def test_matern_is_a_function_of_the_value_alone(nu):
    r = logspace(1e-10, 100, 200)
    together = bessel.matern(nu, np.tile(r, (100, 2)).reshape(100, 2, 200))
    assert together.shape == (100, 2, 200)
    alone = np.array([bessel.matern(nu, np.array(x)) for x in r])
    np.testing.assert_array_equal(together, np.broadcast_to(alone, together.shape))


@pytest.mark.parametrize("nu", [0.0, -1.0, math.inf, math.nan])
def test_matern_refuses(nu):
    with pytest.raises(ValueError, match="nu must be positive and finite"):
        bessel.matern(nu, np.ones(2))


# shapes


@pytest.mark.parametrize(
    "function",
    [
        lambda x: scalar.decay((1.5, 0.0), x),
        lambda x: scalar.power_of_sum(1.0, x, 2.5),
        lambda x: scalar.power_of_sum(1.0, (x, np.zeros_like(x)), 2.5),
        scalar.sin_over,
        scalar.sin_minus_cos,
        lambda x: bessel.matern(0.5, x),
        lambda x: bessel.matern(0.7, x),
        lambda x: bessel.matern(4.0, x),
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 3, 4)])
def test_shapes(function, shape):
    x = np.linspace(0.1, 3, int(np.prod(shape))).reshape(shape)
    result = function(x)
    assert isinstance(result, np.ndarray)
    assert (result.shape, result.dtype) == (shape, np.float64)
    np.testing.assert_array_equal(function(x.T), result.T)
    np.testing.assert_array_equal(function(np.repeat(x[..., None], 2, axis=-1))[..., 1], result)
