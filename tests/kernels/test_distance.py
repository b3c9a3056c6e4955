"""The kernel distance against its definition in 60 digits: 1e-12 to 10 lengthscales, near the origin and far from it.

The formulas of the oracle are written a second time here; its points are the floats that the kernel gets.
"""

import inspect
import math
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array

import mercer
from mercer import kernels as k
from mercer.kernels.evaluation import distance as module
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.precision import gaps

PROMISED = 1e-12
mp = mpmath.MPContext()
mp.dps = 60
M = mp.mpf
STEPS = (1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 1.0, 10.0)


def dot(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def square(x, z):
    return sum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def gaussian(scale):
    return lambda x, z: mp.exp(-square(x, z) / (2 * M(scale) ** 2))


def matern(nu):
    def value(x, z):
        t = mp.sqrt(2 * M(nu) * square(x, z))
        return M(2) ** (1 - M(nu)) / mp.gamma(M(nu)) * t ** M(nu) * mp.besselk(M(nu), t) if t else M(1)

    return value


def sinc(t):
    return mp.sin(t) / t if t else M(1)


def angle(x, z):
    cosine = dot(x, z) / mp.sqrt(dot(x, x) * dot(z, z))
    return mp.acos(max(min(cosine, M(1)), M(-1)))


def ramp(x, z):
    a = angle(x, z)
    return mp.sqrt(dot(x, x) * dot(z, z)) * (mp.sin(a) + (mp.pi - a) * mp.cos(a)) / mp.pi


def wendland(x, z):
    """The definition for three dimensions and smoothness 1, from Wendland (1995)."""
    u = mp.sqrt(square(x, z))
    return (1 - u) ** 4 * (1 + 4 * u) if u < 1 else M(0)


def products(x, z, sizes, chosen):
    return sum(mp.fprod(x[i] * z[i] for i in some) for n in sizes for some in chosen(range(len(x)), n))


def coordinates(term):
    return lambda x, z: [term(a, b) for a, b in zip(x, z, strict=True)]


def share(a, b):
    return (a - b) ** 2 / (a + b) if a + b else M(0)


LEAVES = {
    "gaussian": (k.Gaussian(0.7), gaussian(0.7)),
    "laplace": (k.Laplace(1.3), lambda x, z: mp.exp(-mp.sqrt(square(x, z)) / M(1.3))),
    "matern 0.3": (k.Matern(0.3), matern(0.3)),
    "matern 1.5": (k.Matern(1.5), matern(1.5)),
    "matern 2": (k.Matern(2.0), matern(2)),
    "matern 2.5": (k.Matern(2.5), matern(2.5)),
    "rational_quadratic": (k.RationalQuadratic(0.3), lambda x, z: (1 + square(x, z) / (2 * M(0.3))) ** -M(0.3)),
    "sinc": (k.Sinc(), lambda x, z: sinc(mp.sqrt(square(x, z)))),
    "wendland": (k.Wendland(3, 1), wendland),
    "epanechnikov": (k.Epanechnikov(), lambda x, z: max(M(0), 1 - square(x, z))),
    "linear": (k.Linear(), dot),
    "polynomial": (k.Polynomial(3, 0.7), lambda x, z: (M(0.7) + dot(x, z)) ** 3),
    "homogeneous": (k.Polynomial(2, 0.0), lambda x, z: dot(x, z) ** 2),
    "exponential": (k.Exponential(3.0), lambda x, z: mp.exp(dot(x, z) / 9)),
    "sigmoid": (k.Sigmoid(0.3, 0.1), lambda x, z: mp.tanh(M(0.3) * dot(x, z) + M(0.1))),
    "parabolic": (k.Parabolic(), lambda x, z: dot(x, z) + dot(x, x) * dot(z, z)),
    "cosine": (k.Cosine(), lambda x, z: mp.cos(angle(x, z))),
    "arc_cosine 0": (k.ArcCosine(0), lambda x, z: 1 - angle(x, z) / mp.pi),
    "geodesic": (k.Geodesic(1.0, 0.5), lambda x, z: mp.exp(-2 * angle(x, z))),
    "arc_cosine 1": (k.ArcCosine(1), ramp),
    "min": (k.Min(), lambda x, z: sum(map(min, x, z))),
    "chi_squared": (k.ChiSquared(), lambda x, z: (sum(x) + sum(z) - sum(coordinates(share)(x, z))) / 2),
    "exponential_chi_squared": (
        k.ExponentialChiSquared(0.7),
        lambda x, z: mp.exp(-sum(coordinates(share)(x, z)) / M(0.7)),
    ),
    "product_laplace": (
        k.ProductLaplace(1.3),
        lambda x, z: mp.exp(-sum(coordinates(lambda a, b: abs(a - b))(x, z)) / M(1.3)),
    ),
    "product_sinc": (
        k.ProductSinc(1.3),
        lambda x, z: mp.fprod(coordinates(lambda a, b: sinc((a - b) / M(1.3)))(x, z)),
    ),
    "periodic": (
        k.Periodic(2.0, 0.6),
        lambda x, z: mp.exp(-2 * sum(coordinates(lambda a, b: mp.sin(mp.pi * (a - b) / 2) ** 2)(x, z)) / M(0.6) ** 2),
    ),
    "powers": (k.Powers(4), lambda x, z: sum(a**p for a in coordinates(lambda a, b: a * b)(x, z) for p in range(1, 5))),
    "monomials": (k.Monomials(3), lambda x, z: products(x, z, range(4), combinations_with_replacement)),
    "subsets": (k.Subsets(), lambda x, z: mp.fprod(coordinates(lambda a, b: 1 + a * b)(x, z))),
    "subsets of one": (k.Subsets(1, 1), dot),
    "trigonometric": (
        k.Trigonometric(3),
        lambda x, z: sum(sum(coordinates(lambda a, b: mp.cos(j * (a - b)))(x, z)) for j in (1, 2, 3)),  # noqa: B023
    ),
    "trigonometric, period 5": (
        k.Trigonometric(2, 5.0),
        lambda x, z: sum(
            sum(coordinates(lambda a, b: mp.cos(2 * j * mp.pi * (a - b) / 5))(x, z))  # noqa: B023
            for j in (1, 2)
        ),
    ),
}


def matrix(x):
    return [x[0] + 2 * x[1] + 3 * x[2], M(0.1) * x[1] + M(0.3) * x[2]]


def scaled(x):
    return [a / M(s) for a, s in zip(x, (0.3, 1.7, 2.9), strict=True)]


def sines(x):
    return [mp.sin(a) for a in x]


SUM, LAPLACE, ARD = k.Gaussian(0.7) + k.Linear(), k.Laplace(), [0.3, 1.7, 2.9]
COMPOSED = {
    "sum": (SUM, lambda x, z: gaussian(0.7)(x, z) + dot(x, z)),
    "product": (0.3 * k.Gaussian(0.7) * k.Linear(), lambda x, z: M(0.3) * gaussian(0.7)(x, z) * dot(x, z)),
    "power": ((1 + SUM) ** 3, lambda x, z: (1 + gaussian(0.7)(x, z) + dot(x, z)) ** 3),
    "power of a fraction": (
        (LAPLACE * k.Exponential(3.0)) ** 0.3,
        lambda x, z: mp.exp(M(0.3) * (dot(x, z) / 9 - mp.sqrt(square(x, z)))),
    ),
    "exp": (
        mercer.exp(2 * k.Gaussian(0.7) + 0.1 * k.Linear()),
        lambda x, z: mp.exp(2 * gaussian(0.7)(x, z) + M(0.1) * dot(x, z)),
    ),
    "normalized": (
        (1 + k.Linear()).normalized(),
        lambda x, z: (1 + dot(x, z)) / mp.sqrt((1 + dot(x, x)) * (1 + dot(z, z))),
    ),
    "normalized to the Gaussian": (k.Exponential(3.0).normalized(), gaussian(3)),
    "weighted": (
        (1 + k.Gaussian(0.7)).weighted(lambda X: np.exp(-X[:, 0] / 7)),
        lambda x, z: mp.exp(-(x[0] + z[0]) / 7) * (1 + gaussian(0.7)(x, z)),
    ),
    "after a function": (k.Gaussian(0.7).after(np.sin), lambda x, z: gaussian(0.7)(sines(x), sines(z))),
    "after a matrix": (
        k.Matern(1.5).after([[1.0, 2.0, 3.0], [0.0, 0.1, 0.3]]),
        lambda x, z: matern(1.5)(matrix(x), matrix(z)),
    ),
    "scaled": (k.Gaussian().scaled(ARD), lambda x, z: gaussian(1)(scaled(x), scaled(z))),
    "a function of scaled points": (
        k.Gaussian().after(np.sin).scaled(ARD),
        lambda x, z: gaussian(1)(sines(scaled(x)), sines(scaled(z))),
    ),
    "on": (
        LAPLACE.on([2, 0]) + k.Linear().on(1),
        lambda x, z: mp.exp(-mp.hypot(x[2] - z[2], x[0] - z[0])) + x[1] * z[1],
    ),
}
CASES = LEAVES | COMPOSED


class Cauchy(k.Radial):
    lengthscale: float = 1.0

    def profile(self, u):
        return 1 / (1 + u)


class Cubic(k.Dot):
    def profile(self, t):
        return 2 * t + t * t * t


class Overlap(k.Coordinate):
    def term(self, x, z):
        return np.minimum(np.abs(x), np.abs(z))


class Halves(k.Angular):
    def profile(self, angle):
        return np.cos(angle / 2)


def half_angle(x, z):
    return mp.cos(angle(x, z) / 2)


def composed(x, z):
    return (2 * dot(x, z) + dot(x, z) ** 3) / (1 + 4 * square(x, z)) + gaussian(1)(x, z)


class Narrower(k.Gaussian):
    """A known kernel with another formula, and no gap of its own."""

    def profile(self, u):
        return np.exp(-2 * u)


OWN = {
    "changed": (Narrower(), lambda x, z: mp.exp(-2 * square(x, z))),
    "radial": (Cauchy(0.5), lambda x, z: 1 / (1 + 4 * square(x, z))),
    "dot": (Cubic(), lambda x, z: 2 * dot(x, z) + dot(x, z) ** 3),
    "coordinate": (Overlap(), lambda x, z: sum(coordinates(lambda a, b: min(abs(a), abs(b)))(x, z))),
    "angular": (Halves(), half_angle),
    "function": (k.Function(lambda A, B: np.exp(A @ B.T / 16)), lambda x, z: mp.exp(dot(x, z) / 16)),
    "composed": (Cubic() * Cauchy(0.5) + k.Gaussian(), composed),
}


def points(kernel, d, bases, steps=STEPS, seed=3):
    """Rows in the domain of the kernel, and others at some distances from them, in random directions."""
    random, pairs = np.random.default_rng(seed), [(base, step) for base in bases for step in steps]
    directions = random.normal(size=(len(pairs), d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    X = np.array([base * random.normal(size=d) for base, _ in pairs])
    if kernel.domain is not k.REALS:
        X, directions = np.abs(X), np.abs(directions)
    return X, X + np.array([[step] for _, step in pairs]) * directions


def truth(value, X, Z):
    """The distances of equal rows, 0 where the digits of the oracle end."""
    found = []
    for x, z in zip(X.tolist(), Z.tolist(), strict=True):
        x, z = [M(a) for a in x], [M(a) for a in z]
        total = value(x, x) + value(z, z)
        square = total - 2 * value(x, z)
        found.append(mp.sqrt(square) if square > total * M(10) ** -50 else M(0))
    return found


def worst(found, wanted):
    """The largest relative error; where the truth is 0, the result must be."""
    errors = [abs(M(a) - b) / b if b else M(a) for a, b in zip(found.tolist(), wanted, strict=True)]
    return float(max(errors))


ANGLES = ("cosine", "arc_cosine 0", "arc_cosine 1", "geodesic", "angular")
OVERFLOWING = ("exponential", "power of a fraction", "exp", "normalized to the Gaussian", "weighted", "function")


def bases(name):
    """How far points are from the origin, about. At the origin there is no angle; at 1e4 a map rounds far points."""
    if name in ANGLES:
        return (1.0, 30.0, 1e4)
    return (0.0, 1.0, 20.0) if name in OVERFLOWING or name == "after a matrix" else (0.0, 1.0, 30.0, 1e4)


NEEDS_THREE = ("after a matrix", "scaled", "a function of scaled points", "on")


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_twelve_digits_at_every_distance(name, d):
    kernel, value = CASES[name]
    if d == 1 and name in NEEDS_THREE:
        return
    X, Z = points(kernel, d, bases(name))
    found = np.diag(kernel.distance(X, Z))
    assert worst(found, truth(value, X, Z)) <= PROMISED


@pytest.mark.parametrize("name", OWN)
def test_kernels_of_your_own_have_them_too(name):
    kernel, value = OWN[name]
    X, Z = points(kernel, 3, bases(name)[-2:], STEPS)
    assert worst(np.diag(kernel.distance(X, Z)), truth(value, X, Z)) <= PROMISED


def test_every_leaf_that_is_exported_is_tested():
    families = (k.Radial, k.Dot, k.Angular, k.Coordinate)
    exported = {each for _, each in inspect.getmembers(k, inspect.isclass) if issubclass(each, families)}
    assert exported - set(families) <= {type(kernel) for kernel, _ in LEAVES.values()}


@pytest.mark.parametrize("name", ["gaussian", "matern 2.5", "linear", "polynomial", "product", "scaled"])
def test_the_fused_pass_gives_them_where_points_are_far(name):
    kernel, value = CASES[name]
    X, Z = points(kernel, 3, (1.0, 30.0))
    with fused_from(0):
        found = np.diag(kernel.distance(X, Z))
    assert worst(found, truth(value, X, Z)) <= PROMISED


def test_many_columns():
    for name in ("gaussian", "linear", "polynomial", "arc_cosine 1"):
        kernel, value = CASES[name]
        X, Z = points(kernel, 50, (0.1, 10.0))
        for pairs in (0, 1 << 60):
            with fused_from(pairs):
                assert worst(np.diag(kernel.distance(X, Z)), truth(value, X, Z)) <= PROMISED


def test_the_example_of_the_lecture():
    """sqrt(2 - 2 exp(-r^2 / 2)) is r (1 - r^2 / 8 + ...)."""
    for r in (1e-12, 1e-9, 1e-6):
        assert k.Gaussian().distance([[0.0]], [[r]])[0, 0] == pytest.approx(r, rel=PROMISED)
    assert k.Linear().distance([[1e6]], [[1e6 + 2.0**-30]])[0, 0] == 2.0**-30


@pytest.mark.parametrize(
    "name", ["gaussian", "polynomial", "arc_cosine 1", "normalized", "weighted", "scaled", "periodic"]
)
def test_one_table_is_symmetric_and_copies_are_at_distance_zero(name):
    kernel, _ = CASES[name]
    X, Z = points(kernel, 3, (1.0, 30.0))
    rows = np.vstack([X, Z, X])
    D = kernel.distance(rows)
    assert np.array_equal(D, D.T)
    assert (np.diag(D, 2 * len(X)) == 0).all()
    np.testing.assert_allclose(D, kernel.distance(rows, rows.copy()[::-1])[:, ::-1], rtol=1e-11, atol=0)


def test_sparse_rows():
    X = csr_array(random_array((12, 40), density=0.2, rng=1))
    Z = X.copy()
    Z.data = Z.data * (1 + 1e-9 * np.random.default_rng(0).normal(size=Z.nnz))
    for name in (
        "gaussian",
        "laplace",
        "linear",
        "polynomial",
        "parabolic",
        "arc_cosine 1",
        "cosine",
        "product",
        "normalized",
    ):
        kernel, value = CASES[name]
        kept = np.diff(X.indptr) > 1  # a row of one number has no other angle
        found = np.diag(kernel.distance(X, Z))[kept]
        assert worst(found, truth(value, X.toarray()[kept], Z.toarray()[kept])) <= PROMISED
    assert (
        worst(np.diag(Cubic().distance(X[:3], Z[:3])), truth(OWN["dot"][1], X.toarray()[:3], Z.toarray()[:3]))
        <= PROMISED
    )


def test_pairs_that_do_not_fit_at_once(monkeypatch):
    X = 1 + 1e-9 * np.random.default_rng(0).normal(size=(23, 3))
    kernel = k.Gaussian() * k.Linear()
    whole, some = kernel.distance(X), kernel.distance(X, X[5:])
    monkeypatch.setattr(module, "MAX_NUMBERS", 40)
    assert np.array_equal(kernel.distance(X), whole)
    assert np.array_equal(kernel.distance(X, X[5:]), some)


@pytest.mark.parametrize(
    "name",
    [
        "gaussian",
        "laplace",
        "matern 0.3",
        "matern 1.5",
        "rational_quadratic",
        "linear",
        "polynomial",
        "exponential",
        "arc_cosine 1",
        "sum",
        "product",
        "power",
        "exp",
        "weighted",
        "scaled",
        "after a matrix",
        "after a function",
    ],
)
def test_common_kernels_need_no_numbers_of_fifty_digits(name, monkeypatch):
    """These take some 100 microseconds per pair, which would be minutes for a thousand copies of a row."""
    monkeypatch.setattr(module, "_with_50_digits", lambda kernel, pairs: pytest.fail(f"{len(pairs.i)} pairs"))
    kernel, _ = CASES[name]
    X, Z = points(kernel, 3, (1.0, 10.0))
    assert (np.diag(kernel.distance(X, Z)) > 0).all()


def test_a_function_that_takes_floats_alone_keeps_their_digits():
    kernel = k.Function(lambda x, z: math.exp(-abs(float(x[0]) - float(z[0]))))
    assert kernel.distance([[0.0]], [[1e-6]])[0, 0] == pytest.approx(math.sqrt(2e-6), rel=1e-5)
    after = k.Gaussian().after(lambda X: np.array([[math.cbrt(float(a)) for a in row] for row in X]))
    assert after.distance([[1.0]], [[1.0 + 3e-6]])[0, 0] == pytest.approx(1e-6, rel=1e-5)
    lift = mercer.lifts.Polynomial(2).fit(np.ones((3, 2)))  # it refuses numbers of 50 digits
    assert k.Gaussian().after(lift).distance([[1.0, 2.0]], [[1.0, 2.0]])[0, 0] == 0


def test_float32_rows():
    X = np.array([[1.0, 2.0]], np.float32)
    Z = np.nextafter(X, np.float32(9))
    found = k.Gaussian().distance(X, Z)
    assert found.dtype == np.float32
    assert found[0, 0] == pytest.approx(float(np.linalg.norm(X.astype(float) - Z.astype(float))), rel=1e-7)


def test_numbers_beside_texts():
    frame = pd.DataFrame({"a": [1.0, 2.0], "t": ["abc", "bcd"]})
    moved = frame.assign(a=frame.a + 2.0**-33)
    numbers, texts = k.Gaussian().on("a"), k.Spectrum(2).on("t")
    for kernel, factor in ((numbers + texts, 1.0), (numbers * texts, 2.0)):
        np.testing.assert_allclose(np.diag(kernel.distance(frame, moved)), 2.0**-33 * math.sqrt(factor), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5, 0.75, 0.9999, 1.0, 1.3, 1.5, 2.5, 3.0, 7.5, 10.5, 20.0, 100.3])
def test_the_rise_of_the_matern_kernel(nu):
    r = np.geomspace(1e-12, 10, 25)
    wide = mpmath.MPContext()
    wide.dps = 110
    t = [wide.sqrt(2 * wide.mpf(nu)) * wide.mpf(each) for each in r.tolist()]
    front = wide.mpf(2) ** (1 - wide.mpf(nu)) / wide.gamma(wide.mpf(nu))
    wanted = [1 - front * each ** wide.mpf(nu) * wide.besselk(wide.mpf(nu), each) for each in t]
    assert worst(gaps.matern(nu, r), [M(each) for each in wanted]) <= 1e-14


@pytest.mark.parametrize("dimension", [1, 3, 20, 50])
@pytest.mark.parametrize("smoothness", [0, 1, 2, 3])
def test_the_rise_of_wendlands_kernels(dimension, smoothness):
    kernel, u = k.Wendland(dimension, smoothness), np.geomspace(1e-12, 2, 25)
    power = kernel.order + smoothness
    wanted = [
        1 - (1 - M(each)) ** power * sum(M(c) * M(each) ** i for i, c in enumerate(kernel.coefficients))
        if each < 1
        else M(1)
        for each in u.tolist()
    ]
    assert worst(kernel.gap(u), wanted) <= 1e-13
