"""Spectral laws: the waves of the drawn frequencies average to the kernel, for every leaf and every rule."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from mercer import exp
from mercer import kernels as k
from mercer.errors import InputError
from mercer.kernels.frequencies import Lattice
from mercer.kernels.law import Doubling

DRAWS = 20_000


class Numbers:
    """Independent numbers, which are counted."""

    def __init__(self, count, seed=0):
        self.count = count
        self.rng = np.random.default_rng(seed)
        self.used = 0

    def normals(self, q):
        self.used += q
        return self.rng.normal(size=(self.count, q))

    def uniforms(self, q):
        self.used += q
        return self.rng.uniform(1e-16, 1, size=(self.count, q))

    def choices(self):
        return self.uniforms(1)[:, 0]


LEAVES = {
    "gaussian": (k.Gaussian(0.7), 3, Doubling.GAUSSIAN),
    "laplace": (k.Laplace(0.7), 3, Doubling.SQUARE),
    "laplace on the line": (k.Laplace(2.0), 1, Doubling.SQUARE),
    "matern, rough": (k.Matern(0.3, 0.7), 2, Doubling.POSITIVE),
    "matern 3/2": (k.Matern(1.5, 0.7), 3, Doubling.SQUARE),
    "matern, smooth": (k.Matern(7.2, 0.7), 3, Doubling.SQUARE),
    "rational quadratic": (k.RationalQuadratic(0.5, 0.7), 3, Doubling.POSITIVE),
    "sinc on the line": (k.Sinc(0.4), 1, Doubling.SIGNED),
    "sinc on the plane": (k.Sinc(0.4), 2, Doubling.SIGNED),
    "sinc in space": (k.Sinc(0.4), 3, Doubling.SIGNED),
    "product laplace": (k.ProductLaplace(0.7), 3, Doubling.SQUARE),
    "product sinc": (k.ProductSinc(0.4), 3, Doubling.SIGNED),
    "periodic": (k.Periodic(1.3, 0.6), 2, Doubling.UNKNOWN),
    "periodic, narrow": (k.Periodic(1.3, 5e-5), 1, Doubling.UNKNOWN),
    "constant": (k.Constant(2.5), 2, Doubling.GAUSSIAN),
}
RULES = {
    "sum": (k.Gaussian(0.7) + 2 * k.Laplace(2.0) + 0.5, 3, Doubling.POSITIVE),
    "sum with signs": (k.Gaussian(0.7) + k.Sinc(0.3), 2, Doubling.UNKNOWN),
    "product": (3 * k.Gaussian(1.5) * k.Matern(1.5, 2.0), 2, Doubling.SQUARE),
    "product with signs": (k.ProductSinc() * k.RationalQuadratic(), 2, Doubling.SIGNED),
    "product of sums": ((k.Gaussian() + 2 * k.Laplace(2.0)) * (k.Matern() + k.Periodic(2.0)), 2, Doubling.UNKNOWN),
    "power": (k.Laplace(2.0) ** 3, 2, Doubling.SQUARE),
    "scaled": (k.Gaussian().scaled([0.5, 2.0, 1.0]), 3, Doubling.GAUSSIAN),
    "after": (k.Matern(2.5).after([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]]), 3, Doubling.SQUARE),
    "on": (k.Gaussian().on([0, 2]), 3, Doubling.GAUSSIAN),
    "on, some twice": (k.ProductLaplace().on([0, -1, 0]), 3, Doubling.SQUARE),
    "sum of columns": (k.Sinc(0.5).on([0, 1]) + k.Gaussian().on(4), 5, Doubling.UNKNOWN),
    "normalized": ((3 * k.Gaussian() + 2 * k.Laplace(0.3)).normalized(), 3, Doubling.POSITIVE),
    "nested": ((2 * (k.Gaussian() + 1)).normalized().scaled([1.0, 3.0]) ** 2 + k.Sinc(), 2, Doubling.UNKNOWN),
}
CASES = LEAVES | RULES


def differences(d, rows=16):
    """Points at all distances, the farthest at a few lengthscales."""
    directions = np.random.default_rng(5).normal(size=(rows, d))
    return directions * (np.geomspace(0.02, 4.0, rows) / np.linalg.norm(directions, axis=1))[:, None]


def values(kernel, t):
    return kernel(t, np.zeros((1, t.shape[1])))[:, 0]


@pytest.mark.parametrize("name", CASES)
def test_the_waves_average_to_the_kernel(name):
    """Within 6 standard errors, where the variance is that of the exact kernel: 1/2 + k(2 t)/2 - k(t)^2."""
    kernel, d, _ = CASES[name]
    law, t, source = kernel.law(d), differences(d), Numbers(DRAWS)
    w = law.draw(source)
    assert w.shape == (DRAWS, d)
    assert source.used == law.columns
    assert law.d == d
    mass = values(kernel, np.zeros((1, d)))[0]
    assert law.mass == pytest.approx(mass, rel=1e-14)
    once, twice = values(kernel, t) / mass, values(kernel, 2 * t) / mass
    error = np.sqrt(np.maximum(0.5 + twice / 2 - once**2, 1e-20) / DRAWS)
    assert (np.abs(np.cos(t @ w.T).mean(axis=1) - once) <= 6 * error + 1e-12).all()


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_twice_a_difference_is_true(name):
    kernel, d, wanted = CASES[name]
    law = kernel.law(d)
    assert law.doubling == wanted
    t = np.concatenate([differences(d, 400) * scale for scale in (1.0, 10.0)])
    once, twice = values(kernel, t) / law.mass, values(kernel, 2 * t) / law.mass
    close = 1e-12
    claims = {
        Doubling.GAUSSIAN: np.abs(twice - once**4) <= close,
        Doubling.SQUARE: (twice >= -close) & (twice <= once**2 + close),
        Doubling.POSITIVE: (twice >= -close) & (twice <= once + close),
        Doubling.SIGNED: np.abs(twice) <= np.abs(once) + close,
        Doubling.UNKNOWN: twice <= 1 + close,
    }
    for claim in (c for c in Doubling if c >= wanted):  # each implies the next
        assert claims[claim].all(), claim
    assert (0.5 + twice / 2 - once**2).max() <= wanted.spread + close


def test_the_largest_variances_are_nearly_reached():
    """So that the bounds cannot be smaller: 9/16 by a mixture of a wide and a narrow Gaussian, 1 by half a period."""
    mixed = 3 * k.Gaussian(1e-3) + k.Gaussian(1e3)
    t = np.array([[1.0]])
    assert 0.5 + values(mixed, 2 * t) / 8 - (values(mixed, t) / 4) ** 2 == pytest.approx(9 / 16, abs=1e-4)
    assert mixed.law(1).doubling.spread == 9 / 16
    wave = k.Periodic(2.0, 0.1)
    assert 0.5 + values(wave, 2 * t) / 2 - values(wave, t) ** 2 == pytest.approx(1.0, abs=1e-12)


def test_matern_is_log_concave_from_one_half_on_and_not_below():
    """K(2 t) <= K(t)^2, the derivation in `Student`; the tail of a rougher one violates it."""
    t = np.geomspace(1e-3, 30, 300)[:, None]
    for nu in (0.5, 0.6, 1.0, 2.2, 12.0):
        assert (values(k.Matern(nu), 2 * t) <= values(k.Matern(nu), t) ** 2 * (1 + 1e-12)).all()
    rough = values(k.Matern(0.2), t) ** 2
    assert (values(k.Matern(0.2), 2 * t) > rough).any()


def test_frequencies_have_the_textbook_laws():
    """Kolmogorov's test against SciPy: Student's t of 2 nu degrees for Matern, Cauchy for Laplace, uniform for sinc."""
    for kernel, law in [
        (k.Matern(1.5, 0.5), stats.t(3, scale=2.0)),
        (k.Laplace(0.5), stats.cauchy(scale=2.0)),
        (k.ProductLaplace(0.5), stats.cauchy(scale=2.0)),
        (k.Gaussian(0.5), stats.norm(scale=2.0)),
        (k.Sinc(0.5), stats.uniform(-2, 4)),
        (k.ProductSinc(0.5), stats.uniform(-2, 4)),
    ]:
        for d in (1, 3):  # a coordinate of three has the same law as one alone
            w = kernel.law(d).draw(Numbers(5_000, seed=3))
            assert stats.kstest(w[:, -1], law.cdf).pvalue > 1e-3, kernel


def test_the_periodic_kernel_draws_multiples_with_bessel_probabilities():
    law = k.Periodic(3.0, 0.8).law(1)
    multiples = law.draw(Numbers(200_000))[:, 0] * 3.0 / (2 * np.pi)
    np.testing.assert_allclose(multiples, np.rint(multiples), atol=1e-9)
    a = mpmath.mpf(1) / mpmath.mpf(0.8) ** 2
    for j in range(-4, 5):
        wanted = float(mpmath.exp(-a) * mpmath.besseli(j, a))
        error = np.sqrt(wanted * (1 - wanted) / 200_000)
        assert abs(np.mean(np.rint(multiples) == j) - wanted) < 5 * error


@pytest.mark.parametrize("lengthscale", [30.0, 1.0, 0.03, 1e-3])
def test_the_table_of_multiples_holds_all_probability(lengthscale):
    sums = Lattice(1, 1.0, lengthscale)._cumulated
    assert sums[-1] == pytest.approx(1.0, abs=1e-12)
    assert sums[0] < 1e-16


def test_sums_of_masses_zero_and_normalized_zeros():
    nothing = 0.0 * k.Gaussian() + 0.0
    assert nothing.law(2).mass == 0.0
    assert nothing.normalized().law(2).mass == 0.0
    assert np.isfinite(nothing.law(2).draw(Numbers(10))).all()
    only = (0.0 * k.Laplace(1e-9) + k.Gaussian(1e9)).law(1).draw(Numbers(1000))
    assert np.abs(only).max() < 1e-6  # never from the part without mass


def test_a_very_rough_matern_has_finite_frequencies():
    assert np.isfinite(k.Matern(1e-3).law(2).draw(Numbers(10_000))).all()


@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        (k.Linear(), 2),
        (k.Polynomial(), 2),
        (k.Min(), 2),
        (k.Wendland(), 2),
        (k.ArcCosine(), 2),
        (k.Sinc(), 4),
        (k.Gaussian() + k.Linear(), 2),
        (k.Gaussian() * k.Min(), 2),
        (k.Gaussian() ** 0.5, 2),
        (exp(k.Gaussian()), 2),
        (k.Gaussian().weighted(np.sum), 2),
        (k.Gaussian().after(np.abs), 2),
        (k.Gaussian().after(np.ones((2, 3))), 2),
        (k.Gaussian().scaled([1.0, 2.0, 3.0]), 2),
        (k.Gaussian().on(2), 2),
        (k.Gaussian().on(["age"]), 2),
        (k.Cosine().normalized(), 2),
    ],
    ids=str,
)
def test_kernels_without_a_law(kernel, d):
    assert kernel.law(d) is None


def test_an_open_kernel_has_a_law_from_which_nothing_can_be_drawn_yet():
    law = (k.Gaussian("median") + k.Periodic()).law(2)
    assert law.mass == 2.0
    with pytest.raises(InputError, match=r"'median'.*resolve"):
        law.draw(Numbers(3))
